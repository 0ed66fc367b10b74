"""The median and quantiles. Long rows are partitioned, which takes a third of the time of sorting them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import floor, isinf, nan, prod
from typing import TypeAlias

from ....caching.memos import remembers_calls
from ....caching.option_keys import MEMO_LIMIT
from ....dtypes import float32, promote_types
from ....interchange import numpy_dtype
from ....ops.composite.sorting.order_statistics import place_of
from ....protocol import Kernel, planned
from ....protocol.workspace import takes
from ....rules.broadcasting import to_floating
from ....template import Template
from ...array_module.base import Array
from ...array_module.precision import wide
from ...array_module.workspace_bytes import nbytes
from .orders import NumpySorting

LEAST_PARTITIONED_ROW = 1 << 8
"""A row of at least this many elements is partitioned; a shorter one is sorted in less time."""

Places: TypeAlias = tuple[tuple[int, float], ...]
"""Places among sorted elements: for each the position of an element, and the share of the way to the next one."""


@lru_cache(MEMO_LIMIT)
def _places(count: int, q: tuple[float, ...], method: str) -> Places:
    """The place of each share among `count` sorted elements.

    >>> _places(4, (0.25, 1.0), "linear")
    ((0, 0.75), (3, 0.0))
    """
    places = [place_of(count, share, method) for share in q]
    return tuple([(floor(place), place - floor(place)) for place in places])


remembers_calls("places of order statistics", _places)


def _median_space(out: Template, x: Template, /, *, axis: tuple[int, ...], keepdims: bool) -> int:
    """The bytes of a copy in the dtype to sort in, and of a few results."""
    return nbytes(x.size, wide(x.dtype)) + 4 * nbytes(out.size, wide(out.dtype))


def _quantile_space(out: Template, x: Template, /, *, q: Sequence[float], **options: object) -> int:
    """As `_median_space`, and the results of each share until they are stacked."""
    return nbytes(x.size, wide(x.dtype)) + nbytes(out.size + 4 * out.size // len(q), wide(out.dtype))


class NumpyOrderStatistics(NumpySorting):
    """Callbacks that find elements by their place in the order."""

    @takes(_median_space)
    @planned
    def median(self, out: Template, x: Template, /, *, axis: tuple[int, ...], keepdims: bool) -> Kernel:
        """The middle element, or the mean of the two middle ones."""
        find = self._quantiles_kernel(out, x, axis, keepdims, (0.5,), "linear")
        return lambda values: find(values)[0]

    @takes(_quantile_space)
    @planned
    def quantile(
        self, out: Template, x: Template, /, *, q: Sequence[float], axis: tuple[int, ...], keepdims: bool, method: str
    ) -> Kernel:
        """The elements at the places that the method gives, or numbers between them."""
        find = self._quantiles_kernel(out, x, axis, keepdims, tuple(q), method)
        empty, element = self.xp.empty, numpy_dtype(out.dtype)

        def stack(values: Array) -> Array:  # NumPy's `stack` takes five times as long for few numbers
            numbers = find(values)
            stacked = empty((len(numbers), *numbers[0].shape), element)
            for position, number in enumerate(numbers):
                stacked[position] = number
            return stacked

        return stack

    def _quantiles_kernel(
        self, out: Template, x: Template, axis: tuple[int, ...], keepdims: bool, q: tuple[float, ...], method: str
    ) -> Callable[[Array], list[Array]]:
        """A kernel that returns a list: for each share the quantiles of the elements along some axes.

        It reads sizes from the array, so that one kernel serves all shapes.
        """
        numpy, floating, sort_columns = self.xp, x.dtype.is_floating, self._column_kernel(x, axis)
        kept = [position for position in range(len(x.shape)) if position not in axis]
        working = promote_types(to_floating(x.dtype), float32)
        cast, narrow = self.caster(wide(x.dtype), working), self.caster(working, out.dtype)
        # Without kept axes there is one row, and each element is a number, for which Python's functions are quicker.
        is_infinite, some = (numpy.isinf, numpy.any) if kept else (isinf, bool)

        def interpolate(low: Array, high: Array, share: float) -> Array:
            if share != 0.5:
                weighted = low * (1 - share) + high * share
                # Of equal elements it is that element to the bit, also where they are infinite and `weighted` is NaN.
                return numpy.where((low == high) & (low != 0), low, weighted)
            total = low + high
            infinite = is_infinite(total)
            middle = total * 0.5
            return numpy.where(infinite, low * 0.5 + high * 0.5, middle) if some(infinite) else middle

        def shape_for(sizes: tuple[int, ...]) -> list[int]:
            if keepdims:
                return [1 if position in axis else size for position, size in enumerate(sizes)]
            return [sizes[position] for position in kept]

        def find(values: Array) -> list[Array]:
            count = prod([values.shape[position] for position in axis]) if kept else values.size
            if not count:
                return [numpy.full(shape_for(values.shape), nan, numpy_dtype(out.dtype)) for _ in q]
            places = _places(count, q, method)
            columns = sort_columns(values, count, places)
            missing = columns[-1] != columns[-1] if floating else False
            numbers = []
            for start, share in places:
                low = cast(columns[start])
                number = interpolate(low, cast(columns[start + 1]), share) if share else +low
                number = narrow(numpy.where(missing, nan, number) if some(missing) else number)
                numbers.append(number.reshape(shape_for(values.shape)) if keepdims else number)
            return numbers

        return find

    def _column_kernel(self, x: Template, axis: tuple[int, ...]) -> Callable[[Array, int, Places], Array]:
        """A function that sorts the `count` elements along some axes, and returns them along a new first axis.

        Of many elements only those at the places and next to them are sorted, and the last one is NaN if any is.
        """
        kept = tuple(position for position in range(len(x.shape)) if position not in axis)
        line, order, first = not kept and len(axis) == 1, kept + axis, (-1, *range(len(kept)))
        element = None if wide(x.dtype) is x.dtype else numpy_dtype(wide(x.dtype))

        def copy_of(values: Array, count: int) -> Array:
            lines = values.transpose(order) if kept else values
            fresh = lines.copy() if element is None else lines.astype(element, "C")
            return fresh if line else fresh.reshape((*lines.shape[: len(kept)], count))

        def sort_columns(values: Array, count: int, places: Places) -> Array:
            lines = copy_of(values, count)
            if count < LEAST_PARTITIONED_ROW or not self._partition(lines, places):
                if count >= LEAST_PARTITIONED_ROW:
                    del lines  # before the next copy is made
                    lines = copy_of(values, count)
                lines.sort(-1, "stable")
            return lines.transpose(first) if kept else lines

        return sort_columns

    def _partition(self, lines: Array, places: Places) -> bool:
        """Partitions each row, so that the elements at the places and next to them are where sorting would put them.

        The last element of a row becomes NaN if any is. Returns `False` if a zero may have the wrong sign, as
        a partition does not keep the order of equal elements.
        """
        needed = sorted({start + step for start, share in places for step in (0, share > 0)})
        lines.partition(needed, -1)
        if lines.dtype.kind != "f":
            return True
        if not lines[..., needed].all() and self._has_both_zeros(lines):
            return False
        lines[..., -1] = lines[..., needed[-1] :].max(-1)
        return True
