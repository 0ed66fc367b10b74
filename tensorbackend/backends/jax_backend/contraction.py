"""Contractions."""

from __future__ import annotations

from math import prod
from typing import Any

from ...interchange import numpy_dtype
from ...protocol import Kernel, planned
from ...template import Template
from ..array_module.base import Array
from ..array_module.contraction import ArrayContraction
from ..array_module.precision import computing_kernel
from .base import JaxBase

Axes = tuple[int, ...]


class JaxContraction(JaxBase, ArrayContraction):
    """Sums of products."""

    @planned
    def dot(
        self, out: Template, x1: Template, x2: Template, /, *, contract1: tuple[int, ...], batch1: tuple[int, ...],
        contract2: tuple[int, ...], batch2: tuple[int, ...],
    ) -> Kernel:  # fmt: skip
        """XLA's own contraction; complex numbers by their parts, as XLA does not define the results for infinities."""
        lax, dimensions = self.lax, ((contract1, contract2), (batch1, batch2))
        precision = self.precision

        are_vectors = len(contract1) + len(batch1) == len(x1.shape) == len(x2.shape)
        one_by_one = are_vectors and self.adds_one_by_one(prod(x1.shape[axis] for axis in contract1), out.dtype)
        accumulator = numpy_dtype(self.wide)

        def product(left: Array, right: Array) -> Array:
            if one_by_one:
                return _sum_products(left, right, dimensions, accumulator)
            return lax.dot_general(left, right, dimensions, precision=precision)

        def dot_parts(left: Array, right: Array) -> Array:
            a, b, c, d = left.real, left.imag, right.real, right.imag
            return lax.complex(product(a, c) - product(b, d), product(a, d) + product(b, c))

        kernel = computing_kernel(dot_parts if out.dtype.is_complex else product, out, x1, x2)
        return self.as_numbers(kernel, x1, x2) if out.dtype.is_inexact else kernel


def _sum_products(
    left: Array, right: Array, dimensions: tuple[tuple[Axes, Axes], tuple[Axes, Axes]], accumulator: Any
) -> Array:
    """The sums of products, accumulated in a dtype, of arrays whose axes are all contracted or of the batch.

    XLA's CPU compiler adds one by one in a contraction: 120,000 products of 0.1 and 1 would be off by 8e-4.
    """
    (contract1, contract2), (batch1, batch2) = dimensions
    places = dict(zip((*contract1, *batch1), (*contract2, *batch2), strict=True))
    products = left * right.transpose([places[axis] for axis in range(len(places))])
    sums = products.sum(contract1, dtype=accumulator).astype(products.dtype)
    return sums.transpose([sorted(batch1).index(axis) for axis in batch1])
