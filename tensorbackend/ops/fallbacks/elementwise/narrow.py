"""Casts from and to narrow dtypes, written in other ops.

A narrow number is looked up in a table of all numbers of its dtype. The code of a float is computed from the bits of
float32. A wider float is first rounded to float32 towards odd, so that the second rounding is the only one that shows
(Boldo and Melquiond, 2008).
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from ....dispatch.codes import cast
from ....dtypes import (
    DType,
    bool_,
    float4_e2m1fn,
    float8_e5m2,
    float8_e8m0fnu,
    float32,
    float64,
    iinfo,
    int8,
    int32,
    uint8,
    uncast,
)
from ....dtypes.narrow import code_values
from ....dtypes.packing import element_type, pack
from ....dtypes.promotion import widened
from ....template import Template
from ....tensor import Tensor
from ...creation.filled import from_binary
from ...elementwise.basic import abs as absolute
from ...elementwise.basic import astype, bitcast, clip, where
from ...elementwise.binary import (
    add,
    bitwise_and,
    bitwise_left_shift,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_or,
    minimum,
    not_equal,
    subtract,
)
from ...indexing.taking import take


@cast.supply
def _cast(x: Tensor, source: DType, target: DType) -> Tensor:
    """The cast of a tensor; for a narrow dtype the tensor holds codes."""
    with uncast():
        if source.is_narrow and source.kind != "float":
            x, source = _whole_numbers(x, source), widened(source)
            if not target.is_narrow:
                return astype(x, target)
        if source.is_narrow:
            numbers = Template((256,), uint8 if target.is_narrow else target, None)
            return take(from_binary(_table(source, target), numbers, x.backend), x, axis=0, mode="clip")
        if target.kind == "float":
            return _code_of_float(_round_once(x, source, target), target)
        return _code_of_integer(x, source, target)


@cache
def _table(source: DType, target: DType) -> bytes:
    """The elements that stand for the codes 0 to 255 of a narrow floating dtype in another dtype."""
    numbers = [_convert_number(number, target) for number in code_values(source)]
    numbers += [numbers[-1]] * (256 - len(numbers))
    return pack(numbers, target)


def _convert_number(number: float, target: DType) -> Any:
    """A number as `pack` takes it for a dtype: to integers floats are truncated and saturate, and NaN becomes 0."""
    if target.kind in ("int", "uint"):
        limits = iinfo(target)
        return 0 if number != number else int(max(limits.min, min(limits.max, number)))
    return element_type(target)(number)


def _whole_numbers(x: Tensor, source: DType) -> Tensor:
    """The integers that codes stand for, as int8 or uint8."""
    if source.kind == "uint":
        return x
    sign = 1 << (source.bits - 1)
    return bitcast(subtract(bitwise_xor(x, sign), sign), int8)


def _code_of_integer(x: Tensor, source: DType, target: DType) -> Tensor:
    """The codes of integers: integers wrap, and floats are truncated and saturate."""
    limits = iinfo(target)
    if source.is_inexact:
        x = clip(astype(x, int8 if target.kind == "int" else uint8), limits.min, limits.max)
    return bitwise_and(astype(x, uint8), (1 << target.bits) - 1)


def _round_once(x: Tensor, source: DType, target: DType) -> Tensor:
    """Numbers in float32, such that rounding them to the target gives what one rounding would give."""
    if source.is_floating and source is not float64:
        return astype(x, float32)
    if source is float64:
        near = astype(x, float32)
        back = astype(near, float64)
        bits = bitcast(near, int32)
        finite = less_equal(absolute(x), float64_max)
        towards_zero = where(greater(absolute(back), absolute(x)), subtract(bits, 1), bits)
        bits = where(logical_and(finite, not_equal(back, x)), bitwise_or(towards_zero, 1), bits)
        if target is float8_e8m0fnu:  # whose smallest number is subnormal in float32, where a backend may flush it
            tie = 1.5 * 2.0**-127
            bits = where(logical_and(greater(x, 0.0), less(x, tie)), _bits_of(2.0**-127), bits)
            bits = where(logical_and(greater_equal(x, tie), less(x, 2.0**-126)), _bits_of(2.0**-126), bits)
        return bitcast(bits, float32)
    if source is bool_ or source.bits <= 16:
        return astype(x, float32)
    if target is not float8_e8m0fnu:  # which are infinite, or NaN, or the largest number
        return astype(clip(x, 0 if source.kind == "uint" else -(1 << 17), 1 << 17), float32)
    x = astype(x, f"uint{source.bits}") if source.kind == "uint" else where(less(x, 0), -1, x)
    for shift in (20, 40)[: 2 if source.bits == 64 else 1]:  # 24 bits stay; the last says whether bits were lost
        kept = bitwise_left_shift(bitwise_right_shift(x, shift), shift)
        odd = where(equal(kept, x), kept, bitwise_or(kept, 1 << shift))
        x = where(greater_equal(x, 1 << (shift + 4)), odd, x)
    return astype(x, float32)


float64_max = math.nextafter(math.inf, 0.0)


def _code_of_float(x: Tensor, target: DType) -> Tensor:
    """The codes of float32, by its bits."""
    bits = bitcast(x, int32)
    size = bitwise_and(bits, 0x7FFFFFFF)
    nan = greater(size, _INFINITY)
    if target is float8_e8m0fnu:
        exponent = bitwise_right_shift(add(minimum(size, _INFINITY), 0x400000), 23)
        code = where(less(size, 0x600000), 0, exponent)  # 1.5 * 2**-127, a tie
        none = logical_or(less_equal(bits, 0), nan)  # zero and negative numbers
        return astype(where(none, 255, code), uint8)
    width, bias = target.mantissa_bits, (1 << (target.exponent_bits - 1)) - 1
    shift, first = 23 - width, 127 - bias
    # Above the subnormal numbers: half a unit more, and cut off. The exponents differ by `first`.
    capped = minimum(size, _INFINITY)
    last_bit = bitwise_and(bitwise_right_shift(capped, shift), 1)
    rounded = bitwise_right_shift(add(add(capped, (1 << (shift - 1)) - 1), last_bit), shift)
    code = subtract(rounded, first << width)
    # Below: the sum with a number whose unit is the least of the target is rounded to whole units.
    unit = 2.0 ** (24 - bias - width)
    whole = subtract(bitcast(add(bitcast(size, float32), unit), int32), _bits_of(unit))
    code = where(less(size, (first + 1) << 23), whole, code)
    sign = bitwise_left_shift(where(less(bits, 0), 1, 0), target.bits - 1)
    if target is float4_e2m1fn:
        code = where(nan, 0, minimum(code, 7))
        sign = where(nan, subtract(8, sign), sign)  # as ml_dtypes has it
    else:
        beyond = (124, 126) if target is float8_e5m2 else (127, 127)
        code = where(nan, beyond[1], minimum(code, beyond[0]))
    return astype(bitwise_or(code, astype(sign, int32)), uint8)


_INFINITY = 0x7F800000
"""The bits of an infinite float32."""


def _bits_of(value: float) -> int:
    return int.from_bytes(pack([value], float32), "little")
