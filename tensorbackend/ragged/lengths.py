"""Lengths: one integer tensor for an axis, over the named axes of the examples.

Nothing here depends on `Ragged`. Lengths are read only to check them; results computed from them stay tensors, so that
the same code runs in a trace.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..dtypes import int64
from ..errors import ArgumentError, AxisError, DataError, DTypeError, NamesError, ShapeError, expected
from ..expr.node import CAPTURED, PARAMETER, Value
from ..ops.creation.filled import asarray, iota
from ..ops.elementwise.basic import astype
from ..ops.elementwise.binary import maximum, minimum
from ..ops.shape import broadcast_to, expand_dims, permute_dims, reshape
from ..select import common_backend, move
from ..template import Template
from ..tensor import Tensor


def read(lengths: Tensor) -> Any:
    """Lengths as nested lists of ints, or `None` if there is no data: in a trace, and on templates."""
    try:
        return lengths.tolist()
    except TypeError:  # `TemplateDataError`, and what JAX raises for a value that it traces
        return None


def length_mask(lengths: Tensor, axis: str, size: int) -> Tensor:
    """Whether each position on an axis is below the lengths: [batch][axis] for lengths [batch]."""
    positions = iota(size, dtype=int64, names=(axis,), like=lengths)
    return positions < expand_dims(lengths, axis=-1, name=axis)


def laid_out(x: Tensor, like: Template) -> Tensor:
    """A tensor of named axes, with its axes at their positions in a template, ready to broadcast.

    [time][batch] for [batch: 2][3][time: 5] has the result [batch: 2][1][time: 5].
    """
    order = sorted(range(x.ndim), key=lambda axis: like.names.index(x.names[axis]))
    if order != list(range(x.ndim)):
        x = permute_dims(x, order)
    sizes = dict(zip(x.names, x.shape, strict=True))
    names = tuple(name if name in sizes else None for name in like.names)
    shape = tuple(1 if name is None else sizes[name] for name in names)
    return x if shape == x.shape and names == x.names else reshape(x, shape, names=names)


def clip_lengths(lengths: Tensor, size: int) -> Tensor:
    """Lengths, clipped to the range from 0 to `size`."""
    return minimum(maximum(lengths, 0), size)


def map_lengths(
    lengths: Mapping[str, Tensor], axis: str | None, function: Callable[[Tensor], Tensor]
) -> dict[str, Tensor]:
    """Lengths by axis, of which those over an axis are changed by a function."""
    return {name: function(x) if axis in x.names else x for name, x in lengths.items()}


def spread(lengths: Tensor, result: Tensor) -> Tensor:
    """Broadcast lengths to the sizes of their axes in the result."""
    shape = tuple(result.shape[result.names.index(name)] for name in lengths.names)
    return lengths if shape == lengths.shape else broadcast_to(lengths, shape, names=lengths.names)


# Checks


def check_lengths(values: Tensor, lengths_by_axis: Mapping[str, Any]) -> dict[str, Tensor]:
    """The lengths of some axes of a tensor as int64, by the names of the axes in alphabetical order.

    Lengths without data, in a trace, are clipped to the range from 0 to the size of the axis.
    """
    checked = {axis: _check(values, axis, lengths_by_axis[axis]) for axis in sorted(lengths_by_axis)}
    _refuse_circles({axis: checked.keys() & set(lengths.names) for axis, lengths in checked.items()})
    return checked


def as_tensor(value: Any, like: Tensor) -> Tensor:
    """A tensor as it is, as it may be one of a trace; anything else as a tensor on the backend of another."""
    return value if isinstance(value, Tensor) else asarray(value, like=like)


def _check(values: Tensor, axis: str, raw_lengths: Any) -> Tensor:
    template = values.template
    if axis not in template.names:
        remedy = "name the axis with rename(), as axes with lengths are known by their names"
        raise AxisError(expected(f"an axis name of {template!r} for lengths", remedy, axis=axis))
    lengths = as_tensor(raw_lengths, values)
    if not lengths.dtype.is_integer and lengths.size:
        expectation = f"lengths of an integer dtype for the axis {axis!r}"
        raise DTypeError(expected(expectation, "cast them with astype(..., 'int64')", lengths=lengths.template))
    if lengths.ndim > template.ndim:
        raise ShapeError(expected(f"lengths over axes of {template!r}", lengths=lengths.template))
    if None in lengths.names:
        names = [name or other for name, other in zip(lengths.names, template.names, strict=False)]
        if None in names:
            remedy = "name the axes of the examples with rename()"
            raise NamesError(expected(f"a name for each axis that the lengths of {axis!r} are over", remedy,
                                      values=template, lengths=lengths.template))  # fmt: skip
        lengths = lengths.rename(*names)
    sizes = dict(zip(template.names, template.shape, strict=True))
    for name, size in zip(lengths.names, lengths.shape, strict=True):
        if name == axis or sizes.get(name) != size:
            expectation = f"lengths of {axis!r} over other axes of {template!r}, with their sizes"
            raise ShapeError(expected(expectation, lengths=lengths.template))
    lengths = move(astype(lengths, int64), common_backend([values, lengths]))
    data, size = read(lengths), sizes[axis]
    if data is not None:
        if any(not 0 <= length <= size for length in _flat(data)):
            expectation = f"lengths from 0 to {size}, the size of the axis {axis!r}"
            raise DataError(expected(expectation, "cut them, or pad the axis", lengths=data))
        return lengths
    return lengths if lengths.backend.template_only else clip_lengths(lengths, size)


def _flat(data: Any) -> list[int]:
    return [data] if isinstance(data, int) else [number for row in data for number in _flat(row)]


def _refuse_circles(needs: dict[str, set[str]]) -> None:
    """Raises `ArgumentError` if the lengths of axes depend on one another."""
    while needs:
        ready = {axis for axis, over in needs.items() if not over & needs.keys()}
        if not ready:
            remedy = "of two axes, only one may have lengths over the other"
            raise ArgumentError(expected("lengths without a cycle", remedy, axes=sorted(needs)))
        needs = {axis: over for axis, over in needs.items() if axis not in ready}


def check_equal(axis: str, left: Tensor, right: Tensor, *, trusting: bool = False) -> None:
    """Raises `ShapeError` for an axis that two tensors have with different lengths.

    Lengths with data are compared. In a trace they must be the same value, or be computed by the same ops from the same
    values, unless `trusting`.
    """
    if left is right or _payload(left) is _payload(right):
        return
    names = left.names, right.names
    if set(names[0]) == set(names[1]):
        right = right if names[0] == names[1] else permute_dims(right, left.names)  # type: ignore[arg-type] # all named
        if left.shape == right.shape:
            if _alike(left.data, right.data, {}):
                return
            pair = read(left), read(right)
            if None not in pair and pair[0] == pair[1]:
                return
            if left.backend.template_only or right.backend.template_only:
                return  # templates have no data that could differ
            if trusting and None in pair:
                return
            if None not in pair:
                remedy = "cut them to one length with slice_along_axis(), or rename() one of the axes"
                raise ShapeError(
                    expected(f"the same lengths of the axes {axis!r}", remedy, left=pair[0], right=pair[1])
                )
    remedy = f"if they are equal, say so: with_lengths(y.values, {axis}=x.lengths[{axis!r}])"
    raise ShapeError(
        expected(f"the same lengths of the axes {axis!r}", remedy, left=left.template, right=right.template)
    )


def check_axis(result: Tensor, axis: str, size: int, lengths: Tensor) -> None:
    """Raises an error for a result that lacks an axis with lengths, or that has another size there."""
    for name in (axis, *lengths.names):
        if name not in result.names:
            remedy = "keep the axis and its name, or write a function of tb.ragged that reduces it"
            raise AxisError(expected(f"a result with the axis {name!r}", remedy, result=result.template))
    if result.shape[result.names.index(axis)] != size:
        remedy = "keep the size of the axis"
        raise ShapeError(
            expected(f"a result of size {size} on the axis {axis!r}, which has lengths", remedy, result=result.template)
        )


def _payload(x: Tensor) -> Any:
    """The object that identifies the data of a tensor: it is the same for two tensors that share their data.

    This is the payload itself or, for a value that a trace captured, the payload of the captured tensor.
    """
    data = x.data
    if isinstance(data, Value) and data.node.op == CAPTURED and data.node.tensor is not None:
        return data.node.tensor.data
    return x if data is None else data  # templates have none


def _alike(left: Any, right: Any, known: dict[tuple[int, int], bool]) -> bool:
    """Whether two values of a trace are computed by the same calls from the same values."""
    if left is right:
        return True
    if not (isinstance(left, Value) and isinstance(right, Value)):
        return False  # arrays, which `==` compares by element
    if left == right:
        return True
    one, other = left.node, right.node
    if one is other or PARAMETER in (one.op, other.op):
        return False
    key = id(one), id(other)
    if key not in known:
        if one.op == other.op == CAPTURED:
            known[key] = _same_data(one.tensor, other.tensor)
        else:
            known[key] = (
                (one.op, one.out, dict(one.options)) == (other.op, other.out, dict(other.options))
                and len(one.operands) == len(other.operands)
                and all(_alike(*pair, known) for pair in zip(one.operands, other.operands, strict=True))
            )
    return known[key] and left.index == right.index


def _same_data(left: Tensor | None, right: Tensor | None) -> bool:
    """Whether two tensors that a trace captured are equal bit for bit."""
    assert left is not None  # a captured node has one
    assert right is not None
    if left.data is right.data:
        return True
    alike = left.template is right.template and not (left.backend.template_only or right.backend.template_only)
    return alike and left.to_binary() == right.to_binary()
