"""Factorisations and solvers by XLA's own functions; errors in the data are raised where the data can be read."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ....errors import DataError
from ....protocol import Kernel, planned
from ....protocol.linalg import Transform
from ....rules.data_errors import not_positive_definite, singular_matrix
from ....template import Template
from ...array_module.base import Array
from ...array_module.linalg.factorisations import ArrayLinalg, blank
from ...array_module.precision import computing_kernel, promoting_kernel
from ..base import CheckingKernel, JaxBase


class JaxLinalg(JaxBase, ArrayLinalg):
    """Linear algebra on stacks of matrices.

    In a traced function the result for a matrix that is singular, or not positive definite, is NaN.
    """

    # Errors: a kernel returns its result and a flag, which is false if there is an error to raise

    @planned
    def cholesky(self, out: Template, x: Template, /) -> Kernel:
        xp, cholesky = self.xp, self._lower_triangle_function(partial(self.lax.linalg.cholesky, symmetrize_input=False))

        def factor(matrix: Array) -> tuple[Array, Array]:
            lower = cholesky(matrix)
            # An element that is not finite makes the diagonal element of its row or of its column not finite as well.
            return lower, xp.isfinite(xp.diagonal(lower, axis1=-2, axis2=-1)).all()

        return self._flag_kernel(computing_kernel(factor, (out, _FLAG), x), not_positive_definite, out)

    @planned
    def triangular_solve(
        self, out: Template, a: Template, b: Template, /, *, left_side: bool, lower: bool, transform: Transform
    ) -> Kernel:
        """x with a @ x = b, or with x @ a = b unless `left_side`; a zero on its diagonal makes `a` singular."""
        xp, stack = self.xp, out.shape[:-2]
        solve = partial(
            self.lax.linalg.triangular_solve, left_side=left_side, lower=lower, transpose_a=transform == "transpose"
        )

        def solution(matrix: Array, right: Array) -> tuple[Array, Array]:
            good = (xp.diagonal(matrix, axis1=-2, axis2=-1) != 0).all()
            matrix, right = (xp.broadcast_to(operand, (*stack, *operand.shape[-2:])) for operand in (matrix, right))
            return solve(matrix, right), good

        return self._flag_kernel(computing_kernel(solution, (out, _FLAG), a, b), singular_matrix, out)

    @planned
    def solve(self, out: Template, a: Template, b: Template, /) -> Kernel:
        axes = min(len(b.shape), 2)

        def solution(matrix: Array, right: Array) -> tuple[Array, Array]:
            if axes == 2:
                return self._solution(matrix, right)
            column, good = self._solution(matrix, right[:, None])
            return column[..., 0], good

        kernel = self._good_if_finite(solution, a, axes)
        return self._flag_kernel(promoting_kernel(self, out.dtype, kernel, (out, _FLAG), a, b), singular_matrix, out)

    @planned
    def inv(self, out: Template, x: Template, /) -> Kernel:
        """Inverse of square matrices."""
        eye, size = self.xp.eye, x.shape[-1]

        def inverse(matrix: Array) -> tuple[Array, Array]:
            return self._solution(matrix, eye(size, dtype=matrix.dtype))

        kernel = self._good_if_finite(inverse, x, 2)
        return self._flag_kernel(promoting_kernel(self, out.dtype, kernel, (out, _FLAG), x), singular_matrix, out)

    def _solution(self, matrix: Array, right: Array) -> tuple[Array, Array]:
        """The solution by elimination for matrices on the right-hand side, and whether each matrix is regular."""
        xp, solve = self.xp, self.lax.linalg.triangular_solve
        factors, _, order = self.lax.linalg.lu(matrix)
        good = (xp.diagonal(factors, axis1=-2, axis2=-1) != 0).all(-1)
        stack = xp.broadcast_shapes(matrix.shape[:-2], right.shape[:-2])
        factors, right = (xp.broadcast_to(operand, (*stack, *operand.shape[-2:])) for operand in (factors, right))
        rows = xp.broadcast_to(order, (*stack, order.shape[-1]))[..., None]
        half = solve(factors, xp.take_along_axis(right, rows, axis=-2), left_side=True, lower=True, unit_diagonal=True)
        return solve(factors, half, left_side=True, lower=False), good

    def _flag_kernel(self, kernel: Kernel, error: Callable[[], DataError], out: Template) -> Kernel:
        """A kernel without the second result, a flag; it raises an error if the flag can be read and is false."""
        import numpy

        compiled = self.enter(self.settled(kernel, (out, _FLAG)))

        def check(*arrays: Array) -> Array:
            result, good = compiled(*arrays)
            if self.readable(good) and not numpy.asarray(good):  # bool(good) takes five times as long
                raise error()
            return result

        return CheckingKernel(check)

    # XLA runs a program of fewer than 1,000 floating-point operations in the calling thread. Waking another thread
    # takes longer than LAPACK takes for an 8x8 matrix, so these functions use few operations.

    def finite_only(
        self, kernel: Kernel, x: Template, axes: Sequence[int], *, lower: bool = False, then: Kernel | None = None
    ) -> Kernel:
        """A kernel of factors that puts zeros in place of matrices that are not finite: that takes less time than an
        identity."""
        # XLA computes the operands of a condition once. Without a condition each use of a factor repeats XLA's check of
        # LAPACK's error code, five times in a singular value decomposition. On a GPU a condition waits for the host.
        xp, once = self.xp, self.platform == "cpu" and x.ndim == 2
        half = lambda: xp.tri(*x.shape[-2:], dtype=bool)  # noqa: E731 # a constant, where the matrix is small

        def nan_results(*parts: Array) -> tuple[Array, ...]:
            return tuple(xp.full_like(part, math.nan) for part in parts)

        def factors(matrix: Array) -> Any:
            matrix, bad = self._finite(xp.where(self.lasting(half), matrix, 0) if lower else matrix)
            parts = kernel(matrix)
            if then is not None:
                if once:
                    return self.lax.cond(bad, nan_results, then, *parts)
                parts = then(*parts)
            if len(axes) == 1:
                return blank(xp, bad, parts, axes[0])
            return tuple(blank(xp, bad, part, count) for part, count in zip(parts, axes, strict=True))

        return factors

    def _good_if_finite(self, kernel: Kernel, x: Template, axes: int) -> Kernel:
        """A kernel that returns a result and whether all matrices are good; one that is not finite counts as good."""

        def solution(matrix: Array, *rest: Array) -> tuple[Array, Array]:
            matrix, bad = self._finite(matrix)
            solved, good = kernel(matrix, *rest)
            return blank(self.xp, bad, solved, axes), (good | bad).all()

        return solution

    def _finite(self, matrix: Array) -> tuple[Array, Array]:
        """Matrices with zeros in place of those that are not finite, and the mask of the latter."""
        bad = ~self.xp.isfinite(matrix).all(axis=(-2, -1))
        return self.xp.where(bad[..., None, None], 0, matrix), bad

    def first_row(self, flags: Array) -> Array:
        """The first row of each column with a flag, by a minimum: XLA's argmax takes nine steps for each element."""
        count = flags.shape[-2]
        return self.xp.where(flags, self.xp.arange(count)[:, None], count - 1).min(-2)

    # Factorisations

    def elimination(self, x: Template) -> Kernel:
        """XLA's own; for complex matrices ours, as LAPACK chooses pivots by the sum of the parts' magnitudes."""
        return self._eliminate if x.dtype.is_complex else self._eliminate_real

    def _eliminate_real(self, matrix: Array) -> tuple[Array, Array]:
        factors, _, order = self.lax.linalg.lu(matrix)
        return factors, order

    def _eliminate(self, matrix: Array) -> tuple[Array, Array]:
        """Elimination with pivots by magnitude.

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
        if not min(rows, columns):  # JAX traces a step even if none is taken
            return start
        eliminated: tuple[Array, Array] = self.lax.fori_loop(0, min(rows, columns), step, start)
        return eliminated

    def factors_of_eigh(self) -> Callable[[Array], tuple[Array, Array]]:
        """XLA's own function, which reads the lower half; it returns eigenvalues before eigenvectors."""
        eigh = self._lower_triangle_function(partial(self.lax.linalg.eigh, symmetrize_input=False))

        def factors(matrix: Array) -> tuple[Array, Array]:
            vectors, values = eigh(matrix)
            return values, vectors

        return factors

    def _lower_triangle_function(self, function: Kernel) -> Kernel:
        """A function of the lower half of a Hermitian matrix, with the derivative that it has for the whole matrix."""
        xp = self.xp

        def whole_matrix_function(matrix: Array) -> Any:
            below = xp.tril(matrix, -1)
            whole = below + xp.conj(xp.swapaxes(below, -2, -1))
            return function(whole + xp.real(xp.where(xp.eye(matrix.shape[-1], dtype=bool), matrix, 0)))

        return self.derived(function, whole_matrix_function)

    def stable_order(self, values: Array) -> Array:
        return self.xp.argsort(values, axis=-1, stable=True)


_FLAG = Template((), "bool")
"""The template of a kernel's second result: whether there is no error to raise."""
