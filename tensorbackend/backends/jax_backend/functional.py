"""Callbacks that call functions of the user, which JAX traces once."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from ...annotations import Ints
from ...interchange import numpy_dtype
from ...protocol import Payload
from ...scopes import in_own_context
from ...select import default_backend
from ...template import Template
from ...tensor import Tensor
from ..array_module.base import Array
from ..array_module.functional import ArrayFunctional
from ..functional import move_results
from .base import JaxBase


class JaxFunctional(JaxBase, ArrayFunctional):
    """Functions of scalar tensors."""

    def reduce(
        self, out: Template, x: Tensor, initial: Tensor, /, *, axes: Ints, keepdims: bool, function: Fold
    ) -> Payload:
        """Folds a Python function over the elements, from the first to the last."""
        kept = tuple(axis for axis in range(len(x.shape)) if axis not in axes)
        rows = x.data.transpose(axes + kept).reshape((prod(x.shape[axis] for axis in axes), out.size))
        return self.fold_rows(function, initial, rows, None).reshape(out.shape)

    @in_own_context
    def fold_rows(self, function: Fold, initial: Tensor, rows: Array, valid: Array | None) -> Array:
        """Folds a function over the first axis of `rows` (steps, results), without elements that are not `valid`."""
        xp, call = self.xp, move_results(self, function)

        def step(folded: Array, element: Array, included: Array) -> Array:
            result = call(self.tensor(folded), self.tensor(element)).data
            return xp.where(included, result, folded)

        start = xp.broadcast_to(initial.data, rows.shape[1:])
        flags = xp.ones(rows.shape, bool) if valid is None else valid
        columns = self.jax.vmap(step)
        with default_backend(self):
            return self.lax.scan(lambda total, row: (columns(total, *row), None), start, (rows, flags))[0]

    @in_own_context
    def map(self, out: Template, x: Tensor, /, *, function: Callable[[Tensor], Tensor]) -> Payload:
        """Applies a Python function to each element."""
        call = move_results(self, function)

        def single(element: Array) -> Array:
            return call(self.tensor(element)).data

        with default_backend(self):
            if not x.size:
                return self.xp.zeros(out.shape, numpy_dtype(out.dtype))
            return self.jax.vmap(single)(x.data.reshape(-1)).reshape(out.shape)


Fold = Callable[[Tensor, Tensor], Tensor]
