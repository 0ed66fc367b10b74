"""Products with sparse matrices: one gather and one sum by rows, which XLA fuses better than the ops of the default."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from ....ops.composite.linalg.sparse import Format
from ....protocol import Kernel, planned
from ....template import Template
from ...array_module.base import Array
from ...array_module.precision import promoted
from ..base import JaxBase


class JaxSparse(JaxBase):
    """Products with matrices of which some entries are stored."""

    @planned
    def sparse_matvec(
        self,
        out: Template,
        values: Template,
        first: Template,
        second: Template,
        x: Template,
        /,
        *,
        format: Format,
        rows: int,
    ) -> Kernel:
        """Batches are mapped over."""
        kernel = self._over_batches(self._of_one(format, rows), out, (values, first, second, x), 1)
        return promoted(self, out.dtype, kernel, out, values, None, None, x)

    @planned
    def sparse_matmul(
        self,
        out: Template,
        values: Template,
        first: Template,
        second: Template,
        x: Template,
        /,
        *,
        format: Format,
        rows: int,
    ) -> Kernel:
        """Batches are mapped over."""
        kernel = self._over_batches(self._of_one(format, rows), out, (values, first, second, x), 2)
        return promoted(self, out.dtype, kernel, out, values, None, None, x)

    def _of_one(self, format: Format, rows: int) -> Callable[..., Array]:
        """The product of one matrix with a vector or a matrix."""
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
        """The row of each of so many values: how many rows end at it or before."""
        xp = self.xp
        ends = xp.clip(pointers[1:], 0, count)
        counts = xp.zeros(count + 1, "int32").at[ends].add(1)
        return self.lax.associative_scan(xp.add, counts)[:count]

    def _over_batches(self, one: Callable[..., Array], out: Template, inputs: Sequence[Template], width: int) -> Kernel:
        """A function of one matrix on each of a batch, whose axes are in front; `width` is x's own axes."""
        own = (1, 1, 1, width)
        batch = out.shape[: out.ndim - width]
        if not batch:
            return one
        has = [template.ndim > count for template, count in zip(inputs, own, strict=True)]
        mapped, xp = self.jax.vmap(one, [0 if each else None for each in has]), self.xp

        def each(*arrays: Array) -> Array:
            laid = [
                xp.broadcast_to(array, (*batch, *array.shape[array.ndim - count :])).reshape(
                    prod(batch), *array.shape[array.ndim - count :]
                )
                if batched
                else array
                for array, count, batched in zip(arrays, own, has, strict=True)
            ]
            return mapped(*laid).reshape(out.shape)

        return each
