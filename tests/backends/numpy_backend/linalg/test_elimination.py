"""Tests the quick kernels of NumpyBackend for elimination and triangular systems."""

from __future__ import annotations

from itertools import product
from typing import Any, get_args

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import DataError
from tensorbackend.protocol.linalg import Transform

DTYPES = ["float32", "float64", "complex64", "complex128"]


def numbers(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Any:
    """Return random numbers of a dtype."""
    parts = numpy.random.default_rng(seed).standard_normal((2, *shape))
    return (parts[0] + 1j * parts[1] if "complex" in dtype else parts[0]).astype(dtype)


def near(actual: tb.Tensor, expected: Any, ulps: float = 64) -> bool:
    """Return whether a tensor is as an array, NaN at the same places, up to roundings of the largest element."""
    values, expected = numpy.asarray(actual), numpy.asarray(expected)
    assert values.shape == expected.shape
    assert values.dtype == expected.dtype
    bound = ulps * numpy.finfo(values.dtype).eps * numpy.nanmax(abs(expected), initial=1)
    return bool(numpy.allclose(values, expected, rtol=0, atol=bound, equal_nan=True))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (4, 1), (5, 5), (6, 4), (4, 6), (33, 33), (40, 70), (70, 40)])
def test_one_matrix_has_the_factors_of_a_stack_and_of_the_reference(shape: tuple[int, int], dtype: str) -> None:
    for seed in range(3):
        matrix = numbers(shape, dtype, seed)
        matrix[:, shape[1] // 2 : shape[1] // 2 + seed] = 0
        before = matrix.tobytes()
        alone = tb.linalg.lu(tb.asarray(matrix))
        stacked = tb.linalg.lu(tb.asarray(numpy.stack([matrix, numpy.full_like(matrix, numpy.nan), matrix])))
        reference = tb.linalg.lu(tb.asarray(matrix, backend="binary"))
        for own, of_stack, exact in zip(alone, stacked, reference, strict=True):
            assert near(own, numpy.asarray(exact), 256)
            assert near(of_stack[0], numpy.asarray(exact), 256)
            assert bool(tb.all(tb.isnan(of_stack[1])))
        assert matrix.tobytes() == before


def test_elimination_takes_the_first_of_equal_pivots_and_passes_columns_of_zeros() -> None:
    matrix = tb.tensor([[0.0, 0.0, 3.0], [0.0, 2.0, 1.0], [0.0, -2.0, 1.0]])
    for x in matrix, matrix[None]:
        permutation, lower, upper = (factor.reshape(3, 3).tolist() for factor in tb.linalg.lu(x))
        assert permutation == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
        assert lower == [[1, 0, 0], [0, 1, 0], [0, -1, 1]]
        assert upper == [[0, 0, 3], [0, 2, 1], [0, 0, 2]]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("size", "batch"), [(1, ()), (5, ()), (64, ()), (65, ()), (150, ()), (5, (2, 3)), (70, (9,))])
def test_triangular_systems_are_solved_without_the_other_half(size: int, batch: tuple[int, ...], dtype: str) -> None:
    matrix = numbers((*batch, size, size), dtype) + 2 * size * numpy.eye(size, dtype=dtype)
    for left, lower, transform in product((True, False), (True, False), get_args(Transform)):
        half = numpy.tril(matrix) if lower else numpy.triu(matrix)
        read = numpy.where(numpy.tri(size, dtype=bool) if lower else numpy.tri(size, dtype=bool).T, matrix, numpy.nan)
        right = numbers((size, 3) if left else (3, size), dtype, 1)
        before = right.tobytes()
        solved = numpy.asarray(
            tb.linalg.triangular_solve(
                tb.asarray(read), tb.asarray(right), left_side=left, lower=lower, transform=transform
            )
        )
        half = half.swapaxes(-2, -1) if transform == "transpose" else half
        again = half @ solved if left else solved @ half
        assert near(tb.asarray(again), numpy.broadcast_to(right, again.shape))
        assert right.tobytes() == before


def test_triangular_systems_that_are_not_finite_are_solved_by_substitution() -> None:
    infinity, nan = numpy.inf, numpy.nan
    for lower, stacked in product((True, False), (True, False)):

        def solved(rows: Any, right: Any, lower: bool = lower, stacked: bool = stacked) -> Any:
            matrix, column = numpy.array(rows, "float64"), numpy.array(right, "float64")[:, None]
            if not lower:
                matrix, column = matrix[::-1, ::-1], column[::-1]
            x = tb.linalg.triangular_solve(
                tb.asarray(matrix[None] if stacked else matrix), tb.asarray(column), lower=lower
            )
            values = x.reshape(-1).tolist()
            return str(values if lower else values[::-1])

        assert solved([[2, 0], [infinity, 1]], [2, 0]) == str([1.0, -infinity])
        assert solved([[infinity, 0], [1, 1]], [2, 3]) == str([0.0, 3.0])
        assert solved([[2, 0], [nan, 1]], [0, 1]) == str([0.0, nan])
        assert solved([[2, 0], [0, 1]], [infinity, 1]) == str([infinity, nan])
        assert solved([[1, 0], [1, 1]], [1, nan]) == str([1.0, nan])
        assert solved([[1e-310, 0], [1, 1]], [1e-310, 2]) == str([1.0, 1.0])


@pytest.mark.parametrize("at", [0, 1, 63, 64, 99])
def test_a_zero_on_the_diagonal_makes_a_triangular_matrix_singular(at: int) -> None:
    matrix = numpy.eye(100)
    matrix[at, at] = 0
    for value in (1.0, numpy.nan):
        right = tb.asarray(numpy.full((100, 1), value))
        with pytest.raises(DataError, match="singular"):
            tb.linalg.triangular_solve(tb.asarray(matrix), right)
