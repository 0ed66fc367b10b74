"""Elementwise callbacks on bytes: real numbers by `math`, complex ones by `cmath`."""

from __future__ import annotations

import builtins
import cmath
import math
import operator
from collections.abc import Callable
from functools import partial
from itertools import repeat
from typing import Any

from ...dtypes import REAL_OF, bool_
from ...elements import unpack
from ...protocol import Backend, Payload
from ...template import Template
from ...tensor import Tensor
from . import bits, columns, complex_scalars, scalars
from .conversion import converted
from .storage import broadcast_bytes, broadcast_elements, cast, elements, mapped, store

Function = Callable[..., Any]


def of_column(real: Function, compute: Function | None = None) -> Any:
    """A callback of one tensor from a function of a real column, and one of a complex column if it differs."""

    def callback(self: Backend, out: Template, x: Tensor, /) -> Payload:
        function = real if compute is None or not x.dtype.is_complex else compute
        return store(function(elements(x)), out.dtype)

    return callback


def unary(real: Function, safe: Function | None = None, compute: Function | None = None) -> Any:
    """A callback of one tensor from a function of floats, its form that never raises, and one of a complex column."""
    return of_column(partial(mapped, real, safe or real), compute)


def each(function: Function) -> Function:
    """A function of complex numbers as one of columns."""
    return lambda *columns: list(map(function, *columns))


def binary(real: Function, safe: Function | None = None, compute: Function | None = None) -> Any:
    """A callback of two tensors from a function of two Python numbers, its form that never raises, and one of complex
    columns if it differs."""
    return of_columns(partial(mapped, real, safe or real), compute)


def of_columns(real: Function, compute: Function | None = None) -> Any:
    """A callback of two tensors from a function of real columns, and one of complex columns if it differs."""

    def callback(self: Backend, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        function = real if compute is None or not x1.dtype.is_complex else compute
        shape = out.shape
        return store(function(broadcast_elements(x1, shape), broadcast_elements(x2, shape)), out.dtype)

    return callback


def by_kind(of_integers: Function, of_floats: Function, compute: Function | None = None) -> Any:
    """A callback of two tensors from functions of columns; that of integers gets their width too."""
    inexact = of_columns(of_floats, compute)

    def callback(self: Backend, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        dtype = x1.dtype
        if dtype.is_inexact:
            return inexact(self, out, x1, x2)
        columns = broadcast_elements(x1, out.shape), broadcast_elements(x2, out.shape)
        return store(of_integers(*columns, dtype.bits), out.dtype)

    return callback


def promoting(real: Function, safe: Function | None = None, compute: Function | None = None) -> Any:
    """An override of a composite: operands arrive as they were given and are brought to the result's dtype."""

    def callback(self: Backend, out: Template, /, *inputs: Tensor) -> Payload:
        columns = [broadcast_elements(cast(x, out.dtype), out.shape) for x in inputs]
        if compute is not None and out.dtype.is_complex:
            return store(compute(*columns), out.dtype)
        return store(mapped(real, safe or real, *columns), out.dtype)

    return callback


def of_bits(function: Callable[[int, int], int]) -> Any:
    """A callback of two tensors of integers or bools from a function of bits."""

    def callback(self: Backend, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        data = [broadcast_bytes(x, out.shape) for x in (x1, x2)]
        if x1.dtype is bool_:  # whose bytes may be any where they were not made here
            data = [bits.truth(each, bool_) for each in data]
        return bits.as_bytes(function(*map(bits.as_integer, data)), out.nbytes)

    return callback


class BinaryElementwise(Backend):
    """The family `protocol.elementwise`."""

    def as_type(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        return converted(x.data, x.dtype, out.dtype)

    def bitcast(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        return x.data

    def select(self, out: Template, condition: Tensor, x1: Tensor, x2: Tensor, /) -> Payload:
        """See the protocol."""
        holds, first, second = (broadcast_bytes(x, out.shape) for x in (condition, x1, x2))
        return bits.chosen(holds, first, second, out.dtype.itemsize)

    def clip(self, out: Template, x: Tensor, min: Tensor, max: Tensor, /) -> Payload:
        """See the protocol."""
        values, low, high = (broadcast_elements(each, out.shape) for each in (x, min, max))
        if x.dtype.is_floating:
            return store(columns.minimum(columns.maximum(values, low), high), out.dtype)
        return store(map(builtins.min, map(builtins.max, values, low), high), out.dtype)

    def abs(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        if x.dtype.is_floating:
            return bits.magnitude(x.data, x.dtype)
        return store(map(complex_scalars.absolute if x.dtype.is_complex else builtins.abs, elements(x)), out.dtype)

    def conjugate(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        return bits.conjugated(x.data, x.dtype) if x.dtype.is_complex else x.data

    def imag(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        return bits.parts(x.data, out.dtype)[1] if x.dtype.is_complex else bytes(out.nbytes)

    def negate(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        return bits.negated(x.data, x.dtype) if x.dtype.is_inexact else store(map(operator.neg, elements(x)), out.dtype)

    def real(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        return bits.parts(x.data, out.dtype)[0] if x.dtype.is_complex else x.data

    acos = unary(math.acos, scalars.guarded(math.acos, scalars.nan), complex_scalars.acos)
    acosh = unary(math.acosh, scalars.guarded(math.acosh, scalars.nan), complex_scalars.acosh)
    asin = unary(math.asin, scalars.guarded(math.asin, scalars.nan), complex_scalars.asin)
    asinh = unary(math.asinh, compute=complex_scalars.asinh)
    atan = unary(math.atan, compute=complex_scalars.atan)
    atanh = unary(math.atanh, scalars.atanh, complex_scalars.atanh)
    cbrt = unary(math.cbrt)
    cos = unary(math.cos, scalars.guarded(math.cos, scalars.nan), complex_scalars.cos)
    cosh = unary(math.cosh, scalars.guarded(math.cosh, lambda x: math.inf), complex_scalars.cosh)
    erf = unary(math.erf)
    erf_inv = unary(scalars.erf_inv)
    erfc = unary(math.erfc)
    exp = unary(math.exp, scalars.guarded(math.exp, lambda x: math.inf), complex_scalars.exp)
    expm1 = unary(math.expm1, scalars.guarded(math.expm1, lambda x: math.inf), complex_scalars.expm1)
    is_infinity = unary(math.isinf, compute=each(cmath.isinf))
    is_nan = unary(math.isnan, compute=each(cmath.isnan))
    log = unary(math.log, scalars.log, complex_scalars.log)
    log1p = unary(math.log1p, scalars.log1p, complex_scalars.log1p)
    rsqrt = of_column(columns.rsqrt)
    sigmoid = of_column(columns.sigmoid)
    sin = unary(math.sin, scalars.guarded(math.sin, scalars.nan), complex_scalars.sin)
    sinh = unary(math.sinh, scalars.guarded(math.sinh, lambda x: math.copysign(math.inf, x)), complex_scalars.sinh)
    sqrt = unary(math.sqrt, scalars.guarded(math.sqrt, scalars.nan), complex_scalars.sqrt)
    tan = unary(math.tan, scalars.guarded(math.tan, scalars.nan), complex_scalars.tan)
    tanh = unary(math.tanh, compute=complex_scalars.tanh)

    def _integral(self, function: Function, out: Template, x: Tensor) -> Payload:
        """Rounding leaves integers as they are."""
        if not x.dtype.is_inexact:
            return x.data
        return store(function(elements(x)), out.dtype)

    def ceil(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        return self._integral(columns.integral(math.ceil), out, x)

    def floor(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        return self._integral(columns.integral(math.floor), out, x)

    def round(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        nearest = columns.integral(round)
        if x.dtype.is_complex:
            part = REAL_OF[x.dtype]
            return store(nearest(unpack(x.data, part)), part)
        return self._integral(nearest, out, x)

    sign = of_column(columns.sign, each(complex_scalars.sign))

    def bitwise_not(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        return bits.negation(x.data) if x.dtype is bool_ else bits.inverted(x.data)

    def count_leading_zeros(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        width = x.dtype.bits
        lengths = map(int.bit_length, unpack(x.data, bits.UNSIGNED[width]))
        return store(map(operator.sub, repeat(width), lengths), out.dtype)

    def population_count(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        return store(map(int.bit_count, unpack(x.data, bits.UNSIGNED[x.dtype.bits])), out.dtype)

    add = binary(operator.add)
    atan2 = binary(math.atan2)
    bitwise_and = of_bits(operator.and_)
    bitwise_or = of_bits(operator.or_)
    bitwise_xor = of_bits(operator.xor)
    divide = binary(operator.truediv, scalars.divide, each(complex_scalars.divide))
    equal = binary(operator.eq)
    floor_divide = by_kind(columns.integer_floor_divide, columns.floor_divide)
    greater = binary(operator.gt)
    greater_equal = binary(operator.ge)
    left_shift = by_kind(columns.left_shift, columns.left_shift)
    less = binary(operator.lt)
    less_equal = binary(operator.le)
    logical_and = of_bits(operator.and_)
    logical_or = of_bits(operator.or_)
    logical_xor = of_bits(operator.xor)
    max = by_kind(lambda left, right, bits: map(max, left, right), columns.maximum)
    min = by_kind(lambda left, right, bits: map(min, left, right), columns.minimum)
    multiply = binary(operator.mul, compute=complex_scalars.multiply)
    not_equal = binary(operator.ne)
    pow = by_kind(columns.integer_power, partial(mapped, math.pow, scalars.power), each(complex_scalars.power))
    quotient = by_kind(columns.integer_quotient, partial(mapped, operator.truediv, scalars.divide))
    remainder = by_kind(columns.integer_remainder, partial(mapped, operator.mod, scalars.remainder))
    right_shift = by_kind(columns.right_shift, columns.right_shift)
    subtract = binary(operator.sub)

    # Overrides of composites

    hypot = promoting(math.hypot)
    log2 = promoting(math.log2, scalars.log2, complex_scalars.log2)
    log10 = promoting(math.log10, scalars.log10, complex_scalars.log10)
    logaddexp = promoting(scalars.logaddexp)
    is_finite = unary(math.isfinite, compute=each(cmath.isfinite))

    def copysign(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """See the op."""
        data, of = (broadcast_bytes(cast(x, out.dtype), out.shape) for x in (x1, x2))
        return bits.with_signs(data, of, out.dtype)

    def logical_not(self, out: Template, x: Tensor, /) -> Payload:
        """See the op."""
        return bits.negation(bits.truth(x.data, x.dtype))

    def signbit(self, out: Template, x: Tensor, /) -> Payload:
        """See the op."""
        return bits.sign_bits(x.data, x.dtype.itemsize)

    def trunc(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        return self._integral(columns.integral(math.trunc), out, x)
