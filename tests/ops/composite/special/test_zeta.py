"""Zeta and polygamma functions: values, poles and derivatives, compared with mpmath and SciPy."""

from __future__ import annotations

import math

import mpmath
import numpy
import pytest
import scipy.special

import tensorbackend as tb


def test_both_derivatives_of_zeta() -> None:
    x, q = numpy.array([1.5, 2.0, 7.0, 30.0]), numpy.array([0.25, 1.0, 4.0, 60.0])
    by_x, by_q = tb.grad(lambda x, q: tb.sum(tb.zeta(x, q)), argnums=(0, 1))(tb.asarray(x), tb.asarray(q))
    assert numpy.allclose(by_q, -x * scipy.special.zeta(x + 1, q), rtol=1e-12)
    want = [float(mpmath.zeta(mpmath.mpf(s), mpmath.mpf(a), 1)) for s, a in zip(x, q, strict=True)]
    assert numpy.allclose(by_x, want, rtol=1e-9)


def test_poles_and_what_is_not_defined() -> None:
    assert tb.zeta(tb.asarray([1.0, 2.0]), tb.asarray([3.0, 0.0])).tolist() == [math.inf, math.inf]
    assert all(map(math.isnan, tb.zeta(tb.asarray([0.5, 2.0]), tb.asarray([3.0, -1.5])).tolist()))
    assert all(map(math.isnan, tb.polygamma(tb.asarray([-1.0, 0.5, 1.0]), tb.asarray([1.0, 1.0, -2.5])).tolist()))


def test_the_derivative_of_polygamma_is_the_next_one() -> None:
    x = tb.asarray([0.5, 3.0, 40.0], dtype="f64", names=("n",))
    for order in (0, 1, 4):
        slope = tb.grad(lambda x, order=order: tb.sum(tb.polygamma(order, x)))(x)
        assert slope.names == ("n",)
        assert numpy.allclose(slope, scipy.special.polygamma(order + 1, numpy.asarray(x)), rtol=1e-12)


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_values_far_out_are_scipys(backend: str) -> None:
    """Where the power of q is 0 in float64, and that of q to one less is not."""
    x, q = numpy.meshgrid([1.001, 1.5, 2.0, 3.0, 10.0, 1e7, 1e200], [1e-30, 0.5, 1e10, 1e100, 1e150, 1e300, math.inf])
    found = tb.zeta(tb.asarray(x, backend=backend), tb.asarray(q, backend=backend))
    numpy.testing.assert_allclose(numpy.asarray(found), scipy.special.zeta(x, q), rtol=1e-13)
    orders, places = (
        tb.asarray(numpy.array(each), backend=backend) for each in ([1.0, 1.0, 2.0], [1e300, math.inf, 1e150])
    )
    numpy.testing.assert_allclose(numpy.asarray(tb.polygamma(orders, places)), [1e-300, 0.0, -1e-300], rtol=1e-13)
