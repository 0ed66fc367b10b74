"""Positions of axes and bounds of memory, as in NumPy."""

import numpy
import pytest

import tensorbackend.numpy as np
from tensorbackend.numpy.lib.array_utils import byte_bounds, normalize_axis_index, normalize_axis_tuple


def test_positions_of_axes() -> None:
    assert normalize_axis_index(-1, 3) == 2
    assert normalize_axis_tuple((0, -1), 3) == (0, 2)
    with pytest.raises(np.exceptions.AxisError, match="sum: axis 3 is out of bounds"):
        normalize_axis_index(3, 3, "sum")


def test_bounds_of_memory() -> None:
    x = np.zeros((3, 4))
    low, high = byte_bounds(x)
    assert high - low == x.nbytes
    assert byte_bounds(x[1:, :2]) == (low + 32, low + 80)
    host = numpy.zeros(3)
    assert byte_bounds(host) == numpy.lib.array_utils.byte_bounds(host)


def test_versions() -> None:
    assert np.lib.NumpyVersion(np.version.version) >= "2.0.0"
