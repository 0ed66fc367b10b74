"""Derivatives of samples."""

from __future__ import annotations

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments
from ..dtypes import float32, promote_types
from ..errors import ArgumentError, ShapeError, expected
from ..rules.accuracy import Bound, declare_bound
from ..rules.axes import normalize_axis
from ..rules.broadcasting import check_dtype, result_type, to_floating
from ..tensor import Tensor, TensorLike
from .composite.cumulative import neighbours, places_along
from .creation.values import operand_tensor
from .elementwise.binary import add, divide, multiply, subtract
from .elementwise.conversion import astype
from .indexing.slices import entries
from .shape import concatenate


@declare_bound(Bound(64, "quotients of differences", "operand", tame=True))
@check_arguments
def sample_gradient(
    y: TensorLike, x: TensorLike | None = None, /, *, dx: float = 1.0, axis: Axis = -1, edge_order: int = 1
) -> Tensor:
    """The derivative of samples along an axis by differences of neighbours, as `numpy.gradient` computes it.

    Inside it is exact for polynomials of degree 2, also where distances differ; at both ends for those of degree
    `edge_order`. The derivative of a function is `grad`.

    Parameters
    ----------
    y : Tensor
        The samples.
    x : Tensor, optional
        Their places: a vector along the axis, or a tensor that broadcasts to y.
    dx : float, default 1.0
        The distance of neighbours, if no places are given.
    axis : int or str, default -1
        The axis of y, by position or by name.
    edge_order : {1, 2}, default 1
        The degree of the polynomials for which the first and the last entry are exact.

    Returns
    -------
    Tensor
        A tensor with the shape and names of y, in the floating dtype to which the operands are promoted.

    Raises
    ------
    ShapeError
        For an axis with fewer than `edge_order` + 1 samples, and for places that do not fit.
    ArgumentError
        For another `edge_order`.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> tb.sample_gradient(tb.asarray([0.0, 1.0, 4.0, 9.0])).tolist()
    [1.0, 2.0, 4.0, 5.0]
    >>> tb.sample_gradient(tb.asarray([0.0, 1.0, 9.0]), tb.asarray([0.0, 1.0, 3.0]), edge_order=2).tolist()
    [0.0, 2.0, 6.0]
    """
    y = operand_tensor(y, x)
    x = None if x is None else operand_tensor(x, y)
    along = normalize_axis(y.template, axis)
    if edge_order not in (1, 2):
        raise ArgumentError(expected("edge_order to be 1 or 2", edge_order=edge_order))
    templates = [y.template] if x is None else [y.template, x.template]
    dtype = to_floating(check_dtype(result_type(templates), "numeric"))
    size = y.shape[along]
    if size <= edge_order:
        raise ShapeError(expected(f"at least {edge_order + 1} samples along axis {along}", y=y.template))
    work = promote_types(dtype, float32)
    y = astype(y, work)
    slopes = subtract(*neighbours(y, along))
    if x is None:
        slopes = divide(slopes, dx)
        mean = divide(subtract(entries(y, along, 2, size - 2), entries(y, along, 0, size - 2)), 2 * dx)
    else:
        widths = subtract(*neighbours(astype(places_along(x, y, along), work), along))
        slopes = divide(slopes, widths)
        after, before = neighbours(widths, along)
        right, left = neighbours(slopes, along)
        mean = divide(add(multiply(before, right), multiply(after, left)), add(before, after))
    first, last = entries(slopes, along, 0, 1), entries(slopes, along, size - 2, 1)
    if edge_order == 2:  # the derivative of a parabola is a line, which has the slope in the middle between two samples
        first = subtract(multiply(first, 2), entries(mean, along, 0, 1))
        last = subtract(multiply(last, 2), entries(mean, along, size - 3, 1))
    return astype(concatenate([first, mean, last], axis=along), dtype)
