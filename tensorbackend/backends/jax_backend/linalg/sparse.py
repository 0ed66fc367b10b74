"""Products with sparse matrices: one gather and one sum by rows, which XLA fuses better than the default's ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Final

from ....ops.composite.linalg.sparse import Format
from ....protocol import Kernel, planned
from ....template import Template
from ...array_module.base import Array
from ...array_module.precision import promoting_kernel
from ..base import JaxBase

MOST_UNROLLED_STEPS: Final = 16
"""The largest number of steps that are unrolled; each step adds one value of every row."""


def _steps(count: int, rows: int) -> int:
    """The largest number of values of a row for which steps are unrolled: two more than the mean."""
    return -(-count // rows) + 2


class JaxSparse(JaxBase):
    """Products with matrices of which only some entries are stored."""

    @planned
    def sparse_matvec(
        self, out: Template, values: Template, first: Template, second: Template, x: Template, /, *, format: Format,
        rows: int,
    ) -> Kernel:  # fmt: skip
        """The product of a sparse matrix and a vector, mapped over batches."""
        one = self._single_product(format, rows)
        quick = self._row_entries_product(rows, one) if format == "csr" and x.size and rows else None
        kernel = self._batch_kernel(one, out, (values, first, second, x), 1, quick)
        return promoting_kernel(self, out.dtype, kernel, out, values, None, None, x)

    @planned
    def sparse_matmul(
        self, out: Template, values: Template, first: Template, second: Template, x: Template, /, *, format: Format,
        rows: int,
    ) -> Kernel:  # fmt: skip
        """The product of a sparse matrix and a matrix, mapped over batches."""
        kernel = self._batch_kernel(self._single_product(format, rows), out, (values, first, second, x), 2)
        return promoting_kernel(self, out.dtype, kernel, out, values, None, None, x)

    def _single_product(self, format: Format, rows: int) -> Callable[..., Array]:
        """A function that multiplies one sparse matrix by a vector or a matrix."""
        xp = self.xp

        def product(values: Array, first: Array, second: Array, x: Array) -> Array:
            pair = (first, second) if format == "coo" else (self._major_of_each(first, len(second)), second)
            row, column = pair[::-1] if format == "csc" else pair
            entries = x[xp.clip(column, 0, max(len(x) - 1, 0))]
            terms = (values if x.ndim == 1 else values[:, None]) * entries
            total = xp.zeros((rows, *x.shape[1:]), terms.dtype)
            return total.at[xp.clip(row, 0, max(rows - 1, 0))].add(terms, indices_are_sorted=format == "csr")

        return product

    def _major_of_each(self, pointers: Array, count: int) -> Array:
        """The row (in CSC, the column) of each of `count` values: the number of rows that end at it or before it."""
        xp = self.xp
        ends = xp.clip(pointers[1:], 0, count)
        counts = xp.zeros(count + 1, "int32").at[ends].add(1)
        # JAX's associative scan uses interior padding, which XLA gets wrong along an axis that devices divide.
        running = xp.cumsum(counts) if self.lays_by_name else self.lax.associative_scan(xp.add, counts)
        return running[:count]

    def _row_entries_product(self, rows: int, one: Callable[..., Array]) -> Callable[..., Array] | None:
        """A product with a vector that takes the first values of all rows, then their second values, and so on.

        On a CPU, for rows of about the same length, a loop of such steps is twice as fast as `one`. If no row has many
        more values than the mean, the number of steps is known: they are unrolled, which is twice as fast again. Other
        matrices are left to `one`; `None` on other devices.
        """
        xp, lax = self.xp, self.lax
        if self.platform != "cpu":
            return None

        def multiply_even_rows(values: Array, pointers: Array, columns: Array, x: Array) -> Array:
            lengths = pointers[1:] - pointers[:-1]

            def iteration(state: tuple[Array, Array]) -> tuple[Array, Array]:
                step, total = state
                at = xp.minimum(pointers[:-1] + step, len(values) - 1)
                entries = x[xp.clip(columns[at], 0, len(x) - 1)]
                return step + 1, total + xp.where(step < lengths, values[at] * entries, 0)

            start = xp.zeros((), lengths.dtype), xp.zeros(rows, xp.result_type(values, x))
            longest = lengths.max()
            return lax.while_loop(lambda state: state[0] < longest, iteration, start)[1]

        def multiply_in_few_steps(values: Array, pointers: Array, columns: Array, x: Array) -> Array:
            starts, lengths = pointers[:-1], pointers[1:] - pointers[:-1]
            total = xp.zeros(rows, xp.result_type(values, x))
            for step in range(_steps(len(values), rows)):
                at = xp.minimum(starts + step, len(values) - 1)
                column = xp.clip(columns.at[at].get(mode="promise_in_bounds"), 0, len(x) - 1)
                terms = values.at[at].get(mode="promise_in_bounds") * x.at[column].get(mode="promise_in_bounds")
                total = total + xp.where(step < lengths, terms, 0)
            return total

        def product(values: Array, pointers: Array, columns: Array, x: Array) -> Array:
            count = len(values)
            if not count:
                return one(values, pointers, columns, x)
            pointers = pointers.astype(self.long.name)
            lengths = pointers[1:] - pointers[:-1]
            fits = (pointers[0] == 0) & (pointers[-1] == count) & (lengths >= 0).all()
            longest = lengths.max()
            even, few = fits & (longest * rows <= 4 * count), fits & (longest <= _steps(count, rows))

            def multiply_any_rows(*arrays: Array) -> Array:
                return lax.cond(even, multiply_even_rows, one, *arrays)

            if _steps(count, rows) > MOST_UNROLLED_STEPS:
                return multiply_any_rows(values, pointers, columns, x)
            return lax.cond(few, multiply_in_few_steps, multiply_any_rows, values, pointers, columns, x)

        return product

    def _batch_kernel(
        self, one: Callable[..., Array], out: Template, inputs: Sequence[Template], width: int,
        place_by_place: Callable[..., Array] | None = None,
    ) -> Kernel:  # fmt: skip
        """A kernel that applies a function of one matrix to each matrix of a batch.

        The axes of the batch come first; after them x has `width` axes. Without a batch the faster `place_by_place`
        runs, if there is one, with the derivative of `one`.
        """
        own_axes = (1, 1, 1, width)
        batch = out.shape[: out.ndim - width]
        if not batch:
            return one if place_by_place is None else self.derived(place_by_place, one)
        has = [template.ndim > count for template, count in zip(inputs, own_axes, strict=True)]
        mapped, xp = self.jax.vmap(one, [0 if batched else None for batched in has]), self.xp

        def apply_to_batch(*arrays: Array) -> Array:
            laid = [
                xp.broadcast_to(array, (*batch, *array.shape[array.ndim - count :])).reshape(
                    prod(batch), *array.shape[array.ndim - count :]
                )
                if batched
                else array
                for array, count, batched in zip(arrays, own_axes, has, strict=True)
            ]
            return mapped(*laid).reshape(out.shape)

        return apply_to_batch
