"""Assignment by `x[...] = value`: x with other elements at a key."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from ...docstrings import described
from ...dtypes import check_scalar, int64, scalar_kind
from ...entry import entry
from ...errors import BackendError, IndexRangeError, ShapeError, TemplateDataError, expected
from ...rules.indexing import check_assigned
from ...rules.shape import Slices, sliced_by
from ...select import get_backend
from ...template import Template, merge_names
from ...tensor import Tensor, bind
from ..creation.filled import asarray, full, iota
from ..elementwise.conversion import astype
from ..elementwise.ternary import where
from ..shape import broadcast_to, laid_flat, reshape
from .getitem import getitem
from .keys import is_plain, parsed
from .scatter import indexed_put
from .slices import put_slice


@bind
@entry
def put_at(x: Tensor, key: Any, value: Any) -> Tensor:
    """Replace the elements at a key, as in `x[key]`, by a value that broadcasts to them.

    This is what `x[key] = value` gives to x. If an index occurs twice, the last value stays. The value is cast to
    x's dtype. Raises `DTypeError` for a value of a wider kind, such as a floating value for integers, and for wider
    integers, which could wrap. On template tensors a mask works if the value has no axis for the mask's elements.

    >>> import tensorbackend as tb
    >>> tb.put_at(tb.asarray([1, 2, 3]), [0, 2], tb.asarray([7, 8])).tolist()
    [7, 2, 8]
    """
    value = _update(x, value)
    if is_plain(key):
        block = sliced_by(x.template, key)
        if not block.reversed and not block.new and all(stride == 1 for stride in block.strides):
            return _put_block(x, block, value)
    else:
        parts = parsed(x, key)
        if parts[0].kind == "mask" and all(part.kind == "fill" for part in parts[1:]):
            mask = parts[0].value
            if value.ndim <= x.ndim - mask.ndim:
                return _where_mask(x, mask, value)
    # The key writes to the elements that it would read.
    positions = _positions(x, key, value)
    wide = _spread(value, positions.template)
    size = positions.size
    written = indexed_put(laid_flat(x), reshape(positions, (size, 1)), laid_flat(wide), mode="error")
    return reshape(written, x.shape, names=x.names)


def _positions(x: Tensor, key: Any, value: Tensor) -> Tensor:
    """The row-major positions of the elements at a key; errors that templates show are raised before those of data."""
    try:
        return getitem(iota(x.shape, names=x.names, backend=x.backend), key)
    except IndexRangeError:
        with suppress(TemplateDataError):
            dry = get_backend("template")
            _spread(value, getitem(Tensor(x.template.replace(dtype=int64), dry, None), key).template)
        raise


def _update(x: Tensor, value: Any) -> Tensor:
    """A value to write, in x's dtype; numbers and lists of them are weak."""
    if isinstance(value, list | tuple):
        return asarray(value, dtype=x.dtype, backend=x.backend)
    if not isinstance(value, Tensor) and scalar_kind(value) is not None:
        check_scalar(value, x.dtype)
        return full((), value, dtype=x.dtype, backend=x.backend)
    value = asarray(value, backend=None if isinstance(value, Tensor) else x.backend)
    check_assigned(x.template, value.template)
    return astype(value, x.dtype) if value.dtype is not x.dtype else value


def _spread(value: Tensor, target: Template) -> Tensor:
    """A value broadcast to the elements that it replaces; `ShapeError` or `NamesError` where it does not fit."""
    if value.ndim > target.ndim:
        raise ShapeError(expected(f"a value that broadcasts to shape {target.shape}", value=value.template))
    return broadcast_to(value, target.shape, names=merge_names(target, value.template))


def _put_block(x: Tensor, block: Slices, value: Tensor) -> Tensor:
    """Writes a value at a key of ints and slices without steps."""
    kept = [axis for axis in range(x.ndim) if axis not in block.dropped]
    target = Template([block.lengths[axis] for axis in kept], x.dtype, [x.names[axis] for axis in kept])
    wide = reshape(_spread(value, target), block.lengths, names=(None,) * x.ndim)
    return put_slice(x, wide, starts=block.starts)


def _where_mask(x: Tensor, mask: Tensor, value: Tensor) -> Tensor:
    """Writes a value where a mask over the leading axes holds; it is the same for all of the mask's elements."""
    rest = x.ndim - mask.ndim
    merge_names(Template(x.shape[mask.ndim :], x.dtype, x.names[mask.ndim :]), value.template)
    wide = reshape(mask, mask.shape + (1,) * rest)
    return where(wide, broadcast_to(value, x.shape[mask.ndim :]).rename(*x.names[mask.ndim :]) if rest else value, x)


@bind
@described
def setitem(x: Tensor, key: Any, value: Any) -> None:
    """`x[key] = value`: x gets the value that `put_at` returns, and keeps its template.

    No memory is written to: tensors made from x before keep their values. Raises `BackendError` where a value without
    data, of a trace or a template, is assigned to a tensor with data, which would be lost.

    >>> import tensorbackend as tb
    >>> x = tb.zeros(3)
    >>> y = x[1:]
    >>> x[1:] = 5
    >>> x.tolist(), y.tolist()
    ([0.0, 5.0, 5.0], [0.0, 0.0])
    """
    result = put_at(x, key, value)
    if x.backend.holds_data and not result.backend.holds_data:
        remedy = "return the value from the function, or make the tensor inside it"
        expectation = "a value with data, as the tensor that is assigned to has data"
        raise BackendError(
            expected(expectation, remedy, tensor=x.template, value=f"a tensor on {result.backend.name!r}")
        )
    x.backend, x.data = result.backend, result.data
