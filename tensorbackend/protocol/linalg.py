"""Callbacks of linear algebra. Leading axes are batches."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ..template import Template
from ..tensor import Tensor
from .core import callback, optional_callback
from .planned import Payload

Transform: TypeAlias = Literal["none", "transpose"]


class Linalg:
    """Contractions, factorisations, solvers.

    Factors, solutions and determinants of a matrix that holds NaN or infinity are NaN throughout, but for those of
    `cholesky` and `triangular_solve`. "First" of ties is the least index. A component is the largest if it is within a
    factor of 1 - sqrt(eps) of it, eps being that of the dtype, or of float32 for a narrower one; the first such one
    counts.
    """

    @callback(reach="matrix")
    def cholesky(self, out: Template, x: Tensor, /) -> Payload:
        """Lower factor L of a Hermitian positive definite x = L @ L.H, read from its lower half.

        `DataError` for any other (`data_errors.not_positive_definite`), one that holds NaN or infinity included.
        """

    @callback(reach="matrix")
    def lu(self, out: tuple[Template, Template, Template], x: Tensor, /) -> Payload:
        """Permutation, unit lower and upper factor: x = P @ L @ U, with partial pivoting, the first of ties."""

    @callback(reach="matrix")
    def qr(self, out: tuple[Template, Template], x: Tensor, /, *, mode: Literal["reduced", "complete"]) -> Payload:
        """x = Q @ R with R's diagonal non-negative. Columns of Q beyond those of x complete the basis in any way."""

    @callback(reach="matrix")
    def eigh(self, out: tuple[Template, Template], x: Tensor, /) -> Payload:
        """Ascending eigenvalues and eigenvectors of a Hermitian matrix, read from its lower half.

        The largest component of each vector is real and positive.
        """

    @callback(reach="matrix")
    def eig(self, out: tuple[Template, Template], x: Tensor, /) -> Payload:
        """Complex eigenvalues and unit eigenvectors of a square matrix.

        The values ascend by real part. Neighbours in that order whose real parts are within sqrt(eps) of the
        largest magnitude count as one real part, and ascend by imaginary part. The largest component of each vector
        is real and positive.
        """

    @callback(reach="matrix")
    def svd(self, out: tuple[Template, Template, Template], x: Tensor, /, *, full_matrices: bool) -> Payload:
        """x = U @ diag(s) @ Vh with s descending; the largest component of each of U's columns is real
        and positive. Vectors that go with no singular value, or with one of 0, complete the basis in any way."""

    @callback(reach="matrix")
    def triangular_solve(
        self, out: Template, a: Tensor, b: Tensor, /, *, left_side: bool, lower: bool, transform: Transform
    ) -> Payload:
        """x with a @ x = b, or x @ a = b unless `left_side`; a is triangular, transposed on request.

        Batch axes broadcast. The other half of a is not read. `DataError` for a zero on the diagonal
        (`data_errors.singular_matrix`).
        """

    # Composites of Nx that a backend may override

    @optional_callback
    def determinant(self, out: Template, x: Tensor, /) -> Payload:
        """Determinant of square matrices."""

    @optional_callback
    def solve(self, out: Template, a: Tensor, b: Tensor, /) -> Payload:
        """x with a @ x = b, a vector if b has one axis; `DataError` for a singular a."""

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
        """x with a @ x = b for a triangular a of which some entries are stored, those at one place adding up.

        Values are (..., n), where they lie is said as in `sparse_matmul`, b is (..., size, k). Entries on the other
        side of the diagonal are not read, nor those on it if it counts as ones. `DataError` for a zero on the diagonal
        (`data_errors.singular_matrix`) where data can be looked at.
        """
