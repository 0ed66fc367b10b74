"""Indices of BinaryBackend inside and outside of an axis, in each mode, one by one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorbackend.backends.binary.indexing import locate
from tensorbackend.errors import IndexRangeError
from tensorbackend.testing import profile

CASES = st.integers(0, 4), st.lists(st.integers(-2, 6), max_size=6)


@profile(60)
@given(*CASES)
def test_an_error_has_the_first_index_that_is_outside(size: int, indices: list[int]) -> None:
    outside = [index for index in indices if not 0 <= index < size]
    if outside:
        with pytest.raises(IndexRangeError, match=rf"index={outside[0]}\b"):
            locate(indices, size, "error")
    else:
        assert locate(indices, size, "error") == indices


@profile(60)
@given(*CASES)
def test_an_index_outside_is_the_nearest_end_or_none(size: int, indices: list[int]) -> None:
    inside = [0 <= index < size for index in indices]
    filled = [index if kept else None for index, kept in zip(indices, inside, strict=True)]
    assert locate(indices, size, "fill") == filled
    if size:
        assert locate(indices, size, "clip") == [sorted((0, index, size - 1))[1] for index in indices]
