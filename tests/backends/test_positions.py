"""The positions of elements in padded and broadcast arrays."""

from __future__ import annotations

from itertools import permutations, product

import numpy

from tensorbackend.extending import align_axes, pad_slices


def test_padded_elements_are_where_inserting_puts_them() -> None:
    for size, low, high, interior in product(range(4), range(-3, 4), range(-3, 4), range(3)):
        row: list[int] = []
        for element in range(size):
            row += [element, *[-1] * interior]
        row = row[: len(row) - interior] if size else []
        row = [-1] * low + row[max(-low, 0) :]
        if low + max(0, size + (size - 1) * interior) + high < 0:
            continue  # refused by the rule
        row = row + [-1] * high if high >= 0 else row[:high]
        (length,), (read,), (written,) = pad_slices((size,), [(low, high, interior)])
        result = numpy.full(length, -1)
        result[written] = numpy.arange(size)[read]
        assert result.tolist() == row[:length], (size, low, high, interior)


def test_axes_are_aligned_as_each_element_says() -> None:
    x = numpy.arange(6).reshape(2, 3)
    for axes in permutations(range(3), 2):
        order, shape = align_axes(x.shape, axes, 3)
        aligned = x.transpose(order).reshape(shape)
        for place in numpy.ndindex(x.shape):
            position = [0, 0, 0]
            for axis, index in zip(axes, place, strict=True):
                position[axis] = index
            assert aligned[tuple(position)] == x[place]
