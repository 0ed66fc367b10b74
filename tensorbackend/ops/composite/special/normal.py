"""The quantiles of the normal distribution, also far out in the tails, in float64 and rounded once."""

from __future__ import annotations

import math

from ....dispatch import composite
from ....rules.accuracy import Bound
from ....tensor import Tensor
from ...elementwise.basic import where
from ...elementwise.binary import logical_and, maximum, minimum
from ...elementwise.transcendental import erf_inv, erfc, exp, log, sqrt
from . import compute_wide

_TAIL = 0.05
"""The probability below which `erf_inv` would lose digits."""


def _quantile(p: Tensor) -> Tensor:
    upper = p > 0.5
    smaller = where(upper, 1.0 - p, p)
    tail = logical_and(smaller < _TAIL, smaller > 0)
    central = erf_inv(where(tail, 0.25, smaller) * 2.0 - 1.0) * math.sqrt(2)
    # Newton's steps for log(cdf(x)) = log(p), from the first terms for large -x (DLMF 7.17.6).
    logarithm = log(where(tail, smaller, 0.01))
    size = logarithm * -2.0
    x = -sqrt(maximum(size - log(size * (2 * math.pi)), 1.0))
    for _ in range(5):
        cdf = erfc(x * -math.sqrt(0.5)) * 0.5
        density = exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi))
        step = (log(cdf) - logarithm) * cdf / density
        x = x - minimum(maximum(step, -1.0), 1.0)
    # The sum 2 p - 1 rounds to -1 for the smallest negative numbers, too.
    outside = where(smaller == 0, -math.inf, where(smaller < 0, math.nan, central))
    lower = where(tail, x, outside)
    return where(upper, -lower, lower)


@composite.within(Bound(32, "the inverse of a distribution function", "one"))
def ndtri(p: Tensor, /) -> Tensor:
    """The quantile of the standard normal distribution: x with a probability p of smaller numbers.

    It is infinite for 0 and 1, and NaN for other numbers outside of [0, 1].

    Parameters
    ----------
    p : Tensor
        Probabilities.

    Examples
    --------
    >>> tb.ndtri(tb.asarray([0.0, 0.5, 1e-30])).tolist()
    [-inf, 0.0, -11.464024543762207]
    """
    return compute_wide(_quantile, p)
