"""What rounding leaves of a residual, systems that a method solves within a sweep, and systems of any scale."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend import Tensor
from tensorbackend.solvers import solve

from .system_cases import ITERATIVE, METHODS, SIZE, SYMMETRIC, VECTOR, array, matrix_for, sparse


@pytest.mark.parametrize("method", ITERATIVE)
def test_what_rounding_leaves_is_not_a_failure(method: str) -> None:
    b = tb.asarray(VECTOR, dtype="f32")
    assert solve(tb.asarray(matrix_for(method), dtype="f32"), b, method, rtol=1e-6, restart=SIZE).converged.item()


@pytest.mark.parametrize("backend", ["numpy", "binary"])
def test_what_comes_after_a_solution_within_a_sweep_changes_nothing(backend: str) -> None:
    def on(x: Any) -> Tensor:
        return tb.asarray(x, backend=backend)

    threefold = solve(sparse(backend, 3.0 * numpy.eye(3)), on([0.3, -1.7, 0.3]).astype("f64"))
    tridiagonal = sparse(backend, numpy.array([[3.0, -1, 0], [-2, 3, -1], [0, -2, 3]]))
    exact = solve(tridiagonal, on(numpy.array([1.0, 2, 3])), preconditioner="ilu")
    eigenvalues = numpy.array([2.1, 3.3, 5.7, 7.9])
    jacobi = solve(sparse(backend, numpy.diag(eigenvalues)), on(numpy.arange(1.0, 5)), preconditioner="jacobi")
    pair = [[0.12341672093394616, 0.0059492127666320805], [0.005949212766632083, 0.15255181014563388]]
    four = solve(on(numpy.array(pair)), on(numpy.array([0.16656979582456205, 0.15223668899601325])), "bicgstab(4)")
    for solution, x in (
        (threefold, [0.1, -1.7 / 3, 0.1]),
        (exact, [16 / 15, 2.2, 37 / 15]),
        (jacobi, numpy.arange(1.0, 5) / eigenvalues),
        (four, [1.3040000376, 0.9470809344]),
    ):
        assert (solution.converged.item(), solution.diverged.item(), solution.iterations.item()) == (True, False, 1)
        numpy.testing.assert_allclose(array(solution.x), x, rtol=1e-6)


def test_a_large_iterate_whose_residual_seems_small_is_not_a_solution() -> None:
    """Four steps for two unknowns: rounding alone is left after two."""
    eigenvalues = numpy.array([[6.72874391, 0.68130634], [3.12358376, 3.88413201]])
    sides = numpy.array([[[1.4123, -0.6018], [1.1851, 0.6128]], [[-0.746, 0.881], [0.5, 0.25]]])
    for diagonal, b in zip(eigenvalues, sides, strict=True):
        solutions = [solve(sparse("numpy", numpy.diag(diagonal)), x, "bicgstab(4)", rtol=1e-10) for x in (b, *b)]
        numpy.testing.assert_allclose(array(solutions[0].x), b / diagonal, rtol=1e-9)
        numpy.testing.assert_allclose([array(solution.x) for solution in solutions[1:]], b / diagonal, rtol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_squares_neither_overflow_nor_underflow(method: str) -> None:
    for scale in (1e-30, 1e-12, 1e12, 1e30):
        a, b = numpy.float32(scale * SYMMETRIC), numpy.float32(scale * VECTOR)
        solution = solve(tb.asarray(a), tb.asarray(b), method, restart=SIZE)
        assert solution.converged.item()
        numpy.testing.assert_allclose(array(solution.x), numpy.linalg.solve(SYMMETRIC, VECTOR), rtol=1e-3, atol=1e-5)
        solution = solve(tb.asarray(SYMMETRIC, dtype="f32"), tb.asarray(b), method, restart=SIZE)
        assert solution.converged.item()
        x = array(solution.x).astype("f8") / scale
        numpy.testing.assert_allclose(x, numpy.linalg.solve(SYMMETRIC, VECTOR), rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("method", ["cg", "bicgstab(2)", "gmres"])
def test_a_residual_is_computed_again_where_rounding_spoils_it(method: str) -> None:
    """In float32 errors add up: the residual that a method updates is far below the residual itself."""
    size = 40
    matrix = numpy.diag(numpy.full(size, 2.0)) - numpy.eye(size, k=1) - numpy.eye(size, k=-1)
    b = numpy.random.default_rng(5).normal(size=size)
    solution = solve(tb.asarray(matrix, dtype="f32"), tb.asarray(b, dtype="f32"), method, rtol=3e-6, restart=size)
    assert solution.converged.item()
    x = array(solution.x).astype("f8")
    row = numpy.sqrt(numpy.mean(numpy.sum(matrix**2, axis=1)))
    rounding = min(10 * 2.0**-23 * row * numpy.linalg.norm(x), 2.0**-11.5 * numpy.linalg.norm(b))
    left = numpy.linalg.norm(numpy.float32(b).astype("f8") - matrix @ x)
    assert left <= max(3e-6 * numpy.linalg.norm(b), rounding) * 1.1
