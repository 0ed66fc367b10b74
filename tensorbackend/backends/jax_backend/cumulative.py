"""Accumulations by `jax.lax`."""

from __future__ import annotations

from typing import Literal

from ...dtypes import DType, bool_, finfo
from ...interchange import numpy_dtype
from ...protocol import Kernel, planned
from ...template import Template
from ..array_module.base import Array
from ..array_module.cumulative import ArrayCumulative
from .base import JaxBase


class JaxCumulative(JaxBase, ArrayCumulative):
    """Callbacks that accumulate along an axis."""

    def running(self, name: Literal["cumsum", "cumprod"], axis: int, dtype: DType) -> Kernel:
        """A kernel as in the shared body, but on a CPU sums of integers are an associative scan.

        They are exact in any order, and the scan is four times as fast for 45,000 elements.
        """
        if name == "cumsum" and dtype.is_floating:
            return self._signed(super().running(name, axis, dtype), axis)
        # JAX's associative scan uses interior padding, which XLA gets wrong along an axis that devices divide.
        if name != "cumsum" or not dtype.is_integer or self.platform != "cpu" or self.lays_by_name:
            return super().running(name, axis, dtype)
        add, scan, accumulator = self.xp.add, self.lax.associative_scan, numpy_dtype(dtype)
        return lambda values: scan(add, values.astype(accumulator), axis=axis)

    def _signed(self, sums: Kernel, axis: int) -> Kernel:
        """A kernel of running sums that are -0.0 up to the first term that is not: XLA adds each to a zero."""
        xp, iota = self.xp, self.lax.broadcasted_iota

        def accumulate(values: Array) -> Array:
            total, places = sums(values), iota("int64", values.shape, axis)
            other = (values != 0) | ~xp.signbit(values)
            count = values.shape[axis]
            first = xp.min(xp.where(other, places, count), axis=axis, keepdims=True, initial=count)
            return xp.where(places >= first, total, -xp.zeros_like(total))

        return accumulate

    def cumulative_product_of_complex(self, axis: int) -> Kernel:
        """Computes the product by parts, from the first element to the last, in the dtype to compute in."""
        xp, lax = self.xp, self.lax

        def step(total: Array, row: Array) -> tuple[Array, Array]:
            total = xp.product_by_parts(total, row)
            return total, total

        def products(values: Array) -> Array:
            rows = xp.moveaxis(xp.widen(values), axis, 0)
            running_products = xp.concatenate((rows[:1], lax.scan(step, rows[0], rows[1:])[1])) if len(rows) else rows
            return xp.moveaxis(running_products, 0, axis).astype(values.dtype)

        return products

    @planned
    def cumulative_max(self, out: Template, x: Template, /, *, axis: int, reverse: bool) -> Kernel:
        """Largest element up to and including each element."""
        return self._running(self.lax.cummax, -0.0, x, axis, reverse)

    @planned
    def cumulative_min(self, out: Template, x: Template, /, *, axis: int, reverse: bool) -> Kernel:
        """Least element up to and including each element."""
        return self._running(self.lax.cummin, 0.0, x, axis, reverse)

    def _running(self, extreme: Kernel, loser: float, x: Template, axis: int, reverse: bool) -> Kernel:
        """A kernel of running extremes; a zero has the losing sign only up to the first zero of the other sign."""
        xp, cummax = self.xp, self.lax.cummax
        if x.dtype is bool_:
            return lambda values: extreme(values.astype("int8"), axis=axis, reverse=reverse) != 0
        if not x.dtype.is_floating:
            return lambda values: extreme(values, axis=axis, reverse=reverse)

        normal = finfo(x.dtype).smallest_normal

        def accumulate(values: Array) -> Array:
            extremes = extreme(values, axis=axis, reverse=reverse)
            # Not `values == 0`: XLA takes a subnormal bfloat16 for zero in `extremes == 0` below, but not here.
            wins = (xp.abs(values) < normal) & (xp.signbit(values) != xp.signbit(loser))
            met = cummax(wins.astype("int8"), axis=axis, reverse=reverse) > 0
            zero = xp.where(met, -loser, loser).astype(extremes.dtype)
            return xp.where(extremes == 0, xp.copysign(extremes, zero), extremes)

        return accumulate
