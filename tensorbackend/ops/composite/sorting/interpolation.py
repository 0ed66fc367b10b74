"""Linear interpolation between points, written in public ops."""

from __future__ import annotations

import math

from ....dispatch import composite
from ....dtypes import float32, promote_types
from ....errors import ArgumentError, ShapeError, expected
from ....rules.accuracy import Bound
from ....rules.broadcasting import check_dtype, result_type, to_floating
from ....tensor import Tensor
from ...creation.filled import full
from ...elementwise.basic import astype, imag, isinf, isnan, real, where
from ...elementwise.binary import logical_and, logical_or, maximum, minimum
from ...indexing.slices import entries
from ...indexing.taking import take_at
from ...shape import concatenate, reshape
from ...sorting import argsort
from ..elementwise.functions import complex as to_complex
from ..elementwise.functions import isfinite, logical_not
from ..shape.arranging import as_vector
from .searching import searchsorted


def _between(t: Tensor, x0: Tensor, x1: Tensor, y0: Tensor, y1: Tensor) -> Tensor:
    """The values at t on the lines from (x0, y0) to (x1, y1), all of one shape.

    At x1 the line is computed from there, since its rounding from (x0, y0) would miss y1; so the last of several equal
    places counts. Where the line from one end is NaN, as next to an infinite place, that from the other end is used.
    NumPy does the same.
    """
    # Differences of numbers near both ends of the range are computed of smaller ones by powers of two, such that their
    # quotient is in range too.
    by_place, by_value = (
        where(
            logical_and(isinf(end - start), logical_and(isfinite(start), isfinite(end))),
            full((), factor, dtype=start.dtype),
            1,
        )
        for start, end, factor in ((x0, x1, 2.0**-64), (y0, y1, 0.5))
    )
    t, x0, x1 = (each * by_place for each in (t, x0, x1))
    y0, y1 = y0 * by_value, y1 * by_value
    gap = x1 - x0
    same = gap == 0
    slope = where(same, 0, (y1 - y0) / where(same, 1, gap))
    from_left, from_right = (y + slope * (t - x) for x, y in ((x0, y0), (x1, y1)))
    at_right = t == x1
    line = where(logical_or(at_right, isnan(from_left)), from_right, from_left)
    # An infinite slope times a distance of 0, or a slope of 0 times an infinite distance.
    lost = logical_and(isnan(line), logical_not(isnan(t)))
    at_right = logical_or(at_right, y0 == y1)
    line = where(logical_and(lost, at_right), y1, where(logical_and(lost, t == x0), y0, line))
    return line / by_value


@composite.within(Bound(16, "a product with a quotient of differences", "operand", tame=True))
def interp(
    x: Tensor, xp: Tensor, fp: Tensor, /, *, left: float | None = None, right: float | None = None,
    period: float | None = None,
) -> Tensor:  # fmt: skip
    """The values at x of the function that is linear between the points (xp, fp), with xp in ascending order.

    Where several places are equal, the value there is that of the last one.

    Parameters
    ----------
    x : Tensor
        The places at which the function is evaluated.
    xp : Tensor
        The places of the points along one axis, in ascending order unless there is a period.
    fp : Tensor
        The values at these places; they may be complex.
    left, right : float, optional
        The values below and above all places; by default the value at the nearest place.
    period : float, optional
        The period of the function; `left` and `right` then have no effect.

    Returns
    -------
    Tensor
        A tensor with the shape and names of x, in the floating dtype to which the operands are promoted.

    Raises
    ------
    ShapeError
        Unless `xp` and `fp` are vectors of the same length of at least 1.
    ArgumentError
        For a period of 0.

    Examples
    --------
    >>> tb.interp(tb.asarray([0.5, 1.5, 9.0]), tb.asarray([0.0, 1.0, 2.0]), tb.asarray([0.0, 10.0, 30.0])).tolist()
    [5.0, 20.0, 30.0]
    """
    places, values = as_vector(xp, "places"), as_vector(fp, "values")
    if places.shape != values.shape or not places.shape[0]:
        raise ShapeError(expected("a value for each place, and at least one", xp=xp.template, fp=fp.template))
    dtype = to_floating(check_dtype(result_type([x.template, xp.template, fp.template]), "numeric"))
    reals = to_floating(check_dtype(result_type([x.template, xp.template]), "real"))
    work = promote_types(dtype, float32)
    real_work = promote_types(reals, work) if not work.is_complex else promote_types(reals, float32)
    t, places, values = astype(x, real_work), astype(places, real_work), astype(values, work)
    if period is not None:
        if not period:
            raise ArgumentError(expected("a period other than 0", period=period))
        length = math.fabs(period)
        t, places = t % length, places % length
        order = argsort(places)
        places, values = (take_at(each, order, axis=0, mode="clip") for each in (places, values))
        last = places.shape[0] - 1
        places = concatenate([entries(places, 0, last, 1) - length, places, entries(places, 0, 0, 1) + length])
        values = concatenate([entries(values, 0, last, 1), values, entries(values, 0, 0, 1)])
        for outside in (left, right):
            if outside is not None:
                full((), outside)  # raises for what is not a number, though it is not used
        left = right = None
    count = places.shape[0]
    first, last_place = (reshape(entries(places, 0, at, 1), ()) for at in (0, count - 1))
    start, stop = (reshape(entries(values, 0, at, 1), ()) for at in (0, count - 1))
    if count == 1:
        inside = where(isnan(t), astype(t, work), start)
    else:
        after = minimum(maximum(searchsorted(places, t, side="right"), 1), count - 1)
        before = after - 1
        x0, x1 = (take_at(places, at, axis=0, mode="clip") for at in (before, after))
        y0, y1 = (take_at(values, at, axis=0, mode="clip") for at in (before, after))
        if work.is_complex:  # part by part: in a product of complex numbers, an infinite part makes the other NaN
            parts = [_between(t, x0, x1, part(y0), part(y1)) for part in (real, imag)]
            inside = where(isnan(t), astype(t, work), to_complex(*parts))
        else:
            inside = _between(t, x0, x1, y0, y1)
    inside = where(t < first, start if left is None else left, inside)
    inside = where(t > last_place, stop if right is None else right, inside)
    return astype(inside.rename(*x.names), dtype)
