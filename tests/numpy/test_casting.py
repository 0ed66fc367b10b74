"""Views of an array's memory in another dtype."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy as np

DTYPES = [
    "bool",
    "int8",
    "uint8",
    "int16",
    "float16",
    "int32",
    "float32",
    "int64",
    "float64",
    "complex64",
    "complex128",
]


@pytest.mark.parametrize(("given", "wanted"), [*product(DTYPES, DTYPES)])
def test_a_view_in_a_trace_is_that_of_the_memory(given: str, wanted: str) -> None:
    words = numpy.random.default_rng(0).integers(1, 100, (2, 16)).astype(given)
    expected = words.view(numpy.uint8 if wanted == "bool" else wanted)

    def viewed(x: Any) -> Any:
        return x.view(np.dtype("uint8" if wanted == "bool" else wanted))

    found = tb.jit(viewed)(np.array(words))
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert numpy.array(found).tobytes() == expected.tobytes()


def test_a_write_through_such_a_view_in_a_trace_reaches_the_array() -> None:
    def double(x: Any) -> Any:
        view = x.view(np.int32)
        view *= 2
        return x

    words = numpy.arange(-2, 2)
    expected = words.copy()
    expected.view("i4")[...] *= 2
    assert tb.jit(double)(np.array(words)).tolist() == expected.tolist()
