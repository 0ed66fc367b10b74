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

from ...dtypes import bool_
from ...dtypes.packing import unpack
from ...protocol import Backend, Kernel, Payload, planned
from ...template import Template
from ...tensor import Tensor
from . import bits, columns, complex_scalars, scalars
from .conversion import conversion
from .storage import Columns, broadcast_bytes, cast, kernel, mapped, store

Function = Callable[..., Any]


def of_column(real: Columns, compute: Columns | None = None) -> Any:
    """A callback of one tensor from a function of a real column, and one of a complex column if it differs."""

    @planned
    def callback(self: Backend, out: Template, x: Template, /) -> Kernel:
        return kernel(real if compute is None or not x.dtype.is_complex else compute, out, x)

    return callback


def unary(real: Function, safe: Function | None = None, compute: Columns | None = None) -> Any:
    """A callback of one tensor from a function of floats, its form that never raises, and one of a complex column."""
    return of_column(by_element(real, safe), compute)


def by_element(function: Function, safe: Function | None = None) -> Columns:
    """Turns a function of numbers into one of columns; a function that raises needs a `safe` form that does not."""
    return partial(map, function) if safe is None else partial(mapped, function, safe)


def of_columns(real: Columns, compute: Columns | None = None) -> Any:
    """A callback of two tensors from a function of real columns, and one of complex columns if it differs."""

    @planned
    def callback(self: Backend, out: Template, x1: Template, x2: Template, /) -> Kernel:
        return kernel(real if compute is None or not x1.dtype.is_complex else compute, out, x1, x2)

    return callback


def binary(real: Function, safe: Function | None = None, compute: Columns | None = None) -> Any:
    """A callback of two tensors from a function of two Python numbers, its form that never raises, and one of complex
    columns if it differs."""
    return of_columns(by_element(real, safe), compute)


def by_kind(of_integers: Columns, of_floats: Columns, compute: Columns | None = None) -> Any:
    """A callback of two tensors from functions of columns: integers, floats and, if it differs, complex numbers."""

    @planned
    def callback(self: Backend, out: Template, x1: Template, x2: Template, /) -> Kernel:
        of_inexact = of_floats if compute is None or not x1.dtype.is_complex else compute
        return kernel(of_inexact if x1.dtype.is_inexact else of_integers, out, x1, x2)

    return callback


def promoting(real: Function, safe: Function | None = None, compute: Columns | None = None) -> Any:
    """An override of a composite: operands come in the dtypes that the caller gave, and are cast to the result's."""
    real_columns = by_element(real, safe)

    def callback(self: Backend, out: Template, /, *inputs: Tensor) -> Payload:
        columns = [cast(x, out.dtype) for x in inputs]
        function = real_columns if compute is None or not out.dtype.is_complex else compute
        return kernel(function, out, *(x.template for x in columns))(*(x.data for x in columns))

    return callback


def of_bits(function: Callable[[int, int], int]) -> Any:
    """A callback of two tensors of integers or bools from a function of bits."""

    def callback(self: Backend, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        data = [broadcast_bytes(x.data, x.template, out.shape) for x in (x1, x2)]
        if out.dtype is bool_:  # bools that were made elsewhere may have any bytes
            data = list(map(bits.truth, data))
        return bits.as_bytes(function(*map(bits.as_integer, data)), out.nbytes)

    return callback


def rounding(function: Callable[[float], int]) -> Any:
    """A callback that rounds floats, complex numbers by parts, and leaves integers as they are."""
    of_floats = of_column(
        columns.integral(function), by_element(complex_scalars.round_parts(scalars.integral(function)))
    )

    def callback(self: Backend, out: Template, x: Tensor, /) -> Payload:
        return of_floats(self, out, x) if x.dtype.is_inexact else x.data

    return callback


class BinaryElementwise(Backend):
    """The family `protocol.elementwise`."""

    @planned
    def as_type(self, out: Template, x: Template, /) -> Kernel:
        """See the protocol."""
        return conversion(out, x)

    def bitcast(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        return x.data

    def select(self, out: Template, condition: Tensor, x1: Tensor, x2: Tensor, /) -> Payload:
        """See the protocol."""
        holds, first, second = (broadcast_bytes(x.data, x.template, out.shape) for x in (condition, x1, x2))
        return bits.chosen(holds, first, second, out.dtype.itemsize)

    @planned
    def clip(self, out: Template, x: Template, min: Template, max: Template, /) -> Kernel:
        """See the protocol."""
        return kernel(columns.clip if x.dtype.is_floating else columns.integer_clip, out, x, min, max)

    _magnitude = of_column(by_element(builtins.abs), by_element(complex_scalars.absolute))

    def abs(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        return bits.magnitude(x.data, x.dtype) if x.dtype.is_floating else self._magnitude(out, x)

    def conjugate(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        return bits.conjugated(x.data, x.dtype) if x.dtype.is_complex else x.data

    def imag(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        return bits.parts(x.data, out.dtype)[1] if x.dtype.is_complex else bytes(out.nbytes)

    _opposite = of_column(by_element(operator.neg))

    def negate(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        return bits.negated(x.data, x.dtype) if x.dtype.is_inexact else self._opposite(out, x)

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
    is_infinity = unary(math.isinf, compute=by_element(cmath.isinf))
    is_nan = unary(math.isnan, compute=by_element(cmath.isnan))
    log = unary(math.log, scalars.log, complex_scalars.log)
    log1p = unary(math.log1p, scalars.log1p, complex_scalars.log1p)
    rsqrt = of_column(columns.rsqrt)
    sigmoid = of_column(columns.sigmoid)
    sin = unary(math.sin, scalars.guarded(math.sin, scalars.nan), complex_scalars.sin)
    sinh = unary(math.sinh, scalars.guarded(math.sinh, lambda x: math.copysign(math.inf, x)), complex_scalars.sinh)
    sqrt = unary(math.sqrt, scalars.guarded(math.sqrt, scalars.nan), complex_scalars.sqrt)
    tan = unary(math.tan, scalars.guarded(math.tan, scalars.nan), complex_scalars.tan)
    tanh = unary(math.tanh, compute=complex_scalars.tanh)

    ceil = rounding(math.ceil)
    floor = rounding(math.floor)
    round = rounding(builtins.round)
    sign = of_column(columns.sign, by_element(complex_scalars.sign))

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
    divide = binary(operator.truediv, scalars.divide, by_element(complex_scalars.divide))
    equal = binary(operator.eq)
    floor_divide = by_kind(columns.integer_floor_divide, columns.floor_divide)
    greater = binary(operator.gt)
    greater_equal = binary(operator.ge)
    left_shift = of_columns(columns.left_shift)
    less = binary(operator.lt)
    less_equal = binary(operator.le)
    logical_and = of_bits(operator.and_)
    logical_or = of_bits(operator.or_)
    logical_xor = of_bits(operator.xor)
    max = by_kind(columns.integer_maximum, columns.maximum)
    min = by_kind(columns.integer_minimum, columns.minimum)
    multiply = binary(operator.mul, compute=complex_scalars.multiply)
    not_equal = binary(operator.ne)
    pow = by_kind(columns.integer_power, by_element(math.pow, scalars.power), by_element(complex_scalars.power))
    quotient = by_kind(columns.integer_quotient, by_element(operator.truediv, scalars.divide))
    remainder = by_kind(columns.integer_remainder, by_element(operator.mod, scalars.remainder))
    right_shift = by_kind(columns.right_shift, columns.right_shift)
    subtract = binary(operator.sub)

    # Overrides of composites

    hypot = promoting(math.hypot)
    log2 = promoting(math.log2, scalars.log2, complex_scalars.log2)
    log10 = promoting(math.log10, scalars.log10, complex_scalars.log10)
    logaddexp = promoting(scalars.logaddexp)
    is_finite = unary(math.isfinite, compute=by_element(cmath.isfinite))

    trunc = rounding(math.trunc)

    def copysign(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """See the op."""
        columns = (cast(x, out.dtype) for x in (x1, x2))
        data, of = (broadcast_bytes(x.data, x.template, out.shape) for x in columns)
        return bits.with_signs(data, of, out.dtype)

    def logical_not(self, out: Template, x: Tensor, /) -> Payload:
        """See the op."""
        return bits.negation(cast(x, bool_).data)

    def signbit(self, out: Template, x: Tensor, /) -> Payload:
        """See the op."""
        return bits.sign_bits(x.data, x.dtype.itemsize)
