"""Reductions, orderings and accumulations."""

from __future__ import annotations

from math import prod
from typing import Any

from tensorbackend import Template
from tensorbackend.dtypes import DType, bool_, complex64, float32, float64
from tensorbackend.protocol.reduction import TieBreak

from .casting import caster
from .elementwise import joined
from .kernels import NARROW, Function, MlxBase, kernel
from .library import Array, mlx_dtype, mx

_WIDE_TERMS = 1 << 8
"""From this number of terms on, float32 is summed in float64 where the device has it: MLX adds one term at a time."""


class MlxReduction(MlxBase):
    """What combines or orders elements along axes."""

    @kernel()
    def all(self, out: Template, x: Template, *, axes: tuple[int, ...], keepdims: bool) -> Function:
        """Whether every element is true."""
        if x.dtype is bool_:
            return lambda values: mx.all(values, axes, keepdims=keepdims)
        return lambda values: mx.all(values != 0, axes, keepdims=keepdims)

    @kernel()
    def any(self, out: Template, x: Template, *, axes: tuple[int, ...], keepdims: bool) -> Function:
        """Whether any element is true."""
        if x.dtype is bool_:
            return lambda values: mx.any(values, axes, keepdims=keepdims)
        return lambda values: mx.any(values != 0, axes, keepdims=keepdims)

    @kernel()
    def sum(self, out: Template, x: Template, *, axes: tuple[int, ...], keepdims: bool) -> Function:
        """Sum in the dtype of the result."""
        return self._accumulating("sum", out, x, axes, keepdims)

    @kernel()
    def product(self, out: Template, x: Template, *, axes: tuple[int, ...], keepdims: bool) -> Function:
        """Product in the dtype of the result."""
        if out.dtype is complex64:  # the order of multiplication decides the results for infinities
            return self.by_numpy("product", out, x, axes=axes, keepdims=keepdims)
        return self._accumulating("prod", out, x, axes, keepdims)

    @kernel()
    def reduce_max(self, out: Template, x: Template, *, axes: tuple[int, ...], keepdims: bool) -> Function:
        """Largest element; 0.0 is above -0.0."""
        return greatest_along(x.dtype, axes, keepdims)

    @kernel()
    def reduce_min(self, out: Template, x: Template, *, axes: tuple[int, ...], keepdims: bool) -> Function:
        """Least element; -0.0 is below 0.0."""
        return least_along(x.dtype, axes, keepdims)

    @kernel()
    def argmax(self, out: Template, x: Template, *, axis: int | None, keepdims: bool, tie_break: TieBreak) -> Function:
        """Index of the largest element."""
        return _position("argmax", out, x, axis, tie_break)

    @kernel()
    def argmin(self, out: Template, x: Template, *, axis: int | None, keepdims: bool, tie_break: TieBreak) -> Function:
        """Index of the minimum."""
        return _position("argmin", out, x, axis, tie_break)

    # Order

    @kernel()
    def sort(self, out: Template, x: Template, *, axis: int, descending: bool) -> Function:
        """Elements in order."""
        order = _order(x, axis, descending)
        return lambda values: mx.take_along_axis(values, order(values), axis)

    @kernel()
    def argsort(self, out: Template, x: Template, *, axis: int, descending: bool) -> Function:
        """Indices that would sort."""
        order = _order(x, axis, descending)
        return lambda values: order(values).astype(mx.int64)

    # Overrides of composites

    @kernel()
    def cumulative_sum(
        self, out: Template, x: Template, *, axis: int, dtype: DType | None, include_initial: bool, reverse: bool
    ) -> Function:
        """Sums of all elements up to each position."""
        return self._running("cumsum", "cumulative_sum", 0, out, x, axis, dtype, include_initial, reverse)

    @kernel()
    def cumulative_product(
        self, out: Template, x: Template, *, axis: int, dtype: DType | None, include_initial: bool, reverse: bool
    ) -> Function:
        """Products of all elements up to each position."""
        return self._running("cumprod", "cumulative_product", 1, out, x, axis, dtype, include_initial, reverse)

    # Helpers

    def wide(self, out: Template, terms: int) -> DType:
        """The dtype in which so many terms of a result are added."""
        if terms >= _WIDE_TERMS and self.has_float64 and out.dtype.is_floating:
            return float64
        return float32 if out.dtype in NARROW else out.dtype

    def _accumulating(self, name: str, out: Template, x: Template, axes: tuple[int, ...], keepdims: bool) -> Function:
        """Casts, reduces, and casts back; MLX reduces narrow integers in wider ones."""
        terms = prod(x.shape[axis] for axis in axes)
        if out.dtype is complex64 and terms >= _WIDE_TERMS:
            part = self._accumulating(name, out.replace(dtype=float32), x.replace(dtype=float32), axes, keepdims)
            return lambda values: joined(part(mx.real(values)), part(mx.imag(values)))
        wide = self.wide(out, terms)
        enter, leave = caster(self, x, wide), caster(self, out.replace(dtype=wide), out.dtype)
        reduce: Any = getattr(mx, name)
        if not x.size:
            return lambda values: mx.full(out.shape, int(name == "prod"), mlx_dtype(out.dtype))
        if not axes:
            return lambda values: leave(enter(values))
        if not out.dtype.is_integer:
            return lambda values: leave(reduce(enter(values), axes, keepdims=keepdims))
        dtype = mlx_dtype(out.dtype)
        return lambda values: reduce(enter(values), axes, keepdims=keepdims).astype(dtype)

    def _running(
        self,
        function: str,
        name: str,
        initial: int,
        out: Template,
        x: Template,
        axis: int,
        dtype: DType | None,
        include_initial: bool,
        reverse: bool,
    ) -> Function:
        """Casts, accumulates, and casts back."""
        if out.dtype is complex64:
            options = {"axis": axis, "dtype": dtype, "include_initial": include_initial, "reverse": reverse}
            return self.by_numpy(name, out, x, **options)
        wide = self.wide(out, x.shape[axis] if x.ndim else 1)
        enter, leave = caster(self, x, wide), caster(self, out.replace(dtype=wide), out.dtype)
        accumulate: Any = getattr(mx, function)

        def running(values: Array) -> Array:
            values = enter(values)
            totals = accumulate(values, axis, reverse=reverse).astype(values.dtype) if values.size else values
            if include_initial:
                shape = (*values.shape[:axis], 1, *values.shape[axis + 1 :])
                ends = [mx.full(shape, initial, values.dtype), totals]
                totals = mx.concatenate(ends[:: -1 if reverse else 1], axis)
            rounded: Array = leave(totals)
            return rounded

        return running


def greatest_along(dtype: DType, axes: tuple[int, ...], keepdims: bool) -> Function:
    """The largest elements. Where that is a zero, its sign is that of the largest reciprocal of a zero."""

    def greatest(values: Array) -> Array:
        return mx.max(values, axes, keepdims=keepdims)

    if not axes:
        return lambda values: values
    if not dtype.is_floating:
        return greatest

    def signed(values: Array) -> Array:
        found = greatest(values)
        reciprocals = mx.where(values == 0, 1 / values, -mx.inf)
        return mx.where(found == 0, 1 / greatest(reciprocals), found)

    return signed


def least_along(dtype: DType, axes: tuple[int, ...], keepdims: bool) -> Function:
    """The least elements."""
    if dtype.is_floating:
        greatest = greatest_along(dtype, axes, keepdims)
        return lambda values: -greatest(-values)
    if not axes:
        return lambda values: values
    return lambda values: mx.min(values, axes, keepdims=keepdims)


def _position(name: str, out: Template, x: Template, axis: int | None, tie_break: TieBreak) -> Function:
    find, shape = getattr(mx, name), out.shape
    if not (x.ndim and x.size):
        return lambda values: mx.zeros(shape, mx.int64)

    def positioned(values: Array) -> Array:
        along = axis
        if along is None:
            values, along = values.reshape(-1), 0
        if tie_break == "high":
            backwards = values[(*[slice(None)] * along, slice(None, None, -1))]
            found = values.shape[along] - 1 - find(backwards, along).astype(mx.int64)
        else:
            found = find(values, along).astype(mx.int64)
        position: Array = found.reshape(shape)
        return position

    return positioned


def _order(x: Template, axis: int, descending: bool) -> Function:
    """The function that finds the stable order of elements."""
    if not x.ndim or not x.size:
        return lambda values: mx.zeros(x.shape, mx.uint32)
    if not descending:
        return lambda values: mx.argsort(values, axis)
    key = (*[slice(None)] * axis, slice(None, None, -1))
    last = x.shape[axis] - 1
    return lambda values: last - mx.argsort(values[key], axis)[key]
