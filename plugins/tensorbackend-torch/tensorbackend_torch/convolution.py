"""Convolution by PyTorch's function if that is right, otherwise as matrix products of the windows.

PyTorch's function takes only floats and one to three spatial axes. On a GPU it rounds float32 to ten bits, unless a
setting of the whole process says otherwise. Its algorithms that work on tiles spread an infinity or NaN to neighbours.
"""

from __future__ import annotations

from math import prod

from tensorbackend import Template
from tensorbackend.protocol.convolution import Correlation

from . import complex_functions
from .kernels import TorchBase, kernel, multiplying
from .library import torch
from .products import matrix_product
from .shape import padded
from .ways import Array


class TorchConvolution(TorchBase):
    """The convolution of the family `protocol.window`."""

    @multiplying
    @kernel(unsigned="bits", narrow="float32")
    def conv(self, out: Template, x: Array, kernel: Array, *, correlation: Correlation) -> Array:
        """The correlation; groups of the batch are groups of the channels of a smaller batch."""
        windows, _, feature_groups, batch_groups = correlation
        batch, groups, channels = out.shape[0], correlation.groups, kernel.shape[1]
        spatial = x.shape[2:]
        if not (out.size and prod(kernel.shape[1:])):
            return x.new_zeros(out.shape)
        values = x.reshape(batch_groups, batch, feature_groups, channels, *spatial).transpose(0, 1)
        values = values.reshape(batch, groups * channels, *spatial)
        if any(map(any, correlation.edges)):
            values = padded(values, 0, [(0, 0, 0)] * 2 + correlation.edges)
        native = (torch.conv1d, torch.conv2d, torch.conv3d)
        if x.is_floating_point() and not x.is_cuda and 1 <= len(spatial) <= len(native):
            function = native[len(spatial) - 1]
            quick = function(values, kernel, None, windows.strides, 0, windows.dilations, groups)
            if complex_functions.all_finite(quick) or torch.isfinite(quick).all():  # the sum may overflow
                return quick
        places = out.shape[2:]
        paces = values.stride()
        hops = [pace * step for pace, step in zip(paces[2:], windows.dilations, strict=True)]
        steps = [pace * step for pace, step in zip(paces[2:], windows.strides, strict=True)]
        view = values.as_strided(
            (batch, groups, channels, *windows.sizes, *places), (paces[0], paces[1] * channels, paces[1], *hops, *steps)
        )
        columns = view.reshape(batch, groups, channels * windows.elements, prod(places))
        weights = kernel.reshape(1, groups, kernel.shape[0] // groups, channels * windows.elements)
        if out.dtype.is_complex:  # a library's product leaves the results for infinities open
            (a, b), (c, d) = complex_functions.parts(weights), complex_functions.parts(columns)
            product = complex_functions.join(a @ c - b @ d, a @ d + b @ c)
        else:
            product = matrix_product(weights, columns)
        return product.reshape(out.shape)
