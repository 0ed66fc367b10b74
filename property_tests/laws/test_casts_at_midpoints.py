"""Casts at the midpoints between two numbers, and one step next to them, round once to nearest even on each backend."""

from __future__ import annotations

import os
from itertools import product
from typing import Any

import ml_dtypes
import numpy
import pytest

import tensorbackend as tb

BACKENDS = os.environ.get("TENSORBACKEND_BACKENDS", "binary,numpy,jax").split(",")
COUNT = int(os.environ.get("TENSORBACKEND_CASTS", "200"))
NARROW: dict[str, Any] = {"f16": numpy.float16, "bf16": ml_dtypes.bfloat16, "f32": numpy.float32}
FLOATS: dict[str, Any] = {"f64": numpy.float64, "f32": numpy.float32}
INTEGERS: dict[str, Any] = {"s64": numpy.int64, "s32": numpy.int32, "u64": numpy.uint64}


def following(x: Any) -> Any:
    """The next number of a dtype, away from 0."""
    bits = f"u{x.dtype.itemsize}"
    return (x.view(bits) + 1).astype(bits).view(x.dtype)


def is_even(x: Any) -> Any:
    return (x.view(f"u{x.dtype.itemsize}") & 1) == 0


def neighbours(target: Any, largest: float, seed: int) -> tuple[Any, Any]:
    """Numbers of all magnitudes of a dtype, also subnormal ones, and those that follow them."""
    random = numpy.random.default_rng(seed)
    limits: Any = tb.finfo(tb.asarray(numpy.zeros(1, target)).dtype)
    top = numpy.log2(min(float(limits.max), largest)) - 1
    low = numpy.log2(float(limits.smallest_normal)) - (6 if target is numpy.float16 else 0)  # XLA has no others
    with numpy.errstate(all="ignore"):
        below = (2.0 ** random.uniform(low, top, COUNT)).astype(target)
    below = below[numpy.asarray(below, "f8") > 0]
    return below, following(below)


def assert_equal(x: tb.Tensor, moved: Any, expected: Any) -> None:
    got = numpy.asarray(x.astype("f64").tolist())
    wrong = got != expected
    assert not wrong.any(), list(zip(moved[wrong], got[wrong], expected[wrong], strict=True))[:3]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (source, target)
        for source, target in product(FLOATS, NARROW)
        if FLOATS[source](0).itemsize > numpy.dtype(NARROW[target]).itemsize
    ],
)
@pytest.mark.parametrize("backend", BACKENDS)
def test_floats_round_once(backend: str, source: str, target: str) -> None:
    below, above = neighbours(NARROW[target], 1e30, 1)
    middle = ((below.astype("f8") + above.astype("f8")) / 2).astype(FLOATS[source])
    even = numpy.where(is_even(below), below.astype("f8"), above.astype("f8"))
    for moved, expected in (
        (middle, even),
        (numpy.nextafter(middle, FLOATS[source](numpy.inf)), above.astype("f8")),
        (numpy.nextafter(middle, FLOATS[source](0)), below.astype("f8")),
    ):
        for sign in (1, -1):
            x = tb.asarray(sign * moved, backend=backend)
            compiled: Any = tb.jit(lambda x: x.astype(target) * 1)
            for got in (x.astype(target), compiled(x)):
                assert_equal(got, moved, sign * expected)


@pytest.mark.parametrize("target", NARROW)
@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_integers_round_once(backend: str, source: str, target: str) -> None:
    below, above = neighbours(NARROW[target], float(numpy.iinfo(INTEGERS[source]).max) / 4, 2)
    spread = above.astype("f8") - below.astype("f8")
    whole = spread >= 4
    below, above = below[whole], above[whole]
    middle = below.astype("f8").astype(INTEGERS[source]) + (spread[whole] / 2).astype(INTEGERS[source])
    even = numpy.where(is_even(below), below.astype("f8"), above.astype("f8"))
    one = INTEGERS[source](1)
    for moved, expected in ((middle, even), (middle + one, above.astype("f8")), (middle - one, below.astype("f8"))):
        assert_equal(tb.asarray(moved, backend=backend).astype(target), moved, expected)
