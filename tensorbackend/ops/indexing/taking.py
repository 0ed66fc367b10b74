"""Reading by index tensors. Negative indices count from the end.

`mode` says what happens for an index outside its axis: `"error"` raises `IndexRangeError` when the data is read,
`"clip"` moves the index to the nearest end, `"fill"` reads zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...annotations import Axis, SoleAxis
from ...declarations.argument_errors import check_arguments
from ...dispatch import primitive
from ...dispatch.direct import direct
from ...dispatch.ready_calls import ReadyCall
from ...errors import AxisError, IndexRangeError, ShapeError, expected
from ...protocol.indexing import Mode
from ...rules.axes import normalize_axis, sole_axis
from ...rules.data_errors import index_out_of_range, restore_index
from ...rules.indexing import check_indices, plan_take, plan_take_along
from ...rules.plan import Plan
from ...sizes import index
from ...template import Template
from ...tensor import Tensor, TensorLike
from ..creation.filled import iota, rename
from ..creation.values import operand_tensors
from ..elementwise.basic import astype, where
from ..shape import broadcast_to, expand_dims, laid_flat, permute_dims, reshape
from .scatter import Batch, gather, pair_batches, positions
from .slices import first_entry, slice_


@check_arguments
def from_end(indices: Tensor, size: int) -> Tensor:
    """Convert indices that count from the end of an axis to indices that are not negative.

    >>> tb.from_end(tb.asarray([0, -1, 2]), 5).tolist()
    [0, 4, 2]
    """
    if indices.dtype.kind != "int":
        return indices
    wide = astype(indices, "int64")  # -1 + 200 is beyond int8
    return where(wide < 0, wide + size, wide)


def check_constant(op: str, x: Tensor, indices: Tensor, size: int) -> None:
    """Raises `IndexRangeError` for constant indices into an axis of a tensor that a compiler is tracing.

    `from_end` is traced with it, so that no op behind that has numbers to look at. A graph of this package raises when
    it runs, with the line of the call.
    """
    backend = x.backend
    records = backend.dispatch_priority > 1
    if records or backend is not indices.backend or backend.is_concrete(x) or not backend.is_concrete(indices):
        return
    for place in laid_flat(indices.backend_copy("binary")).tolist():
        if not -size <= place < size:
            raise index_out_of_range(place, size, -size).met(op, (x.template, indices.template))


def _reading_kernel(
    result: Tensor, x: Tensor, indices: Tensor, before: tuple[Any, ...], after: tuple[Any, ...] = ()
) -> ReadyCall | None:
    """The backend's own kernel for keys of an index tensor between other parts; `None` if it has none."""
    parts = *before, indices, *after
    structure = tuple([part.template if isinstance(part, Tensor) else part.__class__ for part in parts])
    kernel = x.backend.indexing(x.template, structure) if result.ndim else None
    if kernel is None:
        return None
    front, back = (
        tuple([part.data if isinstance(part, Tensor) else part for part in side]) for side in (before, after)
    )
    return ReadyCall(result.template, lambda values, places: kernel(values, (*front, places, *back)))


@primitive.calls("take")
def _take(x: Template, indices: Template, /, *, axis: SoleAxis = None, mode: Mode = "error") -> Plan:
    return plan_take(x, indices, axis, mode)


take_at = _take
"""`take` at indices that are never negative. If no index can be outside, use `mode="clip"`, which checks no data."""


def _plan_take(
    result: Tensor,
    x: TensorLike,
    indices: TensorLike,
    /,
    *,
    axis: SoleAxis = None,
    mode: Mode = "error",
    batch: Batch = None,
) -> ReadyCall | None:
    if batch is not None or mode != "error" or not (isinstance(x, Tensor) and isinstance(indices, Tensor)):
        return None
    return _reading_kernel(result, x, indices, (slice(None),) * sole_axis(x.template, axis))


@direct(_plan_take)
def take(
    x: TensorLike, indices: TensorLike, /, *, axis: SoleAxis = None, mode: Mode = "error", batch: Batch = None
) -> Tensor:
    """Read entries along an axis at integer indices of any shape, whose axes replace the axis.

    Indices of one axis without a name keep the axis' name, as in `x[:, indices]`; others bring their own names. For a
    tensor of one axis, `axis` may be omitted.

    `batch` lists axes that x and the indices have in common, by name or by a position that is the same in both. Each
    entry of these axes has its own indices, and only the other axes of the indices take the place of `axis`.

    >>> x = tb.asarray([[1, 2, 3], [4, 5, 6]], names=("row", "column"))
    >>> tb.take(x, tb.asarray([2, -1, 0], names=("pick",)), axis="column").template
    s64[row: 2][pick: 3]
    >>> picks = tb.asarray([[2, 0], [1, 1]], names=("row", "pick"))
    >>> tb.take(x, picks, axis="column", batch="row")
    s64[row: 2][pick: 2] numpy
    [[3, 1],
     [5, 5]]
    """
    if batch is not None:
        x, indices = operand_tensors(x, indices)
        check_indices(indices.template, mode)
        return _take_in_batches(x, indices, sole_axis(x.template, axis), mode, batch)
    if not (isinstance(x, Tensor) and isinstance(indices, Tensor)):
        x, indices = operand_tensors(x, indices)
    plan = plan_take(x.template, indices.template, axis, mode)
    along = plan.options["axis"]
    assert isinstance(along, int)
    return _read(_take, "take", x, indices, along, mode)


def _read(op: Callable[..., Tensor], name: str, x: Tensor, indices: Tensor, along: int, mode: Mode) -> Tensor:
    """The entries at indices that may be negative, by an op for those that are not."""
    if mode == "error":
        check_constant(name, x, indices, x.shape[along])
    try:
        return op(x, from_end(indices, x.shape[along]), axis=along, mode=mode)
    except IndexRangeError as error:
        raise restore_index(error) from None


def _take_in_batches(x: Tensor, indices: Tensor, along: int, mode: Mode, batch: Batch) -> Tensor:
    """`take` for each entry of batch axes.

    x (4, 7, 5) at indices (5, 3) along axis 1, where x's axis 2 is the batch, becomes (4, 3, 5).
    """
    if mode == "error":
        check_constant("take", x, indices, x.shape[along])
    vectors = expand_dims(from_end(indices, x.shape[along]), axis=indices.ndim)
    x_axes, vector_axes = positions(x, vectors, batch)
    if along in x_axes:
        raise AxisError(expected("an axis to take from that is not a batch axis", axis=along, batch=batch))
    rest = [axis for axis in range(x.ndim) if axis != along and axis not in x_axes]
    after = len(x_axes) + indices.ndim - len(vector_axes)
    fresh = [axis for axis in range(indices.ndim) if axis not in vector_axes]
    if [indices.names[axis] for axis in fresh] == [None]:
        names = [*vectors.names]
        names[fresh[0]] = x.names[along]
        vectors = rename(vectors, *names)
    moved = permute_dims(x, (*x_axes, along, *rest))
    kept = tuple(range(len(x_axes)))
    gathered = gather(moved, pair_batches(moved, vectors, kept, vector_axes).vectors, mode=mode)
    order: list[int] = []
    for axis in range(x.ndim):
        if axis == along:
            order += range(len(x_axes), after)
        else:
            order.append(x_axes.index(axis) if axis in x_axes else after + rest.index(axis))
    return permute_dims(gathered, tuple(order))


@primitive.calls("take_along_axis")
def _take_along_axis(x: Template, indices: Template, /, *, axis: Axis = -1, mode: Mode = "error") -> Plan:
    return plan_take_along(x, indices, axis, mode)


take_along_axis_at = _take_along_axis
"""`take_along_axis` at indices that are never negative."""


def _plan_take_along_axis(
    result: Tensor, x: TensorLike, indices: TensorLike, /, *, axis: Axis = -1, mode: Mode = "error"
) -> ReadyCall | None:
    if mode != "error" or not (isinstance(x, Tensor) and isinstance(indices, Tensor)):
        return None
    return _reading_kernel(result, x, indices, *_grid(x, normalize_axis(x.template, axis)))


@direct(_plan_take_along_axis)
def take_along_axis(x: TensorLike, indices: TensorLike, /, *, axis: Axis = -1, mode: Mode = "error") -> Tensor:
    """Read entries along one axis, with separate indices for each position on the other axes.

    >>> tb.take_along_axis(tb.asarray([[1, 2], [3, 4]]), tb.asarray([[1], [0]]), axis=1).tolist()
    [[2], [3]]
    """
    x, indices = operand_tensors(x, indices)
    along = normalize_axis(x.template, axis)
    if indices.ndim == x.ndim:
        x, indices = (_spread(operand, other, along) for operand, other in ((x, indices), (indices, x)))
    plan_take_along(x.template, indices.template, along, mode)  # raises what is wrong
    return _read(_take_along_axis, "take_along_axis", x, indices, along, mode)


def _grid(x: Tensor, along: int) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The positions along each axis before and after `along`, shaped to broadcast with index tensors for that axis."""
    lines = [
        reshape(iota(size, dtype="int64", backend=x.backend), (size, *(1,) * (x.ndim - axis - 1)))
        for axis, size in enumerate(x.shape)
    ]  # fmt: skip
    return tuple(lines[:along]), tuple(lines[along + 1 :])


def _spread(x: Tensor, other: Tensor, axis: int) -> Tensor:
    """x with its axes of size 1, except `axis`, broadcast to the sizes of another tensor."""
    sizes = zip(x.shape, other.shape, strict=True)
    shape = tuple(b if a == 1 and position != axis else a for position, (a, b) in enumerate(sizes))
    return x if shape == x.shape else broadcast_to(x, shape, names=x.names)


@check_arguments
def slice_along_axis(x: TensorLike, start: TensorLike, length: int, /, *, axis: Axis = -1, stride: int = 1) -> Tensor:
    """Take `length` entries along an axis, from `start` on, with a stride.

    `length` is the size of the result, whereas Nx counts the entries that the strides span. `start` may be a tensor
    without axes. It is moved so that all entries are within the axis. Raises `ShapeError` for
    more entries than there are.

    >>> tb.slice_along_axis(tb.iota(5), 1, 2).tolist(), tb.slice_along_axis(tb.iota(5), tb.asarray(9), 2).tolist()
    ([1, 2], [3, 4])
    """
    (x,) = operand_tensors(x)
    along = normalize_axis(x.template, axis)
    size, span = x.shape[along], (index(length) - 1) * index(stride) + 1 if length else 0
    if index(length) < 0 or index(stride) < 1 or span > size:
        expectation = f"a length and a stride within the {size} entries of axis {along} of {x.template!r}"
        raise ShapeError(expected(expectation, length=length, stride=stride))
    if isinstance(start, int):
        starts, lengths, strides = [0] * x.ndim, list(x.shape), [1] * x.ndim
        starts[along] = min(max(start, 0), size - span)
        lengths[along], strides[along] = length, stride
        return slice_(x, starts=tuple(starts), lengths=tuple(lengths), strides=tuple(strides))
    first = first_entry(operand_tensors(x, start)[1], size - span)
    places = iota(length, dtype="int64", backend=first.backend)
    return _take(x, places * stride + first, axis=along, mode="error")
