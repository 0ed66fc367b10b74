"""The gradient of the determinant: cofactors by brute force, for matrices of every rank."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import DataError


def cofactors(x: Any) -> Any:
    """The derivatives of the sum over all permutations (Leibniz), by each element."""
    size = len(x)
    result = np.zeros_like(x)
    for order in permutations(range(size)):
        sign = np.linalg.det(np.eye(size)[list(order)])
        for row in range(size):
            result[row, order[row]] += sign * np.prod([x[other, order[other]] for other in range(size) if other != row])
    return result


def of_rank(size: int, rank: int, complex_: bool) -> Any:
    """A matrix of small whole numbers that has a rank exactly, with zero pivots at any place."""
    random = np.random.default_rng(10 * size + rank)
    x = np.zeros((size, size), complex if complex_ else float)
    x[:rank, :rank] = random.integers(-2, 3, (rank, rank)) + (4 + 1j if complex_ else 4) * np.eye(rank)
    return x[random.permutation(size)][:, random.permutation(size)]


CASES = [(size, rank) for size in range(1, 6) for rank in range(max(size - 3, 0), size + 1)]


@pytest.mark.parametrize("complex_", [False, True])
@pytest.mark.parametrize(("size", "rank"), CASES)
def test_the_gradient_is_the_matrix_of_cofactors(size: int, rank: int, complex_: bool) -> None:
    x = of_rank(size, rank, complex_)
    gradient = tb.grad(lambda x: tb.real(tb.linalg.det(x)) if complex_ else tb.linalg.det(x))(tb.asarray(x))
    np.testing.assert_allclose(gradient, cofactors(x), atol=1e-10)


@pytest.mark.parametrize(("size", "rank"), CASES)
def test_second_derivatives(size: int, rank: int) -> None:
    x = of_rank(size, rank, False)
    weights, step = np.cos(np.arange(size * size)).reshape(size, size), 1e-5
    second = tb.grad(lambda x: tb.sum(tb.grad(tb.linalg.det)(x) * weights))(tb.asarray(x))
    expected = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        moved = np.zeros_like(x)
        moved[place] = step  # cofactors are linear in each element
        expected[place] = ((cofactors(x + moved) - cofactors(x - moved)) * weights).sum() / (2 * step)
    np.testing.assert_allclose(second, expected, atol=1e-6)


def test_stacks_and_transformations() -> None:
    x = np.stack([np.eye(4), np.zeros((4, 4)), np.diag([1.0, 2.0, 3.0, 0.0]), of_rank(4, 4, False)])
    expected = np.stack([cofactors(matrix) for matrix in x])

    def total(x: tb.Tensor) -> tb.Tensor:
        return tb.sum(tb.linalg.det(x))

    stack = tb.asarray(x)
    for gradient in (tb.grad(total), tb.jit(tb.grad(total)), tb.vmap(tb.grad(tb.linalg.det))):
        np.testing.assert_allclose(gradient(stack), expected, atol=1e-10)
    with tb.tape() as tape:
        watched = tape.watch(stack)
        value = total(watched)
    np.testing.assert_allclose(tb.gradient(value, watched), expected, atol=1e-10)
    moved = tb.jvp(total, (stack,), (tb.ones_like(stack),))[1]
    np.testing.assert_allclose(moved, expected.sum(), atol=1e-10)


def test_a_determinant_out_of_range() -> None:
    """The determinant, 1e-48, is 0 in float32; the cofactors are in range."""
    x = tb.asarray(np.diag([1e-20, 1e-20, 1e-4, 1e-4]), dtype="f32")
    np.testing.assert_allclose(tb.grad(tb.linalg.det)(x)[0, 0].item(), 1e-28, rtol=1e-5)


def test_the_logarithm_has_no_gradient_there() -> None:
    with pytest.raises(DataError):
        tb.grad(lambda x: tb.linalg.slogdet(x).logabsdet)(tb.zeros((4, 4)))
