"""Elementwise callbacks by what NumPy's arrays allow: a look at their elements first, and the processor's flags."""

from __future__ import annotations

from collections.abc import Callable

from ...dtypes import bfloat16, float64
from ...interchange import numpy_dtype
from ...protocol import Calm, Kernel, kernel_of, planned
from ...protocol.planned import bare
from ...template import Template
from ..array_module.base import Array, Quiet, arity
from ..array_module.elementwise import ArrayElementwise

_BLOCK = 1 << 13
"""Elements of a block that stays in the cache with a few more of its size."""

_FEW = 1 << 10
"""Up to so many elements a search through their bytes takes no longer than to start a reduction."""


class NumpyElementwise(ArrayElementwise):
    """Functions of one element of each input."""

    watching: Quiet
    """Raises `FloatingPointError` where a step is invalid, divides by zero or overflows."""

    watching_all: Quiet
    """Raises it where one underflows, too."""

    def attempted(
        self, quick: Kernel, careful: Kernel, /, *, holds: Callable[..., bool] | None = None, underflow: bool = False
    ) -> Kernel:
        """NumPy's elements are there to be looked at, and it reads the processor's flags anyway."""
        usual, rare = bare(quick), bare(careful)
        if holds is not None:
            look = holds
            if arity(usual) == 1:
                return lambda values: usual(values) if look(values) else rare(values)
            return lambda *arrays: usual(*arrays) if look(*arrays) else rare(*arrays)
        flagged = (self.watching_all if underflow else self.watching).entered(usual)
        quiet = self.quiet.entered(rare)

        def kernel(*arrays: Array) -> Array:
            try:
                return flagged(*arrays)
            except FloatingPointError:
                pass  # so that no error below has this one as its context
            return quiet(*arrays)

        return Calm(kernel)

    def in_float64(self, function: Callable[..., Array], out: Template, /, *inputs: Template) -> Kernel:
        """A function's many passes over the arrays, a block at a time that stays in the cache."""
        numpy, shape, size = self.xp, out.shape, out.size
        wide, dtype, narrow = numpy_dtype(float64), numpy_dtype(out.dtype), bare(self.caster(float64, out.dtype))
        whole = size <= _BLOCK and all(x.shape == shape for x in inputs)

        def at_once(*arrays: Array) -> Array:
            return narrow(function(numpy, *[each.astype(wide).reshape(-1) for each in arrays])).reshape(shape)

        def by_blocks(*arrays: Array) -> Array:
            columns = [numpy.broadcast_to(each, shape).reshape(-1) for each in arrays]
            result = numpy.empty(size, dtype)
            for start in range(0, size, _BLOCK):
                block = slice(start, start + _BLOCK)
                result[block] = narrow(function(numpy, *(column[block].astype(wide) for column in columns)))
            return result.reshape(shape)

        return at_once if whole else by_blocks

    @planned
    def max(self, out: Template, x1: Template, x2: Template, /) -> Kernel:
        """NumPy's own, which of two zeros takes either: looked at where the result has a -0.0."""
        careful = kernel_of(super().max, out, x1, x2)
        return self._extreme_of_two(self.xp.maximum, careful, self._without_zero(-0.0, out), out, x1, x2)

    @planned
    def min(self, out: Template, x1: Template, x2: Template, /) -> Kernel:
        """Likewise, where the result has a 0.0."""
        careful = kernel_of(super().min, out, x1, x2)
        return self._extreme_of_two(self.xp.minimum, careful, self._without_zero(0.0, out), out, x1, x2)

    def _extreme_of_two(
        self,
        extreme: Kernel,
        careful: Kernel,
        settled: Callable[[Array], bool],
        out: Template,
        x1: Template,
        x2: Template,
    ) -> Kernel:
        if not out.dtype.is_floating:
            return careful
        rare = bare(careful)

        def looking(left: Array, right: Array) -> Array:
            found = extreme(left, right)
            return found if settled(found) else rare(left, right)

        # Of the zeros on one side alone none is in doubt.
        if not x2.shape:
            return Calm(lambda left, right: extreme(left, right) if right else looking(left, right))
        if not x1.shape:
            return Calm(lambda left, right: extreme(left, right) if left else looking(left, right))
        return Calm(looking)

    @planned
    def clip(self, out: Template, x: Template, low: Template, high: Template, /) -> Kernel:
        """NumPy's own between two numbers, where no zero is in doubt; else by `max` and `min`."""
        if not out.dtype.is_floating:
            return kernel_of(super().clip, out, x, low, high)
        above = out.replace(shape=x.shape, names=x.names) if not low.shape else out
        greater = bare(kernel_of(self.max, above, x, low))
        lesser = bare(kernel_of(self.min, out, above, high))
        settled = self._without_zero(-0.0, out)

        def step_by_step(values: Array, low: Array, high: Array) -> Array:
            return lesser(greater(values, low), high)

        def between(values: Array, low: Array, high: Array) -> Array:
            if high:
                found = values.clip(low, high)
                if low or settled(found):
                    return found
            return step_by_step(values, low, high)

        numbers = not low.shape and not high.shape and out.dtype is not bfloat16
        return Calm(between if numbers else step_by_step)

    def _without_zero(self, zero: float, out: Template) -> Callable[[Array], bool]:
        """What says whether a result has no zero of a sign; it may say no of one that has none."""
        numpy, number = self.xp, numpy_dtype(out.dtype).type(zero)
        if out.size <= _FEW:
            bits = number.tobytes()
            return lambda values: bits not in values.tobytes()
        integers = f"int{out.dtype.bits}"
        if zero == 0.0 and not numpy.signbit(number):
            return lambda values: bool(numpy.count_nonzero(values.view(integers)) == values.size)
        lowest, least = numpy.iinfo(integers).min, numpy.minimum.reduce
        return lambda values: bool(least(values.view(integers), None) != lowest)

    @planned
    def pow(self, out: Template, x1: Template, x2: Template, /) -> Kernel:
        """NumPy's own, but for a scalar exponent 0.5 and for negative exponents of integers."""
        power, careful = self.xp.power, kernel_of(super().pow, out, x1, x2)
        if out.dtype.kind == "int":
            negative: Kernel = self.xp.minimum.reduce
            return self.attempted(power, careful, holds=lambda base, exponent: not negative(exponent, None, initial=0))
        if not out.dtype.is_floating:
            return careful
        alike = bool(out.shape) and x2.shape == out.shape

        def lacks_scalar_half(base: Array, exponent: Array) -> bool:
            # What is broadcast is a scalar to a loop of NumPy's.
            return (alike and exponent.flags.c_contiguous) or not (exponent == 0.5).any()

        return self.attempted(power, careful, holds=lacks_scalar_half)
