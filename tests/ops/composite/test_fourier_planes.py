"""Transforms of planes, compared with NumPy's."""

from __future__ import annotations

import numpy

import tensorbackend as tb


def test_planes_may_be_any_two_axes() -> None:
    array = numpy.random.default_rng(0).normal(size=(2, 3, 4))
    x = tb.asarray(array, names=("row", "column", "channel"))
    image = tb.fft.fft2(x, axes=("row", "column"), norm="ortho")
    assert image.names == x.names
    assert numpy.allclose(numpy.asarray(image), numpy.fft.fft2(array, axes=(0, 1), norm="ortho"))
    assert numpy.allclose(numpy.asarray(tb.fft.ifft2(image, axes=(0, 1), norm="ortho")), array)
