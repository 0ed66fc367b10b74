"""Windows, compared with SciPy's."""

from __future__ import annotations

import numpy
import pytest
from scipy.signal import windows

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, DTypeError


@pytest.mark.parametrize("name", ["hann", "hamming", "blackman", "kaiser"])
@pytest.mark.parametrize("backend", ["binary", "numpy"])
def test_windows_are_scipys(backend: str, name: str) -> None:
    more = (8.6,) if name == "kaiser" else ()
    for size in (0, 1, 2, 7, 8):
        for periodic in (True, False):
            ours = getattr(tb.nn, name)(size, *more, periodic=periodic, dtype="f64", name="time", backend=backend)
            assert (ours.names, ours.backend.name) == (("time",), backend)
            theirs = getattr(windows, name)(size, *more, sym=not periodic)
            assert numpy.allclose(ours.tolist(), theirs, atol=1e-15)


def test_mistakes() -> None:
    assert tb.nn.hann(3).dtype is tb.float32
    with pytest.raises(ArgumentError, match="hann: expected"):
        tb.nn.hann(-1)
    with pytest.raises(ArgumentError, match=r"kaiser: expected a finite beta of at least 0, got beta=-1\.0"):
        tb.nn.kaiser(3, -1.0)
    with pytest.raises(DTypeError, match="hamming: expected"):
        tb.nn.hamming(3, dtype="s64")
