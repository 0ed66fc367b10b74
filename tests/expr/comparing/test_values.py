"""Distances of elements in ulps, by NumPy's spacing, and ranges."""

from __future__ import annotations

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.dtypes import bool_, complex128, float32, int64
from tensorbackend.expr.comparing.values import apart, array_of, beyond, flushed, range_of, tensor_of, units

inf, nan = numpy.inf, numpy.nan


def test_units_are_numpys_spacing() -> None:
    values = numpy.asarray([1.0, 1.5, 2.0, 3.1e38, 1e-30, 7e5], numpy.float32)
    assert units(values.astype(float), float32).tolist() == numpy.spacing(values).tolist()


@pytest.mark.parametrize(
    ("first", "second", "ulps", "differ"),
    [
        (1.0, 1.0 + 2**-23, 0, True), (1.0, 1.0 + 2**-23, 1, False), (0.0, -0.0, 0, True), (0.0, -0.0, 1, False),
        (nan, nan, 0, False), (nan, 1.0, 9, True), (inf, inf, 0, False), (inf, -inf, 9, True), (1e-40, 0.0, 0, False),
        (inf, 3.4028234663852886e38, 1, False), (inf, 3.4e38, 1, True), (1.0, 1.1, 4, True),
    ],
)  # fmt: skip
def test_which_floats_are_too_far_apart(first: float, second: float, ulps: float, differ: bool) -> None:
    assert bool(beyond(numpy.asarray(first), numpy.asarray(second), float32, ulps)) is differ


def test_exact_dtypes_are_equal_or_not() -> None:
    assert beyond(numpy.asarray([1, 2]), numpy.asarray([1, 3]), int64, 9).tolist() == [False, True]
    assert beyond(numpy.asarray([True]), numpy.asarray([False]), bool_, 9).tolist() == [True]
    assert not beyond(numpy.asarray([1]), numpy.asarray([3]), int64, 0, numpy.asarray([inf])).any()


def test_complex_numbers_count_in_ulps_of_their_larger_part() -> None:
    first, second = numpy.asarray([1 + 1e-17j, nan + 0j]), numpy.asarray([1 + 0j, nan + 0j])
    assert apart(first, second, complex128)[1].tolist() == [1e-17 / 2**-52, 0.0]


@pytest.mark.parametrize("dtype", ["f32", "bf16", "f16", "c64", "s8", "bool", "f64", "float8_e4m3fn", "int4"])
def test_a_tensor_comes_back_from_its_array(dtype: str) -> None:
    x = tb.astype(tb.asarray([0.0, 1.0, -2.0 if dtype not in ("bool",) else 1.0]), dtype)
    back = tensor_of(array_of(x), x)
    assert back.template is x.template
    assert back.to_binary() == x.to_binary()


def test_ranges_count_what_is_not_finite() -> None:
    assert str(range_of(tb.asarray([1.0, nan, -3.0, inf]))) == "f32[4] from -3 to inf, 1 NaN and 1 infinite"
    assert str(range_of(tb.asarray(2))) == "s64 of 2"
    assert str(range_of(tb.zeros(0))) == "f32[0]"


def test_subnormals_are_flushed_to_zeros_of_their_sign() -> None:
    x = tb.asarray([1e-40, -1e-40, 1.0], dtype="f32")
    assert flushed(x).tolist() == [0.0, 0.0, 1.0]
    assert tb.signbit(flushed(x)).tolist() == [False, True, False]
    assert flushed(tb.ones(2)).tolist() == [1.0, 1.0]
