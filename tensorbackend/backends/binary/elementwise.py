"""Elementwise callbacks on bytes: real numbers by `math`, complex ones by `cmath`."""

from __future__ import annotations

import builtins
import cmath
import math
import operator
import struct
from collections.abc import Callable
from functools import lru_cache, partial
from itertools import repeat
from typing import Any

from ...caching.memos import remembers_calls
from ...dtypes import REAL_OF, DType, bool_, float64, iinfo
from ...dtypes.packing import unpack, writer
from ...protocol import Backend, Kernel, Payload, planned
from ...template import Template
from ...tensor import Tensor
from . import bits, columns, complex_scalars, scalars
from .storage import Column, Columns, broadcast_bytes, cast, kernel, map_columns, store

_EXACT = 1 << 53
"""The integer up to which float64 holds every integer."""


@lru_cache(maxsize=2048)
def conversion(out: Template, x: Template) -> Callable[[bytes], bytes]:
    """The kernel of `as_type`: a function that casts a payload from the dtype of `x` to the dtype of `out`."""
    source, target = x.dtype, out.dtype
    if source.is_complex and target is not bool_:
        part = REAL_OF[source]
        if not target.is_complex:
            of_real = conversion(out, x.replace(dtype=part))
            return lambda data: of_real(bits.parts(data, part)[0])
        shape, names = (2, *x.shape), (None,) * (x.ndim + 1)
        parts = (Template(shape, dtype, names) for dtype in (REAL_OF[target], part))
        return conversion(*parts)
    if target.is_complex:
        part = REAL_OF[target]
        to_part = conversion(out.replace(dtype=part), x)
        return lambda data: bits.add_imaginary_zeros(to_part(data), part)
    if source.is_integer and target.is_integer and target.bits <= source.bits:
        return lambda data: bits.cut(data, source.itemsize, target.itemsize)
    if (source.is_inexact or source.kind == "float") and target.kind in ("int", "uint"):
        return kernel(_identity, out, x, storing=_saturating_store)
    if target.is_narrow:
        return kernel(_identity, out, x)
    narrows = source.is_integer and target.is_floating and source.bits > float64.mantissa_bits > target.mantissa_bits
    return kernel(_sticky if narrows else _identity, out, x)


remembers_calls("kernels of BinaryBackend", kernel, conversion)


def _identity(values: Column) -> Column:
    return values


def _saturating_store(dtype: DType, count: int) -> Callable[..., bytes]:
    """Stores floats as integers: a number beyond a limit as that limit, NaN as 0."""
    write, limits = writer(dtype, count), iinfo(dtype)
    low, high = limits.min, limits.max

    def clipped(*values: float) -> bytes:
        return write(
            *[
                math.trunc(value) if low < value < high else high if value >= high else low if value <= low else 0
                for value in values
            ]
        )

    def store(*values: float) -> bytes:
        try:
            return write(*map(math.trunc, values))
        except (ValueError, OverflowError, struct.error):
            return clipped(*values)

    return clipped if dtype.is_narrow else store  # integers of narrow dtypes wrap, and raise nothing


def _sticky(values: Column) -> Column:
    """Round integers to odd where float64 cannot hold them, so that rounding again to a narrower float is right."""
    if min(values, default=0) >= -_EXACT and max(values, default=0) <= _EXACT:
        return values
    return list(map(scalars.round_to_odd, values))


Function = Callable[..., Any]


def columns_callback(real: Columns, compute: Columns | None = None, integers: Columns | None = None) -> Any:
    """A callback from a function of real columns, and one of complex columns or of integers where it differs."""

    @planned
    def callback(self: Backend, out: Template, /, *inputs: Template) -> Kernel:
        dtype = inputs[0].dtype
        function = compute if dtype.is_complex else None if dtype.is_inexact else integers
        return kernel(function or real, out, *inputs)

    return callback


def elementwise(real: Function, safe: Function | None = None, compute: Columns | None = None) -> Any:
    """A callback from a function of Python numbers, its form that never raises, and one of complex columns if it
    differs."""
    return columns_callback(elementwise_function(real, safe), compute)


def elementwise_function(function: Function, safe: Function | None = None) -> Columns:
    """Turns a function of numbers into one of columns; a function that raises needs a `safe` form that does not."""
    return partial(map, function) if safe is None else partial(map_columns, function, safe)


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
    of_floats = columns_callback(
        columns.integral(function), elementwise_function(complex_scalars.round_parts(scalars.integral(function)))
    )

    def callback(self: Backend, out: Template, x: Tensor, /) -> Payload:
        return of_floats(self, out, x) if x.dtype.is_inexact else x.data

    return callback


class BinaryElementwise(Backend):
    """The family `protocol.elementwise`."""

    @planned
    def as_type(self, out: Template, x: Template, /) -> Kernel:
        return conversion(out, x)

    def bitcast(self, out: Template, x: Tensor, /) -> Payload:
        return x.data

    def select(self, out: Template, condition: Tensor, x1: Tensor, x2: Tensor, /) -> Payload:
        holds, first, second = (broadcast_bytes(x.data, x.template, out.shape) for x in (condition, x1, x2))
        return bits.chosen(holds, first, second, out.dtype.itemsize)

    @planned
    def clip(self, out: Template, x: Template, min: Template, max: Template, /) -> Kernel:
        return kernel(columns.clip if x.dtype.is_floating else columns.integer_clip, out, x, min, max)

    _magnitude = columns_callback(elementwise_function(builtins.abs), elementwise_function(complex_scalars.absolute))

    def abs(self, out: Template, x: Tensor, /) -> Payload:
        return bits.magnitude(x.data, x.dtype) if x.dtype.is_floating else self._magnitude(out, x)

    def conjugate(self, out: Template, x: Tensor, /) -> Payload:
        return bits.conjugate(x.data, x.dtype) if x.dtype.is_complex else x.data

    def imag(self, out: Template, x: Tensor, /) -> Payload:
        return bits.parts(x.data, out.dtype)[1] if x.dtype.is_complex else bytes(out.nbytes)

    _opposite = columns_callback(elementwise_function(operator.neg))

    def negate(self, out: Template, x: Tensor, /) -> Payload:
        return bits.negate(x.data, x.dtype) if x.dtype.is_inexact else self._opposite(out, x)

    def real(self, out: Template, x: Tensor, /) -> Payload:
        return bits.parts(x.data, out.dtype)[0] if x.dtype.is_complex else x.data

    acos = elementwise(math.acos, scalars.guard(math.acos, scalars.nan), complex_scalars.acos)
    acosh = elementwise(math.acosh, scalars.guard(math.acosh, scalars.nan), complex_scalars.acosh)
    asin = elementwise(math.asin, scalars.guard(math.asin, scalars.nan), complex_scalars.asin)
    asinh = elementwise(math.asinh, compute=complex_scalars.asinh)
    atan = elementwise(math.atan, compute=complex_scalars.atan)
    atanh = elementwise(math.atanh, scalars.atanh, complex_scalars.atanh)
    cbrt = elementwise(math.cbrt)
    cos = elementwise(math.cos, scalars.guard(math.cos, scalars.nan), complex_scalars.cos)
    cosh = elementwise(math.cosh, scalars.guard(math.cosh, lambda x: math.inf), complex_scalars.cosh)
    erf = elementwise(math.erf)
    erf_inv = elementwise(scalars.erf_inv)
    erfc = elementwise(math.erfc)
    exp = elementwise(math.exp, scalars.guard(math.exp, lambda x: math.inf), complex_scalars.exp)
    expm1 = elementwise(math.expm1, scalars.guard(math.expm1, lambda x: math.inf), complex_scalars.expm1)
    is_infinity = elementwise(math.isinf, compute=elementwise_function(cmath.isinf))
    is_nan = elementwise(math.isnan, compute=elementwise_function(cmath.isnan))
    log = elementwise(math.log, scalars.log, complex_scalars.log)
    log1p = elementwise(math.log1p, scalars.log1p, complex_scalars.log1p)
    rsqrt = columns_callback(columns.rsqrt)
    sigmoid = columns_callback(columns.sigmoid)
    sin = elementwise(math.sin, scalars.guard(math.sin, scalars.nan), complex_scalars.sin)
    sinh = elementwise(math.sinh, scalars.guard(math.sinh, lambda x: math.copysign(math.inf, x)), complex_scalars.sinh)
    sqrt = elementwise(math.sqrt, scalars.guard(math.sqrt, scalars.nan), complex_scalars.sqrt)
    tan = elementwise(math.tan, scalars.guard(math.tan, scalars.nan), complex_scalars.tan)
    tanh = elementwise(math.tanh, compute=complex_scalars.tanh)

    ceil = rounding_callback(math.ceil)
    floor = rounding_callback(math.floor)
    round = rounding_callback(builtins.round)
    sign = columns_callback(columns.sign, elementwise_function(complex_scalars.sign))

    def bitwise_not(self, out: Template, x: Tensor, /) -> Payload:
        return bits.negation(x.data) if x.dtype is bool_ else bits.invert(x.data)

    def count_leading_zeros(self, out: Template, x: Tensor, /) -> Payload:
        width = x.dtype.bits
        lengths = map(int.bit_length, unpack(x.data, bits.UNSIGNED[width]))
        return store(map(operator.sub, repeat(width), lengths), out.dtype)

    def population_count(self, out: Template, x: Tensor, /) -> Payload:
        return store(map(int.bit_count, unpack(x.data, bits.UNSIGNED[x.dtype.bits])), out.dtype)

    add = elementwise(operator.add)
    atan2 = elementwise(math.atan2)
    bitwise_and = bitwise_callback(operator.and_)
    bitwise_or = bitwise_callback(operator.or_)
    bitwise_xor = bitwise_callback(operator.xor)
    divide = elementwise(operator.truediv, scalars.divide, elementwise_function(complex_scalars.divide))
    equal = elementwise(operator.eq)
    floor_divide = columns_callback(columns.floor_divide, integers=columns.integer_floor_divide)
    greater = elementwise(operator.gt)
    greater_equal = elementwise(operator.ge)
    left_shift = columns_callback(columns.left_shift)
    less = elementwise(operator.lt)
    less_equal = elementwise(operator.le)
    logical_and = bitwise_callback(operator.and_)
    logical_or = bitwise_callback(operator.or_)
    logical_xor = bitwise_callback(operator.xor)
    max = columns_callback(columns.maximum, integers=columns.integer_maximum)
    min = columns_callback(columns.minimum, integers=columns.integer_minimum)
    multiply = elementwise(operator.mul, compute=complex_scalars.multiply)
    not_equal = elementwise(operator.ne)
    pow = columns_callback(
        elementwise_function(math.pow, scalars.power), elementwise_function(complex_scalars.power),
        columns.integer_power,
    )  # fmt: skip
    quotient = columns_callback(
        elementwise_function(operator.truediv, scalars.divide), integers=columns.integer_quotient
    )
    remainder = columns_callback(
        elementwise_function(operator.mod, scalars.remainder), integers=columns.integer_remainder
    )
    right_shift = columns_callback(columns.right_shift)
    subtract = elementwise(operator.sub)

    # Overrides of composites

    hypot = promoting_override(math.hypot)
    log2 = promoting_override(math.log2, scalars.log2, complex_scalars.log2)
    log10 = promoting_override(math.log10, scalars.log10, complex_scalars.log10)
    logaddexp = promoting_override(scalars.logaddexp)
    is_finite = elementwise(math.isfinite, compute=elementwise_function(cmath.isfinite))

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
