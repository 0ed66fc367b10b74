"""Elementwise callbacks: one line each where the array module's function is right, else what makes it so."""

from __future__ import annotations

from collections.abc import Callable
from math import nan

from ...dtypes import complex128, float64
from ...interchange import numpy_dtype
from ...protocol import Payload
from ...template import Template
from ...tensor import Tensor
from . import extremes, special
from .base import Array, ArrayBase, Binary, Rounding, Unary, kernel, promoting


class ArrayElementwise(ArrayBase):
    """Functions of one element of each input."""

    abs = Unary("abs")
    acos = Unary("arccos")
    acosh = Unary("arccosh")
    asin = Unary("arcsin")
    asinh = Unary("arcsinh")
    atan = Unary("arctan")
    atanh = Unary("arctanh")
    bitwise_not = Unary("invert")
    cbrt = Unary("cbrt")
    ceil = Rounding("ceil")
    conjugate = Unary("conjugate")
    cos = Unary("cos")
    cosh = Unary("cosh")
    exp = Unary("exp")
    floor = Rounding("floor")
    is_finite = Unary("isfinite")
    is_infinity = Unary("isinf")
    is_nan = Unary("isnan")
    log = Unary("log")
    logical_not = Unary("logical_not")
    negate = Unary("negative")
    round = Rounding("rint")
    signbit = Unary("signbit")
    sin = Unary("sin")
    sinh = Unary("sinh")
    sqrt = Unary("sqrt")
    tan = Unary("tan")
    tanh = Unary("tanh")
    trunc = Rounding("trunc")

    add = Binary("add")
    atan2 = Binary("arctan2")
    bitwise_and = Binary("bitwise_and")
    bitwise_or = Binary("bitwise_or")
    bitwise_xor = Binary("bitwise_xor")
    divide = Binary("divide")
    equal = Binary("equal")
    greater = Binary("greater")
    greater_equal = Binary("greater_equal")
    left_shift = Binary("left_shift")
    less = Binary("less")
    less_equal = Binary("less_equal")
    logical_and = Binary("logical_and")
    logical_or = Binary("logical_or")
    logical_xor = Binary("logical_xor")
    multiply = Binary("multiply")
    not_equal = Binary("not_equal")
    right_shift = Binary("right_shift")
    subtract = Binary("subtract")

    # Overrides of composites
    copysign = promoting("copysign")
    hypot = promoting("hypot")
    log10 = promoting("log10")
    log2 = promoting("log2")
    logaddexp = promoting("logaddexp")
    nextafter = promoting("nextafter")
    reciprocal = promoting("reciprocal")
    square = promoting("square")

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
    def expm1(self, out: Template, x: Tensor, /) -> Payload:
        """exp(x) - 1; of a complex number from its parts, so that neither loses digits near zero."""
        return special.complex_expm1(self.xp, x.data) if x.dtype.is_complex else self.xp.expm1(x.data)

    @kernel
    def log1p(self, out: Template, x: Tensor, /) -> Payload:
        """log(1 + x); of a complex number from its parts, so that neither loses digits near zero."""
        return special.complex_log1p(self.xp, x.data) if x.dtype.is_complex else self.xp.log1p(x.data)

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
        """The sign, 0.0 for both zeros; complex numbers with a part that is not finite are NaN."""
        signs = self.xp.sign(x.data)
        if x.dtype.is_complex:
            return self.xp.where(self.xp.isfinite(x.data), signs, signs.dtype.type(complex(nan, nan)))
        return signs

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
        if out.dtype.is_complex and out.dtype is not complex128:
            # y * log(x) magnifies its rounding by its size.
            return xp.power(base.astype(numpy_dtype(complex128)), exponent).astype(numpy_dtype(out.dtype))
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

    def in_float64(self, function: Callable[..., Array], out: Template, x: Tensor) -> Array:
        """What a function of the module and a float64 array gives, in the result's dtype."""
        return self.cast(function(self.xp, self._float64(x)), float64, out.dtype)

    def _float64(self, x: Tensor) -> Array:
        return x.data.astype(numpy_dtype(float64))
