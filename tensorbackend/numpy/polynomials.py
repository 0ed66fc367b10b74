"""Polynomials as arrays of coefficients, the highest power first, and windows of signals."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

import tensorbackend as tb

from ..errors import ArgumentError
from .arrays import box, functions, ndarray, tensor_of
from .conversion import asarray, host, tensor
from .functions import public


def _inexact(x: Any) -> Any:
    """The values as an array of an inexact dtype; its operators are known when the package is imported."""
    return functions["add"](asarray(x), 0.0)


@public
def polyval(p: Any, x: Any) -> Any:
    """The values of a polynomial."""
    coefficients = asarray(getattr(p, "coeffs", p))
    places: Any
    total: Any
    if hasattr(x, "coeffs"):  # a polynomial of a polynomial
        places, total = x, 0
    else:
        places = asarray(x)
        total = functions["zeros_like"](places)
    for each in coefficients:
        total = total * places + each
    return total if total.__class__ is not ndarray or total.ndim else total[()]


@public
def polyfit(x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None, cov: Any = False) -> Any:
    """The coefficients of the polynomial of least squares."""
    places, values = _inexact(x), _inexact(y)
    if deg < 0:
        raise ArgumentError("expected deg >= 0")
    if places.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if not places.size:
        raise TypeError("expected non-empty vector for x")
    if values.ndim not in (1, 2):
        raise TypeError("expected 1D or 2D array for y")
    if places.shape[0] != values.shape[0]:
        raise TypeError("expected x and y to have same length")
    order = int(deg) + 1
    rcond = len(places) * float(numpy.finfo(places.dtype).eps) if rcond is None else rcond
    left, right = functions["vander"](places, order), values
    if w is not None:
        weights = _inexact(w)
        left = left * weights[:, None]
        right = right * (weights[:, None] if right.ndim == 2 else weights)
    scale = functions["sqrt"](functions["sum"](left * left, axis=0))
    left = left / scale
    found = functions["linalg.lstsq"](left, right, rcond)
    c = found[0]
    c = (c.T / scale).T
    if full:
        return c, found[1], found[2], found[3], rcond
    if not cov:
        return c
    base = functions["linalg.inv"](functions["dot"](left.T, left)) / functions["outer"](scale, scale)
    factor: Any = 1
    if cov != "unscaled":
        if len(places) <= order:
            raise ArgumentError("the number of data points must exceed order to scale the covariance matrix")
        residuals = right - functions["dot"](functions["vander"](places, order) if w is None else left * scale, c)
        factor = functions["sum"](residuals * residuals, axis=0) / (len(places) - order)
    return c, base * factor if values.ndim == 1 else base[:, :, None] * factor


@public
def polyadd(a1: Any, a2: Any) -> Any:
    """The sum of two polynomials."""
    x, y = _align_lengths(a1, a2)
    return x + y


@public
def polysub(a1: Any, a2: Any) -> Any:
    """The difference of two polynomials."""
    x, y = _align_lengths(a1, a2)
    return x - y


def _align_lengths(*polynomials: Any) -> list[Any]:
    """Coefficients with zeros in front of the shorter ones."""
    arrays = [functions["atleast_1d"](each) for each in polynomials]
    length = max(map(len, arrays))
    return [x if len(x) == length else box(tb.pad(tensor_of(x), [(length - len(x), 0)])) for x in arrays]


@public
def polymul(a1: Any, a2: Any) -> Any:
    """The product of two polynomials."""
    return functions["convolve"](coefficients_of(a1), coefficients_of(a2))


def coefficients_of(p: Any) -> ndarray:
    """Coefficients along one axis, without leading zeros where data can be read."""
    x: ndarray = functions["atleast_1d"](p)
    if x.ndim > 1:
        raise ArgumentError("Polynomial must be 1d only.")
    if len(x) == 1 or not x.tensor.backend.holds_data:
        return x
    trimmed: ndarray = functions["trim_zeros"](x, "f")
    return trimmed if len(trimmed) else functions["zeros"](1, x.dtype)


@public
def polydiv(u: Any, v: Any) -> tuple[Any, Any]:
    """The quotient and the remainder of two polynomials."""
    rest, divisor = functions["atleast_1d"](u) + 0.0, functions["atleast_1d"](v) + 0.0
    count = max(len(rest) - len(divisor) + 1, 1)
    common = (rest[:1] + divisor[:1]).dtype
    quotient, rest = functions["zeros"](count, common), rest.astype(common)
    for place in range(len(rest) - len(divisor) + 1):
        d = rest[place] / divisor[0]
        quotient[place] = d
        rest[place : place + len(divisor)] -= d * divisor
    while len(rest) > 1 and bool(functions["allclose"](rest[0], 0, rtol=1e-14)):
        rest = rest[1:]
    return quotient, rest


@public
def polyder(p: Any, m: int = 1) -> Any:
    """The derivative of a polynomial."""
    if m < 0:
        raise ArgumentError("Order of derivative must be positive (see polyint)")
    x = functions["atleast_1d"](p)
    for _ in range(m):
        x = x[:-1] * functions["arange"](len(x) - 1, 0, -1)
    return x


@public
def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    """An integral of a polynomial."""
    if m < 0:
        raise ArgumentError("Order of integral must be positive (see polyder)")
    constants = [0.0] * m if k is None else [float(each) for each in numpy.atleast_1d(k)]
    constants = constants * m if len(constants) == 1 and m > 1 else constants
    if len(constants) < m:
        raise ArgumentError("k must be a scalar or a rank-1 array of length 1 or >m.")
    x = functions["atleast_1d"](p)
    for each in constants[:m]:
        x = functions["concatenate"]((x / functions["arange"](len(x), 0, -1), functions["atleast_1d"](each)))
    return x


@public
def poly(seq_of_zeros: Any) -> Any:
    """The polynomial with given roots, or the characteristic one of a matrix."""
    x = functions["atleast_1d"](seq_of_zeros)
    if x.ndim == 2:
        if x.shape[0] != x.shape[1] or not x.shape[0]:
            raise ArgumentError("input must be 1d or non-empty square 2d array.")
        x = functions["linalg.eigvals"](x)
    elif x.ndim != 1:
        raise ArgumentError("input must be 1d or non-empty square 2d array.")
    dtype = x._template().dtype
    x = x if dtype.is_inexact and dtype is not tb.float16 else x.astype(float)
    made: Any = functions["ones"](1, x.dtype)
    for zero in x:
        made = functions["convolve"](made, functions["stack"]([functions["ones_like"](zero), -zero]))
    if made.__class__ is ndarray and made._template().dtype.is_complex:
        found = numpy.asarray(tensor(x))
        if (numpy.sort(found) == numpy.sort(found.conjugate())).all():
            made = functions["real"](made).copy()
    return made if len(x) else 1.0


@public
def roots(p: Any) -> Any:
    """The roots of a polynomial."""
    x = functions["atleast_1d"](p)
    if x.ndim != 1:
        raise ArgumentError("Input must be a rank-1 array.")
    places = numpy.flatnonzero(numpy.asarray(tensor(x)))
    if not len(places):
        return functions["array"]([])
    trailing = len(x) - int(places[-1]) - 1
    x = x[int(places[0]) : int(places[-1]) + 1]
    x = x if x._template().dtype.is_inexact else x.astype(float)
    count = len(x) - 1
    zeros = functions["zeros"](trailing)
    if not count:
        return zeros
    below = functions["eye"](count, count, -1, x.dtype)
    below[0] = -x[1:] / x[0]
    values = functions["linalg.eigvals"](below)
    if not x._template().dtype.is_complex and not numpy.asarray(tensor(values)).imag.any():
        values = functions["real"](values).copy()  # NumPy's eigenvalues are complex from version 2.5 on, its roots not
    return functions["concatenate"]((values, zeros)) if trailing else values


def _window(M: Any, function: Callable[[Any, Any], Any]) -> Any:
    """A window, from a function of places and of the last of them."""
    if not isinstance(M, int | float):
        M = numpy.array([0.0, host(M)])[1]
    if M <= 1:
        return functions["ones"](1 if M == 1 else 0)
    return function(functions["arange"](1 - M, M, 2), M - 1)


def _cosines(M: Any, *terms: float) -> Any:
    """A window that is a sum of cosines."""
    cos = functions["cos"]
    return _window(M, lambda x, last: sum(each * cos(k * math.pi * x / last) for k, each in enumerate(terms)))


@public
def hanning(M: Any) -> Any:
    """The Hann window."""
    return _cosines(M, 0.5, 0.5)


@public
def hamming(M: Any) -> Any:
    """The Hamming window."""
    return _cosines(M, 0.54, 0.46)


@public
def blackman(M: Any) -> Any:
    """The Blackman window."""
    return _cosines(M, 0.42, 0.5, 0.08)


@public
def bartlett(M: Any) -> Any:
    """The triangular window."""
    return _window(M, lambda x, last: 1 - abs(x) / last)


@public
def kaiser(M: Any, beta: Any) -> Any:
    """The Kaiser window."""
    if M == 1:
        return functions["ones"](1)
    places = functions["arange"](0, M)
    half = (M - 1) / 2.0
    return functions["i0"](beta * functions["sqrt"](1 - ((places - half) / half) ** 2.0)) / functions["i0"](float(beta))
