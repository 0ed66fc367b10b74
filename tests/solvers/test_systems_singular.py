"""Null spaces, singular systems, NaN and breakdowns: what a solution says, and the error on request."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import ConvergenceError
from tensorbackend.solvers import solve

from .system_cases import EVERYWHERE, SIZE, SYMMETRIC, VECTOR, array, dense, everywhere_but, matrix_for, sparse


def neumann(backend: str) -> Any:
    """Return the Laplacian of a chain with free ends, which maps constant vectors to zero."""
    matrix = numpy.diag(numpy.full(SIZE, 2.0)) - numpy.eye(SIZE, k=1) - numpy.eye(SIZE, k=-1)
    matrix[0, 0] = matrix[-1, -1] = 1
    return sparse(backend, matrix)


@everywhere_but("lsqr", "direct")  # which take no null space
def test_a_null_space_is_left_out(backend: str, method: str) -> None:
    a, b = neumann(backend), tb.asarray(VECTOR, backend=backend)
    reference = numpy.linalg.pinv(array(a.to_dense())) @ VECTOR
    spans: list[Any] = ["constant", tb.full((SIZE,), 2.0, dtype="f64", backend=backend)]
    for null_space in spans:
        solution = solve(a, b, method, rtol=1e-10, null_space=null_space, x0=b, restart=SIZE)
        numpy.testing.assert_allclose(array(solution.x), reference, atol=1e-8)
        assert solution.converged.item()
        assert abs(array(solution.residual).sum()) < 1e-12
    two = tb.asarray([numpy.ones(SIZE), numpy.arange(SIZE)], backend=backend)
    plane = numpy.linalg.qr(array(two).T)[0]
    projector = numpy.eye(SIZE) - plane @ plane.T
    matrix = projector @ matrix_for(method) @ projector
    solution = solve(dense(backend, matrix), b, method, rtol=1e-10, null_space=two, restart=SIZE)
    numpy.testing.assert_allclose(array(solution.x), numpy.linalg.pinv(matrix) @ VECTOR, atol=1e-7)


@everywhere_but("lsqr")  # which finds a least-squares solution
def test_a_singular_system_says_so(backend: str, method: str) -> None:
    b = tb.asarray(VECTOR, backend=backend)
    for a in (neumann(backend), dense(backend, numpy.zeros((SIZE, SIZE)))):
        solution = solve(a, b, method, rtol=1e-8, max_iterations=60)
        assert not solution.converged.item()
    compiled = tb.jit(lambda b: solve(neumann(backend), b, method, rtol=1e-8, max_iterations=60).converged)
    assert not compiled(b).item()


@EVERYWHERE
def test_nan_is_told(backend: str, method: str) -> None:
    nan = float("nan")
    matrix, spoilt = matrix_for(method), matrix_for(method).copy()
    spoilt[0, 0] = nan
    rows = tb.asarray(numpy.stack([VECTOR, VECTOR * nan, VECTOR]), backend=backend)
    solution = solve(dense(backend, matrix), rows, method, rtol=1e-9, restart=SIZE)
    assert (solution.converged.tolist(), solution.diverged.tolist()) == ([True, False, True], [False, True, False])
    for a in (dense(backend, spoilt), sparse(backend, spoilt)):
        solution = solve(a, rows[0], method)
        assert (solution.converged.item(), solution.diverged.item()) == (False, True)


@pytest.mark.parametrize("backend", ["numpy", "binary"])
def test_a_failure_is_an_error_on_request(backend: str) -> None:
    a, b = neumann(backend), tb.asarray(VECTOR, backend=backend)
    with pytest.raises(ConvergenceError, match=r"solve: expected a solver to converge, got converged=False"):
        solve(a, b, "cg", max_iterations=100, raise_on_failure=True)
    assert solve(a, b, "cg", null_space="constant", raise_on_failure=True).converged.item()
    compiled = tb.jit(lambda b: solve(a, b, "cg", max_iterations=100, raise_on_failure=True).x)
    with pytest.raises(Exception, match="expected a solver to converge"):
        compiled(b).block_until_ready()


# Breakdowns


def test_a_method_that_breaks_down_says_so() -> None:
    swap = tb.asarray([[0.0, 1.0], [-1.0, 0.0]], dtype="f64")
    for method in ("cg", "bicgstab"):
        for b in ([1.0, 0.0], [[1.0, 0.0], [0.0, 0.0]]):
            solution = solve(swap, tb.asarray(b, dtype="f64"), method)
            assert array(solution.diverged).tolist() in (True, [True, False])
            assert array(solution.converged).tolist() in (False, [False, True])
            assert numpy.isfinite(array(solution.x)).all()


def test_x_is_nan_where_the_residual_is() -> None:
    b = numpy.stack([VECTOR, VECTOR * numpy.inf])
    solution = solve(tb.asarray(SYMMETRIC), tb.asarray(b), "cg")
    assert numpy.isnan(array(solution.x)).any(axis=1).tolist() == [False, True]
    assert solution.diverged.tolist() == [False, True]
