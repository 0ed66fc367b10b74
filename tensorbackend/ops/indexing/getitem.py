"""`x[...]`, and indexing by names.

Ints, slices, None, ... and the elements of index tensors and masks affect only the shape of the result. So a backend's
kernel for keys serves all that have the same structure: the classes of their parts, and the templates of tensors.
"""

from __future__ import annotations

from types import EllipsisType
from typing import Any, Final

from ...declarations.argument_errors import check_arguments
from ...dispatch import CHECKED, verify
from ...dispatch.direct import direct
from ...dispatch.kernels import Shaped
from ...dispatch.ready_calls import ReadyCall
from ...errors import ShapeError, expected
from ...protocol import Kernel, Payload
from ...rules.axes import normalize_axis
from ...rules.indexing import Structure, axes_of_parts, getitem_template, is_mask
from ...tensor import Tensor, bind
from ..composite.reduction import count_nonzero
from .keys import SETTLED, entries, is_integer, is_plain_part, plain_part, show_key


def _plan(result: Tensor, x: Tensor, key: Any) -> ReadyCall | None:
    """The backend's kernel for keys of this structure; `None` if it has none, or a part needs to be converted."""
    parts = key if isinstance(key, tuple) else (key,)
    if x.__class__ is not Tensor or not all(part.__class__ in SETTLED or is_integer(part) for part in parts):
        return None
    structure = tuple([
        part.template if part.__class__ is Tensor else part.__class__ if part.__class__ in SETTLED else int
        for part in parts
    ])  # fmt: skip
    kernel = x.backend.indexing(x.template, structure)
    if kernel is None:
        return None
    if not result.ndim and EllipsisType not in structure:
        kernel = _append_ellipsis(kernel)
    return ReadyCall(Shaped(result.template), _verify(kernel, x, structure) if CHECKED else kernel)


def _append_ellipsis(kernel: Kernel) -> Kernel:
    """A kernel that adds ... to the key, so that NumPy returns an array for a single element."""
    return lambda values, key: kernel(values, (*key, ...))


def _verify(kernel: Kernel, x: Tensor, structure: Structure) -> Kernel:
    """A kernel that raises `ContractError` unless its payload fits the lengths of slices and the counts of masks."""
    template, backend = x.template, x.backend

    def read_and_check(values: Payload, key: tuple[Any, ...]) -> Payload:
        data = kernel(values, key)
        like = template.replace(shape=tuple(values.shape))
        places = list(zip(key, structure, axes_of_parts(like, structure), strict=True))
        lengths = [len(range(*part.indices(like.shape[axes.start]))) for part, kind, axes in places if kind is slice]
        counts = [int(count_nonzero(Tensor(kind, backend, part))) for part, kind, _ in places if is_mask(kind)]
        verify("getitem", backend, getitem_template(like, structure, lengths + counts), data)
        return data

    return read_and_check


@bind
@direct(_plan, key="key")
def getitem(x: Tensor, key: Any) -> Tensor:
    """Return the elements `x[key]`, for a key of ints, slices, None, ..., masks and integer tensors.

    An int drops its axis, a slice keeps it, None makes a new axis, and ... stands for the axes that are left. A mask
    replaces as many axes as it has by one axis with the elements where it is true. These are counted,
    so on template tensors a mask raises `TemplateDataError`: use `where`, or `x[nonzero(mask, size=n)]`. Integer
    tensors are broadcast together. If only one of them has axes, and that is a single axis without a name, the result
    keeps the name of the axis that it indexes, as for a mask of one axis; otherwise the names are those of the
    index tensors. Raises `IndexRangeError` for an index outside its axis.

    >>> x = tb.asarray([[1, 2, 3], [4, 5, 6]], names=("row", "column"))
    >>> x[:, [2, 0]]
    s64[row: 2][column: 2] numpy
    [[3, 1],
     [6, 4]]
    >>> x[x > 3].tolist(), x[[0, 1], [1, 2]].tolist()
    ([4, 5, 6], [2, 6])
    """
    return _read(x, key)


def _entries(x: Tensor, key: Any) -> Tensor:
    parts = key if isinstance(key, tuple) else (key,)
    if SETTLED.issuperset([part.__class__ for part in parts]):
        return entries(x, key)
    plain = tuple([plain_part(part, x) for part in parts])
    if any(part is not plain_part for part, plain_part in zip(parts, plain, strict=True)):
        return getitem(x, plain)
    return entries(x, key)  # raises what is wrong


_entries.__qualname__ = "getitem"  # in errors
_read: Final = check_arguments(_entries)

# A method that calls the function would cost as much as the look-up.
setattr(Tensor, "__getitem__", getitem)  # noqa: B010 # a type checker sees the method that is in the class


@bind
@check_arguments
def isel(x: Tensor, /, **keys: Any) -> Tensor:
    """Index axes by name, each separately: `x.isel(time=0, feature=[0, 2])`.

    An int drops the axis. A slice, and a list, mask or unnamed integer tensor of one axis, keeps the axis and its name.

    >>> x = tb.iota((2, 3), names=("row", "column"))
    >>> tb.isel(x, row=[1, 0], column=[0, 2])
    s64[row: 2][column: 2] numpy
    [[3, 5],
     [0, 2]]
    """
    by_axis = {normalize_axis(x.template, name): key for name, key in keys.items()}
    if all(map(is_plain_part, by_axis.values())):
        return getitem(x, tuple(by_axis.get(axis, slice(None)) for axis in range(x.ndim)))
    for axis in sorted(by_axis, reverse=True):
        key = by_axis[axis]
        if key is None or isinstance(key, EllipsisType | bool | tuple) or getattr(key, "ndim", 1) > 1:
            expectation = "an int, a slice, or a list, mask or integer tensor of one axis"
            raise ShapeError(expected(expectation, **{str(x.names[axis]): show_key(key)}))
        x = getitem(x, (*(slice(None),) * axis, key))
    return x
