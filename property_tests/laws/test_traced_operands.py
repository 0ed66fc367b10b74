"""Ops that index, in functions that JAX traces, where only some of the operands are traced and the others have data.

Whether indices can be read decides what is checked: indices with data raise where they are out of range, even next to
traced values; traced indices are moved to the nearest end, or dropped with the mode "fill". Expected elements come from
loops over NumPy arrays.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.errors import IndexRangeError
from tensorbackend.testing import profile

ROWS, COLUMNS, COUNT = 3, 2, 3
Array = Any


class Case(NamedTuple):
    """An op, what its operands are (x, indices, updates), and how it is done by a loop for indices in range."""

    function: Callable[..., tb.Tensor]
    by_loop: Callable[..., Array]
    indices: tuple[int, ...]
    """The shape of the indices."""
    updates: tuple[int, ...] | None = None


def written(combine: Callable[[Array, Array], Array]) -> Callable[[Array, Array, Array], Array]:
    def by_loop(x: Array, indices: Array, updates: Array) -> Array:
        result = x.copy()
        for (row,), update in zip(indices, updates, strict=True):
            if 0 <= row < ROWS:
                result[row] = combine(result[row], update)
        return result

    return by_loop


def taken(x: Array, indices: Array) -> Array:
    return numpy.stack([x[row] if 0 <= row < ROWS else numpy.full(COLUMNS, numpy.nan) for row in indices.reshape(-1)])


def along(x: Array, indices: Array) -> Array:
    result = numpy.empty(indices.shape)
    for place in numpy.ndindex(indices.shape):
        inside = 0 <= indices[place] < ROWS
        result[place] = x[indices[place], place[1]] if inside else numpy.nan
    return result


def added_along(x: Array, indices: Array, updates: Array) -> Array:
    result = x.copy()
    for place in numpy.ndindex(indices.shape):
        if 0 <= indices[place] < ROWS:
            result[indices[place], place[1]] += updates[place]
    return result


WIDE = (COUNT, COLUMNS)
CASES = {
    "take": Case(lambda x, i, **mode: tb.take(x, i, axis=0, **mode), taken, (COUNT,)),
    "gather": Case(tb.gather, taken, (COUNT, 1)),
    "take_along_axis": Case(lambda x, i, **mode: tb.take_along_axis(x, i, axis=0, **mode), along, WIDE),
    "indexed_add": Case(tb.indexed_add, written(numpy.add), (COUNT, 1), WIDE),
    "indexed_put": Case(tb.indexed_put, written(lambda old, new: new), (COUNT, 1), WIDE),
    "indexed_max": Case(tb.indexed_max, written(numpy.maximum), (COUNT, 1), WIDE),
    "indexed_min": Case(tb.indexed_min, written(numpy.minimum), (COUNT, 1), WIDE),
    "add_along_axis": Case(lambda x, i, u, **mode: tb.add_along_axis(x, i, u, axis=0, **mode), added_along, WIDE, WIDE),
}


def subsets(case: Case) -> list[tuple[int, ...]]:
    count = 2 if case.updates is None else 3
    return [subset for size in range(count + 1) for subset in itertools.combinations(range(count), size)]


@pytest.mark.parametrize(
    ("name", "traced"),
    [(name, traced) for name, case in CASES.items() for traced in subsets(case)],
    ids=lambda value: value if isinstance(value, str) else "+".join("xiu"[place] for place in value) or "none",
)
def test_each_subset_of_operands_may_be_traced(name: str, traced: tuple[int, ...]) -> None:
    case = CASES[name]

    @profile(1)
    @given(st.integers(0, 999))
    def agrees(seed: int) -> None:
        random = numpy.random.default_rng(seed)
        for mode, outside in itertools.product(["error", "clip", "fill"], [None, ROWS, ROWS + 4]):
            indices = random.integers(0, ROWS, case.indices)
            if outside is not None:
                indices.reshape(-1)[random.integers(0, indices.size)] = outside
            check(case, traced, indices, mode, random, readable=1 not in traced)

    agrees()


def check(
    case: Case, traced: tuple[int, ...], indices: Array, mode: str, random: numpy.random.Generator, *, readable: bool
) -> None:
    """Compare a call in a function that JAX traces with loops."""
    shapes = [(ROWS, COLUMNS), *([case.updates] if case.updates else [])]
    numbers = [random.integers(-9, 9, shape).astype("float64") for shape in shapes]
    arrays = [numbers[0], indices, *numbers[1:]]
    tensors = [tb.asarray(array, backend="jax") for array in arrays]

    def function(*varying: tb.Tensor) -> tb.Tensor:
        held = list(tensors)
        for place, x in zip(traced, varying, strict=True):
            held[place] = x
        return case.function(*held, mode=mode)

    compiled: Any = jax.jit(function) if traced else function
    operands = [tensors[place] for place in traced]
    if mode == "error" and indices.max() >= ROWS and readable:
        with pytest.raises(IndexRangeError):
            compiled(*operands)
        return
    moved = numpy.clip(indices, 0, ROWS - 1) if mode != "fill" else indices
    expected = case.by_loop(arrays[0], moved, *arrays[2:])
    found = numpy.asarray(compiled(*operands))
    if mode == "fill" and case.updates is None:  # what is filled in has its own tests
        expected = numpy.where(numpy.isnan(expected), found.reshape(expected.shape), expected)
    numpy.testing.assert_array_equal(found.reshape(expected.shape), expected)
