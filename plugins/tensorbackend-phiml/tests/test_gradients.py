"""Gradients that PhiML defines itself, of its functions on the adapter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from phiml import math
from phiml.math import Solve, extrapolation, spatial

from tensorbackend_phiml import TensorBackend


@pytest.mark.filterwarnings("ignore:Rank deficiency")  # PhiML warns of it although the solve allows for it
def test_of_a_solve_whose_matrix_has_a_null_space(b: TensorBackend) -> None:
    """The gradient's solve is with the transpose of a CSR matrix, which is in CSC layout."""
    math.use(b)

    @math.jit_compile_linear  # type: ignore[untyped-decorator] # of PhiML
    def laplace(x: Any) -> Any:
        return math.laplace(x, padding=extrapolation.BOUNDARY)

    def loss(y: Any) -> Any:
        solve = Solve("CG", 1e-5, x0=math.zeros_like(y), rank_deficiency=1)
        return math.l2_loss(math.solve_linear(laplace, y, solve))

    values = np.array([1.0, -2.0, 0.0, 1.0])
    gradient = math.gradient(loss, "y", get_output=False)(math.tensor(values, spatial("x")))
    matrix = np.diag([-1.0, -2, -2, -1]) + np.eye(4, k=1) + np.eye(4, k=-1)
    inverse = np.linalg.pinv(matrix)
    np.testing.assert_allclose(gradient.numpy("x"), inverse.T @ inverse @ values, atol=1e-4)


def test_of_a_compiled_function_reads_no_data(b: TensorBackend) -> None:
    """On PhiML's JAX too, a compiled function is traced in a gradient; its integers have no gradient."""
    read: list[bool] = []

    def loss(x: Any, count: Any) -> tuple[Any, Any]:
        read.append(b.is_available(x))
        return b.sum(x**3) * 2.0, count + 1

    compiled = b.jit_compile(loss)

    def with_loss(x: Any) -> tuple[Any, list[Any]]:
        result, count = compiled(x, b.as_tensor(np.array(4)))
        return result, [result, count]

    for x in (np.array([1.0, 2.0]), np.array([-1.0, 3.0])):
        results = b.jacobian(with_loss, [0], True, True)(b.as_tensor(x))
        value, count, derivative = (b.numpy(result) for result in results)
        np.testing.assert_allclose(value, 2 * (x**3).sum(), rtol=1e-6)
        np.testing.assert_allclose(derivative, 6 * x**2, rtol=1e-6)
        assert count == 5
    assert read
    assert not any(read)


def test_of_a_compiled_function_that_closes_over_what_is_recorded(b: TensorBackend) -> None:
    compiled: list[Any] = []

    def loss(factor: Any) -> tuple[Any, list[Any]]:
        compiled[:] = compiled or [b.jit_compile(lambda x: x * factor)]
        return compiled[0](compiled[0](factor)), []

    (derivative,) = b.jacobian(loss, [0], False, True)(b.as_tensor(np.array(3.0)))
    np.testing.assert_allclose(b.numpy(derivative), 27.0, rtol=1e-6)
