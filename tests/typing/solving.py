"""Solvers: a sparse system, a minimum, a root."""

from __future__ import annotations

from typing import assert_type

import tensorbackend as tb
from tensorbackend import Tensor


def rosenbrock(x: Tensor) -> Tensor:
    return (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2


def cubic(x: Tensor) -> Tensor:
    return x**3 - 2


dense = 4 * tb.eye(5) - tb.eye(5, k=1) - tb.eye(5, k=-1)
matrix = assert_type(tb.sparse.from_dense(dense), tb.sparse.SparseMatrix)
right = tb.ones(5)
assert_type(matrix @ right, Tensor)
assert_type(matrix @ matrix, tb.sparse.SparseMatrix)
assert_type(matrix.to_dense(), Tensor)
solution = tb.solvers.solve(matrix, right, method="cg")
assert_type(solution.x, Tensor)
assert_type(solution.converged, Tensor)
least = tb.optimize.minimize(rosenbrock, tb.zeros(2, dtype="f64"))
assert_type(least.x, Tensor)
assert_type(least.value, Tensor)
zero = tb.optimize.root(cubic, tb.asarray(1.0, dtype="f64"))
assert_type(zero.x, Tensor)
assert tb.all_close(matrix @ solution.x, right, atol=1e-4)
assert tb.all_close(least.x, tb.ones(2, dtype="f64"), atol=1e-2)
