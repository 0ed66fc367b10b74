"""Linear algebra on each backend: values, solutions, edge cases, dtypes. Property tests compare backends."""

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

from .matrices import adjoint, array, check_near, drawn

BACKENDS = ["binary", "numpy"]
INEXACT = ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]

pytestmark = pytest.mark.parametrize("backend", BACKENDS)


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
