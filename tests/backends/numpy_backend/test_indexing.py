"""Warm keys with one index tensor or several, with indices at the ends of axes, also where x has no elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.errors import IndexRangeError
from tensorbackend.testing import profile

from ...peak_memory import peak_memory


@st.composite
def keys(draw: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """A key of slices and index arrays, most of whose indices are at an end of their axis or just outside."""
    key: list[Any] = []
    for size in shape:
        if draw(st.booleans()):
            key.append(slice(None))
        else:
            at = st.sampled_from([-size - 1, -size, -1, 0, size - 1, size, 0, 0])
            key.append(
                numpy.asarray(draw(st.lists(at, min_size=2, max_size=2)), draw(st.sampled_from(["int8", "int64"])))
            )
    return tuple(key)


@pytest.mark.parametrize("backend", ["numpy", "binary"])
def test_a_key_reads_what_numpy_reads_or_is_out_of_range(backend: str) -> None:
    @profile(80)
    @given(st.data())
    def agrees(data: st.DataObject) -> None:
        shape = data.draw(st.lists(st.sampled_from([0, 1, 2, 3]), min_size=1, max_size=3).map(tuple))
        array = numpy.arange(numpy.prod(shape, dtype=int)).reshape(shape)
        x = tb.asarray(array, backend=backend)
        for key in [data.draw(keys(shape)) for _ in range(3)]:
            parts = [part if isinstance(part, slice) else tb.asarray(part, backend=backend) for part in key]
            outside = any(
                not isinstance(part, slice) and ((part < -size) | (part >= size)).any()
                for part, size in zip(key, shape, strict=True)
            )
            for _ in range(2):
                if outside:
                    with pytest.raises(IndexRangeError):
                        x[tuple(parts)]
                else:
                    numpy.testing.assert_array_equal(numpy.asarray(x[tuple(parts)]), array[key])

    agrees()


def test_entries_along_the_last_axis_are_in_the_order_of_the_result() -> None:
    """NumPy's own indexing puts the indexed axis first in memory, and takes four times as long for few entries."""
    x, places = tb.asarray(numpy.arange(12.0).reshape(3, 4)), tb.asarray([2, 0])
    for _ in range(2):
        found = x[:, places]
        assert found.tolist() == [[2.0, 0.0], [6.0, 4.0], [10.0, 8.0]]
        assert numpy.asarray(found).flags.c_contiguous


PLACES, UPDATES = tb.asarray([[0], [2], [2]]), tb.asarray([1.0, 2.0, 4.0], dtype="f64")

WRITES: dict[str, Callable[[tb.Tensor], tb.Tensor]] = {
    "indexed_add": lambda x: tb.indexed_add(x, PLACES, UPDATES),
    "indexed_put": lambda x: tb.indexed_put(x, PLACES, UPDATES),
    "put_slice": lambda x: tb.put_slice(x, UPDATES, starts=(1,)),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_program_writes_into_what_it_made_itself(name: str) -> None:
    x, write = tb.ones(100_000, dtype="f64"), WRITES[name]
    program = tb.jit(lambda x: write(x + 1))
    assert peak_memory(lambda: program(x), calls_before=2) < 1.2 * x.size * 8
    assert program(x)[:5].tolist() == write(x + 1)[:5].tolist()
    assert set(x.tolist()) == {1.0}
