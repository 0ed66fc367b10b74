"""Errors are caught by NumPy's classes."""

import pytest

import tensorbackend.numpy as np
from tensorbackend.numpy.exceptions import AxisError


def test_an_axis_that_is_not_there_is_numpys_error() -> None:
    with pytest.raises(AxisError):
        np.sum(np.ones(2), axis=1)
