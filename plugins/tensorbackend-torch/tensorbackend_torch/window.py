"""Pooling over views in which the elements of a window have their own axes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import inf, prod
from typing import Any

from tensorbackend import Template, Tensor, default_backend
from tensorbackend.dtypes import DType, iinfo
from tensorbackend.extending import calling
from tensorbackend.protocol import Payload
from tensorbackend.protocol.window import Padding, Sizes

from . import complex_functions, extremes
from .convolution import TorchConvolution
from .kernels import kernel
from .library import torch
from .shape import padded
from .ways import Array, add_rows, bits_of, dtype_of, in_order

Geometry = Sequence[tuple[int, int, int]]
"""Size, stride and dilation of the windows along each axis."""


class TorchWindow(TorchConvolution):
    """Pooling over windows that slide along every axis."""

    @kernel(unsigned="bits", narrow="float32")
    def window_sum(
        self,
        out: Template,
        x: Array,
        *,
        window_dimensions: Sizes,
        strides: Sizes,
        padding: Padding,
        window_dilations: Sizes,
    ) -> Array:
        """Sum of each window."""
        geometry = _geometry(window_dimensions, strides, window_dilations)
        return _slide(lambda windows: torch.sum(windows, -1, dtype=x.dtype), x, 0, padding, geometry)

    @kernel(unsigned="bits", narrow="float32")
    def window_product(
        self,
        out: Template,
        x: Array,
        *,
        window_dimensions: Sizes,
        strides: Sizes,
        padding: Padding,
        window_dilations: Sizes,
    ) -> Array:
        """Product of each window."""
        geometry = _geometry(window_dimensions, strides, window_dilations)
        if x.is_complex():  # the order of multiplication decides the results for infinities
            return complex_functions.product(_flat_windows(out, x, 1, padding, geometry))
        return _slide(lambda windows: torch.prod(windows, -1, dtype=x.dtype), x, 1, padding, geometry)

    @kernel(unsigned="order")
    def window_max(
        self,
        out: Template,
        x: Array,
        *,
        window_dimensions: Sizes,
        strides: Sizes,
        padding: Padding,
        window_dilations: Sizes,
    ) -> Array:
        """Largest element of each window."""
        geometry = _geometry(window_dimensions, strides, window_dilations)
        return _slide(lambda windows: extremes.greatest(windows, (-1,)), x, _limits(x)[0], padding, geometry)

    @kernel(unsigned="order")
    def window_min(
        self,
        out: Template,
        x: Array,
        *,
        window_dimensions: Sizes,
        strides: Sizes,
        padding: Padding,
        window_dilations: Sizes,
    ) -> Array:
        """Least element of each window."""
        geometry = _geometry(window_dimensions, strides, window_dilations)
        return _slide(lambda windows: extremes.least(windows, (-1,)), x, _limits(x)[1], padding, geometry)

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
        geometry = _geometry(window_dimensions, strides, window_dilations)
        windows = _flat_windows(out, self._counter(x.data), -1, padding, geometry).reshape(
            out.size, prod(window_dimensions)
        )
        elements, template, call = x.data.reshape(-1), Template((), x.dtype), calling(self, function)
        folded_windows = []
        with default_backend(self):
            for window in windows.tolist():
                folded = initial
                for position in window:
                    if position >= 0:
                        folded = call(folded, Tensor(template, self, elements[position]))
                folded_windows.append(folded.data)
        return self.gathered(out, folded_windows)

    @kernel(unsigned="own", narrow="float32")
    def window_scatter_max(
        self,
        out: Template,
        x: Array,
        source: Array,
        initial: Array,
        *,
        window_dimensions: Sizes,
        strides: Sizes,
        padding: Padding,
    ) -> Array:
        """`initial`, plus each source element at its window's largest element."""
        geometry = _geometry(window_dimensions, strides, (1,) * len(strides))
        return self._scattered(extremes.greatest, 0, out, x, source, initial, geometry, padding)

    @kernel(unsigned="own", narrow="float32")
    def window_scatter_min(
        self,
        out: Template,
        x: Array,
        source: Array,
        initial: Array,
        *,
        window_dimensions: Sizes,
        strides: Sizes,
        padding: Padding,
    ) -> Array:
        """`initial`, plus each source element at its window's least element."""
        geometry = _geometry(window_dimensions, strides, (1,) * len(strides))
        return self._scattered(extremes.least, 1, out, x, source, initial, geometry, padding)

    # Helpers

    def _counter(self, x: Array) -> Array:
        """The row-major position of every element."""
        return torch.arange(x.numel(), device=self.place).reshape(x.shape)

    def _scattered(
        self,
        select: Callable[..., Array],
        identity: int,
        out: Template,
        x: Array,
        source: Array,
        initial: Array,
        geometry: Geometry,
        padding: Padding,
    ) -> Array:
        ordered = in_order(x)
        shape = (source.numel(), prod(size for size, _, _ in geometry))
        windows = _windows(padded(ordered, _limits(ordered)[identity], _without_interior(padding)), geometry)
        positions = _windows(padded(self._counter(x), -1, _without_interior(padding)), geometry)
        windows, positions = windows.reshape(shape), positions.reshape(shape)
        result = bits_of(initial).expand(out.size).clone()
        if not (source.numel() and shape[1]):
            return result.reshape(out.shape)
        best = select(windows, (1,), True)
        chosen = ((windows == best) | (windows != windows)) & (positions >= 0)
        first = torch.argmax(chosen.to(torch.uint8), 1, keepdim=True)
        # A window that holds only padding adds nothing.
        nonempty = torch.take_along_dim(chosen, first, 1)[:, 0]
        at = torch.take_along_dim(positions, first, 1)[nonempty, 0]
        return add_rows(result, at, bits_of(source).reshape(-1)[nonempty]).reshape(out.shape)


def _geometry(sizes: Sizes, strides: Sizes, dilations: Sizes) -> Geometry:
    return tuple(zip(sizes, strides, dilations, strict=True))


def _without_interior(padding: Padding) -> tuple[tuple[int, int, int], ...]:
    return tuple((low, high, 0) for low, high in padding)


def _limits(x: Array) -> tuple[Any, Any]:
    """The least and the largest value: the identities of maximum and minimum."""
    dtype: DType = dtype_of(x.dtype)
    if dtype.is_floating:
        return -inf, inf
    return (iinfo(dtype).min, iinfo(dtype).max) if dtype.is_integer else (False, True)


def _slide(reduce: Callable[[Array], Array], x: Array, identity: Any, padding: Padding, geometry: Geometry) -> Array:
    """Reduces every window by a reduction of the last axis, one axis of the windows after another."""
    values = padded(x, identity, _without_interior(padding))
    for axis, axis_geometry in enumerate(geometry):
        if axis_geometry != (1, 1, 1):
            one = [(1, 1, 1)] * values.ndim
            one[axis] = axis_geometry
            windows = _windows(values, one)
            values = reduce(windows.reshape((*windows.shape[: values.ndim], axis_geometry[0])))
    return values


def _flat_windows(out: Template, x: Array, identity: Any, padding: Padding, geometry: Geometry) -> Array:
    """Returns the windows: their places on the axes of the result, their elements on one more axis."""
    windows = _windows(padded(x, identity, _without_interior(padding)), geometry)
    return windows.reshape(*out.shape, prod(size for size, _, _ in geometry))


def _windows(values: Array, geometry: Iterable[tuple[int, int, int]]) -> Array:
    """A view with the places of the windows on its first axes, the elements of a window on its last."""
    places, steps, sizes, hops = [], [], [], []
    for length, pace, (size, stride, dilation) in zip(values.shape, values.stride(), geometry, strict=True):
        places.append(max(0, (length - (size - 1) * dilation - 1) // stride + 1))
        steps.append(pace * stride)
        sizes.append(size)
        hops.append(pace * dilation)
    return values.as_strided((*places, *sizes), (*steps, *hops))
