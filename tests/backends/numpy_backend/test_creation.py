"""Tests ranges that NumpyBackend computes in several blocks."""

from __future__ import annotations

import pytest

import tensorbackend as tb
from tensorbackend.backends.numpy_backend.creation import _BLOCK
from tensorbackend.testing import assert_equal

COUNT = 2 * _BLOCK + 17


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int8", "uint64"])
@pytest.mark.parametrize(
    ("start", "stop", "endpoint"), [(0, 1, True), (0.1, 0.1001, True), (-3.7, 6e4, False), (5, 0, False), (-1, 1, True)]
)
def test_numbers_of_several_blocks_are_those_of_the_reference(
    dtype: str, start: float, stop: float, endpoint: bool
) -> None:
    spaced, reference = (
        tb.linspace(start, stop, COUNT, dtype=dtype, endpoint=endpoint, backend=backend)
        for backend in ("numpy", "binary")
    )
    assert_equal(spaced, reference.backend_transfer("numpy"))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_steps_through_several_blocks_are_those_of_the_reference(dtype: str) -> None:
    stepped, reference = (
        tb.arange(-7.3, 0.37 * COUNT - 7.3, 0.37, dtype=dtype, backend=backend) for backend in ("numpy", "binary")
    )
    assert stepped.size > 2 * _BLOCK
    assert_equal(stepped, reference.backend_transfer("numpy"))
