"""Numbers next to tensors: Python's, whose value is data, and NumPy's, which are as tensors without axes.

Of two equal numbers each keeps its own bits, in any order of calls.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dispatch.constants import constant
from tensorbackend.dtypes import as_dtype
from tensorbackend.errors import OutOfRangeError
from tensorbackend.testing import profile

CLASSES = [np.bool_, np.int8, np.uint8, np.int64, np.float16, np.float32, np.float64, np.complex64, np.complex128]
OPERATORS: list[Callable[[Any, Any], Any]] = [operator.add, operator.mul, operator.sub, operator.truediv]
BACKENDS = ["numpy", "binary", "jax"]


def check_same(ours: tb.Tensor, expected: tb.Tensor) -> None:
    assert ours.template is expected.template
    assert ours.backend is expected.backend
    assert ours.backend_transfer("binary").data == expected.backend_transfer("binary").data


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["int8", "float32", "float64", "bfloat16"])
def test_numbers_of_numpy_are_tensors_without_axes(backend: str, dtype: str) -> None:
    for size in (3, 4, 5, 6, 7) if backend != "jax" else (3, 4):  # exact plans, then one by kind, which JAX has not
        x = tb.asarray(list(range(1, size + 1)), dtype=dtype, backend=backend)
        for number_class in CLASSES if backend != "jax" else CLASSES[::3]:
            for value in (1, 0, 3):  # of which each is new
                number: Any = number_class(value)
                tensor = tb.asarray(number, backend=backend)
                for operate in OPERATORS[:2]:
                    check_same(operate(x, number), operate(x, tensor))
                    check_same(operate(number, x), operate(tensor, x))
                check_same(tb.where(x == x, x, number), tb.where(x == x, x, tensor))


def test_a_number_of_numpy_is_kept_by_its_class() -> None:
    x = tb.asarray([1.0, 2.0])
    assert (x * np.float32(2)).dtype is tb.float32
    assert (x * np.float64(2)).dtype is tb.float64
    assert (np.float64(2) * x).dtype is (x * np.float64(3)).dtype is tb.float64
    assert repr((x * np.float32(-0.0)).tolist()) == "[-0.0, -0.0]"
    assert repr((x * np.float32(0.0)).tolist()) == "[0.0, 0.0]"
    with tb.precision(64, cast=True):
        for _ in range(3):
            assert (x * np.float32(2)).dtype is tb.float64
    assert (x * np.float32(2)).dtype is tb.float32


def test_new_numbers_of_numpy_do_not_take_the_full_path(monkeypatch: pytest.MonkeyPatch) -> None:
    tensors = [tb.ones(size) for size in range(3, 20)]
    for x in tensors[:6]:
        assert (np.float32(0.5) * x).tolist() == (x * np.float32(0.5)).tolist()
    monkeypatch.setattr("tensorbackend.dispatch.path.Call", None)
    for number, x in enumerate(tensors):
        assert (np.float32(number) * x).tolist() == (x * np.float32(number)).tolist() == [number] * x.size


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_later_number_is_checked_as_the_first(backend: str) -> None:
    x = tb.asarray([1, 2], dtype="int8", backend=backend)
    assert (x + 3).tolist() == [4, 5]
    assert (x + True).tolist() == [2, 3]
    for _ in range(2):
        with pytest.raises(OutOfRangeError, match=r"add: expected an integer from -128 to 127 for int8"):
            x + 128
    half = tb.asarray([1.0], dtype="float16", backend=backend)
    assert (half * 65519.0).tolist() == [65504.0]
    assert (half * math.inf).tolist() == [math.inf]
    with pytest.raises(OutOfRangeError, match=r"multiply: expected a number from -65504"):
        half * 65520.0


@profile(50)
@given(
    number=st.floats(-1e38, 1e38) | st.sampled_from([math.inf, -math.inf, -0.0]),
    dtype=st.sampled_from(["float32", "float64", "complex64"]),
)
def test_any_number_is_rounded_as_numpy_does(number: float, dtype: str) -> None:
    chosen = tb.where(tb.asarray([False]), tb.ones(1, dtype=dtype), number)
    assert np.asarray(chosen).tobytes() == np.array([number], dtype).tobytes()


PARTS = [0.0, -0.0, 1.0, -1.0, math.inf, math.nan]
NUMBERS = [*PARTS, *(complex(*pair) for pair in itertools.product(PARTS, PARTS)), 0, 1, -1, True, False]
"""Numbers of which many are equal: 1, 1.0, True and 1 + 0j, zeros of both signs, parts that are such zeros."""


def fits(number: complex, dtype: str) -> bool:
    """Return whether a dtype holds numbers of this class."""
    order = {bool: 0, int: 1, float: 2, complex: 3}
    return order[type(number)] <= {"b": 0, "i": 1, "f": 2, "c": 3}[np.dtype(dtype).kind]


@pytest.mark.parametrize("backend", ["numpy", "binary", "jax"])
@pytest.mark.parametrize("dtype", ["complex128", "complex64", "float32", "float64", "int64", "bool"])
def test_equal_numbers_keep_their_bits(dtype: str, backend: str) -> None:
    numbers = [number for number in NUMBERS if fits(number, dtype)]

    @profile(10)
    @given(st.permutations(numbers))
    def agrees(order: list[Any]) -> None:
        for number in order:
            found = constant(number, as_dtype(dtype), tb.get_backend(backend)).to_binary()
            expected = np.asarray(number, dtype).tobytes()
            if number == number:
                assert found == expected, number
            else:  # the bits of a NaN are any
                np.testing.assert_array_equal(np.frombuffer(found, dtype)[0], np.asarray(number, dtype))

    agrees()


@profile(40)
@given(st.permutations([complex(*pair) for pair in itertools.product([0.0, -0.0, 1.0, -1.0], repeat=2)]))
def test_a_call_sees_the_number_that_it_was_given(order: list[complex]) -> None:
    """`where` moves numbers as they are, so that zeros of both signs show."""
    mask = tb.asarray([True, False])
    other = tb.asarray([5j, 5j], dtype="complex128")
    for number in order:
        found = np.asarray(tb.where(mask, number, other))[0]
        assert np.asarray(found).tobytes() == np.asarray(number, "complex128").tobytes()
