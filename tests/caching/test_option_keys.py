"""Keys of options: two options have one key only if nothing distinguishes them."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tensorbackend.caching.option_keys import option_key, options_key
from tensorbackend.testing import profile

ZEROS = [0, 0.0, -0.0, 0j, complex(0.0, -0.0), complex(-0.0, 0.0), False]
ONES = [1, 1.0, True, 1 + 0j, complex(1.0, -0.0), "1", None]
OPTIONS: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from([*ZEROS, *ONES]), lambda part: st.lists(part, min_size=1, max_size=2).map(tuple), max_leaves=3
)


@profile(300)
@given(OPTIONS, OPTIONS)
def test_options_have_one_key_if_they_are_written_alike(one: Any, other: Any) -> None:
    alike = repr(one) == repr(other)
    assert (options_key({"option": one}) == options_key({"option": other})) is alike
    assert ((option_key(one), type(one)) == (option_key(other), type(other))) is alike
