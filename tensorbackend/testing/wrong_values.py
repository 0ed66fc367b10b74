"""Values that hardly any parameter accepts, for fuzzers of calls, as functions that each make a new value.

Objects of every kind, containers that are ragged, deep or hold themselves, arrays that are not tensors, and numbers
beyond any dtype.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import tensorbackend as tb


class UnknownObject:
    """An object of a kind that the library does not know."""


class FailingRepr:
    """An object whose `repr` raises an error."""

    def __repr__(self) -> str:
        raise RuntimeError


def itself() -> list[Any]:
    """A list that holds itself."""
    cycle: list[Any] = [1]
    cycle.append(cycle)
    return cycle


def nest_mutually() -> tuple[Any, ...]:
    """A tuple, a dictionary and a list that hold each other."""
    cycle: list[Any] = []
    cycle.append({"a": (cycle, 1)})
    return (cycle,)


def only_itself() -> list[Any]:
    """A list of nothing but itself, which has no elements however deep one looks."""
    cycle: list[Any] = []
    cycle.append(cycle)
    return cycle


def deep() -> list[Any]:
    """Lists nested deeper than Python calls functions."""
    nested: list[Any] = [1]
    for _ in range(3000):
        nested = [nested]
    return nested


WRONG: list[Callable[[], Any]] = [
    *[lambda value=value: value for value in (
        None, True, False, "text", "", b"ab", (), (1, 2, 3), (0, 0), (-1,), (2, -3), (True,), (1.5,), ((0, 1), (1, 0)),
        ("a", "a"), ("a", 1), (None, "b"), ((0, 1, 2), 3), ((0, 1),), (int, float), "f32", "float33", "i8", "nowhere",
        "jax:tpu", "\ud800", "a\0b", "ij,jk", "->", "numpy", "cuda:7", ..., NotImplemented, -1, -7, 99, 1.5, -0.0, 1j,
        float("nan"), float("inf"), -float("inf"), 1e300, complex("nan+infj"), 1 << 63, -(1 << 63) - 1, 1 << 64,
        10**30, 10**5000, -(10**5000), (1 << 63, 2), (10**5000,), slice(None), slice("a", None), slice(None, None, 0),
        range(3), frozenset((0,)), UnknownObject, object, int, np, tb.float32, tb.Template, np.dtype("U3"),
        np.dtype([("a", "f4")]), np.ma.masked, np.float64(2.5), np.int8(-3), np.bool_(True), np.longdouble(2),
        np.str_("a"), fractions.Fraction(1, 2), decimal.Decimal(2), datetime.date(2020, 1, 1),
        Path("nowhere") / "x.npy",
    )],
    UnknownObject, FailingRepr, object, itself, nest_mutually, only_itself, deep, list, dict, set,
    lambda: bytearray(b"ab"), lambda: memoryview(b"abcd"), lambda: ValueError("x"),
    lambda: lambda *arguments: arguments,
    lambda: {"a": 1}, lambda: {0: (1, 2)}, lambda: {"n": 2}, lambda: {"a": 10**5000}, lambda: {1, 2},
    lambda: {"a", "b"},
    lambda: iter([1, 2]), lambda: (number for number in (1, 2)), lambda: [10**5000], lambda: [None], lambda: ["a"],
    lambda: [[1, 2], [3]], lambda: [1, [2]], lambda: [[], [1]], lambda: [[]], lambda: [1.0, 2.0], lambda: [..., 0],
    lambda: [[1, 2], [3, 4]], lambda: np.array([1.5, 2.5]), lambda: np.array(2), lambda: np.zeros((0, 3)),
    lambda: np.arange(6).reshape(2, 3), lambda: np.ma.masked_array([1.0, 2.0], [True, False]),
    lambda: np.zeros(2, [("a", "f4"), ("b", "i2")]), lambda: np.zeros(2, [("a", "f4")])[0],
    lambda: np.array([1, None], object), lambda: np.array(["a", "b"]), lambda: np.array("2020-01-01", "M8[s]"),
]  # fmt: skip
"""Functions that each make a wrong value."""
