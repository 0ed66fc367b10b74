"""Elementwise callbacks: one line each if PyTorch's function is right, otherwise code that corrects it."""

from __future__ import annotations

import math
from collections.abc import Callable

from tensorbackend import Template
from tensorbackend.dtypes import float32, float64, uint64
from tensorbackend.protocol import Kernel, Payload, kernel_of, planned

from . import complex_functions, extremes, integers
from .casting import as_int64, cast, from_int64
from .kernels import Fitting, Function, TorchBase, kernel, kernel_planned, through_numpy
from .library import torch
from .ways import UNSIGNED, Array, Narrow, Unsigned, bits_of, torch_dtype


def unary(
    function: str,
    of_complex: Callable[[Array], Array] | None = None,
    narrow: Narrow = "own",
    unsigned: Unsigned = "none",
) -> Callable[..., Payload]:
    """A callback that calls one function of PyTorch, and `of_complex` for complex numbers."""

    @kernel_planned(narrow=narrow, unsigned=unsigned)
    def callback(self: TorchBase, out: Template, x: Template) -> Function | Fitting:
        return _chosen(function, of_complex, x)

    return callback


def judged(function: str, of_integers: bool) -> Callable[..., Payload]:
    """A callback that asks a question of floats, to which integers have one answer."""

    @kernel(unsigned="own")
    def callback(self: TorchBase, out: Template, x: Array) -> Array:
        if x.is_floating_point() or x.is_complex():
            return getattr(torch, function)(x)  # type: ignore[no-any-return] # a tensor
        return torch.full_like(x, of_integers, dtype=torch.bool)

    return callback


def promoted(function: str, of_complex: Callable[[Array], Array]) -> Callable[..., Payload]:
    """A callback of a composite, whose operand is cast to the dtype of the result first."""

    @kernel(unsigned="own")
    def callback(self: TorchBase, out: Template, x: Array) -> Array:
        x = self.cast(x, out)
        return of_complex(x) if x.is_complex() else getattr(torch, function)(bits_of(x))

    return callback


def rounding(function: str) -> Callable[..., Payload]:
    """A callback that returns integers unchanged."""

    @kernel(unsigned="own")
    def callback(self: TorchBase, out: Template, x: Array) -> Array:
        if x.is_complex():
            return complex_functions.join(*(getattr(torch, function)(part) for part in complex_functions.parts(x)))
        rounded: Array = getattr(torch, function)(x) if x.is_floating_point() else x
        return rounded

    return callback


def binary(
    function: str, of_complex: Callable[[Array, Array], Array] | None = None, unsigned: Unsigned = "none"
) -> Callable[..., Payload]:
    """A callback of two tensors that calls one function of PyTorch, and `of_complex` for complex numbers."""

    @kernel_planned(unsigned=unsigned)
    def callback(self: TorchBase, out: Template, x1: Template, x2: Template) -> Function | Fitting:
        return _chosen(function, of_complex, x1)

    return callback


def _chosen(function: str, of_complex: Function | None, x: Template) -> Function | Fitting:
    """The function of PyTorch for real numbers, and `of_complex`, or else the same, for complex ones."""
    torch_function: Function = getattr(torch, function)
    return (of_complex or torch_function) if x.dtype.is_complex else Fitting(torch_function)


_root, _root_by_numpy = unary("sqrt", complex_functions.sqrt), through_numpy("sqrt")


class TorchElementwise(TorchBase):
    """Functions of one element of each input."""

    acos = unary("acos", complex_functions.acos)
    acosh = unary("acosh", complex_functions.acosh)
    asin = unary("asin", complex_functions.asin)
    asinh = unary("asinh", complex_functions.asinh)
    atan = unary("atan", complex_functions.atan)
    atanh = unary("atanh", complex_functions.atanh)
    bitwise_not = unary("bitwise_not", unsigned="bits")
    ceil = rounding("ceil")
    conjugate = unary("conj_physical")
    cos = unary("cos", complex_functions.cos)
    cosh = unary("cosh", complex_functions.cosh)
    erf = unary("erf", narrow="float32")
    erfc = unary("erfc", narrow="float32")
    erf_inv = unary("erfinv", narrow="float32")
    exp = unary("exp", complex_functions.exp)
    expm1 = unary("expm1", complex_functions.expm1)
    floor = rounding("floor")
    imag = unary("imag")
    is_finite = judged("isfinite", True)
    is_infinity = judged("isinf", False)
    is_nan = judged("isnan", False)
    log = unary("log", complex_functions.log)
    log10 = promoted("log10", complex_functions.log10)
    log1p = unary("log1p", complex_functions.log1p)
    log2 = promoted("log2", complex_functions.log2)
    negate = unary("neg", complex_functions.negate, unsigned="bits")
    real = unary("real")
    reciprocal = promoted("reciprocal", complex_functions.reciprocal)
    round = rounding("round")
    rsqrt = unary("rsqrt", narrow="float32")
    signbit = unary("signbit")
    sin = unary("sin", complex_functions.sin)
    sinh = unary("sinh", complex_functions.sinh)
    square = promoted("square", complex_functions.square)
    tan = unary("tan", complex_functions.tan)
    tanh = unary("tanh", complex_functions.tanh)
    trunc = rounding("trunc")

    add = binary("add", complex_functions.add, unsigned="bits")
    atan2 = binary("atan2")
    bitwise_and = binary("bitwise_and", unsigned="bits")
    bitwise_or = binary("bitwise_or", unsigned="bits")
    bitwise_xor = binary("bitwise_xor", unsigned="bits")
    divide = binary("divide", complex_functions.divide)
    equal = binary("eq", unsigned="bits")
    greater = binary("gt", unsigned="order")
    greater_equal = binary("ge", unsigned="order")
    less = binary("lt", unsigned="order")
    less_equal = binary("le", unsigned="order")
    logical_and = binary("logical_and")
    logical_or = binary("logical_or")
    logical_xor = binary("logical_xor")
    multiply = binary("multiply", complex_functions.multiply, unsigned="bits")
    not_equal = binary("ne", unsigned="bits")
    subtract = binary("subtract", complex_functions.subtract, unsigned="bits")

    @planned
    def sqrt(self, out: Template, x: Template, /) -> Kernel:
        """Square root, rounded to nearest. On the CPU NumPy computes it, because PyTorch's, which is MKL's, is an ulp
        off for some elements, such as 0.5."""
        root = _root_by_numpy if self.place.type == "cpu" and x.dtype in (float32, float64) else _root
        return kernel_of(root.__get__(self), out, x)

    sqrt.__numpy__ = "float32 and float64"  # type: ignore[attr-defined]

    # Conversion

    @kernel_planned(unsigned="own")
    def as_type(self, out: Template, x: Template) -> Function:
        """The values in `out.dtype`."""
        source, target = x.dtype, out.dtype
        if source.is_floating and target.is_floating and (source.bits, target.bits) in ((32, 64), (64, 32)):
            dtype = torch_dtype(target)
            return lambda values: values.to(dtype)
        return lambda values: cast(values, source, target)

    @planned
    def bitcast(self, out: Template, x: Template, /) -> Kernel:
        """The same bits as a view."""
        dtype = torch_dtype(out.dtype)
        return lambda values: values.view(dtype)

    # Functions of one element

    @kernel_planned(unsigned="own")
    def abs(self, out: Template, x: Template) -> Function | Fitting:
        """Absolute value, of a complex number its magnitude."""
        if x.dtype.is_complex:
            return lambda values: complex_functions.magnitude(values.to(torch.complex128))
        return (lambda values: values) if out.dtype.kind == "uint" else Fitting(torch.abs)

    @kernel(narrow="float64")
    def cbrt(self, out: Template, x: Array) -> Array:
        """Real cube root: a power, and a step of Newton's method."""
        size = torch.abs(x)
        root = torch.pow(size, 1 / 3)
        better = root - (root - size / (root * root)) / 3
        return torch.copysign(torch.where(torch.isfinite(root) & (root != 0), better, root), x)

    @kernel(unsigned="bits")
    def count_leading_zeros(self, out: Template, x: Array) -> Array:
        """The width, less the number of bits from the highest one down."""
        width = out.dtype.bits
        bits = _as_bits(x)
        for distance in (1, 2, 4, 8, 16, 32):
            if distance < width:
                bits = bits | integers.shifted_right(bits, distance)  # ends as ones from the highest one down
        return from_int64(width - integers.bit_count(bits), out.dtype)

    @kernel(unsigned="bits")
    def population_count(self, out: Template, x: Array) -> Array:
        """Number of one bits, a negative integer's in two's complement."""
        return from_int64(integers.bit_count(_as_bits(x)), out.dtype)

    @kernel(unsigned="bits")
    def sign(self, out: Template, x: Array) -> Array:
        """The sign, 0.0 for both zeros; complex numbers are divided by their magnitude."""
        if x.is_complex():
            return complex_functions.sign(x)
        if out.dtype in UNSIGNED:
            return (x != 0).to(x.dtype)
        signs = torch.sign(x)
        if not x.is_floating_point() or not x.numel() or not torch.isnan(torch.amin(x)):
            return signs
        return torch.where(torch.isnan(x), x, signs)

    # Functions of two elements

    @kernel(unsigned="own", narrow="float64")
    def floor_divide(self, out: Template, x1: Array, x2: Array) -> Array:
        """Floor of the quotient; the quotient itself if an operand is infinite (Array API standard)."""
        if out.dtype.is_integer:
            return _divided(integers.floor_divide, 0, out, x1, x2)
        infinite = torch.isinf(x1) | torch.isinf(x2)
        return torch.where(infinite, x1 / x2, torch.floor_divide(x1, x2))

    @kernel(unsigned="own", narrow="float64")
    def remainder(self, out: Template, x1: Array, x2: Array) -> Array:
        """Remainder with the sign of the divisor, also if it is zero."""
        if out.dtype.is_integer:
            return _divided(integers.remainder, 1, out, x1, x2)
        # PyTorch's vector loop returns NaN if x1 / x2 overflows, so first reduce x1 by a multiple of x2.
        multiple = torch.where(torch.abs(x2) < 1, x2 * 2.0**1000, x2)
        remainder = torch.remainder(torch.fmod(x1, multiple), x2)
        return torch.where(remainder == 0, torch.copysign(torch.zeros_like(remainder), x2), remainder)

    @kernel(unsigned="own")
    def quotient(self, out: Template, x1: Array, x2: Array) -> Array:
        """The quotient rounded to zero."""
        return _divided(integers.quotient, 0, out, x1, x2)

    @kernel(unsigned="own", narrow="float32")
    def pow(self, out: Template, x1: Array, x2: Array) -> Array:
        """Power; for integers with a negative exponent, 1 / x1**-x2 rounded to zero."""
        if out.dtype.is_complex:
            return complex_functions.power(x1, x2)
        if out.dtype.is_floating:
            return torch.pow(x1, x2.expand(out.shape))  # for a scalar exponent PyTorch uses roots and products
        base, exponent = as_int64(x1, out.dtype), as_int64(x2, out.dtype)
        if out.dtype.kind == "uint":
            return from_int64(integers.power(base, exponent), out.dtype)
        negative = exponent < 0
        powers = integers.power(base, torch.where(negative, -exponent & 1, exponent))
        # Only -1 and 1 have a reciprocal that does not round to zero, and they are their own.
        return from_int64(torch.where(negative & (torch.abs(base) != 1), 0, powers), out.dtype)

    @kernel(unsigned="bits")
    def left_shift(self, out: Template, x1: Array, x2: Array) -> Array:
        """x1 shifted left."""
        inside = (x2 >= 0) & (x2 < out.dtype.bits)
        return torch.where(inside, x1 << torch.where(inside, x2, 0), 0)

    @kernel(unsigned="own")
    def right_shift(self, out: Template, x1: Array, x2: Array) -> Array:
        """x1 shifted right; the sign is kept."""
        values, amount = as_int64(x1, out.dtype), as_int64(x2, out.dtype)
        inside = (amount >= 0) & (amount < out.dtype.bits)
        if out.dtype.kind == "int":
            return from_int64(values >> torch.where(inside, amount, out.dtype.bits - 1), out.dtype)
        # Shift by one place first, moving a zero in: int64 would treat the highest bit of uint64 as its sign.
        amount = torch.where(inside, amount, 0)
        moved = integers.shifted_right(values, 1) >> (amount - 1).clamp(min=0)
        return from_int64(torch.where(inside, torch.where(amount == 0, values, moved), 0), out.dtype)

    @kernel(unsigned="order")
    def max(self, out: Template, x1: Array, x2: Array) -> Array:
        """The greater one; NaN wins, and 0.0 is above -0.0."""
        return extremes.maximum(x1, x2)

    @kernel(unsigned="order")
    def min(self, out: Template, x1: Array, x2: Array) -> Array:
        """The lesser one; NaN wins, and -0.0 is below 0.0."""
        return extremes.minimum(x1, x2)

    # Functions of three elements

    @kernel(unsigned="order")
    def clip(self, out: Template, x: Array, low: Array, high: Array) -> Array:
        """min(max(x, low), high)."""
        return extremes.clip(x, low, high)

    @kernel_planned(unsigned="bits")
    def select(self, out: Template, condition: Template, x1: Template, x2: Template) -> Fitting:
        """x1 where the condition holds, else x2."""
        return Fitting(torch.where)

    # Overrides of composites

    @kernel(unsigned="bits")
    def logical_not(self, out: Template, x: Array) -> Array:
        """Whether x is zero."""
        return x == 0

    @kernel(unsigned="own")
    def logaddexp(self, out: Template, x1: Array, x2: Array) -> Array:
        """log(exp(x1) + exp(x2)) without overflow."""
        return torch.logaddexp(self.cast(x1, out), self.cast(x2, out))

    @kernel(unsigned="own")
    def copysign(self, out: Template, x1: Array, x2: Array) -> Array:
        """The magnitude of x1 with the sign of x2."""
        return torch.copysign(self.cast(x1, out), self.cast(x2, out))

    @kernel(unsigned="own")
    def hypot(self, out: Template, x1: Array, x2: Array) -> Array:
        """The root of the sum of squares."""
        left, right = self.cast(x1, out), self.cast(x2, out)
        infinite = torch.isinf(left) | torch.isinf(right)
        return torch.where(infinite, math.inf, complex_functions.length(left, right))


def _divided(function: Callable[..., Array], part: int, out: Template, x1: Array, x2: Array) -> Array:
    """A function of integers in int64; for uint64 the quotient or the rest, by its `part`."""
    left, right = as_int64(x1, out.dtype), as_int64(x2, out.dtype)
    if out.dtype is uint64:
        return integers.unsigned_divide(left, right)[part]
    return from_int64(function(left, right), out.dtype)


def _as_bits(x: Array) -> Array:
    """The bits of integers as int64, zeros above them."""
    bits = x.to(torch.int64)
    width = 8 * x.element_size()
    return bits & (1 << width) - 1 if width < 64 else bits
