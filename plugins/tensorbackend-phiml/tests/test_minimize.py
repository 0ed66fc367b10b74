"""`phiml.math.minimize` by SciPy's L-BFGS-B, as on PhiML's own backends, and by ours."""

from __future__ import annotations

from typing import Any

import numpy as np
import phiml.math as math
import pytest
from phiml.backend._backend import get_backend, init_backend
from phiml.math import Solve, SolveTape, batch, channel

from tensorbackend_phiml import TensorBackend

STARTS = [[-1.2, 1.0], [0.5, 2.0]]


def valley(x: Any) -> Any:
    """Rosenbrock's function of each example, whose minimum is at (1, 1)."""
    a, b = x.vector["a"], x.vector["b"]
    return 100 * (b - a**2) ** 2 + (1 - a) ** 2


def starts() -> Any:
    """Where the examples start."""
    return math.tensor(STARTS, batch("example"), channel(vector="a,b"))


def minimized(method: str) -> tuple[Any, Any]:
    """The minima from the starts, and how they were found."""
    with SolveTape() as solves:
        found = math.minimize(valley, Solve(method, abs_tol=1e-10, x0=starts()))
    return found.numpy("example,vector"), solves[0]


def test_scipy_runs_its_method_as_with_phimls_jax(b: TensorBackend) -> None:
    with math.precision(64):
        init_backend("jax")
        with get_backend("jax"):
            expected, theirs = minimized("L-BFGS-B")
        with b:
            found, ours = minimized("L-BFGS-B")
    assert ours.method == f"SciPy L-BFGS-B with {b.name}"
    assert ours.iterations.numpy("example").tolist() == theirs.iterations.numpy("example").tolist()
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_tb_optimize_runs_the_automatic_method(b: TensorBackend) -> None:
    with b, math.precision(64):
        found, solve = minimized("auto")
    assert solve.method == f"tensorbackend L-BFGS ({b.name})"
    np.testing.assert_allclose(found, np.ones((2, 2)), rtol=1e-4)


@pytest.mark.parametrize("method", ["auto", "L-BFGS-B"])
def test_a_compiled_function_minimizes(b: TensorBackend, method: str) -> None:
    @math.jit_compile  # type: ignore[untyped-decorator] # of PhiML
    def nearest(target: Any) -> Any:
        return math.minimize(lambda x: math.l2_loss(x - target), Solve(method, abs_tol=1e-10, x0=target * 0))

    with b, math.precision(64):
        found = nearest(math.tensor([1.0, 2.0], channel(vector="a,b"))).numpy("vector")
    np.testing.assert_allclose(found, [1, 2], rtol=1e-6)
