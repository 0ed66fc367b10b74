"""Changes of shape and order: elements are moved or shared.

Transposes move the names with the axes; `reshape` keeps the names of axes that it does not touch. Errors: `ShapeError`,
`AxisError`, `NamesError`, `IndexRangeError`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Never

from ..annotations import Axes, Axis, ShapeLike
from ..declarations.argument_errors import check_arguments
from ..declarations.signature_errors import adapt
from ..dispatch import primitive
from ..docstrings import document
from ..errors import OperandError, ShapeError, expected
from ..rules.axes import sorted_axes
from ..rules.broadcasting import broadcast, result_type
from ..rules.plan import Plan
from ..rules.shape import (
    Paddings,
    align_axes,
    broadcast_target,
    expand_template,
    pad_template,
    permutation,
    plan_concatenation,
    reshape_template,
    squeeze_template,
    template_of_axes,
)
from ..template import NamesLike, Template, as_shape
from ..tensor import Tensor, TensorLike, bind


@primitive
def reshape(x: Template, /, shape: ShapeLike, *, copy: bool | None = None, names: NamesLike = None) -> Plan:
    """Change the shape, keeping the elements in row-major order; one size may be -1.

    Unless `names` are given, an axis keeps its name if its size, and the products of the sizes before and after it, are
    the same in both shapes. `copy` changes nothing, as no payload ever changes.

    >>> tb.reshape(tb.ones((2, 3, 4), names=("a", "b", "c")), (2, 12)).names
    ('a', None)
    >>> tb.reshape(tb.iota(6), (2, -1), names=("row", None))
    s64[row: 2][3] numpy
    [[0, 1, 2],
     [3, 4, 5]]
    """
    return Plan(reshape_template(x, shape, names), (x.dtype,))


def laid_flat(x: TensorLike) -> Tensor:
    """The elements in row-major order along one axis without a name; a tensor of one axis loses its name, too."""
    return reshape(x, -1, names=(None,))


@primitive.calls("transpose")
def permute_dims(x: Template, /, axes: Sequence[Axis] | None = None) -> Plan:
    """Permute axes: axis i of the result is axis `axes[i]` of x. By default the order is reversed.

    >>> tb.permute_dims(tb.zeros((2, 3), names=("row", "column")), ("column", "row")).names
    ('column', 'row')
    """
    order = permutation(x, range(x.ndim)[::-1] if axes is None else axes)
    return Plan(template_of_axes(x, order), (x.dtype,), {"axes": order})


@primitive.calls("transpose")
def matrix_transpose(x: Template, /) -> Plan:
    """Swap the last two axes. Raises `ShapeError` for fewer axes.

    >>> tb.matrix_transpose(tb.asarray([[1, 2], [3, 4]])).tolist()
    [[1, 3], [2, 4]]
    """
    if x.ndim < 2:
        raise ShapeError(expected("a tensor of at least two axes", tensor=x))
    order = (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
    return Plan(template_of_axes(x, order), (x.dtype,), {"axes": order})


@primitive
def squeeze(x: Template, /, axis: Axes = None) -> Plan:
    """Remove axes of size 1, by default all of them.

    >>> tb.squeeze(tb.zeros((1, 3), names=("batch", "feature")), "batch").shape
    (3,)
    """
    axes = sorted_axes(x, axis) if axis is not None else tuple(i for i, size in enumerate(x.shape) if size == 1)
    return Plan(squeeze_template(x, axes), (x.dtype,), {"axes": axes})


@primitive.calls("reshape")
def expand_dims(
    x: Template, /, axis: int | Sequence[int] = 0, *, name: str | Sequence[str | None] | None = None
) -> Plan:
    """Insert axes of size 1 at positions of the result, with names if any are given.

    >>> tb.expand_dims(tb.zeros(3, names=("n",)), axis=-1, name="m").template
    f32[n: 3][m: 1]
    """
    return Plan(expand_template(x, axis, name), (x.dtype,))


@primitive.calls("broadcast")
def broadcast_to(
    x: Template, /, shape: ShapeLike, *, names: NamesLike = None, axes: Sequence[int] | None = None
) -> Plan:
    """Broadcast a tensor to a shape, aligned from the right, or with its axes at the positions `axes`.

    >>> tb.broadcast_to(tb.asarray([1, 2]), (2, 2)).tolist()
    [[1, 2], [1, 2]]
    >>> tb.broadcast_to(tb.asarray([1, 2]), (2, 2), axes=(0,)).tolist()
    [[1, 1], [2, 2]]
    """
    out, places = broadcast_target(x, as_shape(shape), None if names is None else tuple(names), axes)
    return Plan(out, (x.dtype,), {"axes": places})


@primitive.calls("reverse")
def flip(x: Template, /, *, axis: Axes = None) -> Plan:
    """Reverse the order of the entries along the given axes, by default along all.

    >>> tb.flip(tb.asarray([1, 2, 3])).tolist()
    [3, 2, 1]
    """
    return Plan(x, (x.dtype,), {"axes": sorted_axes(x, axis)})


@primitive.calls("pad")
def _pad(x: Template, pad_value: Template, /, *, padding: Paddings) -> Plan:
    if pad_value.shape:
        raise ShapeError(expected("a value without axes to pad with", "index it first", value=pad_value))
    out, triples = pad_template(x, padding)
    dtype = result_type([x, pad_value])
    # Between fewer than two elements there is nothing; XLA gets an interior padding that does nothing wrong.
    triples = tuple([
        (low, high, interior if size > 1 else 0) for size, (low, high, interior) in zip(x.shape, triples, strict=True)
    ])  # fmt: skip
    return Plan(out.replace(dtype=dtype), (dtype, dtype), {"padding": triples})


pad_with = _pad
"""`pad` with a constant value only."""


@primitive
def concatenate(tensors: Sequence[Template], /, *, axis: Axis = 0) -> Plan:
    """Join one or more tensors along an axis.

    The names are merged, so that a name is paired with the same name or `None`. Raises `ShapeError` if the sizes of
    another axis differ.

    >>> tb.concatenate([tb.asarray([1]), tb.asarray([2.5])]).tolist()
    [1.0, 2.5]
    """
    return plan_concatenation(tensors, axis)


@document
def concat(arrays: Sequence[TensorLike], /, *surplus: Never, axis: Axis | None = 0, **unknown: Never) -> Tensor:
    """Join tensors along an axis: the Array API's name for `concatenate`. `None` flattens them first.

    >>> tb.concat([tb.zeros((1, 2)), tb.ones((1, 1))], axis=None).tolist()
    [0.0, 0.0, 1.0]
    """
    if surplus or unknown:
        adapt(concat, (arrays, *surplus), unknown)
    if axis is None:
        if not isinstance(arrays, Sequence):
            raise OperandError(expected("a list or tuple of tensors", arrays=arrays))
        return concatenate([laid_flat(array) for array in arrays])
    return concatenate(arrays, axis=axis)


@bind
@check_arguments
def align_to(x: Tensor, names: Sequence[str]) -> Tensor:
    """Return the tensor with its axes in the given order, and axes of size 1 for names that x lacks.

    >>> tb.align_to(tb.zeros((2, 3), names=("a", "c")), ("c", "b", "a")).template
    f32[c: 3][b: 1][a: 2]
    """
    order, missing = align_axes(x.template, names)
    x = permute_dims(x, order)
    for position in missing:
        x = expand_dims(x, axis=position, name=names[position])
    return x


@bind
@check_arguments
def align_as(x: Tensor, other: Tensor) -> Tensor:
    """Return the tensor with its axes in the order of another tensor's names; all axes of that must have one.

    >>> tb.align_as(tb.zeros(3, names=("c",)), tb.zeros((3, 2), names=("c", "b"))).template
    f32[c: 3][b: 1]
    """
    return align_to(x, [name for name in other.names if name is not None])


@check_arguments
def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """Return the shape to which shapes broadcast.

    >>> tb.broadcast_shapes((2, 1), (3,))
    (2, 3)
    """
    return broadcast([Template(shape, "bool") for shape in shapes or [()]])[0]
