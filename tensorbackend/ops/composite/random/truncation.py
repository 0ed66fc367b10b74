"""Quantiles of a normal distribution between two bounds, also where both are far out in one tail."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias

from ....dtypes import DType, finfo, float64, scalar_kind
from ....tensor import Tensor, TensorLike
from ...elementwise.basic import astype, where
from ...elementwise.binary import logical_or, maximum, minimum
from ...elementwise.transcendental import erf, erf_inv, erfc, exp, expm1, log, log1p, sqrt
from ..elementwise.functions import isfinite, square, stop_gradient
from .threefry import spread

Side: TypeAlias = Literal["centre", "left", "right", "any"]
"""Where bounds are: about the mean, both more than one deviation below or above it, or anywhere, unknown before."""

_FAR = 10.0
"""The number of deviations from which the tail is computed by a continued fraction, without underflow."""

_LEVELS = 10
"""The levels of the continued fraction, which suffice for float64's accuracy from `_FAR` on."""

_ROUNDS = 5
"""The iterations of Newton's method, which converge from one deviation on."""


def side_of(lower: TensorLike, upper: TensorLike, mean: TensorLike, deviation: TensorLike) -> Side:
    """Where bounds are if all arguments are Python numbers, else "any"."""
    if any(isinstance(x, Tensor) or scalar_kind(x) is None for x in (lower, upper, mean, deviation)):
        return "any"
    low, high = ((float(edge) - float(mean)) / float(deviation) for edge in (lower, upper))  # type: ignore[arg-type] # Python numbers
    return "right" if low > 1 else "left" if high < -1 else "centre"


def standardise(edge: Tensor, moments: Sequence[Tensor]) -> Tensor:
    """A bound in deviations from the mean. An infinite one does not depend on the moments, nor does its gradient."""
    if not moments:
        return edge
    mean, deviation = moments
    finite = isfinite(edge)
    return where(finite, (where(finite, edge, mean) - mean) / deviation, edge)


def quantile(fraction: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """The number at a fraction of the probability between two bounds, by the inverse error function."""
    root, dtype = math.sqrt(2), low.dtype
    place = spread(fraction, *(erf(edge / root) for edge in (low, high)))
    last = 1 - finfo(dtype).eps / 2  # at 1 the inverse is infinite
    return erf_inv(maximum(minimum(place, last), -last)) * root


def side_quantile(fraction: Tensor, low: Tensor, high: Tensor, side: Side, dtype: DType) -> Tensor:
    """The same in float64 for bounds on one side of the mean, or for a mixture of bounds anywhere.

    Numbers around the mean are computed in `dtype`, so that numbers do not depend on whether bounds were tensors.
    """
    if side == "right":
        return tail_quantile(fraction, low, high)
    if side == "left":
        return -tail_quantile(fraction, -high, -low)
    right, left = low > 1, high < -1
    aside = logical_or(right, left)
    # Where a formula's result is not used, its operands are harmless, as are then its derivatives.
    near = where(left, -high, where(right, low, 1.0))
    far = where(left, -low, where(right, high, 2.0))
    tail = tail_quantile(fraction, near, far)
    edges = astype(where(aside, -1.0, low), dtype), astype(where(aside, 1.0, high), dtype)
    centre = astype(quantile(astype(fraction, dtype), *edges), float64)
    return where(left, -tail, where(right, tail, centre))


def tail_quantile(fraction: Tensor, near: Tensor, far: Tensor) -> Tensor:
    """The number at a fraction of the probability from `near` to `far`, at least one deviation above the mean.

    With S(x) the probability of numbers above x and R(x) the Mills ratio, S(x) is R(x) exp(-x**2 / 2) up to a constant.
    The number x at a fraction has -log(S(x) / S(near)) = e for a number e of a truncated exponential distribution. In
    terms of d = x - near this is d * (near + d / 2) + log(R(near) / R(x)) = e, a convex function of d whose derivative
    is 1 / R(x). Newton's method solves it from the root without the logarithm.
    """
    bounded = isfinite(far)
    end = where(bounded, far, near + 1.0)
    ratio = mills_ratio(near)
    width = (end - near) * ((end + near) * 0.5)
    share = where(bounded, -expm1(-(width + log(ratio / mills_ratio(end)))), 1.0)
    depth = -log1p(-(fraction * share))
    start, fixed = stop_gradient(near), stop_gradient(depth)
    distance = fixed * 2.0 / (start + sqrt(square(start) + fixed * 2.0))
    for _ in range(_ROUNDS - 1):
        distance = _newton_step(distance, start, fixed, stop_gradient(ratio))
    # The derivative of the last iteration alone is that of the root, as the derivative of the others vanishes there.
    return near + _newton_step(stop_gradient(distance), near, depth, ratio)


def _newton_step(distance: Tensor, near: Tensor, depth: Tensor, ratio: Tensor) -> Tensor:
    """The next iteration of Newton's method for the distance of a number from the nearer bound."""
    here = mills_ratio(near + distance)
    excess = distance * (near + distance * 0.5) + (log(ratio / here) - depth)
    return distance - excess * stop_gradient(here)


def mills_ratio(x: Tensor) -> Tensor:
    """The probability of numbers above x >= 1 over the density at x, in float64."""
    close, distant = minimum(x, _FAR), maximum(x, _FAR)
    near_centre = erfc(close / math.sqrt(2)) * exp(square(close) * 0.5) * math.sqrt(math.pi / 2)
    fraction = distant
    for level in range(_LEVELS, 0, -1):
        fraction = distant + float(level) / fraction
    return where(x < _FAR, near_centre, 1.0 / fraction)
