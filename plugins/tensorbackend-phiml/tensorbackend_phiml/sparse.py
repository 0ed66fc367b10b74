"""Sparse matrices: the adapter uses the matrices of `tb.sparse`, which are trees of tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorbackend as tb
from tensorbackend.sparse import COO, CSC, CSR, SparseMatrix

from .base import Operand
from .indexing import Indexing
from .linalg import Linalg


class Sparse(Linalg, Indexing):
    """Functions of sparse matrices."""

    def is_sparse(self, x: Any) -> bool:
        """Whether a value is a sparse matrix."""
        return isinstance(x, SparseMatrix)

    def get_sparse_format(self, x: Operand) -> str:
        """The layout of a sparse matrix, `"dense"` for any other value."""
        return x.format if isinstance(x, SparseMatrix) else "dense"

    def disassemble(self, x: Operand) -> tuple[Callable[..., Any], Sequence[Any]]:
        """A function that rebuilds a value from its tensors on a backend, and these tensors."""
        if isinstance(x, COO):
            return lambda b, i, v: b.sparse_coo_tensor(i, v, x.shape), (
                tb.stack([x.rows, x.columns], axis=-1),
                x.values,
            )
        if isinstance(x, CSR):
            return lambda b, v, i, p: b.csr_matrix(i, p, v, x.shape), (x.values, x.indices, x.pointers)
        if isinstance(x, CSC):  # PhiML's gradients of solves read the parts in this order, which is not that of CSR
            return lambda b, v, p, i: b.csc_matrix(p, i, v, x.shape), (x.values, x.pointers, x.indices)
        return lambda b, t: t, (x,)

    # Construction

    def sparse_coo_tensor(self, indices: Operand, values: Operand, shape: Sequence[int]) -> Any:
        """Make a matrix in COO layout from the row and column of each value."""
        rows, columns = tb.unstack(self._indices(indices), axis=-1)
        return tb.sparse.coo(self.as_tensor(values), rows, columns, shape=pair(shape))

    def csr_matrix(self, column_indices: Operand, row_pointers: Operand, values: Operand, shape: Sequence[int]) -> Any:
        """Make a matrix in CSR layout."""
        parts = self.as_tensor(values), self._indices(column_indices), self._indices(row_pointers)
        return tb.sparse.csr(*parts, shape=pair(shape))

    def csc_matrix(self, column_pointers: Operand, row_indices: Operand, values: Operand, shape: Sequence[int]) -> Any:
        """Make a matrix in CSC layout."""
        parts = self.as_tensor(values), self._indices(row_indices), self._indices(column_pointers)
        return tb.sparse.csc(*parts, shape=pair(shape))

    def sparse_coo_tensor_batched(self, indices: Operand, values: Operand, shape: Sequence[int]) -> Any:
        """Make a batch of matrices in COO layout, with several channels one matrix for each channel of an example."""
        places, values = self._batched(indices, values)
        rows, columns = tb.unstack(places, axis=-1)
        return tb.sparse.coo(values, rows, columns, shape=pair(shape))

    def csr_matrix_batched(
        self, column_indices: Operand, row_pointers: Operand, values: Operand, shape: Sequence[int]
    ) -> Any:
        """Make a batch of matrices in CSR layout, with several channels one matrix for each channel of an example."""
        return self._compressed(tb.sparse.csr, column_indices, row_pointers, values, shape)

    def csc_matrix_batched(
        self, column_pointers: Operand, row_indices: Operand, values: Operand, shape: Sequence[int]
    ) -> Any:
        """Make a batch of matrices in CSC layout, with several channels one matrix for each channel of an example."""
        return self._compressed(tb.sparse.csc, row_indices, column_pointers, values, shape)

    def _compressed(self, make: Any, indices: Operand, pointers: Operand, values: Operand, shape: Sequence[int]) -> Any:
        places, entries = self._batched(indices, values)
        return make(entries, places, self._batched(pointers, values)[0], shape=pair(shape))

    def _batched(self, places: Operand, values: Operand) -> tuple[Any, Any]:
        """Arrange indices (batch, n, ...) and values (batch, n, channels) for `tb.sparse`, where the entries come last.

        Values become (batch, channels, n). Indices of a single example are used for all examples and lose their batch
        axis: (1, n, 2) and (3, n, 4) become (n, 2) and (3, 4, n).
        """
        places, values = self._indices(places), self.as_tensor(values)
        if values.ndim == 3:
            values = tb.moveaxis(values, 1, 2)
            places = places[:, None]
        return (tb.reshape(places, places.shape[values.ndim - 1 :]) if places.shape[0] == 1 else places), values

    # Conversion

    def coo_to_dense(self, indices: Operand, values: Operand, shape: Sequence[int], contains_duplicates: bool) -> Any:
        """Convert a batch of COO matrices with channels to dense tensors.

        With `contains_duplicates`, values at the same position are added.
        """
        values = self.as_tensor(values)
        base = self.zeros((values.shape[0], *shape, values.shape[-1]), self.dtype(values))
        return self.scatter(base, indices, values, mode="add" if contains_duplicates else "update")

    def csr_to_coo(self, column_indices: Operand, row_pointers: Operand) -> Any:
        """The row and column of each entry of a batch of CSR matrices."""
        columns, pointers = self._indices(column_indices), self._indices(row_pointers)
        count = columns.shape[-1]
        counting = tb.arange(count, dtype=columns.dtype, backend=self.base)

        def rows(pointers: tb.Tensor) -> tb.Tensor:
            return tb.searchsorted(pointers[1:], counting, side="right")

        row_indices = tb.stack([rows(example_pointers) for example_pointers in tb.unstack(pointers)])
        return tb.stack([self._cast(row_indices, columns.dtype), columns], axis=-1)

    def csr_to_dense(
        self,
        column_indices: Operand,
        row_pointers: Operand,
        values: Operand,
        shape: Sequence[int],
        contains_duplicates: bool = False,
    ) -> Any:
        """Convert a batch of CSR matrices with channels to dense tensors."""
        return self.coo_to_dense(self.csr_to_coo(column_indices, row_pointers), values, shape, contains_duplicates)

    # Products

    def mul_coo_dense(self, indices: Operand, values: Operand, shape: Sequence[int], dense: Operand) -> Any:
        """Multiply each matrix of a batch with channels by a dense one of shape (batch, rows, channels, columns)."""
        values, dense = self.auto_cast(values, dense)
        if values.shape[0] == values.shape[2] == 1:
            matrix = self.sparse_coo_tensor(self._indices(indices)[0], values[0, :, 0], shape)
        else:
            matrix = self.sparse_coo_tensor_batched(indices, values, shape)
        return self._times_dense(matrix, dense)

    def mul_csr_dense(
        self, column_indices: Operand, row_pointers: Operand, values: Operand, shape: Sequence[int], dense: Operand
    ) -> Any:
        """Multiply each matrix of a batch with channels by a dense one of shape (batch, rows, channels, columns)."""
        values, dense = self.auto_cast(values, dense)
        if values.shape[0] == values.shape[2] == 1:
            parts = self._indices(column_indices)[0], self._indices(row_pointers)[0], values[0, :, 0]
            matrix = self.csr_matrix(*parts, shape)
        else:
            matrix = self.csr_matrix_batched(column_indices, row_pointers, values, shape)
        return self._times_dense(matrix, dense)

    def _times_dense(self, matrix: Any, dense: Any) -> Any:
        if matrix.ndim == 2:
            batch, _, channels, width = dense.shape
            product = matrix @ tb.reshape(tb.moveaxis(dense, 0, 1), (dense.shape[1], batch * channels * width))
            return tb.moveaxis(tb.reshape(product, (matrix.matrix_size[0], batch, channels, width)), 0, 1)
        return tb.moveaxis(matrix @ tb.moveaxis(dense, 2, 1), 1, 2)

    def mul_matrix_batched_vector(self, A: Operand, b: Operand) -> Any:
        """Multiply a matrix, sparse or dense, by each vector of a batch."""
        if not isinstance(A, SparseMatrix):
            return super().mul_matrix_batched_vector(A, b)
        A, b = self.auto_cast(A, b)
        return tb.sparse.matvec(A, b)

    def linear(self, lin: Any, vector: Operand) -> Any:
        """Apply a function, a matrix, or one matrix for each example, to each vector of a batch."""
        if callable(lin):
            return lin(vector)
        if isinstance(lin, tuple | list):
            vectors = self.unstack(vector)
            return self.stack(
                [self.mul_matrix_batched_vector(m, v[None])[0] for m, v in zip(lin, vectors, strict=True)]
            )
        return self.mul_matrix_batched_vector(lin, vector)

    def mul(self, a: Operand, b: Operand) -> Any:
        """Multiply elementwise; a sparse matrix keeps its sparsity."""
        if isinstance(a, SparseMatrix) or isinstance(b, SparseMatrix):
            matrix, factor = (a, b) if isinstance(a, SparseMatrix) else (b, a)
            return matrix * self.as_tensor(factor)
        return super().mul(a, b)

    # Systems

    def solve_triangular_sparse(self, matrix: Operand, rhs: Operand, lower: bool, unit_diagonal: bool) -> Any:
        """Solve a triangular system for a vector, or for each vector of a batch."""
        matrix, rhs = self.auto_cast(matrix, rhs, int_to_float=True)
        options: dict[str, Any] = {"lower": lower, "unit_diagonal": unit_diagonal}
        if rhs.ndim == 1:
            return tb.sparse.triangular_solve(matrix, rhs, **options)
        return tb.sparse.triangular_solve(matrix, rhs.mT, **options).mT


def pair(shape: Sequence[int]) -> tuple[int, int]:
    """Convert a shape to a pair of ints: the numbers of rows and columns."""
    rows, columns = shape
    return int(rows), int(columns)
