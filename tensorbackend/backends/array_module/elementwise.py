"""Elementwise callbacks: one line each where the array module's function is right, else with corrections."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ...dtypes import DType, float32, float64
from ...interchange import numpy_dtype
from ...protocol import Kernel, Payload, planned
from ...protocol.workspace import takes
from ...template import Template
from . import complex_functions, extremes
from .base import (
    BLOCK,
    NARROW,
    Array,
    ArrayBase,
    Function,
    elementwise,
    function,
    itself,
    promoting_override,
    rounding_callback,
)
from .precision import computing_kernel
from .special import error_function as special


def float64_callback(function: Function, arrays: int = 11) -> Callable[..., Payload]:
    """A callback that calls a function of the module and of float64 arrays, and rounds to the result's dtype.

    `arrays` is the number of arrays of a block's size that the function holds at once.
    """

    @takes(lambda out, *inputs: arrays * 8 * min(out.size, BLOCK))
    @planned
    def callback(self: ArrayElementwise, out: Template, /, *inputs: Template) -> Kernel:
        return self.float64_kernel(self.special_function(function, out.dtype), out, *inputs)

    return callback


class ArrayElementwise(ArrayBase):
    """Functions of one element of each input."""

    abs = function("abs")
    acos = function("arccos", complex_functions.acos, trusted="of finite numbers")
    acosh = function("arccosh", complex_functions.acosh, trusted="of finite numbers")
    asin = function("arcsin", complex_functions.asin, trusted="of finite numbers")
    asinh = function("arcsinh", complex_functions.asinh, trusted="of finite numbers")
    atan = function("arctan", complex_functions.atan, trusted="of finite numbers")
    atanh = function("arctanh", complex_functions.atanh, trusted="of finite numbers")
    bitwise_not = function("invert")
    cbrt = function("cbrt")
    ceil = rounding_callback("ceil")
    conjugate = function("conjugate")
    cos = function("cos", complex_functions.cos, trusted="of finite numbers")
    cosh = function("cosh", complex_functions.cosh, trusted="of finite numbers")
    exp = function("exp", complex_functions.exp, trusted="of finite numbers")
    expm1 = function("expm1", complex_functions.expm1)
    floor = rounding_callback("floor")
    is_finite = function("isfinite")
    is_infinity = function("isinf")
    is_nan = function("isnan")
    log = function("log", complex_functions.log, trusted="of finite numbers")
    log1p = function("log1p", complex_functions.log1p)
    logical_not = function("logical_not")
    negate = function("negative")
    round = rounding_callback("rint")
    signbit = function("signbit")
    sin = function("sin", complex_functions.sin, trusted="of finite numbers")
    sinh = function("sinh", complex_functions.sinh, trusted="of finite numbers")
    sqrt = function("sqrt", complex_functions.sqrt, trusted="of finite numbers")
    tan = function("tan", complex_functions.tan, trusted="of finite numbers")
    tanh = function("tanh", complex_functions.tanh, trusted="of finite numbers")
    trunc = rounding_callback("trunc")

    add = function("add")
    atan2 = function("arctan2")
    bitwise_and = function("bitwise_and")
    bitwise_or = function("bitwise_or")
    bitwise_xor = function("bitwise_xor")
    equal = function("equal")
    greater = function("greater")
    greater_equal = function("greater_equal")
    left_shift = function("left_shift")
    less = function("less")
    less_equal = function("less_equal")
    logical_and = function("logical_and")
    logical_or = function("logical_or")
    logical_xor = function("logical_xor")
    multiply = function("multiply", complex_functions.product_of, trusted="unless flagged")
    not_equal = function("not_equal")
    right_shift = function("right_shift")
    subtract = function("subtract")

    # Overrides of composites
    copysign = promoting_override("copysign")
    hypot = promoting_override("hypot")
    log10 = promoting_override("log10", complex_functions.log10)
    log2 = promoting_override("log2", complex_functions.log2)
    logaddexp = promoting_override("logaddexp")
    square = promoting_override("square", complex_functions.square_of, trusted="unless flagged")

    @elementwise
    def reciprocal(self, out: Template, x: Template, /) -> Kernel:
        """1 / x; complex numbers are treated as in `divide`."""
        xp = self.xp
        if not out.dtype.is_complex:
            return self.promoting_kernel(xp.reciprocal, out, x)
        careful = partial(complex_functions.reciprocal, xp)
        quick: Kernel = lambda z: xp.reciprocal(complex_functions.oblique(xp, z))  # noqa: E731 # next to the other
        return self.promoting_kernel(self.attempt_kernel(quick, careful, underflow=True), out, x)

    @elementwise
    def nextafter(self, out: Template, x1: Template, x2: Template, /) -> Kernel:
        """The next number after x1 towards x2; x2 where both are equal, for which a narrow dtype's loop returns x1."""
        xp = self.xp
        return self.promoting_kernel(lambda x, y: xp.where(x == y, y, xp.nextafter(x, y)), out, x1, x2)

    # Conversion

    @planned
    def as_type(self, out: Template, x: Template, /) -> Kernel:
        """The values in `out.dtype`."""
        cast = self.caster(x.dtype, out.dtype)
        by_way_of_another = float32 not in (x.dtype, out.dtype) and not NARROW.isdisjoint((x.dtype, out.dtype))
        return self.block_kernel(cast) if by_way_of_another and x.dtype is not out.dtype else cast

    @planned
    def bitcast(self, out: Template, x: Template, /) -> Kernel:
        """The same bits as a view."""
        dtype = numpy_dtype(out.dtype)
        return lambda values: values.view(dtype)

    # Functions of one element

    @elementwise
    def count_leading_zeros(self, out: Template, x: Template, /) -> Kernel:
        """The width, less the number of bits from the highest set bit down."""
        width, dtype, count = x.dtype.bits, numpy_dtype(out.dtype), self.xp.bitwise_count
        distances = [distance for distance in (1, 2, 4, 8, 16, 32) if distance < width]

        def leading_zeros(values: Array) -> Array:
            bits = values.view(f"uint{width}")
            for distance in distances:
                bits = bits | bits >> distance  # in the end, all bits from the highest set bit down are set
            return (width - count(bits)).astype(dtype)

        return leading_zeros

    @elementwise
    def population_count(self, out: Template, x: Template, /) -> Kernel:
        """Number of set bits; negative integers are in two's complement."""
        unsigned, dtype, count = f"uint{x.dtype.bits}", numpy_dtype(out.dtype), self.xp.bitwise_count
        return lambda values: count(values.view(unsigned)).astype(dtype)

    erf = float64_callback(special.erf)
    erfc = float64_callback(special.erfc)
    erf_inv = float64_callback(special.erf_inv)

    @planned
    def real(self, out: Template, x: Template, /) -> Kernel:
        """The real parts as a view."""
        return (lambda values: values.real) if x.dtype.is_complex else itself

    @planned
    def imag(self, out: Template, x: Template, /) -> Kernel:
        """The imaginary parts as a view."""
        return lambda values: values.imag

    @elementwise
    def rsqrt(self, out: Template, x: Template, /) -> Kernel:
        sqrt = self.xp.sqrt
        return computing_kernel(lambda values: 1.0 / sqrt(values), out, x)

    @elementwise
    def sigmoid(self, out: Template, x: Template, /) -> Kernel:
        """1 / (1 + exp(-x)), as exp(x) / (1 + exp(x)) where x is negative, so that nothing overflows."""
        xp = self.xp
        return computing_kernel(lambda values: xp.exp(xp.minimum(values, 0)) / (1.0 + xp.exp(-xp.abs(values))), out, x)

    @elementwise
    def sign(self, out: Template, x: Template, /) -> Kernel:
        """The sign, 0.0 for both zeros; complex numbers are divided by their magnitude."""
        if x.dtype.is_complex:
            return partial(complex_functions.sign, self.xp)
        return computing_kernel(self.xp.sign, out, x)  # bfloat16's own loop keeps -0.0

    # Functions of two elements

    @elementwise
    def divide(self, out: Template, x1: Template, x2: Template, /) -> Kernel:
        """The quotient; for complex numbers the module's own if the divisor is nowhere real or imaginary."""
        xp = self.xp
        divide: Kernel = xp.divide
        if not out.dtype.is_complex:
            return divide
        careful = partial(complex_functions.quotient, xp)
        return self.attempt_kernel(lambda x, y: divide(x, complex_functions.oblique(xp, y)), careful, underflow=True)

    @elementwise
    def floor_divide(self, out: Template, x1: Template, x2: Template, /) -> Kernel:
        """The floor of the quotient; floats are computed in float64, where narrower floats have an exact remainder."""
        xp = self.xp
        floor_divide: Kernel = xp.floor_divide

        def divide_floats(left: Array, right: Array) -> Array:
            # NumPy returns NaN or -1.0 for infinities, for which the Array API requires the quotient itself.
            infinite = xp.isinf(left) | xp.isinf(right)
            return xp.where(infinite, left / right, floor_divide(left, right))

        return self._wide_kernel(divide_floats, out) if out.dtype.is_floating else floor_divide

    @elementwise
    def remainder(self, out: Template, x1: Template, x2: Template, /) -> Kernel:
        """The remainder with the divisor's sign; floats are computed in float64."""
        remainder: Kernel = self.xp.remainder
        return self._wide_kernel(remainder, out) if out.dtype.is_floating else remainder

    @elementwise
    def quotient(self, out: Template, x1: Template, x2: Template, /) -> Kernel:
        """The quotient rounded toward zero: one above the floor where the signs differ and the remainder is not 0."""
        floor_divide: Kernel = self.xp.floor_divide
        remainder: Kernel = self.xp.remainder
        if out.dtype.kind == "uint":
            return floor_divide

        def divide_to_zero(left: Array, right: Array) -> Array:
            above = (remainder(left, right) != 0) & ((left < 0) != (right < 0))
            return floor_divide(left, right) + above

        return divide_to_zero

    @elementwise
    def pow(self, out: Template, x1: Template, x2: Template, /) -> Kernel:
        """The power; an integer to a negative integer is 1 / x1**-x2, rounded toward zero."""
        xp, power = self.xp, self.xp.power
        if out.dtype.is_complex:
            return partial(complex_functions.power, xp)

        def integer_power(base: Array, exponent: Array) -> Array:
            powers = power(base, xp.where(exponent < 0, -exponent & 1, exponent))
            # Only -1 and 1 have a reciprocal that does not round to zero; each is its own reciprocal.
            return xp.where((exponent < 0) & (xp.abs(base) != 1), 0 * powers, powers)

        def float_power(base: Array, exponent: Array) -> Array:
            # For a scalar exponent 0.5 NumPy takes the square root, which differs from pow at -inf and -0.0.
            special = (exponent == 0.5) & ((base == 0) | xp.isinf(base))
            return xp.where(special, xp.abs(base), power(base, exponent))

        return float_power if out.dtype.is_floating else integer_power if out.dtype.kind == "int" else power

    @elementwise
    def max(self, out: Template, x1: Template, x2: Template, /) -> Kernel:
        """The greater one; NaN wins, and 0.0 is above -0.0."""
        return partial(extremes.maximum, self.xp) if out.dtype.is_floating else self.xp.maximum

    @elementwise
    def min(self, out: Template, x1: Template, x2: Template, /) -> Kernel:
        """The lesser one; NaN wins, and -0.0 is below 0.0."""
        return partial(extremes.minimum, self.xp) if out.dtype.is_floating else self.xp.minimum

    # Functions of three elements

    @elementwise
    def clip(self, out: Template, x: Template, low: Template, high: Template, /) -> Kernel:
        """min(max(x, low), high)."""
        maximum, minimum = self.xp.maximum, self.xp.minimum
        if out.dtype.is_floating:
            return partial(extremes.clip, self.xp)
        return lambda values, low, high: minimum(maximum(values, low), high)

    @planned
    def select(self, out: Template, condition: Template, x1: Template, x2: Template, /) -> Kernel:
        """x1 where the condition holds, else x2."""
        kernel: Kernel = self.xp.where
        return kernel

    # Helpers

    def special_function(self, function: Function, dtype: DType) -> Function:
        """A function of the module and of float64 arrays in place of another, for results in a dtype."""
        return function

    def float64_kernel(self, function: Callable[..., Array], out: Template, /, *inputs: Template) -> Kernel:
        """A kernel that calls a function of the module and of float64 arrays of one axis, and brings the result into
        the dtype of `out` and the operands' common shape."""
        xp, narrow = self.xp, self.caster(float64, out.dtype)

        def kernel(*arrays: Array) -> Array:
            wide = xp.broadcast_arrays(*map(_wide, arrays)) if len(arrays) > 1 else [_wide(arrays[0])]
            return narrow(function(xp, *[array.reshape(-1) for array in wide])).reshape(wide[0].shape)

        return self.block_kernel(kernel)

    def _wide_kernel(self, function: Kernel, out: Template) -> Kernel:
        """A kernel for two arrays of floats of any width, from one for float64 arrays."""
        if out.dtype is float64:
            return function
        narrow = self.caster(float64, out.dtype)
        return lambda left, right: narrow(function(_wide(left), _wide(right)))


def _wide(values: Array) -> Array:
    return values.astype(numpy_dtype(float64))
