"""Products, norms and powers of two of iterative methods, and the iterations that a limit allows."""

from __future__ import annotations

import math

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.solvers import solve
from tensorbackend.solvers.iteration import dot, norm, power, square
from tensorbackend.testing import profile

from .system_cases import VECTOR, matrix_for


@pytest.mark.parametrize("method", ["cg", "gmres", "lsqr"])
def test_a_limit_of_0_or_less_allows_no_iteration(method: str) -> None:
    system = tb.asarray(numpy.stack([matrix_for(method)] * 3)), tb.asarray(numpy.stack([VECTOR] * 3))
    solution = solve(*system, method, max_iterations=tb.asarray([0, -1, 1]))
    assert solution.iterations.tolist() == [0, 0, 1]
    assert solution.x[:2].tolist() == numpy.zeros((2, VECTOR.size)).tolist()
    assert (solution.converged.tolist(), solution.diverged.tolist()) == ([False] * 3, [False] * 3)
    alone = solve(system[0][0], system[1][0], method, max_iterations=-1)
    assert (alone.iterations.item(), alone.converged.item()) == (0, False)


@pytest.mark.parametrize("shape", [(3,), (2, 3)])
def test_products_are_conjugate_in_the_first(shape: tuple[int, ...]) -> None:
    random = numpy.random.default_rng(0)
    x, y = (random.normal(size=shape) + 1j * random.normal(size=shape) for _ in range(2))
    expected = (x.conj() * y).sum(-1, keepdims=True)
    numpy.testing.assert_allclose(dot(tb.asarray(x), tb.asarray(y)), expected, rtol=1e-12)
    squared = square(tb.asarray(x))
    assert squared.dtype is tb.float64
    numpy.testing.assert_allclose(squared, (abs(x) ** 2).sum(-1, keepdims=True), rtol=1e-12)


@pytest.mark.parametrize(("dtype", "lowest", "highest"), [("f32", -126, 126), ("f64", -1022, 1022)])
def test_powers_are_those_below(dtype: str, lowest: int, highest: int) -> None:
    @profile(25)
    @given(st.integers(lowest - 20, highest + 1), st.floats(1, 2, exclude_max=True, width=16))
    def agrees(exponent: int, share: float) -> None:
        size = tb.asarray([math.ldexp(share, exponent)], dtype=dtype)
        assert power(size).item() == math.ldexp(1, min(max(exponent, lowest), highest))
        assert norm(size).item() == size.item() == norm(tb.stack([0 * size[0], -size[0]])).item()

    agrees()
    for size in (0.0, math.inf, math.nan):
        unit = power(tb.asarray([size], dtype=dtype)).item()
        assert unit in (math.ldexp(1, lowest), math.ldexp(1, highest))
