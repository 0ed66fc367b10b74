"""Tests of what a tensor is by itself: its template, its elements as Python numbers, its copies and its end."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.dtypes import ALL_DTYPES, DType
from tensorbackend.errors import ArgumentError, DeallocatedError, OperandError, ShapeError
from tensorbackend.tensor import Tensor


@pytest.fixture
def x() -> Tensor:
    return tb.tensor([[1, 2, 3], [4, 5, 6]], names=("batch", "feature"))


def test_the_template_is_read_by_attributes(x: Tensor) -> None:
    assert (x.shape, x.ndim, x.size, x.nbytes) == ((2, 3), 2, 6, 48)
    assert (x.dtype, x.names, x.backend.name) == (tb.int64, ("batch", "feature"), "numpy")
    assert len(x) == 2


def test_a_transpose_swaps_the_names_too(x: Tensor) -> None:
    assert x.T.names == x.mT.names == ("feature", "batch")
    assert x.T.tolist() == [[1, 4], [2, 5], [3, 6]]


@pytest.mark.parametrize("dtype", [dtype for dtype in ALL_DTYPES if not dtype.is_complex], ids=str)
def test_the_real_parts_of_what_is_not_complex_are_its_elements(dtype: DType) -> None:
    x = tb.asarray([0, 1], dtype=dtype)
    parts = x.real, x.imag
    x[0] = tb.asarray(1, dtype=dtype)
    assert [part.tolist() for part in parts] == [[0, 1], [0, 0]]
    assert all(part.dtype is dtype for part in parts)


def test_a_number_is_read_as_each_type_of_python() -> None:
    assert tb.tensor(2.75).item() == float(tb.tensor(2.75)) == 2.75
    assert (int(tb.tensor(-2.75)), math.trunc(tb.tensor(-2.75))) == (-2, -2)
    assert complex(tb.tensor(1 + 2j)) == 1 + 2j
    assert [10, 20, 30][tb.tensor(2)] == 30
    assert (bool(tb.tensor(0.0)), bool(tb.tensor([[3]]))) == (False, True)


def test_several_elements_are_not_a_number(x: Tensor) -> None:
    for read in (float, int, bool, complex):
        with pytest.raises(ShapeError):
            read(x)


def test_a_float_is_not_an_index() -> None:
    with pytest.raises(TypeError):
        [10, 20][tb.tensor(1.0)]


def test_a_tensor_does_not_hash(x: Tensor) -> None:
    with pytest.raises(TypeError):
        hash(x)


def test_a_scalar_has_neither_length_nor_iterator() -> None:
    scalar = tb.tensor(1.0)
    with pytest.raises((TypeError, ShapeError)):
        len(scalar)
    with pytest.raises((TypeError, ShapeError)):
        iter(scalar)


def test_iteration_gives_rows_with_the_other_names(x: Tensor) -> None:
    assert [(row.names, row.tolist()) for row in x] == [(("feature",), [1, 2, 3]), (("feature",), [4, 5, 6])]


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_copy_keeps_its_elements_when_the_original_is_assigned_to(duplicate: object, x: Tensor) -> None:
    assert callable(duplicate)
    kept = duplicate(x)
    x[0, 0] = 99
    assert (kept.template, kept.tolist()) == (x.template, [[1, 2, 3], [4, 5, 6]])


def test_axes_are_renamed_by_position_and_by_name(x: Tensor) -> None:
    assert x.rename("a", "b").names == ("a", "b")
    assert x.rename(batch="row").names == ("row", "feature")
    assert x.rename(batch=None).names == (None, "feature")


def test_a_selection_by_name_is_that_of_numpy(x: Tensor) -> None:
    data = np.array(x.tolist())
    assert x.isel(feature=1).tolist() == data[:, 1].tolist()
    assert x.isel(batch=0, feature=slice(1, None)).tolist() == data[0, 1:].tolist()


def test_a_deallocated_tensor_says_so(x: Tensor) -> None:
    x.backend_deallocate()
    assert x.deallocated
    with pytest.raises(DeallocatedError):
        x.tolist()


def test_bytes_are_those_of_numpy(x: Tensor) -> None:
    assert x.to_binary() == np.array(x.tolist()).tobytes()
    assert x.to_binary(limit=2) == np.array([1, 2]).tobytes()


def test_an_operand_of_another_kind_is_refused(x: Tensor) -> None:
    for wrong in ("text", object()):
        with pytest.raises((OperandError, ArgumentError)):
            x + wrong  # type: ignore[arg-type] # the error under test


def test_the_transpose_of_fewer_than_two_axes_is_the_tensor() -> None:
    for shape in ((), (3,)):
        x = tb.ones(shape)
        assert x.T.tolist() == np.ones(shape).T.tolist()
    with pytest.raises(ShapeError, match="at most two axes"):
        tb.ones((2, 3, 4)).T  # noqa: B018 # the error under test


@pytest.mark.parametrize("decimals", [0, 1, -1])
def test_rounding_to_decimals(decimals: int) -> None:
    data = np.array([1.25, -27.75, 0.35])
    assert tb.asarray(data).round(decimals).tolist() == data.round(decimals).tolist()


def test_a_dtype_by_position() -> None:
    x = tb.zeros(3, "int16")
    made = [
        x, tb.ones(3, "int16"), tb.empty(3, "int16"), tb.full(3, 1, "int16"), tb.asarray([1, 2, 3], "int16"),
        tb.tensor([1, 2, 3], "int16"), tb.arange(1, 4, 1, "int16"), tb.zeros_like(tb.ones(3), "int16"),
        tb.ones_like(tb.ones(3), "int16"), tb.empty_like(tb.ones(3), "int16"), tb.full_like(tb.ones(3), 2, "int16"),
        x.sum(0, "int16")[None].prod(0, "int16")[None] + tb.zeros(3, "int16"),
    ]  # fmt: skip
    assert [each.template for each in made] == [tb.Template((3,), "int16")] * len(made)
