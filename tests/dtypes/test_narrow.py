"""The codes of narrow dtypes, their limits and their promotion, by the measure of ml_dtypes."""

from __future__ import annotations

import pickle
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tensorbackend import dtypes
from tensorbackend.dtypes import NARROW_DTYPES, DType, as_dtype, check_scalar, finfo, iinfo, promote_types
from tensorbackend.dtypes.narrow import code_values, encoder
from tensorbackend.dtypes.packing import pack, unpack
from tensorbackend.errors import DTypeError, OutOfRangeError
from tensorbackend.template import Template

each = pytest.mark.parametrize("dtype", NARROW_DTYPES, ids=str)
FLOATS = [dtype for dtype in NARROW_DTYPES if dtype.kind == "float"]
WHOLE = [dtype for dtype in NARROW_DTYPES if dtype.kind != "float"]


@each
def test_a_narrow_dtype_is_one_object_under_all_its_names(dtype: DType) -> None:
    theirs = np.dtype(getattr(ml_dtypes, dtype.name))
    assert as_dtype(dtype.name) is as_dtype(dtype.alias) is as_dtype(theirs) is dtype
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert dtype.dtype == theirs


def test_nx_and_safetensors_have_names_of_their_own() -> None:
    assert as_dtype("f8_e5m2") is dtypes.float8_e5m2
    assert as_dtype("f8_e4m3fn") is dtypes.float8_e4m3fn
    assert as_dtype("s4") is dtypes.int4


@pytest.mark.parametrize(
    ("code", "ours", "numpys"), [("f4", "float4_e2m1fn", "float32"), ("f8", "float8_e5m2", "float64")]
)
def test_a_code_of_numpy_for_a_wide_float_is_no_narrow_one(code: str, ours: str, numpys: str) -> None:
    with pytest.raises(DTypeError, match=f"write '{ours}', or '{numpys}' for NumPy's '{code}'"):
        as_dtype(code)
    assert as_dtype(f"<{code}").name == np.dtype(code).name == numpys


@each
def test_codes_stand_for_the_numbers_of_ml_dtypes(dtype: DType) -> None:
    codes = np.arange(1 << dtype.bits, dtype=np.uint8)
    theirs = codes.view(dtype.dtype).astype(np.float64)
    ours = np.array(code_values(dtype), np.float64)
    assert np.array_equal(ours, theirs, equal_nan=True)
    assert np.array_equal(np.signbit(ours), np.signbit(theirs))
    assert pack(unpack(bytes(codes), dtype), dtype) == pack(theirs.tolist(), dtype)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_each_float16_and_each_tie_is_rounded_as_ml_dtypes_rounds_it(dtype: DType) -> None:
    halves = np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float32)
    with np.errstate(invalid="ignore"):
        finite = np.unique(np.array(code_values(dtype), np.float32))
        middle = (finite[1:] + finite[:-1]) / 2
        ties = np.concatenate([middle, np.nextafter(middle, -np.inf), np.nextafter(middle, np.inf)])
        values = np.concatenate([halves, ties, [np.inf, -np.inf, np.nan, 1e38, -1e38, 2.0**-127, 2.0**-149]])
        values = values.astype(np.float32)
        wanted = values.astype(dtype.dtype).view(np.uint8)
    if dtype is dtypes.float8_e8m0fnu:  # ml_dtypes before 0.7 rounds these up
        wanted[(values > 2.0**-127) & (values < 1.5 * 2.0**-127)] = 0
    ours = np.array(list(map(encoder(dtype), values.tolist())), np.uint8)
    different = ours != wanted
    # A NaN that a float32 becomes keeps its sign in both, but Python's floats come from float32 by a cast that may not.
    assert not different.any(), values[different][:5]


@pytest.mark.parametrize("dtype", WHOLE, ids=str)
def test_integers_wrap_as_those_of_ml_dtypes(dtype: DType) -> None:
    numbers = np.arange(-300, 300)
    ours = np.array(list(map(encoder(dtype), numbers.tolist())), np.uint8)
    assert np.array_equal(ours, numbers.astype(dtype.dtype).view(np.uint8))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_limits_of_floats(dtype: DType) -> None:
    theirs: Any = ml_dtypes.finfo(dtype.dtype)  # type: ignore[no-untyped-call] # untyped in ml_dtypes
    ours = finfo(dtype)
    for field in ("bits", "eps", "max", "min", "smallest_normal"):
        assert getattr(ours, field) == float(getattr(theirs, field)), field


@pytest.mark.parametrize("dtype", WHOLE, ids=str)
def test_limits_of_integers(dtype: DType) -> None:
    theirs: Any = ml_dtypes.iinfo(dtype.dtype)  # type: ignore[no-untyped-call] # untyped in ml_dtypes
    assert (iinfo(dtype).bits, iinfo(dtype).min, iinfo(dtype).max) == (theirs.bits, theirs.min, theirs.max)


def test_narrow_dtypes_promote_with_no_other() -> None:
    for dtype in NARROW_DTYPES:
        assert promote_types(dtype, dtype) is dtype
    with pytest.raises(DTypeError, match=r"left=float8_e5m2, right=float32; .* such as astype\(x, 'float32'\)"):
        promote_types(dtypes.float8_e5m2, dtypes.float32)
    with pytest.raises(DTypeError, match=r"such as astype\(x, 'int8'\)"):
        promote_types(dtypes.int8, dtypes.int4)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(8, "s4"), (-1, "u2"), (465.0, "f8_e4m3"), (61441.0, "f8_e5m2"), (7.5, "f4_e2m1"), (0.0, "f8_e8m0"),
     (float("nan"), "f4_e2m1"), (float("inf"), "f8_e4m3")],
)  # fmt: skip
def test_a_number_that_a_narrow_dtype_does_not_hold_is_an_error(value: float, dtype: str) -> None:
    with pytest.raises(OutOfRangeError):
        check_scalar(value, as_dtype(dtype))


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(7, "s4"), (464.0, "f8_e4m3"), (float("inf"), "f8_e5m2"), (7, "f4_e2m1"), (float("nan"), "f8_e5m2")],
)
def test_a_number_near_to_one_that_it_holds_is_none(value: float, dtype: str) -> None:
    check_scalar(value, as_dtype(dtype))


def test_templates_count_bits() -> None:
    assert Template((3, 5), "int4").nbytes == 8
    assert Template((5,), "uint2").nbytes == 2
    assert Template((5,), "float8_e5m2").nbytes == 5
