"""Writes by index and at index vectors, with NumPy's as an oracle: what was made before, masks, dtypes and names."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import ALL_DTYPES, DType, float16, float32
from tensorbackend.errors import (
    DTypeError,
    NamesError,
    OutOfRangeError,
    ShapeError,
)
from tensorbackend.testing import assert_equal, profile

from .indexing_cases import BACKENDS, DATA, SHAPES, as_tensors, keys


@pytest.mark.parametrize("backend", BACKENDS)
def test_writes_are_numpys(backend: str) -> None:
    @profile(30)
    @given(st.data())
    def agrees(data: st.DataObject) -> None:
        shape = data.draw(SHAPES)
        key = data.draw(keys(shape))
        values = np.arange(math.prod(shape)).reshape(shape)
        try:
            target = values[key].shape
        except IndexError:
            return
        update_shape = tuple(
            data.draw(st.sampled_from([size, 1])) for size in target[data.draw(st.integers(0, len(target))) :]
        )
        update = -1 - np.arange(math.prod(update_shape)).reshape(update_shape)
        x = tb.asarray(values, backend=backend)
        before, template = x[...], x.template
        x[as_tensors(key, backend)] = tb.asarray(update, backend=backend)
        reference = values.copy()
        reference[key] = update
        assert x.tolist() == reference.tolist()
        assert x.template is template
        assert before.tolist() == values.tolist()

    agrees()


def test_what_was_made_before_keeps_its_value(x: tb.Tensor) -> None:
    same, row, positive = x[...], x[0], +x
    x[0, 1] = tb.asarray([1, 2, 3, 4, 5])
    assert x[0, 1].tolist() == [1, 2, 3, 4, 5]
    assert [tensor.tolist() for tensor in (same, row, positive)] == [DATA.tolist(), DATA[0].tolist(), DATA.tolist()]
    assert x.template == tb.Template((3, 4, 5), "int64", ("a", "b", "c"))


NOTHING_TO_DO: list[Any] = [
    lambda x: +x,
    lambda x: x[...],
    lambda x: x[:],
    lambda x: x.isel(),
    lambda x: x.rename(*x.names),
    lambda x: tb.astype(x, x.dtype),
    lambda x: tb.tensor(x),
    lambda x: tb.conj(x),
    lambda x: tb.clip(x),
    lambda x: tb.reshape(x, x.shape, names=x.names),
    lambda x: tb.roll(x, 0, axis=0),
    lambda x: tb.diff(x, n=0),
    lambda x: tb.pad(x, [(0, 0)] * 3, mode="edge"),
    lambda x: tb.moveaxis(x, 0, 0),
    lambda x: tb.concat([x]),
    lambda x: tb.put_at(x, [], 0),
]


@pytest.mark.parametrize("function", NOTHING_TO_DO)
def test_an_op_with_nothing_to_do_gives_a_tensor_of_its_own(x: tb.Tensor, function: Any) -> None:
    result = function(x)
    result[...] = 0
    assert x.tolist() == DATA.tolist()


def test_repeated_indices_keep_the_last(x: tb.Tensor) -> None:
    x[[0, 1, 0], 0, 0] = tb.asarray([7, 8, 9])
    assert x[:2, 0, 0].tolist() == [9, 8]


def test_a_mask_writes(x: tb.Tensor) -> None:
    x[x > 5] = -1
    assert x.tolist() == np.where(DATA > 5, -1, DATA).tolist()
    x[tb.asarray([True, False, True])] = tb.asarray([0, 1, 2, 3, 4])
    assert x[2].tolist() == [[0, 1, 2, 3, 4]] * 4
    x[tb.asarray(False)] = 9
    x[tb.zeros(3, dtype="bool")] = tb.zeros((0, 4, 5), dtype="int64")
    assert x[0].tolist() == [[0, 1, 2, 3, 4]] * 4
    mask = tb.asarray(DATA % 7 == 0)
    x[mask] = tb.arange(9)
    assert x[mask].tolist() == list(range(9))


def test_dtypes_and_names_of_a_value(x: tb.Tensor) -> None:
    small = tb.astype(x, "int8")
    small[0] = 1
    small[0] = [1, 2, 3, 4, 5]
    assert small[0, 0].tolist() == [1, 2, 3, 4, 5]
    with pytest.raises(OutOfRangeError, match="an integer from -128 to 127"):
        small[0] = 300
    with pytest.raises(DTypeError, match="a number that int8 holds"):
        small[0] = 1.5
    with pytest.raises(DTypeError, match="an update of a dtype that int8 holds, got dtype=int64"):
        small[0] = x[0]
    with pytest.raises(NamesError):
        x[0] = tb.zeros((4, 5), dtype="int64", names=("c", "b"))
    with pytest.raises(ShapeError):
        x[0] = tb.zeros((3, 5), dtype="int64")
    with pytest.raises(ShapeError, match=r"a value that broadcasts to shape \(5,\)"):
        x[0, 0] = tb.zeros((1, 1, 5), dtype="int64")
    wide = tb.astype(x, "float32")
    wide[0] = x[1]
    assert wide[0].tolist() == DATA[1].tolist()
    wide[0] = tb.full((), 0.1, dtype="float64", backend=x.backend)
    assert wide[0, 0, 0].tolist() == tb.asarray(0.1, dtype="float32").tolist()
    with pytest.raises(DTypeError, match="an update of a dtype that float32 holds, got dtype=complex64"):
        wide[0] = tb.astype(x[0], "complex64")
    number = tb.astype(x, "complex64")
    number[0] = tb.astype(x[1], "float64")
    number[1] = tb.astype(x[1], "complex128")
    assert number[0].tolist() == number[1].tolist() == DATA[1].tolist()


@pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)
def test_every_dtype(dtype: DType) -> None:
    for backend in BACKENDS:
        x = tb.astype(tb.tensor([1, 0, 2, 3], backend=backend), dtype)
        assert_equal(x[[2, 0]], tb.astype(tb.tensor([2, 1], backend=backend), dtype))
        x[1::2] = tb.astype(tb.tensor([1, 0], backend=backend), dtype)
        assert_equal(x, tb.astype(tb.tensor([1, 1, 2, 0], backend=backend), dtype))
        assert tb.count_nonzero(x).item() == 3


# At index vectors


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("number", [2, tb.asarray(2, dtype="int8")])
def test_one_number_updates_every_entry(backend: str, number: Any) -> None:
    x = tb.asarray([[1, 2], [3, 4], [5, 6]], dtype="int8", names=("row", "column"), backend=backend)
    number = number.backend_copy(backend) if isinstance(number, tb.Tensor) else number
    indices = tb.asarray([[2], [0], [2]], backend=backend)
    for made, wanted in (
        (tb.indexed_add(x, indices, number), [[3, 4], [3, 4], [9, 10]]),
        (tb.indexed_put(x, indices, number), [[2, 2], [3, 4], [2, 2]]),
        (tb.jit(lambda x: tb.indexed_add(x, indices, number))(x), [[3, 4], [3, 4], [9, 10]]),
    ):
        assert made.template == x.template
        assert made.tolist() == wanted
    with pytest.raises(ShapeError, match=r"indexed_put: expected updates of shape \(3, 2\), got updates=s64\[2\]"):
        tb.indexed_put(x, indices, tb.asarray([1, 2], backend=backend))


@pytest.mark.parametrize("dtype", [float16, float32], ids=str)
def test_indexed_add_is_as_near_as_float32(dtype: DType) -> None:
    @profile(30)
    @given(st.lists(st.floats(0, 1, width=16), min_size=1, max_size=50))
    def agrees(numbers: list[float]) -> None:
        sums = []
        for backend in BACKENDS:
            x = tb.zeros(1, dtype=dtype, backend=backend)
            indices = tb.zeros((len(numbers), 1), dtype="int64", backend=backend)
            sums.append(tb.indexed_add(x, indices, tb.tensor(numbers, dtype=dtype, backend=backend)))
        # Each addition rounds once to float32. A result in float16 is rounded once more, at the end.
        assert_equal(sums[1], sums[0], ulps=1 if dtype is float16 else len(numbers))

    agrees()
