"""Pooling over views in which every window has axes of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial, reduce
from math import inf, prod
from typing import Any

from ...dtypes import DType, iinfo, int64
from ...interchange import numpy_dtype
from ...protocol import Payload
from ...protocol.window import Padding, Sizes
from ...select import default_backend
from ...template import Template, intern_template
from ...tensor import Tensor
from ..functional import calling
from . import extremes
from .base import Array, ArrayBase, kernel
from .shape import padded

_FEW = 32
"""Up to this size a window's elements are combined one slice of the array at a time."""


class ArrayWindow(ArrayBase):
    """What slides a window along every axis."""

    @kernel
    def window_sum(
        self,
        out: Template,
        x: Tensor,
        /,
        *,
        window_dimensions: Sizes,
        strides: Sizes,
        padding: Padding,
        window_dilations: Sizes,
    ) -> Payload:
        """Sum of each window, of the narrow floats in float32."""
        values = padded(self.xp, self.widened(x), 0, _without_interior(padding))
        geometry = zip(window_dimensions, strides, window_dilations, strict=True)
        return self.narrowed(_slide(self.xp, values, self.xp.add, _sum, geometry), out)

    @kernel
    def window_product(
        self,
        out: Template,
        x: Tensor,
        /,
        *,
        window_dimensions: Sizes,
        strides: Sizes,
        padding: Padding,
        window_dilations: Sizes,
    ) -> Payload:
        """Product of each window, of the narrow floats in float32; of complex numbers from the first to the last."""
        values = padded(self.xp, self.widened(x), 1, _without_interior(padding))
        geometry = zip(window_dimensions, strides, window_dilations, strict=True)
        if out.dtype.is_complex:  # the order says which parts infinities leave
            factors = self.xp.moveaxis(
                _windows(self.xp, values, geometry).reshape((*out.shape, prod(window_dimensions))), -1, 0
            )
            return reduce(self.xp.multiply, factors)
        return self.narrowed(_slide(self.xp, values, self.xp.multiply, _product, geometry), out)

    @kernel
    def window_max(
        self,
        out: Template,
        x: Tensor,
        /,
        *,
        window_dimensions: Sizes,
        strides: Sizes,
        padding: Padding,
        window_dilations: Sizes,
    ) -> Payload:
        """Greatest element of each window."""
        values = padded(self.xp, self.widened(x), limits(x.dtype)[0], _without_interior(padding))
        geometry = zip(window_dimensions, strides, window_dilations, strict=True)
        combine = partial(extremes.maximum, self.xp)
        return self.narrowed(_slide(self.xp, values, combine, extremes.greatest, geometry), out)

    @kernel
    def window_min(
        self,
        out: Template,
        x: Tensor,
        /,
        *,
        window_dimensions: Sizes,
        strides: Sizes,
        padding: Padding,
        window_dilations: Sizes,
    ) -> Payload:
        """Least element of each window."""
        values = padded(self.xp, self.widened(x), limits(x.dtype)[1], _without_interior(padding))
        geometry = zip(window_dimensions, strides, window_dilations, strict=True)
        combine = partial(extremes.minimum, self.xp)
        return self.narrowed(_slide(self.xp, values, combine, extremes.least, geometry), out)

    def window_reduce(
        self,
        out: Template,
        x: Tensor,
        initial: Tensor,
        /,
        *,
        window_dimensions: Sizes,
        strides: Sizes,
        padding: Padding,
        window_dilations: Sizes,
        function: Callable[[Tensor, Tensor], Tensor],
    ) -> Payload:
        """Folds a Python function over each window's elements, the padding left out."""
        positions = self._positions(x, padding)
        geometry = zip(window_dimensions, strides, window_dilations, strict=True)
        windows = _windows(self.xp, positions, geometry).reshape((out.size, prod(window_dimensions)))
        elements, template, call = x.data.reshape(-1), intern_template((), x.dtype, ()), calling(self, function)
        result = self.xp.empty(out.size, numpy_dtype(out.dtype))
        with default_backend(self):
            for place in range(out.size):
                folded = initial
                for position in windows[place].tolist():
                    if position >= 0:
                        folded = call(folded, Tensor(template, self, elements[position, ...]))
                result[place] = folded.data
        return result.reshape(out.shape)

    @kernel
    def window_scatter_max(
        self,
        out: Template,
        x: Tensor,
        source: Tensor,
        initial: Tensor,
        /,
        *,
        window_dimensions: Sizes,
        strides: Sizes,
        padding: Padding,
    ) -> Payload:
        """`initial`, plus each source element at its window's greatest element."""
        geometry = tuple(zip(window_dimensions, strides, (1,) * len(strides), strict=True))
        return self._scatter(extremes.greatest, limits(x.dtype)[0], out, x, source, initial, geometry, padding)

    @kernel
    def window_scatter_min(
        self,
        out: Template,
        x: Tensor,
        source: Tensor,
        initial: Tensor,
        /,
        *,
        window_dimensions: Sizes,
        strides: Sizes,
        padding: Padding,
    ) -> Payload:
        """`initial`, plus each source element at its window's least element."""
        geometry = tuple(zip(window_dimensions, strides, (1,) * len(strides), strict=True))
        return self._scatter(extremes.least, limits(x.dtype)[1], out, x, source, initial, geometry, padding)

    # Helpers

    def _positions(self, x: Tensor, padding: Padding) -> Array:
        """The row-major position of every element, -1 in the padding."""
        counter = self.xp.arange(x.size, dtype=numpy_dtype(int64)).reshape(x.shape)
        return padded(self.xp, counter, -1, _without_interior(padding))

    def _scatter(
        self,
        select: Callable[..., Array],
        identity: Any,
        out: Template,
        x: Tensor,
        source: Tensor,
        initial: Tensor,
        geometry: Sequence[tuple[int, int, int]],
        padding: Padding,
    ) -> Array:
        xp, rows = self.xp, (source.size, prod(size for size, _, _ in geometry))
        values = padded(xp, self.widened(x), identity, _without_interior(padding))
        windows = _windows(xp, values, geometry).reshape(rows)
        positions = _windows(xp, self._positions(x, padding), geometry).reshape(rows)
        best = select(xp, windows, (1,), keepdims=True)
        chosen = ((windows == best) | (windows != windows)) & (positions >= 0)
        first = xp.argmax(chosen, axis=1)[:, None]
        found = xp.take_along_axis(chosen, first, axis=1)[:, 0]
        result = xp.empty(out.size, self.widened(initial).dtype)
        result[...] = initial.data
        # A window of nothing but padding adds nowhere.
        places = xp.take_along_axis(positions, first, axis=1)[found, 0]
        self.add_at(result, places, self.widened(source).reshape(-1)[found])
        return self.narrowed(result.reshape(out.shape), out)


def _without_interior(padding: Padding) -> tuple[tuple[int, int, int], ...]:
    return tuple((low, high, 0) for low, high in padding)


def limits(dtype: DType) -> tuple[Any, Any]:
    """The least and the greatest value: the identities of maximum and minimum."""
    if dtype.is_floating:
        return -inf, inf
    return (iinfo(dtype).min, iinfo(dtype).max) if dtype.is_integer else (False, True)


def _windows(xp: Any, values: Array, geometry: Iterable[tuple[int, int, int]]) -> Array:
    """A view with the places of the windows on its first axes, the elements of a window on its last."""
    places, steps, sizes, hops = [], [], [], []
    for length, pace, (size, stride, dilation) in zip(values.shape, values.strides, geometry, strict=True):
        places.append(_places(length, size, stride, dilation))
        steps.append(pace * stride)
        sizes.append(size)
        hops.append(pace * dilation)
    return xp.lib.stride_tricks.as_strided(values, (*places, *sizes), (*steps, *hops))


def _places(length: int, size: int, stride: int, dilation: int) -> int:
    """How many windows of a size fit along an axis."""
    return max(0, (length - (size - 1) * dilation - 1) // stride + 1)


def _slide(
    xp: Any,
    values: Array,
    combine: Callable[[Array, Array], Array],
    reduce: Callable[..., Array],
    geometry: Iterable[tuple[int, int, int]],
) -> Array:
    """An associative function over every window, one axis after another."""
    for axis, (size, stride, dilation) in enumerate(geometry):
        count = _places(values.shape[axis], size, stride, dilation)
        before = (slice(None),) * axis
        if size > _FEW:
            one = [(1, 1, 1)] * values.ndim
            one[axis] = (size, stride, dilation)
            values = reduce(xp, _windows(xp, values, one), tuple(range(values.ndim, 2 * values.ndim)))
            continue
        starts = range(0, size * dilation, dilation)
        slices = [values[(*before, slice(start, start + count * stride, stride))] for start in starts]
        values = slices[0]
        for each in slices[1:]:
            values = combine(values, each)
    return values


def _sum(xp: Any, values: Array, axes: tuple[int, ...]) -> Array:
    return xp.sum(values, axis=axes, dtype=values.dtype)


def _product(xp: Any, values: Array, axes: tuple[int, ...]) -> Array:
    return xp.prod(values, axis=axes, dtype=values.dtype)
