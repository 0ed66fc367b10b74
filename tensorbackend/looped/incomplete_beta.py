"""The incomplete beta function: an integral of a peak for large parameters, a continued fraction for others.

The fraction is computed in a loop that ends when all elements have converged. Both compute the probability on the side
of the mean where the point is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from ..declarations.argument_errors import check_arguments
from ..dtypes import float64
from ..expr.grad.custom import custom_gradient
from ..expr.grad.functions import vjp
from ..expr.while_loops import while_loop
from ..ops.composite.elementwise.functions import stop_gradient
from ..ops.composite.shape.arranging import broadcast_arrays
from ..ops.composite.special.zeta import stirling_rest
from ..ops.creation.filled import full, ones_like, rename, zeros_like
from ..ops.creation.values import asarray
from ..ops.elementwise.basic import astype, isinf, isnan, where
from ..ops.elementwise.binary import greater, less, logical_and, logical_or, maximum, minimum
from ..ops.elementwise.transcendental import exp, log, log1p, sqrt
from ..ops.inspection import wide_operands
from ..ops.shape import expand_dims
from ..ops.special import lgamma
from ..rules.accuracy import Bound, declare_bound
from ..tensor import Tensor, TensorLike

_TINY = 1e-300
_EPSILON = 1e-15
"""The relative change that rounding alone may make: an element that has changed by no more once has converged."""
_MOST_TERMS = 20_000
_STIRLING_FROM = 8.0
"""From here on Stirling's series has the accuracy of float64."""
_LARGE = 100.0
"""From here on of both parameters, the integral is that of a smooth peak."""
_NODES = 56
_DECAY = 42.0
"""How many times the integrand falls by a factor of e before it is negligible."""


class _Parts(NamedTuple):
    """A point, seen from the end of [0, 1] that is on its side of the mean."""

    first: Tensor
    second: Tensor
    at: Tensor
    rest: Tensor
    """1 - at, without the rounding of a difference of rounded numbers."""
    apart: Tensor
    """first - (first + second) at: how far below the mean the point is."""


def _excess(y: Tensor) -> Tensor:
    """(y - log(1 + y)) / y**2, by a series in y / (2 + y) where the difference cancels."""
    near = abs(y) < 0.5
    small = where(near, y, 0)
    r = small / (small + 2)
    square, total = r * r, zeros_like(y)
    for divisor in range(29, 1, -2):
        total = (total + 1 / divisor) * square
    # y - 2 atanh(r) = r (y - 2 total), and r / y = 1 / (2 + y).
    series = (1 - 2 * total / where(small == 0, 1, small)) / (small + 2)
    far = where(near, 1, maximum(y, -1 + 1e-16))
    return where(near, series, (far - log1p(far)) / far / far)


def _exact_distance(a: Tensor, b: Tensor, x: Tensor) -> Tensor:
    """a - (a + b) x in twice the digits: of large parameters the terms cancel."""

    def split(value: Tensor) -> tuple[Tensor, Tensor]:
        wide = value * 134217729.0
        high = wide - (wide - value)
        return high, value - high

    def product(left: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
        whole = left * right
        (of_left, rest_left), (of_right, rest_right) = split(left), split(right)
        rest = of_left * of_right - whole + of_left * rest_right + rest_left * of_right + rest_left * rest_right
        return whole, rest

    plain = a * (1 - x) - b * x
    huge = maximum(a, b) > 1e290  # splitting is not to overflow
    a, b = (where(huge, each * 2.0**-40, each) for each in (a, b))
    (of_a, rest_a), (of_b, rest_b) = product(a, x), product(b, x)
    left = a - of_a
    part = left - a
    rest = (a - (left - part)) + (-of_a - part)
    total = left - of_b
    part = total - left
    rest = rest + ((left - (total - part)) + (-of_b - part))
    exact = total + (rest - rest_a - rest_b)
    exact = where(huge, exact * 2.0**40, exact)
    # The roundings have no derivative.
    return stop_gradient(exact) + (plain - stop_gradient(plain))


def _parts(a: Tensor, b: Tensor, x: Tensor) -> tuple[Tensor, _Parts]:
    """Whether a point is above the mean, and the point from its end."""
    distance = _exact_distance(a, b, x)
    swaps = greater(x, (a + 1) / (a + b + 2))
    return swaps, _Parts(
        where(swaps, b, a), where(swaps, a, b), where(swaps, 1 - x, x), where(swaps, x, 1 - x),
        where(swaps, -distance, distance),
    )  # fmt: skip


def _over_first(a: Tensor, b: Tensor, x: Tensor, parts: _Parts) -> Tensor:
    """x**a (1 - x)**b / B(a, b), divided by the first parameter."""
    least, most = minimum(a, b), maximum(a, b)
    medium = least < _STIRLING_FROM
    # Both from 8 on: a normal density, but for the excesses of logarithms.
    p, q = (where(medium, 10.0, each) for each in (parts.first, parts.second))
    apart = where(medium, 0.0, parts.apart)
    down, up = apart / p, apart / q
    power = apart * (down * _excess(-down)) + apart * (up * _excess(up))  # no square of a distance
    power = power + stirling_rest(p) + stirling_rest(q) - stirling_rest(p + q)
    by_stirling = exp(-power) * sqrt(q / (p + q)) / sqrt(p) * (1 / math.sqrt(2 * math.pi))
    # One below 8.
    logs = log(x), log1p(-x)
    m, large = where(medium, least, 1.0), where(most < _STIRLING_FROM, 10.0, most)
    of_least, of_most = where(a <= b, logs[0], logs[1]), where(a <= b, logs[1], logs[0])
    power = m * (of_least + log(large)) + large * of_most - m - lgamma(1 + m)
    power = power + (m + large - 0.5) * log1p(m / large) + stirling_rest(m + large) - stirling_rest(large)
    one_small = exp(power) * (m / parts.first)
    # Both below 8.
    small = most < _STIRLING_FROM
    r, s = where(small, a, 1.0), where(small, b, 1.0)
    power = r * logs[0] + s * logs[1] + lgamma(1 + r + s) - lgamma(1 + r) - lgamma(1 + s)
    both_small = exp(power) * (parts.second / (a + b))
    return where(small, both_small, where(medium, one_small, by_stirling))


def _fraction(parts: _Parts) -> Tensor:
    """The continued fraction of Didonato and Morris, equation 9, by the modified method of Lentz.

    It has x only in sums with the distance from the mean and 1 - x, which do not cancel.
    """
    a, b, x, y, apart = parts

    def away(x: Tensor) -> Tensor:
        return where(abs(x) < _TINY, _TINY, x)

    def extend(state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        n, c, d, value, before = state
        width = a + 2 * n - 1
        # The first numerator is divided by a, as the first denominator is.
        alpha = (where(n == 1, 1.0, a + n - 1) / width) * n * ((a + b + n - 1) * x / width) * ((b - n) * x)
        beta = n + n * ((b - n) * x) / width + (a + n) / (width + 2) * (apart + 1 + n * (1 + y))
        d, c = 1 / away(beta + alpha * d), away(beta + alpha / c)
        converged = before <= _EPSILON
        change = minimum(before, abs(c * d - 1))
        return n + 1, c, d, where(converged, value, value * c * d), change

    first = away((apart + 1) / (a + 1))
    n = full((), 1.0, dtype=float64, like=x)
    start = n, first, zeros_like(x), first, ones_like(x)
    value: Tensor = while_loop(
        lambda state: logical_and(less(state[0], _MOST_TERMS), greater(state[4], _EPSILON).any()), extend, start
    )[3]
    return 1 / value


@cache
def _rule() -> tuple[list[float], list[float]]:
    """The nodes and weights of Gauss and Legendre between 0 and 1."""
    from numpy.polynomial.legendre import leggauss

    nodes, weights = leggauss(_NODES)
    return ((nodes + 1) / 2).tolist(), (weights / 2).tolist()


def _peak(parts: _Parts) -> Tensor:
    """The probability beyond a point, of large parameters: an integral over the distance v from the mean.

    In units of the width of the peak, sqrt(a b / (a + b)), the density is that of the normal distribution but for
    factors that go to 1. So nothing depends on the scale of the parameters (Temme, Special Functions, section 11.3.3).
    """
    a, b = parts.first, parts.second
    of_a, of_b = a / (a + b), b / (a + b)
    alpha, beta = sqrt(of_b / a), sqrt(of_a / b)
    start = parts.apart / (sqrt(a) * sqrt(of_b))
    start = minimum(start, minimum((1 - 1e-10) / alpha, 1000.0))  # beyond, there is nothing
    slope = start * of_b / maximum(1 - alpha * start, _TINY) + start * of_a / (1 + beta * start)
    length = 1.25 * sqrt(start * start + 2 * _DECAY) - start
    length = minimum(length, _DECAY / maximum(slope, 1e-10))
    length = stop_gradient(minimum(length, 1 / alpha - start))  # the end of the integral does not matter
    nodes, weights = (asarray(each, dtype=float64, like=a) for each in _rule())
    begin, a, b, of_a, of_b, alpha, beta = (
        expand_dims(each, axis=-1) for each in (start, a, b, of_a, of_b, alpha, beta)
    )
    v = begin + expand_dims(length, axis=-1) * nodes
    power = v * v * (of_b * _excess(-alpha * v) + of_a * _excess(beta * v))
    density = exp(-power) / ((1 - alpha * v) * (1 + beta * v))
    rest = stirling_rest(a) + stirling_rest(b) - stirling_rest(a + b)
    return length * (density * weights * exp(-rest)).sum(axis=-1) * (1 / math.sqrt(2 * math.pi))


def _regularized(a: Tensor, b: Tensor, x: Tensor) -> Tensor:
    inside = _is_inside(a, b, x)
    p, q, z = where(inside, a, 1.0), where(inside, b, 1.0), where(inside, x, 0.5)
    large = minimum(p, q) > _LARGE
    value = where(large, _by_peak(*_chosen(large, p, q, z)), _by_fraction(*_chosen(~large, p, q, z)))
    infinite = isinf(a), isinf(b)
    valid = logical_and(logical_and(a >= 0, b >= 0), logical_and(x >= 0, x <= 1))
    both = logical_or(logical_and(a == 0, b == 0), logical_and(*infinite))
    valid = logical_and(valid, ~logical_or(both, logical_or(isnan(a + b), isnan(x))))
    # Of a = 0 all mass is at 0, of b = 0 at 1.
    begins = logical_or(logical_and(a == 0, b > 0), logical_and(infinite[1], x > 0))
    edge = astype(logical_or(x == 1, begins), a.dtype)
    value = maximum(minimum(value, 1.0), 0.0)  # a rounding may be beyond
    return where(inside, value, where(valid, edge, float("nan")))


def _is_inside(a: Tensor, b: Tensor, x: Tensor) -> Tensor:
    positive = logical_and(logical_and(a > 0, a < _END), logical_and(b > 0, b < _END))
    return logical_and(positive, logical_and(x > 0, x < 1))


_END = float("inf")


def _chosen(condition: Tensor, a: Tensor, b: Tensor, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The operands where a method is for them, harmless ones elsewhere."""
    return where(condition, a, 200.0), where(condition, b, 200.0), where(condition, x, 0.5)


def _by_peak(a: Tensor, b: Tensor, x: Tensor) -> Tensor:
    distance = _exact_distance(a, b, x)
    above = distance < 0
    end = _Parts(where(above, b, a), where(above, a, b), x, x, where(above, -distance, distance))
    tail = _peak(end)
    return where(above, 1 - tail, tail)


def _by_fraction(a: Tensor, b: Tensor, x: Tensor) -> Tensor:
    swaps, parts = _parts(a, b, x)
    tail = _over_first(a, b, x, parts) * _fraction(parts)
    return where(swaps, 1 - tail, tail)


_HUGE = 2.0**900
"""From here on of both parameters the function is a step, which is where it is if both are multiplied by a number."""
_SHRINK = 2.0**-100


@custom_gradient
def _betainc(a: Tensor, b: Tensor, x: Tensor) -> Any:
    # The sum of both is to be finite.
    shrinks = minimum(a, b) > _HUGE
    a, b = (where(shrinks, each * _SHRINK, each) for each in (a, b))
    value = _regularized(a, b, x)

    def pull(cotangent: Tensor) -> Any:
        inside = _is_inside(a, b, x)
        p, q, z = where(inside, a, 1.0), where(inside, b, 1.0), where(inside, x, 0.5)
        parts = _parts(p, q, z)[1]
        density = _over_first(p, q, z, parts) * parts.first / maximum(z * (1 - z), _TINY)
        # At 0 it is that of b x**(a - 1), and at 1 that of a (1 - x)**(b - 1).
        ends = where(x == 0, _density_at_end(a, b), where(x == 1, _density_at_end(b, a), float("nan")))
        density = where(inside, density, ends)
        large = logical_and(inside, minimum(a, b) > _LARGE)
        _, back = vjp(_by_peak, *_chosen(large, a, b, x))
        of_large = back(ones_like(value))
        by_a = where(large, of_large[0], _slope(lambda moved: _betainc(moved, b, x), a, b))
        by_b = where(large, of_large[1], _slope(lambda moved: _betainc(a, moved, x), b, a))
        # The step is as steep as the root of the parameters.
        root = math.sqrt(_SHRINK)
        by_a, by_b = (where(shrinks, each * root, each) for each in (by_a, by_b))
        density = where(shrinks, density / root, density)
        return cotangent * by_a, cotangent * by_b, cotangent * density

    return value, pull


def _density_at_end(power: Tensor, other: Tensor) -> Tensor:
    """The density at the end towards which it is a multiple of the distance to `power - 1`."""
    return where(power > 1, 0.0, where(power < 1, float("inf"), power * other))


def _slope(function: Callable[[Tensor], Tensor], at: Tensor, other: Tensor) -> Tensor:
    """A derivative by differences of five points, a thousandth of the width apart on which the function changes."""
    step = minimum(at, sqrt(at) * sqrt(1 + at / maximum(other, _TINY))) * 1e-3
    first = function(at + step) - function(at - step)
    second = function(at + 2 * step) - function(at - 2 * step)
    return (8 * first - second) / (12 * step)


@declare_bound(Bound(1024, "a continued fraction or an integral, times a power that is a rounded exponential", "one"))
@check_arguments
def betainc(a: TensorLike, b: TensorLike, x: TensorLike, /) -> Tensor:
    """Regularised incomplete beta function I_x(a, b), the distribution function of the beta distribution.

    Parameters
    ----------
    a, b : Tensor
        The parameters, from 0.
    x : Tensor
        Numbers from 0 to 1, which broadcast with the parameters.

    Returns
    -------
    Tensor
        The probabilities, in the floating dtype to which the operands are promoted, computed in float64; NaN for
        operands out of range. Its derivatives by a and b, which have no closed form, are those of an integral where
        both are above 100, and differences of five points with some ten digits elsewhere.

    Raises
    ------
    DTypeError
        For complex numbers and bools.
    ShapeError, NamesError
        For operands that do not broadcast.

    References
    ----------
    DLMF, section 8.17; Didonato and Morris, "Algorithm 708: significant digit computation of the incomplete beta
    function ratios", ACM Transactions on Mathematical Software 18, 1992.

    Examples
    --------
    >>> tb.round(tb.betainc(2.0, 3.0, tb.asarray([0.0, 0.5, 1.0])) * 10000).tolist()
    [0.0, 6875.0, 10000.0]
    """
    kind, wide = wide_operands((a, b, x), "real", float64)
    parts = broadcast_arrays(*wide)
    names = parts[0].names
    p, q, z = (rename(each, *(None,) * each.ndim) for each in parts)
    value: Tensor = _betainc(p, q, z)
    return astype(rename(value, *names), kind)
