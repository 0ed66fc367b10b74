"""Oracles of transcendental and special functions: mpmath with 40 digits, NumPy and SciPy in double precision."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import mpmath
import numpy
import scipy.special
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.protocol import Backend
from tensorbackend.testing import Invocation
from tensorbackend.testing.strategies import Draw

from .elementwise import double, promoted, unjudged
from .table import Recorder, law, reference, wide

CONTEXT = mpmath.mp.clone()
CONTEXT.dps = 40

SAMPLE = 48
"""How many elements of a long column mpmath computes: it takes some ten microseconds for each."""


class Function(NamedTuple):
    """A function of one number by two measures."""

    wide: Callable[[Any], Any]
    """Of an array in double precision, which is enough for narrower floats."""
    precise: Callable[[Any], Any]
    """Of one number with 40 digits, for doubles and complex numbers."""


NOT_JUDGED = numpy.nan


def limited(function: Callable[[Any], Any], limit: float) -> Callable[[Any], Any]:
    """A function of SciPy's that is NaN at infinity, with its limit there; odd ones have no such sign in SciPy."""
    odd = function in (scipy.special.i1, scipy.special.j1)
    return lambda x: numpy.where(numpy.isinf(x), numpy.copysign(limit, x) if odd else limit, function(x))


ALONE = {
    "acos": Function(numpy.arccos, CONTEXT.acos),
    "acosh": Function(numpy.arccosh, CONTEXT.acosh),
    "asin": Function(numpy.arcsin, CONTEXT.asin),
    "asinh": Function(numpy.arcsinh, CONTEXT.asinh),
    "atan": Function(numpy.arctan, CONTEXT.atan),
    "atanh": Function(numpy.arctanh, CONTEXT.atanh),
    "cbrt": Function(numpy.cbrt, lambda x: CONTEXT.cbrt(x) if x.imag or x.real > 0 else -CONTEXT.cbrt(-x.real)),
    "cos": Function(numpy.cos, CONTEXT.cos),
    "cosh": Function(numpy.cosh, CONTEXT.cosh),
    "digamma": Function(scipy.special.psi, CONTEXT.digamma),
    "erf": Function(scipy.special.erf, CONTEXT.erf),
    "erf_inv": Function(scipy.special.erfinv, CONTEXT.erfinv),
    "erfc": Function(scipy.special.erfc, CONTEXT.erfc),
    "exp": Function(numpy.exp, CONTEXT.exp),
    "expm1": Function(numpy.expm1, CONTEXT.expm1),
    "i0": Function(limited(scipy.special.i0, numpy.inf), lambda x: CONTEXT.besseli(0, x)),
    "i0e": Function(scipy.special.i0e, lambda x: CONTEXT.besseli(0, x) * CONTEXT.exp(-abs(x))),
    "i1": Function(limited(scipy.special.i1, numpy.inf), lambda x: CONTEXT.besseli(1, x)),
    "i1e": Function(scipy.special.i1e, lambda x: CONTEXT.besseli(1, x) * CONTEXT.exp(-abs(x))),
    "j0": Function(limited(scipy.special.j0, 0.0), lambda x: CONTEXT.besselj(0, x) if abs(x) < 1e6 else NOT_JUDGED),
    "j1": Function(limited(scipy.special.j1, 0.0), lambda x: CONTEXT.besselj(1, x) if abs(x) < 1e6 else NOT_JUDGED),
    "ndtri": Function(
        scipy.special.ndtri, lambda p: CONTEXT.erfinv(2 * p - 1) * CONTEXT.sqrt(2) if 0.0 < p < 1.0 else NOT_JUDGED
    ),
    "lgamma": Function(
        lambda x: numpy.where(numpy.isneginf(x), numpy.inf, scipy.special.gammaln(x)),
        lambda x: CONTEXT.log(abs(CONTEXT.gamma(x))) if x.real < 1e4 else CONTEXT.loggamma(x),
    ),
    "log": Function(numpy.log, CONTEXT.log),
    "log10": Function(numpy.log10, CONTEXT.log10),
    "log1p": Function(numpy.log1p, CONTEXT.log1p),
    "log2": Function(numpy.log2, lambda x: CONTEXT.log(x) / CONTEXT.log(2)),
    "reciprocal": Function(lambda x: 1 / x, lambda x: 1 / x),
    "rsqrt": Function(lambda x: 1 / numpy.sqrt(x), lambda x: 1 / CONTEXT.sqrt(x)),
    "sigmoid": Function(scipy.special.expit, lambda x: 1 / (1 + CONTEXT.exp(-x))),
    "sin": Function(numpy.sin, CONTEXT.sin),
    "sinh": Function(numpy.sinh, CONTEXT.sinh),
    "sqrt": Function(numpy.sqrt, CONTEXT.sqrt),
    "tan": Function(numpy.tan, CONTEXT.tan),
    "tanh": Function(numpy.tanh, CONTEXT.tanh),
}


@reference(*ALONE, by="mpmath", raw=True)
def of_one(call: Invocation) -> Any:
    (operand,), function = call.tensors, ALONE[call.name]
    x = double(wide(operand))
    if (operand.dtype.is_floating and operand.dtype.bits < 64) or not operand.dtype.is_inexact:
        return function.wide(x)
    out = numpy.zeros(x.size, x.dtype) if operand.dtype.is_complex else function.wide(x.ravel())
    hidden = numpy.full(x.size, True)
    for place in range(0, x.size, max(1, x.size // SAMPLE)):
        number = x.ravel()[place].item()
        if operand.dtype.is_complex or (numpy.isfinite(out[place]) and numpy.isfinite(number)):
            value = precise(function.precise, number)
        else:
            value = out[place]  # infinities, NaN, poles
        if value is not None:
            out[place], hidden[place] = value, False
    return unjudged(out.reshape(x.shape), hidden.reshape(x.shape))


def precise(function: Callable[[Any], Any], number: Any) -> Any:
    """The value with 40 digits as a Python number, `None` where it is not judged.

    A complex number on an axis is not judged, as mpmath's zeros have no sign, nor is one that is not finite or whose
    result is not: the conformance suite of the standard judges those.
    """
    if isinstance(number, complex) and not (number.real and number.imag and numpy.isfinite(number)):
        return None
    try:
        with CONTEXT.workprec(precision(number)):
            value = function(CONTEXT.convert(number))
        result = complex(value) if isinstance(number, complex) else float(value)
    except (OverflowError, TypeError, ValueError):
        return None
    return result if numpy.isfinite(result) else None


def precision(number: Any) -> int:
    """The bits with which mpmath computes: 40 digits, and more where the parts of a complex number are far from 1.

    `acosh(0.5 + 1e-280j)` is `1e-280 + 1.05j`: with 40 digits `1 + 1e-280` is 1, and the real part is lost.
    """
    if not isinstance(number, complex):
        return int(CONTEXT.prec)
    return int(CONTEXT.prec) + 2 * max(abs(math.frexp(part)[1]) for part in (number.real, number.imag))


# Special functions


@reference("factorial", by="SciPy")
def factorial(x: Any, /) -> Any:
    if x.dtype.kind == "f":
        return numpy.where((x < 0) & (x == numpy.floor(x)), numpy.nan, scipy.special.gamma(x + 1))
    bits = 8 * x.dtype.itemsize
    wrapped = [0 if number < 0 else _factorial(number, bits) for number in x.ravel().tolist()]
    return numpy.array(wrapped, f"u{bits // 8}").astype(x.dtype).reshape(x.shape)


def _factorial(number: int, bits: int) -> int:
    product = 1
    for factor in range(2, min(number, bits + 2) + 1):  # from bits + 2 on all bits are 0
        product = product * factor % (1 << bits)
    return product if number <= bits + 2 else 0


@reference("zeta", by="SciPy", raw=True)
def zeta(call: Invocation) -> Any:
    x, q = map(double, promoted(call))
    hidden = (x == 1) | (q <= 0) | ~numpy.isfinite(x) | numpy.isnan(q)  # where SciPy's is NaN
    return unjudged(scipy.special.zeta(x, numpy.where(q > 0, q, 1)), hidden)


@reference("polygamma", by="SciPy", raw=True)
def polygamma(call: Invocation) -> Any:
    n, x = map(double, promoted(call))
    order = numpy.where(numpy.isfinite(n) & (n >= 0) & (n == numpy.floor(n)), n, -1).astype("f8")
    safe = numpy.clip(order, 0, 200).astype(int)
    hidden = (order < 0) | (order > 150) | (x <= 0) | numpy.isnan(x)
    out = scipy.special.polygamma(safe, numpy.where(x > 0, x, 1))
    return unjudged(out, hidden | (abs(out) < numpy.finfo(float).smallest_normal))  # it underflows by way of powers


def beta_by_integration(a: float, b: float, x: float) -> float:
    """The integral of the density in units of its width, whose logarithms have as many digits as cancel."""
    digits = int(max(0.0, math.log10(a + b))) + 40
    mp = CONTEXT
    with mp.workdps(digits):
        p, q = mp.mpf(a), mp.mpf(b)
        mean = p / (p + q)
        width = mp.sqrt(mean * (1 - mean) / (p + q + 1))
        at, low, high = (mp.mpf(x) - mean) / width, -mean / width, (1 - mean) / width

    def density(u: Any) -> Any:
        with mp.workdps(digits):
            return mp.exp((p - 1) * mp.log1p(width * u / mean) + (q - 1) * mp.log1p(-width * u / (1 - mean)))

    def integral(start: Any, stop: Any) -> Any:
        places = [mp.mpf(k) for k in (-9, -5, -2, 0, 2, 5, 9, 16) if start < k < stop]
        return mp.quad(density, [start, *places, stop], maxdegree=5) if stop > start else mp.mpf(0)

    with mp.workdps(20):
        low, high = max(low, mp.mpf(-11)), min(high, mp.mpf(30))
        at = min(max(at, low), high)
        below, above = integral(low, at), integral(at, high)
        return float(below / (below + above))


@law("betainc", by="SciPy")
def betainc(draw: Draw, run: Recorder, backend: Backend) -> None:
    if draw(st.integers(0, 3)) == 0:  # to the ends, where SciPy is no measure
        tens = st.floats(0.5, 200)
        first = draw(tens)
        second = draw(st.just(first) | st.floats(max(0.5, first - 3), min(200.0, first + 3)) | tens)
        p, q = 10.0**first, 10.0**second
        mean, width = p / (p + q), (p / (p + q) * (q / (p + q)) / (p + q + 1)) ** 0.5
        at = min(max(mean + draw(st.floats(-4, 4)) * width, 5e-324), 1 - 2**-53)
        probability = run(*(tb.asarray(each, dtype="f64", backend=backend) for each in (p, q, at))).item()
        assert abs(probability - beta_by_integration(p, q, at)) <= 1024 * 2**-52
        return
    sizes = st.floats(0.01, 3000) | st.sampled_from([0.5, 1.0, 2.0, 40.0])
    a, b = (numpy.array([draw(sizes) for _ in range(4)]) for _ in range(2))
    x = numpy.array([draw(st.floats(0, 1)) for _ in range(3)] + [draw(st.sampled_from([0.0, 1.0, 0.5]))])
    got = run(*(tb.asarray(each, names=("n",), backend=backend) for each in (a, b, x)))
    assert got.names == ("n",)
    numpy.testing.assert_allclose(got, scipy.special.betainc(a, b, x), rtol=1e-10, atol=1e-13)


@reference("gamma_inc_l", "gamma_inc_u", by="mpmath", raw=True)
def incomplete_gamma(call: Invocation) -> Any:
    a, x = map(double, promoted(call))
    lower = call.name == "gamma_inc_l"
    out = numpy.array((scipy.special.gammainc if lower else scipy.special.gammaincc)(a, x))
    hidden = _left_open(a, x)
    if any(operand.dtype.bits == 64 for operand in call.tensors):
        # SciPy loses some hundred ulps where both are small.
        a, x = numpy.broadcast_arrays(a, x)
        for place in numpy.argwhere(~hidden & (a < 200) & (x < 200))[:SAMPLE]:
            at = tuple(place)
            ends = (0, x[at]) if lower else (x[at], CONTEXT.inf)
            out[at] = float(CONTEXT.gammainc(a[at], *ends, regularized=True))
    return unjudged(out, hidden)


def _left_open(a: Any, x: Any) -> Any:
    """Where SciPy's limits are others than those of docs/semantics.md, or SciPy loses digits itself."""
    return (a <= 0) | (x <= 0) | ~numpy.isfinite(a) | ~numpy.isfinite(x) | (a > 1e5)
