"""Elementwise callbacks: MLX's function where it is right, else code that corrects it, else NumPy's."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from tensorbackend import Template
from tensorbackend.dtypes import DType, bool_, finfo, float32, float64, int8, int16, int32, int64
from tensorbackend.protocol import Payload

from .casting import caster
from .kernels import Function, MlxBase, by_numpy, kernel
from .library import Array, mlx_dtype, mx

_SIGNED: Final = {8: int8, 16: int16, 32: int32, 64: int64}
"""The signed integers by their width."""


def unary(name: str, function: str | Function, *, float64_by_numpy: bool = False) -> Callable[..., Payload]:
    """A callback that calls one function of MLX or of this module, for complex numbers NumPy's.

    MLX computes some functions of float64 with the digits of float32; those are NumPy's too.
    """

    @kernel(narrow=True)
    def callback(self: MlxBase, out: Template, x: Template) -> Function:
        if x.dtype.is_complex or (float64_by_numpy and x.dtype is float64):
            return self.by_numpy(name, out, x)
        return getattr(mx, function) if isinstance(function, str) else function

    return callback


def rounding(function: str) -> Callable[..., Payload]:
    """A callback that returns integers unchanged, and rounds each part of a complex number."""

    @kernel()
    def callback(self: MlxBase, out: Template, x: Template) -> Function:
        rounded: Function = getattr(mx, function)
        if x.dtype.is_complex:
            return lambda values: joined(rounded(mx.real(values)), rounded(mx.imag(values)))
        return rounded if x.dtype.is_floating else lambda values: values

    return callback


def own(function: str, of_complex: Function | None = None, *, narrow: bool = False) -> Callable[..., Payload]:
    """A callback that calls one function of MLX, and `of_complex` for complex numbers."""

    @kernel(narrow=narrow)
    def callback(self: MlxBase, out: Template, *inputs: Template) -> Function:
        return of_complex if of_complex is not None and out.dtype.is_complex else getattr(mx, function)

    return callback


def joined(real: Array, imaginary: Array) -> Array:
    """Complex numbers from their parts; a sum would make NaN of infinite ones."""
    return mx.stack([real, imaginary], -1).view(mx.complex64).reshape(real.shape)


# Floats: what MLX's functions leave open or get wrong


# Of two zeros MLX's functions give the second operand, so both orders together have both signs. The bits of other equal
# numbers are the same, and those of NaN may be joined. `mx.where` would take many times as long on a CPU.


def greater(dtype: DType) -> Function:
    """The function that gives the greater one of floats, 0.0 of two zeros with different signs."""
    bits, floats = mlx_dtype(_SIGNED[dtype.bits]), mlx_dtype(dtype)

    def maximum(left: Array, right: Array) -> Array:
        first, second = -mx.maximum(left, right), -mx.maximum(right, left)
        return -(first.view(bits) | second.view(bits)).view(floats)

    return maximum


def lesser(dtype: DType) -> Function:
    """The function that gives the lesser one of floats, -0.0 of two zeros with different signs."""
    bits, floats = mlx_dtype(_SIGNED[dtype.bits]), mlx_dtype(dtype)

    def minimum(left: Array, right: Array) -> Array:
        return (mx.minimum(left, right).view(bits) | mx.minimum(right, left).view(bits)).view(floats)

    return minimum


_DEEP = 44.375
"""A float32 between -128 and -64 plus this number is exact."""


def _powers(x: Array) -> tuple[Array, Array]:
    """exp(abs(x)) and the factor by which its reciprocal is to be multiplied.

    By `expm1`, as the error of MLX's `exp` grows to 60 ulps. Below -80, where the reciprocal underflows in the end,
    they are those of a greater number.
    """
    deep = x < -80.0
    powers = mx.expm1(mx.abs(x + mx.where(deep, _DEEP, 0.0))) + 1.0
    return powers, mx.where(deep, math.exp(-_DEEP), 1.0)


def exp(x: Array) -> Array:
    """exp of float32."""
    powers, factor = _powers(x)
    return mx.where(x > 0, powers, factor / powers)


def _sigmoid(x: Array) -> Array:
    """The sigmoid of -abs(x), or one minus it."""
    powers, factor = _powers(x)
    return mx.where(x < 0, factor / (powers + factor), 1.0 - 1.0 / (powers + 1.0))


def _silu(x: Array) -> Array:
    """x times its sigmoid; the factor is applied to x, so that no step is subnormal where the result is not."""
    powers, factor = _powers(x)
    negative = mx.maximum(x, -finfo(float32).max) * factor / (powers + factor)  # -inf times 0 is NaN
    return mx.where(x < 0, negative, x * (1.0 - 1.0 / (powers + 1.0)))


def _erf(x: Array) -> Array:
    """MLX's function of float32, and near zero the first terms of the series."""
    return mx.where(mx.abs(x) < 0.9, x * _series(x * x), mx.erf(x))


_TERMS = [2 / math.sqrt(math.pi) * (-1) ** n / (math.factorial(n) * (2 * n + 1)) for n in range(12)]


def _series(square: Array) -> Array:
    """erf(x) / x by the square of x, below 0.81."""
    total: Array = _TERMS[-1] * square + _TERMS[-2]
    for term in _TERMS[-3::-1]:
        total = total * square + term
    return total


# Complex numbers


def _product(left: Array, right: Array) -> Array:
    """The product by parts; for infinite parts MLX computes another one, and two products that overflow are no NaN."""
    a, b, c, d = mx.real(left), mx.imag(left), mx.real(right), mx.imag(right)
    finite = mx.isfinite(left) & mx.isfinite(right)

    def parts(factor: float) -> tuple[Array, Array]:
        # Next to an infinity or NaN, a finite part contributes no more than its sign.
        x, y, u, v = (mx.where(finite | ~mx.isfinite(part), part * factor, mx.sign(part)) for part in (a, b, c, d))
        return x * u - y * v, x * v + y * u

    plain, down = (a * c - b * d, a * d + b * c), parts(2.0**-64)
    back = ((part * 2.0**64) * 2.0**64 for part in down)
    return joined(*(mx.where(mx.isfinite(part), part, scaled) for part, scaled in zip(plain, back, strict=True)))


# Integers


def _of_divisors(divide: Function, by_minus_one: Function) -> Function:
    """A division whose divisor is neither 0, for which the result is 0, nor -1, which may overflow."""

    def divided(left: Array, right: Array) -> Array:
        minus_one = -mx.ones_like(right)
        opposite = (right == minus_one) & (minus_one < 0)
        plain = divide(left, mx.where((right == 0) | opposite, 1, right))
        return mx.where(right == 0, 0, mx.where(opposite, by_minus_one(left), plain))

    return divided


# Callbacks


class MlxElementwise(MlxBase):
    """Functions of one element of each input."""

    acos = unary("acos", "arccos")
    acosh = unary("acosh", "arccosh")
    asin = unary("asin", "arcsin")
    asinh = unary("asinh", "arcsinh")
    atan = unary("atan", "arctan")
    atanh = unary("atanh", "arctanh")
    ceil = rounding("ceil")
    cos = unary("cos", "cos", float64_by_numpy=True)
    cosh = unary("cosh", "cosh")
    erf_inv = unary("erf_inv", "erfinv", float64_by_numpy=True)
    erfc = by_numpy("erfc")
    expm1 = unary("expm1", "expm1")
    floor = rounding("floor")
    log = unary("log", "log")
    log10 = unary("log10", "log10")
    log1p = unary("log1p", "log1p")
    log2 = unary("log2", "log2")
    round = rounding("round")
    rsqrt = unary("rsqrt", "rsqrt")
    sin = unary("sin", "sin", float64_by_numpy=True)
    sinh = unary("sinh", "sinh")
    sqrt = unary("sqrt", "sqrt")
    tan = unary("tan", "tan")
    tanh = unary("tanh", "tanh")
    trunc = rounding("trunc")

    digamma = by_numpy("digamma")
    gamma_inc_l = by_numpy("gamma_inc_l")
    gamma_inc_u = by_numpy("gamma_inc_u")
    log_gamma = by_numpy("log_gamma")

    add = own("add")
    bitwise_and = own("bitwise_and")
    bitwise_or = own("bitwise_or")
    bitwise_xor = own("bitwise_xor")
    equal = own("equal")
    greater = own("greater")
    greater_equal = own("greater_equal")
    less = own("less")
    less_equal = own("less_equal")
    logical_and = own("logical_and")
    logical_or = own("logical_or")
    logical_xor = own("not_equal")
    not_equal = own("not_equal")
    subtract = own("subtract")

    atan2 = own("arctan2", narrow=True)
    erf = unary("erf", _erf, float64_by_numpy=True)
    exp = unary("exp", exp, float64_by_numpy=True)
    is_finite = own("isfinite")
    is_infinity = own("isinf")
    is_nan = own("isnan")
    multiply = own("multiply", _product)
    negate = own("negative")
    select = own("where")
    sigmoid = unary("sigmoid", _sigmoid, float64_by_numpy=True)

    # Conversion

    @kernel()
    def as_type(self, out: Template, x: Template) -> Function:
        """The values in `out.dtype`."""
        return caster(self, x, out.dtype)

    @kernel()
    def bitcast(self, out: Template, x: Template) -> Function:
        """The same bits."""
        dtype = mlx_dtype(out.dtype)
        return lambda values: values.view(dtype)

    # Functions of one element

    @kernel()
    def abs(self, out: Template, x: Template) -> Function:
        """Absolute value, of a complex number its magnitude."""
        if x.dtype.is_complex:
            return self.by_numpy("abs", out, x)
        return mx.abs

    @kernel()
    def bitwise_not(self, out: Template, x: Template) -> Function:
        """All bits flipped."""
        return mx.logical_not if x.dtype is bool_ else mx.bitwise_invert

    @kernel()
    def conjugate(self, out: Template, x: Template) -> Function:
        """Complex conjugate."""
        return mx.conjugate if x.dtype.is_complex else lambda values: values

    @kernel()
    def real(self, out: Template, x: Template) -> Function:
        """The real parts."""
        return mx.real if x.dtype.is_complex else lambda values: values

    @kernel()
    def imag(self, out: Template, x: Template) -> Function:
        """The imaginary parts."""
        return mx.imag if x.dtype.is_complex else mx.zeros_like

    @kernel()
    def sign(self, out: Template, x: Template) -> Function:
        """The sign, 0.0 for both zeros; complex numbers are divided by their magnitude."""
        if x.dtype.is_complex:
            return self.by_numpy("sign", out, x)
        if not x.dtype.is_floating:
            return mx.sign
        return lambda values: mx.where(mx.isnan(values), values, mx.sign(values))

    @kernel()
    def silu(self, out: Template, x: Template) -> Function:
        """x * sigmoid(x), with all digits where sigmoid(x) is subnormal and the product is not."""
        if out.dtype is float64:
            return self.by_numpy("silu", out, x)
        wide, narrow = caster(self, x, float32), caster(self, out.replace(dtype=float32), out.dtype)
        return lambda values: narrow(_silu(wide(values)))

    # Functions of two elements

    @kernel()
    def divide(self, out: Template, x1: Template, x2: Template) -> Function:
        """x1 / x2."""
        return self.by_numpy("divide", out, x1, x2) if out.dtype.is_complex else mx.divide

    @kernel()
    def floor_divide(self, out: Template, x1: Template, x2: Template) -> Function:
        """Floor of the quotient; MLX rounds that of floats before it takes the floor."""
        if not out.dtype.is_integer:
            return self.by_numpy("floor_divide", out, x1, x2)
        return _of_divisors(mx.floor_divide, mx.negative)

    @kernel()
    def remainder(self, out: Template, x1: Template, x2: Template) -> Function:
        """Remainder with the sign of the divisor."""
        if not out.dtype.is_integer:
            return self.by_numpy("remainder", out, x1, x2)
        return _of_divisors(mx.remainder, mx.zeros_like)

    @kernel()
    def quotient(self, out: Template, x1: Template, x2: Template) -> Function:
        """The quotient rounded to zero: the floor, and one more where that is below it."""

        def rounded(left: Array, right: Array) -> Array:
            floor = mx.floor_divide(left, right)
            return floor + ((floor < 0) & (floor * right != left)).astype(floor.dtype)

        return _of_divisors(rounded, mx.negative)

    @kernel(narrow=True)
    def pow(self, out: Template, x1: Template, x2: Template) -> Function:
        """Power; for integers with a negative exponent, 1 / x1**-x2 rounded to zero."""
        if out.dtype.is_complex:
            return self.by_numpy("pow", out, x1, x2)
        if out.dtype.kind != "int":
            return mx.power

        def power(base: Array, exponent: Array) -> Array:
            negative = exponent < 0
            powers = mx.power(base, mx.where(negative, -exponent & 1, exponent))
            # Only -1 and 1 have a reciprocal that does not round to zero, and they are their own.
            return mx.where(negative & (mx.abs(base) != 1), 0, powers)

        return power

    @kernel()
    def left_shift(self, out: Template, x1: Template, x2: Template) -> Function:
        """x1 shifted left."""
        width = out.dtype.bits

        def shifted(values: Array, amount: Array) -> Array:
            inside = (amount >= 0) & (amount < width)
            return mx.where(inside, mx.left_shift(values, mx.where(inside, amount, 0)), 0)

        return shifted

    @kernel()
    def right_shift(self, out: Template, x1: Template, x2: Template) -> Function:
        """x1 shifted right; the sign is kept."""
        width, signed = out.dtype.bits, out.dtype.kind == "int"

        def shifted(values: Array, amount: Array) -> Array:
            inside = (amount >= 0) & (amount < width)
            if signed:
                return mx.right_shift(values, mx.where(inside, amount, width - 1))
            return mx.where(inside, mx.right_shift(values, mx.where(inside, amount, 0)), 0)

        return shifted

    @kernel()
    def max(self, out: Template, x1: Template, x2: Template) -> Function:
        """The greater one; NaN wins, and 0.0 is above -0.0."""
        return greater(out.dtype) if out.dtype.is_floating else mx.maximum

    @kernel()
    def min(self, out: Template, x1: Template, x2: Template) -> Function:
        """The lesser one; NaN wins, and -0.0 is below 0.0."""
        return lesser(out.dtype) if out.dtype.is_floating else mx.minimum

    # Functions of three elements

    @kernel()
    def clip(self, out: Template, x: Template, low: Template, high: Template) -> Function:
        """min(max(x, low), high)."""
        if not out.dtype.is_floating:
            return lambda values, low, high: mx.minimum(mx.maximum(values, low), high)
        maximum, minimum = greater(out.dtype), lesser(out.dtype)
        return lambda values, low, high: minimum(maximum(values, low), high)

    # Overrides of composites

    @kernel()
    def logical_not(self, out: Template, x: Template) -> Function:
        """Whether x is zero."""
        return lambda values: values == 0

    @kernel()
    def square(self, out: Template, x: Template) -> Function:
        """x * x."""
        if out.dtype.is_complex:
            return self.by_numpy("square", out, x)
        cast = caster(self, x, out.dtype)
        return lambda values: mx.square(cast(values))

    @kernel()
    def signbit(self, out: Template, x: Template) -> Function:
        """Whether the sign is set, of zeros and NaN too."""
        bits = mlx_dtype(_SIGNED[x.dtype.bits])
        return lambda values: values.view(bits) < 0
