"""Linear algebra on each backend: axis names, error messages, the Array API's signatures."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, DataError, DTypeError, NamesError, ShapeError, TensorBackendError

pytestmark = pytest.mark.parametrize("backend", ["binary", "numpy"])


def test_names(backend: str) -> None:
    x = tb.tensor(np.stack([np.eye(2) * 2] * 3), names=("batch", "n", "m"), backend=backend)
    linalg = tb.linalg
    assert [factor.names for factor in linalg.lu(x)] == [
        ("batch", "n", None),
        ("batch", None, None),
        ("batch", None, "m"),
    ]
    assert [factor.names for factor in linalg.qr(x)] == [("batch", "n", None), ("batch", None, "m")]
    assert [factor.names for factor in linalg.svd(x)] == [("batch", "n", None), ("batch", None), ("batch", None, "m")]
    assert [tensor.names for tensor in linalg.eigh(x)] == [("batch", None), ("batch", "n", None)]
    assert [tensor.names for tensor in linalg.eig(x)] == [("batch", None), ("batch", "n", None)]
    assert linalg.cholesky(x).names == ("batch", "n", None)
    assert linalg.cholesky(x, upper=True).names == ("batch", None, "m")
    assert linalg.inv(x).names == linalg.pinv(x).names == ("batch", "m", "n")
    assert linalg.matrix_power(x, 2).names == linalg.matrix_power(x, 0).names == linalg.expm(x).names == x.names
    assert linalg.matrix_power(x, -1).names == ("batch", "m", "n")
    assert linalg.det(x).names == linalg.slogdet(x).sign.names == linalg.matrix_rank(x).names == ("batch",)
    assert linalg.matrix_norm(x).names == linalg.trace(x).names == ("batch",)
    assert linalg.matrix_norm(x, ord=2, keepdims=True).names == x.names
    assert linalg.norm(x, axis=("m", "batch"), ord="nuc", keepdims=True).names == x.names
    assert linalg.norm(x, axis=("m", "batch"), ord=1).names == ("n",)
    assert linalg.vector_norm(x, axis="n").names == ("batch", "m")
    assert linalg.diagonal(x).names == tb.take_diagonal(x).names == ("batch", "n")
    right = tb.tensor(np.ones((2, 4)), names=("n", "k"), backend=backend)
    assert linalg.solve(x, right).names == ("batch", "m", "k")
    assert linalg.solve(x, right[:, 0]).names == ("batch", "m")
    assert linalg.triangular_solve(x, right).names == ("batch", "m", "k")
    assert linalg.triangular_solve(x, right[:, 0]).names == ("batch", "m")
    assert linalg.triangular_solve(x, right.rename("m", "k"), transform="transpose").names == ("batch", "n", "k")
    assert linalg.triangular_solve(x, right.T.rename("k", "m"), left_side=False).names == ("batch", "k", "n")
    assert [tensor.names for tensor in linalg.lstsq(x, right)] == [
        ("batch", "m", "k"), ("batch", "k"), ("batch",), ("batch", None)
    ]  # fmt: skip
    vectors = tb.tensor(np.ones((3, 5)), names=("space", "point"), backend=backend)
    assert linalg.cross(vectors, vectors, axis="space").names == ("space", "point")


ZEROS = tb.zeros((2, 2), names=("n", "m"), backend="binary")
WRONG: list[tuple[Callable[[tb.Tensor], Any], type[TensorBackendError], str]] = [
    (lambda x: tb.linalg.det(x[:1]), ShapeError,
     "det: expected a square matrix, or a stack of them, got tensor=f32[n: 1][m: 2]"),
    (lambda x: tb.linalg.inv(x[0]), ShapeError,
     "inv: expected a matrix, or a stack of them, got tensor=f32[m: 2]; reshape() it to two axes"),
    (lambda x: tb.linalg.pinv(x[0]), ShapeError,
     "pinv: expected a matrix, or a stack of them, got tensor=f32[m: 2]; reshape() it to two axes"),
    (lambda x: tb.linalg.cholesky(x[:1]), ShapeError,
     "cholesky: expected a square matrix, or a stack of them, got tensor=f32[n: 1][m: 2]"),
    (lambda x: tb.linalg.solve(x, x[:1]), ShapeError,
     "solve: expected 2 equations on the right-hand side, got matrix=f32[n: 2][m: 2], right=f32[n: 1][m: 2]"),
    (lambda x: tb.linalg.solve(x, x[0, 0]), ShapeError,
     "solve: expected a vector or matrices on the right-hand side, got tensor=f32"),
    (lambda x: tb.linalg.solve(x, x.T), NamesError,
     "solve: expected the same name or None for matching axes, got left=f32[n: 2][m: 2], right=f32[m: 2][n: 2]; "
     "rename() one of them, or transpose it"),
    (lambda x: tb.linalg.inv(x), DataError,
     "inv of f32[n: 2][m: 2]: expected a matrix that is not singular"),
    (lambda x: tb.linalg.solve(x, x[:, 0]), DataError,
     "solve of f32[n: 2][m: 2], f32[n: 2]: expected a matrix that is not singular"),
    (lambda x: tb.linalg.triangular_solve(x, x[:, 0]), DataError,
     "triangular_solve of f32[n: 2][m: 2], f32[n: 2][1]: expected a matrix that is not singular"),
    (lambda x: tb.linalg.matrix_power(x, -1), DataError,
     "matrix_power of f32[n: 2][m: 2]: expected a matrix that is not singular"),
    (lambda x: tb.linalg.cholesky(x), DataError,
     "cholesky of f32[n: 2][m: 2]: expected a positive definite matrix; "
     "add a small multiple of eye() to one that is nearly singular"),
    (lambda x: tb.linalg.cholesky(x + math.nan), DataError,
     "cholesky of f32[n: 2][m: 2]: expected a positive definite matrix; "
     "add a small multiple of eye() to one that is nearly singular"),
    (lambda x: tb.linalg.cholesky(x - 1), DataError,
     "cholesky of f32[n: 2][m: 2]: expected a positive definite matrix; "
     "add a small multiple of eye() to one that is nearly singular"),
    (lambda x: tb.linalg.qr(x, mode="r"), ArgumentError,  # type: ignore[arg-type]
     "qr: expected mode to be 'reduced' or 'complete', got mode='r'"),
    (lambda x: tb.linalg.triangular_solve(x, x, transform="adjoint"), ArgumentError,  # type: ignore[arg-type]
     "triangular_solve: expected transform to be 'none' or 'transpose', got transform='adjoint'"),
    (lambda x: tb.linalg.matrix_norm(x, ord=3), ArgumentError,
     "matrix_norm: expected ord of a matrix norm to be 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, got ord=3"),
    (lambda x: tb.linalg.vector_norm(x, ord="fro"), ArgumentError,  # type: ignore[arg-type]
     "vector_norm: expected a number as ord of a vector norm, got ord='fro'"),
    (lambda x: tb.linalg.norm(x[None], ord=1), ArgumentError,
     "norm: expected a vector or a matrix for a norm with ord, got tensor=f32[1][n: 2][m: 2], ord=1; "
     "pass one axis or two"),
    (lambda x: tb.linalg.matrix_norm(x[:0], ord=-2), ShapeError,
     "matrix_norm: expected at least one element for a norm that is a minimum, got shape=(0,), axes=(0,)"),
    (lambda x: tb.linalg.matrix_power(x, 0.5), ArgumentError,  # type: ignore[arg-type]
     "matrix_power: expected an int as n, got n=0.5"),
    (lambda x: tb.linalg.cross(x, x), ShapeError,
     "cross: expected vectors of 3 components, got left=f32[n: 2][m: 2], right=f32[n: 2][m: 2], axis=-1"),
    (lambda x: tb.linalg.eigh(tb.astype(x, "bool")), DTypeError,
     "eigh: expected a numeric dtype, got dtype=bool; cast it with astype()"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "error", "text"), WRONG)
def test_errors(function: Callable[[tb.Tensor], Any], error: type[Exception], text: str, backend: str) -> None:
    with pytest.raises(error) as caught:
        function(ZEROS.backend_copy(backend))
    assert str(caught.value) == text
    if error is not DataError:  # the dry run raises it too
        with pytest.raises(error) as caught:
            function(ZEROS.backend_copy("template"))
        assert str(caught.value) == text


def test_one_singular_matrix_of_a_stack_is_enough(backend: str) -> None:
    values = np.stack([np.eye(2), np.ones((2, 2))])
    with pytest.raises(DataError, match="not singular"):
        tb.linalg.inv(tb.tensor(values, backend=backend))


SIGNATURES = {  # of the Array API standard 2025.12, and after its options NumPy's
    "cholesky": "(x, /, *, upper)", "cross": "(x1, x2, /, *, axis)", "det": "(x, /)", "diagonal": "(x, /, *, offset)",
    "eig": "(x, /)", "eigh": "(x, /)", "eigvals": "(x, /)", "eigvalsh": "(x, /)", "inv": "(x, /)",
    "matmul": "(x1, x2, /)", "matrix_norm": "(x, /, *, keepdims, ord)", "matrix_power": "(x, n, /)",
    "matrix_rank": "(x, /, *, rtol)", "matrix_transpose": "(x, /)", "outer": "(x1, x2, /)",
    "pinv": "(x, /, *, rtol, hermitian)", "qr": "(x, /, *, mode)", "slogdet": "(x, /)", "solve": "(x1, x2, /)",
    "svd": "(x, /, *, full_matrices)", "svdvals": "(x, /)", "tensordot": "(x1, x2, /, *, axes)",
    "trace": "(x, /, *, offset, dtype, axis1, axis2)", "vecdot": "(x1, x2, /, *, axis)",
    "vector_norm": "(x, /, *, axis, keepdims, ord)",
}  # fmt: skip


def test_the_standards_signatures(backend: str) -> None:
    from inspect import Parameter, Signature, signature

    for name, expected_signature in SIGNATURES.items():
        our_signature = signature(getattr(tb.linalg, name))
        plain = [Parameter(parameter.name, parameter.kind) for parameter in our_signature.parameters.values()]
        assert str(Signature(plain)) == expected_signature, name
    x = tb.eye(2, backend=backend)
    fields = {"qr": ("Q", "R"), "svd": ("U", "S", "Vh"), "slogdet": ("sign", "logabsdet"),
              "eigh": ("eigenvalues", "eigenvectors"), "eig": ("eigenvalues", "eigenvectors")}  # fmt: skip
    for name, expected_fields in fields.items():
        assert getattr(tb.linalg, name)(x)._fields == expected_fields
