"""Arithmetic of int64 tensors that PyTorch lacks, or leaves open; the bits of uint64 among them."""

from __future__ import annotations

from .library import torch
from .ways import Array

_MASKS = (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F)


def floor_divide(left: Array, right: Array) -> Array:
    """Floor of the quotient. Division by zero returns 0; the smallest integer divided by -1 wraps."""
    return _divided(left, right, "floor")


def quotient(left: Array, right: Array) -> Array:
    """Quotient rounded to zero; division by zero gives 0."""
    return _divided(left, right, "trunc")


def _divided(left: Array, right: Array, rounding: str) -> Array:
    # Neither a division by zero nor an overflowing one may reach the processor.
    if not _is_special(right).any():
        return torch.div(left, right, rounding_mode=rounding)
    quotients = torch.div(left, _divisor(right), rounding_mode=rounding)
    return torch.where(right == 0, 0, torch.where(right == -1, -left, quotients))


def remainder(left: Array, right: Array) -> Array:
    """Remainder with the sign of the divisor; division by zero gives 0."""
    special = _is_special(right)
    if not special.any():
        return torch.remainder(left, right)
    return torch.where(special, 0, torch.remainder(left, _divisor(right)))


def _divisor(right: Array) -> Array:
    return torch.where(_is_special(right), 1, right)


def _is_special(right: Array) -> Array:
    """Where a divisor is 0 or -1."""
    return (right == 0) | (right == -1)


def unsigned_divide(left: Array, right: Array) -> tuple[Array, Array]:
    """Quotient and remainder of uint64 numbers, as bits in int64; both are 0 if the divisor is 0.

    Numbers below 2**63 are divided as int64. Otherwise half the dividend is divided as a signed number, and twice this
    quotient is too small by at most one (H. S. Warren, Hacker's Delight, section 9-3). A divisor of at least 2**63
    fits into the dividend at most once.
    """
    if not (left < 0).any() and not (right < 0).any():
        return floor_divide(left, right), remainder(left, right)
    lower = torch.where(right > 0, right, 1)
    twice = torch.div(shifted_right(left, 1), lower, rounding_mode="trunc") << 1
    rest = left - twice * lower
    more = unsigned_less(rest, lower).logical_not()
    quotients, rest = twice + more.to(torch.int64), torch.where(more, rest - lower, rest)
    once = unsigned_less(left, right).logical_not()
    quotients = torch.where(right > 0, quotients, torch.where(right == 0, 0, once.to(torch.int64)))
    rest = torch.where(right > 0, rest, torch.where(right == 0, 0, torch.where(once, left - right, left)))
    return quotients, rest


def unsigned_less(left: Array, right: Array) -> Array:
    """Whether bits of uint64 are less."""
    least = torch.iinfo(torch.int64).min
    return (left ^ least) < (right ^ least)


def shifted_right(values: Array, amount: int) -> Array:
    """Bits moved down by 1 to 63 places, zeros moved in."""
    return values >> amount & (1 << (64 - amount)) - 1


def power(base: Array, exponent: Array) -> Array:
    """The power by repeated squaring, wrapping; the bits of the exponent are those of an unsigned number."""
    base, exponent = torch.broadcast_tensors(base, exponent)
    product = torch.ones_like(base)
    for _ in range(64):
        if not exponent.any():
            break
        product = torch.where((exponent & 1) != 0, product * base, product)
        base, exponent = base * base, shifted_right(exponent, 1)
    return product


def bit_count(values: Array) -> Array:
    """How many bits are set: in pairs, in fours, in bytes, and the bytes by a product (Hacker's Delight, 5-1)."""
    pairs, fours, bytes_ = _MASKS
    values = values - (shifted_right(values, 1) & pairs)
    values = (values & fours) + (shifted_right(values, 2) & fours)
    values = values + shifted_right(values, 4) & bytes_
    return shifted_right(values * 0x0101010101010101, 56)
