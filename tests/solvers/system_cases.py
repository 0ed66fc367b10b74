"""Linear systems that tests of solvers share, dense and sparse, and the methods that solve them."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tensorbackend as tb

METHODS = ["cg", "cg-adaptive", "bicgstab", "bicgstab(2)", "bicgstab(4)", "gmres", "lsqr", "direct"]
ITERATIVE = METHODS[:-1]


def everywhere_but(*methods: str) -> pytest.MarkDecorator:
    """Cases without JAX, which compiles each solve for seconds. `test_a_solution_solves` and laws cover it."""
    pairs = [*(("numpy", method) for method in METHODS if method not in methods), ("binary", "gmres")]
    return pytest.mark.parametrize(("backend", "method"), pairs)


EVERYWHERE = everywhere_but()
DRAW = numpy.random.default_rng(3)
SIZE = 12
SYMMETRIC = numpy.diag(numpy.full(SIZE, 4.0)) + numpy.diag(numpy.full(SIZE - 1, -1.5), 1)
SYMMETRIC = (SYMMETRIC + SYMMETRIC.T) / 2
SQUARE = SYMMETRIC + numpy.diag(DRAW.normal(size=SIZE - 1), 1) + numpy.diag(DRAW.normal(size=SIZE - 3), -3)
VECTOR = DRAW.normal(size=SIZE)


def array(x: Any) -> Any:
    return numpy.asarray(x)


def matrix_for(method: str) -> Any:
    return SYMMETRIC if method.startswith("cg") else SQUARE


def dense(backend: str, matrix: Any) -> Any:
    return tb.asarray(matrix, backend=backend)


def sparse(backend: str, matrix: Any) -> Any:
    return tb.backend_copy(tb.sparse.from_dense(dense("numpy", matrix)), backend)
