"""The modules of `numpy.lib` can be imported."""

from __future__ import annotations

import importlib
import operator
import re

import numpy
import pytest

import tensorbackend.numpy as np


@pytest.mark.parametrize("name", ["lib", "lib.stride_tricks", "lib.scimath", "exceptions", "polynomial",
                                  "polynomial.legendre", "typing", "testing", "linalg", "fft", "random"])  # fmt: skip
def test_numpys_modules_can_be_imported_by_name(name: str) -> None:
    module = importlib.import_module(f"tensorbackend.numpy.{name}")
    assert operator.attrgetter(name)(np) is module


def test_windows_and_broadcasting_are_among_the_tricks() -> None:
    from tensorbackend.numpy.lib.stride_tricks import broadcast_to, sliding_window_view

    x = numpy.arange(6.0).reshape(2, 3)
    windows = sliding_window_view(np.array(x), (2, 2))
    assert windows.tolist() == numpy.lib.stride_tricks.sliding_window_view(x, (2, 2)).tolist()
    assert broadcast_to is np.broadcast_to


@pytest.mark.parametrize("module", [np.lib, np.lib.stride_tricks, np.lib.scimath])
def test_an_unknown_name_is_an_attribute_error(module: object) -> None:
    with pytest.raises(AttributeError, match=re.escape("has no attribute 'nonsense'")):
        operator.attrgetter("nonsense")(module)
