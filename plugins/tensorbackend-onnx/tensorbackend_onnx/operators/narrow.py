"""Casts, to narrow dtypes as ONNX has them: floats saturate unless told otherwise, and integers wrap."""

from __future__ import annotations

import tensorbackend as tb
from tensorbackend import Tensor


def cast_as(x: Tensor, dtype: tb.DType, saturate: int = 1, round_mode: str = "nearest") -> Tensor:
    """Elements in a dtype.

    With `saturate` floats beyond the largest number of a narrow dtype become that number. `round_mode` is "up", "down"
    or "nearest", for powers of two: FLOAT8E8M0.
    """
    if not dtype.is_narrow:
        return x.astype(dtype)
    if dtype is tb.float8_e8m0fnu:
        return _power_of_two(x.astype(tb.float32), saturate, round_mode)
    if dtype.kind != "float":
        return x.astype(tb.int32).astype(dtype)
    if saturate and tb.isdtype(x.dtype, "real floating"):
        greatest = tb.finfo(dtype).max
        x = tb.clip(x.astype(tb.float32), -greatest, greatest)
    return x.astype(dtype)


def _power_of_two(x: Tensor, saturate: int, round_mode: str) -> Tensor:
    """Scales: numbers rounded to powers of two; zero is the least of them."""
    bits, fraction = tb.bitcast(x, tb.int32), 0x7FFFFF
    if round_mode == "up":
        bits = tb.bitwise_and(bits + fraction, ~fraction)
    elif round_mode == "down":
        bits = tb.bitwise_and(bits, ~fraction)
    limits = tb.finfo(tb.float8_e8m0fnu)
    x = tb.where(tb.isnan(x), x, tb.bitcast(bits, tb.float32))
    if saturate:
        x = tb.clip(x, None, limits.max)
    return tb.where(x == 0, limits.min, x).astype(tb.float8_e8m0fnu)
