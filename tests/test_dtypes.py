"""Promotion of dtypes and Python scalars, and limits of dtypes."""

import math
import pickle
import re
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend import dtypes
from tensorbackend.dtypes import (
    ALL_DTYPES,
    as_dtype,
    check_scalar,
    check_scalars,
    finfo,
    iinfo,
    promote_scalar,
    promote_types,
)
from tensorbackend.errors import ArgumentError, DTypeError, OutOfRangeError


@pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)
def test_a_dtype_is_one_object_under_all_its_names(dtype: dtypes.DType) -> None:
    assert as_dtype(dtype.name) is as_dtype(dtype.alias) is pickle.loads(pickle.dumps(dtype)) is dtype
    if dtype is not dtypes.bfloat16:
        assert as_dtype(np.dtype(dtype.name)) is dtype


def test_promotion_is_numpys_where_the_standard_defines_it() -> None:
    native = [dtype for dtype in ALL_DTYPES if dtype not in (dtypes.bfloat16, dtypes.bool_)]
    for left in native:
        for right in native:
            same_family = left.is_inexact == right.is_inexact and (left.is_integer == right.is_integer)
            if not same_family or ({left.name, right.name} & {"uint64"} and "int" in (left.kind, right.kind)):
                continue
            assert promote_types(left, right).name == np.promote_types(left.name, right.name).name


def test_promotion_where_libraries_differ() -> None:
    assert promote_types(dtypes.int32, dtypes.float16) is dtypes.float16
    assert promote_types(dtypes.float16, dtypes.bfloat16) is dtypes.float32
    assert promote_types(dtypes.bool_, dtypes.uint8) is dtypes.uint8
    with pytest.raises(DTypeError, match=r"common integer dtype, got left=uint64, right=int8; cast one of them"):
        promote_types(dtypes.uint64, dtypes.int8)


def test_python_numbers_are_weak() -> None:
    assert promote_scalar("int", dtypes.uint8) is dtypes.uint8
    assert promote_scalar("float", dtypes.int8) is dtypes.float32
    assert promote_scalar("complex", dtypes.float64) is dtypes.complex128
    with dtypes.precision(64):
        assert promote_scalar("float", dtypes.int8) is dtypes.float64


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(256, "u8"), (-1, "u8"), (2**63, "s64"), (1e39, "f32"), (65520.0, "f16"), (10**400, "f64"), (1e39j, "c64")],
)
def test_numbers_that_a_dtype_cannot_hold(value: complex, dtype: str) -> None:
    with pytest.raises(OutOfRangeError, match="choose a wider dtype"):
        check_scalar(value, as_dtype(dtype))


@pytest.mark.parametrize(("value", "dtype"), [(255, "u8"), (float("inf"), "f16"), (65519.0, "f16"), (True, "f32")])
def test_numbers_that_a_dtype_holds(value: complex, dtype: str) -> None:
    check_scalar(value, as_dtype(dtype))


@pytest.mark.parametrize("name", ["float16", "float32", "float64", "complex64"])
def test_floating_limits_are_numpys(name: str) -> None:
    ours, theirs = finfo(name), np.finfo(name)
    for field in ("bits", "eps", "max", "min", "smallest_normal"):
        assert getattr(ours, field) == float(getattr(theirs, field))


def test_integer_limits_are_numpys() -> None:
    for dtype in ALL_DTYPES:
        if dtype.is_integer:
            assert (iinfo(dtype).min, iinfo(dtype).max) == (np.iinfo(dtype.name).min, np.iinfo(dtype.name).max)


def test_an_unknown_dtype_is_named_with_those_there_are() -> None:
    with pytest.raises(DTypeError, match=r"expected a dtype, got dtype='float7'; the dtypes are bool, int8"):
        as_dtype("float7")


@pytest.mark.parametrize("source", ["float32", "float64"])
@pytest.mark.parametrize("target", ["int8", "int32", "int64", "uint8", "uint32", "uint64"])
def test_one_float_beyond_the_integers_saturates_wherever_it_stands(source: str, target: str) -> None:
    limits = tb.iinfo(target)
    for number, expected in ((1e30, limits.max), (-1e30, limits.min), (float("inf"), limits.max), (float("nan"), 0)):
        for position in (0, 7, 16, 36):
            numbers = [1.5] * 37
            numbers[position] = number
            integers = tb.astype(tb.asarray(numbers, dtype=source, backend="numpy"), target).tolist()
            assert (integers.pop(position), set(integers)) == (expected, {1})


@pytest.mark.parametrize("size", [4, 4096])
def test_extremes_of_two_zeros_have_the_sign_of_the_winner(size: int) -> None:
    x = tb.asarray([0.0, -0.0] * (size // 2), backend="numpy")
    for y, zeros in ((x, [0.0, -0.0]), (0.0, [0.0, 0.0]), (-0.0, [-0.0, -0.0])):
        for op, winner in ((tb.maximum, max), (tb.minimum, min)):
            pairs = zip([0.0, -0.0], zeros, strict=True)
            winners = [winner(pair, key=lambda zero: math.copysign(1, zero)) for pair in pairs] * (size // 2)
            assert str(op(x, y).tolist()) == str(op(y, x).tolist()) == str(winners)
    assert str(tb.clip(x, 0.0, 1.0).tolist()) == str([0.0] * size)
    assert str(tb.clip(x, -1.0, -0.0).tolist()) == str([-0.0] * size)
    assert str(tb.clip(x, -1.0, 1.0).tolist()) == str(x.tolist())


def test_numbers_are_checked_by_their_extremes_and_named_one_by_one() -> None:
    for numbers in ([1, 300, -300], [2, -1, 300]):
        wrong = next(number for number in numbers if not 0 <= number <= 255)
        with pytest.raises(OutOfRangeError, match=f"value={wrong}"):
            check_scalars(numbers, dtypes.uint8)
    for place in range(3):
        floats = [1.0, 2.0]
        floats.insert(place, math.nan)
        check_scalars(floats, dtypes.float16)
        with pytest.raises(OutOfRangeError, match="value=1e"):
            check_scalars([*floats, 1e30], dtypes.float16)
        with pytest.raises(OutOfRangeError, match="value=1e"):
            check_scalars([1e30, *floats], dtypes.float16)
    check_scalars([math.inf, -math.inf, math.nan, 65519.0], dtypes.float16)
    check_scalars([], dtypes.int8)


@pytest.mark.parametrize("kind", ["text", None, [], {}, np.array([1, None], dtype=object), 3])
def test_a_kind_of_numbers_that_there_is_not(kind: Any) -> None:
    with pytest.raises(ArgumentError, match="expected kind to be 'bool', 'int', 'uint', 'float' or 'complex', got"):
        tb.default_dtype(kind)


@pytest.mark.parametrize(
    "code", ["?", "=f2", "=f4", "=f8", "=i2", "=i4", "|u1", "=u2", "=u4", "=c8", "=c16", "=i8", "<u8", "|i1", "<c8"]
)
def test_numpys_codes(code: str) -> None:
    dtype = np.dtype(code.replace("<", "="))
    assert as_dtype(code.replace("<", dtype.newbyteorder("=").str[0] if dtype.itemsize > 1 else "|")).dtype == dtype


@pytest.mark.parametrize(
    "code",
    [">f4" if np.dtype("f4").newbyteorder("=").str[0] == "<" else "<f4", "i8", "i4", "c8", "c4", "f", "|f", "<", ""],
)
def test_codes_that_are_refused(code: str) -> None:
    with pytest.raises(DTypeError):
        as_dtype(code)


def test_a_short_form_is_not_read_as_numpys_code() -> None:
    assert as_dtype("u8") is as_dtype("uint8")


@pytest.mark.parametrize("dtype", ALL_DTYPES)
def test_a_dtype_equals_what_stands_for_it(dtype: dtypes.DType) -> None:
    numpys = dtype.dtype
    assert dtype == numpys == dtype == numpys.type == dtype == dtype.name == dtype
    assert dtype.alias == dtype
    assert hash(dtype) == hash(as_dtype(dtype.name))
    others = [other for other in ALL_DTYPES if other is not dtype]
    assert not any(other == dtype or other == numpys.type or other == dtype.name for other in others)
    assert not any(dtype == nothing for nothing in (None, 3, float, int, "float7", object()))


@pytest.mark.parametrize("dtype", [*ALL_DTYPES, *dtypes.NARROW_DTYPES])
def test_a_dtype_is_no_function(dtype: dtypes.DType) -> None:
    answer = (
        f"{dtype.name}: expected a dtype to be an argument, got (2,); write tb.asarray(value, dtype=tb.{dtype.name})"
    )
    with pytest.raises(DTypeError, match=re.escape(answer) + "$"):
        dtype(2)
    assert getattr(tb, dtype.name) == dtype
