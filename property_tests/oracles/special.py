"""Oracles of transcendental and special functions: mpmath with 40 digits, NumPy and SciPy in double precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import mpmath
import numpy
import scipy.special

from tensorbackend.testing import Invocation

from .elementwise import double, promoted, unjudged
from .table import reference, wide

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
    value = function(CONTEXT.convert(number))
    try:
        result = complex(value) if isinstance(number, complex) else float(value)
    except (OverflowError, TypeError, ValueError):
        return None
    return result if numpy.isfinite(result) else None


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


@reference("gamma_inc_l", by="SciPy", raw=True)
def gamma_inc_l(call: Invocation) -> Any:
    a, x = map(double, promoted(call))
    return unjudged(scipy.special.gammainc(a, x), _left_open(a, x))


@reference("gamma_inc_u", by="SciPy", raw=True)
def gamma_inc_u(call: Invocation) -> Any:
    a, x = map(double, promoted(call))
    return unjudged(scipy.special.gammaincc(a, x), _left_open(a, x))


def _left_open(a: Any, x: Any) -> Any:
    """Where SciPy's limits are others than those of docs/semantics.md, or SciPy loses digits itself."""
    return (a <= 0) | (x <= 0) | ~numpy.isfinite(a) | ~numpy.isfinite(x) | (a > 1e5)
