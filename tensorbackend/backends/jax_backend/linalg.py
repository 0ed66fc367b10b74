"""Contractions, factorisations and solvers by XLA's own; errors of data are raised where there is data."""

from __future__ import annotations

from typing import Any

from ...protocol import Payload
from ...protocol.linalg import Transform
from ...rules.data_errors import not_positive_definite, singular_matrix
from ...template import Template
from ...tensor import Tensor
from ..array_module.base import Array, kernel
from ..array_module.linalg import ArrayLinalg, turned
from .base import JaxBase


class JaxLinalg(JaxBase, ArrayLinalg):
    """Linear algebra on stacks of matrices.

    In a traced function a matrix that is singular, or not positive definite, gives NaN.
    """

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
        """XLA's own contraction; of complex numbers of their parts, as it leaves open what infinities give."""
        left, right = self.widened(x1), self.widened(x2)

        def product(a: Array, b: Array) -> Array:
            dimensions = (contract1, contract2), (batch1, batch2)
            return self.lax.dot_general(a, b, dimensions, precision=self.precision)

        if not out.dtype.is_complex:
            return self.narrowed(product(left, right), out)
        a, b, c, d = left.real, left.imag, right.real, right.imag
        return self.lax.complex(product(a, c) - product(b, d), product(a, d) + product(b, c))

    # What is raised outside of the compiled kernel

    def cholesky(self, out: Template, x: Tensor, /) -> Payload:
        """Lower factor of a Hermitian positive definite matrix."""
        factor, good = self._cholesky((out, _FLAG), x)
        if self.readable(good) and not good:
            raise not_positive_definite()
        return factor

    def triangular_solve(
        self, out: Template, a: Tensor, b: Tensor, /, *, left_side: bool, lower: bool, transform: Transform
    ) -> Payload:
        """x with a @ x = b, or x @ a = b unless `left_side`; a zero on the diagonal makes a singular."""
        solved, good = self._triangular_solve((out, _FLAG), a, b, left_side=left_side, lower=lower, transform=transform)
        if self.readable(good) and not good:
            raise singular_matrix()
        return solved

    def solve(self, out: Template, a: Tensor, b: Tensor, /) -> Payload:
        """x with a @ x = b."""
        solved, good = self._solve((out, _FLAG), a, b)
        if self.readable(good) and not good:
            raise singular_matrix()
        return solved

    @kernel
    def _cholesky(self, out: Any, x: Tensor, /) -> Payload:
        matrix = self._whole(self.xp.tril(self.widened(x)))
        factor = self.lax.linalg.cholesky(matrix, symmetrize_input=False)
        good = self.xp.isfinite(matrix).all() & self.xp.isfinite(factor).all()
        return self.narrowed(self.xp.tril(factor), out[0]), good

    @kernel
    def _triangular_solve(
        self, out: Any, a: Tensor, b: Tensor, /, *, left_side: bool, lower: bool, transform: Transform
    ) -> Payload:
        xp = self.xp
        matrix, right = self.widened(a), self.widened(b)
        batch = xp.broadcast_shapes(matrix.shape[:-2], right.shape[:-2])
        good = (xp.diagonal(matrix, axis1=-2, axis2=-1) != 0).all()
        solved = self.lax.linalg.triangular_solve(
            xp.broadcast_to(matrix, (*batch, *matrix.shape[-2:])),
            xp.broadcast_to(right, (*batch, *right.shape[-2:])),
            left_side=left_side,
            lower=lower,
            transpose_a=transform == "transpose",
        )
        return self.narrowed(solved, out[0]), good

    @kernel
    def _solve(self, out: Any, a: Tensor, b: Tensor, /) -> Payload:
        xp, template = self.xp, out[0]
        matrix, bad = self._finite(self.promoted(a, template))
        right = self.promoted(b, template)
        vector = b.template.ndim == 1
        right = right[:, None] if vector else right
        factors, _, order = self.lax.linalg.lu(matrix)
        good = (xp.diagonal(factors, axis1=-2, axis2=-1) != 0).all()
        batch = xp.broadcast_shapes(matrix.shape[:-2], right.shape[:-2])
        factors = xp.broadcast_to(factors, (*batch, *factors.shape[-2:]))
        right = xp.broadcast_to(right, (*batch, *right.shape[-2:]))
        rows = xp.broadcast_to(order, (*batch, order.shape[-1]))[..., None]
        right = xp.take_along_axis(right, rows, axis=-2)
        half = self.lax.linalg.triangular_solve(factors, right, left_side=True, lower=True, unit_diagonal=True)
        solved = self.lax.linalg.triangular_solve(factors, half, left_side=True, lower=False)
        solved = solved[..., 0] if vector else solved
        return (*self._results((template,), (solved,), bad), good)

    # Factorisations

    @kernel
    def lu(self, out: tuple[Template, Template, Template], x: Tensor, /) -> Payload:
        """Permutation, unit lower and upper factor."""
        xp, (rows, columns) = self.xp, x.shape[-2:]
        rank = min(rows, columns)
        matrix, bad = self._finite(self.widened(x))
        if x.dtype.is_complex:
            factors, order = self._eliminate(matrix)
        else:
            factors, _, order = self.lax.linalg.lu(matrix)
        unit = xp.eye(rows, rank, dtype=factors.dtype)
        permutation = xp.swapaxes(xp.eye(rows, dtype=factors.dtype)[order], -2, -1)
        factored = (permutation, xp.tril(factors[..., :rank], -1) + unit, xp.triu(factors[..., :rank, :]))
        return self._results(out, factored, bad)

    def _eliminate(self, matrix: Array) -> tuple[Array, Array]:
        """Gaussian elimination with partial pivoting by magnitude, where LAPACK's is by the sum of the parts' own.

        Golub and Van Loan, Matrix Computations, algorithm 3.4.1: outer products, a column at a time.
        """
        xp, (rows, columns) = self.xp, matrix.shape[-2:]
        at, across = xp.arange(rows), xp.arange(columns)

        def step(k: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
            factors, order = state
            column = factors[..., k]
            pivot = xp.argmax(xp.where(at >= k, xp.abs(column), -1), axis=-1)[..., None]
            exchanged = xp.where(at == k, pivot, xp.where(at == pivot, k, at))
            factors = xp.take_along_axis(factors, exchanged[..., None], axis=-2)
            order = xp.take_along_axis(order, exchanged, axis=-1)
            column, row = factors[..., k], factors[..., k, :]
            diagonal = row[..., k, None]
            ratio = xp.where(at > k, column / xp.where(diagonal == 0, 1, diagonal), column)
            factors = factors.at[..., k].set(ratio)
            below, beside = xp.where(at > k, ratio, 0), xp.where(across > k, row, 0)
            return factors - below[..., :, None] * beside[..., None, :], order

        start = matrix, xp.broadcast_to(at, matrix.shape[:-1])
        if not min(rows, columns):  # a step is traced even where none is taken
            return start
        found: tuple[Array, Array] = self.lax.fori_loop(0, min(rows, columns), step, start)
        return found

    @kernel
    def eigh(self, out: tuple[Template, Template], x: Tensor, /) -> Payload:
        """Ascending eigenvalues and eigenvectors of a Hermitian matrix."""
        xp = self.xp
        matrix, bad = self._finite(xp.tril(self.widened(x)))
        vectors, values = self.lax.linalg.eigh(self._whole(matrix), symmetrize_input=False)
        return self._results(out, (values, turned(xp, vectors)), bad)

    def _whole(self, lower: Array) -> Array:
        """A Hermitian matrix from its lower half, as a gradient needs both; the diagonal is real."""
        xp = self.xp
        below = xp.tril(lower, -1)
        whole = below + xp.conj(xp.swapaxes(below, -2, -1))
        return whole + xp.real(xp.where(xp.eye(lower.shape[-1], dtype=bool), lower, 0))

    @kernel
    def determinant(self, out: Template, x: Tensor, /) -> Payload:
        """Determinant of square matrices."""
        matrix, bad = self._finite(self.promoted(x, out))
        return self._results((out,), (self.xp.linalg.det(matrix),), bad)[0]


_FLAG = Template((), "bool")
"""Of a kernel's second result: whether there is nothing to raise."""
