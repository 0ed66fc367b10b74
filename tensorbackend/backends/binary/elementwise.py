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
from .storage import Columns, broadcast_bytes, cast, kernel, map_columns, store

Function = Callable[..., Any]


def unary_callback(real: Columns, compute: Columns | None = None) -> Any:
    """A callback of one tensor from a function of a real column, and one of a complex column if it differs."""

    @planned
    def callback(self: Backend, out: Template, x: Template, /) -> Kernel:
        return kernel(real if compute is None or not x.dtype.is_complex else compute, out, x)

    return callback


def unary(real: Function, safe: Function | None = None, compute: Columns | None = None) -> Any:
    """A callback of one tensor from a function of floats, its form that never raises, and one of a complex column."""
    return unary_callback(elementwise_function(real, safe), compute)


def elementwise_function(function: Function, safe: Function | None = None) -> Columns:
    """Turns a function of numbers into one of columns; a function that raises needs a `safe` form that does not."""
    return partial(map, function) if safe is None else partial(map_columns, function, safe)


def binary_callback(real: Columns, compute: Columns | None = None) -> Any:
    """A callback of two tensors from a function of real columns, and one of complex columns if it differs."""

    @planned
    def callback(self: Backend, out: Template, x1: Template, x2: Template, /) -> Kernel:
        return kernel(real if compute is None or not x1.dtype.is_complex else compute, out, x1, x2)

    return callback


def binary(real: Function, safe: Function | None = None, compute: Columns | None = None) -> Any:
    """A callback of two tensors from a function of two Python numbers, its form that never raises, and one of complex
    columns if it differs."""
    return binary_callback(elementwise_function(real, safe), compute)


def callback_by_kind(of_integers: Columns, of_floats: Columns, compute: Columns | None = None) -> Any:
    """A callback of two tensors from functions of columns: integers, floats and, if it differs, complex numbers."""

    @planned
    def callback(self: Backend, out: Template, x1: Template, x2: Template, /) -> Kernel:
        of_inexact = of_floats if compute is None or not x1.dtype.is_complex else compute
        return kernel(of_inexact if x1.dtype.is_inexact else of_integers, out, x1, x2)

    return callback


def promoting_override(real: Function, safe: Function | None = None, compute: Columns | None = None) -> Any:
    """An override of a composite: operands come in the dtypes that the caller gave, and are cast to the result's."""
    real_columns = elementwise_function(real, safe)

    def callback(self: Backend, out: Template, /, *inputs: Tensor) -> Payload:
        columns = [cast(x, out.dtype) for x in inputs]
        function = real_columns if compute is None or not out.dtype.is_complex else compute
        return kernel(function, out, *(x.template for x in columns))(*(x.data for x in columns))

    return callback


def bitwise_callback(function: Callable[[int, int], int]) -> Any:
    """A callback of two tensors of integers or bools from a function of bits."""

    def callback(self: Backend, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        data = [broadcast_bytes(x.data, x.template, out.shape) for x in (x1, x2)]
        if out.dtype is bool_:  # bools that were made elsewhere may have any bytes
            data = list(map(bits.truth, data))
        return bits.to_payload(function(*map(bits.to_integer, data)), out.nbytes)

    return callback


def rounding_callback(function: Callable[[float], int]) -> Any:
    """A callback that rounds floats, complex numbers by parts, and returns integers unchanged."""
    of_floats = unary_callback(
        columns.integral(function), elementwise_function(complex_scalars.round_parts(scalars.integral(function)))
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

    _magnitude = unary_callback(elementwise_function(builtins.abs), elementwise_function(complex_scalars.absolute))

    def abs(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        return bits.magnitude(x.data, x.dtype) if x.dtype.is_floating else self._magnitude(out, x)

    def conjugate(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        return bits.conjugate(x.data, x.dtype) if x.dtype.is_complex else x.data

    def imag(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        return bits.parts(x.data, out.dtype)[1] if x.dtype.is_complex else bytes(out.nbytes)

    _opposite = unary_callback(elementwise_function(operator.neg))

    def negate(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        return bits.negate(x.data, x.dtype) if x.dtype.is_inexact else self._opposite(out, x)

    def real(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        return bits.parts(x.data, out.dtype)[0] if x.dtype.is_complex else x.data

    acos = unary(math.acos, scalars.guard(math.acos, scalars.nan), complex_scalars.acos)
    acosh = unary(math.acosh, scalars.guard(math.acosh, scalars.nan), complex_scalars.acosh)
    asin = unary(math.asin, scalars.guard(math.asin, scalars.nan), complex_scalars.asin)
    asinh = unary(math.asinh, compute=complex_scalars.asinh)
    atan = unary(math.atan, compute=complex_scalars.atan)
    atanh = unary(math.atanh, scalars.atanh, complex_scalars.atanh)
    cbrt = unary(math.cbrt)
    cos = unary(math.cos, scalars.guard(math.cos, scalars.nan), complex_scalars.cos)
    cosh = unary(math.cosh, scalars.guard(math.cosh, lambda x: math.inf), complex_scalars.cosh)
    erf = unary(math.erf)
    erf_inv = unary(scalars.erf_inv)
    erfc = unary(math.erfc)
    exp = unary(math.exp, scalars.guard(math.exp, lambda x: math.inf), complex_scalars.exp)
    expm1 = unary(math.expm1, scalars.guard(math.expm1, lambda x: math.inf), complex_scalars.expm1)
    is_infinity = unary(math.isinf, compute=elementwise_function(cmath.isinf))
    is_nan = unary(math.isnan, compute=elementwise_function(cmath.isnan))
    log = unary(math.log, scalars.log, complex_scalars.log)
    log1p = unary(math.log1p, scalars.log1p, complex_scalars.log1p)
    rsqrt = unary_callback(columns.rsqrt)
    sigmoid = unary_callback(columns.sigmoid)
    sin = unary(math.sin, scalars.guard(math.sin, scalars.nan), complex_scalars.sin)
    sinh = unary(math.sinh, scalars.guard(math.sinh, lambda x: math.copysign(math.inf, x)), complex_scalars.sinh)
    sqrt = unary(math.sqrt, scalars.guard(math.sqrt, scalars.nan), complex_scalars.sqrt)
    tan = unary(math.tan, scalars.guard(math.tan, scalars.nan), complex_scalars.tan)
    tanh = unary(math.tanh, compute=complex_scalars.tanh)

    ceil = rounding_callback(math.ceil)
    floor = rounding_callback(math.floor)
    round = rounding_callback(builtins.round)
    sign = unary_callback(columns.sign, elementwise_function(complex_scalars.sign))

    def bitwise_not(self, out: Template, x: Tensor, /) -> Payload:
        """See the protocol."""
        return bits.negation(x.data) if x.dtype is bool_ else bits.invert(x.data)

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
    bitwise_and = bitwise_callback(operator.and_)
    bitwise_or = bitwise_callback(operator.or_)
    bitwise_xor = bitwise_callback(operator.xor)
    divide = binary(operator.truediv, scalars.divide, elementwise_function(complex_scalars.divide))
    equal = binary(operator.eq)
    floor_divide = callback_by_kind(columns.integer_floor_divide, columns.floor_divide)
    greater = binary(operator.gt)
    greater_equal = binary(operator.ge)
    left_shift = binary_callback(columns.left_shift)
    less = binary(operator.lt)
    less_equal = binary(operator.le)
    logical_and = bitwise_callback(operator.and_)
    logical_or = bitwise_callback(operator.or_)
    logical_xor = bitwise_callback(operator.xor)
    max = callback_by_kind(columns.integer_maximum, columns.maximum)
    min = callback_by_kind(columns.integer_minimum, columns.minimum)
    multiply = binary(operator.mul, compute=complex_scalars.multiply)
    not_equal = binary(operator.ne)
    pow = callback_by_kind(
        columns.integer_power,
        elementwise_function(math.pow, scalars.power),
        elementwise_function(complex_scalars.power),
    )
    quotient = callback_by_kind(columns.integer_quotient, elementwise_function(operator.truediv, scalars.divide))
    remainder = callback_by_kind(columns.integer_remainder, elementwise_function(operator.mod, scalars.remainder))
    right_shift = callback_by_kind(columns.right_shift, columns.right_shift)
    subtract = binary(operator.sub)

    # Overrides of composites

    hypot = promoting_override(math.hypot)
    log2 = promoting_override(math.log2, scalars.log2, complex_scalars.log2)
    log10 = promoting_override(math.log10, scalars.log10, complex_scalars.log10)
    logaddexp = promoting_override(scalars.logaddexp)
    is_finite = unary(math.isfinite, compute=elementwise_function(cmath.isfinite))

    trunc = rounding_callback(math.trunc)

    def copysign(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """See the op."""
        columns = (cast(x, out.dtype) for x in (x1, x2))
        data, of = (broadcast_bytes(x.data, x.template, out.shape) for x in columns)
        return bits.copy_signs(data, of, out.dtype)

    def logical_not(self, out: Template, x: Tensor, /) -> Payload:
        """See the op."""
        return bits.negation(cast(x, bool_).data)

    def signbit(self, out: Template, x: Tensor, /) -> Payload:
        """See the op."""
        return bits.sign_bits(x.data, x.dtype.itemsize)
