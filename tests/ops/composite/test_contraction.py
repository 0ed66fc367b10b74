"""Contractions: a number of axes may be an integer of another library."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tensorbackend as tb


@pytest.mark.parametrize("axes", [2, numpy.int64(2), numpy.array(2)])
def test_a_number_of_axes(axes: Any) -> None:
    x = tb.ones((2, 2))
    assert tb.tensordot(x, x, axes=axes).item() == 4.0


@pytest.mark.parametrize("axes", [True, numpy.array(2.5), "a", None])
def test_what_is_no_number_of_axes(axes: Any) -> None:
    x = tb.ones((2, 2))
    with pytest.raises(tb.errors.ArgumentError, match="tensordot: expected an int"):
        tb.tensordot(x, x, axes=axes)
