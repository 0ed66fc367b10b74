"""Linear systems: all methods, for dense and sparse matrices and for functions, on several backends."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import scipy.sparse
import scipy.sparse.linalg

import tensorbackend as tb
from tensorbackend import Tensor
from tensorbackend.solvers import Solution, solve

from .system_cases import (
    DRAW,
    EVERYWHERE,
    ITERATIVE,
    METHODS,
    SIZE,
    SQUARE,
    SYMMETRIC,
    VECTOR,
    array,
    dense,
    matrix_for,
    sparse,
)


def function(backend: str, matrix: Any) -> Any:
    a = dense(backend, matrix)
    return lambda x: x @ a.T if x.ndim > 1 else a @ x


KINDS = [dense, sparse, function]


def poisson(size: int) -> Any:
    """Return the five-point Laplacian of a square grid."""
    line = scipy.sparse.diags_array(
        [-numpy.ones(size - 1), 2 * numpy.ones(size), -numpy.ones(size - 1)], offsets=[-1, 0, 1]
    )
    one = scipy.sparse.eye_array(size)
    return (scipy.sparse.kron(one, line) + scipy.sparse.kron(line, one)).tocsr()


@pytest.mark.parametrize(
    ("backend", "method", "kind"),
    [
        # test_systems_errors.py has the error of a direct solve with a function.
        *(("numpy", method, kind) for method in METHODS for kind in KINDS if (method, kind) != ("direct", function)),
        *(("binary", method, sparse) for method in METHODS),
        ("jax", "cg", sparse),
        ("jax", "gmres", dense),
    ],
)
def test_a_solution_solves(backend: str, method: str, kind: Any) -> None:
    matrix = matrix_for(method)
    solution = solve(kind(backend, matrix), tb.asarray(VECTOR, backend=backend), method, rtol=1e-10, restart=5)
    assert isinstance(solution, Solution)
    numpy.testing.assert_allclose(array(solution.x), numpy.linalg.solve(matrix, VECTOR), rtol=1e-8)
    numpy.testing.assert_allclose(array(solution.residual), VECTOR - matrix @ array(solution.x), atol=1e-14)
    assert (solution.converged.item(), solution.diverged.item(), solution.x.backend.name) == (True, False, backend)
    assert (solution.iterations.dtype, solution.iterations.shape) == (tb.int32, ())
    count = int(solution.iterations)
    assert 0 <= count <= 2 * SIZE
    assert (count == 0) is (method == "direct")


@EVERYWHERE
def test_each_example_stops_for_itself(backend: str, method: str) -> None:
    matrix = matrix_for(method)
    rows = tb.asarray([VECTOR, 0 * VECTOR, 3 * VECTOR, VECTOR], names=("batch", "cell"), backend=backend)
    rtol = tb.asarray([1e-2, 1e-2, 1e-10, 1e-10], dtype="f64", backend=backend)
    start = tb.asarray([0 * VECTOR, 0 * VECTOR, 0 * VECTOR, numpy.linalg.solve(matrix, VECTOR)], backend=backend)
    for a in (dense(backend, matrix), sparse(backend, matrix)):
        solution = solve(a, rows, method, rtol=rtol, x0=start, restart=SIZE)
        assert (solution.x.names, solution.iterations.names) == (("batch", "cell"), ("batch",))
        assert solution.converged.tolist() == [True] * 4
        numpy.testing.assert_allclose(
            array(solution.x)[1:], array(start)[[1, 3, 3]] * [[0], [3], [1]], rtol=1e-8, atol=1e-12
        )
        counts = solution.iterations.tolist()
        if method != "direct":
            assert counts[1] == counts[3] == 0 < counts[0] < counts[2]
            alone = solve(a, rows[0], method, rtol=1e-2, restart=SIZE)
            assert alone.iterations.item() == counts[0]
            numpy.testing.assert_allclose(array(solution.x)[0], array(alone.x), rtol=1e-12)
    most = solve(a, rows, method, rtol=1e-10, max_iterations=tb.asarray([2, 2, 3, 2], backend=backend))
    if method != "direct":
        assert most.iterations.tolist() == [2, 0, 3, 2]
        assert most.converged.tolist()[:2] == [False, True]
        assert most.diverged.tolist() == [False] * 4


@EVERYWHERE
def test_each_example_may_have_its_own_matrix(backend: str, method: str) -> None:
    matrices = numpy.stack([matrix_for(method), matrix_for(method) + numpy.eye(SIZE)])
    reference = numpy.linalg.solve(matrices, VECTOR[:, None])[..., 0]
    places = tb.sparse.from_dense(dense("numpy", matrices[0])).to_coo()
    values = matrices[:, array(places.rows), array(places.columns)]
    stored = tb.sparse.coo(values, places.rows, places.columns, shape=(SIZE, SIZE))
    for a in (dense(backend, matrices), stored if backend == "numpy" else tb.backend_copy(stored, backend)):
        solution = solve(a, tb.asarray(VECTOR, backend=backend), method, rtol=1e-10, restart=SIZE)
        numpy.testing.assert_allclose(array(solution.x), reference, rtol=1e-8)
        assert solution.converged.tolist() == [True, True]


@pytest.mark.parametrize("method", METHODS)
def test_complex_systems(method: str) -> None:
    matrix = matrix_for(method) + 0j
    matrix[0, 1] += 0.5j
    matrix[1, 0] -= 0.5j
    b = VECTOR * (1 + 2j)
    solution = solve(tb.asarray(matrix), tb.asarray(b), method, rtol=1e-10, restart=7)
    numpy.testing.assert_allclose(array(solution.x), numpy.linalg.solve(matrix, b), rtol=1e-8)
    assert solution.converged.item()


@pytest.mark.parametrize(
    ("method", "preconditioner"),
    [("cg", "jacobi"), ("cg", "ilu"), ("cg-adaptive", "function"), ("bicgstab", "ilu"), ("bicgstab(2)", "jacobi"),
     ("gmres", "matrix")],
)  # fmt: skip
def test_a_preconditioner_saves_iterations(method: str, preconditioner: str) -> None:
    scales = 4.0 ** numpy.arange(SIZE)
    matrix = matrix_for(method) * numpy.sqrt(numpy.outer(scales, scales))
    inverse = numpy.linalg.inv(numpy.diag(numpy.diag(matrix)))
    preconditioners: Any = {"function": lambda x: x * tb.asarray(numpy.diag(inverse)), "matrix": tb.asarray(inverse)}
    for a in (dense("numpy", matrix), sparse("numpy", matrix)):
        for b in (VECTOR, numpy.stack([VECTOR, VECTOR * scales])):
            options: Any = {"rtol": 1e-9, "restart": SIZE}
            with_it = solve(a, b, method, preconditioner=preconditioners.get(preconditioner, preconditioner), **options)
            without = solve(a, b, method, **options)
            assert array(with_it.converged).all()
            # Without a preconditioner, gmres takes as many iterations as there are unknowns.
            assert (array(with_it.iterations) < array(without.iterations) + (method == "gmres")).all()
            residual = array(with_it.residual)
            assert (numpy.linalg.norm(residual, axis=-1) <= 1e-8 * numpy.linalg.norm(b, axis=-1)).all()


def test_iterations_agree_with_scipy() -> None:
    size = 16
    laplace = poisson(size)
    wind = scipy.sparse.kron(
        scipy.sparse.eye_array(size), scipy.sparse.diags_array([0.3], offsets=[1], shape=(size, size))
    )
    matrices = {"cg": laplace, "bicgstab": laplace + wind, "gmres": laplace + wind, "lsqr": laplace + wind}
    b = numpy.random.default_rng(0).normal(size=size * size)
    for method, matrix in matrices.items():
        counted = [0]

        def count(*state: Any, counted: list[int] = counted) -> None:
            counted[0] += 1

        theirs: dict[str, Any] = {
            "cg": lambda m, b, c=count: scipy.sparse.linalg.cg(m, b, rtol=1e-6, callback=c),
            "bicgstab": lambda m, b, c=count: scipy.sparse.linalg.bicgstab(m, b, rtol=1e-6, callback=c),
            "gmres": lambda m, b, c=count: scipy.sparse.linalg.gmres(
                m, b, rtol=1e-6, restart=20, callback=c, callback_type="pr_norm"
            ),
        }
        if method == "lsqr":
            scipy_iterations = scipy.sparse.linalg.lsqr(matrix, b, atol=1e-6, btol=1e-6)[2]
        else:
            theirs[method](matrix, b)
            scipy_iterations = counted[0]
        ours = solve(tb.sparse.from_scipy(matrix.tocsr()), b, method, rtol=1e-6)
        assert ours.converged.item()
        assert ours.iterations.item() <= 1.5 * scipy_iterations + 2, method
        assert ours.iterations.item() >= scipy_iterations / 1.5 - 2, method


# Least squares


@pytest.mark.parametrize("backend", ["numpy", "binary"])
def test_least_squares(backend: str) -> None:
    for shape in ((20, 6), (6, 20)):
        matrix = DRAW.normal(size=shape)
        b = numpy.stack([DRAW.normal(size=shape[0]), matrix @ DRAW.normal(size=shape[1])])
        for a in (dense(backend, matrix), sparse(backend, matrix)):
            solution = solve(a, tb.asarray(b, backend=backend), "lsqr", rtol=1e-10)
            reference = numpy.stack([numpy.linalg.lstsq(matrix, right_side, rcond=None)[0] for right_side in b])
            numpy.testing.assert_allclose(array(solution.x), reference, rtol=1e-7, atol=1e-9)
            assert solution.converged.tolist() == [True, True]
    a = tb.asarray(DRAW.normal(size=(5, 3)), names=("row", "column"), backend=backend)
    assert solve(a, tb.ones(5, dtype="f64", names=("row",), like=a), "lsqr").x.names == ("column",)
    nothing = solve(tb.zeros((5, 3), backend=backend), tb.ones(5, backend=backend), "lsqr")
    assert (nothing.x.tolist(), nothing.iterations.item(), nothing.converged.item()) == ([0.0] * 3, 0, True)


# Functions, names, dtypes


@pytest.mark.parametrize("backend", ["numpy"])
def test_a_function_may_take_grids(backend: str) -> None:
    def laplace(x: Tensor) -> Tensor:
        assert x.names == ("batch", "y", "x")
        differences: Tensor = 4 * x
        for axis in ("y", "x"):
            for shift in (1, -1):
                moved = tb.roll(x, shift, axis=axis)
                differences = differences - moved
        return differences + 0.1 * x

    b = tb.asarray(DRAW.normal(size=(2, 4, 5)), names=("batch", "y", "x"), backend=backend)
    for method in ITERATIVE if backend == "numpy" else ["cg"]:
        solution = solve(laplace, b, method, rtol=1e-10, vector_axes=2, restart=20)
        assert (solution.x.names, solution.x.shape, solution.converged.tolist()) == (b.names, b.shape, [True, True])
        numpy.testing.assert_allclose(array(laplace(solution.x)), array(b), atol=1e-8)
        whole = solve(laplace, b, method, rtol=1e-10, restart=20)
        assert (whole.x.names, whole.converged.shape, whole.converged.item()) == (b.names, (), True)
        numpy.testing.assert_allclose(array(laplace(whole.x)), array(b), atol=1e-8)


def test_names_and_dtypes_are_those_of_what_is_given() -> None:
    a = tb.asarray(SYMMETRIC, dtype="f32", names=("row", "column"))
    b = tb.asarray(numpy.stack([VECTOR, VECTOR]), dtype="f32", names=("batch", "row"))
    solution = solve(a, b, "cg")
    assert (solution.x.names, solution.residual.names, solution.x.dtype) == (
        ("batch", "column"),
        ("batch", "row"),
        tb.float32,
    )
    assert solve(a, tb.asarray(b, dtype="f64"), "cg").x.dtype is tb.float64
    assert solve(SYMMETRIC, VECTOR).x.dtype is tb.float64
    assert solve(scipy.sparse.csr_array(SQUARE), VECTOR).converged.item()
    assert solve([[2.0]], numpy.array([4.0])).x.tolist() == [2.0]
    assert solve(tb.asarray(SYMMETRIC), VECTOR, "cg", x0=tb.asarray(VECTOR, names=("cell",))).x.names == ("cell",)


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_no_unknowns_and_a_batch_of_right_hand_sides(backend: str) -> None:
    with tb.default_backend(backend):
        assert solve(tb.sparse.eye(0), tb.zeros((2, 0)), "direct").x.shape == (2, 0)


# Trajectories, traces


@EVERYWHERE
def test_a_trajectory(backend: str, method: str) -> None:
    a, b = dense(backend, matrix_for(method)), tb.asarray(VECTOR, names=("cell",), backend=backend)
    solution = solve(a, b, method, rtol=1e-9, trajectory=(0, 1, 2, 40), restart=4)
    whole = solve(a, b, method, rtol=1e-9, restart=4)
    assert (solution.x.names, solution.x.shape, solution.converged.shape) == ((None, "cell"), (4, SIZE), (4,))
    numpy.testing.assert_allclose(array(solution.x)[-1], array(whole.x), rtol=1e-12)
    assert solution.iterations.tolist()[-1] == whole.iterations.item()
    assert solution.converged.tolist() == ([True] * 4 if method == "direct" else [False] * 3 + [True])
    left = numpy.linalg.norm(array(solution.residual), axis=-1)
    assert (left <= 1e-9 * numpy.linalg.norm(VECTOR)).tolist() == solution.converged.tolist()
    if method not in ("direct", "gmres"):
        assert solution.iterations.tolist()[:3] == [0, 1, 2]


@EVERYWHERE
def test_the_same_compiled_and_in_a_batch(backend: str, method: str) -> None:
    matrix = matrix_for(method)
    a, b = sparse(backend, matrix), tb.asarray(VECTOR, backend=backend)
    reference = numpy.linalg.solve(matrix, VECTOR)

    def function(a: Any, b: Tensor) -> Tensor:
        return solve(a, b, method, rtol=1e-10, restart=SIZE).x

    numpy.testing.assert_allclose(array(tb.jit(function)(a, b)), reference, rtol=1e-8)
    batch = tb.vmap(function, in_axes=(None, 0))(a, tb.stack([b, 2 * b, 0 * b]))
    numpy.testing.assert_allclose(array(batch), [reference, 2 * reference, 0 * reference], rtol=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_a_dry_run(method: str) -> None:
    a = tb.sparse.from_dense(tb.asarray(SQUARE)) if method == "direct" else tb.asarray(matrix_for(method))
    template = tb.template((3, SIZE), "f64", names=("batch", "cell"))
    solution = solve(a, template, method, rtol=1e-8)
    assert (solution.x.template, solution.converged.shape) == (template.template, (3,))
    assert tb.dry_run(lambda b: solve(a, b, method, rtol=1e-8).x, template).peak.memory > 0


def test_a_solver_is_compiled_once_for_equal_structures() -> None:
    from tensorbackend.solvers.core import solve_scaled

    misses: Any = []
    for scale in (1.0, 2.0, 3.0):
        a = tb.asarray(SYMMETRIC * scale)
        solve(tb.sparse.from_dense(a), VECTOR * scale, "cg")
        solve(lambda x, a=a: a @ x, VECTOR, "cg")
        misses.append(solve_scaled.cache_info().misses)
    assert misses[0] == misses[1] == misses[2]


@pytest.mark.parametrize("option", ["x0", "rtol", "atol", "max_iterations"])
def test_each_option_may_be_traced_beside_a_system_with_data(option: str) -> None:
    a, b = tb.asarray([[3.0, 1.0], [1.0, 2.0]]), tb.asarray([1.0, 0.0])
    value = {"x0": b, "max_iterations": tb.asarray(5)}.get(option, tb.asarray(1e-5))
    found = tb.jit(lambda value: solve(a, b, "cg", **{option: value}).x)(value)
    numpy.testing.assert_allclose(found, [0.4, -0.2], rtol=1e-4)
