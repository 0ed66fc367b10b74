"""Windows and convolutions of each example alone, by brute force."""

from __future__ import annotations

from typing import Any, Literal

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend import ragged as tr
from tensorbackend.testing import profile


def drawn(data: st.DataObject, channels: int = 0) -> tuple[list[Any], tr.Ragged]:
    """Draw examples, many of them shorter than a window, and a tensor of them with NaN in its padding."""
    lengths = data.draw(st.lists(st.integers(0, 6), min_size=1, max_size=4))
    width = max(lengths) + data.draw(st.integers(0, 2))
    random = numpy.random.default_rng(data.draw(st.integers(0, 999)))
    shape, names = ((channels,), ("batch", "channel", "time")) if channels else ((), ("batch", "time"))
    whole = random.integers(1, 9, (len(lengths), *shape, width)).astype("float64")
    rows = [whole[place][..., :length].copy() for place, length in enumerate(lengths)]
    for place, length in enumerate(lengths):
        whole[place][..., length:] = numpy.nan
    return rows, tr.with_lengths(tb.asarray(whole, names=names), time=lengths)


def padded(row: Any, size: int, stride: int, padding: str, value: float = 0) -> Any:
    """The row with what "same" adds: ceil(n / stride) windows fit, and the odd entry is at the end."""
    if padding == "valid":
        return row
    length = row.shape[-1]
    more = max((-(-length // stride) - 1) * stride + size - length, 0) if length else 0
    edge = [(0, 0)] * (row.ndim - 1)
    return numpy.pad(row, [*edge, (more // 2, more - more // 2)], constant_values=value)


@pytest.mark.parametrize("padding", ["valid", "same"])
def test_windows_are_those_of_each_example(padding: str) -> None:
    @profile(80)
    @given(st.data())
    def agrees(data: st.DataObject) -> None:
        rows, x = drawn(data)
        size, stride = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
        found = tr.to_list(tr.windows(x, size, axis="time", stride=stride, padding=padding, value=-7))
        for one, row in zip(found, rows, strict=True):
            room = padded(row, size, stride, padding, -7)
            starts = range(0, len(room) - size + 1, stride) if len(row) else range(0)
            expected = numpy.asarray([room[start : start + size] for start in starts]).reshape(len(starts), size)
            numpy.testing.assert_array_equal(numpy.asarray(one), expected)

    agrees()


@pytest.mark.parametrize("padding", ["valid", "same"])
def test_lengths_of_two_axes(padding: Literal["valid", "same"]) -> None:
    heights, widths, random = [5, 2, 4], [3, 6, 1], numpy.random.default_rng(0)
    whole = tb.asarray(random.standard_normal((3, 2, 5, 6)), names=("batch", "channel", "height", "width"))
    kernel = tb.asarray(random.standard_normal((3, 2, 2, 3)))
    y = tr.conv(tr.with_lengths(whole, height=heights, width=widths), kernel, strides=(2, 1), padding=padding)
    for place, (height, width) in enumerate(zip(heights, widths, strict=True)):
        example = whole[place : place + 1, :, :height, :width]
        short = padding == "valid" and (height < 2 or width < 3)
        expected = None if short else numpy.asarray(tb.conv(example, kernel, strides=(2, 1), padding=padding))[0]
        found = y.lengths["height"].tolist()[place], y.lengths["width"].tolist()[place]
        if expected is None:
            assert 0 in found
            continue
        assert found == expected.shape[1:]
        values = numpy.asarray(y.values)[place, :, : found[0], : found[1]]
        numpy.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("padding", ["valid", "same"])
def test_a_convolution_is_that_of_each_example(padding: Literal["valid", "same"]) -> None:
    @profile(40)
    @given(st.data())
    def agrees(data: st.DataObject) -> None:
        rows, x = drawn(data, channels=2)
        size, stride, dilation = (data.draw(st.integers(1, 3)) for _ in range(3))
        kernel = numpy.random.default_rng(1).integers(-3, 4, (3, 2, size)).astype("float64")
        y = tr.conv(x, tb.asarray(kernel), strides=stride, padding=padding, kernel_dilation=dilation)
        span = (size - 1) * dilation + 1
        values, lengths = numpy.asarray(y.values), y.lengths["time"].tolist()
        for place, row in enumerate(rows):
            room = padded(row, span, stride, padding)
            starts = range(0, room.shape[-1] - span + 1, stride) if row.shape[-1] else range(0)
            assert lengths[place] == len(starts)
            for at, start in enumerate(starts):
                window = room[:, start : start + span : dilation]
                expected = numpy.einsum("oct,ct->o", kernel, window)
                numpy.testing.assert_allclose(values[place, :, at], expected, rtol=1e-12, atol=1e-12)

    agrees()
