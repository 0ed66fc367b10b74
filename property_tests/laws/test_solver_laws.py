"""Laws of the linear solvers on systems of any scale: true flags, residuals as promised, and gradients.

The systems are those on which Krylov methods end early, and ordinary ones. Solutions, residuals and
gradients are computed by NumPy in wider precision.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.solvers import Solution, solve
from tensorbackend.testing import profile

HERMITIAN = ["cg", "cg-adaptive"]
GENERAL = ["bicgstab", "bicgstab(2)", "bicgstab(4)", "gmres", "lsqr"]
METHODS = [*HERMITIAN, *GENERAL, "direct"]
DTYPES = ["float32", "float64", "complex64", "complex128"]
SIZES = [1, 2, 3, 5, 30]
EXPONENTS = {"float32": 30, "complex64": 30, "float64": 150, "complex128": 150}
"""Systems are multiplied by 10 to these powers."""

seeds = st.integers(0, 2**32 - 1)
Random = numpy.random.Generator


class Case(NamedTuple):
    """A system in wide precision, whose elements are exact in the dtype of the solve."""

    matrix: Any
    b: Any


def unitary(random: Random, size: int, complex_numbers: bool) -> Any:
    """Return a random unitary matrix."""
    draw = random.normal(size=(size, size))
    return numpy.linalg.qr(draw + 1j * random.normal(size=(size, size)) if complex_numbers else draw)[0]


def multiple(random: Random, size: int, complex_numbers: bool) -> Any:
    return random.uniform(0.3, 3) * numpy.eye(size)


def diagonal(random: Random, size: int, complex_numbers: bool) -> Any:
    return numpy.diag(random.uniform(0.5, 8, size))


def two_eigenvalues(random: Random, size: int, complex_numbers: bool) -> Any:
    vectors = unitary(random, size, complex_numbers)
    return (vectors * random.choice(random.uniform(0.5, 8, 2), size)) @ vectors.conj().T


def rank_one_more(random: Random, size: int, complex_numbers: bool) -> Any:
    v = unitary(random, size, complex_numbers)[:, :1]
    return numpy.eye(size) + 2 * v @ v.conj().T


def positive(random: Random, size: int, complex_numbers: bool) -> Any:
    vectors = unitary(random, size, complex_numbers)
    return (vectors * random.uniform(1, 5, size)) @ vectors.conj().T


def tridiagonal(random: Random, size: int, complex_numbers: bool) -> Any:
    return sum(numpy.diag(random.uniform(-1, 1, size - abs(k)) + 4 * (k == 0), k) for k in (-1, 0, 1) if size > abs(k))


def triangular(random: Random, size: int, complex_numbers: bool) -> Any:
    return numpy.tril(random.uniform(-1, 1, (size, size)) / size, -1) + numpy.diag(random.uniform(1, 4, size))


def general(random: Random, size: int, complex_numbers: bool) -> Any:
    draw = random.uniform(-1, 1, (size, size)) / size
    return draw + (1j * random.uniform(-1, 1, (size, size)) / size if complex_numbers else 0) + 2 * numpy.eye(size)


SYMMETRIC_KINDS = [multiple, diagonal, two_eigenvalues, rank_one_more, positive]
KINDS = [*SYMMETRIC_KINDS, tridiagonal, triangular, general]


def drawn(seed: int, method: str, dtype: str, size: int, scaled: bool = True) -> Case:
    """Return a well-conditioned system: its kind and its scales come from the seed."""
    random = numpy.random.default_rng(seed)
    complex_numbers = dtype.startswith("complex")
    kinds: Any = SYMMETRIC_KINDS if method in HERMITIAN else KINDS
    matrix = kinds[random.integers(len(kinds))](random, size, complex_numbers)
    b = random.normal(size=size).round(int(random.integers(1, 8)))
    b = b + 1j * random.normal(size=size) if complex_numbers else b
    if scaled:  # not so far apart that x is out of range
        most = EXPONENTS[dtype]
        of_matrix = int(random.integers(-most, most + 1))
        of_b = random.integers(max(-most, of_matrix - most), min(most, of_matrix + most) + 1)
        matrix, b = matrix * 10.0**of_matrix, b * 10.0**of_b
    if method in HERMITIAN:
        matrix = (matrix + matrix.conj().T) / 2
    return Case(matrix.astype(dtype), b.astype(dtype))


def operand(case: Case, kind: str, backend: str) -> Any:
    """Return the matrix of a system as the argument of a solver."""
    a = tb.asarray(case.matrix, backend=backend)
    if kind == "sparse":
        return tb.backend_copy(tb.sparse.from_dense(tb.asarray(case.matrix, backend="numpy")), backend)
    return (lambda x: tb.sum(a * x[..., None, :], axis=-1)) if kind == "function" else a


def norms(x: Any) -> Any:
    """Return the norms of vectors in extended precision, whose range is wide."""
    return numpy.sqrt(numpy.sum(numpy.abs(x.astype(numpy.clongdouble)) ** 2, axis=-1))


def residuals(case: Case, x: Any) -> Any:
    """Return b - A x in extended precision; several vectors are the rows of x and of b."""
    return case.b - x.astype(numpy.clongdouble) @ case.matrix.astype(numpy.clongdouble).T


def check_flags(solution: Solution, case: Case, rtol: float, most: int | None = None) -> None:
    """Check that each example has one of the three ends, and that what has converged has a residual as promised."""
    converged, diverged = numpy.asarray(solution.converged), numpy.asarray(solution.diverged)
    assert not (converged & diverged).any()
    ended = converged | diverged
    if most is not None:
        ended = ended | (numpy.asarray(solution.iterations) >= most)
    assert ended.all()
    x, eps = numpy.asarray(solution.x), numpy.finfo(case.matrix.dtype).eps
    left = norms(residuals(case, numpy.where(converged[..., None], x, 0)))
    row = norms(case.matrix.reshape(-1)) / numpy.sqrt(len(case.matrix))
    rounding = numpy.minimum(10 * eps * row * norms(x), eps**0.5 * norms(case.b))
    promised = numpy.maximum(rtol * norms(case.b), rounding)
    measuring = 4 * eps * row * norms(x)  # the library computes residuals in the dtype itself
    assert ((left <= promised + measuring) | ~converged).all()


def check_solution(solution: Solution, case: Case, rtol: float) -> None:
    """Check that a well-conditioned system has been solved."""
    check_flags(solution, case, rtol)
    assert numpy.asarray(solution.converged).all()
    unit = numpy.abs(case.matrix).max()
    x = numpy.linalg.solve((case.matrix / unit).astype("complex128"), (case.b / unit).astype("complex128").T).T
    far = norms(numpy.asarray(solution.x) - x.astype(numpy.clongdouble))
    eps = numpy.finfo(case.matrix.dtype).eps
    assert (far <= 100 * max(rtol, eps) * norms(x)).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("method", METHODS)
@profile(8)
@given(seed=seeds, size=st.sampled_from(SIZES), kind=st.sampled_from(["dense", "sparse", "function"]))
def test_a_system_of_any_scale_is_solved(method: str, dtype: str, seed: int, size: int, kind: str) -> None:
    case = drawn(seed, method, dtype, size)
    if method == "direct" and kind == "function":
        kind = "dense"
    rtol = 1e-5 if dtype in ("float32", "complex64") else 1e-9
    solution = solve(operand(case, kind, "numpy"), tb.asarray(case.b), method, rtol=rtol, restart=size)
    check_solution(solution, case, rtol)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("backend", "size"), [("binary", 3), ("jax", 5)])
@profile(2)
@given(seed=seeds)
def test_other_backends_solve_it_too(backend: str, size: int, method: str, seed: int) -> None:
    # One size and kind on JAX, so that it compiles each method once.
    case = drawn(seed, method, "float64", size)
    solution = solve(operand(case, "dense", backend), tb.asarray(case.b, backend=backend), method, restart=size)
    check_solution(solution, case, 1e-5)


@pytest.mark.parametrize("preconditioner", ["jacobi", "ilu"])
@pytest.mark.parametrize("method", [method for method in METHODS if method not in ("lsqr", "direct")])
@profile(5)
@given(
    seed=seeds, size=st.sampled_from(SIZES), dtype=st.sampled_from(DTYPES), kind=st.sampled_from(["dense", "sparse"])
)
def test_exact_preconditioners(method: str, preconditioner: str, seed: int, size: int, dtype: str, kind: str) -> None:
    """The inverse itself, by which one iteration solves the system: of diagonals, and of factors without fill-in."""
    random = numpy.random.default_rng(seed)
    choices: Any = {"jacobi": [diagonal], "ilu": [diagonal] if method in HERMITIAN else [tridiagonal, triangular]}
    matrix = choices[preconditioner][-1 if random.random() < 0.5 else 0](random, size, False)
    scale = 10.0 ** random.integers(-EXPONENTS[dtype], EXPONENTS[dtype] + 1)
    case = Case((matrix * scale).astype(dtype), (random.normal(size=size) * scale).astype(dtype))
    solution = solve(operand(case, kind, "numpy"), tb.asarray(case.b), method, preconditioner=preconditioner)
    check_solution(solution, case, 1e-5)
    assert int(solution.iterations) <= 2


@pytest.mark.parametrize("method", METHODS)
@profile(5)
@given(seed=seeds, size=st.sampled_from(SIZES), dtype=st.sampled_from(DTYPES))
def test_a_batch_of_easy_and_hard_examples(method: str, seed: int, size: int, dtype: str) -> None:
    random = numpy.random.default_rng(seed)
    case = drawn(seed, method, dtype, size, scaled=False)
    eigenvector = numpy.linalg.eig(case.matrix)[1][:, 0]
    if not dtype.startswith("complex"):
        eigenvector = eigenvector.real
    most = EXPONENTS[dtype]
    scales = 10.0 ** random.integers(-most, most + 1, (4, 1))
    rows = numpy.stack([case.b, 0 * case.b, eigenvector, random.normal(size=size)]) * scales
    case = Case(case.matrix, rows.astype(dtype))
    solution = solve(tb.asarray(case.matrix), tb.asarray(case.b), method, restart=size)
    check_solution(solution, case, 1e-5)
    assert (solution.iterations[1].item(), tb.max(tb.abs(solution.x[1])).item()) == (0, 0)


@pytest.mark.parametrize("method", METHODS)
@profile(8)
@given(seed=seeds, size=st.sampled_from(SIZES), dtype=st.sampled_from(["float32", "float64"]), rank=st.integers(0, 30))
def test_flags_are_true_whatever_the_matrix(method: str, seed: int, size: int, dtype: str, rank: int) -> None:
    """Of matrices of any rank: a solve that fails says so, in one of two ways."""
    random = numpy.random.default_rng(seed)
    half = random.normal(size=(size, min(rank, size)))
    other = half if method in HERMITIAN else random.normal(size=half.shape)
    case = Case((half @ other.T).astype(dtype), random.normal(size=(2, size)).astype(dtype))
    most = int(random.integers(0, 40))
    rtol = 10.0 ** random.integers(-12, -1)
    solution = solve(tb.asarray(case.matrix), tb.asarray(case.b), method, rtol=rtol, max_iterations=most, restart=5)
    if method != "lsqr":  # which converges without a small residual
        check_flags(solution, case, rtol, None if method == "direct" else most)
    x, residual = numpy.asarray(solution.x), numpy.asarray(solution.residual)
    finite = numpy.isfinite(residual).all(axis=-1)
    assert (numpy.asarray(solution.diverged) | finite).all()
    assert (numpy.isnan(x).all(axis=-1) | numpy.isfinite(x).all(axis=-1)).all()


@pytest.mark.parametrize("method", METHODS)
@profile(5)
@given(seed=seeds, size=st.sampled_from(SIZES), power=st.integers(-12, 12))
def test_an_absolute_tolerance_is_in_the_units_of_b(method: str, seed: int, size: int, power: int) -> None:
    case = drawn(seed, method, "float64", size, scaled=False)
    case = Case(case.matrix * 10.0**power, case.b * 10.0**-power)
    atol = 1e-3 * float(norms(case.b))
    solution = solve(tb.asarray(case.matrix), tb.asarray(case.b), method, rtol=0.0, atol=atol, restart=size)
    assert solution.converged.item()
    assert norms(residuals(case, numpy.asarray(solution.x))) <= atol * (1 + 1e-9)
    at_once = solve(tb.asarray(case.matrix), tb.asarray(case.b), method, rtol=0.0, atol=1e4 * atol, restart=size)
    assert at_once.converged.item()
    assert (at_once.iterations.item(), method == "direct" or not at_once.x.tolist()[0]) == (0, True)


@pytest.mark.parametrize("method", METHODS)
@profile(5)
@given(seed=seeds, size=st.sampled_from(SIZES), kind=st.sampled_from(["dense", "sparse", "function"]))
def test_gradients_are_solves_with_the_transpose(method: str, seed: int, size: int, kind: str) -> None:
    """The gradient of w . x is inv(A).T w with respect to b, and minus its outer product with x with respect to A."""
    case = drawn(seed, method, "float64", size)
    weights = numpy.random.default_rng(seed).normal(size=size).round(1)
    kind = "dense" if method == "direct" else kind
    unit = numpy.abs(case.matrix).max()
    of_b = numpy.linalg.solve(case.matrix.T / unit, weights) / unit

    def loss(a: Any, b: tb.Tensor) -> tb.Tensor:
        x = solve(a, b, method, rtol=1e-10, restart=size).x
        return tb.sum(x * tb.asarray(weights))

    a, b = operand(case, kind, "numpy"), tb.asarray(case.b)
    gradients = [
        tb.grad(loss, 1)(a, b),
        tb.jit(tb.grad(lambda b: loss(a, b)))(b),
        tb.vmap(tb.grad(lambda b: loss(a, b)))(b[None])[0],
    ]
    if kind == "dense":
        by_a, by_b = tb.grad(loss, (0, 1))(a, b)
        gradients.append(by_b)
        x = numpy.linalg.solve(case.matrix / unit, case.b / unit)
        numpy.testing.assert_allclose(
            numpy.asarray(by_a), -numpy.outer(of_b, x), atol=1e-7 * numpy.linalg.norm(of_b) * numpy.abs(x).max()
        )
    for gradient in gradients:
        assert norms(numpy.asarray(gradient) - of_b) <= 1e-7 * norms(of_b)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@profile(5)
@given(seed=seeds, size=st.sampled_from(SIZES))
def test_narrow_dtypes_are_solved_in_float32(dtype: str, method: str, seed: int, size: int) -> None:
    case = drawn(seed, method, "float32", size, scaled=False)
    a, b = tb.asarray(case.matrix, dtype=dtype), tb.asarray(case.b, dtype=dtype)
    exact = Case(numpy.asarray(tb.astype(a, "f64")), numpy.asarray(tb.astype(b, "f64")))
    solution = solve(a, b, method, restart=size)
    assert (solution.converged.item(), solution.x.dtype) == (True, a.dtype)
    x = numpy.linalg.solve(exact.matrix, exact.b)
    near = 1e-2 if dtype == "bfloat16" else 2e-3
    assert norms(numpy.asarray(tb.astype(solution.x, "f64")) - x) <= near * norms(x)
