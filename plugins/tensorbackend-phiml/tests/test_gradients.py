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
