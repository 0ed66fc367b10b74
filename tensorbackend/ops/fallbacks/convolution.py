"""A convolution as one contraction for each place of the kernel."""

from __future__ import annotations

from itertools import product as every

from ...dispatch.fallbacks import fallback
from ...protocol.convolution import Correlation
from ...template import Template
from ...tensor import Tensor
from ..contraction import dot
from ..creation.filled import full, zeros
from ..elementwise.basic import astype
from ..elementwise.binary import add
from ..indexing.slices import slice_
from ..shape import _pad as pad_with
from ..shape import permute_dims, reshape
from .common import accumulator_dtype


@fallback("conv")
def _conv(out: Template, x: Tensor, kernel: Tensor, /, *, correlation: Correlation) -> Tensor:
    windows, _, feature_groups, batch_groups = correlation
    if not out.size:
        return zeros(out.shape, dtype=out.dtype)
    wide = accumulator_dtype(out.dtype)
    padded = astype(x, wide)
    if any(map(any, correlation.edges)):
        padded = pad_with(padded, full((), 0, dtype=wide), padding=((0, 0, 0), (0, 0, 0), *correlation.edges))
    groups = correlation.groups
    batch, channels, *sizes = padded.shape
    # (groups, batch, channels, *spatial) with (groups, out, channels, *spatial)
    parts = reshape(padded, (batch_groups, batch // batch_groups, feature_groups, channels // feature_groups, *sizes))
    parts = parts if feature_groups == 1 else permute_dims(parts, (2, 1, 0, *range(3, parts.ndim)))
    parts = reshape(parts, (groups, batch // batch_groups, channels // feature_groups, *sizes))
    kernels = reshape(astype(kernel, wide), (groups, kernel.shape[0] // groups, *kernel.shape[1:]))
    spatial = out.shape[2:]
    result = None
    for place in every(*map(range, windows.sizes)):
        starts = tuple(offset * apart for offset, apart in zip(place, windows.dilations, strict=True))
        column = slice_(
            parts, starts=(0, 0, 0, *starts), lengths=(*parts.shape[:3], *spatial), strides=(1, 1, 1, *windows.strides)
        )
        weights = slice_(
            kernels,
            starts=(0, 0, 0, *place),
            lengths=(*kernels.shape[:3], *(1,) * len(place)),
            strides=(1,) * kernels.ndim,
        )
        term = dot(column, reshape(weights, kernels.shape[:3]), contract=([2], [2]), batch=([0], [0]))
        result = term if result is None else add(result, term)
    if result is None:
        return zeros(out.shape, dtype=out.dtype)
    # (groups, batch, *spatial, out) to (batch, groups, out, *spatial)
    order = (1, 0, result.ndim - 1, *range(2, result.ndim - 1))
    return reshape(astype(permute_dims(result, order), out.dtype), out.shape)
