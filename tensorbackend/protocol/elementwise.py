"""Elementwise callbacks. The backend broadcasts several operands to `out.shape`.

Inexact functions are computed to within an ulp or so and then rounded once. Special values are those of the Array API
standard. No floating-point warning or error is ever raised.
"""

from __future__ import annotations

from ..template import Template
from ..tensor import Tensor
from .callbacks import callback, optional_callback
from .planned import Payload


class Elementwise:
    """Functions of one element of each input."""

    # Conversion

    @callback(cost="operation")
    def as_type(self, out: Template, x: Tensor, /) -> Payload:
        """The values in `out.dtype`. Floats become integers by truncation and saturation, and NaN becomes 0; integers
        wrap; narrower floats round to nearest even; zero is False and everything else True; complex to real keeps the
        real part."""

    @callback(cost="view")
    def bitcast(self, out: Template, x: Tensor, /) -> Payload:
        """The same bits read as `out.dtype`, which has the same width."""

    # Functions of one element

    @callback(cost="operation")
    def abs(self, out: Template, x: Tensor, /) -> Payload:
        """Absolute value; for a complex number its magnitude, a float. The smallest integer wraps to itself."""

    @callback(cost="transcendental")
    def acos(self, out: Template, x: Tensor, /) -> Payload:
        """Arc cosine in radians."""

    @callback(cost="transcendental")
    def acosh(self, out: Template, x: Tensor, /) -> Payload:
        """Inverse hyperbolic cosine."""

    @callback(cost="transcendental")
    def asin(self, out: Template, x: Tensor, /) -> Payload:
        """Arc sine in radians."""

    @callback(cost="transcendental")
    def asinh(self, out: Template, x: Tensor, /) -> Payload:
        """Inverse hyperbolic sine."""

    @callback(cost="transcendental")
    def atan(self, out: Template, x: Tensor, /) -> Payload:
        """Arc tangent in radians."""

    @callback(cost="transcendental")
    def atanh(self, out: Template, x: Tensor, /) -> Payload:
        """Inverse hyperbolic tangent."""

    @callback(cost="operation")
    def bitwise_not(self, out: Template, x: Tensor, /) -> Payload:
        """All bits flipped; logical not for bools."""

    @callback(cost="transcendental")
    def cbrt(self, out: Template, x: Tensor, /) -> Payload:
        """Real cube root, of negative numbers too."""

    @callback(cost="operation")
    def ceil(self, out: Template, x: Tensor, /) -> Payload:
        """Smallest integer not below x, in x's dtype."""

    @callback(cost="operation")
    def conjugate(self, out: Template, x: Tensor, /) -> Payload:
        """Complex conjugate."""

    @callback(cost="transcendental")
    def cos(self, out: Template, x: Tensor, /) -> Payload:
        """Cosine of radians."""

    @callback(cost="transcendental")
    def cosh(self, out: Template, x: Tensor, /) -> Payload:
        """Hyperbolic cosine."""

    @callback(cost="operation")
    def count_leading_zeros(self, out: Template, x: Tensor, /) -> Payload:
        """Number of zero bits above the highest one, in an integer's width."""

    @callback(cost="transcendental")
    def erf(self, out: Template, x: Tensor, /) -> Payload:
        """Error function."""

    @callback(cost="transcendental")
    def erf_inv(self, out: Template, x: Tensor, /) -> Payload:
        """Inverse of the error function; infinite at -1 and 1, NaN beyond."""

    @callback(cost="transcendental")
    def erfc(self, out: Template, x: Tensor, /) -> Payload:
        """One minus the error function, accurate where the result is tiny."""

    @callback(cost="transcendental")
    def exp(self, out: Template, x: Tensor, /) -> Payload:
        """e to the power x."""

    @callback(cost="transcendental")
    def expm1(self, out: Template, x: Tensor, /) -> Payload:
        """exp(x) - 1, accurate near zero."""

    @callback(cost="operation")
    def floor(self, out: Template, x: Tensor, /) -> Payload:
        """Largest integer not above x, in x's dtype."""

    @callback(cost="strided view")
    def imag(self, out: Template, x: Tensor, /) -> Payload:
        """Imaginary part, a float."""

    @callback(cost="operation")
    def is_infinity(self, out: Template, x: Tensor, /) -> Payload:
        """Whether x is infinite; for a complex number, whether either part is."""

    @callback(cost="operation")
    def is_nan(self, out: Template, x: Tensor, /) -> Payload:
        """Whether x is NaN; for a complex number, whether either part is."""

    @callback(cost="transcendental")
    def log(self, out: Template, x: Tensor, /) -> Payload:
        """Natural logarithm; the principal branch for complex numbers."""

    @callback(cost="transcendental")
    def log1p(self, out: Template, x: Tensor, /) -> Payload:
        """log(1 + x), accurate near zero."""

    @callback(cost="operation")
    def negate(self, out: Template, x: Tensor, /) -> Payload:
        """-x. Unsigned integers wrap around."""

    @callback(cost="operation")
    def population_count(self, out: Template, x: Tensor, /) -> Payload:
        """Number of one bits of an integer."""

    @callback(cost="strided view")
    def real(self, out: Template, x: Tensor, /) -> Payload:
        """Real part, a float."""

    @callback(cost="operation")
    def round(self, out: Template, x: Tensor, /) -> Payload:
        """Nearest integral value, halves to even, in x's dtype; for a complex number each part is rounded."""

    @callback(cost="transcendental")
    def rsqrt(self, out: Template, x: Tensor, /) -> Payload:
        """1 / sqrt(x)."""

    @callback(cost="transcendental")
    def sigmoid(self, out: Template, x: Tensor, /) -> Payload:
        """1 / (1 + exp(-x)), without overflow."""

    @callback(cost="operation")
    def sign(self, out: Template, x: Tensor, /) -> Payload:
        """-1, 0 or 1 by sign, NaN for NaN; for a complex number x / abs(x), and zero for zero."""

    @callback(cost="transcendental")
    def sin(self, out: Template, x: Tensor, /) -> Payload:
        """Sine of radians."""

    @callback(cost="transcendental")
    def sinh(self, out: Template, x: Tensor, /) -> Payload:
        """Hyperbolic sine."""

    @callback(cost="transcendental")
    def sqrt(self, out: Template, x: Tensor, /) -> Payload:
        """Square root; the principal one for complex numbers."""

    @callback(cost="transcendental")
    def tan(self, out: Template, x: Tensor, /) -> Payload:
        """Tangent of radians."""

    @callback(cost="transcendental")
    def tanh(self, out: Template, x: Tensor, /) -> Payload:
        """Hyperbolic tangent."""

    # Functions of two elements

    @callback(cost="operation")
    def add(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """x1 + x2. Integers wrap around on overflow."""

    @callback(cost="transcendental")
    def atan2(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """Angle of the point (x2, x1) in radians, from -pi to pi."""

    @callback(cost="operation")
    def bitwise_and(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """Bitwise and; logical and for bools."""

    @callback(cost="operation")
    def bitwise_or(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """Bitwise or; logical or for bools."""

    @callback(cost="operation")
    def bitwise_xor(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """Bitwise exclusive or; logical exclusive or for bools."""

    @callback(cost="operation")
    def divide(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """x1 / x2 of floating or complex operands."""

    @callback(cost="operation")
    def equal(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """Whether x1 == x2; a NaN equals nothing."""

    @callback(cost="operation")
    def floor_divide(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """Largest integral value not above x1 / x2. Integer division by zero returns 0, and overflow wraps around."""

    @callback(cost="operation")
    def greater(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """Whether x1 > x2."""

    @callback(cost="operation")
    def greater_equal(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """Whether x1 >= x2."""

    @callback(cost="operation")
    def left_shift(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """Bits of x1 shifted left by x2; 0 if x2 is at least the width."""

    @callback(cost="operation")
    def less(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """Whether x1 < x2."""

    @callback(cost="operation")
    def less_equal(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """Whether x1 <= x2."""

    @callback(cost="operation")
    def logical_and(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """Whether both are true; the operands are bool."""

    @callback(cost="operation")
    def logical_or(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """Whether at least one is true; the operands are bool."""

    @callback(cost="operation")
    def logical_xor(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """Whether exactly one is true; the operands are bool."""

    @callback(cost="operation")
    def max(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """Maximum of the operands; NaN if either is NaN. 0.0 is above -0.0."""

    @callback(cost="operation")
    def min(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """Minimum of the operands; NaN if either is NaN. -0.0 is below 0.0."""

    @callback(cost="operation")
    def multiply(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """x1 * x2. Integers wrap around on overflow."""

    @callback(cost="operation")
    def not_equal(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """Whether x1 != x2; a NaN differs from everything."""

    @callback(cost="transcendental")
    def pow(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """x1 to the power x2. Integers wrap around; a negative power is 1 / x1**-x2 rounded towards zero."""

    @callback(cost="operation")
    def quotient(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """x1 / x2 of integers, rounded towards zero; division by zero returns 0."""

    @callback(cost="operation")
    def remainder(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """x1 - floor(x1 / x2) * x2, with the sign of x2. Integer division by zero returns 0."""

    @callback(cost="operation")
    def right_shift(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """Bits of x1 shifted right by x2, keeping the sign; 0 or -1 if x2 is at least the width."""

    @callback(cost="operation")
    def subtract(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """x1 - x2. Integers wrap around on overflow."""

    # Functions of three elements

    @callback(cost="operation")
    def clip(self, out: Template, x: Tensor, low: Tensor, high: Tensor, /) -> Payload:
        """min(max(x, low), high); NaN if any of the three is NaN."""

    @callback(cost="operation")
    def select(self, out: Template, condition: Tensor, x1: Tensor, x2: Tensor, /) -> Payload:
        """x1 where the bool `condition` is true, else x2."""

    # Composites of Nx that a backend may override

    @optional_callback
    def logical_not(self, out: Template, x: Tensor, /) -> Payload:
        """Whether x is false."""

    @optional_callback
    def phase(self, out: Template, x: Tensor, /) -> Payload:
        """Angle of a complex number in radians, a float."""
