"""Tests of assignment at ints and slices on JAX, against NumPy."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.errors import IndexRangeError, OutOfRangeError
from tensorbackend.testing import profile

SHAPE = 3, 4, 2
DTYPES = ["float32", "float64", "int16", "uint8", "bool", "complex64", "float16"]
NUMBERS: dict[str, list[Any]] = {
    "b": [True, False],
    "i": [3, -2, True],
    "u": [0, 7],
    "f": [1.5, -0.0, 2, float("inf"), 1e-42, True],
    "c": [1.5 - 2j, 3],
}


def parts(size: int) -> st.SearchStrategy[Any]:
    bound = st.none() | st.integers(-size - 1, size + 1)
    return st.integers(-size, size - 1) | st.builds(slice, bound, bound, st.sampled_from([None, 1, 1, 2, -1]))


@st.composite
def keys(draw: st.DrawFn) -> Any:
    count = draw(st.integers(0, len(SHAPE)))
    key: list[Any] = [draw(parts(size)) for size in SHAPE[:count]]
    if draw(st.booleans()):
        key.append(...)
        key += (
            [draw(parts(size)) for size in SHAPE[count:]][: draw(st.integers(0, 1))] if count == len(SHAPE) - 1 else []
        )
    return key[0] if len(key) == 1 and draw(st.booleans()) else tuple(key)


@profile(12)
@given(st.data())
def test_assignments_are_numpys(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(DTYPES))
    array = (np.arange(24).reshape(SHAPE) % 2 if dtype == "bool" else np.arange(24).reshape(SHAPE)).astype(dtype)
    x = tb.tensor(array, backend="jax")
    for _ in range(3):
        key, turned, kept = data.draw(keys()), tb.permute_dims(x, (2, 1, 0)), x[...]
        was, shape = array.copy(), array[key].shape
        value: Any
        if data.draw(st.booleans()):
            value = data.draw(st.sampled_from(NUMBERS[array.dtype.kind]))
            array[key] = value
            x[key] = value
        else:
            cut = data.draw(st.integers(0, len(shape)))
            sizes = [1 if data.draw(st.booleans()) else size for size in shape[cut:]]
            value = np.arange(int(np.prod(sizes))).reshape(sizes).astype(dtype)
            array[key] = value
            x[key] = tb.tensor(value, backend="jax")
        assert x.dtype.name == dtype
        np.testing.assert_array_equal(np.asarray(x), array)
        if array.dtype.kind == "f":
            np.testing.assert_array_equal(np.signbit(np.asarray(x)), np.signbit(array))
        np.testing.assert_array_equal(np.asarray(kept), was)
        np.testing.assert_array_equal(np.asarray(turned), was.transpose(2, 1, 0))


def test_what_jax_would_take_otherwise_is_refused() -> None:
    x = tb.zeros((3, 2), dtype="int16", backend="jax")
    for _ in range(2):
        x[0, 0] = 1
        for key in ((3, 0), (-4, 0), (0, 2)):
            with pytest.raises(IndexRangeError):
                x[key] = 1
        with pytest.raises(OutOfRangeError):
            x[0, 0] = 40_000
    assert x.tolist() == [[1, 0], [0, 0], [0, 0]]


def test_an_array_that_has_the_same_buffer_stays() -> None:
    """A donation would delete it, though it has no reference to the array of x."""
    x = tb.asarray(np.arange(4096.0), backend="jax") * 1
    others = [jax.device_put(x.data, jax.devices()[0]), x.data.addressable_data(0)]
    for _ in range(3):
        x[3] = -1.0
    for other in others:
        assert float(other[3]) == 3.0
    assert x[3].item() == -1.0


def test_names_and_traces() -> None:
    x = tb.zeros((2, 3), names=("row", "column"), backend="jax")
    for _ in range(2):
        x[:, 1:] = tb.asarray([1.0, 2.0], names=("column",), backend="jax")
    assert x.tolist() == [[0, 1, 2], [0, 1, 2]]
    assert x.names == ("row", "column")

    def step(x: tb.Tensor, number: tb.Tensor) -> tb.Tensor:
        x[0, 0] = number
        return x

    assert tb.jit(step)(x, tb.asarray(5.0, backend="jax")).tolist() == [[5, 1, 2], [0, 1, 2]]
    assert x[0, 0].item() == 0.0
