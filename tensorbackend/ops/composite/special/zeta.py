"""Hurwitz's zeta function and the derivatives of digamma, in float64 and rounded once."""

from __future__ import annotations

import math

from ....dispatch import composite
from ....rules.accuracy import Bound
from ....rules.broadcasting import result_type
from ....tensor import Tensor
from ...elementwise.binary import logical_and, logical_or, minimum
from ...elementwise.conversion import astype
from ...elementwise.ternary import where
from ...elementwise.transcendental import exp
from ...special import digamma, lgamma
from .common import compute_wide

_DIRECT = 14
"""How many terms are added before the series for the rest."""

# B(2j) / (2j)!, for j from 1 (DLMF 24.2).
_BERNOULLI = tuple(
    fraction / math.factorial(2 * (place + 1))
    for place, fraction in enumerate(
        (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)
    )
)


def _hurwitz(x: Tensor, q: Tensor) -> Tensor:
    """The Euler-Maclaurin formula (DLMF 25.11.5)."""
    inside = logical_and(x > 1, q > 0)
    s, start = where(inside, x, 2.0), where(inside, q, 1.0)
    total = start ** (s * -1.0)
    for step in range(1, _DIRECT):
        total = total + (start + float(step)) ** (s * -1.0)
    end = start + float(_DIRECT)
    last = end ** (s * -1.0)
    rest = end ** (1.0 - s) / (s - 1.0)  # `last` times `end`, where `last` is 0
    total = total + (last * 0.5 + rest)
    limited = minimum(s, 1e6)  # beyond it `last` is 0, and a product with the square of s is to be 0 too
    factor = last * limited / end
    for place, coefficient in enumerate(_BERNOULLI):
        total = total + factor * coefficient
        following = (limited + (2.0 * place + 1)) * (limited + (2.0 * place + 2))
        factor = factor * following / end / end
    pole = logical_or(x == 1, logical_and(x > 1, q == 0))
    return where(logical_and(pole, q >= 0), math.inf, where(inside, total, math.nan))


@composite.within(Bound(32, "a sum of some tens of powers"))
def zeta(x: Tensor, q: Tensor, /) -> Tensor:
    """Hurwitz's zeta function: the sum of (k + q)**-x for k from 0, as in SciPy and JAX; for q = 1 that of Riemann.

    It is infinite for x = 1, NaN for x below 1, infinite for q = 0 and NaN for q below 0.

    Parameters
    ----------
    x : Tensor
        The exponents, above 1.
    q : Tensor
        What is added to each k, above 0.

    >>> import tensorbackend as tb
    >>> tb.zeta(tb.asarray([2.0, 4.0, 1.0]), 1.0).tolist()
    [1.644934058189392, 1.0823231935501099, inf]
    """
    kind = result_type([x.template, q.template])
    return compute_wide(_hurwitz, astype(x, kind), astype(q, kind))


@composite.within(Bound(64, "a factorial times a sum of powers"))
def polygamma(n: Tensor, x: Tensor, /) -> Tensor:
    """The derivative of order n of digamma(x), for whole n from 0 and x above 0.

    It is infinite at 0, and NaN for x below 0 and for other n; for n = 0 it is `digamma`.

    Parameters
    ----------
    n : Tensor
        The orders.
    x : Tensor
        Numbers above 0.

    >>> import tensorbackend as tb
    >>> tb.polygamma(tb.asarray([0, 1, 2]), 1.0).tolist()
    [-0.5772156715393066, 1.644934058189392, -2.40411376953125]
    """
    kind = result_type([n.template, x.template])
    return compute_wide(_polygamma, astype(n, kind), astype(x, kind))


def _polygamma(n: Tensor, x: Tensor) -> Tensor:
    whole = logical_and(n >= 0, n % 1.0 == 0)
    order = where(logical_and(whole, n > 0), n, 1.0)
    size = exp(lgamma(order + 1.0)) * _hurwitz(order + 1.0, x)
    value = where(order % 2.0 == 0, -size, size)
    zeroth = digamma(where(n == 0, x, 1.0))
    return where(whole, where(n == 0, where(x < 0, math.nan, zeroth), value), math.nan)
