"""Reductions and orderings by NumPy's ufuncs and methods, which are quicker than its functions of the same names."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from operator import methodcaller
from typing import Final, Literal

from ...dtypes import DType
from ...interchange import numpy_dtype
from ...protocol import Calm, Kernel, planned
from ...protocol.workspace import takes
from ...template import Template
from ..array_module import complex_functions
from ..array_module.base import Array
from ..array_module.precision import promoted, wide
from ..array_module.reduction import ArrayReduction
from ..array_module.space import brought

_UFUNCS: Final = {
    "all": "logical_and",
    "any": "logical_or",
    "cumprod": "multiply",
    "cumsum": "add",
    "max": "maximum",
    "min": "minimum",
    "prod": "multiply",
    "sum": "add",
}

_MANY: Final = 1 << 10
"""So many elements are worth a few passes before they are sorted."""

_FEW: Final = 1 << 12
"""So few elements are counted sooner than a reduction has begun."""


class NumpyReduction(ArrayReduction):
    """What combines or orders the elements along axes."""

    def folding(
        self, name: Literal["all", "any", "max", "min", "prod", "sum"], x: Template, axes: tuple[int, ...],
        keepdims: bool, dtype: DType,
    ) -> Kernel:  # fmt: skip
        """By a ufunc, into an array where NumPy would make a number of the result."""
        reduce, element, empty = getattr(self.xp, _UFUNCS[name]).reduce, numpy_dtype(dtype), self.xp.empty
        axis = None if len(axes) == len(x.shape) else axes[0] if len(axes) == 1 else axes
        if axis is None and not keepdims:
            return lambda values: reduce(values, None, None, empty((), element))
        accumulator = element if name in ("prod", "sum") else None
        return lambda values: reduce(values, axis, accumulator, None, keepdims)

    def running(self, name: Literal["cumsum", "cumprod"], axis: int, dtype: DType) -> Kernel:
        """By a ufunc."""
        accumulate, accumulator = getattr(self.xp, _UFUNCS[name]).accumulate, numpy_dtype(dtype)
        return lambda values: accumulate(values, axis, accumulator)

    def finding(self, name: Literal["argmax", "argmin"], axis: int | None) -> Kernel:
        """By a method."""
        return methodcaller(name, axis)

    def all_true(self, x: Template) -> Callable[[Array], bool]:
        """By counting where there are few."""
        count, size = self.xp.count_nonzero, x.size
        if not x.shape:
            return bool
        return (lambda values: count(values) == size) if size <= _FEW else lambda values: bool(values.all())

    @takes(lambda out, x, **options: brought(out.dtype, x))
    @planned
    def mean(self, out: Template, x: Template, /, *, axis: tuple[int, ...], keepdims: bool) -> Kernel:
        """Sum over the number of elements."""
        dtype = wide(out.dtype)
        total, size = self.folding("sum", x, axis, keepdims, dtype), numpy_dtype(dtype).type(_count(x, axis))
        if not dtype.is_complex:
            return promoted(self, dtype, lambda values: total(values) / size, out, x)

        def by_parts(values: Array) -> Array:
            found = total(values)
            return complex_functions.join(self.xp, found.real / size.real, found.imag / size.real)

        return promoted(self, dtype, by_parts, out, x)

    @planned
    def cumulative_max(self, out: Template, x: Template, /, *, axis: int, reverse: bool) -> Kernel:
        """Greatest element up to each."""
        return self._running_extreme("max", x, axis, reverse)

    @planned
    def cumulative_min(self, out: Template, x: Template, /, *, axis: int, reverse: bool) -> Kernel:
        """Least element up to each."""
        return self._running_extreme("min", x, axis, reverse)

    def _running_extreme(self, name: Literal["max", "min"], x: Template, axis: int, reverse: bool) -> Kernel:
        numpy, floating = self.xp, x.dtype.is_floating
        accumulate, either = getattr(numpy, _UFUNCS[name]).accumulate, numpy.logical_or.accumulate
        zero = numpy_dtype(x.dtype).type(0.0 if name == "max" else -0.0)
        wins_negative = name == "min"

        def running(values: Array) -> Array:
            found = accumulate(values, axis)
            if floating and not found.all():
                # Of zeros NumPy keeps either; one of the winning sign stays from where it is first met.
                met = either((values == 0) & (numpy.signbit(values) == wins_negative), axis)
                found = numpy.where((found == 0) & met, zero, found)
            return found

        return Calm((lambda values: numpy.flip(running(numpy.flip(values, axis)), axis)) if reverse else running)

    # Order

    def ordering(self, x: Template, axis: int) -> Kernel:
        """By NumPy's vectorised sort where equal values look alike, as all but zeros of two signs do.

        That is for elements of 32 and 64 bits; the stable sort of smaller ones is a radix sort, and quick as well.
        """
        worth, floating = _is_worth(x), x.dtype.is_floating

        def ordered(values: Array) -> Array:
            stable = not worth or (floating and self._has_both_zeros(values))
            fresh = values.copy("K")
            fresh.sort(axis, "stable" if stable else None)
            return fresh

        return ordered

    def _has_both_zeros(self, values: Array) -> bool:
        negative = self.xp.signbit(values[values == 0])
        return bool(negative.any()) and not negative.all()

    def order_of(self, x: Template, axis: int) -> Kernel:
        """By the same sort of whole numbers that hold both a value and, in the lower bits, its index.

        float64 leaves no bit free.
        """
        if not _is_worth(x) or (x.dtype.is_floating and x.dtype.bits > 32):
            return lambda values: values.argsort(axis, "stable")
        numpy, count = self.xp, x.shape[axis]
        bits = count.bit_length()
        shape = -1, *(1,) * (len(x.shape) - axis - 1)

        def order(values: Array) -> Array:
            ranked = self._ranked(values)
            if int(ranked.max()) >> (64 - bits):
                return values.argsort(axis, "stable")
            ranked <<= numpy.uint64(bits)  # in their own memory from here on
            ranked |= numpy.arange(count, dtype="uint64").reshape(shape)
            ranked.sort(axis)
            ranked &= numpy.uint64((1 << bits) - 1)
            return ranked.view("int64")

        return order

    def _ranked(self, values: Array) -> Array:
        """Unsigned integers of 64 bits in the same order, from 0 on."""
        numpy = self.xp
        if values.dtype.kind != "f":
            ranks: Array = values.astype("uint64")
            ranks -= numpy.uint64(int(values.min()) % (1 << 64))
            return ranks
        return self.in_blocks(self._ranked_floats)(values)

    def _ranked_floats(self, values: Array) -> Array:
        """Of floats the bits are in order but for the sign: https://stereopsis.com/radix.html."""
        numpy = self.xp
        bits = (values + numpy.float32(0)).view("uint32")  # zeros of both signs are equal
        ranks = numpy.where(bits >> numpy.uint32(31), ~bits, bits | numpy.uint32(1 << 31))
        ranks[numpy.isnan(values)] = (1 << 32) - 1
        return ranks.astype("uint64")


def _count(x: Template, axes: tuple[int, ...]) -> int:
    return prod(x.shape[axis] for axis in axes)


def _is_worth(x: Template) -> bool:
    """Whether NumPy's vectorised sort is quicker than its stable one by more than what else it takes."""
    return x.size >= _MANY and x.dtype.bits >= 32
