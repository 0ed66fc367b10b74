"""Gradients of factorisations at matrices of all magnitudes."""

from __future__ import annotations

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import GradientError


@pytest.mark.parametrize(("dtype", "size"), [("f16", 2.0**-16), ("bf16", 1e-30), ("f32", 1e-30), ("f64", 1e200)])
@pytest.mark.parametrize("shape", [(1, 1), (1, 3)])
def test_the_gradient_of_r_is_not_lost_beside_that_of_q(shape: tuple[int, int], dtype: str, size: float) -> None:
    """A row has Q = 1 and R = x, as x[0] is positive: the sum of both has the derivative 1 by each element."""
    x = tb.full(shape, size, dtype=dtype)
    gradient = tb.grad(lambda x: sum((tb.sum(part) for part in tb.linalg.qr(x)), tb.asarray(0.0, dtype=dtype)))(x)
    np.testing.assert_array_equal(np.asarray(gradient.astype("f64")), np.ones(shape))


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 2)])
@pytest.mark.parametrize("parts", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("dtype", ["f64", "c128"])
def test_qr_by_central_differences(shape: tuple[int, ...], parts: tuple[int, ...], dtype: str) -> None:
    random = np.random.default_rng(len(parts))
    x, along = (random.normal(size=shape) + 1j * (dtype == "c128") * random.normal(size=shape) for _ in range(2))
    point, step = (tb.asarray(value if dtype == "c128" else value.real) for value in (x, along * 1e-6))

    def loss(x: tb.Tensor) -> tb.Tensor:
        total = tb.asarray(0.0, dtype="f64")
        for part in parts:
            factor = tb.linalg.qr(x)[part]
            weights = tb.reshape(tb.cos(tb.iota(factor.size, dtype="f64")), factor.shape)
            total = total + tb.sum(weights * tb.abs(factor - 0.5) ** 2)
        return total

    slope = float(np.sum(np.asarray(tb.grad(loss)(point)) * np.asarray(step)).real) / 1e-6
    difference = (loss(point + step).item() - loss(point - step).item()) / 2e-6
    assert abs(slope - difference) <= 1e-7 * max(1.0, abs(difference))


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4)])
@pytest.mark.parametrize("part", [0, 1, 2])
def test_vectors_that_only_complete_a_basis_have_no_gradient(shape: tuple[int, int], part: int) -> None:
    """Of a full decomposition the values, and the vectors of the lesser side, have the gradient of the reduced one."""
    x = tb.asarray(np.random.default_rng(part).normal(size=shape))

    def loss(x: tb.Tensor, full: bool) -> tb.Tensor:
        result = tb.linalg.svd(x, full_matrices=full)[part]
        return tb.sum(tb.cos(tb.reshape(tb.iota(result.size, dtype="f64"), result.shape)) * tb.abs(result))

    greater_side = {0: shape[0] > shape[1], 1: False, 2: shape[1] > shape[0]}[part]
    if greater_side:
        with pytest.raises(GradientError, match="they only complete the basis"):
            tb.grad(loss)(x, True)
    else:
        np.testing.assert_allclose(tb.grad(loss)(x, True), tb.grad(loss)(x, False), rtol=1e-12)
