"""What an error says of each example of a solve that failed."""

from __future__ import annotations

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import ConvergenceError
from tensorbackend.solvers import solve

from .system_cases import SYMMETRIC, VECTOR

FAILURES = [
    (1.0, 1, r"converged=\[True, False\], diverged=False, iterations=\[0, 1\], residual=\[0\.0, 0\.68"),
    (
        float("nan"),
        9,
        r"converged=\[True, False\], diverged=\[False, True\], iterations=\[0, \d\], residual=\[0\.0, nan\]",
    ),
]


@pytest.mark.parametrize(("factor", "limit", "text"), FAILURES, ids=["at its limit", "at a NaN"])
def test_an_error_says_which_examples_failed(factor: float, limit: int, text: str) -> None:
    sides = tb.asarray(numpy.stack([VECTOR * 0, VECTOR * factor]))
    with pytest.raises(ConvergenceError, match=f"solve: expected a solver to converge, got {text}"):
        solve(tb.asarray(SYMMETRIC), sides, "cg", max_iterations=limit, raise_on_failure=True)
