"""Contractions, factorisations, solvers; the narrow floats are computed in float32.

Factors are unique up to signs (of complex matrices, phases), so each callback fixes them as the protocol
says and every backend gives the same.
"""

from __future__ import annotations

import math
from math import prod
from typing import Any, Literal

from ...interchange import numpy_dtype
from ...protocol import Payload
from ...protocol.linalg import Transform
from ...rules.data_errors import not_positive_definite, singular_matrix
from ...template import Template
from ...tensor import Tensor
from . import complex_functions
from .base import Array, ArrayBase, kernel
from .shortcuts import certainly, fits_float64, stable_order

_BLOCK = 32
"""Order of the blocks that are treated column by column; the rest is matrix products."""

_MANY = 1 << 12
"""So many products of integers are worth a copy of them in float64."""


class ArrayLinalg(ArrayBase):
    """Linear algebra on stacks of matrices."""

    @kernel
    def dot(
        self,
        out: Template,
        x1: Tensor,
        x2: Tensor,
        /,
        *,
        contract1: tuple[int, ...],
        batch1: tuple[int, ...],
        contract2: tuple[int, ...],
        batch2: tuple[int, ...],
    ) -> Payload:
        """One matrix product: axes merged into (batch, free, contracted) and (batch, contracted, free)."""
        free1 = tuple(axis for axis in range(len(x1.shape)) if axis not in contract1 + batch1)
        free2 = tuple(axis for axis in range(len(x2.shape)) if axis not in contract2 + batch2)
        left = _merge(self.widened(x1), batch1, free1, contract1)
        right = _merge(self.widened(x2), batch2, contract2, free2)
        return self.narrowed(matrix_product(self.xp, left, right).reshape(out.shape), out)

    @kernel
    def cholesky(self, out: Template, x: Tensor, /) -> Payload:
        """Lower factor of a Hermitian positive definite matrix."""
        matrix = self.xp.tril(self.widened(x))
        if not self.xp.isfinite(matrix).all():
            raise not_positive_definite()
        try:
            return self.narrowed(self.xp.linalg.cholesky(matrix), out)
        except self.xp.linalg.LinAlgError:
            raise not_positive_definite() from None

    @kernel
    def lu(self, out: tuple[Template, Template, Template], x: Tensor, /) -> Payload:
        """Permutation, unit lower and upper factor."""
        xp, (rows, columns) = self.xp, x.shape[-2:]
        rank = min(rows, columns)
        matrix, bad = self._finite(self.widened(x))
        factors, order = _eliminate(xp, matrix)
        unit = xp.eye(rows, rank, dtype=factors.dtype)
        permutation = xp.swapaxes(xp.eye(rows, dtype=factors.dtype)[order], -2, -1)
        parts = (permutation, xp.tril(factors[..., :rank], -1) + unit, xp.triu(factors[..., :rank, :]))
        return self._results(out, parts, bad)

    @kernel
    def qr(self, out: tuple[Template, Template], x: Tensor, /, *, mode: Literal["reduced", "complete"]) -> Payload:
        """x = Q @ R with R's diagonal non-negative."""
        xp, rank = self.xp, min(x.shape[-2:])
        matrix, bad = self._finite(self.widened(x))
        q, r = xp.linalg.qr(matrix, mode=mode)
        diagonal = xp.diagonal(r, axis1=-2, axis2=-1)
        phase = _phase(xp, diagonal)
        q = xp.concatenate((q[..., :rank] * phase[..., None, :], q[..., rank:]), axis=-1)
        r = xp.concatenate((r[..., :rank, :] * xp.conj(phase)[..., :, None], r[..., rank:, :]), axis=-2)
        r = xp.where(xp.eye(*r.shape[-2:], dtype=bool), xp.abs(r), xp.triu(r))  # exactly real
        return self._results(out, (q, r), bad)

    @kernel
    def eigh(self, out: tuple[Template, Template], x: Tensor, /) -> Payload:
        """Ascending eigenvalues and eigenvectors of a Hermitian matrix."""
        matrix, bad = self._finite(self.xp.tril(self.widened(x)))
        values, vectors = self.xp.linalg.eigh(matrix, UPLO="L")
        return self._results(out, (values, turned(self.xp, vectors)), bad)

    @kernel
    def eig(self, out: tuple[Template, Template], x: Tensor, /) -> Payload:
        """Eigenvalues, in a fixed order, and eigenvectors of a square matrix."""
        xp = self.xp
        matrix, bad = self._finite(self.widened(x))
        values, vectors = (each.astype(numpy_dtype(out[0].dtype)) for each in xp.linalg.eig(matrix))
        order = _ascending(xp, values)
        values = xp.take_along_axis(values, order, axis=-1)
        vectors = xp.take_along_axis(vectors, order[..., None, :], axis=-1)
        return self._results(out, (values, turned(xp, vectors)), bad)

    @kernel
    def svd(self, out: tuple[Template, Template, Template], x: Tensor, /, *, full_matrices: bool) -> Payload:
        """x = U @ diag(s) @ Vh with s descending."""
        xp, rank = self.xp, min(x.shape[-2:])
        matrix, bad = self._finite(self.widened(x))
        u, s, vh = xp.linalg.svd(matrix, full_matrices=full_matrices)
        phase = _column_phase(xp, u)
        paired = xp.swapaxes(phase[..., :rank], -2, -1) * vh[..., :rank, :]
        return self._results(out, (turned(xp, u), s, xp.concatenate((paired, vh[..., rank:, :]), axis=-2)), bad)

    @kernel
    def triangular_solve(
        self, out: Template, a: Tensor, b: Tensor, /, *, left_side: bool, lower: bool, transform: Transform
    ) -> Payload:
        """x with a @ x = b, or x @ a = b unless `left_side`; a zero on the diagonal makes a singular."""
        xp = self.xp
        matrix, right = self.widened(a), self.widened(b)
        if not xp.diagonal(matrix, axis1=-2, axis2=-1).all():
            raise singular_matrix()
        if transform == "transpose":
            matrix, lower = xp.swapaxes(matrix, -2, -1), not lower
        if not left_side:  # x @ a = b is a.T @ x.T = b.T
            matrix, lower, right = xp.swapaxes(matrix, -2, -1), not lower, xp.swapaxes(right, -2, -1)
        solved = _substitute(xp, matrix, right, lower)
        return self.narrowed(solved if left_side else xp.swapaxes(solved, -2, -1), out)

    # Overrides of composites

    @kernel
    def determinant(self, out: Template, x: Tensor, /) -> Payload:
        """Determinant of square matrices."""
        matrix, bad = self._finite(self.promoted(x, out))
        return self._results((out,), (self.xp.linalg.det(matrix),), bad)[0]

    @kernel
    def solve(self, out: Template, a: Tensor, b: Tensor, /) -> Payload:
        """x with a @ x = b."""
        matrix, bad = self._finite(self.promoted(a, out))
        right = self.promoted(b, out)
        try:
            solved = self.xp.linalg.solve(matrix, right)
        except self.xp.linalg.LinAlgError:
            raise singular_matrix() from None
        return self._results((out,), (solved,), bad)[0]

    # Matrices that are not finite: LAPACK raises for some, loops on others, and answers differently for the rest

    def _finite(self, matrix: Array) -> tuple[Array, Array | None]:
        """A stack with identities for the matrices with NaN or infinity, and where these are, `None` if nowhere."""
        xp = self.xp
        bad = ~xp.isfinite(matrix).all(axis=(-2, -1))
        if certainly(xp, ~bad):
            return matrix, None
        return xp.where(bad[..., None, None], xp.eye(*matrix.shape[-2:], dtype=matrix.dtype), matrix), bad

    def _results(self, out: tuple[Template, ...], parts: tuple[Array, ...], bad: Array | None) -> tuple[Array, ...]:
        """The payloads of a factorisation; of matrices that are not finite NaN."""
        xp = self.xp
        if bad is not None:
            wide = (bad.reshape(bad.shape + (1,) * (part.ndim - bad.ndim)) for part in parts)
            parts = tuple(
                xp.where(at, xp.asarray(math.nan, part.dtype), part) for at, part in zip(wide, parts, strict=True)
            )
        return tuple(self.narrowed(part, each) for part, each in zip(parts, out, strict=True))


def matrix_product(xp: Any, left: Array, right: Array) -> Array:
    """The product of stacks of matrices in their dtype, that of integers in float64 where that is exact."""
    dtype = left.dtype
    if dtype.kind == "c":
        return complex_functions.matrix_product(xp, left, right)
    large = left.size * right.shape[-1] >= _MANY
    if dtype.kind in "iu" and large and fits_float64(xp, left.shape[-1], left, right):
        wide = xp.matmul(left.astype("float64"), right.astype("float64"))
        return wide.astype("int64").astype(dtype)
    return xp.matmul(left, right)


def _merge(values: Array, batch: tuple[int, ...], rows: tuple[int, ...], columns: tuple[int, ...]) -> Array:
    """An array as a stack of matrices: groups of axes put in this order, the last two merged each."""
    shape = values.shape
    sizes = (prod(shape[axis] for axis in group) for group in (rows, columns))
    return values.transpose(batch + rows + columns).reshape((*(shape[axis] for axis in batch), *sizes))


def _phase(xp: Any, values: Array) -> Array:
    """Each number over its magnitude, 1 for zero: its sign where it is real."""
    size = xp.abs(values)
    return xp.where(size == 0, values.dtype.type(1), values / xp.where(size == 0, size.dtype.type(1), size))


def _column_phase(xp: Any, vectors: Array) -> Array:
    """The phase of each column's largest component, the first of those within rounding of the largest.

    [1, -1] / sqrt(2) has two; which one comes out larger by an ulp must not decide the sign.
    """
    if not vectors.shape[-2]:
        return xp.ones((*vectors.shape[:-2], 1, vectors.shape[-1]), vectors.dtype)
    size = xp.abs(vectors)
    near = size >= xp.max(size, axis=-2, keepdims=True) * (1 - xp.finfo(size.dtype).eps ** 0.5)
    first = xp.argmax(near, axis=-2)
    return _phase(xp, xp.take_along_axis(vectors, xp.expand_dims(first, -2), axis=-2))


def turned(xp: Any, vectors: Array) -> Array:
    """The columns with their largest component real and positive, exactly so."""
    phase = _column_phase(xp, vectors)
    turned = vectors * xp.conj(phase)
    if turned.dtype.kind != "c":
        return turned
    size = xp.abs(vectors)
    return xp.where((size > 0) & (_phase(xp, vectors) == phase), size, turned)


def _ascending(xp: Any, values: Array) -> Array:
    """The order of eigenvalues; which of two equal real parts comes out larger by an ulp must not decide it."""
    if not values.size:
        return xp.argsort(values.real, axis=-1)
    apart = xp.max(xp.abs(values), axis=-1, keepdims=True) * xp.finfo(values.dtype).eps ** 0.5
    order = stable_order(xp, values.real)
    ordered = xp.take_along_axis(values, order, axis=-1)
    group = xp.cumulative_sum(xp.diff(ordered.real, axis=-1) > apart, axis=-1, include_initial=True)
    within = stable_order(xp, ordered.imag)
    within = xp.take_along_axis(within, stable_order(xp, xp.take_along_axis(group, within, -1)), -1)
    return xp.take_along_axis(order, within, axis=-1)


def _eliminate(xp: Any, matrix: Array) -> tuple[Array, Array]:
    """Gaussian elimination with partial pivoting: both factors in one array, and the order of the rows.

    Right-looking by blocks of columns (Golub and Van Loan, Matrix Computations, algorithm 3.2.1 with
    3.4.1), every step for the whole stack at once.
    """
    rows, columns = matrix.shape[-2:]
    factors = matrix.copy()
    order = xp.broadcast_to(xp.arange(rows), matrix.shape[:-1]).copy()
    for start in range(0, min(rows, columns), _BLOCK):
        stop = min(start + _BLOCK, rows, columns)
        for k in range(start, stop):
            pivot = xp.argmax(xp.abs(factors[..., k:, k]), axis=-1)[..., None] + k
            factors, order = _exchange(xp, factors, order, k, pivot)
            diagonal = factors[..., k, k, None]
            safe = xp.where(diagonal == 0, diagonal.dtype.type(1), diagonal)
            factors[..., k + 1 :, k] /= safe
            factors[..., k + 1 :, k + 1 : stop] -= factors[..., k + 1 :, k, None] * factors[..., None, k, k + 1 : stop]
        lower = factors[..., start:stop, start:stop]
        right = factors[..., start:stop, stop:]
        for k in range(stop - start):
            right[..., k + 1 :, :] -= lower[..., k + 1 :, k, None] * right[..., None, k, :]
        factors[..., stop:, stop:] -= xp.matmul(factors[..., stop:, start:stop], right)
    return factors, order


def _exchange(xp: Any, factors: Array, order: Array, k: int, pivot: Array) -> tuple[Array, Array]:
    """Rows k and `pivot` (one a matrix) changed for each other."""
    upper, upper_order = factors[..., k, :].copy(), order[..., k].copy()
    at = pivot[..., None]
    factors[..., k, :] = xp.take_along_axis(factors, at, axis=-2)[..., 0, :]
    order[..., k] = xp.take_along_axis(order, pivot, axis=-1)[..., 0]
    xp.put_along_axis(factors, at, upper[..., None, :], axis=-2)
    xp.put_along_axis(order, pivot, upper_order[..., None], axis=-1)
    return factors, order


def _substitute(xp: Any, matrix: Array, right: Array, lower: bool) -> Array:
    """Forward or back substitution by blocks, every step for the whole stack at once."""
    size = matrix.shape[-1]
    solved = xp.broadcast_to(
        right, (*xp.broadcast_shapes(matrix.shape[:-2], right.shape[:-2]), *right.shape[-2:])
    ).copy()
    starts = range(0, size, _BLOCK)
    for start in starts if lower else reversed(starts):
        stop = min(start + _BLOCK, size)
        inside = range(start, stop)
        for k in inside if lower else reversed(inside):
            solved[..., k, :] /= matrix[..., k, k, None]
            rest = slice(k + 1, stop) if lower else slice(start, k)
            solved[..., rest, :] -= matrix[..., rest, k, None] * solved[..., None, k, :]
        rest = slice(stop, size) if lower else slice(0, start)
        solved[..., rest, :] -= xp.matmul(matrix[..., rest, start:stop], solved[..., start:stop, :])
    return solved
