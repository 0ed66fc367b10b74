"""Casts from and to narrow dtypes, on all backends of the package, by the measure of ml_dtypes."""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.dtypes import NARROW_DTYPES, DType

each = pytest.mark.parametrize("dtype", NARROW_DTYPES, ids=str)


@cache
def sources() -> dict[str, Any]:
    """All numbers of 8 and 16 bits, and many others: near ties, and of each magnitude."""
    draw = np.random.default_rng(0)
    words = np.arange(65536, dtype=np.uint16)
    found: dict[str, Any] = {"float16": words.view(np.float16), "bfloat16": words.view(ml_dtypes.bfloat16)}
    with np.errstate(all="ignore"):
        bits = draw.integers(0, 1 << 32, 10000, dtype=np.uint32)
        found["float32"] = np.concatenate([bits.view(np.float32), found["bfloat16"].astype(np.float32)])
        near = found["bfloat16"].astype(np.float64)[::3]
        found["float64"] = np.concatenate([near, near * (1 + 2.0**-40), near * (1 - 2.0**-40)])
    for name in ("bool", "int8", "uint8", "int16", "uint16"):
        limits = (0, 1) if name == "bool" else (np.iinfo(name).min, np.iinfo(name).max)
        found[name] = np.arange(limits[0], limits[1] + 1).astype(name)
    for name in ("int32", "uint32", "int64", "uint64"):
        kind = np.iinfo(name)
        numbers = draw.integers(kind.min, kind.max, 3000, dtype=name, endpoint=True)
        edges = np.array([3 << 20, (3 << 20) + 1, (3 << 24) - 1, kind.max, kind.min], name)
        found[name] = np.concatenate([numbers >> draw.integers(0, kind.bits, 3000).astype(name), edges])
    return found


def exact(values: Any) -> Any:
    """Numbers as float32 that any narrower dtype rounds as it would round the numbers themselves.

    ml_dtypes rounds float64 and wide integers to float32 first, and so twice.
    """
    if values.dtype.itemsize < 4 or values.dtype == np.float32:
        return values.astype(np.float32)
    near = values.astype(np.float32)
    if values.dtype.kind != "f":
        pairs = zip(map(int, values.tolist()), map(int, near.tolist()), strict=True)
        signs = np.array([(number > rounded) - (number < rounded) for number, rounded in pairs])
    else:
        back = near.astype(np.float64)
        signs = np.where(np.isfinite(values) & (back != values), np.where(values > back, 1, -1), 0)
    even = near.view(np.uint32) % 2 == 0
    towards = np.where(signs > 0, np.inf, -np.inf).astype(np.float32)
    return np.where((signs != 0) & even, np.nextafter(near, towards), near)


def wanted_codes(values: Any, dtype: DType) -> Any:
    """What ml_dtypes gives; floats saturate in integer dtypes and NaN is 0, as everywhere in this library."""
    if dtype.kind == "float":
        numbers = exact(values)
        codes = numbers.astype(dtype.dtype).view(np.uint8)
        if dtype is tb.float8_e8m0fnu:  # ml_dtypes before 0.7 rounds these up
            codes[(numbers > 2.0**-127) & (numbers < 1.5 * 2.0**-127)] = 0
        return codes
    if values.dtype.kind in "iub":
        return values.astype(dtype.dtype).view(np.uint8)
    limits, numbers = tb.iinfo(dtype), np.nan_to_num(values.astype(np.float64), posinf=100, neginf=-100)
    return np.clip(numbers, limits.min, limits.max).astype(np.int8).astype(dtype.dtype).view(np.uint8)


def wanted_numbers(dtype: DType, target: str) -> Any:
    """The numbers of all codes in another dtype, by ml_dtypes."""
    codes = np.arange(1 << dtype.bits, dtype=np.uint8).view(dtype.dtype)
    if target == "bool":
        return codes.astype(np.float32) != 0
    theirs = np.dtype(ml_dtypes.bfloat16 if target == "bfloat16" else target)
    if dtype.kind == "float" and theirs.kind in "iu":
        limits = np.iinfo(theirs)
        numbers = [0.0 if number != number else number for number in codes.astype(np.float64).tolist()]
        return np.array([int(max(limits.min, min(limits.max, number))) for number in numbers], theirs)
    with np.errstate(over="ignore"):
        return codes.astype(theirs)


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
@each
def test_all_casts_to_a_narrow_dtype(dtype: DType, backend: str) -> None:
    values = sources()
    tensors = {name: tb.asarray(numbers, backend=backend) for name, numbers in values.items()}

    def cast(tensors: dict[str, tb.Tensor]) -> dict[str, tb.Tensor]:
        return {name: tb.astype(x, dtype) for name, x in tensors.items()}

    results = tb.jit(cast)(tensors) if backend == "jax" else cast(tensors)
    with np.errstate(all="ignore"):
        for name, codes in results.items():
            ours, theirs = np.asarray(codes).view(np.uint8), wanted_codes(values[name], dtype)
            if backend == "jax" and dtype.kind == "float":  # whose casts may lose the sign of a NaN
                known = ~np.isnan(values[name].astype(np.float32))
                ours, theirs = ours[known], theirs[known]
            assert np.array_equal(ours, theirs), (name, values[name][ours != theirs][:5] if backend != "jax" else None)


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
@each
def test_all_casts_from_a_narrow_dtype(dtype: DType, backend: str) -> None:
    x = tb.asarray(np.arange(1 << dtype.bits, dtype=np.uint8).view(dtype.dtype), backend=backend)
    assert x.dtype is dtype
    targets = list(sources())

    def cast(x: tb.Tensor) -> list[tb.Tensor]:
        return [tb.astype(x, target) for target in targets]

    for target, result in zip(targets, tb.jit(cast)(x) if backend == "jax" else cast(x), strict=True):
        ours, theirs = np.asarray(result), wanted_numbers(dtype, target)
        assert ours.dtype == theirs.dtype
        assert np.array_equal(ours.astype("f8"), theirs.astype("f8"), equal_nan=True), target
        assert np.array_equal(np.signbit(ours.astype("f8")), np.signbit(theirs.astype("f8"))), target


@pytest.mark.parametrize("backend", ["binary", "numpy"])
def test_casts_between_narrow_dtypes(backend: str) -> None:
    for source in NARROW_DTYPES:
        codes = np.arange(1 << source.bits, dtype=np.uint8).view(source.dtype)
        x = tb.asarray(codes, backend=backend)
        for target in NARROW_DTYPES:
            wide = codes.astype(np.float32 if source.kind == "float" else np.int8)
            theirs = codes.view(np.uint8) if source is target else wanted_codes(wide, target)
            assert np.array_equal(np.asarray(tb.astype(x, target)).view(np.uint8), theirs), (source, target)


def test_casts_ignore_the_precision_that_other_ops_are_cast_to() -> None:
    with tb.precision(64, cast=True):
        assert tb.astype(tb.asarray([1.0, 449.0]), "f8_e4m3").tolist() == [1.0, 448.0]
