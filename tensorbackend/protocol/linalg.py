"""Callbacks of linear algebra. Leading axes are batches."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ..template import Template
from ..tensor import Tensor
from .core import Payload, callback, optional_callback

Transform: TypeAlias = Literal["none", "transpose"]


class Linalg:
    """Contractions, factorisations, solvers."""

    @callback
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
        """Sum of products over pairs of contracted axes, for every entry of the paired batch axes.

        Axes of the result: the batch axes, then x1's free axes, then x2's, each in order. Integers keep
        their dtype and wrap; float16 and bfloat16 accumulate in at least float32. Of none, 0.
        """

    @callback
    def cholesky(self, out: Template, x: Tensor, /) -> Payload:
        """Lower factor L of a Hermitian positive definite x = L @ L.H; else `ArgumentError`."""

    @callback
    def lu(self, out: tuple[Template, Template, Template], x: Tensor, /) -> Payload:
        """Permutation, unit lower and upper factor: x = P @ L @ U, with partial pivoting."""

    @callback
    def qr(self, out: tuple[Template, Template], x: Tensor, /, *, mode: Literal["reduced", "complete"]) -> Payload:
        """x = Q @ R with R's diagonal non-negative."""

    @callback
    def eigh(self, out: tuple[Template, Template], x: Tensor, /) -> Payload:
        """Ascending eigenvalues and eigenvectors of a Hermitian matrix, read from its lower half.

        The largest component of each vector is real and positive.
        """

    @callback
    def svd(self, out: tuple[Template, Template, Template], x: Tensor, /, *, full_matrices: bool) -> Payload:
        """x = U @ diag(s) @ Vh with s descending; the largest component of each of U's columns is real
        and positive."""

    @callback
    def triangular_solve(
        self, out: Template, a: Tensor, b: Tensor, /, *, left_side: bool, lower: bool, transform: Transform
    ) -> Payload:
        """x with a @ x = b, or x @ a = b unless `left_side`; a is triangular, transposed on request."""

    # Composites of Nx that a backend may override

    @optional_callback
    def determinant(self, out: Template, x: Tensor, /) -> Payload:
        """Determinant of square matrices."""

    @optional_callback
    def solve(self, out: Template, a: Tensor, b: Tensor, /) -> Payload:
        """x with a @ x = b; `ArgumentError` for a singular a."""
