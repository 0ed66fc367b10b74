"""Calls of every op that differ in sizes alone: each is as planned for its own shapes."""

from zlib import crc32

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from tensorbackend.dtypes import ALL_DTYPES
from tensorbackend.testing import Invocation, names, profile
from tensorbackend.testing.changing import changing, check_changing


@pytest.mark.parametrize("name", names())
def test_a_call_after_others_of_its_kind_is_as_planned_alone(name: str) -> None:
    @seed(crc32(name.encode()))  # else all ops would have the same dtypes
    @settings(profile(2))
    @given(st.sampled_from(ALL_DTYPES).flatmap(lambda dtype: changing(name, dtype)))
    def agree(calls: list[Invocation]) -> None:
        check_changing(calls, "torch")

    agree()
