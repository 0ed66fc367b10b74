"""Norms of vectors and matrices on each backend: each order, without overflow, and of nothing."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb

from ...matrices import array, check_near, drawn

BACKENDS = ["binary", "numpy"]

pytestmark = pytest.mark.parametrize("backend", BACKENDS)

ORDERS: list[Any] = ["fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf]


@pytest.mark.parametrize("dtype", ["float64", "complex128", "int32"])
@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (2, 3, 2)])
def test_norms(shape: tuple[int, ...], dtype: str, backend: str) -> None:
    values = drawn("random", shape, dtype) if dtype != "int32" else np.arange(math.prod(shape)).reshape(shape) - 3
    with tb.precision(64):
        x = tb.tensor(values, dtype=dtype, backend=backend)
        for order in ORDERS:
            expected_norms: Any = np.linalg.matrix_norm(values, ord=order)
            check_near(array(tb.linalg.matrix_norm(x, ord=order)), expected_norms, 1e-12)
            kept = tb.linalg.matrix_norm(x, ord=order, keepdims=True)
            check_near(array(kept), expected_norms[..., None, None], 1e-12)
            turned = tb.linalg.norm(x, axis=(-1, -2), ord=order)
            check_near(array(turned), np.linalg.norm(values, axis=(-1, -2), ord=order), 1e-12)
        axes: list[Any] = [0, -1, None, (0, 1)]
        for order, axis in itertools.product([0, 1, 2, 3, -1, 0.5, math.inf, -math.inf], axes):
            with np.errstate(divide="ignore"):
                expected_norms = np.linalg.vector_norm(values, ord=order, axis=axis, keepdims=True)
            norms = array(tb.linalg.vector_norm(x, ord=order, axis=axis, keepdims=True))
            assert norms == pytest.approx(expected_norms)
        assert tb.linalg.norm(x).item() == pytest.approx(np.linalg.norm(values.reshape(-1)))


def test_norms_do_not_overflow(backend: str) -> None:
    x = tb.tensor([3e38, 4e37], dtype="float32", backend=backend)
    assert tb.linalg.vector_norm(x).item() == pytest.approx(3.0265492e38)
    assert tb.linalg.vector_norm(tb.tensor([3e-40, 4e-40], dtype="f64", backend=backend)).item() == pytest.approx(5e-40)
    half = tb.tensor([[300.0] * 4] * 4, dtype="float16", backend=backend)
    assert tb.linalg.matrix_norm(half).item() == 1200.0
    assert tb.linalg.vector_norm(tb.tensor([math.inf, 1.0], backend=backend)).item() == math.inf
    assert np.isnan(array(tb.linalg.vector_norm(tb.tensor([math.nan, math.inf], backend=backend))))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("order", "values", "expected_norm"),
    [(3.2e-260, [3.0, 4.0], math.inf), (3.2e-260, [0.0, -4.0], 4.0), (5e-324, [3.0, 4.0], math.inf),
     (-3.2e-260, [3.0, 4.0], 0.0), (-3.2e-260, [0.0, 4.0], 0.0), (-3.2e-260, [4.0], 4.0), (1e300, [3.0, -4.0], 4.0),
     (-1e300, [3.0, -4.0], 3.0), (-1000, [3.0, 4.0], 3.0), (-1000, [3.0, 0.0], 0.0), (-2, [math.inf, 4.0], 4.0),
     (-2, [math.inf], math.inf), (0.5, [0.0, 0.0], 0.0)],
)  # fmt: skip
def test_norms_of_any_order(order: float, values: list[float], expected_norm: float, dtype: str, backend: str) -> None:
    x = tb.tensor(values, dtype=dtype, backend=backend)
    assert tb.linalg.vector_norm(x, ord=order).item() == pytest.approx(expected_norm)
    unknown = tb.tensor([*values, math.nan], dtype=dtype, backend=backend)
    assert math.isnan(float(tb.linalg.vector_norm(unknown, ord=order)))


@pytest.mark.parametrize("order", [*ORDERS[:3], 2, math.inf])
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_norms_of_nothing(shape: tuple[int, int], order: Any, backend: str) -> None:
    assert tb.linalg.matrix_norm(tb.zeros(shape, backend=backend), ord=order).item() == 0.0
    assert tb.linalg.vector_norm(tb.zeros(0, backend=backend)).item() == 0.0


@pytest.mark.parametrize(("order", "expected"), [(-1, math.inf), (-0.5, math.inf), (0, 0.0), (0.5, 0.0), (3, 0.0)])
def test_a_vector_norm_of_nothing_is_a_power_of_0(backend: str, order: float, expected: float) -> None:
    x = tb.zeros((2, 0), backend=backend)
    assert tb.linalg.vector_norm(x, axis=1, ord=order).tolist() == [expected] * 2
