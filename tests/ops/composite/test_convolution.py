"""Convolutions and cross-correlations of vectors, compared with NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, ShapeError


@pytest.mark.parametrize(
    ("backend", "mode"),
    [*((backend, mode) for backend in ("binary", "numpy") for mode in ("full", "same", "valid")), ("jax", "same")],
)
def test_results_are_numpys(backend: str, mode: Any) -> None:
    random = np.random.default_rng(0)
    for first, second in [(2, 5)] if backend == "jax" else [(1, 1), (5, 2), (2, 5), (4, 3), (6, 6)]:
        a, b = random.normal(size=first), random.normal(size=second) + 1j * random.normal(size=second)
        x1, x2 = tb.asarray(a, backend=backend, names=("time",)), tb.asarray(b, backend=backend)
        for got, wanted in [(tb.convolve(x1, x2, mode=mode), np.convolve(a, b, mode)),
                            (tb.correlate(x1, x2, mode=mode), np.correlate(a, b, mode)),
                            (tb.correlate(x2, x1, mode=mode), np.correlate(b, a, mode))]:  # fmt: skip
            assert got.names == ("time",)
            np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-12, atol=1e-12)


def test_the_gradient_is_a_correlation() -> None:
    kernel = tb.asarray([1.0, 2.0, 4.0])
    slope = tb.grad(lambda x: tb.sum(tb.convolve(x, kernel, mode="valid")))(tb.ones(5))
    assert slope.tolist() == np.convolve(np.ones(3), [4.0, 2.0, 1.0]).tolist()[:5]


def test_what_is_refused() -> None:
    with pytest.raises(ShapeError, match="convolve: expected vectors with elements"):
        tb.convolve(tb.zeros(0), tb.ones(2))
    with pytest.raises(ShapeError, match="correlate: expected samples along one axis"):
        tb.correlate(tb.ones((2, 2)), tb.ones((2, 2)))
    with pytest.raises(ArgumentError, match="mode"):
        tb.convolve(tb.ones(2), tb.ones(2), mode="most")  # type: ignore[arg-type] # the error under test


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_nothing_is_multiplied_beyond_the_ends(backend: str) -> None:
    x, kernel = tb.ones(4, dtype="f64", backend=backend), tb.asarray([1.0, np.nan], dtype="f64", backend=backend)
    np.testing.assert_array_equal(np.asarray(tb.convolve(x, kernel)), [1] + [np.nan] * 4)
    np.testing.assert_array_equal(np.asarray(tb.correlate(x, kernel, mode="full")), [np.nan] * 4 + [1])
    slope = tb.grad(lambda x: tb.sum(tb.convolve(x, kernel, mode="valid")))(x)
    np.testing.assert_array_equal(np.asarray(slope), [np.nan] * 3 + [1])


def test_a_long_kernel_is_divided_into_parts() -> None:
    random = np.random.default_rng(0)
    a, b = random.normal(size=3000), random.normal(size=1100)
    a[700], b[5] = np.inf, np.nan
    for mode in ("full", "same"):
        found = tb.convolve(*(tb.asarray(v, backend="jax") for v in (a, b)), mode=mode)
        with np.errstate(invalid="ignore"):
            np.testing.assert_allclose(np.asarray(found), np.convolve(a, b, mode), atol=1e-9)
