"""Values of polynomials, compared with NumPy's, also in `jit` and with gradients."""

from __future__ import annotations

import numpy as np
import pytest

import tensorbackend as tb


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_values_are_numpys(backend: str) -> None:
    p, x = np.array([2.0, 0.0, -1.0, 3.0]), np.array([[0.0, 1.5], [-2.0, 4.0]])
    coefficients, places = tb.asarray(p, backend=backend), tb.asarray(x, backend=backend, names=("row", "n"))
    for got in (tb.polyval(coefficients, places), tb.jit(tb.polyval)(coefficients, places)):
        assert (got.names, got.tolist()) == (("row", "n"), np.polyval(p, x).tolist())
    slopes = tb.grad(lambda x: tb.sum(tb.polyval(coefficients, x)))(places)
    assert slopes.tolist() == np.polyval(np.polyder(p), x).tolist()


def test_a_fit_finds_the_polynomial() -> None:
    x = np.linspace(-2, 2, 9)
    y = np.polyval([1.0, -2.0, 0.5], x)
    np.testing.assert_allclose(np.asarray(tb.polyfit(tb.asarray(x), tb.asarray(y), 2)), [1.0, -2.0, 0.5], atol=1e-12)
    both = np.stack([y, -y], axis=1)
    got = tb.polyfit(tb.asarray(x), tb.asarray(both, names=("time", "unit")), 2)
    assert got.names == (None, "unit")
    np.testing.assert_allclose(np.asarray(got), np.polyfit(x, both, 2), atol=1e-12)
