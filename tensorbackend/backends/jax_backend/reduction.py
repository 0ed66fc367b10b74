"""Reductions and accumulations by `jax.lax`, and Python functions of scalars, which are traced."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

from ...dtypes import bool_
from ...interchange import numpy_dtype
from ...protocol import Kernel, Payload, kernel_of, planned
from ...select import default_backend
from ...template import Template
from ...tensor import Tensor
from ..array_module.base import Array
from ..array_module.complex_functions import product_by_parts
from ..array_module.reduction import ArrayReduction
from ..functional import calling
from .base import JaxBase

Fold = Callable[[Tensor, Tensor], Tensor]


class JaxReduction(JaxBase, ArrayReduction):
    """What combines or orders the elements along axes."""

    @planned
    def reduce_max(self, out: Template, x: Template, /, *, axes: tuple[int, ...], keepdims: bool) -> Kernel:
        """Greatest element; 0.0 is above -0.0."""
        return partial(greatest, self.xp, reduce=partial(self.xp.max, axis=axes, keepdims=keepdims))

    @planned
    def reduce_min(self, out: Template, x: Template, /, *, axes: tuple[int, ...], keepdims: bool) -> Kernel:
        """Least element; -0.0 is below 0.0."""
        return partial(least, self.xp, reduce=partial(self.xp.min, axis=axes, keepdims=keepdims))

    @planned
    def product(self, out: Template, x: Template, /, *, axes: tuple[int, ...], keepdims: bool) -> Kernel:
        """Product, of the narrow floats in float32; of complex numbers in float64 from the first to the last."""
        if not out.dtype.is_complex:
            return kernel_of(super().product, out, x, axes=axes, keepdims=keepdims)
        xp, lax, wide = self.xp, self.lax, self.xp.result_type(numpy_dtype(x.dtype), self.wide.name)
        order = axes + tuple(axis for axis in range(len(x.shape)) if axis not in axes)
        shape = prod(x.shape[axis] for axis in axes), out.size

        def step(total: Array, row: Array) -> tuple[Array, None]:
            return product_by_parts(xp, total, row), None

        def product(values: Array) -> Array:
            rows = values.transpose(order).reshape(shape).astype(wide)
            if not len(rows):
                return xp.ones(out.shape, wide)
            return lax.scan(step, rows[0], rows[1:])[0].reshape(out.shape)

        return product

    @planned
    def cumulative_max(self, out: Template, x: Template, /, *, axis: int, reverse: bool) -> Kernel:
        """Greatest element up to each."""
        return self._running(self.lax.cummax, -0.0, x, axis, reverse)

    @planned
    def cumulative_min(self, out: Template, x: Template, /, *, axis: int, reverse: bool) -> Kernel:
        """Least element up to each."""
        return self._running(self.lax.cummin, 0.0, x, axis, reverse)

    def _running(self, extreme: Kernel, loser: float, x: Template, axis: int, reverse: bool) -> Kernel:
        """A running extreme; a zero has the sign that loses only until one of the other sign is met."""
        xp, cummax = self.xp, self.lax.cummax
        if x.dtype is bool_:
            return lambda values: extreme(values.astype("int8"), axis=axis, reverse=reverse) != 0
        if not x.dtype.is_floating:
            return lambda values: extreme(values, axis=axis, reverse=reverse)

        def running(values: Array) -> Array:
            found = extreme(values, axis=axis, reverse=reverse)
            wins = (values == 0) & (xp.signbit(values) != xp.signbit(loser))
            met = cummax(wins.astype("int8"), axis=axis, reverse=reverse) > 0
            zero = xp.where(met, -loser, loser).astype(found.dtype)
            return xp.where(found == 0, xp.copysign(found, zero), found)

        return running

    # Order: JAX's sorts are stable and put NaN last

    def ordering(self, x: Template, axis: int) -> Kernel:
        """Values ascending along an axis, equal ones in the order in which they come."""
        sort = self.xp.sort
        return lambda values: sort(values, axis=axis, stable=True)

    def order_of(self, x: Template, axis: int) -> Kernel:
        """The indices that bring values into that order."""
        argsort = self.xp.argsort
        return lambda values: argsort(values, axis=axis, stable=True)

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
