"""Linear solvers against the dense solution on each backend, their flags, and their gradients against differences."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.solvers import solve
from tensorbackend.testing import profile

SIZE, BATCH = 5, 2
HERMITIAN = ("cg", "cg-adaptive")
METHODS = [*HERMITIAN, "bicgstab", "bicgstab(2)", "gmres", "lsqr", "direct"]

seeds = st.integers(0, 2**32 - 1)


def system(seed: int, method: str, spread: float = 1.0) -> tuple[Any, Any]:
    """Return well-conditioned matrices and right-hand sides."""
    random = numpy.random.default_rng(seed)
    matrices = random.uniform(-spread, spread, (BATCH, SIZE, SIZE))
    if method in HERMITIAN:
        matrices = matrices + matrices.swapaxes(1, 2)
    matrices = matrices + 2 * SIZE * spread * numpy.eye(SIZE)
    return matrices, random.normal(size=(BATCH, SIZE)) * 10.0 ** random.integers(-3, 4)


# One shape for all draws, so that JAX compiles each method once.
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("backend", ["numpy", "binary", "jax"])
@profile(8)
@given(seed=seeds)
def test_solutions_are_those_of_the_dense_solve(backend: str, method: str, seed: int) -> None:
    matrices, b = system(seed, method)
    solution = solve(tb.asarray(matrices, backend=backend), tb.asarray(b, backend=backend), method, rtol=1e-10)
    reference = numpy.linalg.solve(matrices, b[..., None])[..., 0]
    assert solution.converged.tolist() == [True] * BATCH
    assert solution.diverged.tolist() == [False] * BATCH
    numpy.testing.assert_allclose(numpy.asarray(solution.x), reference, rtol=1e-6, atol=1e-8 * numpy.abs(b).max())


@pytest.mark.parametrize("method", METHODS)
@profile(25)
@given(seed=seeds, rank=st.integers(0, SIZE), rtol=st.sampled_from([1e-4, 1e-8]))
def test_what_has_converged_has_a_small_residual(method: str, seed: int, rank: int, rtol: float) -> None:
    """Of matrices of any rank, regular or not: a flag may be false, but it is not wrong."""
    random = numpy.random.default_rng(seed)
    half = random.normal(size=(BATCH, SIZE, rank))
    other = half if method in HERMITIAN else random.normal(size=(BATCH, SIZE, rank))
    matrices, b = half @ other.swapaxes(1, 2), random.normal(size=(BATCH, SIZE))
    solution = solve(tb.asarray(matrices), tb.asarray(b), method, rtol=rtol, max_iterations=60)
    left = numpy.linalg.norm(b - (matrices @ numpy.asarray(solution.x)[..., None])[..., 0], axis=-1)
    small = left <= 20 * rtol * numpy.linalg.norm(b, axis=-1)
    if method == "lsqr":  # then the residual is orthogonal to all columns
        rest = (b - (matrices @ numpy.asarray(solution.x)[..., None])[..., 0])[..., None]
        normal = numpy.linalg.norm((matrices.swapaxes(1, 2) @ rest)[..., 0], axis=-1)
        sizes = numpy.linalg.norm(matrices, axis=(1, 2)) * numpy.linalg.norm(b, axis=-1)
        small |= normal <= 50 * rtol * sizes
    assert (small | ~numpy.asarray(solution.converged)).all()
    assert (~numpy.asarray(solution.diverged) | ~numpy.asarray(solution.converged)).all()


@pytest.mark.parametrize("method", METHODS)
@profile(6)
@given(seed=seeds)
def test_gradients_are_differences(method: str, seed: int) -> None:
    matrices, b = system(seed, method)
    b = b / numpy.abs(b).max()
    random = numpy.random.default_rng(seed + 1)
    along_a, along_b, weights = (random.normal(size=shape) for shape in (matrices.shape, b.shape, b.shape))
    if method in HERMITIAN:
        along_a = along_a + along_a.swapaxes(1, 2)

    def loss(a: Any, b: Any) -> Any:
        return tb.sum(tb.sin(solve(a, b, method, rtol=1e-13).x) * tb.asarray(weights))

    by_a, by_b = tb.grad(loss, (0, 1))(tb.asarray(matrices), tb.asarray(b))
    slope = numpy.sum(numpy.asarray(by_a) * along_a) + numpy.sum(numpy.asarray(by_b) * along_b)
    step = 1e-5
    high, low = (
        float(loss(tb.asarray(matrices + shift * along_a), tb.asarray(b + shift * along_b))) for shift in (step, -step)
    )
    numpy.testing.assert_allclose(slope, (high - low) / (2 * step), rtol=1e-5, atol=1e-7)
