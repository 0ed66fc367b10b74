"""Numbers are written to elements as by NumPy, through views too, and in the memory that is there."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tensorbackend.numpy as np

NUMBERS = [2, 2.5, True, numpy.int64(3), numpy.float64(3.5), numpy.float32(1.25), numpy.bool_(True), numpy.uint8(7)]


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1", "?", "c16"])
@pytest.mark.parametrize("value", NUMBERS, ids=repr)
def test_a_number_is_written_to_arrays_and_views_as_by_numpy(dtype: str, value: Any) -> None:
    results = []
    for namespace in (np, numpy):
        x = namespace.zeros((3, 4), dtype=dtype)
        row, column = x[1], x[:, 2]
        x[0, 0] = value
        row[3] = value
        column[numpy.int64(2)] = value
        x[2][0] = value
        results.append((str(x.dtype), x.tolist(), row.tolist(), column.tolist()))
    assert results[0] == results[1]


EXACT = [
    ("f8", numpy.float64(2)), ("i8", numpy.int64(2)), ("f4", numpy.float32(2)), ("?", True), ("f8", 2.0), ("i8", 2),
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "value"), EXACT)
def test_a_number_is_written_through_a_view_without_a_copy(dtype: str, value: Any) -> None:
    x: Any = np.zeros((30, 40), dtype=dtype)
    x[0, 0] = value  # gives x memory of its own
    row = x[1]

    def place() -> int:
        return int(x._t.data.__array_interface__["data"][0])

    before = place()
    row[3] = value
    assert place() == before
    assert x[1, 3] == value


def test_a_tensor_that_shares_the_memory_does_not_see_the_number() -> None:
    x = np.zeros((3, 4))
    row, seen = x[1], x.tensor
    row[0] = numpy.float64(5)
    assert x[1, 0] == 5
    assert seen.tolist() == [[0.0] * 4] * 3
