"""Exponentials of matrices on each backend, compared with their Taylor series and with some known by heart."""

import math
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb

from ...matrices import array, check_near, drawn

BACKENDS = ["binary", "numpy"]

pytestmark = pytest.mark.parametrize("backend", BACKENDS)


def taylor(x: Any) -> Any:
    """Return the exponential by its Taylor series, with scaling and squaring."""
    halvings = max(0, math.ceil(math.log2(np.abs(x).sum(axis=0).max() + 1e-300))) + 3
    term = total = np.eye(len(x), dtype=np.result_type(x, np.longdouble))
    for k in range(1, 40):
        term = term @ (x / 2.0**halvings) / k
        total = total + term
    for _ in range(halvings):
        total = total @ total
    return total


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("size", [0.0, 0.01, 0.3, 1.0, 3.9, 5.4, 20.0, 100.0])
def test_exponentials(size: float, dtype: str, backend: str) -> None:
    values = drawn("random", (4, 4), dtype)
    values = values - 3 * np.eye(4)  # shifted so that the exponential of a large multiple is finite
    scaled = values * (min(size, 5.0 if "16" in dtype else 1e9) / np.abs(values).sum(axis=0).max())
    x = tb.tensor(scaled, dtype=dtype, backend=backend)
    exponential, reference = array(tb.linalg.expm(x)), taylor(array(x))
    assert np.abs(exponential - reference).max() <= (16 + 8 * size) * tb.finfo(dtype).eps * max(
        np.abs(reference).max(), 1e-30
    )


def test_exponentials_known_by_heart(backend: str) -> None:
    angle = 2.0
    turn = tb.tensor([[[0.0, -angle], [angle, 0.0]], [[0.0, 1e4], [0.0, 0.0]]], dtype="float64", backend=backend)
    first, second = array(tb.linalg.expm(turn))
    check_near(first, np.array([[math.cos(2), -math.sin(2)], [math.sin(2), math.cos(2)]]), 1e-15)
    check_near(second, np.array([[1.0, 1e4], [0.0, 1.0]]), 1e-8)
    assert tb.linalg.expm(tb.zeros((0, 0), backend=backend)).shape == (0, 0)
    beyond = tb.tensor([[-1e7, 0.0], [0.0, 1.0]], backend=backend)
    assert np.isnan(array(tb.linalg.expm(beyond))).all()
