"""Tangents and second derivatives of solves, by NumPy's solutions in float64 of the systems that they are.

With x = inv(A) b and the loss sum(w sin(x)), a change (dA, db) gives dx = inv(A) (db - dA x); the gradient is y for b
and -y x.T for A, where y = inv(A).T (w cos(x)), and changes by -dy x.T - y dx.T, where
dy = inv(A).T (-w sin(x) dx - dA.T y). Systems are those of `test_solver_laws`, of any scale.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.solvers import solve
from tensorbackend.testing import profile

from .test_solver_laws import HERMITIAN, METHODS, Case, drawn, seeds

Array = Any
Solve = Callable[[Array, tb.Tensor], tb.Tensor]


class Moved(NamedTuple):
    """A system, a change of it, and NumPy's derivatives, all in units in which the elements are near 1."""

    matrix: Array
    b: Array
    of_matrix: Array
    of_b: Array
    weights: Array
    tangent: Array
    """The change of x."""
    turned: tuple[Array, Array]
    """The changes of the gradients by A and b."""


def moved(case: Case, seed: int, symmetric: bool) -> Moved:
    """A random change of a system. The matrix of methods for Hermitian matrices stays symmetric."""
    random = numpy.random.default_rng([seed, 1])
    a, b, w = case.matrix, case.b, random.normal(size=len(case.b))
    of_a, of_b = random.normal(size=a.shape), random.normal(size=b.shape)
    if symmetric:
        of_a = (of_a + of_a.T) / 2
    x = numpy.linalg.solve(a, b)
    dx = numpy.linalg.solve(a, of_b - of_a @ x)
    y = numpy.linalg.solve(a.T, w * numpy.cos(x))
    dy = numpy.linalg.solve(a.T, -w * numpy.sin(x) * dx - of_a.T @ y)
    return Moved(a, b, of_a, of_b, w, dx, (-numpy.outer(dy, x) - numpy.outer(y, dx), dy))


def assert_close(got: Any, wanted: Array, symmetric: bool = False) -> None:
    got = numpy.asarray(got)
    if symmetric and got.ndim == 2:  # other derivatives by A are not defined
        got, wanted = (got + got.T) / 2, (wanted + wanted.T) / 2
    numpy.testing.assert_allclose(got, wanted, rtol=0, atol=1e-6 * max(1.0, numpy.abs(wanted).max()))


def seconds(loss: Callable[..., tb.Tensor], changes: tuple[tb.Tensor, tb.Tensor]) -> dict[str, Callable[..., Any]]:
    """The change of the gradient, by each order of forward and reverse."""

    def along(a: tb.Tensor, b: tb.Tensor) -> tb.Tensor:
        by_a, by_b = tb.grad(loss, (0, 1))(a, b)
        return tb.sum(by_a * changes[0]) + tb.sum(by_b * changes[1])

    return {
        "forward over reverse": lambda *point: tb.jvp(tb.grad(loss, (0, 1)), point, changes)[1],
        "reverse over reverse": tb.grad(along, (0, 1)),
        "reverse over forward": tb.grad(lambda *point: tb.jvp(loss, point, changes)[1], (0, 1)),
    }


def check_derivatives(
    solver: Solve, case: Case, seed: int, symmetric: bool, units: tuple[float, float], order: str
) -> None:
    """Compare the derivatives of a solver, whose matrices and vectors are in some units."""
    wanted = moved(case, seed, symmetric)
    of_a, of_b = units
    point = (tb.asarray(wanted.matrix * of_a), tb.asarray(wanted.b * of_b))
    changes = (tb.asarray(wanted.of_matrix * of_a), tb.asarray(wanted.of_b * of_b))

    def x(a: tb.Tensor, b: tb.Tensor) -> tb.Tensor:
        return solver(a, b) * (of_a / of_b)

    def loss(a: tb.Tensor, b: tb.Tensor) -> tb.Tensor:
        return tb.sum(tb.asarray(wanted.weights) * tb.sin(x(a, b)))

    assert_close(tb.jvp(x, point, changes)[1], wanted.tangent)
    by_a, by_b = seconds(loss, changes)[order](*point)
    assert_close(by_a * of_a, wanted.turned[0], symmetric)
    assert_close(by_b * of_b, wanted.turned[1])


ORDERS = list(seconds(tb.add, (tb.zeros(()), tb.zeros(()))))
UNITS = [1.0, 1e60, 1e-60, 1e-20, 3e20]


@pytest.mark.parametrize("method", METHODS)
@profile(2)
@given(
    seed=seeds,
    size=st.sampled_from([1, 2, 5]),
    kind=st.sampled_from(["dense", "function"]),
    units=st.tuples(*[st.sampled_from(UNITS)] * 2),
    order=st.sampled_from(ORDERS),
)
def test_derivatives_of_solves(
    method: str, seed: int, size: int, kind: str, units: tuple[float, float], order: str
) -> None:
    def solver(a: Any, b: tb.Tensor) -> tb.Tensor:
        operator = a
        if kind == "function" and method != "direct":
            operator = lambda x: tb.sum(a * x[..., None, :], axis=-1)  # noqa: E731 # one of two kinds
        return solve(operator, b, method, rtol=1e-11, restart=size).x

    case = drawn(seed, method, "float64", size, scaled=False)
    check_derivatives(solver, case, seed, method in HERMITIAN, units, order)


def with_several(function: Solve) -> Solve:
    """A function of a matrix and columns, as one of a matrix and a vector."""
    return lambda a, b: function(a, b[:, None])[:, 0]


DENSE: dict[str, Solve] = {
    "solve": tb.linalg.solve,
    "solve of columns": with_several(tb.linalg.solve),
    "inv": lambda a, b: tb.linalg.inv(a) @ b,
    "pinv": lambda a, b: tb.linalg.pinv(a) @ b,
    "lstsq": with_several(lambda a, b: tb.linalg.lstsq(a, b)[0]),
    "matrix_power": lambda a, b: tb.linalg.matrix_power(a, -1) @ b,
}


@pytest.mark.parametrize("name", DENSE)
@profile(3)
@given(seed=seeds, size=st.sampled_from([1, 2, 5]), order=st.sampled_from(ORDERS))
def test_derivatives_of_dense_solves(name: str, seed: int, size: int, order: str) -> None:
    check_derivatives(DENSE[name], drawn(seed, "direct", "float64", size, scaled=False), seed, False, (1.0, 1.0), order)


@pytest.mark.parametrize("method", [method for method in METHODS if method != "lsqr"])
@profile(1)
@given(seed=seeds)
def test_tangents_of_sparse_matrices(method: str, seed: int) -> None:
    """By the values of a stored matrix, compiled and for a batch of changes."""
    case = drawn(seed, method, "float64", 5, scaled=False)
    stored, b = tb.sparse.from_dense(tb.asarray(case.matrix)), tb.asarray(case.b)
    shift = numpy.random.default_rng(seed).normal(size=2)
    x = numpy.linalg.solve(case.matrix, case.b)
    wanted = [factor * numpy.linalg.solve(case.matrix, -case.matrix @ x) for factor in shift]  # A becomes (1 + t) A

    def tangent(factor: tb.Tensor) -> tb.Tensor:
        def of(values: tb.Tensor) -> tb.Tensor:
            return solve(stored.like(values), b, method, rtol=1e-11, restart=5).x

        moved_x: tb.Tensor = tb.jvp(of, (stored.values,), (stored.values * factor,))[1]
        return moved_x

    assert_close(tangent(tb.asarray(shift[0])), wanted[0])
    assert_close(tb.jit(tangent)(tb.asarray(shift[1])), wanted[1])
    if method != "direct":  # which factorises on the host
        assert_close(tb.vmap(tangent)(tb.asarray(shift)), numpy.stack(wanted))


@profile(3)
@given(seed=seeds, rows=st.sampled_from([2, 4, 6]), columns=st.sampled_from([2, 4, 6]))
def test_tangents_of_least_squares(seed: int, rows: int, columns: int) -> None:
    """By central differences of NumPy's solution of least norm, for matrices of any shape with full rank."""
    random = numpy.random.default_rng(seed)
    left = numpy.linalg.qr(random.normal(size=(rows, rows)))[0][:, : min(rows, columns)]
    right = numpy.linalg.qr(random.normal(size=(columns, columns)))[0][: min(rows, columns)]
    a, b = (left * random.uniform(1, 3, min(rows, columns))) @ right, random.normal(size=rows)
    of_a, of_b = random.normal(size=a.shape), random.normal(size=rows)

    def least(step: float) -> Array:
        return numpy.linalg.lstsq(a + step * of_a, b + step * of_b)[0]

    wanted = (8 * (least(1e-3) - least(-1e-3)) - (least(2e-3) - least(-2e-3))) / 12e-3
    point, changes = (tb.asarray(a), tb.asarray(b)), (tb.asarray(of_a), tb.asarray(of_b))
    for solver in (lambda a, b: solve(a, b, "lsqr", rtol=1e-12).x, lambda a, b: tb.linalg.pinv(a) @ b):
        assert_close(tb.jvp(solver, point, changes)[1], wanted)
        _, pullback = tb.vjp(solver, *point)
        weights = random.normal(size=columns)
        by_a, by_b = pullback(tb.asarray(weights))
        assert_close(tb.sum(by_a * changes[0]) + tb.sum(by_b * changes[1]), weights @ wanted)
