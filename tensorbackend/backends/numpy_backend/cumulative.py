"""Accumulations by NumPy's ufuncs."""

from __future__ import annotations

from math import prod
from typing import Any, Literal

from ...dtypes import DType
from ...interchange import numpy_dtype
from ...protocol import Kernel, kernel_of, planned
from ...protocol.workspace import takes
from ...template import Template
from ..array_module.base import BLOCK, Array, backwards
from ..array_module.cumulative import ArrayCumulative, cumulative_space
from ..array_module.precision import ONE_BY_ONE, WIDER, wide
from ..array_module.workspace_bytes import nbytes
from .reduction import _UFUNCS

_BLOCK = 8 * BLOCK
"""The number of elements of a block: it stays in a core's cache, and starting one costs little next to its sums."""


def _cumulative_sum_space(out: Template, x: Template, /, *, axis: int, **options: Any) -> int:
    """The bytes of what all running results take, and of a block in twice the width with a copy of half its sums."""
    dtype = wide(out.dtype)
    long = dtype in WIDER and out.shape[axis] > ONE_BY_ONE
    return cumulative_space(out, x, **options) + (nbytes(min(out.size, _BLOCK) * 3 // 2, WIDER[dtype]) if long else 0)


class NumpyCumulative(ArrayCumulative):
    """Callbacks that accumulate along an axis."""

    @takes(_cumulative_sum_space)
    @planned
    def cumulative_sum(
        self, out: Template, x: Template, /, *, axis: int, dtype: DType | None, include_initial: bool, reverse: bool
    ) -> Kernel:
        """Running sums along an axis; many terms are added in twice the width."""
        options = {"axis": axis, "dtype": dtype, "include_initial": include_initial, "reverse": reverse}
        return kernel_of(super().cumulative_sum, out, x, **options)

    def running(self, name: Literal["cumsum", "cumprod"], axis: int, dtype: DType) -> Kernel:
        """Accumulates by a ufunc; many terms in twice the width, a block at a time that stays in the cache."""
        accumulate, accumulator = getattr(self.xp, _UFUNCS[name]).accumulate, numpy_dtype(dtype)
        if name != "cumsum" or dtype not in WIDER:
            return lambda values: accumulate(values, axis, accumulator)
        wider, empty = numpy_dtype(WIDER[dtype]), self.xp.empty

        def sums(values: Array) -> Array:
            shape = values.shape
            if shape[axis] <= ONE_BY_ONE:
                return accumulate(values, axis, accumulator)
            if values.size <= _BLOCK:
                return accumulate(values, axis, wider).astype(accumulator)
            result = empty(shape, accumulator)
            table = prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])
            rows, totals = values.reshape(table), result.reshape(table)
            lines, entries = max(_BLOCK // (table[1] * table[2]), 1), max(_BLOCK // table[2], 1)
            buffer = empty((min(lines, table[0]), min(entries, table[1]), table[2]), wider)
            for first in range(0, table[0], lines):
                so_far = None
                for start in range(0, table[1], entries):
                    block = slice(first, first + lines), slice(start, start + entries)
                    terms = rows[block]
                    part = buffer[: terms.shape[0], : terms.shape[1]]
                    part[...] = terms
                    if so_far is not None:
                        part[:, 0] += so_far
                    if table[2] > 1:
                        accumulate(part, 1, None, part)
                    else:
                        # An accumulation waits for each sum before it makes the next: sum pairs first, half as many.
                        firsts, seconds, later = part[:, :-1:2], part[:, 1::2], part[:, 2::2]
                        seconds += firsts
                        accumulate(seconds, 1, None, seconds)
                        later += seconds[:, : later.shape[1]]
                    totals[block] = part
                    so_far = part[:, -1].copy()
            return result

        return sums

    @planned
    def cumulative_max(self, out: Template, x: Template, /, *, axis: int, reverse: bool) -> Kernel:
        """The largest of the elements up to each."""
        return self._running_extreme("max", x, axis, reverse)

    @planned
    def cumulative_min(self, out: Template, x: Template, /, *, axis: int, reverse: bool) -> Kernel:
        """The least of the elements up to each."""
        return self._running_extreme("min", x, axis, reverse)

    def _running_extreme(self, name: Literal["max", "min"], x: Template, axis: int, reverse: bool) -> Kernel:
        numpy, floating = self.xp, x.dtype.is_floating
        accumulate, either = getattr(numpy, _UFUNCS[name]).accumulate, numpy.logical_or.accumulate
        zero = numpy_dtype(x.dtype).type(0.0 if name == "max" else -0.0)
        wins_negative = name == "min"

        def accumulate_extremes(values: Array) -> Array:
            extremes = accumulate(values, axis)
            if floating and not extremes.all():
                # NumPy keeps either of two zeros; a zero of the winning sign must stay from where it first occurs.
                met = either((values == 0) & (numpy.signbit(values) == wins_negative), axis)
                extremes = numpy.where((extremes == 0) & met, zero, extremes)
            return extremes

        return backwards(accumulate_extremes, axis) if reverse else accumulate_extremes
