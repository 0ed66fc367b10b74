"""Convolution."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import chain
from operator import mul
from typing import Any

from ...dtypes import DType, float64
from ...protocol import Backend, Payload
from ...protocol.convolution import Correlation
from ...template import Template
from ...tensor import Tensor
from .shape import steps
from .storage import elements, store
from .window import _axes, _sum_of_products
from .windows import pad, runs, window_offsets


class BinaryConvolution(Backend):
    """Convolution."""

    def conv(self, out: Template, x: Tensor, kernel: Tensor, /, *, correlation: Correlation) -> Payload:
        windows, _, _, batch_groups = correlation
        features, channels = kernel.shape[:2]
        area = channels * windows.elements
        if not area or not out.size:
            return bytes(out.nbytes)
        wide = pad(x, 0, [(0, 0, 0), (0, 0, 0), *correlation.edges])
        axes = _axes(windows)
        shape = wide.shape[2:]
        plane = math.prod(shape)
        offsets = [
            channel * plane + offset for channel in range(channels) for offset in window_offsets(axes, steps(shape))
        ]
        values, weights = list(elements(wide)), list(elements(kernel))
        rows = [weights[start : start + area] for start in range(0, features * area, area)]
        parts = list(runs(axes, shape, len(offsets)))
        share = features // correlation.groups
        batch = out.shape[0]
        combine = _complex_products if out.dtype.is_complex else _products(out.dtype)
        results: list[Any] = []
        for image in range(batch):
            for group in range(correlation.groups):
                # At least one of the two numbers of groups is 1.
                block, channel = (group * batch + image, 0) if batch_groups > 1 else (image, group * channels)
                first = (block * wide.shape[1] + channel) * plane
                taken = values[first : first + channels * plane]
                kernels = rows[group * share : (group + 1) * share]
                pieces = [combine(part.columns(taken, offsets), kernels) for part in parts]
                results += chain.from_iterable(
                    chain.from_iterable(kernel_pieces) for kernel_pieces in zip(*pieces, strict=True)
                )
        return store(results, out.dtype)


def _products(dtype: DType) -> Callable[[list[Sequence[Any]], list[list[Any]]], list[list[Any]]]:
    """A function that returns the sums of products of each kernel with every window, in float64 or exact integers."""
    zero: Any = 0 if dtype.is_integer else 0.0

    def combine(columns: list[Sequence[Any]], kernels: list[list[Any]]) -> list[list[Any]]:
        windows = list(zip(*columns, strict=True))
        if _sum_of_products is not None:
            return [[_sum_of_products(window, kernel) for window in windows] for kernel in kernels]
        return [[sum(map(mul, window, kernel), zero) for window in windows] for kernel in kernels]

    return combine


def _complex_products(columns: list[Sequence[Any]], kernels: list[list[Any]]) -> list[list[Any]]:
    """(a + bj)(c + dj) as products of real numbers: (a, b) with (c, -d), and with (d, c)."""
    combine = _products(float64)
    parts: list[Sequence[Any]] = [[z.real for z in column] for column in columns]
    parts += [[z.imag for z in column] for column in columns]
    reals = combine(parts, [[w.real for w in kernel] + [-w.imag for w in kernel] for kernel in kernels])
    imaginaries = combine(parts, [[w.imag for w in kernel] + [w.real for w in kernel] for kernel in kernels])
    return [list(map(complex, *pair)) for pair in zip(reals, imaginaries, strict=True)]
