"""Quantiles of the normal distribution, far out in the tails too."""

from __future__ import annotations

import math

import numpy
import pytest
import scipy.special
from scipy import stats

import tensorbackend as tb


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_quantiles_and_their_derivative(backend: str) -> None:
    p = numpy.array([1e-300, 1e-30, 0.049999, 0.05, 0.5, 0.7, 1 - 1e-12])
    given = tb.asarray(p, names=("n",), backend=backend)
    value, slope = tb.jit(tb.vmap(tb.value_and_grad(tb.ndtri)))(given)
    assert value.names == ("n",)
    assert numpy.allclose(value.tolist(), scipy.special.ndtri(p), rtol=1e-13)
    assert numpy.allclose(slope.tolist(), 1 / stats.norm.pdf(scipy.special.ndtri(p)), rtol=1e-8)


def test_numbers_that_are_not_probabilities() -> None:
    probabilities = tb.asarray([0.0, 1.0, -0.5, 1.5, math.nan])
    numpy.testing.assert_array_equal(numpy.asarray(tb.ndtri(probabilities)), [-math.inf, math.inf, *[math.nan] * 3])


@pytest.mark.parametrize("p", [-5e-324, -1.8e-153, -1e-17, 1 + 2**-52])
def test_numbers_just_outside_of_the_range(p: float) -> None:
    assert tb.isnan(tb.ndtri(tb.asarray(p, dtype="f64")))
