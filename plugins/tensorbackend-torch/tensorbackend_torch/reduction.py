"""Reductions, accumulations and orderings."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product as index_product
from math import prod
from typing import Any

from tensorbackend import Template, Tensor
from tensorbackend.dtypes import DType, float32, promote_types
from tensorbackend.extending import fold_elements, map_elements
from tensorbackend.protocol import Payload
from tensorbackend.protocol.reduction import TieBreak

from . import complex_functions, extremes
from .casting import cast
from .extremes import reduced
from .kernels import Fitting, Function, TorchBase, kernel, kernel_planned
from .library import torch
from .looking import may_look
from .ways import NARROW, Array, bits_of, dtype_of, wide

_LONG_SIZE = 1 << 10
"""From this size on, a part of a row is found without sorting the row."""


class TorchReduction(TorchBase):
    """What combines or orders the elements along axes."""

    @kernel(unsigned="bits")
    def all(self, out: Template, x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Array:
        """Whether every element is true."""
        return reduced(torch.all, x if x.dtype is torch.bool else x != 0, axes, keepdims)

    @kernel(unsigned="bits")
    def any(self, out: Template, x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Array:
        """Whether some element is true."""
        return reduced(torch.any, x if x.dtype is torch.bool else x != 0, axes, keepdims)

    @kernel_planned(unsigned="own", narrow="float32")
    def sum(self, out: Template, x: Template, *, axes: tuple[int, ...], keepdims: bool) -> Function | Fitting:
        """Sum, by their bits for unsigned integers, after the cast to the dtype of the result."""
        add, dtype = torch.sum, out.dtype
        if x.dtype is not dtype or not dtype.is_inexact:
            return lambda values: _sum(bits_of(_accumulating(values, dtype)), axes, keepdims)
        if len(axes) != 1:
            return lambda values: _sum(values, axes, keepdims)
        if x.ndim == 1 and not keepdims:
            return Fitting(add)
        axis = axes[0]
        return Fitting(lambda values: add(values, axis, keepdims))

    @kernel(unsigned="own", narrow="float32")
    def product(self, out: Template, x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Array:
        """Product, by their bits for unsigned integers, after the cast to the dtype of the result."""
        rows = bits_of(_accumulating(_last(x, axes), out.dtype))
        products = complex_functions.product(rows) if x.is_complex() else torch.prod(rows, -1, dtype=rows.dtype)
        return products.reshape(out.shape)

    @kernel_planned(unsigned="order")
    def reduce_max(self, out: Template, x: Template, *, axes: tuple[int, ...], keepdims: bool) -> Fitting:
        """Largest element; 0.0 is above -0.0."""
        return Fitting(extremes.extreme_along(axes, keepdims, largest=True))

    @kernel_planned(unsigned="order")
    def reduce_min(self, out: Template, x: Template, *, axes: tuple[int, ...], keepdims: bool) -> Fitting:
        """Least element; -0.0 is below 0.0."""
        return Fitting(extremes.extreme_along(axes, keepdims, largest=False))

    @kernel(unsigned="order", narrow="float32")
    def argmax(self, out: Template, x: Array, *, axis: int | None, keepdims: bool, tie_break: TieBreak) -> Array:
        """Index of the largest element."""
        return self._position(torch.argmax, out, x, axis, tie_break)

    @kernel(unsigned="order", narrow="float32")
    def argmin(self, out: Template, x: Array, *, axis: int | None, keepdims: bool, tie_break: TieBreak) -> Array:
        """Index of the minimum."""
        return self._position(torch.argmin, out, x, axis, tie_break)

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
        """Folds a Python function over the elements, one call an element."""
        rows = _last(x.data, axes).reshape(out.size, prod(x.shape[axis] for axis in axes))
        elements = (row.unbind() for row in rows.unbind())
        return self.gathered(out, fold_elements(self, function, initial, x.dtype, elements))

    def map(self, out: Template, x: Tensor, /, *, function: Callable[[Tensor], Tensor]) -> Payload:
        """A Python function of each element, one call an element."""
        elements = (x.data[index] for index in index_product(*map(range, x.shape)))
        return self.gathered(out, map_elements(self, function, x.dtype, elements))

    # Order

    @kernel_planned(unsigned="order")
    def sort(self, out: Template, x: Template, *, axis: int, descending: bool) -> Fitting:
        """Elements in order."""
        sort = torch.sort
        return Fitting(lambda values: sort(values, stable=True, dim=axis, descending=descending)[0])

    @kernel_planned(unsigned="order")
    def argsort(self, out: Template, x: Template, *, axis: int, descending: bool) -> Fitting:
        """Indices that would sort."""
        sort = torch.sort
        return Fitting(lambda values: sort(values, stable=True, dim=axis, descending=descending)[1])

    # Overrides of composites

    @kernel(unsigned="order")
    def top_k(self, out: tuple[Template, Template], x: Array, *, k: int) -> tuple[Array, Array]:
        """The k largest elements along the last axis, equal ones in order; of a long row only these are sorted."""
        size = x.shape[-1] if x.ndim else 1
        if size < _LONG_SIZE or x.element_size() > 4 or not 0 < k <= size // 8:
            best = torch.sort(x, stable=True, dim=-1, descending=True).indices[..., :k]
        else:
            # Integers of 64 bits: an element's place in the order of elements, and below it its place from the end.
            places = torch.arange(size - 1, -1, -1, device=x.device)
            largest = torch.topk(_sortable(x).to(torch.int64) << 32 | places, k).values
            best = size - 1 - (largest & 0xFFFFFFFF)
        return torch.take_along_dim(x, best, -1), best

    @kernel_planned(unsigned="own")
    def cumulative_sum(
        self, out: Template, x: Template, *, axis: int, dtype: DType | None, include_initial: bool, reverse: bool
    ) -> Function | Fitting:
        """Sums of all elements up to each position."""
        return _accumulated(_running_sums, 0, x, out, axis, include_initial, reverse)

    @kernel_planned(unsigned="own")
    def cumulative_product(
        self, out: Template, x: Template, *, axis: int, dtype: DType | None, include_initial: bool, reverse: bool
    ) -> Function | Fitting:
        """Products of all elements up to each position."""

        def of_complex(values: Array, axis: int) -> Array:
            return complex_functions.cumulative_product(values.movedim(axis, -1)).movedim(-1, axis)

        accumulate: Callable[..., Array] = of_complex if out.dtype.is_complex else torch.cumprod
        return _accumulated(accumulate, 1, x, out, axis, include_initial, reverse)

    @kernel(unsigned="order", narrow="float32")
    def cumulative_max(self, out: Template, x: Array, *, axis: int, reverse: bool) -> Array:
        """Largest element up to each position."""
        return _running(torch.cummax, x, axis, reverse, negative=False)

    @kernel(unsigned="order", narrow="float32")
    def cumulative_min(self, out: Template, x: Array, *, axis: int, reverse: bool) -> Array:
        """Least element up to each position."""
        return _running(torch.cummin, x, axis, reverse, negative=True)

    @kernel(unsigned="own")
    def searchsorted(self, out: Template, x1: Array, x2: Array, *, side: str) -> Array:
        """Indices at which values would be inserted; NaN is greater than all others."""
        dtype = promote_types(dtype_of(x1.dtype), dtype_of(x2.dtype))
        line, values = (_sortable(cast(x, dtype_of(x.dtype), dtype)) for x in (x1, x2))
        return torch.searchsorted(line.contiguous(), values.contiguous(), right=side == "right")

    @kernel_planned(unsigned="own")
    def softmax(self, out: Template, x: Template, *, axis: tuple[int, ...]) -> Function | Fitting:
        """`torch.softmax`, with several axes merged into one."""
        return _normalised(torch.softmax, x, out, axis)

    @kernel_planned(unsigned="own")
    def log_softmax(self, out: Template, x: Template, *, axis: tuple[int, ...]) -> Function | Fitting:
        """`torch.log_softmax`, with several axes merged into one."""
        return _normalised(torch.log_softmax, x, out, axis)

    @kernel(unsigned="own")
    def logsumexp(self, out: Template, x: Array, *, axis: tuple[int, ...], keepdims: bool) -> Array:
        """`torch.logsumexp`."""
        return reduced(torch.logsumexp, wide(self.cast(x, out), out.dtype), axis, keepdims)

    # Helpers

    def _position(
        self, find: Callable[..., Array], out: Template, x: Array, axis: int | None, tie_break: TieBreak
    ) -> Array:
        if axis is None:
            x, axis = x.reshape(-1), 0
        if x.dtype is torch.bool:
            x = x.to(torch.uint8)
        if not x.ndim:
            return torch.zeros(out.shape, dtype=torch.int64, device=self.place)
        if tie_break == "high":
            return (x.shape[axis] - 1 - find(torch.flip(x, (axis,)), dim=axis)).reshape(out.shape)
        return find(x, dim=axis).reshape(out.shape)


def _sum(values: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    """The sum in the dtype of the elements."""
    if len(axes) > 1 and values.numel() > _LONG_SIZE and (values.is_floating_point() or values.is_complex()):
        # PyTorch adds in pairs along one axis, but one by one from there to the next.
        whole = len(axes) == values.ndim and values.is_contiguous()
        for axis in () if whole else axes[:0:-1]:
            values = torch.sum(values, axis, keepdim=True)
        if not whole:
            total = torch.sum(values, axes[0], keepdim=True)
            return total if keepdims else total.squeeze(axes)
    return reduced(torch.sum, values, axes, keepdims, dtype=values.dtype)


def _normalised(
    function: Callable[..., Array], x: Template, out: Template, axis: tuple[int, ...]
) -> Function | Fitting:
    """Returns the function that applies a softmax along axes, after the cast to the dtype of the result."""
    source, dtype = x.dtype, out.dtype
    if source is dtype and dtype not in NARROW and len(axis) == 1:
        along = axis[0]
        return Fitting(lambda values: function(values, along))

    def normalised(values: Array) -> Array:
        values = wide(cast(values, source, dtype), dtype)
        if not values.numel():
            return values
        if len(axis) == 1:
            return function(values, axis[0])
        order = [*(kept_axis for kept_axis in range(values.ndim) if kept_axis not in axis), *axis]
        merged = function(_last(values, axis), -1).reshape([values.shape[source_axis] for source_axis in order])
        return merged.permute(sorted(range(len(order)), key=order.__getitem__))

    return normalised


def _accumulated(
    accumulate: Callable[..., Array],
    initial: int,
    x: Template,
    out: Template,
    axis: int,
    include_initial: bool,
    reverse: bool,
) -> Function | Fitting:
    """Returns the function that accumulates along an axis, after the cast to the dtype of the result."""
    dtype = out.dtype
    if x.dtype is dtype and dtype.is_inexact and dtype not in NARROW and not (include_initial or reverse):
        return Fitting(lambda values: accumulate(values, axis))

    def accumulated(x: Array) -> Array:
        values = bits_of(_accumulating(x, dtype))
        running = accumulate(torch.flip(values, (axis,)) if reverse else values, axis).to(values.dtype)
        if include_initial:
            running = torch.cat((running.new_full((*x.shape[:axis], 1, *x.shape[axis + 1 :]), initial), running), axis)
        return torch.flip(running, (axis,)) if reverse else running

    return accumulated


def _running_sums(values: Array, axis: int) -> Array:
    """Return running sums that are -0.0 up to the first element that is not: PyTorch adds each to a zero."""
    total = torch.cumsum(values, axis)
    size = values.shape[axis]
    if not values.is_floating_point() or not size:
        return total
    begin = values.select(axis, 0)
    looks = values.device.type == "cpu" and may_look()  # elsewhere a look waits for the device
    if looks and not bool(((begin == 0) & torch.signbit(begin)).any()):
        return total
    other = (values != 0) | ~torch.signbit(values)
    first = torch.where(other.any(axis, keepdim=True), other.to(torch.uint8).argmax(axis, keepdim=True), size)
    places = torch.arange(size, device=values.device).reshape(size, *[1] * (values.ndim - 1 - axis))
    return torch.where(places >= first, total, -0.0)


def _running(find: Callable[..., Any], x: Array, axis: int, reverse: bool, *, negative: bool) -> Array:
    """Return the largest or least element up to each position.

    Among zeros of both signs the negative one wins if `negative`, else the positive one.
    """
    values = torch.flip(x, (axis,)) if reverse else x
    running: Array = find(values.to(torch.uint8) if values.dtype is torch.bool else values, axis).values
    if x.is_floating_point():
        wins = (values == 0) & (torch.signbit(values) == negative)
        met = torch.cummax(wins.to(torch.uint8), axis).values != 0
        running = torch.where((running == 0) & met, -0.0 if negative else 0.0, running)
    return torch.flip(running, (axis,)) if reverse else running


def _sortable(values: Array) -> Array:
    """Return integers that sort as the elements do. Zeros of both signs are equal, and NaN is the largest."""
    if values.dtype is torch.bool:
        return values.to(torch.uint8)
    return extremes.in_line(values + 0.0 if values.is_floating_point() else values)


def _accumulating(x: Array, dtype: DType) -> Array:
    """Operands in the dtype of a sum or product, the narrow floats in float32."""
    return cast(x, dtype_of(x.dtype), float32 if dtype in NARROW else dtype)


def _last(x: Array, axes: tuple[int, ...]) -> Array:
    """Merge axes into one, which becomes the last."""
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    moved = x.permute([*kept, *axes])
    return moved.reshape([*(x.shape[axis] for axis in kept), prod(x.shape[axis] for axis in axes)])
