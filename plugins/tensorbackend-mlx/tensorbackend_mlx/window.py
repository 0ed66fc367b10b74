"""Pooling over arrays in which the elements of a window have their own axes."""

from __future__ import annotations

from collections.abc import Callable

from tensorbackend import Template
from tensorbackend.dtypes import value_range
from tensorbackend.protocol import Payload
from tensorbackend.protocol.window import Windows

from .casting import number
from .kernels import Function, MlxBase, kernel
from .library import Array, mx
from .reduction import greatest_along, least_along
from .shape import padder


def _extreme(name: str, along: Callable[..., Function], identity: int) -> Callable[..., Payload]:
    """A callback that finds an extreme element of each window."""

    @kernel()
    def callback(self: MlxBase, out: Template, x: Template, *, windows: Windows) -> Function:
        if not x.size or not out.size:
            return self.by_numpy(name, out, x, windows=windows)
        padding = number(value_range(x.dtype)[identity], x.dtype)
        return _sliding(lambda axis: along(x.dtype, (axis,), False), x, padding, windows)

    return callback


class MlxWindow(MlxBase):
    """Pooling over windows that slide along every axis."""

    @kernel(narrow=True)
    def window_sum(self, out: Template, x: Template, *, windows: Windows) -> Function:
        """Sum of each window."""
        if not x.size or not out.size:
            return self.by_numpy("window_sum", out, x, windows=windows)
        return _sliding(lambda axis: lambda values: mx.sum(values, axis), x, number(0, x.dtype), windows)

    @kernel(narrow=True)
    def window_product(self, out: Template, x: Template, *, windows: Windows) -> Function:
        """Product of each window."""
        if x.dtype.is_complex or not x.size or not out.size:  # the order decides the results for infinities
            return self.by_numpy("window_product", out, x, windows=windows)
        return _sliding(lambda axis: lambda values: mx.prod(values, axis), x, number(1, x.dtype), windows)

    window_max = _extreme("window_max", greatest_along, 0)
    window_min = _extreme("window_min", least_along, 1)


def _sliding(reduction: Callable[[int], Function], x: Template, identity: Array, windows: Windows) -> Function:
    """Reduces every window along one axis after another. A reduction is made for the axis of a window's elements.

    The elements are taken by index: with overlapping views by `mx.as_strided`, memory was found to be corrupted.
    """
    pad = padder(x.shape, windows.edges) if any(map(any, windows.edges)) else None
    along = [
        (axis, size, stride, dilation, reduction(axis + 1))
        for axis, (size, stride, dilation) in enumerate(windows.along)
        if (size, stride, dilation) != (1, 1, 1)
    ]

    def slide(values: Array) -> Array:
        if pad is not None:
            values = pad(values, identity.astype(values.dtype))
        for axis, size, stride, dilation, reduce in along:
            count = (values.shape[axis] - (size - 1) * dilation - 1) // stride + 1
            places = mx.arange(count)[:, None] * stride + mx.arange(size) * dilation
            values = reduce(mx.take(values, places, axis)).astype(values.dtype)
        return values

    return slide
