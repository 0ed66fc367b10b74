"""Views that show an element more than once, as NumPy has them."""

from __future__ import annotations

import re
import tracemalloc
from typing import Any

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy as np

from .beside import assert_as_numpy

CALLS = """
np.lib.stride_tricks.as_strided(k, (2, 2), (8, 8))
np.lib.stride_tricks.as_strided(x, (3, 2, 3), (32, 8, 8))
np.lib.stride_tricks.as_strided(k, (2, 3), (0, 8))
np.lib.stride_tricks.as_strided(k, (0, 3), (8, 8))
np.lib.stride_tricks.as_strided(k, (2, 2), (8,))
np.lib.stride_tricks.as_strided(x)
np.lib.stride_tricks.sliding_window_view(x, 2, 1)
np.lib.stride_tricks.sliding_window_view(x, (2, 3))
np.lib.stride_tricks.sliding_window_view(x, (2, 2), (1, 1))
np.lib.stride_tricks.sliding_window_view(k, 3)[1:].sum(axis=-1)
"""


@pytest.mark.parametrize("call", CALLS.strip().splitlines())
def test_a_view_is_that_of_numpy(call: str) -> None:
    assert_as_numpy(call)


@pytest.mark.parametrize("backend", ["numpy", "jax", "binary"])
def test_what_is_written_to_a_view_in_other_steps_is_written_to_the_array(backend: str) -> None:
    with tb.default_backend(backend):
        x = np.arange(6)
        diagonal: Any = np.lib.stride_tricks.as_strided(x, (2,), (16,))
        diagonal += 10
        diagonal[1] = 7
        assert x.tolist() == [10, 1, 7, 3, 4, 5]
        x[0] = 5
        assert diagonal.tolist() == [5, 7]


def test_windows_in_other_steps_have_a_gradient() -> None:
    def energy(x: np.ndarray) -> Any:
        return np.sum(np.square(np.lib.stride_tricks.as_strided(x, (3, 2), (8, 8))))

    found = tb.grad(energy)(np.array([1.0, 2.0, 3.0, 4.0]))
    numpy.testing.assert_allclose(numpy.asarray(found), [2, 8, 12, 8])


@pytest.mark.parametrize(
    ("shape", "strides", "text"),
    [
        ((3,), (16,), "expected strides that stay among the 4 elements of the memory of x, got shape=(3,)"),
        ((2,), (-8,), "expected strides that stay among the 4 elements of the memory of x, got shape=(2,)"),
        ((2,), (4,), "expected strides that are multiples of 8, the bytes of an element, got strides=(4,)"),
    ],
)
def test_no_step_leads_out_of_the_array(shape: tuple[int, ...], strides: tuple[int, ...], text: str) -> None:
    with pytest.raises(tb.errors.ArgumentError, match=re.escape(f"as_strided: {text}")):
        np.lib.stride_tricks.as_strided(np.arange(4), shape, strides)


@pytest.mark.parametrize("backend", ["numpy", "jax", "binary"])
def test_a_window_that_may_be_written_to_writes_its_places_alone(backend: str) -> None:
    with tb.default_backend(backend):
        x = np.arange(6.0)
        windows = np.lib.stride_tricks.sliding_window_view(x, 3, writeable=True)
        windows[1] = 9
        windows[windows == 5] = 7
        windows[3][-1:] += 1
        assert x.tolist() == [0, 9, 9, 9, 4, 8]
        assert windows.tolist() == [[0, 9, 9], [9, 9, 9], [9, 9, 4], [9, 4, 8]]


@pytest.mark.parametrize("backend", ["numpy", "jax", "binary"])
def test_windows_take_no_memory_until_they_are_used(backend: str) -> None:
    with tb.default_backend(backend):
        x = np.zeros(20_000)
        np.lib.stride_tricks.sliding_window_view(x[:10], 2)
        tracemalloc.start()
        windows = np.lib.stride_tricks.sliding_window_view(x, 500)
        steps = np.lib.stride_tricks.as_strided(x, (10_000, 10_000), (8, 8))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert windows.shape == (19_501, 500)
        assert steps.nbytes == 8 * 10_000**2
        assert peak < 100_000


def test_windows_used_often_take_little_memory_on_numpy() -> None:
    windows = np.lib.stride_tricks.sliding_window_view(np.arange(20_000.0), 1_000)
    np.sum(windows, axis=-1)
    tracemalloc.start()
    for _ in range(10):
        total = np.sum(windows, axis=-1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total[1] - total[0] == 1_000
    assert peak < 8_000_000  # all windows take 152 million bytes


def test_derivatives_of_windows_are_summed() -> None:
    def energy(x: Any) -> Any:
        return np.sum(np.square(np.lib.stride_tricks.sliding_window_view(x, 2)))

    found = tb.grad(energy)(np.array([1.0, 2.0, 3.0]))
    numpy.testing.assert_allclose(numpy.asarray(found), [2, 8, 6])
