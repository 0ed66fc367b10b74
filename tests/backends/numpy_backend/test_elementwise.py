"""Tests the quick kernels of NumpyBackend for elementwise ops: they give what the general kernels give, to the bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.backends.array_module.elementwise import ArrayElementwise
from tensorbackend.backends.numpy_backend import NumpyBackend
from tensorbackend.protocol import kernel_of
from tensorbackend.testing import assert_equal

NUMPY: Any = tb.get_backend("numpy")


def bits(random: numpy.random.Generator, count: int, dtype: str) -> numpy.typing.NDArray[Any]:
    """Return numbers of all magnitudes, with NaN and subnormal ones among them."""
    unsigned = numpy.dtype(f"uint{8 * numpy.dtype(dtype).itemsize}")
    return random.integers(0, numpy.iinfo(unsigned).max, count, dtype=unsigned).view(dtype)


def multiples(random: numpy.random.Generator, count: int, dtype: str) -> numpy.typing.NDArray[Any]:
    """Return multiples of powers of two, whose quotients are often whole."""
    numbers = random.integers(-1000, 1000, count) * numpy.exp2(random.integers(-8, 8, count))
    return numbers.astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("draw", [bits, multiples])
@pytest.mark.parametrize("name", ["floor_divide", "remainder"])
def test_division_with_rest_has_the_bits_of_the_general_kernel(
    name: str, draw: Callable[..., numpy.typing.NDArray[Any]], dtype: str
) -> None:
    random = numpy.random.default_rng(0)
    for count in [1, 2, 3, 8, 5000] * 20:
        x1, x2 = draw(random, count, dtype), draw(random, count, dtype)
        x2 = x2[0].reshape(()) if random.random() < 0.3 else x2
        result = getattr(tb, name)(tb.asarray(x1), tb.asarray(x2))
        template = tb.asarray(x2).template
        general = kernel_of(getattr(ArrayElementwise, name).__get__(NUMPY), result.template, result.template, template)
        with numpy.errstate(all="ignore"):
            assert_equal(result, tb.asarray(numpy.asarray(general(x1, x2))))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("exponent", [0.5, 2, -1, 0, 0.25])
def test_powers_with_a_number_are_those_of_the_reference(exponent: float, dtype: str) -> None:
    for values in ([1.0, 4.0, 0.0], [4.0, -0.0], [float("-inf"), 4.0], [-4.0, 2.0], [float("nan"), float("inf")], []):
        x = tb.tensor(values, dtype=dtype)
        assert_equal(x**exponent, (x.backend_copy("binary") ** exponent).backend_transfer("numpy"), ulps=1)


@pytest.mark.parametrize("dtype", ["int8", "int16", "uint8", "uint16", "uint32", "uint64"])
@pytest.mark.parametrize("source", ["float16", "bfloat16", "float32", "float64"])
def test_casts_to_integers_saturate_wherever_the_number_beyond_the_limits_is(source: str, dtype: str) -> None:
    for values in ([1.5, 2.0], [1.5, -1.0, 2.0], [3.0, 1e30], [float("nan"), 1.0], [1.0, float("-inf")], [-0.5], []):
        x = tb.tensor(values, dtype="float64")
        x = tb.astype(x, source)
        assert_equal(tb.astype(x, dtype), tb.astype(x.backend_copy("binary"), dtype).backend_transfer("numpy"))


def test_a_nan_stands_in_a_key_by_its_bits() -> None:
    positive, negative = float("nan"), -float("nan")
    for value in (positive, negative, positive, negative):
        assert_equal(tb.full((2,), value), tb.tensor([value, value]))
        assert bool(tb.all(tb.signbit(tb.full((2,), value)))) == (value is negative)


class Older(NumpyBackend):
    """As with a NumPy whose functions return no arrays without axes."""

    name = "numpy"

    def _returns_arrays(self, function: Any) -> bool:
        return False


@pytest.mark.parametrize("backend", [Older(), NumpyBackend()])
def test_results_without_axes_are_arrays(backend: NumpyBackend) -> None:
    three, five = (tb.asarray(number, dtype="float32", backend=backend) for number in (3, 5))
    results = [three + five, -three, three < five, tb.where(three < five, three, five), tb.bitwise_and(6, five > 3)]
    assert [x.tolist() for x in results] == [8.0, -3.0, True, 3.0, 0]
    assert all(isinstance(x.data, numpy.ndarray) and x.data.flags.owndata for x in results)
    assert [str(x.dtype) for x in results[:3]] == ["float32", "float32", "bool"]
