"""Integer division, powers and bits; everything wraps as the primitives do."""

from __future__ import annotations

from ....dispatch.fallbacks import fallback
from ....dtypes import DType, bool_
from ....template import Template
from ....tensor import Tensor
from ...creation.filled import full
from ...elementwise.basic import astype, negative, where
from ...elementwise.binary import (
    add,
    bitwise_and,
    bitwise_or,
    bitwise_right_shift,
    equal,
    floor_divide,
    less,
    logical_and,
    logical_or,
    multiply,
    not_equal,
    remainder,
    subtract,
)
from ...indexing.taking import take_at
from ..common import tensor_of_numbers


@fallback("remainder", "integer")
def _remainder(out: Template, x1: Tensor, x2: Tensor, /) -> Tensor:
    rest = subtract(x1, multiply(floor_divide(x1, x2), x2))
    return where(equal(x2, 0), 0, rest)


@fallback("quotient", "integer")
def _quotient(out: Template, x1: Tensor, x2: Tensor, /) -> Tensor:
    down = floor_divide(x1, x2)
    if x1.dtype.kind == "uint":
        return down
    negative_quotient = not_equal(less(x1, 0), less(x2, 0))
    inexact = not_equal(remainder(x1, x2), 0)
    return where(logical_and(negative_quotient, inexact), add(down, 1), down)


@fallback("pow", "integer")
def _pow(out: Template, x1: Tensor, x2: Tensor, /) -> Tensor:
    """Computes powers by squaring, a bit of the exponent at a time."""
    power, square, rest = full(out.shape, 1, dtype=out.dtype), x1, x2
    for _ in range(out.dtype.bits - (out.dtype.kind == "int")):
        power = where(equal(remainder(rest, 2), 1), multiply(power, square), power)
        square, rest = multiply(square, square), floor_divide(rest, 2)
    if out.dtype.kind == "uint":
        return power
    # 1 / x1**-x2 rounded towards zero, which is not 0 for 1 and -1 only.
    odd = equal(remainder(x2, 2), 1)
    zero = full((), 0, dtype=out.dtype)
    inverse = where(equal(x1, 1), 1, where(equal(x1, -1), where(odd, -1, add(zero, 1)), zero))
    return where(less(x2, 0), inverse, power)


# Bits


@fallback("bitwise_not", "integer or bool")
def _bitwise_not(out: Template, x: Tensor, /) -> Tensor:
    return equal(x, False) if x.dtype is bool_ else subtract(negative(x), 1)


@fallback("bitwise_or", "integer or bool")
def _bitwise_or(out: Template, x1: Tensor, x2: Tensor, /) -> Tensor:
    if out.dtype is bool_:
        return logical_or(x1, x2)
    return subtract(add(x1, x2), bitwise_and(x1, x2))


@fallback("bitwise_xor", "integer or bool")
def _bitwise_xor(out: Template, x1: Tensor, x2: Tensor, /) -> Tensor:
    if out.dtype is bool_:
        return not_equal(x1, x2)
    return subtract(bitwise_or(x1, x2), bitwise_and(x1, x2))


def _powers_of_two(dtype: DType, exponents: Tensor, count: int) -> Tensor:
    """2 to the power of each exponent from 0 to `count` - 1; for other exponents one of these powers."""
    return take_at(
        tensor_of_numbers([1 << exponent for exponent in range(count)], dtype), exponents, axis=0, mode="clip"
    )


@fallback("left_shift", "integer")
def _left_shift(out: Template, x1: Tensor, x2: Tensor, /) -> Tensor:
    bits = out.dtype.bits
    highest = bits - (out.dtype.kind == "int")
    moved = multiply(x1, _powers_of_two(out.dtype, x2, highest))
    if highest < bits:  # the highest bit is the sign, so 2**highest is not in the dtype
        last = multiply(multiply(x1, 1 << (highest - 1)), 2)
        moved = where(equal(x2, highest), last, moved)
    return where(less(x2, bits), moved, 0)


@fallback("right_shift", "integer")
def _right_shift(out: Template, x1: Tensor, x2: Tensor, /) -> Tensor:
    highest = out.dtype.bits - (out.dtype.kind == "int")
    moved = floor_divide(x1, _powers_of_two(out.dtype, x2, highest))
    zero = full((), 0, dtype=out.dtype)
    beyond = where(less(x1, 0), -1, zero) if out.dtype.kind == "int" else zero
    return where(less(x2, highest), moved, beyond)


@fallback("count_leading_zeros", "integer")
def _count_leading_zeros(out: Template, x: Tensor, /) -> Tensor:
    bits = x.dtype.bits
    count = full(out.shape, 0, dtype=out.dtype)
    for exponent in range(bits - (x.dtype.kind == "int")):
        count = add(count, astype(less(x, 1 << exponent), out.dtype))
    if x.dtype.kind == "uint":
        return count
    return where(less(x, 0), 0, add(count, 1))


@fallback("population_count", "integer")
def _population_count(out: Template, x: Tensor, /) -> Tensor:
    count = full(out.shape, 0, dtype=out.dtype)
    for bit in range(x.dtype.bits):
        count = add(count, bitwise_and(bitwise_right_shift(x, bit), 1))
    return count
