"""Sums along every choice of axes, of arrays with strides of any order, against NumPy's in longer floats."""

import itertools
import random

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.backends.numpy_backend.summation import passes, steps_along

SHAPES = [
    (500, 3),
    (3, 200),
    (330, 20),
    (2000, 9),
    (9, 2000),
    (7, 265, 5),
    (130, 2, 70),
    (4, 130, 1, 3),
    (65, 64, 3),
    (1, 5000),
]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_every_axis_and_layout(dtype: str) -> None:
    rng, chance = np.random.default_rng(0), random.Random(0)
    for shape in SHAPES:
        array = rng.random(shape).astype(dtype)
        order = chance.sample(range(len(shape)), len(shape))
        whole = tb.asarray(array, backend="numpy")
        layouts = [(whole, array), (tb.permute_dims(whole, order), array.transpose(order)),
                   (tb.flip(whole), np.flip(array)), (whole[::2], array[::2])]  # fmt: skip
        for count in range(1, len(shape) + 1):
            for axes, (x, reference) in itertools.product(itertools.combinations(range(len(shape)), count), layouts):
                keepdims = chance.random() < 0.5
                sums = np.asarray(tb.sum(x, axis=axes, keepdims=keepdims))
                wide = reference.astype("clongdouble" if dtype.startswith("c") else "longdouble")
                wanted = wide.sum(axis=axes, keepdims=keepdims)
                assert sums.shape == wanted.shape
                assert np.all(abs(sums - wanted) <= 16 * np.finfo(dtype).eps * abs(wanted))


def test_steps_add_few_terms_and_leave_few() -> None:
    for merged, width in itertools.product((False, True), (2, 300)):
        for terms in (257, 258, 300, 1000, 4096, 4099, 31250, 10**6 + 3):
            shape, left = (2, terms, width), terms
            for parts, rest, split, along, sums in steps_along(shape, 1, merged):
                assert split[along] <= 64
                assert rest <= parts  # each of them is added to a partial sum of its own
                assert split[along] * parts + rest == left
                assert sums == (2, parts, width)
                left = parts
            assert left <= 64
    assert steps_along((9, 5000, 1), 1, True) == steps_along((9, 256, 2), 1, True) == []


def test_passes_merge_neighbours_and_begin_with_the_most_terms() -> None:
    assert passes((4, 5, 6, 7), (0, 1), True) == [((1, 20, 42), 1)]
    assert passes((4, 1, 6, 7), (0, 2), True) == [((1, 24, 7), 1)]
    assert passes((4, 5, 6, 7), (0, 2), True) == [((20, 6, 7), 1), ((1, 4, 35), 1)]
    assert passes((4, 5, 6), (0, 2), False) == [((4, 5, 6), 2), ((4, 5, 1), 0)]
