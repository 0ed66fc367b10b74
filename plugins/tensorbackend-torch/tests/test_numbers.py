"""Tests what PyTorch lacks or does differently: unsigned dtypes, casts, ties, products of integers."""

from __future__ import annotations

import math
import random
import runpy
from itertools import product
from pathlib import Path

import pytest
import tensorbackend as tb
import torch
from tensorbackend.dtypes import ALL_DTYPES, DType, iinfo

from tensorbackend_torch import products
from tensorbackend_torch.ways import UNSIGNED

TABLES = runpy.run_path(str(Path(__file__).parents[1] / "tables.py"))
EDGES = [0, 1, 2, 3, 7, 2**31, 2**32 - 1, 2**32, 2**62, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 2, 2**64 - 1]


def test_the_table_of_ways_is_current() -> None:
    assert TABLES["PAGE"].read_text() == TABLES["page"](), "run python tables.py"


@pytest.mark.parametrize("dtype", UNSIGNED, ids=str)
def test_unsigned_division_shifts_and_order(dtype: DType) -> None:
    random.seed(1)
    numbers = [number & (1 << dtype.bits) - 1 for number in (*EDGES, *(random.getrandbits(64) for _ in range(20)))]
    left = tb.tensor([[number] for number in numbers], dtype=dtype, backend="torch")
    right = tb.tensor(numbers, dtype=dtype, backend="torch")
    pairs = [[(a, b) for b in numbers] for a in numbers]
    assert (left // right).tolist() == [[a // b if b else 0 for a, b in row] for row in pairs]
    assert (left % right).tolist() == [[a % b if b else 0 for a, b in row] for row in pairs]
    assert (left < right).tolist() == [[a < b for a, b in row] for row in pairs]
    assert tb.maximum(left, right).tolist() == [[max(pair) for pair in row] for row in pairs]
    assert tb.sort(right).tolist() == sorted(numbers)
    amounts = tb.tensor(list(range(dtype.bits + 1)), dtype=dtype, backend="torch")
    assert (left >> amounts).tolist() == [[a >> n for n in range(dtype.bits + 1)] for a in numbers]


@pytest.mark.parametrize("dtype", UNSIGNED, ids=str)
def test_unsigned_numbers_as_floats_and_back(dtype: DType) -> None:
    limit = (1 << dtype.bits) - 1
    x = tb.tensor([number & limit for number in EDGES], dtype=dtype, backend="torch")
    assert tb.astype(x, "float64").tolist() == [float(number & limit) for number in EDGES]
    floats = tb.tensor([-1.0, float("nan"), 1e30, 2.0**15 + 1], dtype="float64", backend="torch")
    assert tb.astype(floats, dtype).tolist() == [0, 0, limit, 2**15 + 1]


@pytest.mark.parametrize("dtype", [dtype for dtype in ALL_DTYPES if dtype.is_integer or dtype.is_floating], ids=str)
def test_the_largest_of_long_rows_are_those_of_sorted_rows(dtype: DType) -> None:
    random.seed(3)
    edges = [math.nan, math.inf, -math.inf, -0.0, -1.5] if dtype.is_floating else [iinfo(dtype).max, iinfo(dtype).min]
    numbers = [*edges, 0, 0, 1, 1, 1]
    rows = [random.choices(numbers[start:], k=1500) for start in (0, 1, -5)]
    x = tb.tensor(rows, dtype=dtype, names=("row", "place"), backend="torch")
    for k in (1, 100, 187):
        values, places = tb.top_k(x, k)
        wanted, wanted_places = tb.top_k(x.backend_copy("binary"), k)
        assert places.to_binary() == wanted_places.to_binary()
        assert str(values.tolist()) == str(wanted.tolist())


LIMITS = [math.nan, math.inf, -math.inf, 0.0, -0.5, 127.5, -128.5, 255.5, 65535.0, -(2.0**31), 2.0**63]


@pytest.mark.parametrize("source", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("target", [dtype for dtype in ALL_DTYPES if dtype.is_integer], ids=str)
def test_floats_beyond_a_range_of_integers_saturate(source: str, target: DType) -> None:
    numbers = [number for number in LIMITS if source != "float16" or not 65504 < abs(number) < math.inf]
    for part in (numbers, [0.0, -0.5, 127.5], [], [math.nan]):
        x = tb.tensor(part, dtype=source, backend="torch")
        assert tb.astype(x, target).tolist() == tb.astype(x.backend_copy("binary"), target).tolist()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_bounds_of_every_kind(dtype: str) -> None:
    numbers = [0.0, -0.0, 1.5, -1.5, math.nan, math.inf, -math.inf]
    x = tb.tensor(numbers, dtype=dtype, backend="torch")
    expected = x.backend_copy("binary")
    for low, high in product(numbers, numbers):
        assert str(tb.clip(x, low, high).tolist()) == str(tb.clip(expected, low, high).tolist())
        assert str(tb.maximum(x, low).tolist()) == str(tb.maximum(expected, low).tolist())
        assert str(tb.minimum(low, x).tolist()) == str(tb.minimum(low, expected).tolist())
    rows, columns = tb.expand_dims(x, axis=0), tb.expand_dims(x, axis=1)
    for function in (tb.maximum, tb.minimum):
        wanted = function(rows.backend_copy("binary"), columns.backend_copy("binary"))
        assert str(function(rows, columns).tolist()) == str(wanted.tolist())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_roots_are_rounded_to_nearest(dtype: str) -> None:
    random.seed(2)
    numbers = [0.5, 8552.0, 0.0, -0.0, float("inf"), *(random.uniform(0, 100) for _ in range(1000))]
    x = tb.tensor(numbers, dtype=dtype, backend="torch")
    assert tb.sqrt(x).to_binary() == tb.sqrt(x.backend_copy("binary")).to_binary()
    assert tb.isnan(tb.sqrt(tb.tensor([-1.0], dtype=dtype, backend="torch"))).tolist() == [True]
    assert tb.sqrt(tb.imag(tb.conj(tb.tensor([-4j], backend="torch")))).tolist() == [2.0]


def test_remainders_of_quotients_that_overflow() -> None:
    cases = [
        (1.7976931348623157e308, -0.5),
        (-1e308, 0.3),
        (1e300, 1e-300),
        (7.5, 2.0),
        (math.inf, 2.0),
        (2.0, math.inf),
    ]
    left, right = zip(*(cases * 4), strict=True)  # enough for a vector loop
    on_torch, on_binary = (
        tb.remainder(
            tb.tensor(left, dtype="f64", backend=backend), tb.tensor(right, dtype="f64", backend=backend)
        ).tolist()
        for backend in ("torch", "binary")
    )
    assert repr(on_torch) == repr(on_binary)


def test_products_by_parts_of_16_bits_wrap_as_those_of_integers() -> None:
    generator = torch.Generator().manual_seed(1)
    left, right = (torch.randint(-(2**63), 2**63 - 1, shape, generator=generator) for shape in ((2, 3, 5), (2, 5, 4)))
    assert torch.equal(products._by_limbs(left, right), left @ right)


def test_an_infinity_stays_in_its_windows() -> None:
    x = tb.tensor([[[1.0, 2.0, float("inf"), 4.0, 5.0]]], backend="torch")
    kernel = tb.tensor([[[1.0, 0.0]]], backend="torch")
    assert str(tb.conv(x, kernel).tolist()) == "[[[1.0, nan, inf, 4.0]]]"


@pytest.mark.parametrize("axes", [(), (0,), (0, 2), (0, 1, 2), None])
def test_softmax_along_several_axes(axes: tuple[int, ...] | None) -> None:
    x = tb.astype(tb.iota((2, 3, 2), backend="torch"), "float32")
    for function in (tb.softmax, tb.log_softmax):
        reference = function(x.backend_copy("numpy"), axis=axes)
        assert tb.all_close(function(x, axis=axes), reference.backend_copy("torch"), rtol=1e-6).item()


@pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)
def test_the_last_of_repeated_indices_stays(dtype: DType) -> None:
    count = 1000
    x = tb.zeros((2,), dtype=dtype, backend="torch")
    indices = tb.zeros((count, 1), dtype="int64", backend="torch")
    updates = tb.astype(tb.iota((count,), backend="torch") == count - 1, dtype)
    assert tb.indexed_put(x, indices, updates).tolist() == [1, 0]
