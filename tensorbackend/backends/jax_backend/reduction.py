"""Reductions and accumulations by `jax.lax`, and Python functions of scalars, which are traced."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

from ...dtypes import bool_
from ...interchange import numpy_dtype
from ...protocol import Payload
from ...select import default_backend
from ...template import Template
from ...tensor import Tensor
from ..array_module.base import Array, kernel
from ..array_module.complex_functions import product_by_parts
from ..array_module.reduction import ArrayReduction
from ..functional import calling
from .base import JaxBase

Fold = Callable[[Tensor, Tensor], Tensor]


class JaxReduction(JaxBase, ArrayReduction):
    """What combines or orders the elements along axes."""

    @kernel
    def reduce_max(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        """Greatest element; 0.0 is above -0.0."""
        return greatest(self.xp, x.data, partial(self.xp.max, axis=axes, keepdims=keepdims))

    @kernel
    def reduce_min(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        """Least element; -0.0 is below 0.0."""
        return least(self.xp, x.data, partial(self.xp.min, axis=axes, keepdims=keepdims))

    @kernel
    def product(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        """Product, of the narrow floats in float32; of complex numbers in float64 from the first to the last."""
        if not out.dtype.is_complex:
            return super().product(out, x, axes=axes, keepdims=keepdims)
        kept = tuple(axis for axis in range(x.template.ndim) if axis not in axes)
        rows = x.data.transpose(axes + kept).reshape((prod(x.shape[axis] for axis in axes), out.size))
        rows = rows.astype(self.xp.result_type(rows.dtype, self.wide.name))
        if not len(rows):
            return self.xp.ones(out.shape, rows.dtype)

        def step(total: Array, row: Array) -> tuple[Array, None]:
            return product_by_parts(self.xp, total, row), None

        found, _ = self.lax.scan(step, rows[0], rows[1:])
        return found.reshape(out.shape)

    @kernel
    def cumulative_max(self, out: Template, x: Tensor, /, *, axis: int, reverse: bool) -> Payload:
        """Greatest element up to each."""
        return self._running(self.lax.cummax, -0.0, x, axis, reverse)

    @kernel
    def cumulative_min(self, out: Template, x: Tensor, /, *, axis: int, reverse: bool) -> Payload:
        """Least element up to each."""
        return self._running(self.lax.cummin, 0.0, x, axis, reverse)

    def _running(self, extreme: Callable[..., Array], loser: float, x: Tensor, axis: int, reverse: bool) -> Array:
        """A running extreme; a zero has the sign that loses only until one of the other sign is met."""
        xp, values = self.xp, x.data
        if x.dtype is bool_:
            return extreme(values.astype("int8"), axis=axis, reverse=reverse) != 0
        found = extreme(values, axis=axis, reverse=reverse)
        if not x.dtype.is_floating:
            return found
        wins = (values == 0) & (xp.signbit(values) != xp.signbit(loser))
        met = self.lax.cummax(wins.astype("int8"), axis=axis, reverse=reverse) > 0
        zero = xp.where(met, -loser, loser).astype(found.dtype)
        return xp.where(found == 0, xp.copysign(found, zero), found)

    # Order: JAX's sorts are stable and put NaN last, also in float16 and bfloat16

    @kernel
    def sort(self, out: Template, x: Tensor, /, *, axis: int, descending: bool) -> Payload:
        """Elements in order: descending is ascending from the other end, both ways round."""
        xp = self.xp
        if descending:
            return xp.flip(xp.sort(xp.flip(x.data, axis), axis=axis, stable=True), axis)
        return xp.sort(x.data, axis=axis, stable=True)

    @kernel
    def argsort(self, out: Template, x: Tensor, /, *, axis: int, descending: bool) -> Payload:
        """Indices that would sort: descending is ascending from the other end, both ways round."""
        xp = self.xp
        if descending:
            order = xp.argsort(xp.flip(x.data, axis), axis=axis, stable=True)
            return x.shape[axis] - 1 - xp.flip(order, axis)
        return xp.argsort(x.data, axis=axis, stable=True)

    # Functions of scalars, which are traced once

    def reduce(
        self,
        out: Template,
        x: Tensor,
        initial: Tensor,
        /,
        *,
        axes: tuple[int, ...],
        keepdims: bool,
        function: Fold,
    ) -> Payload:
        """Folds a Python function over the elements, from the first to the last."""
        kept = tuple(axis for axis in range(len(x.shape)) if axis not in axes)
        rows = x.data.transpose(axes + kept).reshape((prod(x.shape[axis] for axis in axes), out.size))
        return self.fold(function, initial, rows, None).reshape(out.shape)

    def fold(self, function: Fold, initial: Tensor, rows: Array, valid: Array | None) -> Array:
        """A function folded over the first axis of rows (steps, results), but for what is not valid."""
        xp, call = self.xp, calling(self, function)

        def step(folded: Array, element: Array, included: Array) -> Array:
            result = call(self.tensor(folded), self.tensor(element)).data
            return xp.where(included, result, folded)

        start = xp.broadcast_to(initial.data, rows.shape[1:])
        flags = xp.ones(rows.shape, bool) if valid is None else valid
        columns = self.jax.vmap(step)
        with default_backend(self):
            return self.lax.scan(lambda total, row: (columns(total, *row), None), start, (rows, flags))[0]

    def map(self, out: Template, x: Tensor, /, *, function: Callable[[Tensor], Tensor]) -> Payload:
        """A Python function of each element."""
        call = calling(self, function)

        def single(element: Array) -> Array:
            return call(self.tensor(element)).data

        with default_backend(self):
            if not x.size:
                return self.xp.zeros(out.shape, numpy_dtype(out.dtype))
            return self.jax.vmap(single)(x.data.reshape(-1)).reshape(out.shape)


# 0.0 is above -0.0. A zero is added to a zero of the wrong sign, and -0.0, which changes nothing, to all else: so the
# gradient goes where it went, which abs() and copysign() of a zero would stop.


def greatest(xp: Any, values: Array, reduce: Callable[[Array], Array]) -> Array:
    """What a reduction to the maximum gives, a zero with the sign of the greatest zero."""
    found = reduce(values)
    if not xp.issubdtype(values.dtype, xp.floating):
        return found
    plus = reduce(((values == 0) & ~xp.signbit(values)).astype("int8")) > 0
    return found + xp.where((found == 0) & plus, 0.0, -0.0).astype(found.dtype)


def least(xp: Any, values: Array, reduce: Callable[[Array], Array]) -> Array:
    """What a reduction to the minimum gives, a zero with the sign of the least zero."""
    found = reduce(values)
    if not xp.issubdtype(values.dtype, xp.floating):
        return found
    minus = reduce(1 - ((values == 0) & xp.signbit(values)).astype("int8")) < 1
    return -(-found + xp.where((found == 0) & minus, 0.0, -0.0).astype(found.dtype))
