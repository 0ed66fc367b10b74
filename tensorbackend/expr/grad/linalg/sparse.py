"""Gradients of products and systems with a sparse matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....ops.composite.linalg.sparse import Format, places, sparse_matmul, sparse_matvec
from ....ops.elementwise.basic import negative, where
from ....ops.elementwise.binary import equal, greater, less, multiply
from ....ops.indexing.taking import take_along_axis_at, take_at
from ....ops.reduction import sum
from ....ops.shape import broadcast_shapes, broadcast_to, expand_dims
from ....tensor import Tensor
from ...substitution import substitute
from ..registry import Cotangents, Rule, rule


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


def _gradient_of(product: Callable[..., Tensor], of_vectors: bool) -> Rule:
    """The rule of a product with a matrix, or with vectors."""

    def gradient(
        cotangent: Tensor, out: Tensor, values: Tensor, first: Tensor, second: Tensor, x: Tensor, **options: Any
    ) -> Cotangents:
        format: Format = options["format"]
        turned = _transposed(first, second, format)
        of_x = product(values, *turned, cotangent, format=_TURNED[format], rows=x.shape[-1 if of_vectors else -2])
        left, right = (expand_dims(each, axis=-1) if of_vectors else each for each in (cotangent, x))
        return _product_at(left, right, *places(first, second, format)), None, None, of_x

    return gradient


rule("sparse_matmul")(_gradient_of(sparse_matmul, of_vectors=False))
rule("sparse_matvec")(_gradient_of(sparse_matvec, of_vectors=True))


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
