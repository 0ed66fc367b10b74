"""Convolution by XLA."""

from __future__ import annotations

from functools import reduce
from math import prod
from operator import add
from typing import Literal

from ...dispatch.kernels import as_tensors
from ...dtypes import float64
from ...interchange import numpy_dtype
from ...ops.composite.convolution import overhang, sums_of_shifted
from ...protocol import Kernel, planned
from ...protocol.convolution import Correlation
from ...protocol.window import Padding, Sizes
from ...select import call_with_default
from ...template import Template
from ..array_module.base import Array
from ..array_module.convolution import ArrayConvolution, parts
from .base import JaxBase
from .shape import padding_function

_MOST_WRITTEN_OUT = 16
"""The most elements of a kernel of vectors whose products are written out: XLA makes one loop of them."""


class JaxConvolution(JaxBase, ArrayConvolution):
    """The convolution of the family `protocol.window`, and that of vectors."""

    @planned
    def convolve(
        self, out: Template, x1: Template, x2: Template, /, *, mode: Literal["full", "same", "valid"]
    ) -> Kernel:
        """One loop over the products with each element of a short kernel; else the default.

        Products with the zeros around the longer vector are left out, as those of infinities would be NaN.
        """
        longer, shorter = (x1, x2) if x1.size >= x2.size else (x2, x1)
        count, (low, high) = shorter.size, overhang(mode, shorter.size)
        if count > _MOST_WRITTEN_OUT or not out.dtype.is_floating:
            return lambda left, right: (
                call_with_default(self, sums_of_shifted, *as_tensors(self, (x1, x2), (left, right)), mode).data
            )
        first, places = count - 1 - low, longer.size - count + 1 + low + high
        lax, xp, swaps, length = self.lax, self.xp, longer is not x1, longer.size

        def sums(left: Array, right: Array) -> Array:
            arrays = [self.widened(self.tensor(self._convert_dtype(x, out))) for x in (left, right)]
            values, weights = reversed(arrays) if swaps else arrays
            zero, place = xp.zeros((), values.dtype), first + xp.arange(places)
            # Written out, as in one loop with the products each element would be compared with the ends twice.
            padded = lax.optimization_barrier(lax.pad(values, zero, [(count - 1, count - 1, 0)]))

            def products(at: int) -> Array:
                start = first + count - 1 - at
                inside = (place >= at) & (place < length + at)
                return xp.where(inside, padded[start : start + places] * weights[at], zero)

            return self.narrow_payload(reduce(add, map(products, range(count))), out)

        return sums

    @planned
    def conv(self, out: Template, x: Template, kernel: Template, /, *, correlation: Correlation) -> Kernel:
        """XLA's convolution; complex numbers are convolved by their parts."""
        windows, input_dilation, feature_groups, batch_groups = correlation
        xp, groups, batch, channels = self.xp, correlation.groups, out.shape[0], kernel.shape[1]
        if not (out.size and prod(kernel.shape[1:])):
            return lambda images, filters: xp.zeros(out.shape, numpy_dtype(out.dtype))
        # Groups of the batch become groups of channels, with a smaller batch.
        split = batch_groups, batch, feature_groups, channels, *x.shape[2:]
        features = out.shape[1] // groups
        # Between fewer than two elements there is nothing; XLA may get a dilation that does nothing wrong.
        input_dilation, kernel_dilation = (
            tuple([step if size > 1 else 1 for size, step in zip(sizes, steps, strict=True)])
            for sizes, steps in ((x.shape[2:], input_dilation), (windows.sizes, windows.dilations))
        )
        apart, on_cpu = any(step > 1 for step in input_dilation), self.platform == "cpu"
        # The library that XLA calls on a GPU has no convolution of integers.
        by_taps = out.dtype.is_integer and self.platform == "gpu"
        spread = (
            by_taps
            or (apart and (on_cpu or self.lays_by_name))
            or any(map(_leaves_out, x.shape[2:], windows.sizes, windows.spans, windows.padding))
        )
        # On a CPU, XLA joins groups of one channel of float64 by zeros in the kernel, which make NaN of infinities in
        # other groups into NaN. It keeps groups of two channels apart.
        lonely = on_cpu and groups > 1 and channels == 1 and out.dtype is float64

        precision = self.precision

        def convolve(images: Array, filters: Array) -> Array:
            values = self.widened(self.tensor(images)).reshape(split).swapaxes(0, 1)
            values = values.reshape((batch, groups, channels, *x.shape[2:]))
            weights = self.widened(self.tensor(filters)).reshape((groups, features, *kernel.shape[1:]))
            if out.dtype.is_complex:
                values, weights = parts(xp, values, weights)
            if lonely:
                values, weights = (xp.concatenate((array, xp.zeros_like(array)), axis=2) for array in (values, weights))
            values = values.reshape((batch, groups * values.shape[2], *x.shape[2:]))
            ends, dilation = windows.padding, input_dilation
            if spread:
                values, ends, dilation = self._spread(values, ends, dilation)
            if by_taps:
                return self._sum_taps(values, weights, out, windows.strides, kernel_dilation)
            sums = self.lax.conv_general_dilated(
                values,
                weights.reshape((groups * weights.shape[1], -1, *kernel.shape[2:])),
                windows.strides,
                ends,
                dilation,
                kernel_dilation,
                feature_group_count=groups,
                precision=precision,
            )
            if out.dtype.is_complex:
                real, imaginary = xp.moveaxis(sums.reshape((batch, groups, 2, -1)), 2, 0)
                sums = self.lax.complex(real, imaginary)
            return self.narrow_payload(sums.reshape(out.shape), out)

        return convolve

    def _sum_taps(self, values: Array, weights: Array, out: Template, strides: Sizes, dilations: Sizes) -> Array:
        """A convolution without padding: the sum of the products with each element of the kernel."""
        lax, xp, taps, places = self.lax, self.xp, weights.shape[3:], out.shape[2:]
        groups, features, channels = weights.shape[:3]
        images = values.reshape((out.shape[0], groups, channels, *values.shape[2:]))
        met = [(count - 1) * stride + 1 for count, stride in zip(places, strides, strict=True)]
        every = (..., *(slice(None, None, stride) for stride in strides))

        def add_tap(number: Array, total: Array) -> Array:
            tap = xp.unravel_index(number, taps) if taps else ()
            starts = [index * step for index, step in zip(tap, dilations, strict=True)]
            elements = lax.dynamic_slice(images, (0, 0, 0, *starts), (*images.shape[:3], *met))[every]
            column = lax.dynamic_slice(weights, (0, 0, 0, *tap), (*weights.shape[:3], *(1,) * len(tap)))
            return total + lax.dot_general(column.reshape(weights.shape[:3]), elements, (((2,), (2,)), ((0,), (1,))))

        start = xp.zeros((groups, features, out.shape[0], *places), values.dtype)
        sums = lax.fori_loop(0, prod(taps), add_tap, start)
        return xp.moveaxis(sums, 2, 0).reshape(out.shape)

    def _spread(self, values: Array, padding: Padding, dilation: Sizes) -> tuple[Array, Padding, Sizes]:
        """An input with the zeros around and between its elements written out, and a padding and dilation of none."""
        edges = [(0, 0, 0)] * 2 + [(*ends, step - 1) for ends, step in zip(padding, dilation, strict=True)]
        pad = padding_function(self.lax, values.shape, edges, on_mesh=self.lays_by_name)
        spread = pad(values, self.xp.zeros((), values.dtype))
        return self.lax.optimization_barrier(spread), ((0, 0),) * len(padding), (1,) * len(dilation)


def _leaves_out(size: int, kernel_size: int, extent: int, ends: tuple[int, int]) -> bool:
    """Whether XLA may leave out products with the padding of an axis, though zero times infinity is NaN.

    It does so in small convolutions; on a CPU also in those with dilated inputs, some of which even abort the process.
    The condition was found by trying a thousand convolutions with kernels of infinities.
    """
    return any(ends) and (kernel_size < 3 or max(ends) >= extent or size <= 2 * extent)
