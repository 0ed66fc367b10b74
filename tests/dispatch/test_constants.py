"""Python numbers beside tensors: of two equal numbers each keeps its own bits, in any order of calls, against NumPy."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dispatch.constants import constant
from tensorbackend.dtypes import as_dtype
from tensorbackend.testing import profile

PARTS = [0.0, -0.0, 1.0, -1.0, math.inf, math.nan]
NUMBERS = [*PARTS, *(complex(*pair) for pair in itertools.product(PARTS, PARTS)), 0, 1, -1, True, False]
"""Numbers of which many are equal: 1, 1.0, True and 1 + 0j, zeros of both signs, parts that are such zeros."""


def fits(number: complex, dtype: str) -> bool:
    """Return whether a dtype holds numbers of this class."""
    order = {bool: 0, int: 1, float: 2, complex: 3}
    return order[type(number)] <= {"b": 0, "i": 1, "f": 2, "c": 3}[numpy.dtype(dtype).kind]


@pytest.mark.parametrize("backend", ["numpy", "binary", "jax"])
@pytest.mark.parametrize("dtype", ["complex128", "complex64", "float32", "float64", "int64", "bool"])
def test_equal_numbers_keep_their_bits(dtype: str, backend: str) -> None:
    numbers = [number for number in NUMBERS if fits(number, dtype)]

    @profile(10)
    @given(st.permutations(numbers))
    def agrees(order: list[Any]) -> None:
        for number in order:
            found = constant("add", number, as_dtype(dtype), tb.get_backend(backend)).to_binary()
            expected = numpy.asarray(number, dtype).tobytes()
            if number == number:
                assert found == expected, number
            else:  # the bits of a NaN are any
                numpy.testing.assert_array_equal(numpy.frombuffer(found, dtype)[0], numpy.asarray(number, dtype))

    agrees()


@profile(40)
@given(st.permutations([complex(*pair) for pair in itertools.product([0.0, -0.0, 1.0, -1.0], repeat=2)]))
def test_a_call_sees_the_number_that_it_was_given(order: list[complex]) -> None:
    """`where` moves numbers as they are, so that zeros of both signs show."""
    mask = tb.asarray([True, False])
    other = tb.asarray([5j, 5j], dtype="complex128")
    for number in order:
        found = numpy.asarray(tb.where(mask, number, other))[0]
        assert numpy.asarray(found).tobytes() == numpy.asarray(number, "complex128").tobytes()
