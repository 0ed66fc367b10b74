"""Gradients of products and systems with a sparse matrix."""

from __future__ import annotations

from ....ops.composite.linalg.sparse import Format, places, sparse_matmul, sparse_matvec
from ....ops.elementwise.basic import negative, where
from ....ops.elementwise.binary import equal, greater, less, multiply
from ....ops.indexing.taking import take_along_axis_at, take_at
from ....ops.reduction import sum
from ....ops.shape import broadcast_shapes, broadcast_to, expand_dims
from ....tensor import Tensor
from ...substitution import substitute
from ..registry import Cotangents, rule


def _entries(x: Tensor, at: Tensor) -> Tensor:
    """The rows of x (..., n, k) at indices (m,), or (..., m) with batch axes; the result is (..., m, k)."""
    if at.ndim == 1:
        return take_at(x, at, axis=-2, mode="clip")
    batch, width = broadcast_shapes(x.shape[:-2], at.shape[:-1]), x.shape[-1]
    wide = broadcast_to(expand_dims(at, axis=-1), (*batch, at.shape[-1], width))
    return take_along_axis_at(broadcast_to(x, (*batch, *x.shape[-2:])), wide, axis=-2, mode="clip")


def _product_at(left: Tensor, right: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """The entries of left @ right.T at (rows, columns): (..., n, k) and (..., m, k) become (..., number of entries)."""
    return sum(multiply(_entries(left, rows), _entries(right, columns)), axis=-1)


_TURNED: dict[str, Format] = {"coo": "coo", "csr": "csc", "csc": "csr"}
"""For each format, the one in which the same tensors are the transpose."""


def _transposed(first: Tensor, second: Tensor, format: Format) -> tuple[Tensor, Tensor]:
    """The indices of the transpose in that format."""
    return (second, first) if format == "coo" else (first, second)


@rule("sparse_matmul")
def _sparse_matmul(
    cotangent: Tensor,
    out: Tensor,
    values: Tensor,
    first: Tensor,
    second: Tensor,
    x: Tensor,
    *,
    format: Format,
    rows: int,
) -> Cotangents:
    turned = _transposed(first, second, format)
    of_x = sparse_matmul(values, *turned, cotangent, format=_TURNED[format], rows=x.shape[-2])
    return _product_at(cotangent, x, *places(first, second, format)), None, None, of_x


@rule("sparse_matvec")
def _sparse_matvec(
    cotangent: Tensor,
    out: Tensor,
    values: Tensor,
    first: Tensor,
    second: Tensor,
    x: Tensor,
    *,
    format: Format,
    rows: int,
) -> Cotangents:
    turned = _transposed(first, second, format)
    of_x = sparse_matvec(values, *turned, cotangent, format=_TURNED[format], rows=x.shape[-1])
    left, right = expand_dims(cotangent, axis=-1), expand_dims(x, axis=-1)
    return _product_at(left, right, *places(first, second, format)), None, None, of_x


@rule("sparse_triangular_solve")
def _sparse_triangular_solve(
    cotangent: Tensor,
    out: Tensor,
    values: Tensor,
    first: Tensor,
    second: Tensor,
    b: Tensor,
    *,
    format: Format,
    lower: bool,
    unit_diagonal: bool,
) -> Cotangents:
    # For a @ x = b, the cotangent of b solves the transposed system. The cotangent of a is minus the outer product of
    # that with x, at the entries that were read.
    system = *_transposed(first, second, format), cotangent
    of_b = substitute(values, *system, format=_TURNED[format], lower=not lower, unit_diagonal=unit_diagonal)
    rows, columns = places(first, second, format)
    read = greater(rows, columns) if lower else less(rows, columns)
    if not unit_diagonal:
        read = read | equal(rows, columns)
    return where(read, negative(_product_at(of_b, out, rows, columns)), 0), None, None, of_b
