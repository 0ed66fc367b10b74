"""Operators that compute each element by itself, such as casts to narrow dtypes as ONNX has them."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import tensorbackend as tb
from tensorbackend import Tensor
from tensorbackend.dtypes import bool_

from ..dtypes import dtype_of
from .registry import operator, rows

SAME_NAMES = (
    *("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Erf", "Exp", "Floor", "IsNaN"),
    *("Log", "Reciprocal", "Round", "Sigmoid", "Sign", "Sin", "Sinh", "Sqrt", "Tan", "Tanh"),
)
UNARY: dict[str, Callable[[Tensor], Tensor]] = {
    **{name: getattr(tb, name.lower()) for name in SAME_NAMES},
    "BitwiseNot": tb.bitwise_invert,
    "Neg": tb.negative,
    "Not": tb.logical_not,
    "Softplus": tb.nn.softplus,
}
"""Operators that are a function of the library."""


def divide(x: Tensor, y: Tensor) -> Tensor:
    """Division; of integers it rounds towards zero."""
    return tb.divide(x, y) if tb.isdtype(x.dtype, ("real floating", "complex floating")) else tb.trunc_divide(x, y)


def power(x: Tensor, y: Tensor) -> Tensor:
    """Powers in the dtype of the base; an exponent of a floating dtype makes the computation floating."""
    common = tb.result_type(x, y) if tb.isdtype(y.dtype, "real floating") else x.dtype
    return tb.pow(x.astype(common), y.astype(common)).astype(x.dtype)


BINARY: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "Add": tb.add,
    "And": tb.logical_and,
    "BitwiseAnd": tb.bitwise_and,
    "BitwiseOr": tb.bitwise_or,
    "BitwiseXor": tb.bitwise_xor,
    "Div": divide,
    "Equal": tb.equal,
    "Greater": tb.greater,
    "GreaterOrEqual": tb.greater_equal,
    "Less": tb.less,
    "LessOrEqual": tb.less_equal,
    "Mul": tb.multiply,
    "Or": tb.logical_or,
    "Pow": power,
    "Sub": tb.subtract,
    "Xor": tb.logical_xor,
}
"""Operators of two tensors that broadcast."""

rows(UNARY)
rows(BINARY, since=7)
rows(
    {
        "Identity": lambda x: x,
        "Mean": lambda x, *xs: reduce(tb.add, xs, x) / (1 + len(xs)),
        "Sum": lambda x, *xs: reduce(tb.add, xs, x),
        "Where": tb.where,
    }
)


def _by_axis(function: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    """Before opset 7 the second tensor broadcasts only where the node says so, from an axis on."""

    def compute(x: Tensor, y: Tensor, *, broadcast: int = 0, axis: int | None = None) -> Tensor:
        if broadcast and axis is not None:
            y = tb.reshape(y, (*y.shape, *(1,) * (x.ndim - y.ndim - axis % max(x.ndim, 1))))
        return function(x, y)

    return compute


rows({name: _by_axis(function) for name, function in BINARY.items()})


@operator("BitShift")
def bit_shift(x: Tensor, y: Tensor, *, direction: str) -> Tensor:
    """Shifts of bits; a negative amount counts as more than there are."""
    if not tb.isdtype(y.dtype, "unsigned integer"):
        y = tb.where(y < 0, y.dtype.bits, y)
    return tb.bitwise_left_shift(x, y) if direction == "LEFT" else tb.bitwise_right_shift(x, y)


@operator("IsInf")
def is_inf(x: Tensor, *, detect_negative: int = 1, detect_positive: int = 1) -> Tensor:
    """Where an infinity of these signs is."""
    found = tb.isinf(x)
    if not detect_negative:
        found = tb.logical_and(found, x > 0)
    return found if detect_positive else tb.logical_and(found, x < 0)


rows(
    {
        "Cast": lambda x, *, to, saturate=1, round_mode="up": cast_as(x, dtype_of(to), saturate, round_mode),
        "CastLike": lambda x, y, *, saturate=1, round_mode="up": cast_as(x, y.dtype, saturate, round_mode),
        "Mod": lambda x, y, *, fmod=0: (tb.fmod if fmod else tb.remainder)(x, y),
    }
)


@operator("BitCast")
def bit_cast(x: Tensor, *, to: int) -> Tensor:
    """The same bits in another dtype."""
    dtype = dtype_of(to)
    return x.astype(dtype) if bool_ in (x.dtype, dtype) else tb.bitcast(x, dtype)


def cast_as(x: Tensor, dtype: tb.DType, saturate: int = 1, round_mode: str = "nearest") -> Tensor:
    """Elements in a dtype; integers wrap.

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
