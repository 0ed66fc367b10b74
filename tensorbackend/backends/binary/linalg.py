"""Factorisations and solutions of stacks of matrices on bytes: one matrix of Python numbers at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeAlias

from ...dtypes import DType, finfo, float32, promote_types
from ...protocol import Backend, Payload
from ...protocol.linalg import Transform
from ...rules.data_errors import not_positive_definite
from ...template import Shape, Template
from ...tensor import Tensor
from . import matrices, spectra
from .matrices import Matrix, Vector, is_finite, transpose
from .storage import cast, elements, store

Factors: TypeAlias = tuple[Matrix | Vector, ...]


def stack(x: Tensor) -> Iterator[Matrix]:
    """The matrices of a stack, each a list of rows."""
    rows, columns = x.shape[-2:]
    values = list(elements(x))
    size = rows * columns
    for start in range(0, math.prod(x.shape[:-2]) * size, size) if size else [0] * math.prod(x.shape[:-2]):
        yield [values[start + row * columns : start + (row + 1) * columns] for row in range(rows)]


def broadcast_stack(x: Tensor, batch: Shape) -> list[Matrix]:
    """The matrices of a stack broadcast to the batch shape `batch`."""
    stacked_matrices = list(stack(x))
    aligned_batch = (1,) * (len(batch) - len(x.shape) + 2) + x.shape[:-2]
    if aligned_batch == batch:
        return stacked_matrices
    places = [0]
    for size, target in zip(aligned_batch, batch, strict=True):
        places = [place * size + (along if size > 1 else 0) for place in places for along in range(target)]
    return [stacked_matrices[place] for place in places]


def flat(part: Matrix | Vector) -> Vector:
    """The elements of a matrix, row by row; a vector unchanged."""
    return [element for row in part for element in row] if part and isinstance(part[0], list) else part


def tie_tolerance(dtype: DType) -> float:
    """The relative difference up to which magnitudes count as equal: the root of the computing dtype's epsilon."""
    return math.sqrt(finfo(promote_types(dtype, float32)).eps)


def factorise(
    out: tuple[Template, ...], x: Tensor, factors_of: Callable[[Matrix], Factors], whole: bool = True
) -> tuple[Payload, ...]:
    """The factors of each matrix; NaN if the matrix, or its lower half if not `whole`, has NaN or infinity in it."""
    columns: list[Vector] = [[] for _ in out]
    sizes = [math.prod(template.shape[len(x.shape) - 2 :]) for template in out]
    for matrix in stack(x):
        seen = matrix if whole else [row[: position + 1] for position, row in enumerate(matrix)]
        parts = map(flat, factors_of(matrix)) if is_finite(seen) else ([math.nan] * size for size in sizes)
        for column, part in zip(columns, parts, strict=True):
            column += part
    return tuple(store(column, template.dtype) for column, template in zip(columns, out, strict=True))


class BinaryLinalg(Backend):
    """The factorisations and solvers of the family `protocol.linalg`."""

    def cholesky(self, out: Template, x: Tensor, /) -> Payload:

        def factor(matrix: Matrix) -> Vector:
            if not is_finite([row[: position + 1] for position, row in enumerate(matrix)]):
                raise not_positive_definite()
            return flat(matrices.cholesky(matrix))

        return store([element for matrix in stack(x) for element in factor(matrix)], out.dtype)

    def lu(self, out: tuple[Template, Template, Template], x: Tensor, /) -> Payload:
        return factorise(out, x, lambda matrix: matrices.lu(matrix, x.shape[-1]))

    def qr(self, out: tuple[Template, Template], x: Tensor, /, *, mode: Literal["reduced", "complete"]) -> Payload:
        return factorise(out, x, lambda matrix: matrices.qr(matrix, x.shape[-1], complete=mode == "complete"))

    def eigh(self, out: tuple[Template, Template], x: Tensor, /) -> Payload:
        return factorise(out, x, lambda matrix: spectra.eigh(matrix, tie_tolerance(x.dtype)), whole=False)

    def eig(self, out: tuple[Template, Template], x: Tensor, /) -> Payload:
        return factorise(out, x, lambda matrix: spectra.eig(matrix, tie_tolerance(x.dtype)))

    def svd(self, out: tuple[Template, Template, Template], x: Tensor, /, *, full_matrices: bool) -> Payload:
        return factorise(
            out, x, lambda matrix: spectra.svd(matrix, x.shape[-1], tie_tolerance(x.dtype), full=full_matrices)
        )

    def triangular_solve(
        self, out: Template, a: Tensor, b: Tensor, /, *, left_side: bool, lower: bool, transform: Transform
    ) -> Payload:
        solved: Vector = []
        size, columns = a.shape[-1], b.shape[-1]
        turned = (transform == "transpose") != (not left_side)  # x @ a = b is a.T @ x.T = b.T
        batch = out.shape[:-2]
        for matrix, right in zip(broadcast_stack(a, batch), broadcast_stack(b, batch), strict=True):
            triangle = transpose(matrix, size) if turned else matrix
            if left_side:
                solution = matrices.substitute(triangle, right, columns, lower=lower != turned)
            else:
                across = transpose(right, columns)
                solution = transpose(
                    matrices.substitute(triangle, across, len(right), lower=lower != turned), b.shape[-2]
                )
            solved += flat(solution)
        return store(solved, out.dtype)

    # Overrides of composites

    def determinant(self, out: Template, x: Tensor, /) -> Payload:
        determinants: list[Any] = [
            matrices.determinant(matrix) if is_finite(matrix) else math.nan for matrix in stack(cast(x, out.dtype))
        ]
        return store(determinants, out.dtype)

    def solve(self, out: Template, a: Tensor, b: Tensor, /) -> Payload:
        a, b = cast(a, out.dtype), cast(b, out.dtype)
        if len(b.shape) == 1:
            b = Tensor(Template((*b.shape, 1), b.dtype), b.backend, b.data)
            batch = a.shape[:-2]
        else:
            batch = out.shape[:-2]
        solved: Vector = []
        columns = b.shape[-1]
        for matrix, right in zip(broadcast_stack(a, batch), broadcast_stack(b, batch), strict=True):
            fine = is_finite(matrix)
            solved += flat(matrices.solve(matrix, right, columns)) if fine else [math.nan] * len(matrix) * columns
        return store(solved, out.dtype)
