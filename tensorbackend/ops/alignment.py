"""Axes by their names: align tensors, split one axis into several, merge several into one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from operator import index

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments
from ..errors import NamesError, ShapeError, expected
from ..rules.axes import normalize_axes, normalize_axis
from ..template import NamesLike
from ..tensor import Tensor, TensorLike
from .creation.values import operand_tensors
from .shape import align_to, permute_dims, reshape


@check_arguments
def aligned(*tensors: TensorLike, outer: bool = False) -> tuple[Tensor, ...]:
    """Bring tensors into one order of axes by name, so that they broadcast with each other.

    Parameters
    ----------
    *tensors : Tensor
        Tensors whose axes all have names. Numbers and tensors without axes are returned unchanged.
    outer : bool, default False
        Whether the result may have more axes than any of the tensors, such as `[a][b]` for `[a]` and `[b]`.

    Returns
    -------
    tuple of Tensor
        Each tensor with an axis for every name, in the order of the first tensor that has all names; with `outer`, if
        no tensor has all of them, in the order in which the names first occur. An axis that a tensor lacks has size 1.

    Raises
    ------
    NamesError
        For an axis without a name, and without `outer` where no tensor has all names.
    ShapeError
        For a name with two sizes, neither of which is 1.

    Examples
    --------
    >>> bias = tb.asarray([10.0, 20.0], names=("batch",))
    >>> x = tb.asarray([[1.0, 2.0], [3.0, 4.0]], names=("batch", "feature"))
    >>> bias, x = tb.aligned(bias, x)
    >>> (x + bias).tolist()
    [[11.0, 12.0], [23.0, 24.0]]
    >>> rows, columns = tb.aligned(tb.zeros(2, names=("row",)), tb.zeros(3, names=("column",)), outer=True)
    >>> (rows + columns).template
    f32[row: 2][column: 3]
    """
    operands = operand_tensors(*tensors)
    sizes: dict[str, int] = {}
    for x in operands:
        for name, size in zip(x.names, x.shape, strict=True):
            if name is None:
                raise NamesError(expected("a name for every axis", "name it with rename()", tensor=x.template))
            known = sizes.setdefault(name, size)
            if known == 1:
                sizes[name] = size
            elif size not in (1, known):
                raise ShapeError(expected(f"one size for the axis {name!r}", sizes=(known, size), tensor=x.template))
    whole = next((x for x in operands if len(x.names) == len(sizes)), None)
    if whole is None and not outer:
        remedy = "pass outer=True for a result with all names"
        raise NamesError(expected("a tensor with all names", remedy, tensors=[x.template for x in operands]))
    order: Sequence[str | None] = [*sizes] if whole is None else whole.names
    return tuple(align_to(x, [name for name in order if name is not None]) if x.ndim else x for x in operands)


@check_arguments
def split_axis(
    x: TensorLike, axis: Axis, sizes: Mapping[str, int] | Sequence[int], /, *, names: NamesLike = None
) -> Tensor:
    """Split one axis into several; the last varies fastest.

    Parameters
    ----------
    axis : int or str
        The axis to split.
    sizes : mapping of names to sizes, or sequence of sizes
        Sizes of the new axes; one of them may be -1, for the remaining size.
    names : sequence of str or None, optional
        Names of the new axes, if `sizes` is a sequence.

    Returns
    -------
    Tensor
        x with the new axes in place of the one that is split.

    Raises
    ------
    AxisError
        For an axis that x does not have.
    ShapeError
        For sizes whose product is not the size of the axis.
    NamesError
        For names in both `sizes` and `names`, if the numbers of names and sizes differ, and for a name that would
        occur twice.

    Examples
    --------
    >>> x = tb.zeros((2, 12), names=("batch", "feature"))
    >>> tb.split_axis(x, "feature", {"head": 3, "unit": -1}).template
    f32[batch: 2][head: 3][unit: 4]

    See Also
    --------
    merge_axes : The inverse.
    """
    (x,) = operand_tensors(x)
    along = normalize_axis(x.template, axis)
    if isinstance(sizes, Mapping):
        if names is not None:
            raise NamesError(expected("names in sizes or in names=, not in both", sizes=sizes, names=tuple(names)))
        names, sizes = [*sizes], [*sizes.values()]
    parts, size = [index(part) for part in sizes], x.shape[along]
    new_names = [None] * len(parts) if names is None else list(names)
    if len(new_names) != len(parts):
        raise NamesError(expected(f"{len(parts)} names, one for each size", names=tuple(new_names)))
    known = math.prod(part for part in parts if part != -1)
    if parts.count(-1) == 1 and known > 0 and size % known == 0:
        parts[parts.index(-1)] = size // known
    if any(part < 0 for part in parts) or math.prod(parts) != size:
        expectation = f"sizes whose product is {size}, the size of axis {along} of {x.template!r}"
        raise ShapeError(expected(expectation, "one of them may be -1", sizes=tuple(parts)))
    shape = (*x.shape[:along], *parts, *x.shape[along + 1 :])
    return reshape(x, shape, names=(*x.names[:along], *new_names, *x.names[along + 1 :]))


@check_arguments
def merge_axes(x: TensorLike, axes: Sequence[Axis], /, *, name: str | None = None) -> Tensor:
    """Merge several axes into one, in the given order; the last varies fastest.

    Parameters
    ----------
    axes : sequence of int or str
        One or more axes, which need not be adjacent.
    name : str, optional
        The name of the merged axis.

    Returns
    -------
    Tensor
        x with the merged axis at the position of the first of `axes`.

    Raises
    ------
    AxisError
        For an axis that x does not have, and for one that is given twice.
    ShapeError
        Where no axis is given.
    NamesError
        For a name that another axis has.

    Examples
    --------
    >>> x = tb.zeros((2, 5, 3, 4), names=("batch", "time", "head", "unit"))
    >>> tb.merge_axes(x, ("head", "unit"), name="feature").template
    f32[batch: 2][time: 5][feature: 12]
    >>> tb.merge_axes(x, ("time", "batch"), name="row").template
    f32[row: 10][head: 3][unit: 4]

    See Also
    --------
    split_axis : The inverse.
    """
    (x,) = operand_tensors(x)
    merged = normalize_axes(x.template, axes)
    if not merged:
        raise ShapeError(expected("at least one axis to merge", "expand_dims() makes a new one", axes=tuple(axes)))
    rest = [axis for axis in range(x.ndim) if axis not in merged]
    place = sum(axis < merged[0] for axis in rest)
    before, after = rest[:place], rest[place:]
    order = (*before, *merged, *after)
    moved = x if order == tuple(range(x.ndim)) else permute_dims(x, order)
    size = math.prod(x.shape[axis] for axis in merged)
    shape = (*(x.shape[axis] for axis in before), size, *(x.shape[axis] for axis in after))
    return reshape(moved, shape, names=(*(x.names[axis] for axis in before), name, *(x.names[axis] for axis in after)))
