"""Elementwise callbacks on bytes: real numbers by `math`, complex ones by `cmath`."""

from __future__ import annotations

import builtins
import cmath
import math
import operator
from collections.abc import Callable
from typing import Any

from ...dtypes import DType, iinfo
from ...protocol import Backend, Payload
from ...template import Template
from ...tensor import Tensor
from . import complex_scalars, scalars
from .storage import broadcast_elements, cast, elements, mapped, store

Function = Callable[..., Any]


def unary(real: Function, safe: Function | None = None, compute: complex_scalars.Columns | None = None) -> Any:
    """A callback of one tensor from a function of floats, its form that never raises, and one of a complex column."""

    def callback(self: Backend, out: Template, x: Tensor, /) -> Payload:
        if compute is not None and x.dtype.is_complex:
            return store(compute(elements(x)), out.dtype)
        return store(mapped(real, safe or real, elements(x)), out.dtype)

    return callback


def each(function: Function) -> complex_scalars.Columns:
    """A function of complex numbers as one of columns."""
    return lambda *columns: list(map(function, *columns))


def binary(real: Function, compute: complex_scalars.Columns | None = None) -> Any:
    """A callback of two tensors from a function of two Python numbers, and one of complex columns if it differs."""

    def callback(self: Backend, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        columns = broadcast_elements(x1, out.shape), broadcast_elements(x2, out.shape)
        if compute is not None and x1.dtype.is_complex:
            return store(compute(*columns), out.dtype)
        return store(list(map(real, *columns)), out.dtype)

    return callback


def by_kind(of_integers: Function, of_floats: Function, compute: complex_scalars.Columns | None = None) -> Any:
    """A callback of two tensors whose function depends on the kind; that of integers gets the dtype too."""

    def callback(self: Backend, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        columns = broadcast_elements(x1, out.shape), broadcast_elements(x2, out.shape)
        dtype = x1.dtype
        if compute is not None and dtype.is_complex:
            return store(compute(*columns), out.dtype)
        if dtype.is_inexact:
            return store(list(map(of_floats, *columns)), out.dtype)
        return store([of_integers(a, b, dtype) for a, b in zip(*columns, strict=True)], out.dtype)

    return callback


def promoting(real: Function, safe: Function | None = None, compute: complex_scalars.Columns | None = None) -> Any:
    """An override of a composite: operands arrive as they were given and are brought to the result's dtype."""

    def callback(self: Backend, out: Template, /, *inputs: Tensor) -> Payload:
        columns = [broadcast_elements(cast(x, out.dtype), out.shape) for x in inputs]
        if compute is not None and out.dtype.is_complex:
            return store(compute(*columns), out.dtype)
        return store(mapped(real, safe or real, *columns), out.dtype)

    return callback


def _saturated(value: float, dtype: DType) -> int:
    limits = iinfo(dtype)
    if value != value:
        return 0
    return limits.max if value >= limits.max else limits.min if value <= limits.min else int(value)


def _left_shift(a: int, b: int, dtype: DType) -> int:
    return a << b if 0 <= b < dtype.bits else 0


def _right_shift(a: int, b: int, dtype: DType) -> int:
    return a >> min(b, dtype.bits) if b >= 0 else 0


class BinaryElementwise(Backend):
    """The family `protocol.elementwise`."""

    def as_type(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        values, dtype = elements(x), out.dtype
        if dtype.is_complex:
            return store(map(complex, values), dtype)
        if x.dtype.is_complex and dtype.kind != "bool":
            values = [value.real for value in values]
        if dtype.is_integer and x.dtype.is_inexact:
            return store([_saturated(value, dtype) for value in values], dtype)
        if dtype.is_floating and x.dtype.is_integer:
            return store(map(scalars.round_to_odd if dtype.bits < 64 else float, values), dtype)
        return store(values, dtype)

    def bitcast(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        return x.data

    def select(self, out: Template, condition: Tensor, x1: Tensor, x2: Tensor, /) -> Payload:
        """See the protocol."""
        columns = (broadcast_elements(x, out.shape) for x in (condition, x1, x2))
        return store([a if holds else b for holds, a, b in zip(*columns, strict=True)], out.dtype)

    def clip(self, out: Template, x: Tensor, min: Tensor, max: Tensor, /) -> Payload:
        """See the protocol."""
        values, low, high = (broadcast_elements(each, out.shape) for each in (x, min, max))
        floating = x.dtype.is_floating
        greater: Function = scalars.maximum if floating else builtins.max
        lesser: Function = scalars.minimum if floating else builtins.min
        return store([lesser(greater(*pair), most) for *pair, most in zip(values, low, high, strict=True)], out.dtype)

    abs = unary(abs, compute=each(complex_scalars.absolute))
    acos = unary(math.acos, scalars.guarded(math.acos, scalars.nan), complex_scalars.acos)
    acosh = unary(math.acosh, scalars.guarded(math.acosh, scalars.nan), complex_scalars.acosh)
    asin = unary(math.asin, scalars.guarded(math.asin, scalars.nan), complex_scalars.asin)
    asinh = unary(math.asinh, compute=complex_scalars.asinh)
    atan = unary(math.atan, compute=complex_scalars.atan)
    atanh = unary(math.atanh, scalars.atanh, complex_scalars.atanh)
    cbrt = unary(math.cbrt)
    conjugate = unary(lambda x: x, compute=each(lambda x: x.conjugate()))
    cos = unary(math.cos, scalars.guarded(math.cos, scalars.nan), complex_scalars.cos)
    cosh = unary(math.cosh, scalars.guarded(math.cosh, lambda x: math.inf), complex_scalars.cosh)
    erf = unary(math.erf)
    erf_inv = unary(scalars.erf_inv)
    erfc = unary(math.erfc)
    exp = unary(math.exp, scalars.guarded(math.exp, lambda x: math.inf), complex_scalars.exp)
    expm1 = unary(math.expm1, scalars.guarded(math.expm1, lambda x: math.inf), complex_scalars.expm1)
    imag = unary(lambda x: 0.0, compute=each(lambda x: x.imag))
    is_infinity = unary(math.isinf, compute=each(cmath.isinf))
    is_nan = unary(math.isnan, compute=each(cmath.isnan))
    log = unary(math.log, scalars.log, complex_scalars.log)
    log1p = unary(math.log1p, scalars.log1p, complex_scalars.log1p)
    negate = unary(operator.neg)
    real = unary(lambda x: x, compute=each(lambda x: x.real))
    rsqrt = unary(scalars.rsqrt)
    sigmoid = unary(scalars.sigmoid)
    sin = unary(math.sin, scalars.guarded(math.sin, scalars.nan), complex_scalars.sin)
    sinh = unary(math.sinh, scalars.guarded(math.sinh, lambda x: math.copysign(math.inf, x)), complex_scalars.sinh)
    sqrt = unary(math.sqrt, scalars.guarded(math.sqrt, scalars.nan), complex_scalars.sqrt)
    tan = unary(math.tan, scalars.guarded(math.tan, scalars.nan), complex_scalars.tan)
    tanh = unary(math.tanh, compute=complex_scalars.tanh)

    def _integral(self, function: Function, out: Template, x: Tensor) -> Payload:
        """Rounding leaves integers as they are."""
        if not x.dtype.is_inexact:
            return x.data
        return store(map(function, elements(x)), out.dtype)

    def ceil(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        return self._integral(scalars.integral(math.ceil), out, x)

    def floor(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        return self._integral(scalars.integral(math.floor), out, x)

    def round(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        nearest = scalars.integral(round)
        if x.dtype.is_complex:
            return self._integral(complex_scalars.round_parts(nearest), out, x)
        return self._integral(nearest, out, x)

    def sign(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        if x.dtype.is_complex:
            return store(map(complex_scalars.sign, elements(x)), out.dtype)
        if x.dtype.is_integer:
            return store([(value > 0) - (value < 0) for value in elements(x)], out.dtype)
        return store(map(scalars.sign, elements(x)), out.dtype)

    def bitwise_not(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        flip: Function = operator.not_ if x.dtype.kind == "bool" else operator.invert
        return store(map(flip, elements(x)), out.dtype)

    def count_leading_zeros(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        width = x.dtype.bits
        mask = (1 << width) - 1
        return store([width - (value & mask).bit_length() for value in elements(x)], out.dtype)

    def population_count(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        mask = (1 << x.dtype.bits) - 1
        return store([(value & mask).bit_count() for value in elements(x)], out.dtype)

    add = binary(operator.add)
    atan2 = binary(math.atan2)
    bitwise_and = binary(operator.and_)
    bitwise_or = binary(operator.or_)
    bitwise_xor = binary(operator.xor)
    divide = by_kind(operator.truediv, scalars.divide, each(complex_scalars.divide))
    equal = binary(operator.eq)
    floor_divide = by_kind(lambda a, b, dtype: a // b if b else 0, scalars.floor_divide)
    greater = binary(operator.gt)
    greater_equal = binary(operator.ge)
    left_shift = by_kind(_left_shift, _left_shift)
    less = binary(operator.lt)
    less_equal = binary(operator.le)
    logical_and = binary(operator.and_)
    logical_or = binary(operator.or_)
    logical_xor = binary(operator.xor)
    max = by_kind(lambda a, b, dtype: max(a, b), scalars.maximum)
    min = by_kind(lambda a, b, dtype: min(a, b), scalars.minimum)
    multiply = binary(operator.mul, compute=complex_scalars.multiply)
    not_equal = binary(operator.ne)
    pow = by_kind(
        lambda a, b, dtype: scalars.integer_power(a, b, dtype.bits), scalars.power, each(complex_scalars.power)
    )
    quotient = by_kind(lambda a, b, dtype: scalars.trunc_divide(a, b), scalars.divide)
    remainder = by_kind(lambda a, b, dtype: a % b if b else 0, scalars.remainder)
    right_shift = by_kind(_right_shift, _right_shift)
    subtract = binary(operator.sub)

    # Overrides of composites

    copysign = promoting(math.copysign)
    hypot = promoting(math.hypot)
    log2 = promoting(math.log2, scalars.log2, complex_scalars.log2)
    log10 = promoting(math.log10, scalars.log10, complex_scalars.log10)
    logaddexp = promoting(scalars.logaddexp)
    signbit = unary(lambda x: math.copysign(1.0, x) < 0)
    is_finite = unary(math.isfinite, compute=each(cmath.isfinite))
    logical_not = unary(operator.not_)

    def trunc(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        return self._integral(scalars.integral(math.trunc), out, x)
