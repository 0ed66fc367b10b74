"""Gradients of solves with respect to b and to the elements of the matrix."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend import Tensor
from tensorbackend.errors import ConvergenceError, GradientError
from tensorbackend.solvers import solve

DRAW = numpy.random.default_rng(3)
SIZE = 8
SYMMETRIC = 4 * numpy.eye(SIZE) - numpy.eye(SIZE, k=1) - numpy.eye(SIZE, k=-1)
SQUARE = SYMMETRIC + numpy.diag(DRAW.normal(size=SIZE - 1), 1)
VECTOR, WEIGHTS = DRAW.normal(size=SIZE), DRAW.normal(size=SIZE)


def array(x: Any) -> Any:
    return numpy.asarray(x)


def matrix_for(method: str) -> Any:
    return SYMMETRIC if method.startswith("cg") else SQUARE


def neumann() -> Tensor:
    """Return the Laplacian of a chain with free ends, which maps constant vectors to zero."""
    ends = numpy.zeros(SIZE)
    ends[[0, -1]] = 3
    return tb.asarray(SYMMETRIC - 2 * numpy.eye(SIZE) - numpy.diag(ends - 2 * (ends > 0)))


def loss_of(method: str, **options: Any) -> Any:
    def loss(a: Any, b: Tensor) -> Tensor:
        x = solve(a, b, method, rtol=1e-12, restart=SIZE, **options).x
        return tb.sum(x**2 * tb.asarray(WEIGHTS))

    return loss


def exact(a: Tensor, b: Tensor) -> Tensor:
    return tb.sum(tb.linalg.solve(a, b) ** 2 * tb.asarray(WEIGHTS))


def check_close(one: Any, other: Any, atol: float = 1e-7) -> None:
    numpy.testing.assert_allclose(array(one), array(other), atol=atol)


@pytest.mark.parametrize(
    ("backend", "method"),  # `laws/test_solver_laws.py` asks NumPy about each method
    [*(("numpy", method) for method in ("cg", "gmres", "lsqr", "direct")), ("binary", "bicgstab"), ("jax", "cg")],
)
def test_the_gradient_is_that_of_the_exact_solution(backend: str, method: str) -> None:
    a, b = tb.asarray(matrix_for(method), backend=backend), tb.asarray(VECTOR, backend=backend)
    by_a, by_b = tb.grad(exact, (0, 1))(tb.asarray(matrix_for(method)), tb.asarray(VECTOR))
    loss = loss_of(method)
    gradient: Any = tb.grad(loss, (0, 1))
    gradient_a, gradient_b = (tb.jit(gradient) if backend == "jax" else gradient)(a, b)
    check_close(gradient_b, by_b)
    # A solver of symmetric matrices has the same gradient as a general solver.
    check_close(gradient_a, by_a)
    stored = tb.backend_copy(tb.sparse.from_dense(tb.asarray(matrix_for(method))).to_coo(), backend)
    of_values = tb.jit(tb.grad(lambda values, b: loss(stored.like(values), b)))(stored.values, b)
    check_close(of_values, array(by_a)[array(stored.rows), array(stored.columns)])
    if method != "direct" and backend != "jax":
        gradients = tb.grad(lambda a, b: loss(lambda x: a @ x, b), (0, 1))(a, b)
        check_close(gradients[0], by_a)
        check_close(gradients[1], by_b)


@pytest.mark.parametrize("method", ["cg", "bicgstab", "direct"])
def test_on_a_tape(method: str) -> None:
    a, b = tb.asarray(matrix_for(method)), tb.asarray(VECTOR)
    with tb.tape() as tape:
        watched = tape.watch((a, b))
        y = loss_of(method)(*watched)
        inside = tb.gradient(y, watched)
        rate = tb.sum(inside[1] ** 2)
    expected_gradients = tb.grad(exact, (0, 1))(a, b)
    for one, other in zip(inside, expected_gradients, strict=True):
        check_close(one, other)
    second = tb.grad(lambda b: tb.sum(tb.grad(exact, 1)(a, b) ** 2))(b)
    check_close(tb.gradient(rate, watched)[1], second, atol=1e-6)


def test_of_a_batch() -> None:
    method = "bicgstab"
    matrices = tb.asarray(numpy.stack([matrix_for(method), matrix_for(method) + numpy.eye(SIZE)]))
    rows = tb.asarray(numpy.stack([VECTOR, 2 * VECTOR]))
    loss = loss_of(method)
    expected_gradients = tb.grad(lambda a, b: exact(a[0], b[0]) + exact(a[1], b[1]), (0, 1))(matrices, rows)
    for one, other in zip(tb.grad(loss, (0, 1))(matrices, rows), expected_gradients, strict=True):
        check_close(one, other)
    shared = tb.grad(loss, (0, 1))(matrices[0], rows)
    expected_gradients = tb.grad(lambda a, b: exact(a, b[0]) + exact(a, b[1]), (0, 1))(matrices[0], rows)
    for one, other in zip(shared, expected_gradients, strict=True):
        check_close(one, other)
    for one, other in zip(
        tb.vmap(tb.grad(loss, (0, 1)), in_axes=(None, 0))(matrices[0], rows), expected_gradients, strict=True
    ):
        assert one.shape == (2, *other.shape[-one.ndim + 1 :])


@pytest.mark.parametrize("method", ["cg", "bicgstab", "lsqr", "direct"])
def test_of_complex_numbers(method: str) -> None:
    matrix = matrix_for(method) + 0j
    matrix[0, 1] += 0.5j
    matrix[1, 0] -= 0.5j
    a, b = tb.asarray(matrix), tb.asarray(VECTOR * (1 - 0.5j))

    def loss(solver: Any) -> Any:
        return lambda a, b: tb.sum(tb.abs(solver(a, b)) ** 2 * tb.asarray(WEIGHTS)) + tb.imag(solver(a, b)[3])

    ours = loss(lambda a, b: solve(a, b, method, rtol=1e-12, restart=SIZE).x)
    theirs = loss(tb.linalg.solve)
    check_close(tb.grad(ours, 1)(a, b), tb.grad(theirs, 1)(a, b))
    check_close(tb.grad(ours)(a, b), tb.grad(theirs)(a, b))


def test_of_least_squares() -> None:
    for shape in ((20, 6), (6, 20)):
        parts = DRAW.normal(size=(2, *shape))
        for a in (tb.asarray(parts[0]), tb.asarray(parts[0] + 1j * parts[1])):
            check_least_squares(a, tb.asarray(DRAW.normal(size=shape[0]), dtype=a.dtype))


def check_least_squares(a: Tensor, b: Tensor) -> None:
    def loss(solver: Any) -> Any:
        return lambda a, b: tb.sum(tb.real(tb.sin(solver(a, b))))

    ours = tb.grad(loss(lambda a, b: solve(a, b, "lsqr", rtol=1e-12).x), (0, 1))(a, b)
    theirs = tb.grad(loss(lambda a, b: tb.linalg.pinv(a) @ b), (0, 1))(a, b)
    for one, other in zip(ours, theirs, strict=True):
        check_close(one, other, atol=1e-6)


def test_of_a_null_space_and_a_preconditioner() -> None:
    a, b = neumann(), tb.asarray(VECTOR)
    free = loss_of("cg", null_space="constant")
    inverse = tb.linalg.pinv(a)
    expected_gradient = tb.grad(lambda b: tb.sum((inverse @ b) ** 2 * tb.asarray(WEIGHTS)))(b)
    check_close(tb.grad(free, 1)(a, b), expected_gradient)
    stored = tb.sparse.from_dense(tb.asarray(matrix_for("bicgstab")))
    for word in ("jacobi", "ilu"):
        for method in ("bicgstab", "gmres"):
            gradient = tb.grad(loss_of(method, preconditioner=word), 1)(stored, b)
            check_close(gradient, tb.grad(exact, 1)(stored.to_dense(), b))


def test_the_tolerance_of_the_gradient_does_not_depend_on_its_scale() -> None:
    a, b = tb.asarray(matrix_for("cg")), tb.asarray(VECTOR)

    def loss(b: Tensor) -> Tensor:
        return 1e-9 * tb.sum(solve(a, b, "cg", rtol=0.0, atol=1e-6).x)

    check_close(1e9 * tb.grad(loss)(b), tb.grad(lambda b: tb.sum(tb.linalg.solve(a, b)))(b), atol=1e-5)


def test_a_trajectory_has_none() -> None:
    a, b = tb.asarray(matrix_for("cg")), tb.asarray(VECTOR)
    with pytest.raises(GradientError, match="expected no gradient through the trajectory of a solve"):
        tb.grad(lambda b: tb.sum(solve(a, b, "cg", trajectory=(1, 2)).x))(b)
    assert tb.grad(lambda b: tb.sum(solve(a, b, "cg").residual) + tb.sum(b))(b).tolist() == [1.0] * SIZE


def test_of_a_solve_by_the_default_method() -> None:
    a, b = 3.0 * tb.sparse.eye(3, dtype="f64"), tb.asarray([1.0, 2.0, 3.0], dtype="f64")
    weights = numpy.array([0.3, -1.7, 0.3])

    def loss(b: Tensor) -> Tensor:
        return tb.sum(solve(a, b).x * tb.asarray(weights))

    check_close(tb.grad(loss)(b), weights / 3)
    check_close(tb.jit(tb.grad(loss))(b), weights / 3)
    with tb.tape() as tape:
        watched = tape.watch(b)
        y = loss(watched)
    check_close(tb.gradient(y, watched), weights / 3)


def failing() -> Any:
    """Return a loss whose solve converges after three iterations, and whose gradient's solve needs more."""
    matrix = numpy.diag(numpy.arange(1.0, 31)) + numpy.diag(numpy.full(29, 0.9), 1)
    a, weights = tb.asarray(matrix), tb.asarray(numpy.cos(numpy.arange(30.0)))

    def loss(b: Tensor, scale: Any = 1.0, **options: Any) -> Tensor:
        return tb.sum(solve(scale * a, b, "gmres", rtol=1e-10, max_iterations=3, **options).x * weights)

    return loss


def test_a_gradient_whose_solve_fails_is_nan() -> None:
    loss, b = failing(), tb.asarray(numpy.eye(30)[0])
    assert tb.isfinite(loss(b)).item()
    scale = tb.asarray(1.0, dtype="f64")
    for gradient in (
        tb.grad(loss)(b),
        tb.jit(tb.grad(loss))(b),
        tb.vmap(tb.grad(loss))(b[None]),
        tb.grad(loss, 1)(b, scale),
    ):
        assert numpy.isnan(array(gradient)).all()


def test_a_gradient_whose_solve_fails_is_an_error_on_request() -> None:
    loss, b = failing(), tb.asarray(numpy.eye(30)[0])

    def strict(b: Tensor) -> Tensor:
        failed: Tensor = loss(b, raise_on_failure=True)
        return failed

    for gradient in (tb.grad(strict), tb.jit(tb.grad(strict))):
        with pytest.raises(ConvergenceError, match="expected the solve of a gradient to converge, got converged=False"):
            gradient(b)
    with tb.tape() as tape:
        watched = tape.watch(b)
        y = strict(watched)
    with pytest.raises(ConvergenceError, match="expected the solve of a gradient to converge"):
        tb.gradient(y, watched)


def test_an_absolute_tolerance_above_b_gives_no_zero_gradient() -> None:
    a, b = tb.asarray(matrix_for("cg")), tb.asarray(VECTOR)
    for scale in (0.0, 1e-12):
        gradient = tb.grad(lambda b: tb.sum(solve(a, b, "cg", rtol=0.0, atol=1e-6).x))(scale * b)
        check_close(gradient, numpy.linalg.solve(matrix_for("cg"), numpy.ones(SIZE)), atol=1e-4)
