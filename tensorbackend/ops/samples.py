"""Derivatives of samples."""

from __future__ import annotations

from collections.abc import Sequence

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments
from ..dtypes import float32, promote_types
from ..errors import ArgumentError, ShapeError, expected
from ..rules.accuracy import Bound, declare_bound
from ..rules.axes import normalize_axis
from ..rules.broadcasting import check_dtype, result_type, to_floating, to_real
from ..tensor import Tensor, TensorLike
from .composite.cumulative import neighbours, places_along
from .composite.elementwise.functions import isfinite
from .creation.filled import full
from .creation.values import operand_tensor
from .elementwise.binary import multiply, subtract
from .elementwise.conversion import astype
from .elementwise.ternary import where
from .indexing.slices import entries
from .reduction import all
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
    triples = [entries(y, along, start, size - 2) for start in range(3)]
    widths = None if x is None else subtract(*neighbours(astype(places_along(x, y, along), work), along))
    if widths is None:
        slopes = slopes / dx
        mean = (triples[2] - triples[0]) / (2 * dx)
    else:
        slopes = slopes / widths
        after, before = neighbours(widths, along)
        right, left = neighbours(slopes, along)
        mean = (before * right + after * left) / (before + after)
        even = all(widths == entries(widths, along, 0, 1), axis=along, keepdims=True)
        # At even places the sample in the middle has no part in the slope, not even an infinite one.
        triples_of_mean = [triples[0], where(even, 0, triples[1]), triples[2]]
        mean = _or_by_weights(mean, triples_of_mean, _weights_inside(before, after))
    ends = [entries(slopes, along, 0, 1), entries(slopes, along, size - 2, 1)]
    if edge_order == 2:  # the derivative of a parabola is a line, which has the slope in the middle between two samples
        for end, place in enumerate((0, size - 3)):
            slope = ends[end] * 2 - entries(mean, along, place, 1)
            samples = [entries(each, along, place, 1) for each in triples]
            if widths is None:
                one = two = full((), dx, dtype=to_real(work), like=y)
            else:
                one, two = (entries(widths, along, place + step, 1) for step in range(2))
            weights = _weights_at_end(two, one) if end else _weights_at_end(one, two)
            if end:  # from behind, where the differences have the other sign
                weights = [weight * -1 for weight in reversed(weights)]
            ends[end] = _or_by_weights(slope, samples, weights)
    return astype(concatenate([ends[0], mean, ends[1]], axis=along), dtype)


def _or_by_weights(slope: Tensor, samples: Sequence[Tensor], weights: Sequence[Tensor]) -> Tensor:
    """A slope by differences; where it is not finite, the weighted sum of the samples, which NumPy always takes.

    Differences of equal samples are exactly 0. But two differences to an infinite sample may cancel.
    """
    first, second, third = map(multiply, samples, weights)
    return where(isfinite(slope), slope, first + second + third)


def _weights_inside(before: Tensor, after: Tensor) -> list[Tensor]:
    """The weights of three samples in the slope at the second one."""
    total = before + after
    return [-(after / (before * total)), (after - before) / (before * after), before / (after * total)]


def _weights_at_end(one: Tensor, two: Tensor) -> list[Tensor]:
    """The weights of three samples in the slope at the first one."""
    total = one + two
    return [-((one + total) / (one * total)), total / (one * two), -(one / (two * total))]
