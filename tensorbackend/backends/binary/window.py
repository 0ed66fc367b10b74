"""Pooling on bytes: windows are columns of elements (see `windows`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial, reduce
from itertools import chain, product
from typing import Any

from ...dtypes import value_range
from ...protocol import Backend, Payload
from ...protocol.window import Windows
from ...template import Shape, Template
from ...tensor import Tensor
from ..functional import fold_elements
from . import complex_scalars
from .scalars import sum_of_floats
from .shape import steps
from .storage import elements, map_columns, store
from .windows import Axis, columns, from_order_keys, order_keys, pad

Fold = Callable[[list[Sequence[Any]]], Sequence[Any]]
"""A function that makes one element of each window, from the columns of the windows' elements."""

_sum_of_products: Callable[[Sequence[Any], Sequence[Any]], Any] | None = getattr(math, "sumprod", None)
"""`math.sumprod`, exact up to its last rounding; `None` before Python 3.12."""


def _axes(windows: Windows) -> list[Axis]:
    return [Axis(*fields) for fields in windows.along]


def _fold_windows(fold: Fold, values: Sequence[Any], axes: Sequence[Axis], shape: Shape) -> list[Any]:
    return list(chain.from_iterable(fold(part_columns) for part_columns in columns(values, axes, shape)))


def _axis_by_axis(fold: Fold, values: Sequence[Any], axes: Sequence[Axis], shape: Shape) -> Sequence[Any]:
    """Folds every window by an exact associative function, along one axis after another."""
    for place, axis in enumerate(axes):
        if axis.window > 1 or axis.stride > 1:
            alone = [axis if position == place else Axis(1, 1, 1) for position in range(len(axes))]
            values = _fold_windows(fold, values, alone, shape)
            shape = (*shape[:place], axis.places(shape[place]), *shape[place + 1 :])
    return values


def _fold_arguments(function: Callable[..., Any]) -> Fold:
    """A fold by a function that takes the elements as arguments, such as `max`."""
    return lambda window_columns: list(map(function, *window_columns)) if len(window_columns) > 1 else window_columns[0]


def _fold_tuples(function: Callable[[Any], Any]) -> Fold:
    """A fold by a function of a sequence, such as `math.prod`."""
    return lambda window_columns: list(map(function, zip(*window_columns, strict=True)))


def _sums_of_floats(window_columns: list[Sequence[Any]]) -> Sequence[Any]:
    return map_columns(math.fsum, sum_of_floats, list(zip(*window_columns, strict=True)))


def _sums_of_complex(window_columns: list[Sequence[Any]]) -> Sequence[Any]:
    reals: list[Sequence[Any]] = [[z.real for z in column] for column in window_columns]
    imaginaries: list[Sequence[Any]] = [[z.imag for z in column] for column in window_columns]
    return list(map(complex, _sums_of_floats(reals), _sums_of_floats(imaginaries)))


class BinaryWindow(Backend):
    """The callbacks of the family `protocol.window` that pool."""

    def window_sum(self, out: Template, x: Tensor, /, *, windows: Windows) -> Payload:
        # Not axis by axis for floats: each sum is rounded once.
        return _folded(out, x, 0, windows, sum, _sums_of_complex if x.dtype.is_complex else _sums_of_floats)

    def window_product(self, out: Template, x: Tensor, /, *, windows: Windows) -> Payload:
        fold = _fold_tuples(partial(reduce, complex_scalars.multiply_two) if x.dtype.is_complex else math.prod)
        return _folded(out, x, 1, windows, math.prod, fold)

    def window_max(self, out: Template, x: Tensor, /, *, windows: Windows) -> Payload:
        return _extremes(max, out, pad(x, value_range(x.dtype)[0], windows.edges), _axes(windows))

    def window_min(self, out: Template, x: Tensor, /, *, windows: Windows) -> Payload:
        return _extremes(min, out, pad(x, value_range(x.dtype)[1], windows.edges), _axes(windows))

    def window_reduce(
        self, out: Template, x: Tensor, initial: Tensor, /, *, windows: Windows,
        function: Callable[[Tensor, Tensor], Tensor],
    ) -> Payload:  # fmt: skip
        width = x.dtype.itemsize
        windows_of_elements = (
            [x.data[place * width : (place + 1) * width] for place in places] for places in _positions(windows, x.shape)
        )
        return b"".join(fold_elements(self, function, initial, x.dtype, windows_of_elements))

    def window_scatter_max(
        self, out: Template, x: Tensor, source: Tensor, initial: Tensor, /, *, windows: Windows
    ) -> Payload:
        return _scatter(max, out, x, source, initial, _positions(windows, x.shape))

    def window_scatter_min(
        self, out: Template, x: Tensor, source: Tensor, initial: Tensor, /, *, windows: Windows
    ) -> Payload:
        return _scatter(min, out, x, source, initial, _positions(windows, x.shape))


def _folded(
    out: Template, x: Tensor, neutral: int, windows: Windows, of_integers: Callable[[Any], Any], inexact: Fold
) -> Payload:
    """Folds of all windows: of integers by a function of a sequence, along one axis after another."""
    wide = pad(x, neutral, windows.edges)
    axes, values = _axes(windows), list(elements(wide))
    if x.dtype.is_integer:
        return store(_axis_by_axis(_fold_tuples(of_integers), values, axes, wide.shape), out.dtype)
    return store(_fold_windows(inexact, values, axes, wide.shape), out.dtype)


def _extremes(choose: Callable[..., Any], out: Template, x: Tensor, axes: list[Axis]) -> Payload:
    if not x.dtype.is_floating:
        return store(_axis_by_axis(_fold_arguments(choose), list(elements(x)), axes, x.shape), out.dtype)
    keys = order_keys(x.data, x.dtype, nan_is_largest=choose is max)
    return from_order_keys(_axis_by_axis(_fold_arguments(choose), keys, axes, x.shape), x.dtype)


def _positions(windows: Windows, shape: Shape) -> list[list[int]]:
    """The positions in x of the elements of each window, row-major, without those in the padding."""
    along: list[list[list[int]]] = []
    each_axis = zip(windows.along, windows.places(shape), windows.padding, shape, steps(shape), strict=True)
    for (window, stride, dilation), places, (low, _), size, step in each_axis:
        starts = range(-low, -low + places * stride, stride)
        reach = window * dilation
        along.append(
            [[at * step for at in range(start, start + reach, dilation) if 0 <= at < size] for start in starts]
        )
    return [list(map(sum, product(*window))) for window in product(*along)]


def _scatter(
    choose: Callable[..., Any], out: Template, x: Tensor, source: Tensor, initial: Tensor, windows: list[list[int]]
) -> Payload:
    values, results = list(elements(x)), list(elements(initial)) * out.size
    if any(value != value for value in values):  # NaN is the largest for `max`, and the least for `min`
        values = [((value != value) is (choose is max), value if value == value else 0.0) for value in values]
    for added, window in zip(elements(source), windows, strict=True):
        if window:
            results[choose(window, key=values.__getitem__)] += added
    return store(results, out.dtype)
