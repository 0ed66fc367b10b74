"""Products, convolutions, Fourier transforms and decompositions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorbackend as tb

from .base import Base, Operand


class Linalg(Base):
    """Functions of vectors and matrices."""

    def tensordot(self, a: Operand, a_axes: Sequence[int], b: Operand, b_axes: Sequence[int]) -> Any:
        """Sum the products of two tensors over pairs of axes."""
        a, b = self.auto_cast(a, b, bool_to_int=True)
        return tb.tensordot(a, b, axes=(tuple(a_axes), tuple(b_axes)))

    def einsum(self, equation: str, *tensors: Operand) -> Any:
        """Sum the products of tensors as an equation in Einstein notation says."""
        return tb.einsum(equation, *self.auto_cast(*tensors, bool_to_int=True))

    def mul_matrix_batched_vector(self, A: Operand, b: Operand) -> Any:
        """Multiply a matrix by each vector of a batch."""
        A, b = self.auto_cast(A, b, bool_to_int=True)
        return b @ A.mT

    def get_diagonal(self, matrices: Operand, offset: int = 0) -> Any:
        """The diagonals of a batch of matrices with channels; the channels come last."""
        x = tb.permute_dims(self._tensor(matrices), (0, 3, 1, 2))
        return tb.permute_dims(tb.linalg.diagonal(x, offset=offset), (0, 2, 1))

    def conv(
        self, value: Operand, kernel: Operand, strides: Sequence[int], out_sizes: Sequence[int], transpose: bool
    ) -> Any:
        """Convolve a batch with a kernel, padding with zeros so that the result has the sizes `out_sizes`.

        There may be one kernel for each example. A transposed convolution dilates its input by the strides, as in
        PyTorch.
        """
        x, kernel = self.auto_cast(value, kernel, bool_to_int=True)
        batch, channels, *lengths = x.shape
        kernels, out, inner, *widths = kernel.shape
        assert kernels in (1, batch), f"expected 1 or {batch} kernels, got {kernels}"
        assert channels == inner, f"expected a kernel of {channels} channels, got {inner}"
        steps = tuple(map(int, strides))
        if transpose:
            kernel = tb.flip(kernel, axis=tuple(range(3, kernel.ndim)))
            options: dict[str, Any] = {"input_dilation": steps}
            axes = zip(lengths, steps, widths, out_sizes, strict=True)
            # A length of 3 with steps of 2 and a width of 3 covers 7. An odd surplus is cut once more at the start.
            missing = [size - ((length - 1) * step + width) for length, step, width, size in axes]
            halves = zip(widths, missing, strict=True)
            padding = [(width - 1 + less // 2, width - 1 + less - less // 2) for width, less in halves]
        else:
            options = {"strides": steps}
            axes = zip(lengths, steps, widths, out_sizes, strict=True)
            missing = [max(0, step * (size - 1) - length + width) for length, step, width, size in axes]
            padding = [((more + 1) // 2, more // 2) for more in missing]
        if kernels > 1:
            x = tb.reshape(x, (1, batch * channels, *lengths))
            options["feature_groups"] = batch
        convolved = tb.conv(x, tb.reshape(kernel, (kernels * out, inner, *widths)), padding=padding, **options)
        return tb.reshape(convolved, (batch, out, *convolved.shape[2:]))

    def fft(self, x: Operand, axes: Sequence[int]) -> Any:
        """Compute the discrete Fourier transform along axes."""
        x = self.to_complex(x)
        return tb.fft.fftn(x, axes=tuple(axes)) if axes else x

    def ifft(self, k: Operand, axes: Sequence[int]) -> Any:
        """Compute the inverse of `fft`."""
        k = self._tensor(k)
        return tb.fft.ifftn(k, axes=tuple(axes)) if axes else k

    def matrix_solve_least_squares(self, matrix: Operand, rhs: Operand) -> tuple[Any, Any, Any, Any]:
        """Solve a batch of systems by least squares; return solutions, residuals, ranks and singular values."""
        matrix, rhs = self.auto_cast(matrix, rhs, int_to_float=True)
        solution = tb.linalg.lstsq(matrix, rhs)
        return solution[0], solution[1], solution[2], solution[3]

    def solve_triangular(self, matrix: Operand, rhs: Operand, lower: bool, unit_diagonal: bool) -> Any:
        """Solve a triangular system, sparse or dense."""
        solve = self.solve_triangular_sparse if self.is_sparse(matrix) else self.solve_triangular_dense
        return solve(matrix, rhs, lower, unit_diagonal)

    def solve_triangular_dense(self, matrix: Operand, rhs: Operand, lower: bool, unit_diagonal: bool) -> Any:
        """Solve a triangular system, or each system of a batch, for one vector."""
        matrix, rhs = self.auto_cast(matrix, rhs, int_to_float=True)
        columns = tb.linalg.triangular_solve(matrix, rhs[..., None], lower=lower, unit_diagonal=unit_diagonal)
        return columns[..., 0]

    def matrix_rank_dense(self, matrix: Operand, hermitian: bool = False) -> Any:
        """The rank of each matrix of a batch."""
        return tb.linalg.matrix_rank(self._floating(matrix))

    def eigvals(self, matrix: Operand) -> Any:
        """The eigenvalues of each matrix."""
        return tb.linalg.eigvals(self._floating(matrix))

    def eig(self, matrix: Operand) -> tuple[Any, Any]:
        """The eigenvalues and eigenvectors of each matrix."""
        values, vectors = tb.linalg.eig(self._floating(matrix))
        return values, vectors

    def svd(self, matrix: Operand, full_matrices: bool = True) -> tuple[Any, Any, Any]:
        """The singular value decomposition of each matrix."""
        left, values, right = tb.linalg.svd(self._floating(matrix), full_matrices=full_matrices)
        return left, values, right
