"""Tests reductions that NumPy computes without NaN, at zeros of both signs."""

from __future__ import annotations

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.testing import assert_equal

ELEMENTS = [float("nan"), 0.0, -0.0, 1.0, -1.0, float("inf"), -float("inf")]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1), ()])
def test_extremes_of_what_is_not_nan_are_those_of_the_reference(dtype: str, axis: int | tuple[int, ...] | None) -> None:
    random = np.random.default_rng(0)
    for shape in ((1, 1), (2, 3), (3, 2), (4, 4)):
        for keepdims in (False, True):
            for _ in range(20):
                values = random.choice(ELEMENTS, shape, p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.05, 0.05])
                for extreme in (tb.nanmax, tb.nanmin):
                    found, reference = (
                        extreme(tb.asarray(values, dtype=dtype, backend=backend), axis=axis, keepdims=keepdims)
                        for backend in ("numpy", "binary")
                    )
                    assert_equal(found, reference.backend_transfer("numpy"))
