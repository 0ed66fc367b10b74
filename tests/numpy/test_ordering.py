"""Bins in either order, compared with NumPy's."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tensorbackend.numpy as np


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("bins", [[0.0, 1.0, 2.5], [2.5, 1.0, 0.0], [1, 1, 1], [3], []])
def test_an_edge_belongs_to_the_bin_that_it_belongs_to_in_numpy(bins: Any, right: Any) -> None:
    x = numpy.array([[-1.0, 0.0, 0.5], [1.0, 2.5, 9.0]])
    assert np.digitize(np.array(x), bins, right).tolist() == numpy.digitize(x, bins, right).tolist()


@pytest.mark.parametrize("dtype", ["bool", "i1", "u2", "i4", "f2", "f4", "c8", "c16"])
def test_complex_numbers_are_sorted_in_the_dtype_of_numpy(dtype: str) -> None:
    x = numpy.array([3, 0, 2, 1]).astype(dtype)
    ours, numpys = np.sort_complex(np.array(x)), numpy.sort_complex(x)
    assert (ours.tolist(), str(ours.dtype)) == (numpys.tolist(), str(numpys.dtype))
