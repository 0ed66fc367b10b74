"""Series of `numpy.polynomial` at the places of arrays, compared with NumPy's."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy as np

KINDS = ["Polynomial", "Chebyshev", "Legendre", "Hermite", "HermiteE", "Laguerre"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_a_series_at_an_array_is_an_array_of_its_backend(kind: str, backend: str) -> None:
    x = numpy.linspace(-1, 1, 7)
    series: Any = getattr(np.polynomial, kind)([1.0, -2.0, 0.5])
    with tb.default_backend(backend):
        made = series(np.array(x))
    assert isinstance(made, np.ndarray)
    assert made.tensor.backend.name == backend
    numpy.testing.assert_allclose(numpy.asarray(made), getattr(numpy.polynomial, kind)([1.0, -2.0, 0.5])(x))


@pytest.mark.parametrize("kind", KINDS)
def test_a_series_is_fitted_to_arrays(kind: str) -> None:
    x = numpy.linspace(0, 3, 9)
    made = getattr(np.polynomial, kind).fit(np.array(x), np.array(x**2 - x), 3)
    numpy.testing.assert_allclose(made.coef, getattr(numpy.polynomial, kind).fit(x, x**2 - x, 3).coef, atol=1e-12)
    found = made(np.array(2.0))
    assert abs(float(found) - 2.0) < 1e-9


def test_a_series_has_gradients() -> None:
    series = np.polynomial.Chebyshev([1.0, 2.0, 3.0])
    slope: Any = tb.grad(lambda x: np.sum(series(x)))(np.array([0.5, 2.0]))
    numpy.testing.assert_allclose(numpy.asarray(slope), series.deriv()(numpy.array([0.5, 2.0])))


def test_functions_of_coefficients_return_arrays() -> None:
    polyfromroots, polyval = np.polynomial.polynomial.polyfromroots, np.polynomial.polynomial.polyval
    nodes, weights = np.polynomial.legendre.leggauss(4)
    assert isinstance(nodes, np.ndarray)
    assert abs(float(np.sum(weights * nodes**6)) - 2 / 7) < 1e-12
    assert polyfromroots([1, 2]).tolist() == [2.0, -3.0, 1.0]
    assert polyval(np.array([1.0, 2.0]), np.array([2.0, -3.0, 1.0])).tolist() == [0.0, 0.0]
