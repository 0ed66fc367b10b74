"""Pooling over views in which the elements of a window have their own axes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tensorbackend import Template, Tensor
from tensorbackend.dtypes import value_range
from tensorbackend.extending import fold_elements
from tensorbackend.protocol import Payload
from tensorbackend.protocol.window import Windows

from . import complex_functions, extremes
from .convolution import TorchConvolution
from .kernels import kernel
from .library import torch
from .shape import padded
from .ways import Array, add_rows, bits_of, dtype_of, in_order

_SIZE_BY_PAIRS = 16
"""The largest size of a window, in elements along an axis, of which pairs are compared."""


class TorchWindow(TorchConvolution):
    """Pooling over windows that slide along every axis."""

    @kernel(unsigned="bits", narrow="float32")
    def window_sum(self, out: Template, x: Array, *, windows: Windows) -> Array:
        """Sum of each window."""
        return _slide(lambda columns: torch.sum(columns, -1, dtype=x.dtype), x, 0, windows)

    @kernel(unsigned="bits", narrow="float32")
    def window_product(self, out: Template, x: Array, *, windows: Windows) -> Array:
        """Product of each window."""
        if x.is_complex():  # the order of multiplication decides the results for infinities
            return complex_functions.product(_flat_windows(out, x, 1, windows))
        return _slide(lambda columns: torch.prod(columns, -1, dtype=x.dtype), x, 1, windows)

    @kernel(unsigned="order")
    def window_max(self, out: Template, x: Array, *, windows: Windows) -> Array:
        """Largest element of each window."""
        return _slide_extreme(torch.maximum, extremes.signed_maximum, x, _range(x)[0], windows)

    @kernel(unsigned="order")
    def window_min(self, out: Template, x: Array, *, windows: Windows) -> Array:
        """Least element of each window."""
        return _slide_extreme(torch.minimum, extremes.signed_minimum, x, _range(x)[1], windows)

    def window_reduce(
        self,
        out: Template,
        x: Tensor,
        initial: Tensor,
        /,
        *,
        windows: Windows,
        function: Callable[[Tensor, Tensor], Tensor],
    ) -> Payload:
        """Folds a Python function over each window's elements, the padding left out."""
        rows = _flat_windows(out, self._counter(x.data), -1, windows).reshape(out.size, windows.elements)
        values = x.data.reshape(-1)
        elements = ([values[place] for place in window if place >= 0] for window in rows.tolist())
        return self.gathered(out, fold_elements(self, function, initial, x.dtype, elements))

    @kernel(unsigned="own", narrow="float32")
    def window_scatter_max(self, out: Template, x: Array, source: Array, initial: Array, *, windows: Windows) -> Array:
        """`initial`, plus each source element at its window's largest element."""
        return self._scattered(extremes.signed_maximum, 0, out, x, source, initial, windows)

    @kernel(unsigned="own", narrow="float32")
    def window_scatter_min(self, out: Template, x: Array, source: Array, initial: Array, *, windows: Windows) -> Array:
        """`initial`, plus each source element at its window's least element."""
        return self._scattered(extremes.signed_minimum, 1, out, x, source, initial, windows)

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
        windows: Windows,
    ) -> Array:
        ordered = in_order(x)
        shape = (source.numel(), windows.elements)
        columns = _windows(padded(ordered, _range(ordered)[identity], windows.edges), windows.along).reshape(shape)
        positions = _windows(padded(self._counter(x), -1, windows.edges), windows.along).reshape(shape)
        result = bits_of(initial).expand(out.size).clone()
        if not (source.numel() and shape[1]):
            return result.reshape(out.shape)
        best = select(columns, (1,), True)
        chosen = ((columns == best) | (columns != columns)) & (positions >= 0)
        first = torch.argmax(chosen.to(torch.uint8), 1, keepdim=True)
        # A window that holds only padding adds nothing.
        nonempty = torch.take_along_dim(chosen, first, 1)[:, 0]
        at = torch.take_along_dim(positions, first, 1)[nonempty, 0]
        return add_rows(result, at, bits_of(source).reshape(-1)[nonempty]).reshape(out.shape)


def _range(x: Array) -> tuple[Any, Any]:
    """The least and the largest value: the identities of maximum and minimum."""
    return value_range(dtype_of(x.dtype))


def _slide(reduce: Callable[[Array], Array], x: Array, identity: Any, windows: Windows) -> Array:
    """Reduces every window by a reduction of the last axis, one axis of the windows after another."""
    values = padded(x, identity, windows.edges)
    for axis, (size, stride, dilation) in enumerate(windows.along):
        if (size, stride, dilation) != (1, 1, 1):
            one = [(1, 1, 1)] * values.ndim
            one[axis] = (size, stride, dilation)
            columns = _windows(values, one)
            values = reduce(columns.reshape((*columns.shape[: values.ndim], size)))
    return values


def _slide_extreme(
    choose: Callable[..., Array], reduce: Callable[..., Array], x: Array, identity: Any, windows: Windows
) -> Array:
    """The largest or smallest element of every window, as `choose` finds it of two elements, and `reduce` of many."""
    many = any(size > _SIZE_BY_PAIRS for size, _, _ in windows.along)
    if many or (x.is_floating_point() and extremes.has_negative_zero(x)):
        return _slide(lambda columns: reduce(columns, (-1,)), x, identity, windows)

    def by_pairs(columns: Array) -> Array:
        """The entries of the last axis next to each other, which takes less time than a reduction of few entries."""
        first, *others = columns.unbind(-1)
        found = first.clone() if not others else choose(first, others[0])
        for other in others[1:]:
            choose(found, other, out=found)
        return found

    return _slide(by_pairs, x, identity, windows)


def _flat_windows(out: Template, x: Array, identity: Any, windows: Windows) -> Array:
    """Returns the windows: their places on the axes of the result, their elements on one more axis."""
    columns = _windows(padded(x, identity, windows.edges), windows.along)
    return columns.reshape(*out.shape, windows.elements)


def _windows(values: Array, along: Iterable[tuple[int, int, int]]) -> Array:
    """A view with the places of the windows on its first axes, the elements of a window on its last."""
    places, steps, sizes, hops = [], [], [], []
    for length, pace, (size, stride, dilation) in zip(values.shape, values.stride(), along, strict=True):
        places.append(max(0, (length - (size - 1) * dilation - 1) // stride + 1))
        steps.append(pace * stride)
        sizes.append(size)
        hops.append(pace * dilation)
    return values.as_strided((*places, *sizes), (*steps, *hops))
