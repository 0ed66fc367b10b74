"""Elementwise callbacks: one line each where the array module's function is right, else what makes it so."""

from __future__ import annotations

from collections.abc import Callable

from ...dtypes import float64
from ...interchange import numpy_dtype
from ...protocol import Payload
from ...template import Template
from ...tensor import Tensor
from . import complex_functions, extremes, gamma, incomplete_gamma, special
from .base import Array, ArrayBase, function, kernel, promoting, rounding


class ArrayElementwise(ArrayBase):
    """Functions of one element of each input."""

    abs = function("abs", calm=True)
    acos = function("arccos", complex_functions.acos)
    acosh = function("arccosh", complex_functions.acosh)
    asin = function("arcsin", complex_functions.asin)
    asinh = function("arcsinh", complex_functions.asinh)
    atan = function("arctan", complex_functions.atan)
    atanh = function("arctanh", complex_functions.atanh)
    bitwise_not = function("invert")
    cbrt = function("cbrt")
    ceil = rounding("ceil")
    conjugate = function("conjugate", calm=True)
    cos = function("cos", complex_functions.cos)
    cosh = function("cosh", complex_functions.cosh)
    exp = function("exp", complex_functions.exp)
    expm1 = function("expm1", complex_functions.expm1)
    floor = rounding("floor")
    is_finite = function("isfinite", calm=True)
    is_infinity = function("isinf", calm=True)
    is_nan = function("isnan", calm=True)
    log = function("log", complex_functions.log)
    log1p = function("log1p", complex_functions.log1p)
    logical_not = function("logical_not", calm=True)
    negate = function("negative", calm=True)
    round = rounding("rint")
    signbit = function("signbit", calm=True)
    sin = function("sin", complex_functions.sin)
    sinh = function("sinh", complex_functions.sinh)
    sqrt = function("sqrt", complex_functions.sqrt)
    tan = function("tan", complex_functions.tan)
    tanh = function("tanh", complex_functions.tanh)
    trunc = rounding("trunc")

    add = function("add")
    atan2 = function("arctan2")
    bitwise_and = function("bitwise_and")
    bitwise_or = function("bitwise_or")
    bitwise_xor = function("bitwise_xor")
    divide = function("divide", complex_functions.divide)
    equal = function("equal", calm=True)
    greater = function("greater", calm=True)
    greater_equal = function("greater_equal", calm=True)
    left_shift = function("left_shift")
    less = function("less", calm=True)
    less_equal = function("less_equal", calm=True)
    logical_and = function("logical_and", calm=True)
    logical_or = function("logical_or", calm=True)
    logical_xor = function("logical_xor", calm=True)
    multiply = function("multiply", complex_functions.multiply)
    not_equal = function("not_equal", calm=True)
    right_shift = function("right_shift")
    subtract = function("subtract")

    # Overrides of composites
    copysign = promoting("copysign")
    hypot = promoting("hypot")
    log10 = promoting("log10", complex_functions.log10)
    log2 = promoting("log2", complex_functions.log2)
    logaddexp = promoting("logaddexp")
    reciprocal = promoting("reciprocal", complex_functions.reciprocal)
    square = promoting("square", complex_functions.square)

    @kernel
    def nextafter(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """The next number after x1 towards x2; of equal ones x2, also where a narrow dtype's loop gives x1."""
        xp = self.xp
        left, right = (self.cast(x.data, x.dtype, out.dtype) for x in (x1, x2))
        return xp.where(left == right, right, xp.nextafter(left, right))

    # Conversion

    @kernel
    def as_type(self, out: Template, x: Tensor, /) -> Payload:
        """The values in `out.dtype`."""
        return self.cast(x.data, x.dtype, out.dtype)

    def bitcast(self, out: Template, x: Tensor, /) -> Payload:
        """The same bits as a view."""
        return x.data.view(numpy_dtype(out.dtype))

    # Functions of one element

    @kernel
    def count_leading_zeros(self, out: Template, x: Tensor, /) -> Payload:
        """The width, less the number of bits from the highest one down."""
        bits = x.data.view(f"uint{x.dtype.bits}")
        for distance in (1, 2, 4, 8, 16, 32):
            if distance < x.dtype.bits:
                bits = bits | bits >> distance  # ends as ones from the highest one down
        return (x.dtype.bits - self.xp.bitwise_count(bits)).astype(numpy_dtype(out.dtype))

    @kernel
    def population_count(self, out: Template, x: Tensor, /) -> Payload:
        """Number of one bits, a negative integer's in two's complement."""
        return self.xp.bitwise_count(x.data.view(f"uint{x.dtype.bits}")).astype(numpy_dtype(out.dtype))

    @kernel
    def erf(self, out: Template, x: Tensor, /) -> Payload:
        """Error function, computed in float64."""
        return self.in_float64(special.erf, out, x)

    @kernel
    def erfc(self, out: Template, x: Tensor, /) -> Payload:
        """One minus the error function, computed in float64."""
        return self.in_float64(special.erfc, out, x)

    @kernel
    def erf_inv(self, out: Template, x: Tensor, /) -> Payload:
        """Inverse error function, computed in float64."""
        return self.in_float64(special.erf_inv, out, x)

    @kernel
    def digamma(self, out: Template, x: Tensor, /) -> Payload:
        """Derivative of log(gamma(x)), computed in float64."""
        return self.in_float64(gamma.digamma, out, x)

    @kernel
    def gamma_inc_l(self, out: Template, a: Tensor, x: Tensor, /) -> Payload:
        """P(a, x), computed in float64."""
        return self.in_float64(incomplete_gamma.gamma_inc_l, out, a, x)

    @kernel
    def gamma_inc_u(self, out: Template, a: Tensor, x: Tensor, /) -> Payload:
        """Q(a, x), computed in float64."""
        return self.in_float64(incomplete_gamma.gamma_inc_u, out, a, x)

    @kernel
    def log_gamma(self, out: Template, x: Tensor, /) -> Payload:
        """log(abs(gamma(x))), computed in float64."""
        return self.in_float64(gamma.log_gamma, out, x)

    def real(self, out: Template, x: Tensor, /) -> Payload:
        """The real parts as a view."""
        return x.data.real if x.dtype.is_complex else x.data

    def imag(self, out: Template, x: Tensor, /) -> Payload:
        """The imaginary parts as a view."""
        return x.data.imag

    @kernel
    def rsqrt(self, out: Template, x: Tensor, /) -> Payload:
        """1 / sqrt(x)."""
        return self.narrowed(1.0 / self.xp.sqrt(self.widened(x)), out)

    @kernel
    def sigmoid(self, out: Template, x: Tensor, /) -> Payload:
        """1 / (1 + exp(-x)) as exp(x) / (1 + exp(x)) where x is negative: nothing overflows."""
        xp, values = self.xp, self.widened(x)
        return self.narrowed(xp.exp(xp.minimum(values, 0)) / (1.0 + xp.exp(-xp.abs(values))), out)

    @kernel
    def sign(self, out: Template, x: Tensor, /) -> Payload:
        """The sign, 0.0 for both zeros; complex numbers are divided by their magnitude."""
        if x.dtype.is_complex:
            return complex_functions.sign(self.xp, x.data)
        return self.narrowed(self.xp.sign(self.widened(x)), out)  # bfloat16's own loop keeps -0.0

    # Functions of two elements

    @kernel
    def floor_divide(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """The floor of the quotient; floats in float64, whose remainder is exact for the narrower ones."""
        if not out.dtype.is_floating:
            return self.xp.floor_divide(x1.data, x2.data)
        left, right = self._float64(x1), self._float64(x2)
        # NumPy has NaN and -1.0 for infinities, where the Array API has the quotient itself.
        infinite = self.xp.isinf(left) | self.xp.isinf(right)
        return self.cast(self.xp.where(infinite, left / right, self.xp.floor_divide(left, right)), float64, out.dtype)

    @kernel
    def remainder(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """The remainder with the divisor's sign; floats in float64."""
        if not out.dtype.is_floating:
            return self.xp.remainder(x1.data, x2.data)
        return self.cast(self.xp.remainder(self._float64(x1), self._float64(x2)), float64, out.dtype)

    @kernel
    def quotient(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """The quotient rounded to zero: one above the floor where the signs differ and something remains."""
        floor = self.xp.floor_divide(x1.data, x2.data)
        if out.dtype.kind == "uint":
            return floor
        inexact = self.xp.remainder(x1.data, x2.data) != 0
        return floor + (inexact & ((x1.data < 0) != (x2.data < 0)))

    @kernel
    def pow(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """The power; an integer to a negative one is 1 / x1**-x2 rounded to zero."""
        xp, base, exponent = self.xp, x1.data, x2.data
        if out.dtype.kind == "int":
            power = xp.power(base, xp.where(exponent < 0, -exponent & 1, exponent))
            # Only -1 and 1 have a reciprocal that does not round to zero, and they are their own.
            return xp.where((exponent < 0) & (xp.abs(base) != 1), 0 * power, power)
        if out.dtype.is_complex:
            return complex_functions.power(xp, base, exponent)
        power = xp.power(base, exponent)
        if not out.dtype.is_floating:
            return power
        # NumPy takes the square root for a scalar 0.5, whose values at -inf and -0.0 are not pow's.
        special = (exponent == 0.5) & ((base == 0) | xp.isinf(base))
        return xp.where(special, xp.abs(base), power)

    @kernel
    def max(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """The greater one; NaN wins, and 0.0 is above -0.0."""
        return extremes.maximum(self.xp, x1.data, x2.data)

    @kernel
    def min(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """The lesser one; NaN wins, and -0.0 is below 0.0."""
        return extremes.minimum(self.xp, x1.data, x2.data)

    # Functions of three elements

    @kernel
    def clip(self, out: Template, x: Tensor, low: Tensor, high: Tensor, /) -> Payload:
        """min(max(x, low), high)."""
        return extremes.clip(self.xp, x.data, low.data, high.data)

    def select(self, out: Template, condition: Tensor, x1: Tensor, x2: Tensor, /) -> Payload:
        """x1 where the condition holds, else x2."""
        return self.xp.where(condition.data, x1.data, x2.data)

    # Helpers

    def in_float64(self, function: Callable[..., Array], out: Template, /, *inputs: Tensor) -> Array:
        """What a function of the module and float64 arrays of one axis gives, in the result's dtype and shape."""
        columns = (self.xp.broadcast_to(self._float64(x), out.shape).reshape(-1) for x in inputs)
        return self.cast(function(self.xp, *columns), float64, out.dtype).reshape(out.shape)

    def _float64(self, x: Tensor) -> Array:
        return x.data.astype(numpy_dtype(float64))
