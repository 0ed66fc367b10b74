"""Callbacks that call a function of the user for one element at a time."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product as index_product

from ...interchange import numpy_dtype
from ...protocol import Payload
from ...scopes import in_own_context
from ...select import default_backend
from ...template import Template, intern_template
from ...tensor import Tensor
from ..functional import calling
from .base import ArrayBase


class ArrayFunctional(ArrayBase):
    """Callbacks that take a function of scalar tensors."""

    @in_own_context
    def reduce(
        self,
        out: Template,
        x: Tensor,
        initial: Tensor,
        /,
        *,
        axes: tuple[int, ...],
        keepdims: bool,
        function: Callable[[Tensor, Tensor], Tensor],
    ) -> Payload:
        """Folds a Python function over the elements, with one call for each element."""
        kept = tuple(axis for axis in range(len(x.shape)) if axis not in axes)
        rows = x.data.transpose(kept + axes).reshape((out.size, x.size // max(out.size, 1)))
        template, call = intern_template((), x.dtype, ()), calling(self, function)
        result = self.xp.empty(out.size, numpy_dtype(out.dtype))
        with default_backend(self):
            for position in range(out.size):
                folded = initial
                for element in range(rows.shape[1]):
                    folded = call(folded, Tensor(template, self, rows[position, element, ...]))
                result[position] = folded.data
        return result.reshape(out.shape)

    @in_own_context
    def map(self, out: Template, x: Tensor, /, *, function: Callable[[Tensor], Tensor]) -> Payload:
        """Applies a Python function to each element, with one call for each element."""
        template, call = intern_template((), x.dtype, ()), calling(self, function)
        result = self.xp.empty(out.shape, numpy_dtype(out.dtype))
        with default_backend(self):
            for index in index_product(*map(range, x.shape)):
                result[index] = call(Tensor(template, self, x.data[(*index, ...)])).data
        return result
