"""Methods of universal functions: what they write, and when they write nothing."""

from __future__ import annotations

import pytest

import tensorbackend as tb
import tensorbackend.numpy as np

from .beside import assert_as_numpy

CALLS = """
np.add.at(x, k % 3, 1.0)
np.add.at(x, [0, 0, 2], x)
np.add.at(x, np.array([0, 0, 2]), x[1])
np.add.at(x, np.array([0, 0, 2]), x)
np.add.at(x[1], np.array([0, 0, 2]), 1.0)
np.subtract.at(x, np.array([0, 5]), 1.0)
np.maximum.at(x, np.array([-1]), np.nan)
np.minimum.at(x, 1, 0.5)
np.add.at(x, m, 1.0)
np.add.at(x, (k % 3, k % 4), 1.0)
np.add.at(x, k % 3, np.float32(0.1))
np.add.at(k, np.array([0, 0]), 1)
np.add.at(k, np.array([0, 0]), 1.5)
np.add.at(x, np.array([0, 1]), np.array([1.0, 2.0, 3.0]))
np.add.at(x, np.array([0.0]), 1.0)
np.multiply.at(x, np.array([1, 1]), 3.0)
"""


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("call", CALLS.strip().splitlines())
def test_updates_at_places_are_numpys(call: str) -> None:
    assert_as_numpy(call)


def test_an_update_is_seen_by_views_and_by_nobody_else() -> None:
    x = np.zeros(3)
    view, before = x[1:], x.tensor
    np.add.at(x, np.array([1, 1]), 1.0)
    np.add.at(x, np.array([2]), np.array([1e308]))
    np.add.at(x, np.array([2]), np.array([1e308]))
    assert view.tolist() == [2.0, float("inf")]
    assert before.tolist() == [0, 0, 0]


def test_read_only_arrays_and_places_outside_leave_the_array_as_it_was() -> None:
    x = np.arange(3.0)
    with pytest.raises(tb.errors.IndexRangeError):
        np.add.at(x, np.array([0, 7]), 1.0)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        np.add.at(x, np.array([0]), 1.0)
    assert x.tolist() == [0, 1, 2]


@pytest.mark.parametrize("seen", ["i8", "f4"])
def test_at_refuses_elements_shown_twice_as_another_dtype(seen: str) -> None:
    x = np.arange(4.0)
    twice = np.broadcast_arrays(x, np.zeros((2, 4)))[0].view(seen)
    with pytest.raises(tb.errors.ArgumentError, match="as another dtype"):
        np.add.at(twice, 0, 1)
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize("backend", ["numpy", "binary", "jax"])
def test_at_updates_an_element_once_for_each_place_that_shows_it(backend: str) -> None:
    with tb.default_backend(backend):
        x = np.arange(5.0)
        windows = np.lib.stride_tricks.sliding_window_view(x, 3, writeable=True)
        np.add.at(windows, [0, 1], 1.0)
        assert x.tolist() == [1.0, 3.0, 4.0, 4.0, 4.0]
