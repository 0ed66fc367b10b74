"""Convolution as matrix products: the windows of a block of images are the columns of a matrix.

With a kernel of 3 x 3 the columns hold each element nine times. The other way is to go row by row: the columns for one
row of the kernel, for all rows of the image side by side, also contain the columns for the kernel's next row, only
further on. Then elements are copied three times, and three products are added. Which way is less work depends on the
channels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

from ...dtypes import DType, float32, float64, int64
from ...interchange import numpy_dtype
from ...protocol import Kernel, planned
from ...protocol.convolution import Correlation
from ...protocol.window import Sizes
from ...protocol.workspace import takes
from ...rules.broadcasting import to_real
from ...template import Template
from .base import NARROW, Array, ArrayBase
from .module import fits_float64
from .precision import wide
from .shape import padding_function
from .transposed import Spread, space, spread_of, transposed
from .workspace_bytes import nbytes

_FEW_PLACES = 64
"""With at most this many places, and more kernel elements than this for each place, images are multiplied together."""

Product: TypeAlias = Callable[[Array, "_Geometry", Array], None]
"""Writes the products with a block's windows into sums (images, groups, features, places)."""


class _Geometry(NamedTuple):
    """The positions of windows: each field has one entry for each spatial axis, of which there is at least one."""

    window: Sizes
    strides: Sizes
    dilations: Sizes
    places: Sizes


def _space(out: Template, x: Template, kernel: Template, /, *, correlation: Correlation) -> int:
    """The bytes of a block of padded images, its columns and products: complex ones by parts, integers as float64."""
    windows, input_dilation, _, _ = correlation
    parts, groups, (batch, features, *places) = 1 + out.dtype.is_complex, correlation.groups, out.shape
    dtype = float64 if out.dtype.is_integer else wide(to_real(out.dtype))
    if not (out.size and kernel.size and places):
        return 0
    geometry = _Geometry(windows.sizes, windows.strides, windows.dilations, tuple(places))
    spread = spread_of(x, tuple(places), correlation)
    features, channels = features // groups * parts, kernel.shape[1] * parts
    cast = dtype is not to_real(out.dtype)
    if spread is not None:
        return _transposed_space(out, x, kernel, spread, parts, groups, dtype if cast else None)
    way, copied = _way(features, channels, geometry)
    images, rows = _batch_sizes(ArrayConvolution.conv_block, batch, groups, features, copied, geometry.places)
    sums = images * groups * features * rows * prod(places[1:])
    columns = images * groups * channels * prod(geometry.window) * rows * prod(places[1:])
    if way == "row by row":
        first, stride, dilation = windows.along[0]
        phases = {tap * dilation % stride: tap * dilation // stride for tap in range(first)}
        in_order = len(places) == stride == 1 and rows == places[0]  # the columns are views of the images
        columns = 0 if in_order else columns // (first * rows) * sum(last + rows for last in phases.values())
    elif windows.elements == prod(windows.strides) == 1 and rows == places[0] and not windows.is_padded:
        columns = 0  # the images are the columns already
    taken = columns + (sums if way != "whole" else 0) + (sums if cast else 0) + (sums if out.dtype.is_integer else 0)
    if cast or windows.is_padded or any(size > 1 for size in input_dilation):
        apart = [(size - 1) * dilation + 1 for size, dilation in zip(x.shape[2:], input_dilation, strict=True)]
        taken += images * groups * channels * prod(windows.padded(apart))
    if cast and images < batch:  # the next block is cast while the one before still exists
        taken += images * groups * channels * prod(x.shape[2:])
    # A kernel whose axes were moved, as in the gradient of a kernel, is copied to a matrix; others are small.
    space = nbytes(taken + kernel.size * parts**2 * (1 + cast), dtype)
    if parts == 1:
        return space
    # The kernel's parts are concatenated twice; the columns are freed before the complex result is made.
    together = 2 * kernel.nbytes
    return x.nbytes + max(2 * together - out.nbytes, together + max(space, out.nbytes))


def _transposed_space(
    out: Template, x: Template, kernel: Template, spread: Spread, parts: int, groups: int, cast: DType | None
) -> int:
    """The bytes of a convolution of dilated images: what is computed in another dtype is cast to `cast` first."""
    batch, features = out.shape[0], out.shape[1] // groups * parts
    dtype = cast or to_real(out.dtype)
    taken = space(spread, ArrayConvolution.conv_block, batch, groups, features) + kernel.size * parts**2
    if cast is not None:
        taken += x.size * parts + kernel.size * parts**2
    space_taken = nbytes(taken, dtype) + (nbytes(out.size, out.dtype) if out.dtype.is_integer else 0)
    return space_taken + (x.nbytes + 2 * kernel.nbytes + out.nbytes if parts == 2 else 0)


class ArrayConvolution(ArrayBase):
    """The convolution of the family `protocol.window`."""

    conv_block: ClassVar[int] = 1 << 20
    """About the largest number of elements of columns and sums that are worked on at once, or half of it for several
    images at once: few enough for a processor's caches."""

    @takes(_space)
    @planned
    def conv(self, out: Template, x: Template, kernel: Template, /, *, correlation: Correlation) -> Kernel:
        """Convolves one block of images after another, or one block of rows of an image."""
        windows, _, feature_groups, batch_groups = correlation
        xp, groups, batch, channels = self.xp, correlation.groups, out.shape[0], kernel.shape[1]
        area = prod(kernel.shape[1:])
        if not (out.size and area):
            return lambda images, filters: xp.zeros(out.shape, numpy_dtype(out.dtype))
        triples = correlation.edges
        geometry, spatial = _Geometry(windows.sizes, windows.strides, windows.dilations, out.shape[2:]), x.shape[2:]
        if not spatial:
            geometry, spatial, triples = _Geometry((1,), (1,), (1,), (1,)), (1,), [(0, 0, 0)]
        features = out.shape[1] // groups
        spread = spread_of(x, out.shape[2:], correlation)

        def convolve(images: Array, filters: Array) -> Array:
            dtype = numpy_dtype(_working_dtype(xp, out.dtype, area, images, filters))
            # Groups of the batch become groups of the channels of a smaller batch.
            values = images.reshape((batch_groups, batch, feature_groups, channels, *spatial)).swapaxes(0, 1)
            values = values.reshape((batch, groups, channels, *spatial))
            weights = filters.reshape((groups, features, channels, *geometry.window))
            if out.dtype.is_complex:  # by real products, as BLAS does not specify the results for infinities
                values, weights = parts(xp, values, weights)
            weights = weights.astype(dtype, copy=False)
            if spread is None or not _is_finite(xp, weights):  # inserted zeros times infinity are NaN
                result = self._convolve(values, weights, geometry, triples, to_real(out.dtype))
            else:
                result = self._transposed(values, weights, spread, to_real(out.dtype))
            if out.dtype.is_complex:
                both, result = result, xp.empty(out.shape, numpy_dtype(out.dtype))
                whole = result.reshape((batch, groups, features, -1))
                whole.real, whole.imag = both[:, :, :features], both[:, :, features:]
            return result.reshape(out.shape)

        return convolve

    def _transposed(self, values: Array, weights: Array, spread: Spread, out: DType) -> Array:
        """The same for dilated images, without the zeros between their elements."""
        shape = (*values.shape[:2], weights.shape[1], prod(spread.places))
        result = self.xp.empty(shape, numpy_dtype(out))
        whole = out.is_integer and weights.dtype.kind == "f"
        return transposed(
            self.xp, values, weights, spread, self.conv_block, result,
            (lambda sums: sums.astype(numpy_dtype(int64))) if whole else lambda sums: sums,
        )  # fmt: skip

    def _convolve(
        self, values: Array, weights: Array, geometry: _Geometry, padding: Sequence[tuple[int, int, int]], out: DType
    ) -> Array:
        """Convolves images (batch, groups, channels, *spatial) by real kernels (groups, features, channels, *window).

        The result (batch, groups, features, places) has the dtype `out`; sums are computed in the kernels' dtype.
        """
        xp, dtype, (batch, groups), features = self.xp, weights.dtype, values.shape[:2], weights.shape[1]
        across = prod(geometry.places[1:])
        product, copied = _product(xp, weights, geometry)
        result = xp.empty((batch, groups, features, across * geometry.places[0]), numpy_dtype(out))
        images, rows = _batch_sizes(self.conv_block, batch, groups, features, copied, geometry.places)
        for first in range(0, batch, images):
            block = values[first : first + images].astype(dtype, copy=False)
            if any(map(any, padding)):
                block = padding_function(xp, block.shape, dtype, [*[(0, 0, 0)] * 3, *padding])(block, 0)
            for start in range(0, geometry.places[0], rows):
                stop = min(start + rows, geometry.places[0])
                part = geometry._replace(places=(stop - start, *geometry.places[1:]))
                target = result[first : first + images, :, :, start * across : stop * across]
                sums = target if target.dtype == dtype else xp.empty(target.shape, dtype)
                product(block[:, :, :, start * geometry.strides[0] :], part, sums)
                if sums is not target:
                    target[...] = sums.astype(numpy_dtype(int64)) if out.is_integer else sums
        return result


def parts(xp: Any, values: Array, weights: Array) -> tuple[Array, Array]:
    """Complex images and kernels as real ones, with twice the channels and features.

    (a + bj) (c + dj) has the real part (a, b) . (c, -d) and the imaginary part (a, b) . (d, c).
    """
    real, imaginary = (xp.concatenate(pair, axis=2) for pair in (
        (weights.real, -weights.imag), (weights.imag, weights.real)))  # fmt: skip
    return xp.concatenate((values.real, values.imag), axis=2), xp.concatenate((real, imaginary), axis=1)


def _is_finite(xp: Any, weights: Array) -> bool:
    return weights.dtype.kind != "f" or bool(xp.isfinite(weights).all())


def _working_dtype(xp: Any, dtype: DType, area: int, *factors: Array) -> DType:
    """The dtype to compute in: for integers float64 if that is exact."""
    dtype = to_real(dtype)
    if dtype in NARROW:
        return float32
    return float64 if dtype.is_integer and fits_float64(xp, area, *factors) else dtype


def _product(xp: Any, weights: Array, geometry: _Geometry) -> tuple[Product, int]:
    """Two results: a function that writes the products of a kernel (groups, features, channels, *window) with the
    windows of a block, and the number of elements that it copies for each place."""
    groups, features, channels, first = weights.shape[:4]
    scratch, area = _Scratch(xp, weights.dtype), channels * prod(geometry.window)
    way, copied = _way(features, channels, geometry)
    if way == "row by row":
        taps = xp.moveaxis(weights, 3, 0).reshape((first, groups, features, area // first))
        return lambda *block: _row_by_row(xp, scratch, taps, *block), copied
    matrix, product = weights.reshape((groups, features, area)), _multiply_merged if way == "merged" else _whole
    return lambda *block: product(xp, scratch, matrix, *block), copied


def _way(features: int, channels: int, geometry: _Geometry) -> tuple[Literal["merged", "row by row", "whole"], int]:
    """The way in which products are computed, and the number of elements that it copies for each place."""
    area, places, first = channels * prod(geometry.window), prod(geometry.places), geometry.window[0]
    if places <= _FEW_PLACES and features * area > _FEW_PLACES * places:
        return "merged", area
    by_rows = area // first * geometry.strides[0]
    return ("row by row", by_rows) if by_rows + features * first < area else ("whole", area)


def _batch_sizes(block: int, batch: int, groups: int, features: int, copied: int, places: Sizes) -> tuple[int, int]:
    """The number of images that are worked on at once, and the number of their rows."""
    row = groups * prod(places[1:]) * (copied + 2 * features)
    images = max(1, block // (2 * row * places[0]))
    return min(images, batch), places[0] if images > 1 else min(max(1, block // row), places[0])


class _Scratch:
    """Working memory that one block after another uses."""

    def __init__(self, xp: Any, dtype: Any) -> None:
        self.xp, self.dtype = xp, dtype
        self.held: dict[object, Array] = {}

    def empty(self, use: object, shape: tuple[int, ...]) -> Array:
        """An array for a purpose `use`; the next call with the same `use` overwrites its elements."""
        size = prod(shape)
        if use not in self.held or self.held[use].size < size:
            self.held[use] = self.xp.empty(size, self.dtype)
        return self.held[use][:size].reshape(shape)

    def copied(self, use: object, view: Array, shape: tuple[int, ...]) -> Array:
        """The elements of a view in another shape; the view itself, reshaped, where that needs no copy."""
        if view.flags.c_contiguous:
            return view.reshape(shape)
        columns = self.empty(use, view.shape)
        columns[...] = view
        return columns.reshape(shape)


def _windows(xp: Any, block: Array, part: _Geometry) -> Array:
    """A view (images, groups, channels, *window, *places) of a block (images, groups, channels, *spatial)."""
    steps = block.strides[3:]
    hops = (step * dilation for step, dilation in zip(steps, part.dilations, strict=True))
    paces = (step * stride for step, stride in zip(steps, part.strides, strict=True))
    shape = (*block.shape[:3], *part.window, *part.places)
    return xp.lib.stride_tricks.as_strided(block, shape, (*block.strides[:3], *hops, *paces))


def _whole(xp: Any, scratch: _Scratch, matrix: Array, block: Array, part: _Geometry, sums: Array) -> None:
    """One product for each image, with every element of the windows in a column."""
    shape = (*block.shape[:2], matrix.shape[-1], sums.shape[-1])
    xp.matmul(matrix, scratch.copied("columns", _windows(xp, block, part), shape), out=sums)


def _multiply_merged(xp: Any, scratch: _Scratch, matrix: Array, block: Array, part: _Geometry, sums: Array) -> None:
    """One product for all images, for which a large kernel is read from memory only once."""
    windows = xp.moveaxis(_windows(xp, block, part), 0, 2 + len(part.window))
    columns = scratch.copied("columns", windows, (block.shape[1], matrix.shape[-1], block.shape[0] * sums.shape[-1]))
    product = xp.matmul(matrix, columns).reshape((*matrix.shape[:2], *sums.shape[::3]))
    sums[...] = product.transpose((2, 0, 1, 3))


def _row_by_row(xp: Any, scratch: _Scratch, taps: Array, block: Array, part: _Geometry, sums: Array) -> None:
    """One product for each image and row of the kernel, with the elements for that row in a column."""
    stride, dilation, across = part.strides[0], part.dilations[0], prod(part.places[1:])
    columns: dict[int, Array] = {}
    for tap, weights in enumerate(taps):
        # Image rows that are a stride apart are put side by side; each row of the kernel begins in one such sequence.
        start, phase = divmod(tap * dilation, stride)
        if phase not in columns:
            last = max(later_tap for later_tap in range(tap, len(taps)) if later_tap * dilation % stride == phase)
            length = last * dilation // stride + part.places[0]
            inner = part._replace(window=(1, *part.window[1:]), places=(length, *part.places[1:]))
            shape = (*block.shape[:2], weights.shape[-1], length * across)
            columns[phase] = scratch.copied(phase, _windows(xp, block[:, :, :, phase:], inner), shape)
        chosen = columns[phase][..., start * across : start * across + sums.shape[-1]]
        if tap:
            sums += xp.matmul(weights, chosen, out=scratch.empty("product", sums.shape))
        else:
            xp.matmul(weights, chosen, out=sums)
