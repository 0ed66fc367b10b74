"""Matrices for tests of linear algebra, and how results are compared with NumPy's."""

from typing import Any

import numpy as np

import tensorbackend as tb


def drawn(kind: str, shape: tuple[int, ...], dtype: str) -> Any:
    """Return an array of a kind in a dtype of NumPy, with numbers that narrow dtypes represent exactly."""
    random = np.random.default_rng(len(shape) + sum(shape))
    values: Any = random.integers(-16, 17, shape) / 8
    if dtype.startswith("complex"):
        values = values + 1j * random.integers(-16, 17, shape) / 8
    wide = dtype in ("float64", "complex128")
    if kind == "zeros":
        values = values * 0
    if kind == "rank one":
        values = np.round(values[..., :1]) * np.round(values[..., :1, :]) if values.size else values
    if kind == "identity":
        values = np.broadcast_to(np.eye(shape[-2], shape[-1]), shape) + 0 * values
    if kind == "large" and dtype not in ("float16", "bfloat16"):
        values = values * (1e290 if wide else 2.0**120)
    if kind == "tiny" and dtype not in ("float16", "bfloat16"):
        values = values * (1e-290 if wide else 2.0**-115)
    return values


def array(x: tb.Tensor) -> Any:
    """Return a tensor as a float64 or complex128 array."""
    return np.array(x.tolist(), "complex128" if x.dtype.is_complex else "float64").reshape(x.shape)


def adjoint(x: Any) -> Any:
    return np.conj(np.swapaxes(x, -1, -2))


def check_near(actual: Any, reference: Any, tolerance: float) -> None:
    assert actual.shape == reference.shape
    assert np.abs(actual - reference).max(initial=0) <= tolerance
