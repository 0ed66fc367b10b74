"""Elementwise callbacks on bytes: real numbers by `math`, complex ones by `cmath`."""

from __future__ import annotations

import cmath
import math
import operator
from collections.abc import Callable
from typing import Any

from ...dtypes import DType, iinfo
from ...protocol import Backend, Payload
from ...template import Template
from ...tensor import Tensor
from . import scalars
from .storage import broadcast_elements, elements, mapped, store

Function = Callable[..., Any]


def unary(real: Function, safe: Function | None = None, compute: Function | None = None) -> Any:
    """A callback of one tensor from a function of floats, its form that never raises, and a complex one."""

    def callback(self: Backend, out: Template, x: Tensor, /) -> Payload:
        if x.dtype.is_complex:
            if compute is None:
                raise TypeError(f"no complex form of {real.__name__}")
            return store(mapped(compute, _complex_safe(compute), elements(x)), out.dtype)
        return store(mapped(real, safe or real, elements(x)), out.dtype)

    return callback


def _complex_safe(function: Function) -> Function:
    def safe(x: complex) -> complex:
        try:
            return complex(function(x))
        except (OverflowError, ValueError, ZeroDivisionError):
            return complex(math.nan, math.nan)

    return safe


def binary(real: Function, safe: Function | None = None) -> Any:
    """A callback of two tensors from a function of two Python numbers and its form that never raises."""

    def callback(self: Backend, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        columns = broadcast_elements(x1, out.shape), broadcast_elements(x2, out.shape)
        return store(mapped(real, safe or real, *columns), out.dtype)

    return callback


def by_kind(of_integers: Function, of_floats: Function, of_complex: Function | None = None) -> Any:
    """A callback of two tensors whose function depends on the kind; that of integers gets the dtype too."""

    def callback(self: Backend, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        columns = broadcast_elements(x1, out.shape), broadcast_elements(x2, out.shape)
        dtype = x1.dtype
        if dtype.is_inexact:
            function = of_complex if dtype.is_complex and of_complex else of_floats
            return store(list(map(function, *columns)), out.dtype)
        return store([of_integers(a, b, dtype) for a, b in zip(*columns, strict=True)], out.dtype)

    return callback


def _complex_divide(a: complex, b: complex) -> complex:
    try:
        return a / b
    except (ZeroDivisionError, OverflowError):
        return complex(scalars.divide(a.real, abs(b)), scalars.divide(a.imag, abs(b)))


def _complex_power(a: complex, b: complex) -> complex:
    try:
        return a**b
    except (ZeroDivisionError, OverflowError):
        return complex(math.nan, math.nan)


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
        return store(values, dtype)

    def bitcast(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        return x.data

    def select(self, out: Template, condition: Tensor, x1: Tensor, x2: Tensor, /) -> Payload:
        """See the protocol."""
        columns = (broadcast_elements(x, out.shape) for x in (condition, x1, x2))
        return store([a if holds else b for holds, a, b in zip(*columns, strict=True)], out.dtype)

    abs = unary(abs, compute=abs)
    acos = unary(math.acos, scalars.guarded(math.acos, scalars.nan), cmath.acos)
    acosh = unary(math.acosh, scalars.guarded(math.acosh, scalars.nan), cmath.acosh)
    asin = unary(math.asin, scalars.guarded(math.asin, scalars.nan), cmath.asin)
    asinh = unary(math.asinh, compute=cmath.asinh)
    atan = unary(math.atan, compute=cmath.atan)
    atanh = unary(math.atanh, scalars.atanh, cmath.atanh)
    cbrt = unary(math.cbrt)
    conjugate = unary(lambda x: x, compute=lambda x: x.conjugate())
    cos = unary(math.cos, scalars.guarded(math.cos, scalars.nan), cmath.cos)
    cosh = unary(math.cosh, scalars.guarded(math.cosh, lambda x: math.inf), cmath.cosh)
    erf = unary(math.erf)
    erf_inv = unary(scalars.erf_inv)
    erfc = unary(math.erfc)
    exp = unary(math.exp, scalars.guarded(math.exp, lambda x: math.inf), cmath.exp)
    expm1 = unary(math.expm1, scalars.guarded(math.expm1, lambda x: math.inf), lambda x: cmath.exp(x) - 1)
    imag = unary(lambda x: 0.0, compute=lambda x: x.imag)
    is_infinity = unary(math.isinf, compute=cmath.isinf)
    is_nan = unary(math.isnan, compute=cmath.isnan)
    log = unary(math.log, scalars.log, lambda x: cmath.log(x) if x else complex(-math.inf, cmath.phase(x)))
    log1p = unary(math.log1p, scalars.log1p, lambda x: cmath.log(1 + x))
    negate = unary(operator.neg, compute=operator.neg)
    real = unary(lambda x: x, compute=lambda x: x.real)
    rsqrt = unary(scalars.rsqrt)
    sigmoid = unary(scalars.sigmoid)
    sin = unary(math.sin, scalars.guarded(math.sin, scalars.nan), cmath.sin)
    sinh = unary(math.sinh, scalars.guarded(math.sinh, lambda x: math.copysign(math.inf, x)), cmath.sinh)
    sqrt = unary(math.sqrt, scalars.guarded(math.sqrt, scalars.nan), cmath.sqrt)
    tan = unary(math.tan, scalars.guarded(math.tan, scalars.nan), cmath.tan)
    tanh = unary(math.tanh, compute=cmath.tanh)

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
            return self._integral(lambda z: complex(nearest(z.real), nearest(z.imag)), out, x)
        return self._integral(nearest, out, x)

    def sign(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        if x.dtype.is_complex:
            return store([z / abs(z) if z else z for z in elements(x)], out.dtype)
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
    divide = by_kind(operator.truediv, scalars.divide, _complex_divide)
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
    multiply = binary(operator.mul)
    not_equal = binary(operator.ne)
    pow = by_kind(lambda a, b, dtype: scalars.integer_power(a, b, dtype.bits), scalars.power, _complex_power)
    quotient = by_kind(lambda a, b, dtype: scalars.trunc_divide(a, b), scalars.divide)
    remainder = by_kind(lambda a, b, dtype: a % b if b else 0, scalars.remainder)
    right_shift = by_kind(_right_shift, _right_shift)
    subtract = binary(operator.sub)
