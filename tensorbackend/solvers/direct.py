"""Direct solves: by the factors of a dense matrix on any backend, by SciPy's factors of a sparse matrix on the host."""

from __future__ import annotations

from collections import OrderedDict
from hashlib import blake2b
from math import prod
from typing import Any, Final

import numpy

from ..caching import module_lock
from ..errors import UnsupportedOp, expected
from ..expr.hooks import host_call
from ..expr.trees import unflatten
from ..ops.composite.contraction import matmul
from ..ops.creation.filled import eye
from ..ops.elementwise.basic import where
from ..ops.elementwise.binary import logical_and
from ..ops.linalg import lu, triangular_solve
from ..ops.shape import matrix_transpose
from ..tensor import Tensor
from .linear import Linear, Sparse, TransposedForm

KEPT_FACTORISATIONS: Final = 16
"""The number of factorisations of sparse matrices that are kept."""

_NAN = float("nan")


def direct(function: Linear, b: Tensor) -> Tensor:
    """The solution for vectors b, NaN if the matrix is singular."""
    form, parts = function.form, function.parts
    transposed = isinstance(form, TransposedForm)
    if isinstance(form, TransposedForm):
        form = form.form
    if isinstance(form, Sparse):
        return _sparse(unflatten(form.tree, parts), b, transposed)
    (matrix,) = parts
    return eliminate(matrix_transpose(matrix) if transposed else matrix, b)


def eliminate(matrix: Tensor, b: Tensor) -> Tensor:
    """The solution of dense systems for vectors b, NaN where a matrix is singular."""
    permutation, lower, upper = lu(matrix)
    identity = eye(matrix.shape[-1], dtype="bool", backend=matrix.backend)
    empty = where(identity, upper, 0).sum(axis=-1) == 0
    upper = where(logical_and(identity, empty[..., None, :]), 1, upper)
    half = triangular_solve(lower, matmul(matrix_transpose(permutation), b[..., None]), unit_diagonal=True)
    x = triangular_solve(upper, half, lower=False)[..., 0]
    return where(empty.any(axis=-1, keepdims=True), _NAN, x)


def _sparse(matrix: Any, b: Tensor, transposed: bool) -> Tensor:
    """Solves by SuperLU. Its factors are cached by the content of the matrix, and are used for the transpose too."""
    return host_call(_solve_on_host, b, matrix, b, transposed)


_factors: OrderedDict[bytes, Any] = OrderedDict()
_lock = module_lock(__name__)


def _solve_on_host(matrix: Any, b: Any, transposed: bool) -> Any:
    """The solution as an array; the matrices of a batch are solved one after the other."""
    parts = matrix.values, matrix.first, matrix.second
    if all(x.ndim == 1 for x in parts):
        return _solve_by_factors(matrix, parts, b.reshape(prod(b.shape[:-1]), b.shape[-1]).T, transposed).T.reshape(
            b.shape
        )
    batch = b.shape[:-1]
    solutions = numpy.empty_like(b)
    for place in numpy.ndindex(*batch):
        example_parts = tuple(x if x.ndim == 1 else numpy.broadcast_to(x, (*batch, x.shape[-1]))[place] for x in parts)
        solutions[place] = _solve_by_factors(matrix, example_parts, b[place], transposed)
    return solutions


def _solve_by_factors(matrix: Any, parts: tuple[Any, ...], b: Any, transposed: bool) -> Any:
    """The solution by factors, which are computed unless they are cached from an earlier solve."""
    dtype = parts[0].dtype
    digest = blake2b(repr((matrix.format, matrix.matrix_size, dtype)).encode(), digest_size=16)
    for array in parts:
        digest.update(numpy.ascontiguousarray(array).data)
    key = digest.digest()
    with _lock:
        factors = _factors.pop(key, None)
    if factors is None:
        factors = _factorise(matrix, *parts)
    with _lock:
        _factors[key] = factors
        if len(_factors) > KEPT_FACTORISATIONS:
            _factors.popitem(last=False)
    if isinstance(factors, str):  # singular
        return numpy.full_like(b, _NAN)
    return factors.solve(
        numpy.ascontiguousarray(b, numpy.result_type(dtype, numpy.float32)), "T" if transposed else "N"
    )


def _factorise(matrix: Any, values: Any, first: Any, second: Any) -> Any:
    try:
        from scipy import sparse
        from scipy.sparse.linalg import splu
    except ImportError:
        expectation = "SciPy for a direct solve with a sparse matrix"
        remedy = "pip install scipy, or choose another method"
        raise UnsupportedOp(expected(expectation, remedy), values.dtype.name) from None
    wide = values.astype(numpy.result_type(values.dtype, numpy.float32))
    if matrix.format == "coo":
        host_matrix = sparse.coo_matrix((wide, (first, second)), shape=matrix.matrix_size)
    else:
        kind = sparse.csr_matrix if matrix.format == "csr" else sparse.csc_matrix
        host_matrix = kind((wide, second, first), shape=matrix.matrix_size)
    columns = host_matrix.tocsc()
    columns.sum_duplicates()
    try:
        return splu(columns)
    except RuntimeError:  # "Factor is exactly singular"
        return "singular"
