"""Shortcuts of BinaryBackend: long columns in blocks, bits and casts of all elements at once, with equal results."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

import tensorbackend as tb
from tensorbackend import Tensor
from tensorbackend.dtypes import ALL_DTYPES, DType, bfloat16, bool_, finfo, iinfo
from tensorbackend.dtypes.packing import bfloat16_bits, pack, unpack

LENGTH = 1337
"""The number of elements of a column: two blocks and part of a third."""

CASTS = [
    (source, target)
    for source in ALL_DTYPES
    for target in ALL_DTYPES
    if target.is_complex or target is bool_ or not source.is_complex
]
WHOLE = [dtype for dtype in ALL_DTYPES if dtype.is_integer]
OF_ONE = ["abs", "exp", "floor", "log1p", "negative", "round", "rsqrt", "sigmoid", "sign", "sinh", "sqrt"]
OF_TWO = [
    *((name, dtype) for name in ("atan2", "copysign", "divide") for dtype in (tb.bfloat16, tb.float32)),
    *(
        (name, dtype)
        for name in ("add", "equal", "floor_divide", "less", "maximum", "minimum", "multiply", "remainder")
        for dtype in (tb.bfloat16, tb.float32, tb.int8, tb.uint64)
    ),
]
BITS: dict[str, Callable[[int, int, int], int]] = {
    "bitwise_and": lambda a, b, bits: a & b,
    "bitwise_or": lambda a, b, bits: a | b,
    "bitwise_xor": lambda a, b, bits: a ^ b,
    "bitwise_left_shift": lambda a, b, bits: a << b if b < bits else 0,
    "bitwise_right_shift": lambda a, b, bits: a >> b,
    "pow": lambda a, b, bits: a**b,
}
"""Each op on Python ints `a` and `b`, given the width of the dtype in bits."""


def column(dtype: DType, seed: int = 0, special: bool = True) -> Tensor:
    """Return numbers of all sizes. Infinities, NaNs and limits are only in the second block."""
    chance = random.Random(seed)
    if dtype.kind == "bool":
        values: list[complex] = [chance.random() < 0.5 for _ in range(LENGTH)]
    elif dtype.is_integer:
        limits = iinfo(dtype)
        values = [chance.randint(max(limits.min, -9), 9) for _ in range(LENGTH)]
        if special:
            values[600:602] = [limits.min, limits.max]
    else:
        values = [chance.uniform(-9, 9) * 10 ** chance.randint(-4, 2) for _ in range(LENGTH)]
        values[5:9] = [0.0, -0.0, 1.0, -1.0]
        if special:
            most = finfo(dtype).max
            values[600:607] = [math.inf, -math.inf, math.nan, most, -most, 0.0, -0.0]
        if dtype.is_complex:
            values = [complex(value.real, chance.uniform(-9, 9)) for value in values]
    with tb.default_backend("binary"):
        return tb.from_binary(pack(values, dtype), tb.Template((LENGTH,), dtype))


def in_pieces(function: Callable[..., Tensor], *columns: Tensor) -> bytes:
    """Return the bytes of a function's results, computed seven elements at a time."""
    return b"".join(function(*[x[at : at + 7] for x in columns]).to_binary() for at in range(0, LENGTH, 7))


@pytest.mark.parametrize(("source", "target"), CASTS, ids=str)
def test_a_long_cast_is_that_of_its_pieces(source: DType, target: DType) -> None:
    x = column(source)
    assert tb.astype(x, target).to_binary() == in_pieces(lambda x: tb.astype(x, target), x)


def one_by_one(value: float, target: DType) -> int:
    """Convert a float to an integer dtype, as the protocol defines it."""
    limits = iinfo(target)
    return 0 if value != value else int(max(limits.min, min(limits.max, value)))


@pytest.mark.parametrize("target", WHOLE, ids=str)
def test_a_float_beyond_an_integer_dtype_is_its_limit(target: DType) -> None:
    values = [*column(tb.float64).tolist(), 2.0**63, -(2.0**63), 2.0**64, 1e300, -1e300, 0.999, -0.999]
    integers = tb.astype(tb.tensor(values, dtype="f64", backend="binary"), target).tolist()
    assert integers == [one_by_one(value, target) for value in values]


@pytest.mark.parametrize("target", WHOLE, ids=str)
@pytest.mark.parametrize("source", WHOLE, ids=str)
def test_an_integer_wraps_when_it_is_cast(source: DType, target: DType) -> None:
    x = column(source)
    low, span = iinfo(target).min, 1 << target.bits
    assert tb.astype(x, target).tolist() == [(value - low) % span + low for value in x.tolist()]


@pytest.mark.parametrize("name", OF_ONE)
@pytest.mark.parametrize("dtype", [tb.float16, tb.bfloat16, tb.float32, tb.float64], ids=str)
def test_a_function_of_a_long_column_is_that_of_its_pieces(name: str, dtype: DType) -> None:
    function, x = getattr(tb, name), column(dtype)
    assert function(x).to_binary() == in_pieces(function, x)


@pytest.mark.parametrize(("name", "dtype"), OF_TWO, ids=str)
def test_a_function_of_two_long_columns_is_that_of_its_pieces(name: str, dtype: DType) -> None:
    function, columns = getattr(tb, name), (column(dtype), column(dtype, 1, special=False))
    assert function(*columns).to_binary() == in_pieces(function, *columns)


@pytest.mark.parametrize("dtype", WHOLE, ids=str)
@pytest.mark.parametrize("name", BITS)
def test_bits_of_integers(name: str, dtype: DType) -> None:
    x, y = column(dtype), tb.astype(tb.abs(column(tb.int8, 1, special=False)), dtype)
    bits, low = dtype.bits, iinfo(dtype).min
    expected_integers = [
        (BITS[name](a, b, bits) - low) % (1 << bits) + low for a, b in zip(x.tolist(), y.tolist(), strict=True)
    ]
    assert getattr(tb, name)(x, y).tolist() == expected_integers


@pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)
def test_where_takes_whole_elements(dtype: DType) -> None:
    condition, x, y = column(bool_), column(dtype), column(dtype, 1)
    width, left, right = dtype.itemsize, x.to_binary(), y.to_binary()
    places = [(at * width, (at + 1) * width) for at in range(LENGTH)]
    expected_elements = [
        (left if holds else right)[slice(*place)] for holds, place in zip(condition.tolist(), places, strict=True)
    ]
    assert tb.where(condition, x, y).to_binary() == b"".join(expected_elements)


def test_bools_of_any_bytes_are_true() -> None:
    x = tb.from_binary(b"\x00\x01\x02\xff", tb.Template((4,), "bool"), "binary")
    y = tb.from_binary(b"\x01\x01\x01\x01", tb.Template((4,), "bool"), "binary")
    assert tb.logical_and(x, y).tolist() == [False, True, True, True]
    assert tb.logical_xor(x, y).tolist() == [True, False, False, False]
    assert tb.logical_not(x).tolist() == [True, False, False, False]
    assert (tb.any(x).item(), tb.all(x[1:]).item(), tb.where(x, 1, 0).tolist()) == (True, True, [0, 1, 1, 1])


def test_bfloat16_is_rounded_once() -> None:
    tie = 1.0 + 2.0**-8  # halfway between two neighbours, of which 1.0 is even
    below, above = math.nextafter(tie, 0), math.nextafter(tie, 2)
    values = [tie, below, above, -tie, -below, -above, 0.0, -0.0, 1e39, -1e39, 3.4e38, math.inf, math.nan, -math.nan]
    values += [random.Random(0).uniform(-1, 1) * 10 ** (at % 80 - 40) for at in range(LENGTH)]
    bit_patterns = unpack(pack(values, bfloat16), tb.uint16)
    assert list(bit_patterns) == [bfloat16_bits(value) for value in values]
    assert [unpack(pack([value], bfloat16), bfloat16)[0] for value in (tie, below, above)] == [1.0, 1.0, 1.0 + 2.0**-7]


@pytest.mark.parametrize("axes", [(), (0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)], ids=str)
def test_reductions_over_neighbouring_axes_and_others(axes: tuple[int, ...]) -> None:
    x = tb.reshape(tb.tensor(list(range(24)), backend="binary"), (2, 3, 4))
    data = tb.asarray(x.tolist(), backend="numpy")
    for op in (tb.sum, tb.max, tb.min, tb.all, tb.any, tb.prod):
        assert op(x, axis=axes).tolist() == op(data, axis=axes).tolist()


@pytest.mark.parametrize("shapes", [((3, 1), (1, 4)), ((400, 3), (3,)), ((700,), ()), ((2, 1, 300), (5, 1))], ids=str)
def test_columns_are_broadcast(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    x, y = (tb.reshape(tb.arange(math.prod(shape), dtype="f32", backend="binary"), shape) for shape in shapes)
    reference = x.backend_copy("numpy") - y.backend_copy("numpy")
    assert (x - y).tolist() == reference.tolist()
