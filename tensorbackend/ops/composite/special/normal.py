"""The quantiles of the normal distribution, also far out in the tails, in float64 and rounded once."""

from __future__ import annotations

import math

from ....dispatch import composite
from ....rules.accuracy import Bound
from ....tensor import Tensor
from ...elementwise.binary import add, divide, equal, greater, less, logical_and, maximum, minimum, multiply, subtract
from ...elementwise.ternary import where
from ...elementwise.transcendental import erf_inv, erfc, exp, log, sqrt
from ...elementwise.unary import negative
from .common import compute_wide

_TAIL = 0.05
"""The probability below which `erf_inv` would lose digits."""


def _quantile(p: Tensor) -> Tensor:
    upper = greater(p, 0.5)
    smaller = where(upper, subtract(1.0, p), p)
    tail = logical_and(less(smaller, _TAIL), greater(smaller, 0))
    central = multiply(erf_inv(subtract(multiply(where(tail, 0.25, smaller), 2.0), 1.0)), math.sqrt(2))
    # Newton's steps for log(cdf(x)) = log(p), from the first terms for large -x (DLMF 7.17.6).
    logarithm = log(where(tail, smaller, 0.01))
    size = multiply(logarithm, -2.0)
    x = negative(sqrt(maximum(subtract(size, log(multiply(size, 2 * math.pi))), 1.0)))
    for _ in range(5):
        cdf = multiply(erfc(multiply(x, -math.sqrt(0.5))), 0.5)
        density = multiply(exp(multiply(multiply(x, x), -0.5)), 1 / math.sqrt(2 * math.pi))
        step = divide(multiply(subtract(log(cdf), logarithm), cdf), density)
        x = add(x, negative(minimum(maximum(step, -1.0), 1.0)))
    # The sum 2 p - 1 rounds to -1 for the smallest negative numbers, too.
    outside = where(equal(smaller, 0), -math.inf, where(less(smaller, 0), math.nan, central))
    lower = where(tail, x, outside)
    return where(upper, negative(lower), lower)


@composite.within(Bound(32, "the inverse of a distribution function", "one"))
def ndtri(p: Tensor, /) -> Tensor:
    """The quantile of the standard normal distribution: x with a probability p of smaller numbers.

    It is infinite for 0 and 1, and NaN for other numbers outside of [0, 1].

    Parameters
    ----------
    p : Tensor
        Probabilities.

    >>> import tensorbackend as tb
    >>> tb.ndtri(tb.asarray([0.0, 0.5, 1e-30])).tolist()
    [-inf, 0.0, -11.464024543762207]
    """
    return compute_wide(_quantile, p)
