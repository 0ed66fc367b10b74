"""Callbacks that call a function of the user for one element at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product as index_product
from typing import Any

from ...interchange import numpy_dtype
from ...protocol import Payload
from ...template import Template
from ...tensor import Tensor
from ..functional import fold_elements, map_elements
from .base import Array, ArrayBase


class ArrayFunctional(ArrayBase):
    """Callbacks that take a function of scalar tensors."""

    def reduce(
        self, out: Template, x: Tensor, initial: Tensor, /, *, axes: tuple[int, ...], keepdims: bool,
        function: Callable[[Tensor, Tensor], Tensor],
    ) -> Payload:  # fmt: skip
        """Folds a Python function over the elements, with one call for each element."""
        kept = tuple(axis for axis in range(len(x.shape)) if axis not in axes)
        rows = x.data.transpose(kept + axes).reshape((out.size, x.size // max(out.size, 1)))
        elements = ([row[place, ...] for place in range(len(row))] for row in rows)
        return collect(self.xp, out, fold_elements(self, function, initial, x.dtype, elements))

    def map(self, out: Template, x: Tensor, /, *, function: Callable[[Tensor], Tensor]) -> Payload:
        """Applies a Python function to each element, with one call for each element."""
        elements = (x.data[(*index, ...)] for index in index_product(*map(range, x.shape)))
        return collect(self.xp, out, map_elements(self, function, x.dtype, elements))


def collect(xp: Any, out: Template, elements: Iterable[Array]) -> Array:
    """A result made of arrays without axes, one for each of its elements."""
    result = xp.empty(out.size, numpy_dtype(out.dtype))
    for place, element in enumerate(elements):
        result[place] = element
    return result.reshape(out.shape)
