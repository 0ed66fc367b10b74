"""Bessel functions, compared with mpmath: ends, the seam of two series, names, and derivatives."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import DTypeError

FUNCTIONS = {
    "j0": lambda x: mpmath.besselj(0, x),
    "j1": lambda x: mpmath.besselj(1, x),
    "i0": lambda x: mpmath.besseli(0, x),
    "i1": lambda x: mpmath.besseli(1, x),
    "i0e": lambda x: mpmath.besseli(0, x) * mpmath.exp(-abs(x)),
    "i1e": lambda x: mpmath.besseli(1, x) * mpmath.exp(-abs(x)),
}
POINTS = [-24.999999, -3.5, 0.0, 1e-8, 0.5, 2.404825557695773, 11.0, 24.999999, 25.0, 25.1, 300.0]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("backend", ["binary", "numpy"])
def test_values_and_derivatives(backend: str, name: str) -> None:
    function: Any = getattr(tb, name)
    expected: Any = FUNCTIONS[name]
    x = tb.asarray(POINTS, dtype="f64", names=("n",), backend=backend)
    mpf: Any = mpmath.mpf
    points = [mpf(point) for point in POINTS]
    want = [float(expected(point)) for point in points]
    diff: Any = mpmath.diff
    slopes = [float(diff(expected, point, h=1e-6)) for point in points]
    value, back = tb.vjp(function, x)
    assert value.names == ("n",)
    assert numpy.allclose(value.tolist(), want, rtol=1e-13, atol=3e-15)
    slope = back(tb.ones_like(x))[0].tolist()
    smooth = [place for place, point in enumerate(POINTS) if name[-1] != "e" or abs(point) > 1e-6]  # exp(-|x|) is not
    assert numpy.allclose([slope[place] for place in smooth], [slopes[place] for place in smooth], rtol=1e-7, atol=1e-9)


def test_the_derivative_where_values_overflow() -> None:
    x = tb.asarray([700.0, -700.0, math.inf], dtype="f32")
    assert tb.grad(lambda x: tb.sum(tb.i1(x)))(x).tolist() == [math.inf] * 3
    assert tb.grad(lambda x: tb.sum(tb.i0(x)))(x).tolist() == [math.inf, -math.inf, math.inf]


def test_ends() -> None:
    x = tb.asarray([math.inf, -math.inf, math.nan, -0.0], dtype="f64")
    assert tb.j0(x).tolist()[:2] == [0.0, 0.0]
    assert tb.i1(x).tolist()[:2] == [math.inf, -math.inf]
    assert tb.i0e(x).tolist()[:2] == [0.0, 0.0]
    assert numpy.isnan(numpy.asarray(tb.j1(x))[2])
    assert str(tb.j1(x)[3].item()) == "-0.0"
    assert tb.i0(tb.asarray([1, 2])).dtype is tb.float32
    with pytest.raises(DTypeError, match="j0: expected"):
        tb.j0(tb.asarray([1j]))


def test_the_largest_numbers_and_integers() -> None:
    """2 pi x overflows there; an integer is rounded to float32 first, as by all functions."""
    largest = tb.asarray([1.7976931348623157e308], dtype="f64")
    scaled = float(1 / mpmath.sqrt(2 * mpmath.pi * mpmath.mpf(largest[0].item())))
    assert (tb.i0(largest).item(), tb.i1(largest).item()) == (math.inf, math.inf)
    assert numpy.allclose([tb.i0e(largest).item(), tb.i1e(largest).item()], scaled, rtol=1e-14, atol=0)
    integer = tb.j0(tb.asarray(2**31 - 1, dtype="s32"))
    assert math.isclose(float(integer), float(mpmath.besselj(0, 2**31)), rel_tol=1e-6)
