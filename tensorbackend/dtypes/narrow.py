"""The elements of narrow dtypes: the number that each code stands for, and the code nearest to a number.

A *code* is the bits of an element, as an integer. In `to_binary` each code takes a byte, whose upper bits are 0, as in
the arrays of ml_dtypes. A payload of a narrow dtype is the payload of its codes as uint8, on each backend.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

from .types import DType, float4_e2m1fn, float8_e4m3fn, float8_e5m2, float8_e8m0fnu


@cache
def code_values(dtype: DType) -> tuple[Any, ...]:
    """The `2**dtype.bits` numbers that the codes of a narrow dtype stand for, in the order of the codes.

    >>> from tensorbackend.dtypes import int2
    >>> code_values(int2), code_values(float4_e2m1fn)[:8]
    ((0, 1, -2, -1), (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0))
    """
    codes = range(1 << dtype.bits)
    if dtype.kind == "uint":
        return tuple(codes)
    if dtype.kind == "int":
        half = 1 << (dtype.bits - 1)
        return tuple((code ^ half) - half for code in codes)
    if dtype is float8_e8m0fnu:
        return (*(2.0 ** (code - 127) for code in codes[:-1]), math.nan)
    half = 1 << (dtype.bits - 1)
    magnitudes = [_magnitude(code, dtype) for code in codes[:half]]
    return (*magnitudes, *(math.copysign(magnitude, -1.0) for magnitude in magnitudes))


def _magnitude(code: int, dtype: DType) -> float:
    """The number that a code without its sign stands for."""
    width = dtype.mantissa_bits
    exponent, fraction = code >> width, code & ((1 << width) - 1)
    if dtype is float8_e5m2 and exponent == 31:
        return math.nan if fraction else math.inf
    if dtype is float8_e4m3fn and code == 127:
        return math.nan
    bias = (1 << (dtype.exponent_bits - 1)) - 1
    whole = fraction + (1 << width if exponent else 0)
    return math.ldexp(whole, max(exponent, 1) - bias - width)


@cache
def _finite(dtype: DType) -> tuple[float, ...]:
    """The finite numbers that are not negative, in ascending order, which is that of their codes."""
    values = code_values(dtype)
    positive = values if dtype is float8_e8m0fnu else values[: len(values) // 2]
    return tuple(value for value in positive if math.isfinite(value))


def greatest(dtype: DType) -> float:
    """The largest finite number of a narrow floating dtype.

    >>> greatest(float8_e4m3fn), greatest(float4_e2m1fn)
    (448.0, 6.0)
    """
    return _finite(dtype)[-1]


@cache
def encoder(dtype: DType) -> Callable[[Any], int]:
    """The function that gives the code nearest to a number: integers wrap, floats are rounded to nearest even.

    A number beyond the largest one becomes infinity if the dtype has it, else NaN if the dtype has that, else the
    largest number. In float8_e8m0fnu, ties are rounded up, and zero and negative numbers become NaN.

    >>> [encoder(float8_e4m3fn)(number) for number in (1.0, -1.0, 464.0, 465.0)]
    [56, 184, 126, 127]
    """
    if dtype.kind != "float":
        mask = (1 << dtype.bits) - 1
        return lambda number: int(number) & mask
    finite, unsigned = _finite(dtype), dtype is float8_e8m0fnu
    last = len(finite) - 1
    step = finite[-1] if unsigned else finite[-1] - finite[-2]
    ties = [*((low + high) / 2 for low, high in pairwise(finite)), finite[-1] + step / 2]
    beyond = last if dtype is float4_e2m1fn else last + 1  # the code of infinity or NaN
    nan, sign = 126 if dtype is float8_e5m2 else 127, 1 << (dtype.bits - 1)

    def encode(number: Any) -> int:
        if unsigned:
            return bisect_right(ties, number) if number > 0 else 255
        negative = math.copysign(1.0, number) < 0
        if number != number:  # where there is no NaN, ml_dtypes stores a zero of the other sign
            return sign * (not negative) if dtype is float4_e2m1fn else nan | sign * negative
        return _nearest(ties, abs(number), beyond) | sign * negative

    return encode


def _nearest(ties: list[float], number: Any, beyond: int) -> int:
    """The code nearest to a number, where `ties[code]` lies half-way to the next code; `beyond` behind the last one."""
    code = bisect_left(ties, number)
    if code < len(ties) and number == ties[code] and code % 2:
        code += 1
    return code if code < len(ties) else beyond
