"""`vmap` over more examples than the dtype of the indices can count: 130 of int8, 260 of uint8, by loops over NumPy.

A batch rule may put the number of the example next to an index, in the dtype of the indices.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.testing import profile

from .test_traced_operands import CASES, COLUMNS, ROWS

EXAMPLES = {"int8": 130, "uint8": 260, "int16": 130}


def mapped(count: int) -> list[tuple[int | None, ...]]:
    """Return which operands have an axis of examples: all but none of them."""
    return [axes for axes in itertools.product([0, None], repeat=count) if any(axis == 0 for axis in axes)]


@pytest.mark.parametrize("backend", ["numpy", "binary"])
@pytest.mark.parametrize("name", CASES)
def test_each_example_has_its_own_indices(name: str, backend: str) -> None:
    case = CASES[name]
    shapes = [(ROWS, COLUMNS), case.indices, *([case.updates] if case.updates else [])]

    @profile(6)
    @given(st.sampled_from(sorted(EXAMPLES)), st.sampled_from(mapped(len(shapes))), st.integers(0, 999))
    def agrees(dtype: str, axes: tuple[int | None, ...], seed: int) -> None:
        count, random = EXAMPLES[dtype], numpy.random.default_rng(seed)
        arrays: list[Any] = []
        for place, (shape, axis) in enumerate(zip(shapes, axes, strict=True)):
            whole = shape if axis is None else (count, *shape)
            numbers = random.integers(0, ROWS, whole) if place == 1 else random.integers(-9, 9, whole)
            arrays.append(numbers.astype(dtype if place == 1 else "float64"))
        tensors = [tb.asarray(array, backend=backend) for array in arrays]
        found = numpy.asarray(tb.vmap(case.function, in_axes=axes)(*tensors))
        for example in {0, 1, 126, 127, 128, 129, count - 1}:
            row = [array if axis is None else array[example] for array, axis in zip(arrays, axes, strict=True)]
            expected = case.by_loop(row[0], row[1].astype("int64"), *row[2:])
            numpy.testing.assert_array_equal(found[example].reshape(expected.shape), expected)

    agrees()


@pytest.mark.parametrize("dtype", sorted(EXAMPLES))
def test_other_functions_of_positions(dtype: str) -> None:
    """Segments, keys, sorts and counts of a batch whose elements are positions."""
    count, random = EXAMPLES[dtype], numpy.random.default_rng(7)
    x, places = random.integers(-9, 9, (count, 5)).astype("float64"), random.integers(0, 4, (count, 5)).astype(dtype)
    ours = [tb.asarray(x), tb.asarray(places)]
    results = {
        "segment_sum": (lambda x, i: tb.segment_sum(x, i, size=4), lambda x, i: numpy.bincount(i, x, 4)),
        "x[i]": (lambda x, i: x[i], lambda x, i: x[i]),
        "one_hot": (lambda x, i: tb.nn.one_hot(i, 4), lambda x, i: numpy.eye(4)[i]),
        "argsort": (lambda x, i: tb.argsort(i), lambda x, i: numpy.argsort(i, kind="stable")),
        "sorted by keys": (
            lambda x, i: tb.take(x, tb.argsort(i)),
            lambda x, i: x[numpy.argsort(i, kind="stable")],
        ),
        "searchsorted": (
            lambda x, i: tb.searchsorted(tb.sort(i), i),
            lambda x, i: numpy.searchsorted(numpy.sort(i), i),
        ),
        "bincount": (lambda x, i: tb.bincount(i, size=4), lambda x, i: numpy.bincount(i, minlength=4)),
    }
    functions: dict[str, Any] = results
    for name, (function, by_numpy) in functions.items():
        found = numpy.asarray(tb.vmap(function)(*ours))
        expected = numpy.stack([by_numpy(*row) for row in zip(x, places, strict=True)])
        numpy.testing.assert_array_equal(found, expected, name)
