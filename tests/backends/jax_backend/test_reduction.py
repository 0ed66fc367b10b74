"""Extremes of many elements on JAX. The backend looks at the signs of zeros only where an extreme is zero."""

from __future__ import annotations

import numpy as np
import pytest

import tensorbackend as tb

BACKEND = tb.get_backend("jax")


@pytest.mark.parametrize("dtype", ["bf16", "f32", "f64"])
def test_extremes_of_many_elements_have_the_signs_of_their_zeros(dtype: str) -> None:
    rows = -np.ones((4, 1 << 13))
    rows[0, 5] = -0.0
    rows[1, 5], rows[1, 7] = -0.0, 0.0
    rows[3, 9] = np.nan
    x = tb.tensor(rows.tolist(), dtype=dtype, names=("row", "column"), backend=BACKEND)
    for extremes in (
        tb.max(x, axis="column"),
        tb.jit(lambda x: tb.max(x, axis="column"))(x),
        -tb.min(-x, axis="column"),
    ):
        assert str(extremes.tolist()) == "[-0.0, 0.0, -1.0, nan]"
    assert str(tb.vmap(lambda row: tb.max(row), in_axes="row")(x).tolist()) == "[-0.0, 0.0, -1.0, nan]"


def test_the_gradient_goes_to_the_greatest_elements() -> None:
    x = tb.tensor([0.0, *[-1.0] * (1 << 14), -0.0], backend=BACKEND)
    for point in (x, x + 1.0):
        slope = tb.grad(lambda x: tb.max(x))(point)
        assert tb.sum(slope).item() == 1.0
        assert tb.sum(slope[1:-1]).item() == 0.0


def test_a_product_of_bools_in_a_wider_dtype() -> None:
    """JAX takes a product of complex numbers step by step, all in the result's dtype."""
    x = tb.tensor([[True, True], [True, False]], backend=BACKEND)
    for product in (tb.prod, tb.nanprod):
        assert product(x, axis=1, dtype="complex128").tolist() == [1, 0]
