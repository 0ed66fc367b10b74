"""Pooling over views in which the elements of a window have axes of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from math import prod
from typing import Any, TypeAlias

from ...dtypes import float32, int64, value_range
from ...interchange import numpy_dtype
from ...protocol import Kernel, Payload, kernel_of, planned
from ...protocol.window import Windows
from ...protocol.workspace import takes
from ...template import Shape, Template
from ...tensor import Tensor
from ..functional import fold_elements
from . import extremes
from .base import NARROW, Array, ArrayBase
from .functional import collect
from .precision import accumulator_dtype, wide
from .shape import padding_function
from .workspace_bytes import accumulator_bytes, float32_copy_bytes, nbytes

Along: TypeAlias = Sequence[tuple[int, int, int]]
"""The size, stride and dilation of the windows, for each axis."""

_MOST_SLICES = 32
"""Windows of up to this size are combined one slice of the array at a time, larger ones by a reduction."""


def _pooled_space(out: Template, x: Template, /, *, windows: Windows) -> int:
    """The bytes of the padded array, and of up to two partial results while one axis after another is reduced."""
    shape = windows.padded(x.shape)
    held = nbytes(prod(shape), wide(x.dtype)) if float32_copy_bytes(x) or windows.is_padded else 0
    most = held + float32_copy_bytes(x)
    for axis, (size, places) in enumerate(zip(windows.sizes, windows.places(x.shape), strict=True)):
        shape[axis] = places
        if size > 1:
            partial_bytes = nbytes(prod(shape), wide(x.dtype))
            most = max(most, held + (2 if 2 < size <= _MOST_SLICES else 1) * partial_bytes)
            held = partial_bytes
    return max(most - out.nbytes, held) if float32_copy_bytes(out) else most - out.nbytes


def _product_space(out: Template, x: Template, /, *, windows: Windows) -> int:
    """The bytes that products of windows take: complex elements of all windows are copied, so that they are multiplied
    in order."""
    if not out.dtype.is_complex:
        return _pooled_space(out, x, windows=windows)
    held = nbytes(prod(windows.padded(x.shape)), x.dtype) if windows.is_padded else 0
    return held + (windows.elements + 1) * out.nbytes


def _scattered_space(out: Template, x: Template, source: Template, initial: Template, /, *, windows: Windows) -> int:
    """The bytes of the padded array and of its positions, for all windows, and of sums in a wider dtype."""
    size = prod(windows.padded(x.shape))
    tables = nbytes(size, wide(x.dtype)) + 8 * size
    return max(
        tables + 8 * x.size + float32_copy_bytes(x) - out.nbytes,
        tables + accumulator_bytes(min(source.size, windows.elements), out),
    )


class ArrayWindow(ArrayBase):
    """Callbacks that slide a window along every axis."""

    @takes(_pooled_space)
    @planned
    def window_sum(self, out: Template, x: Template, /, *, windows: Windows) -> Kernel:
        """Sum of each window; narrow floats are added in float32."""
        return self._sliding_kernel(out, x, 0, windows, _sliding_function(self.xp, self.xp.add, _sum, windows))

    @takes(_product_space)
    @planned
    def window_product(self, out: Template, x: Template, /, *, windows: Windows) -> Kernel:
        """Product of each window: narrow floats in float32, complex numbers in order from the first to the last."""
        xp, along = self.xp, windows.along
        if not out.dtype.is_complex:
            return self._sliding_kernel(out, x, 1, windows, _sliding_function(xp, xp.multiply, _product, windows))
        rows = (*out.shape, windows.elements)

        def multiply_in_order(values: Array) -> Array:  # the order decides which parts an infinity makes NaN
            return reduce(xp.multiply, xp.moveaxis(_windows(xp, values, along).reshape(rows), -1, 0))

        return self._sliding_kernel(out, x, 1, windows, multiply_in_order)

    @takes(_pooled_space)
    @planned
    def window_max(self, out: Template, x: Template, /, *, windows: Windows) -> Kernel:
        """Largest element of each window."""
        like = x.replace(dtype=wide(x.dtype))
        greater = kernel_of(self.max, like, like, like)
        slide = _sliding_function(self.xp, greater, extremes.signed_maximum, windows)
        return self._sliding_kernel(out, x, value_range(x.dtype)[0], windows, slide)

    @takes(_pooled_space)
    @planned
    def window_min(self, out: Template, x: Template, /, *, windows: Windows) -> Kernel:
        """Least element of each window."""
        like = x.replace(dtype=wide(x.dtype))
        lesser = kernel_of(self.min, like, like, like)
        slide = _sliding_function(self.xp, lesser, extremes.signed_minimum, windows)
        return self._sliding_kernel(out, x, value_range(x.dtype)[1], windows, slide)

    def window_reduce(
        self, out: Template, x: Tensor, initial: Tensor, /, *, windows: Windows,
        function: Callable[[Tensor, Tensor], Tensor],
    ) -> Payload:  # fmt: skip
        """Folds a Python function over each window's elements, except for the padding."""
        positions = self._positions(x.shape, windows)
        places = _windows(self.xp, positions, windows.along).reshape((out.size, windows.elements))
        elements = x.data.reshape(-1)
        rows = ([elements[place, ...] for place in row.tolist() if place >= 0] for row in places)
        return collect(self.xp, out, fold_elements(self, function, initial, x.dtype, rows))

    @takes(_scattered_space)
    @planned
    def window_scatter_max(
        self, out: Template, x: Template, source: Template, initial: Template, /, *, windows: Windows
    ) -> Kernel:
        """`initial`, plus each source element at its window's largest element."""
        return self._scattering_kernel(extremes.signed_maximum, value_range(x.dtype)[0], out, x, source, windows)

    @takes(_scattered_space)
    @planned
    def window_scatter_min(
        self, out: Template, x: Template, source: Template, initial: Template, /, *, windows: Windows
    ) -> Kernel:
        """`initial`, plus each source element at its window's least element."""
        return self._scattering_kernel(extremes.signed_minimum, value_range(x.dtype)[1], out, x, source, windows)

    # Helpers

    def _sliding_kernel(
        self, out: Template, x: Template, identity: Any, windows: Windows, slide: Callable[[Array], Array]
    ) -> Kernel:
        """A kernel that pads with an identity and slides a function over the windows."""
        if x.dtype not in NARROW:
            if not windows.is_padded:
                return slide
            pad = padding_function(self.xp, x.shape, numpy_dtype(x.dtype), windows.edges)
            return lambda values: slide(pad(values, identity))
        wide, narrow = numpy_dtype(float32), numpy_dtype(out.dtype)
        pad = padding_function(self.xp, x.shape, wide, windows.edges)
        return lambda values: slide(pad(values.astype(wide), identity)).astype(narrow)

    def _positions(self, shape: Shape, windows: Windows) -> Array:
        """The row-major position of every element of a shape, -1 in the padding."""
        dtype = numpy_dtype(int64)
        counter = self.xp.arange(prod(shape), dtype=dtype).reshape(shape)
        return padding_function(self.xp, shape, dtype, windows.edges)(counter, -1)

    def _scattering_kernel(
        self, select: Callable[..., Array], identity: Any, out: Template, x: Template, source: Template,
        windows: Windows,
    ) -> Kernel:  # fmt: skip
        """A kernel that adds each source element at the position of the element that `select` finds in its window."""
        xp, elements, along = self.xp, windows.elements, windows.along
        dtype, wide = numpy_dtype(out.dtype), numpy_dtype(float32 if x.dtype in NARROW else x.dtype)
        working = numpy_dtype(accumulator_dtype(out.dtype, min(source.size, elements)))
        pad = padding_function(xp, x.shape, wide, windows.edges)

        def scatter(values: Array, updates: Array, initial: Array) -> Array:
            all_windows = _windows(xp, pad(values, identity), along)
            all_positions = _windows(xp, self._positions(x.shape, windows), along)
            result = xp.empty(out.size, working)
            result[...] = initial
            for part in self.parts(source.shape, elements) if source.size else ():
                columns = all_windows[part].reshape((-1, elements))
                positions = all_positions[part].reshape((-1, elements))
                best = select(xp, columns, (1,), keepdims=True)
                chosen = ((columns == best) | (columns != columns)) & (positions >= 0)
                first = xp.argmax(chosen, axis=1)[:, None]
                nonempty = xp.take_along_axis(chosen, first, axis=1)[:, 0]
                # A window of nothing but padding adds its element nowhere.
                places = xp.take_along_axis(positions, first, axis=1)[nonempty, 0]
                self.add_at(result, places, updates[part].reshape(-1)[nonempty].astype(working, copy=False))
            return result.astype(dtype, copy=False).reshape(out.shape)

        return scatter


def _windows(xp: Any, values: Array, along: Along) -> Array:
    """A view with the places of the windows on its first axes and the elements of a window on its last axes."""
    places, steps, sizes, hops = [], [], [], []
    for length, pace, (size, stride, dilation) in zip(values.shape, values.strides, along, strict=True):
        places.append(_places(length, size, stride, dilation))
        steps.append(pace * stride)
        sizes.append(size)
        hops.append(pace * dilation)
    return xp.lib.stride_tricks.as_strided(values, (*places, *sizes), (*steps, *hops))


def _places(length: int, size: int, stride: int, dilation: int) -> int:
    """The number of windows of a size that fit along an axis."""
    return max(0, (length - (size - 1) * dilation - 1) // stride + 1)


def _sliding_function(
    xp: Any, combine: Callable[[Array, Array], Array], reduce: Callable[..., Array], windows: Windows
) -> Callable[[Array], Array]:
    """A function that applies an associative function to every window, one axis after another."""
    along = windows.along

    def slide(values: Array) -> Array:
        for axis, (size, stride, dilation) in enumerate(along):
            count = _places(values.shape[axis], size, stride, dilation)
            before = (slice(None),) * axis
            if size > _MOST_SLICES:
                one = [(1, 1, 1)] * values.ndim
                one[axis] = (size, stride, dilation)
                values = reduce(xp, _windows(xp, values, one), tuple(range(values.ndim, 2 * values.ndim)))
                continue
            starts = range(0, size * dilation, dilation)
            slices = [values[(*before, slice(start, start + count * stride, stride))] for start in starts]
            values = slices[0]
            for shifted in slices[1:]:
                values = combine(values, shifted)
        return values

    return slide


def _sum(xp: Any, values: Array, axes: tuple[int, ...]) -> Array:
    return xp.sum(values, axis=axes, dtype=values.dtype)


def _product(xp: Any, values: Array, axes: tuple[int, ...]) -> Array:
    return xp.prod(values, axis=axes, dtype=values.dtype)
