"""The incomplete beta function by a continued fraction, in a loop that ends when all elements have converged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..declarations.argument_errors import check_arguments
from ..dtypes import float64, scalar_kind
from ..ops.composite.shape.arranging import broadcast_arrays
from ..ops.creation.filled import full, ones_like, rename
from ..ops.creation.values import asarray, operand_tensors
from ..ops.elementwise.binary import greater, less, less_equal, logical_and, logical_or, maximum, minimum
from ..ops.elementwise.conversion import astype
from ..ops.elementwise.ternary import where
from ..ops.elementwise.transcendental import exp, log, log1p, sqrt
from ..ops.elementwise.unary import abs as magnitude
from ..ops.elementwise.unary import isnan
from ..ops.inspection import result_type
from ..ops.reduction import any as any_of
from ..ops.special import lgamma
from ..rules.accuracy import Bound, declare_bound
from ..rules.broadcasting import check_dtype, to_floating
from ..tensor import Tensor, TensorLike
from .grad.custom import custom_gradient
from .while_loops import while_loop

_TINY = 1e-300
_EPSILON = 1e-15
"""The relative change that rounding alone may make: an element that has changed by no more once has converged."""
_MOST = 20_000


def _fraction(a: Tensor, b: Tensor, x: Tensor) -> Tensor:
    """The continued fraction of DLMF 8.17.22, by the modified method of Lentz."""

    def away(x: Tensor) -> Tensor:
        return where(less(magnitude(x), _TINY), _TINY, x)

    def extend(state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        m, c, d, value, before = state
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d, c = 1 / away(1 + even * d), away(1 + even / c)
        value = value * d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d, c = 1 / away(1 + odd * d), away(1 + odd / c)
        value = value * d * c
        converged = less_equal(before, _EPSILON)
        change = minimum(before, magnitude(d * c - 1))
        return m + 1, c, d, where(converged, state[3], value), change

    first = 1 / away(1 - (a + b) * x / (a + 1))
    m = full((), 1.0, dtype=float64, like=x)
    start = m, ones_like(x), first, first, ones_like(x)
    value: Tensor = while_loop(
        lambda state: logical_and(less(state[0], _MOST), any_of(greater(state[4], _EPSILON))), extend, start
    )[3]
    return value


def _log_density(a: Tensor, b: Tensor, x: Tensor) -> Tensor:
    """The logarithm of x**a (1 - x)**b / B(a, b)."""
    return a * log(x) + b * log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b)


def _regularized(a: Tensor, b: Tensor, x: Tensor) -> Tensor:
    inside = logical_and(logical_and(greater(a, 0), greater(b, 0)), logical_and(greater(x, 0), less(x, 1)))
    p, q, z = where(inside, a, 1.0), where(inside, b, 1.0), where(inside, x, 0.5)
    swaps = greater(z, (p + 1) / (p + q + 2))
    first, second, at = where(swaps, q, p), where(swaps, p, q), where(swaps, 1 - z, z)
    tail = exp(_log_density(p, q, z)) * _fraction(first, second, at) / first
    value = where(swaps, 1 - tail, tail)
    valid = logical_and(logical_and(a >= 0, b >= 0), logical_and(x >= 0, x <= 1))
    both = logical_or(logical_and(a == 0, b == 0), logical_or(isnan(a + b), isnan(x)))
    # Of a = 0 all mass is at 0, of b = 0 at 1.
    edge = where(logical_or(x == 1, logical_and(a == 0, b > 0)), 1.0, 0.0)
    return where(inside, value, where(logical_and(valid, magnitude(astype(both, float64)) == 0), edge, float("nan")))


@custom_gradient
def _betainc(a: Tensor, b: Tensor, x: Tensor) -> Any:
    value = _regularized(a, b, x)

    def pull(cotangent: Tensor) -> Any:
        inside = logical_and(greater(x, 0), less(x, 1))
        z = where(inside, x, 0.5)
        density = exp(_log_density(a, b, z)) / maximum(z * (1 - z), _TINY)
        # At 0 it is that of b x**(a - 1), and at 1 that of a (1 - x)**(b - 1).
        ends = where(x == 0, _density_at_end(a, b), where(x == 1, _density_at_end(b, a), float("nan")))
        density = where(inside, density, ends)
        by_a = _slope(lambda moved: _betainc(moved, b, x), a)
        by_b = _slope(lambda moved: _betainc(a, moved, x), b)
        return cotangent * by_a, cotangent * by_b, cotangent * density

    return value, pull


def _density_at_end(power: Tensor, other: Tensor) -> Tensor:
    """The density at the end towards which it is a multiple of the distance to `power - 1`."""
    return where(power > 1, 0.0, where(power < 1, float("inf"), power * other))


def _slope(function: Callable[[Tensor], Tensor], at: Tensor) -> Tensor:
    """A derivative by differences of five points, a thousandth of the width apart on which the function changes."""
    step = minimum(at, sqrt(at)) * 1e-3
    first = function(at + step) - function(at - step)
    second = function(at + 2 * step) - function(at - 2 * step)
    return (8 * first - second) / (12 * step)


@declare_bound(Bound(1024, "a continued fraction, and powers by logarithms of gamma functions", "one"))
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
        operands out of range. Its derivatives by a and b, which have no closed form, are differences of five points
        with some ten digits.

    Raises
    ------
    DTypeError
        For complex numbers and bools.
    ShapeError, NamesError
        For operands that do not broadcast.

    References
    ----------
    DLMF, section 8.17.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> tb.round(tb.betainc(2.0, 3.0, tb.asarray([0.0, 0.5, 1.0])) * 10000).tolist()
    [0.0, 6875.0, 10000.0]
    """
    tensors = operand_tensors(a, b, x)
    kinds: list[Any] = [v if scalar_kind(v) is not None else t for v, t in zip((a, b, x), tensors, strict=True)]
    kind = to_floating(check_dtype(result_type(*kinds), "real"))
    # A Python number is not rounded to the default dtype first.
    wide = [
        asarray(v, dtype=float64, like=t) if v is not t else astype(t, float64)
        for v, t in zip(kinds, tensors, strict=True)
    ]
    parts = broadcast_arrays(*wide)
    names = parts[0].names
    p, q, z = (rename(each, *(None,) * each.ndim) for each in parts)
    value: Tensor = _betainc(p, q, z)
    return astype(rename(value, *names), kind)
