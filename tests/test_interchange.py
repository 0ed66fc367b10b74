"""Tensors from and to NumPy, DLPack, pickles, bytes and Python numbers."""

from __future__ import annotations

import copy
import pickle
from typing import Any, cast

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.dtypes import ALL_DTYPES, DType, bfloat16
from tensorbackend.interchange import numpy_dtype

on_both = pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
every_dtype = pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)


@on_both
@every_dtype
def test_numpy_and_back(backend: str, dtype: DType) -> None:
    x = tb.astype(tb.asarray([[0, 1, 2], [3, 4, 5]], names=("row", "column"), backend=backend), dtype)
    array = np.asarray(x)
    assert (array.shape, array.dtype) == ((2, 3), numpy_dtype(dtype))
    assert not array.flags.writeable
    back = tb.asarray(array, names=x.names, backend=backend)
    assert back.template is x.template
    assert back.to_binary() == x.to_binary()


@on_both
def test_arrays_are_not_aliased_where_a_writer_could_be(backend: str) -> None:
    x = tb.tensor([1.0, 2.0], backend=backend)
    fresh = np.array(x)
    fresh[0] = 9.0
    assert x.tolist() == [1.0, 2.0]
    source = np.array([1.0, 2.0])
    tensor = tb.tensor(source, backend=backend)
    source[0] = 9.0
    assert tensor.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(x)[0] = 9.0


def test_a_copy_on_the_same_library_shares_nothing() -> None:
    source = np.array([1.0, 2.0])
    x = tb.asarray(source)
    other = x.backend_copy("numpy")
    source[0] = 9.0
    assert other.tolist() == [1.0, 2.0]


def test_a_large_copy_lies_where_other_libraries_can_share_it() -> None:
    for array in (np.ones((100, 400), np.float32), np.ones((400, 100), np.float32).T, np.arange(1000)):
        x = tb.tensor(array)
        assert np.array_equal(x.data, array)
        assert not np.shares_memory(x.data, array)
        assert x.data.flags.c_contiguous
        assert x.data.nbytes < 1 << 16 or x.data.ctypes.data % 64 == 0


@on_both
def test_an_array_that_knows_nothing_but_dlpack(backend: str) -> None:
    class Only:
        def __dlpack__(self, **options: Any) -> Any:
            return array.__dlpack__(**options)

        def __dlpack_device__(self) -> tuple[int, int]:
            return array.__dlpack_device__()

    array, right = np.arange(3.0), cast(Any, Only())
    assert tb.asarray(Only(), backend=backend).tolist() == [0.0, 1.0, 2.0]
    assert (tb.ones(3, dtype="f64", backend="numpy") + right).tolist() == [1.0, 2.0, 3.0]


@on_both
def test_a_numpy_operand_on_the_left(backend: str) -> None:
    x = tb.tensor([1.0, 2.0], names=("n",), backend=backend)
    left: Any = np.ones(2, np.float32)
    total = left + x
    assert (total.tolist(), total.names) == ([2.0, 3.0], ("n",))


@on_both
def test_dlpack(backend: str) -> None:
    x = tb.tensor([[1.0, 2.0], [3.0, 4.0]], backend=backend)
    assert np.from_dlpack(x).tolist() == x.tolist()
    read: Any = np.from_dlpack(x)
    if read.flags.writeable:  # before NumPy 2.2, arrays read this way are read-only
        read[0, 0] = 9.0
    assert x.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert not np.from_dlpack(x, copy=False).flags.writeable
    assert x.__dlpack_device__() == (1, 0)
    assert tb.from_dlpack(np.arange(3.0), backend=backend).tolist() == [0.0, 1.0, 2.0]
    for size in (0, 3):
        y = tb.permute_dims(tb.iota((size, 2), backend=backend), (1, 0))
        for copies in (None, False, True):
            assert np.from_dlpack(Legacy(y, copies)).tolist() == y.tolist()


class Capsules:
    """An array of a library that NumPy can read only through DLPack."""

    def __init__(self, values: np.ndarray[Any, Any]) -> None:
        self.values = values

    def __array__(self, *arguments: object) -> Any:
        raise TypeError("not a dtype of NumPy's, or part of a graph")

    def __dlpack__(self, **options: Any) -> Any:
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.values.__dlpack_device__()


@on_both
def test_an_array_that_numpy_refuses(backend: str) -> None:
    values = np.array([1.0, 2.0])
    x, fresh = tb.asarray(Capsules(values), backend=backend), tb.tensor(Capsules(values), backend=backend)
    assert (x.tolist(), x.dtype) == ([1.0, 2.0], tb.float64)
    values[0] = 9.0
    assert fresh.tolist() == [1.0, 2.0]


class Legacy:
    """A tensor that exports itself as for a consumer older than DLPack 1.0."""

    def __init__(self, x: tb.Tensor, copies: bool | None) -> None:
        self.x, self.copies = x, copies

    def __dlpack__(self, **options: Any) -> Any:
        return self.x.__dlpack__(copy=self.copies)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.x.__dlpack_device__()


@on_both
@every_dtype
def test_pickling_keeps_the_template_the_backend_and_the_bits(backend: str, dtype: DType) -> None:
    x = tb.astype(tb.tensor([[1, 0], [2, 3]], names=("row", None), backend=backend), dtype)
    for copied in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert (copied.template, copied.backend) == (x.template, x.backend)
        assert copied.to_binary() == x.to_binary()
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert pickle.loads(pickle.dumps(x.template)) is x.template


@on_both
def test_python_numbers_out(backend: str) -> None:
    x = tb.tensor([[1.5]], backend=backend)
    assert (x.item(), float(x), int(x), bool(x), complex(x)) == (1.5, 1.5, 1, True, 1.5 + 0j)
    assert [10, 11, 12][tb.tensor(1, backend=backend)] == 11
    assert tb.tensor([[True], [False]], backend=backend).tolist() == [[True], [False]]
    assert tb.tensor([1.0078125], dtype=bfloat16, backend=backend).tolist() == [1.0078125]


@on_both
def test_batches(backend: str) -> None:
    x = tb.iota((5, 2), names=("row", None), backend=backend)
    for leftover, sizes in (("keep", [2, 2, 1]), ("discard", [2, 2]), ("repeat", [2, 2, 2])):
        batches = list(tb.to_batched(x, 2, leftover=leftover))  # type: ignore[arg-type] # one of three
        assert [batch.shape[0] for batch in batches] == sizes
        assert {batch.names for batch in batches} == {x.names}
        assert batches[1].tolist() == [[4, 5], [6, 7]]
    assert list(tb.to_batched(tb.zeros((0, 2), backend=backend), 3)) == []


@on_both
def test_bfloat16_by_dlpack(backend: str) -> None:
    x = tb.tensor([[1.5, -2.0], [0.0, 3.0]], dtype="bf16", backend=backend)
    for options in ({}, {"copy": False}, {"max_version": (1, 0)}, {"max_version": (1, 0), "copy": False}):

        class Reader:
            def __dlpack__(self, **asked: Any) -> Any:
                return x.__dlpack__(**options)  # noqa: B023

            def __dlpack_device__(self) -> tuple[int, int]:
                return x.__dlpack_device__()

        received = tb.from_dlpack(Reader(), backend="numpy")
        assert (received.dtype, received.tolist()) == (tb.bfloat16, x.tolist())


@pytest.mark.parametrize("backend", ["numpy", "jax", "template"])
def test_to_copy_is_true_or_false(backend: str) -> None:
    for make in (tb.from_dlpack, tb.asarray):
        with pytest.raises(tb.errors.ArgumentError, match="expected copy to be True or False, got copy=2"):
            make(np.ones(2), copy=2, backend=backend)  # type: ignore[arg-type] # wrong on purpose


def test_what_has_nothing_but_the_array_interface() -> None:
    pixels = np.arange(6, dtype="u1").reshape(2, 3)  # kept alive here, as the interface does not keep it

    class Image:
        __array_interface__ = pixels.__array_interface__

    image = Image()
    assert tb.asarray(image).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert (tb.asarray(image).dtype, tb.add(tb.asarray(1, dtype="u8"), cast(Any, image)).shape) == (tb.uint8, (2, 3))
