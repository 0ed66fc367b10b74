"""Special functions next to mpmath's at parameters of all magnitudes, within the bounds that they declare."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any, NamedTuple

import mpmath
import numpy
import pytest

import tensorbackend as tb
from tensorbackend.dtypes import float64
from tensorbackend.testing.calls import bound_of

BACKENDS = os.environ.get("TENSORBACKEND_BACKENDS", "numpy").split(",")
COUNT = int(os.environ.get("TENSORBACKEND_ENDS", "40"))
EPS = 2.0**-52
MP = mpmath.mp.clone()


class Function(NamedTuple):
    """A function of mpmath, and the decimal exponents of its operands."""

    by_mpmath: Callable[..., Any]
    exponents: tuple[tuple[float, float], ...]
    signed: bool = False


ALL = (-307.0, 307.0)
FUNCTIONS = {
    "digamma": Function(MP.digamma, (ALL,)),
    "erf": Function(MP.erf, (ALL,), True),
    "erfc": Function(MP.erfc, ((-307.0, 1.4),), True),
    "i0": Function(lambda x: MP.besseli(0, x), ((-307.0, 2.8),), True),
    "i0e": Function(lambda x: MP.besseli(0, x) * MP.exp(-abs(x)), ((-307.0, 6.0),), True),
    "i1": Function(lambda x: MP.besseli(1, x), ((-307.0, 2.8),), True),
    "i1e": Function(lambda x: MP.besseli(1, x) * MP.exp(-abs(x)), ((-307.0, 6.0),), True),
    "j0": Function(lambda x: MP.besselj(0, x), ((-307.0, 8.0),), True),
    "j1": Function(lambda x: MP.besselj(1, x), ((-307.0, 8.0),), True),
    "lgamma": Function(MP.loggamma, (ALL,)),
    "log1p": Function(MP.log1p, (ALL,)),
    "expm1": Function(MP.expm1, ((-307.0, 2.8),), True),
    "factorial": Function(lambda x: MP.gamma(x + 1), ((-307.0, 2.2),)),
    "ndtri": Function(lambda p: MP.sqrt(2) * MP.erfinv(2 * p - 1), ((-15.0, -0.01),)),
    "erf_inv": Function(MP.erfinv, ((-307.0, -1e-4),), True),
    "zeta": Function(MP.zeta, ((0.05, 1.5), (-6.0, 100.0))),
    "polygamma": Function(lambda n, x: MP.polygamma(int(n), x), ((0.0, 1.0), (-6.0, 100.0))),
    "gamma_inc_l": Function(lambda a, x: MP.gammainc(a, 0, x, regularized=True), ((-3.0, 2.3), (-3.0, 2.3))),
    "gamma_inc_u": Function(lambda a, x: MP.gammainc(a, x, MP.inf, regularized=True), ((-3.0, 2.3), (-3.0, 2.3))),
}


def operands(name: str) -> list[Any]:
    """Numbers at evenly spaced exponents, to both ends, and 0 and whole numbers."""
    function = FUNCTIONS[name]
    random = numpy.random.default_rng(len(name))
    columns = []
    for place, (low, high) in enumerate(function.exponents):
        exponents = numpy.linspace(low, high, COUNT)
        columns.append(10.0 ** (exponents if place == 0 else random.permutation(exponents)))
    if len(columns) > 1:  # and next to one another
        near = random.random(COUNT) < 0.3
        columns[1] = numpy.where(near, columns[0] * random.uniform(0.5, 2, COUNT), columns[1])
    if name == "polygamma":
        columns[0] = numpy.floor(columns[0])
    if function.signed:
        columns[0] = columns[0] * numpy.where(numpy.arange(COUNT) % 2, 1, -1)
        columns[0][0] = 0.0
    return columns


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
@pytest.mark.parametrize("backend", BACKENDS)
def test_the_bound_holds_at_all_magnitudes(backend: str, name: str) -> None:
    points = operands(name)
    got = getattr(tb, name)(*(tb.asarray(x, backend=backend) for x in points)).tolist()
    bound, wrong = bound_of(name, {float64}), []
    for value, *point in zip(got, *points, strict=True):
        digits = max(abs(math.log10(abs(x))) if x else 0 for x in point) if name in NEEDS_DIGITS else 0
        with MP.workdps(60 + int(digits)):
            exact = FUNCTIONS[name].by_mpmath(*(MP.mpf(x) for x in point))
            if abs(exact) > 1.7e308:
                assert value == math.copysign(math.inf, exact), (point, value)
                continue
            size = max(1.0, abs(exact)) if bound.scale in ("one", "operand") else abs(exact)
            off = abs(MP.mpf(value) - exact) if math.isfinite(value) else MP.inf
            if off > max(bound.ulps, 1) * EPS * size + 5e-324:
                wrong.append((point, value, float(exact), float(off / (EPS * size))))
    assert not wrong, (len(wrong), bound, wrong[:4])


NEEDS_DIGITS = {"log1p", "expm1", "erf", "erf_inv"}
"""Functions whose values are next to their small arguments, where mpmath computes differences from 1."""
