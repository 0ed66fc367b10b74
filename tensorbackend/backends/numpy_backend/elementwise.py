"""Elementwise callbacks that use what NumPy allows: to read elements beforehand, and the processor's flags."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf, isfinite, log, pi, prod
from typing import Any, Final

from ...dtypes import DType, bfloat16, complex128, finfo, float32, float64
from ...interchange import numpy_dtype
from ...protocol import Kernel, kernel_of, planned
from ...protocol.planned import quick_form
from ...protocol.workspace import takes
from ...template import Shape, Template
from ..array_module.base import BLOCK, NARROW, Array, Function, KernelContext, arity, block_space, itself
from ..array_module.elementwise import ArrayElementwise
from ..array_module.precision import wide
from ..array_module.workspace_bytes import nbytes
from .error_function import error_functions, normal_gate

_MOST_SEARCHED_ELEMENTS = 1 << 10
"""Up to this number of elements, a search through their bytes takes no longer than starting a reduction."""


_LIGHT = 1 << 14
"""The number of elements of a block for a few quick steps: with fewer, starting the steps would take longer."""


_LOOKED_AT: Final = 1 << 14
"""The number of elements of a condition that are read to estimate how often it changes."""


def _can_select_bits(out: Template, condition: Template) -> bool:
    """Whether elements may be chosen by their bits: they are many, have the size of an integer, and a flag each."""
    return condition.shape == out.shape and out.size >= _LOOKED_AT and out.dtype is not complex128


def _chosen_space(out: Template) -> int:
    """The bytes of a block of integers for the flags, of one for the result, and of the flags that are read."""
    return 3 * nbytes(min(out.size, _LIGHT), out.dtype)


def _light_space(out: Template, x: Template, /) -> int:
    """The bytes of two intermediate arrays of a block."""
    return 2 * nbytes(min(out.size, _LIGHT), wide(out.dtype))


def _gelu_space(out: Template, x: Template, /, *, approximate: bool) -> int:
    """The bytes of the intermediate arrays of a block, of float64 or of float32."""
    in_double = approximate or out.dtype is float64
    return 12 * nbytes(min(out.size, BLOCK), float64) if in_double else 6 * nbytes(min(out.size, _LIGHT), float32)


class NumpyElementwise(ArrayElementwise):
    """Functions of one element of each input."""

    watching: KernelContext
    """Raises `FloatingPointError` where a step is invalid, divides by zero or overflows."""

    watching_all: KernelContext
    """Raises `FloatingPointError` where a step underflows, too."""

    def parts(self, shape: Shape, weight: int, /) -> Iterable[tuple[slice, ...]]:
        """The indices of blocks that stay in the cache."""
        return blocks(shape, max(1, BLOCK // weight)) if prod(shape) else ()

    def attempt_kernel(
        self, quick: Kernel, careful: Kernel, /, *, holds: Callable[..., bool] | None = None, underflow: bool = False
    ) -> Kernel:
        """A kernel that checks `holds` or the flags: NumPy's elements are at hand, and it reads the flags anyway."""
        rare = self.block_kernel(careful)
        if holds is not None:
            look = holds
            if arity(quick) == 1:
                return lambda values: quick(values) if look(values) else rare(values)
            return lambda *arrays: quick(*arrays) if look(*arrays) else rare(*arrays)
        flagged = quick_form((self.watching_all if underflow else self.watching).kernel(quick))
        silent = self.enter(rare)

        def kernel(*arrays: Array) -> Array:
            try:
                return flagged(*arrays)
            except (FloatingPointError, RuntimeError):  # a flag was raised, or the context is in use elsewhere
                pass  # so that no error below has this one as its context
            return silent(*arrays)

        return kernel

    def block_kernel(self, kernel: Kernel, /, most: int = BLOCK) -> Kernel:
        """Makes the many passes of a kernel run on one block at a time; a single ufunc needs no blocks."""
        numpy, broadcast = self.xp, self.xp.broadcast
        if kernel is itself or isinstance(kernel, numpy.ufunc):
            return kernel

        def run_blocks(*arrays: Array) -> Array:
            shape = arrays[0].shape if len(arrays) == 1 else broadcast(*arrays).shape
            if prod(shape) <= most:
                return kernel(*arrays)
            result = None
            for block in blocks(shape, most):
                part = kernel(*[array[block_part(block, array.shape, len(shape))] for array in arrays])
                if result is None:
                    result = numpy.empty(shape, part.dtype)
                result[block] = part
            return result

        return run_blocks

    def special_function(self, function: Function, dtype: DType) -> Function:
        """The error functions part by part; the complement by a single formula in float32."""
        return error_functions(dtype).get(function.__name__, function)

    @planned
    def max(self, out: Template, x1: Template, x2: Template, /) -> Kernel:
        """NumPy's `maximum`, which takes either of two zeros; computed with care where the result has a -0.0."""
        careful = kernel_of(super().max, out, x1, x2)
        return self._extreme_of_two(self.xp.maximum, careful, self._zero_check(-0.0, out), out, x1, x2)

    @planned
    def min(self, out: Template, x1: Template, x2: Template, /) -> Kernel:
        """NumPy's `minimum`, which takes either of two zeros; computed with care where the result has a 0.0."""
        careful = kernel_of(super().min, out, x1, x2)
        return self._extreme_of_two(self.xp.minimum, careful, self._zero_check(0.0, out), out, x1, x2)

    @takes(_light_space)
    @planned
    def sigmoid(self, out: Template, x: Template, /) -> Kernel:
        """1 / (1 + exp(-x)) where exp(-x) does not overflow, else the form of `ArrayElementwise`."""
        exp, like = self.xp.exp, out.replace(dtype=wide(out.dtype))
        careful = kernel_of(super().sigmoid, like, like)
        return self._power_kernel(lambda values: 1.0 / (1.0 + exp(-values)), careful, out, x)

    @takes(_light_space)
    @planned
    def silu(self, out: Template, x: Template, /) -> Kernel:
        """x / (1 + exp(-x)) where exp(-x) does not overflow, else x times the root of exp(x) twice; zero at -inf."""
        numpy, lowest = self.xp, finfo(wide(out.dtype)).min

        def careful(values: Array) -> Array:
            root = numpy.exp(0.5 * values)
            return numpy.maximum(values, lowest) * root * root

        return self._power_kernel(lambda values: values / (1.0 + numpy.exp(-values)), careful, out, x)

    @takes(_gelu_space)
    @planned
    def gelu(self, out: Template, x: Template, /, *, approximate: bool) -> Kernel:
        """The formulas of the default: in float32, or in float64 as a step between two dtypes takes as long as one."""
        like, numbers = out.replace(dtype=float64), (-64.0, 0.5, -(0.5**0.5), 0.044715, (8 / pi) ** 0.5)
        sigmoid = kernel_of(self.sigmoid, like, like)
        (lowest, half, root, cubic, scale), erfc = map(self.xp.array, numbers), error_functions(float64)["erfc"]
        lowest_single, half_single = (self.xp.array(number, numpy_dtype(float32)) for number in (-64.0, 0.5))

        def exact(numpy: Any, values: Array) -> Array:
            gate = erfc(numpy, values * root)
            numpy.maximum(values, lowest, out=values)  # the gate is 0 there, and 0 times -inf is NaN
            values *= half
            values *= gate
            return values

        def approximate_gelu(numpy: Any, values: Array) -> Array:
            near = values.clip(-32.0, 32.0)
            return numpy.maximum(values, lowest) * sigmoid((near * near * near * cubic + near) * scale)

        if approximate or out.dtype is float64:
            return self.float64_kernel(approximate_gelu if approximate else exact, out, x)
        numpy, single, narrow = self.xp, numpy_dtype(float32), numpy_dtype(out.dtype)

        def exact_single(array: Array) -> Array:
            values = array.astype(single).reshape(-1)
            gate = normal_gate(numpy, values)
            numpy.maximum(values, lowest_single, out=values)
            values *= half_single
            values *= gate
            return values.astype(narrow, copy=False).reshape(array.shape)

        return self.block_kernel(exact_single, _LIGHT)

    def _power_kernel(self, usual: Kernel, careful: Kernel, out: Template, x: Template) -> Kernel:
        """A kernel of one array: `usual` where exp(-x) does not overflow, else `careful`; narrow floats in float32.

        Which of the two computes an element depends on that element alone.
        """
        numpy, dtype, narrow = self.xp, numpy_dtype(wide(out.dtype)), numpy_dtype(out.dtype)
        lowest = 1 - log(finfo(wide(out.dtype)).max)

        def chosen(values: Array) -> Array:
            activations: Array = usual(values)
            if minimum_or_zero(values) > lowest:
                return activations
            return numpy.where(values > lowest, activations, careful(values))

        if x.dtype is out.dtype and out.dtype not in NARROW:
            return self.block_kernel(chosen, _LIGHT)
        return self.block_kernel(lambda values: chosen(values.astype(dtype)).astype(narrow), _LIGHT)

    def _extreme_of_two(
        self, extreme: Kernel, careful: Kernel, settled: Callable[[Array], bool], out: Template, x1: Template,
        x2: Template,
    ) -> Kernel:  # fmt: skip
        if not out.dtype.is_floating:
            return careful

        def check_zeros(left: Array, right: Array) -> Array:
            extremes = extreme(left, right)
            return extremes if settled(extremes) else careful(left, right)

        # If one operand is a number other than 0, zeros come from the other operand alone, and none is in doubt.
        if not x2.shape:
            return lambda left, right: extreme(left, right) if right else check_zeros(left, right)
        if not x1.shape:
            return lambda left, right: extreme(left, right) if left else check_zeros(left, right)
        return check_zeros

    @planned
    def clip(self, out: Template, x: Template, low: Template, high: Template, /) -> Kernel:
        """NumPy's `clip` between two numbers where the sign of no zero is in doubt; else `max`, then `min`."""
        if not out.dtype.is_floating:
            return kernel_of(super().clip, out, x, low, high)
        above = out.replace(shape=x.shape, names=x.names) if not low.shape else out
        greater = kernel_of(self.max, above, x, low)
        lesser = kernel_of(self.min, out, above, high)
        settled = self._zero_check(-0.0, out)

        def step_by_step(values: Array, low: Array, high: Array) -> Array:
            return lesser(greater(values, low), high)

        def clip_between(values: Array, low: Array, high: Array) -> Array:
            if high:
                clipped = values.clip(low, high)
                if low or settled(clipped):
                    return clipped
            return step_by_step(values, low, high)

        numbers = not low.shape and not high.shape and out.dtype is not bfloat16
        return clip_between if numbers else self.block_kernel(step_by_step)

    @takes(lambda out, condition, x1, x2: _chosen_space(out) if _can_select_bits(out, condition) else 0)
    @planned
    def select(self, out: Template, condition: Template, x1: Template, x2: Template, /) -> Kernel:
        """NumPy's `where`. It takes ten times as long if the condition changes often: then by the elements' bits."""
        where: Kernel = self.xp.where
        count, negative = self.xp.count_nonzero, self.xp.negative
        if not _can_select_bits(out, condition):
            return where
        integers = f"int{8 * numpy_dtype(out.dtype).itemsize}"

        def select_bits(flags: Array, left: Array, right: Array) -> Array:
            kept, other = flags.astype(integers), right.view(integers)
            negative(kept, kept)  # all bits where the condition holds
            bits = left.view(integers) ^ other
            if bits.shape == kept.shape:
                bits &= kept
            else:  # the elements are broadcast to the condition, or it to them
                bits = bits & kept
            bits ^= other
            return bits.view(left.dtype)

        in_blocks = self.block_kernel(select_bits, _LIGHT)

        def chosen(flags: Array, left: Array, right: Array) -> Array:
            some = flags.ravel("K")[:_LOOKED_AT]
            often = count(some[1:] != some[:-1]) * 8 > _LOOKED_AT
            return in_blocks(flags, left, right) if often else where(flags, left, right)

        return chosen

    def _zero_check(self, zero: float, out: Template) -> Callable[[Array], bool]:
        """A function that says whether a result has no zero with the sign of `zero`; it may wrongly say no."""
        numpy, number = self.xp, numpy_dtype(out.dtype).type(zero)
        if out.size <= _MOST_SEARCHED_ELEMENTS:
            bits = number.tobytes()
            return lambda values: bits not in values.tobytes()
        integers = f"int{out.dtype.bits}"
        if zero == 0.0 and not numpy.signbit(number):
            return lambda values: bool(numpy.count_nonzero(values.view(integers)) == values.size)
        lowest, least = numpy.iinfo(integers).min, numpy.minimum.reduce
        # The windows of one axis after another get here, and there may be none: so 0 comes first.
        return lambda values: bool(least(values.view(integers), None, None, None, False, 0) != lowest)

    @planned
    def pow(self, out: Template, x1: Template, x2: Template, /) -> Kernel:
        """NumPy's `power`, except for a scalar exponent 0.5 and for negative exponents of integers."""
        power, careful = self.xp.power, kernel_of(super().pow, out, x1, x2)
        if out.dtype.kind == "int":
            if not x2.shape:
                return self.attempt_kernel(power, careful, holds=lambda base, exponent: exponent.item() >= 0)
            return self.attempt_kernel(power, careful, holds=lambda base, exponent: minimum_or_zero(exponent) >= 0)
        if not out.dtype.is_floating:
            return careful
        if not x2.shape:
            sqrt, rare = self.xp.sqrt, self.block_kernel(careful)
            # `sqrt` flags -inf, whose power is inf, as invalid. Adding zero turns -0.0 into 0.0, as the power does.
            root = self.attempt_kernel(lambda base, exponent: sqrt(base + zero), rare)
            zero = numpy_dtype(out.dtype).type(0)
            return lambda base, exponent: root(base, exponent) if float(exponent) == 0.5 else power(base, exponent)
        alike = bool(out.shape) and x2.shape == out.shape

        def lacks_scalar_half(base: Array, exponent: Array) -> bool:
            # A loop of NumPy's sees a broadcast operand as a scalar.
            return (alike and exponent.flags.c_contiguous) or not (exponent == 0.5).any()

        return self.attempt_kernel(power, careful, holds=lacks_scalar_half)

    @takes(block_space)
    @planned
    def floor_divide(self, out: Template, x1: Template, x2: Template, /) -> Kernel:
        """NumPy's `floor_divide` where its quotients of floats are right, else the form of `ArrayElementwise`."""
        careful, floor_divide, square = kernel_of(super().floor_divide, out, x1, x2), self.xp.floor_divide, self.xp.vdot
        if out.dtype not in (float32, float64):
            return careful
        # A quotient below 2**22 is exact in float32, although NumPy rounds twice on the way. NumPy's quotients by
        # infinities are wrong. A sum of squares finds either in one pass; it refuses some numbers without need.
        most = 4.0**22 if out.dtype is float32 else inf

        def finite(divisors: Array) -> bool:
            return isfinite(square(divisors, divisors) if x2.shape else divisors)

        def quotients(left: Array, right: Array) -> Array:
            whole: Array = floor_divide(left, right)
            return whole if square(whole, whole) < most and finite(right) else careful(left, right)

        return quotients

    @planned
    def remainder(self, out: Template, x1: Template, x2: Template, /) -> Kernel:
        """NumPy's `remainder`, exact but for a sum at the end; narrow floats as in `ArrayElementwise`."""
        return kernel_of(super().remainder, out, x1, x2) if out.dtype in NARROW else self.xp.remainder


def minimum_or_zero(values: Array) -> Any:
    """The smallest of some numbers and 0, or NaN. For few numbers a reduction takes three times as long as `argmin`."""
    return min(values.item(values.argmin()), 0) if values.size else 0


def blocks(shape: Shape, most: int) -> Iterator[tuple[slice, ...]]:
    """The blocks of at most `most` elements that make up an array, each given by slices of the leading axes.

    >>> list(blocks((2, 5), 3))
    [(slice(0, 1, None), slice(0, 3, None)), (slice(0, 1, None), slice(3, 5, None)), \
(slice(1, 2, None), slice(0, 3, None)), (slice(1, 2, None), slice(3, 5, None))]
    >>> list(blocks((5, 2), 4))
    [(slice(0, 2, None),), (slice(2, 4, None),), (slice(4, 5, None),)]
    """
    if not shape:
        yield ()
        return
    length, row = shape[0], prod(shape[1:])
    if row > most:
        for start in range(length):
            for rest in blocks(shape[1:], most):
                yield slice(start, start + 1), *rest
        return
    height = most // row
    for start in range(0, length, height):
        yield (slice(start, min(start + height, length)),)


def block_part(block: Sequence[slice], shape: Shape, axes: int) -> tuple[slice, ...]:
    """The part of an array that belongs to a block of `axes` axes, if the array of `shape` is broadcast to them."""
    inner = block[axes - len(shape) :] if len(shape) < axes else block
    return tuple([part if size > 1 else slice(None) for part, size in zip(inner, shape, strict=False)])
