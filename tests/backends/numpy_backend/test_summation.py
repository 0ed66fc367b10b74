"""Sums along every choice of axes, of arrays with strides of any order, against NumPy's in longer floats."""

import itertools
import random

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.backends.numpy_backend.summation import partial_sums

SHAPES = [
    (200, 3),
    (3, 200),
    (130, 20),
    (2000, 9),
    (9, 2000),
    (7, 65, 5),
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


def test_steps_add_few_terms_and_leave_the_sums() -> None:
    for shape in SHAPES:
        for ordered in (False, True):
            for axes in itertools.combinations(range(len(shape)), 2 if len(shape) > 2 else 1):
                sizes = list(shape)
                for step in partial_sums(shape, axes, ordered):
                    added = [sizes[axis] for axis in step.whole if axis != len(shape) - 1 or not ordered]
                    assert int(np.prod(added)) <= 64
                    for axis in step.whole:
                        sizes[axis] = 1
                    if step.split is not None:
                        sizes[step.split] = -(-sizes[step.split] // step.terms)
                assert all(sizes[axis] == 1 for axis in axes)
