"""Callbacks of linear algebra. Leading axes are batches."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ..template import Template
from ..tensor import Tensor
from .callbacks import callback, optional_callback
from .planned import Payload

Transform: TypeAlias = Literal["none", "transpose"]


class Linalg:
    """Contractions, factorisations, solvers.

    Factors, solutions and determinants of a matrix that holds NaN or infinity are NaN throughout, except those of
    `cholesky` and `triangular_solve`. The "first" of ties has the smallest index. The "largest component" of a vector
    is the first whose magnitude is at least 1 - sqrt(eps) times the largest magnitude, where eps is that of the dtype,
    or of float32 for a narrower dtype.
    """

    @callback(reach="matrix")
    def cholesky(self, out: Template, x: Tensor, /) -> Payload:
        """Lower factor L of a Hermitian positive definite x = L @ L.H, read from its lower triangle.

        Raises `DataError` for any other matrix (`data_errors.not_positive_definite`), including one that holds NaN or
        infinity.
        """

    @callback(reach="matrix")
    def lu(self, out: tuple[Template, Template, Template], x: Tensor, /) -> Payload:
        """Permutation, unit lower and upper factor of x = P @ L @ U, with partial pivoting that takes the first of
        ties."""

    @callback(reach="matrix")
    def qr(self, out: tuple[Template, Template], x: Tensor, /, *, mode: Literal["reduced", "complete"]) -> Payload:
        """x = Q @ R with R's diagonal non-negative. Columns of Q beyond those of x complete the basis in any way."""

    @callback(reach="matrix")
    def eigh(self, out: tuple[Template, Template], x: Tensor, /) -> Payload:
        """Ascending eigenvalues and eigenvectors of a Hermitian matrix, read from its lower triangle.

        The largest component of each vector is real and positive.
        """

    @callback(reach="matrix")
    def eig(self, out: tuple[Template, Template], x: Tensor, /) -> Payload:
        """Complex eigenvalues and unit eigenvectors of a square matrix.

        The values are sorted by real part. Adjacent values in that order are treated as having the same real part if
        theirs differ by at most sqrt(eps) times the largest magnitude, and are sorted by imaginary part. The largest
        component of each vector is real and positive.
        """

    @callback(reach="matrix")
    def svd(self, out: tuple[Template, Template, Template], x: Tensor, /, *, full_matrices: bool) -> Payload:
        """x = U @ diag(s) @ Vh with s descending; the largest component of each of U's columns is real
        and positive. Vectors that belong to no singular value, or to one of 0, complete the basis in any way."""

    @callback(reach="matrix")
    def triangular_solve(
        self, out: Template, a: Tensor, b: Tensor, /, *, left_side: bool, lower: bool, transform: Transform
    ) -> Payload:
        """x with a @ x = b, or x @ a = b unless `left_side`; a is triangular, transposed on request.

        Batch axes broadcast. The other triangle of a is not read. Raises `DataError` for a zero on the diagonal
        (`data_errors.singular_matrix`).
        """

    # Composites of Nx that a backend may override

    @optional_callback
    def determinant(self, out: Template, x: Tensor, /) -> Payload:
        """Determinant of square matrices."""

    @optional_callback
    def solve(self, out: Template, a: Tensor, b: Tensor, /) -> Payload:
        """x with a @ x = b, a vector if b has one axis. Raises `DataError` for a singular a."""

    @optional_callback
    def sparse_triangular_solve(
        self,
        out: Template,
        values: Tensor,
        first: Tensor,
        second: Tensor,
        b: Tensor,
        /,
        *,
        format: Literal["coo", "csr", "csc"],
        lower: bool,
        unit_diagonal: bool,
    ) -> Payload:
        """x with a @ x = b for a sparse triangular a; stored entries at the same place are added.

        `values` (..., n) are the stored entries; `first` and `second` hold their places as in `sparse_matmul`; b is
        (..., size, k). Entries on the other side of the diagonal are not read, nor with `unit_diagonal` those on the
        diagonal. Raises `DataError` for a zero on the diagonal (`data_errors.singular_matrix`) if data can be read.
        """
