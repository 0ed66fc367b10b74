"""Elementwise kernels of several passes on NumPy. They process large arrays in blocks, which changes no result."""

from __future__ import annotations

from collections.abc import Callable

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.backends.numpy_backend.elementwise import block_part, blocks

UNARY = (tb.exp, tb.sqrt, tb.tan, tb.sigmoid, tb.rsqrt, tb.erf, tb.sign, tb.acos, tb.square, tb.reciprocal)
BINARY = (tb.divide, tb.pow, tb.floor_divide, tb.remainder, tb.maximum, tb.multiply, tb.nextafter)


def drawn(shape: tuple[int, ...], dtype: str) -> tb.Tensor:
    """Return random numbers of both signs. Of complex numbers, some are real and some are imaginary."""
    random = numpy.random.default_rng(0)
    values = random.standard_normal(shape) * 3
    if dtype.startswith("c"):
        values = values * random.choice([1, 1j, 1 + 2j], shape)
    return tb.asarray(values.astype(dtype), backend="numpy")


def bits(x: tb.Tensor) -> bytes:
    return x.to_binary()


@pytest.mark.parametrize("dtype", ["f2", "f4", "c8", "i4"])
@pytest.mark.parametrize("function", UNARY, ids=lambda function: function.__name__)
def test_a_function_of_one_element(function: Callable[[tb.Tensor], tb.Tensor], dtype: str) -> None:
    x = drawn((30, 1, 1001), dtype)
    try:
        first = function(x[:2])
    except tb.errors.DTypeError:  # which does not depend on the number of elements either
        with pytest.raises(tb.errors.DTypeError):
            function(x)
        return
    assert bits(function(x)[:2]) == bits(first)
    assert bits(function(x.mT).mT[:2]) == bits(first)


@pytest.mark.parametrize("dtype", ["f2", "f4", "c8", "i4"])
@pytest.mark.parametrize("function", BINARY, ids=lambda function: function.__name__)
def test_a_function_of_elements_that_broadcast(
    function: Callable[[tb.Tensor, tb.Tensor], tb.Tensor], dtype: str
) -> None:
    x, y = drawn((30, 1, 1001), dtype), abs(drawn((7, 1001), dtype)) + 1
    try:
        first = function(x[:2], y[:2])
    except tb.errors.DTypeError:
        with pytest.raises(tb.errors.DTypeError):
            function(x, y)
        return
    assert bits(function(x, y)[:2, :2]) == bits(first)


def test_a_compiled_chain_gives_the_same() -> None:
    x = drawn((300, 1001), "f4")

    def chain(x: tb.Tensor) -> tb.Tensor:
        return tb.exp(-tb.erf(x)) * tb.sigmoid(x)

    assert bits(tb.jit(chain)(x)) == bits(chain(x))


@pytest.mark.parametrize("shape", [(5,), (2, 5), (5, 2), (1, 7, 2), (3, 1, 9)])
def test_blocks_are_the_whole_array_once(shape: tuple[int, ...]) -> None:
    counts = numpy.zeros(shape, int)
    for block in blocks(shape, 4):
        assert counts[block].size <= 4
        counts[block] += 1
    assert (counts == 1).all()


def test_what_is_broadcast_lies_within_a_block() -> None:
    block = slice(2, 3), slice(4, 8)
    assert block_part(block, (5, 9), 2) == block
    assert block_part(block, (1, 9), 2) == (slice(None), slice(4, 8))
    assert block_part(block, (9,), 2) == (slice(4, 8),)
    assert block_part(block[:1], (9,), 2) == ()
    assert block_part(block, (), 2) == ()
