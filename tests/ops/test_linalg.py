"""Linear algebra on each backend: products of factors, values, edge cases, dtypes. Property tests compare backends."""

import cmath
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.declarations.op_specs import OPS
from tensorbackend.errors import DTypeError

BACKENDS = ["binary", "numpy"]
INEXACT = ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
SHAPES = [(0, 0), (1, 1), (2, 2), (5, 5), (2, 4), (4, 2), (0, 3), (3, 0), (2, 3, 3), (0, 3, 3), (2, 1, 2, 3), (12, 12)]
SQUARE = [shape for shape in SHAPES if shape[-1] == shape[-2]]
KINDS = ["random", "zeros", "rank one", "identity", "large", "tiny"]

pytestmark = pytest.mark.parametrize("backend", BACKENDS)


def drawn(kind: str, shape: tuple[int, ...], dtype: str) -> Any:
    """Return an array of a kind in a dtype of NumPy, with numbers that narrow dtypes represent exactly."""
    random = np.random.default_rng(len(shape) + sum(shape))
    values: Any = random.integers(-16, 17, shape) / 8
    if dtype.startswith("complex"):
        values = values + 1j * random.integers(-16, 17, shape) / 8
    wide = dtype in ("float64", "complex128")
    if kind == "zeros":
        values = values * 0
    if kind == "rank one":
        values = np.round(values[..., :1]) * np.round(values[..., :1, :]) if values.size else values
    if kind == "identity":
        values = np.broadcast_to(np.eye(shape[-2], shape[-1]), shape) + 0 * values
    if kind == "large" and dtype not in ("float16", "bfloat16"):
        values = values * (1e290 if wide else 2.0**120)
    if kind == "tiny" and dtype not in ("float16", "bfloat16"):
        values = values * (1e-290 if wide else 2.0**-115)
    return values


def array(x: tb.Tensor) -> Any:
    """Return a tensor as a float64 or complex128 array."""
    return np.array(x.tolist(), "complex128" if x.dtype.is_complex else "float64").reshape(x.shape)


def adjoint(x: Any) -> Any:
    return np.conj(np.swapaxes(x, -1, -2))


def matrix(kind: str, shape: tuple[int, ...], dtype: str, backend: str) -> tuple[tb.Tensor, Any, float, float]:
    """Return a tensor, its values divided by their scale, that scale, and the tolerance for a product of factors."""
    x = tb.tensor(drawn(kind, shape, dtype), dtype=dtype, backend=backend)
    values = array(x)
    size = float(np.abs(values).max(initial=0)) or 1.0
    return x, values / size, size, 8 * max(*shape[-2:], 1) * tb.finfo(dtype).eps


def check_near(actual: Any, reference: Any, tolerance: float) -> None:
    assert actual.shape == reference.shape
    assert np.abs(actual - reference).max(initial=0) <= tolerance


def check_orthonormal(columns: Any, tolerance: float) -> None:
    check_near(adjoint(columns) @ columns, adjoint(columns) @ columns * 0 + np.eye(columns.shape[-1]), tolerance)


def cases(shapes: list[tuple[int, ...]]) -> list[Any]:
    """Return the kinds for each shape and dtype; empty arrays are all alike, and halves are never large or tiny."""
    return [
        pytest.param(kind, shape, dtype, id=f"{kind}-{'x'.join(map(str, shape))}-{dtype}")
        for kind, shape, dtype in itertools.product(KINDS, shapes, INEXACT)
        if kind == "random" or (0 not in shape and not (kind in ("large", "tiny") and dtype in ("float16", "bfloat16")))
    ]


@pytest.mark.parametrize(("kind", "shape", "dtype"), cases(SHAPES))
def test_factors_multiply_to_the_matrix(kind: str, shape: tuple[int, ...], dtype: str, backend: str) -> None:
    x, values, size, tolerance = matrix(kind, shape, dtype, backend)
    rank = min(shape[-2:])

    p, lower, upper = map(array, tb.linalg.lu(x))
    check_near(p @ lower @ (upper / size), values, tolerance)
    assert ((p == 0) | (p == 1)).all()
    assert (np.triu(lower, 1) == 0).all()
    assert (np.tril(upper, -1) == 0).all()
    assert (np.abs(lower) <= 1 + tolerance).all()

    for mode in ("reduced", "complete"):
        q, r = map(array, tb.linalg.qr(x, mode=mode))
        assert q.shape[-1] == (rank if mode == "reduced" else shape[-2])
        check_near(q @ (r / size), values, tolerance)
        check_orthonormal(q, tolerance)
        assert (np.tril(r, -1) == 0).all()
        diagonal = np.diagonal(r, 0, -2, -1)
        assert (diagonal.real >= 0).all()
        assert (diagonal.imag == 0).all()

    for full in (True, False):
        u, s, vh = map(array, tb.linalg.svd(x, full_matrices=full))
        assert u.shape[-1] == (shape[-2] if full else rank)
        assert vh.shape[-2] == (shape[-1] if full else rank)
        check_near((u[..., :rank] * (s / size)[..., None, :]) @ vh[..., :rank, :], values, tolerance)
        check_orthonormal(u, tolerance)
        check_orthonormal(adjoint(vh), tolerance)
        assert (np.diff(s, axis=-1) <= 0).all()
        assert (s >= 0).all()


@pytest.mark.parametrize(("kind", "shape", "dtype"), cases(SQUARE))
def test_eigenvectors(kind: str, shape: tuple[int, ...], dtype: str, backend: str) -> None:
    x, values, size, tolerance = matrix(kind, shape, dtype, backend)

    eigenvalues, vectors = map(array, tb.linalg.eigh(x))
    hermitian = np.tril(values, -1) + adjoint(np.tril(values, -1)) + values.real * np.eye(shape[-1])
    check_near((vectors * (eigenvalues / size)[..., None, :]) @ adjoint(vectors), hermitian, tolerance)
    check_orthonormal(vectors, tolerance)
    assert (np.diff(eigenvalues, axis=-1) >= 0).all()
    check_leading(vectors)

    result = tb.linalg.eig(x)
    assert all(tensor.dtype.is_complex for tensor in result)
    eigenvalues, vectors = map(array, result)
    check_near(values @ vectors, vectors * (eigenvalues / size)[..., None, :], tolerance)
    check_near(np.linalg.norm(vectors, axis=-2), np.ones(vectors.shape[:-2] + vectors.shape[-1:]), tolerance)
    check_leading(vectors)
    assert tb.linalg.eigvals(x).tolist() == result.eigenvalues.tolist()
    # LAPACK finds eigenvalues alone by another method.
    check_near(array(tb.linalg.eigvalsh(x)) / size, array(tb.linalg.eigh(x).eigenvalues) / size, tolerance)


def check_leading(vectors: Any) -> None:
    """Check that the first component whose size is largest, up to rounding, is real and positive."""
    if not vectors.size:
        return
    sizes = np.abs(vectors)
    first = np.argmax(sizes >= sizes.max(axis=-2, keepdims=True) * 0.9999, axis=-2)
    leading = np.take_along_axis(vectors, first[..., None, :], axis=-2)
    tie = (sizes >= sizes.max(axis=-2, keepdims=True) * 0.95).sum(axis=-2) > 1  # a tie in a narrow dtype
    assert (tie[..., None, :] | ((leading.real > 0) & (np.abs(leading.imag) < 1e-6))).all()


@pytest.mark.parametrize("dtype", INEXACT)
@pytest.mark.parametrize("shape", SQUARE)
def test_cholesky(shape: tuple[int, ...], dtype: str, backend: str) -> None:
    values = drawn("random", shape, dtype)
    positive = values @ adjoint(values) + np.eye(shape[-1])
    x = tb.tensor(positive, dtype=dtype, backend=backend)
    rounded, tolerance = array(x), 16 * max(shape) * tb.finfo(dtype).eps * float(np.abs(positive).max(initial=1))
    lower, upper = array(tb.linalg.cholesky(x)), array(tb.linalg.cholesky(x, upper=True))
    check_near(lower @ adjoint(lower), rounded, tolerance)
    check_near(adjoint(upper) @ upper, rounded, tolerance)
    assert (np.triu(lower, 1) == 0).all()
    assert (np.tril(upper, -1) == 0).all()
    halved = tb.tensor(np.tril(positive) + np.triu(np.full(shape, np.nan), 1), dtype=dtype, backend=backend)
    assert tb.linalg.cholesky(halved).tolist() == tb.linalg.cholesky(x).tolist()


def companion(*roots: complex) -> Any:
    """Return a matrix with these eigenvalues."""
    coefficients = np.poly(roots)
    return np.vstack((-coefficients[1:], np.eye(len(roots) - 1, len(roots)))) + 0j


HARD = {
    "cycle": np.roll(np.eye(6), 1, axis=0),  # cyclic permutations stall an unshifted QR iteration
    "Jordan": 2 * np.eye(5) + np.eye(5, k=1),
    "skew": np.array([[0.0, 1, 2], [-1, 0, 3], [-2, -3, 0]]),
    "rotation": np.array([[0.0, -1], [1, 0]]),
    "nilpotent": np.eye(4, k=1),
    "graded": np.diag(10.0 ** -np.arange(8)) + np.eye(8, k=1) * 1e-3,
    "companion": companion(1, 2, 3, 1j).round(6),
    "repeated": np.kron(np.eye(3), np.array([[1.0, 2], [2, 1]])),
}


@pytest.mark.parametrize("name", HARD)
def test_eigenvalues_of_hard_matrices(name: str, backend: str) -> None:
    x = tb.tensor(HARD[name], dtype="complex128" if HARD[name].dtype.kind == "c" else "float64", backend=backend)
    values, vectors = map(array, tb.linalg.eig(x))
    check_near(HARD[name] @ vectors, vectors * values, 1e-14 * max(1, np.abs(HARD[name]).max()) * len(HARD[name]))
    check_near(np.linalg.norm(vectors, axis=0), np.ones(len(values)), 1e-14)
    reference = np.linalg.eigvals(HARD[name])
    gap = np.abs(values[:, None] - reference)  # rounding moves eigenvalues of a defective matrix by a root of eps
    assert max(gap.min(axis=0).max(), gap.min(axis=1).max()) < 1e-2 if name in ("Jordan", "nilpotent") else 1e-12


def test_eigenvalues_are_in_one_order(backend: str) -> None:
    x = tb.tensor(np.roll(np.eye(4), 1, axis=0), dtype="float64", backend=backend)
    eigenvalues = array(tb.linalg.eigvals(x))
    check_near(eigenvalues, np.array([-1, -1j, 1j, 1]), 1e-14)
    blocks = np.kron(np.diag([3.0, -5, 1]), np.array([[0.0, 1], [-1, 0]]))  # the real parts are 0, up to rounding
    eigenvalues = array(tb.linalg.eigvals(tb.tensor(blocks + blocks.T * 0, dtype="float32", backend=backend)))
    check_near(eigenvalues, np.array([-5j, -3j, -1j, 1j, 3j, 5j]), 1e-5)


# Values


def test_values(backend: str) -> None:
    def tensor(value: Any) -> tb.Tensor:
        return tb.tensor(value, dtype="float64", backend=backend)

    x = tensor([[4.0, 3.0], [6.0, 3.0]])
    assert [factor.tolist() for factor in tb.linalg.lu(x)] == [
        [[0.0, 1.0], [1.0, 0.0]],
        [[1.0, 0.0], [2 / 3, 1.0]],
        [[6.0, 3.0], [0.0, 1.0]],
    ]
    assert tb.linalg.det(x).item() == pytest.approx(-6)
    sign, logarithm = tb.linalg.slogdet(x)
    assert sign.item() == -1.0
    assert logarithm.item() == pytest.approx(math.log(6))
    assert tb.linalg.slogdet(tensor([[1.0, 2.0], [2.0, 4.0]])).logabsdet.item() == -math.inf
    assert tb.linalg.det(tensor(np.zeros((0, 0)))).item() == 1.0
    assert tb.linalg.matrix_rank(tensor([[1.0, 2.0], [2.0, 4.0]])).item() == 1
    assert tb.linalg.matrix_rank(tensor([[1.0, 0.0], [0.0, 0.1]]), rtol=0.2).item() == 1
    assert tb.linalg.matrix_rank(tensor(np.stack([np.diag([1, 0.1])] * 2)), rtol=tensor([0.05, 0.2])).tolist() == [2, 1]
    assert tb.linalg.matrix_rank(tensor(np.zeros((2, 0, 3)))).tolist() == [0, 0]
    assert tb.linalg.matrix_power(x, 0).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    check_near(array(tb.linalg.matrix_power(x, -2)), np.linalg.matrix_power(array(x), -2), 1e-14)
    assert tb.linalg.trace(x, offset=1).item() == 3.0
    assert tb.linalg.trace(tb.tensor([[100, 0], [0, 100]], dtype="int8", backend=backend)).item() == 200
    assert tb.linalg.trace(tb.tensor([[100, 0], [0, 100]], dtype="int8", backend=backend), dtype="int8").item() == -56
    assert tb.linalg.cross(tensor([1, 2, 3]), tensor([[4, 5, 6]])).tolist() == [[-3.0, 6.0, -3.0]]


@pytest.mark.parametrize("count", [2, 3, 5, 6])
def test_determinants_have_the_sign_of_the_permutation(count: int, backend: str) -> None:
    default = OPS["det"].function  # the composite's default, which these backends override
    orders = list(itertools.permutations(range(count)))[:: max(1, math.factorial(count) // 24)]
    stack = np.eye(count)[np.array(orders)]
    for dtype in ("float32", "complex64"):
        x = tb.tensor(stack, dtype=dtype, backend=backend)
        expected_signs = np.round(np.linalg.det(stack)).tolist()
        for signs in (tb.linalg.det(x), default(x), tb.linalg.slogdet(x).sign):
            assert np.array(signs.tolist()).real.tolist() == expected_signs


@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3)])
@pytest.mark.parametrize("right", [(3,), (3, 2), (1, 3, 2), (2, 3, 2)])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_solutions(shape: tuple[int, ...], right: tuple[int, ...], dtype: str, backend: str) -> None:
    a, b = drawn("random", shape, dtype) + 6 * np.eye(3)[::-1], drawn("random", right, dtype)
    x1, x2 = (tb.tensor(operand, dtype=dtype, backend=backend) for operand in (a, b))
    expected_solution = np.linalg.solve(a, b)
    check_near(array(tb.linalg.solve(x1, x2)), expected_solution, 1e-14)
    check_near(array(OPS["solve"].function(x1, x2)), expected_solution, 1e-14)
    check_near(array(tb.linalg.lstsq(x1, x2).solution), expected_solution, 1e-13)
    check_near(array(tb.linalg.inv(x1)), np.linalg.inv(a), 1e-14)
    check_near(array(tb.linalg.pinv(x1)), np.linalg.pinv(a), 1e-13)
    for lower, transform in itertools.product((True, False), ("none", "transpose")):
        triangle = np.tril(a + 9 * np.eye(3)) if lower else np.triu(a + 9 * np.eye(3))
        left = np.swapaxes(triangle, -1, -2) if transform == "transpose" else triangle
        x1 = tb.tensor(triangle, dtype=dtype, backend=backend)
        solution = tb.linalg.triangular_solve(x1, x2, lower=lower, transform=transform)  # type: ignore[arg-type]
        check_near(array(solution), np.linalg.solve(left, b), 1e-14)
        across = b if b.ndim == 1 else np.swapaxes(b, -1, -2)
        solution = tb.linalg.triangular_solve(
            x1,
            tb.tensor(across, dtype=dtype, backend=backend),
            left_side=False,
            lower=lower,
            transform=transform,  # type: ignore[arg-type] # both are transforms
        )
        expected_across = np.linalg.solve(np.swapaxes(left, -1, -2), b)
        check_near(array(solution), expected_across if b.ndim == 1 else np.swapaxes(expected_across, -1, -2), 1e-14)


@pytest.mark.parametrize("shape", [(5, 2), (2, 5), (3, 3), (2, 4, 3), (3, 0), (0, 3)])
def test_least_squares(shape: tuple[int, ...], backend: str) -> None:
    a = drawn("random", shape, "float64")
    b = drawn("random", (*shape[:-1], 2), "float64")
    fit = tb.linalg.lstsq(*(tb.tensor(operand, dtype="float64", backend=backend) for operand in (a, b)))
    solution = array(fit.solution)
    check_near(solution, np.linalg.pinv(a) @ b, 1e-13)
    check_near(array(fit.residuals), ((a @ solution - b) ** 2).sum(axis=-2), 1e-13)
    assert np.array_equal(fit.rank, np.linalg.matrix_rank(a) if a.size else 0)
    check_near(array(fit.singular_values), np.linalg.svd(a, compute_uv=False), 1e-13)


@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (3, 3), (2, 3, 2)])
def test_pseudo_inverses_of_what_has_none(shape: tuple[int, ...], backend: str) -> None:
    a = drawn("rank one", shape, "complex128")
    inverse = array(tb.linalg.pinv(tb.tensor(a, dtype="complex128", backend=backend)))
    check_near(a @ inverse @ a, a, 1e-13)  # the four Penrose conditions
    check_near(inverse @ a @ inverse, inverse, 1e-13)
    check_near(adjoint(a @ inverse), a @ inverse, 1e-13)
    check_near(adjoint(inverse @ a), inverse @ a, 1e-13)


ORDERS: list[Any] = ["fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf]


@pytest.mark.parametrize("dtype", ["float64", "complex128", "int32"])
@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (2, 3, 2)])
def test_norms(shape: tuple[int, ...], dtype: str, backend: str) -> None:
    values = drawn("random", shape, dtype) if dtype != "int32" else np.arange(math.prod(shape)).reshape(shape) - 3
    with tb.precision(64):
        x = tb.tensor(values, dtype=dtype, backend=backend)
        for order in ORDERS:
            expected_norms: Any = np.linalg.matrix_norm(values, ord=order)
            check_near(array(tb.linalg.matrix_norm(x, ord=order)), expected_norms, 1e-12)
            kept = tb.linalg.matrix_norm(x, ord=order, keepdims=True)
            check_near(array(kept), expected_norms[..., None, None], 1e-12)
            turned = tb.linalg.norm(x, axis=(-1, -2), ord=order)
            check_near(array(turned), np.linalg.norm(values, axis=(-1, -2), ord=order), 1e-12)
        axes: list[Any] = [0, -1, None, (0, 1)]
        for order, axis in itertools.product([0, 1, 2, 3, -1, 0.5, math.inf, -math.inf], axes):
            with np.errstate(divide="ignore"):
                expected_norms = np.linalg.vector_norm(values, ord=order, axis=axis, keepdims=True)
            norms = array(tb.linalg.vector_norm(x, ord=order, axis=axis, keepdims=True))
            assert norms == pytest.approx(expected_norms)
        assert tb.linalg.norm(x).item() == pytest.approx(np.linalg.norm(values.reshape(-1)))


def test_norms_do_not_overflow(backend: str) -> None:
    x = tb.tensor([3e38, 4e37], dtype="float32", backend=backend)
    assert tb.linalg.vector_norm(x).item() == pytest.approx(3.0265492e38)
    assert tb.linalg.vector_norm(tb.tensor([3e-40, 4e-40], dtype="f64", backend=backend)).item() == pytest.approx(5e-40)
    half = tb.tensor([[300.0] * 4] * 4, dtype="float16", backend=backend)
    assert tb.linalg.matrix_norm(half).item() == 1200.0
    assert tb.linalg.vector_norm(tb.tensor([math.inf, 1.0], backend=backend)).item() == math.inf
    assert np.isnan(array(tb.linalg.vector_norm(tb.tensor([math.nan, math.inf], backend=backend))))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("order", "values", "expected_norm"),
    [(3.2e-260, [3.0, 4.0], math.inf), (3.2e-260, [0.0, -4.0], 4.0), (5e-324, [3.0, 4.0], math.inf),
     (-3.2e-260, [3.0, 4.0], 0.0), (-3.2e-260, [0.0, 4.0], 0.0), (-3.2e-260, [4.0], 4.0), (1e300, [3.0, -4.0], 4.0),
     (-1e300, [3.0, -4.0], 3.0), (-1000, [3.0, 4.0], 3.0), (-1000, [3.0, 0.0], 0.0), (-2, [math.inf, 4.0], 4.0),
     (-2, [math.inf], math.inf), (0.5, [0.0, 0.0], 0.0)],
)  # fmt: skip
def test_norms_of_any_order(order: float, values: list[float], expected_norm: float, dtype: str, backend: str) -> None:
    x = tb.tensor(values, dtype=dtype, backend=backend)
    assert tb.linalg.vector_norm(x, ord=order).item() == pytest.approx(expected_norm)
    unknown = tb.tensor([*values, math.nan], dtype=dtype, backend=backend)
    assert math.isnan(float(tb.linalg.vector_norm(unknown, ord=order)))


@pytest.mark.parametrize("order", [*ORDERS[:3], 2, math.inf])
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_norms_of_nothing(shape: tuple[int, int], order: Any, backend: str) -> None:
    assert tb.linalg.matrix_norm(tb.zeros(shape, backend=backend), ord=order).item() == 0.0
    assert tb.linalg.vector_norm(tb.zeros(0, backend=backend)).item() == 0.0


def taylor(x: Any) -> Any:
    """Return the exponential by its Taylor series, with scaling and squaring."""
    halvings = max(0, math.ceil(math.log2(np.abs(x).sum(axis=0).max() + 1e-300))) + 3
    term = total = np.eye(len(x), dtype=np.result_type(x, np.longdouble))
    for k in range(1, 40):
        term = term @ (x / 2.0**halvings) / k
        total = total + term
    for _ in range(halvings):
        total = total @ total
    return total


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("size", [0.0, 0.01, 0.3, 1.0, 3.9, 5.4, 20.0, 100.0])
def test_exponentials(size: float, dtype: str, backend: str) -> None:
    values = drawn("random", (4, 4), dtype)
    values = values - 3 * np.eye(4)  # shifted so that the exponential of a large multiple is finite
    scaled = values * (min(size, 5.0 if "16" in dtype else 1e9) / np.abs(values).sum(axis=0).max())
    x = tb.tensor(scaled, dtype=dtype, backend=backend)
    exponential, reference = array(tb.linalg.expm(x)), taylor(array(x))
    assert np.abs(exponential - reference).max() <= (16 + 8 * size) * tb.finfo(dtype).eps * max(
        np.abs(reference).max(), 1e-30
    )


def test_exponentials_known_by_heart(backend: str) -> None:
    angle = 2.0
    turn = tb.tensor([[[0.0, -angle], [angle, 0.0]], [[0.0, 1e4], [0.0, 0.0]]], dtype="float64", backend=backend)
    first, second = array(tb.linalg.expm(turn))
    check_near(first, np.array([[math.cos(2), -math.sin(2)], [math.sin(2), math.cos(2)]]), 1e-15)
    check_near(second, np.array([[1.0, 1e4], [0.0, 1.0]]), 1e-8)
    assert tb.linalg.expm(tb.zeros((0, 0), backend=backend)).shape == (0, 0)
    beyond = tb.tensor([[-1e7, 0.0], [0.0, 1.0]], backend=backend)
    assert np.isnan(array(tb.linalg.expm(beyond))).all()


# Edge cases


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize(
    "name", ["lu", "qr", "eigh", "eig", "svd", "det", "slogdet", "inv", "pinv", "expm", "svdvals", "eigvalsh"]
)
def test_what_is_not_finite_gives_nan_for_its_matrix_alone(name: str, value: float, backend: str) -> None:
    values = np.stack([np.eye(3) * 2, np.eye(3), np.eye(3) * 3])
    values[1, 2, 0] = value
    function = getattr(tb.linalg, name)
    result = function(tb.tensor(values, backend=backend))
    alone = function(tb.tensor(values[::2], backend=backend))
    for part, fine in zip(*([x] if isinstance(x, tb.Tensor) else x for x in (result, alone)), strict=True):
        bad = array(part)
        assert np.isnan(bad[1]).all()
        check_near(bad[::2], array(fine), 1e-6)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_the_sign_of_a_complex_determinant_that_is_not_finite(backend: str, dtype: str) -> None:
    x = tb.tensor([[complex(math.nan, 0), 0j], [0j, 20 + 0j]], dtype=dtype, backend=backend)
    sign, logarithm = tb.linalg.slogdet(x)
    assert (sign.dtype, logarithm.dtype) == (x.dtype, tb.abs(x).dtype)
    assert cmath.isnan(sign.item())
    assert math.isnan(sign.item().imag)  # as `tb.sign` gives for any complex NaN
    assert math.isnan(float(tb.abs(logarithm)))


def test_not_finite_systems(backend: str) -> None:
    a = tb.tensor([[math.nan, 0.0], [0.0, 1.0]], backend=backend)
    b = tb.tensor([1.0, 1.0], backend=backend)
    assert all(map(math.isnan, tb.linalg.solve(a, b).tolist()))
    assert all(map(math.isnan, OPS["solve"].function(a, b).tolist()))
    assert math.isnan(OPS["det"].function(a).item())
    solution = tb.linalg.solve(tb.eye(2, backend=backend), tb.tensor([math.nan, 1.0], backend=backend))
    assert math.isnan(solution.tolist()[0])


CALLS: dict[str, Callable[[tb.Tensor], Any]] = {
    **{name: getattr(tb.linalg, name) for name in
       ["cholesky", "lu", "qr", "eigh", "eig", "svd", "det", "slogdet", "inv", "pinv", "svdvals", "eigvalsh", "eigvals",
        "matrix_rank", "matrix_norm", "vector_norm", "norm", "expm", "diagonal", "trace", "adjoint"]},
    "solve": lambda x: tb.linalg.solve(x, x),
    "triangular_solve": lambda x: tb.linalg.triangular_solve(x, x),
    "lstsq": lambda x: tb.linalg.lstsq(x, x),
    "matrix_power": lambda x: tb.linalg.matrix_power(x, 3),
    "cross": lambda x: tb.linalg.cross(x, x),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_dtypes(name: str, backend: str) -> None:
    values = np.array([[4, 1, 0], [1, 5, 1], [0, 1, 6]])
    for dtype in ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", *INEXACT]:
        x = tb.tensor(values, dtype=dtype, backend=backend)
        result = CALLS[name](x)
        parts = [result] if isinstance(result, tb.Tensor) else list(result)
        if name in ("diagonal", "adjoint", "cross", "matrix_power"):
            allowed_dtypes = {dtype}
        elif name == "trace":
            allowed_dtypes = {"uint64" if dtype[0] == "u" else "int64" if dtype[0] == "i" else dtype}
        else:
            wide = dtype if x.dtype.is_inexact else "float32"
            part = {"complex64": "float32", "complex128": "float64"}.get(wide, wide)
            across = "complex128" if wide in ("float64", "complex128") else "complex64"
            allowed_dtypes = (
                {"int64"} if name == "matrix_rank" else {across} if name in ("eig", "eigvals") else {wide, part}
            )
            if name == "lstsq":
                allowed_dtypes.add("int64")
        assert {str(tensor.dtype) for tensor in parts} <= allowed_dtypes
        reference = CALLS[name](tb.tensor(values, dtype="float64", backend="binary"))
        for one, other in zip(parts, [reference] if isinstance(reference, tb.Tensor) else reference, strict=True):
            limit = 32 * (tb.finfo(one.dtype).eps if one.dtype.is_inexact else 0)
            if not x.dtype.is_inexact and name in ("cross", "adjoint", "diagonal", "trace", "matrix_power"):
                continue  # exact, but they may overflow; the property tests compare them
            check_near(array(one), array(other), limit * max(1.0, np.abs(array(other)).max()))
    if name not in ("diagonal", "trace", "adjoint"):
        with pytest.raises(DTypeError, match=f"^{name}: expected a numeric dtype, got dtype=bool"):
            CALLS[name](tb.tensor(values > 0, backend=backend))


def test_large_matrices_go_by_blocks(backend: str) -> None:
    size = 70 if backend == "numpy" else 34
    values = np.random.default_rng(0).standard_normal((2, size, size))
    x = tb.tensor(values, backend=backend, dtype="float64")
    p, lower, upper = map(array, tb.linalg.lu(x))
    check_near(p @ lower @ upper, values, 1e-13)
    for is_lower in (True, False):
        triangle = np.tril(values) if is_lower else np.triu(values)
        triangle = triangle / 20 + np.eye(size) * 2
        solution = tb.linalg.triangular_solve(tb.tensor(triangle, dtype="float64", backend=backend), x, lower=is_lower)
        check_near(triangle @ array(solution), values, 1e-13)
