"""Padding for each axis: sizes as in NumPy, and what is not padding is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, ShapeError
from tensorbackend.testing import profile

GOOD = st.tuples(st.integers(-2, 2), st.integers(-2, 2)) | st.tuples(
    st.integers(-2, 2), st.integers(-2, 2), st.integers(0, 2)
)
WRONG: st.SearchStrategy[Any] = st.sampled_from([(), (1,), (1, 1, 1, 1), (0, 0, -1), (1.5, 0), ("a", 0), (None, None)])


def padded(size: int, low: int, high: int, interior: int = 0) -> int:
    """Return the size of an axis after it is padded: elements come between those that are there, then at the ends."""
    return size + max(size - 1, 0) * interior + low + high


@profile(200)
@given(st.lists(st.tuples(st.integers(0, 4), GOOD), min_size=1, max_size=3))
def test_sizes_of_a_padded_tensor(axes: list[tuple[int, Any]]) -> None:
    shape, entries = tuple(size for size, _ in axes), [entry for _, entry in axes]
    expected = [padded(size, *entry) for size, entry in axes]
    for x in (tb.zeros(shape), tb.template(shape, "f32")):
        if min(expected) < 0:
            with pytest.raises(ShapeError):
                tb.pad(x, entries)
        else:
            assert tb.pad(x, entries).shape == tuple(expected)


@profile(100)
@given(st.lists(GOOD, max_size=2), WRONG, st.integers(0, 2))
def test_a_padding_of_another_kind_is_refused(entries: list[Any], wrong: Any, at: int) -> None:
    entries = [*entries[:at], wrong, *entries[at:]]
    x = tb.zeros((5,) * len(entries))  # of which any padding leaves something
    for operand in (x, tb.template(x.shape, "f32")):
        with pytest.raises(ArgumentError):
            tb.pad(operand, entries)
        with pytest.raises(ArgumentError):
            tb.pad(operand, [*entries, (0, 0)])
