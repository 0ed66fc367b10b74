"""Tests the quick kernels of NumpyBackend for real matrices."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tensorbackend as tb


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (6, 4), (4, 6)])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("qr", {}),
        ("qr", {"mode": "complete"}),
        ("svd", {}),
        ("svd", {"full_matrices": False}),
        ("eigh", {}),
    ],
)
def test_real_matrices_have_the_same_factors_alone_and_in_any_stack(
    name: str, options: dict[str, Any], shape: tuple[int, int], dtype: str
) -> None:
    op = getattr(tb.linalg, name)
    for seed in range(20):
        matrix = numpy.random.default_rng(seed).standard_normal(shape).astype(dtype)
        matrix[:, shape[1] // 2 :] *= seed % 3  # in every third matrix these columns are zero
        if name == "eigh":
            matrix = matrix @ matrix.T
        stack = numpy.stack([matrix, matrix[::-1, ::-1], 2 * matrix, matrix - 1]).reshape(2, 2, *matrix.shape)
        careful = numpy.append(stack, numpy.full_like(stack[:1], numpy.nan), 0)  # the NaN rules out the quick kernel
        before = stack.tobytes()
        alone, stacked, general = (op(tb.asarray(x), **options) for x in (matrix, stack, careful))
        for of_matrix, of_stack, of_careful in zip(alone, stacked, general, strict=True):
            assert of_matrix.to_binary() == of_stack[0, 0].to_binary()
            assert of_stack.to_binary() == of_careful[:2].to_binary()
            assert bool(tb.all(tb.isnan(of_careful[2])))
        assert stack.tobytes() == before


def test_a_matrix_that_is_not_finite_has_factors_of_nan() -> None:
    for value in (numpy.inf, numpy.nan):
        x = tb.asarray(numpy.array([[value, 1.0], [1.0, 2.0]], "float32"))
        for name in ("qr", "svd", "eigh"):
            for factor in getattr(tb.linalg, name)(x):
                assert bool(tb.all(tb.isnan(factor)))
