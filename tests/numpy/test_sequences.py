"""Functions of neighbours along an axis in the NumPy namespace."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tensorbackend.numpy as np

from .beside import assert_as_numpy

CALLS = """
np.cumsum(x)
np.cumsum(m, axis=0)
np.cumsum(k, dtype=np.float32)
np.cumprod(x, axis=1)
np.cumulative_sum(k, include_initial=True)
np.cumulative_prod(x, axis=1, include_initial=True)
np.cumulative_sum(x)
np.diff(x)
np.diff(x, 2, axis=0)
np.diff(m)
np.diff(k, prepend=0, append=[9, 9])
np.diff(x, 0)
np.diff(x, -1)
np.diff(3)
np.diff(x, axis=2)
np.ediff1d(k, to_begin=[0], to_end=9)
np.ediff1d(k, to_end=0.5)
np.gradient(x)
np.gradient(x, 2.0, axis=1)
np.gradient(x ** 2, 2.0, [0, 1, 3, 7], edge_order=2)
np.gradient(x ** 2, [0, 1, 3, 7], axis=1)
np.gradient(x ** 2, edge_order=2, axis=1)
np.gradient(x, 1, 2, 3)
np.gradient(x, edge_order=3)
np.gradient([1.0])
np.gradient(x, [1, 2], axis=1)
np.trapezoid(x)
np.trapezoid(x, [0, 1, 3, 7])
np.trapezoid(x, dx=0.5, axis=0)
np.unwrap(x * 2)
np.unwrap([0, 3, 6, 1], period=4)
np.interp([0.5, 2.5, -1, 9], [0, 1, 3], k)
np.interp([0.5, -1, 9], [0, 1, 3], k, left=-7, right=8)
np.interp([-1, 370], [0, 90, 270], k, period=360)
np.interp(1, [0, 1], [1, 2, 3])
np.interp(1, [], [])
np.interp(1, [0, 1], [1, 2], period=0)
np.convolve(k, [1, 2])
np.convolve(k, [1, 2, 4, 8], 'same')
np.convolve(k, [1, 2], 'valid')
np.convolve(k, [])
np.convolve(x, k)
np.convolve(k, k, 'most')
np.correlate(k, [1, 2], 'full')
np.correlate(k, [1, 2, 4, 8], 'same')
np.correlate([1, 2], k)
np.correlate(c, [1j, 2])
np.correlate([], k)
np.gradient(np.array([1, 3, 7]), np.array([3, 2, 1], dtype=np.uint8))
np.gradient(x, axis=5)
np.gradient(x, axis=(1, 0))
"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS.split("\n")[1:-1])
def test_neighbours_are_combined_as_by_numpy(call: str) -> None:
    assert_as_numpy(call)


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "f4"])
@pytest.mark.parametrize("into", ["?", "i1", "i8", "f8"])
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_the_dtype_is_that_of_out(name: str, into: str, dtype: str) -> None:
    outcomes: list[Any] = []
    for namespace in (np, numpy):
        x, out = namespace.array([1, 1, 0], dtype=dtype), namespace.zeros(3, dtype=into)
        try:
            outcomes.append(getattr(namespace, name)(x, out=out).tolist())
        except TypeError:
            outcomes.append(TypeError)
    assert outcomes[0] == outcomes[1]


def test_an_out_that_is_no_array_is_refused() -> None:
    with pytest.raises(TypeError, match="expected an array for out"):
        np.cumsum(np.ones(3), out="a")
