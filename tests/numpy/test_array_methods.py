"""Tests of conversions of arrays to NumPy's, to buffers and to bytes."""

import hashlib
import io
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import numpy
import pytest

import tensorbackend.numpy as np

CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "asarray": numpy.asarray,
    "array": numpy.array,
    "asanyarray": numpy.asanyarray,
    "ascontiguousarray": numpy.ascontiguousarray,
    "array of a dtype": lambda x: numpy.array(x, numpy.complex128),
    "array without a copy of its own": lambda x: numpy.array(x, copy=None),
    "of a list": lambda x: numpy.array([x, x])[0],
    "assignment": lambda x: numpy.stack([numpy.zeros(x.shape, x.dtype), numpy.asarray(x)])[1],
    "tobytes": lambda x: numpy.frombuffer(x.tobytes(), x.dtype).reshape(x.shape),
    "byteswap": lambda x: numpy.asarray(x.byteswap()).byteswap(),
    "atleast_1d": numpy.atleast_1d,  # with which SciPy makes arrays for code in C
    "atleast_2d, atleast_3d": lambda x: numpy.atleast_3d(numpy.atleast_2d(x)).reshape(x.shape),
    "of __array__": lambda x: x.__array__(),
}
BUFFERS: dict[str, Callable[[Any], Any]] = {
    "memoryview": lambda x: numpy.asarray(memoryview(x)),
    "frombuffer": lambda x: numpy.frombuffer(x, x.dtype).reshape(x.shape),
    "bytearray": lambda x: numpy.frombuffer(bytearray(x), x.dtype).reshape(x.shape),
}


def calls(function: Callable[[], Any]) -> tuple[Any, Counter[str]]:
    """The result of a function, and how often it calls the methods of arrays that convert, by name."""
    seen: Counter[str] = Counter()

    def profile(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_name in ("__array__", "__buffer__", "__array_interface__"):
            seen[frame.f_code.co_name] += frame.f_code.co_filename.endswith("array_methods.py")

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        result = function()
    finally:
        sys.setprofile(before)
    return result, seen


def views(dtype: str) -> dict[str, Any]:
    """Arrays and views with the elements that they have."""
    root = np.arange(12).reshape(3, 4).astype(dtype)
    return {
        "root": root,
        "row": root[1],
        "column": root[:, 1],
        "transposed": root.T,
        "empty": root[:0],
        "0d": root[1:2, 1:2].reshape(()),
    }


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "f4", "f8", "c16"])
@pytest.mark.parametrize("name", CONVERSIONS)
def test_a_conversion_asks_an_array_a_few_times(name: str, dtype: str) -> None:
    """No conversion leads to another one without end, on any Python."""
    for kind, x in views(dtype).items():
        expected = numpy.array(x.tolist(), dtype)
        result, seen = calls(partial(CONVERSIONS[name], x))
        numpy.testing.assert_array_equal(result, expected.reshape(result.shape), err_msg=kind)
        assert all(count <= 4 for count in seen.values()), (kind, seen)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="a class written in Python is a buffer from 3.12 on")
@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "f4", "f8", "c16"])
@pytest.mark.parametrize("name", BUFFERS)
def test_a_buffer_is_asked_for_once(name: str, dtype: str) -> None:
    """`memoryview(x)` makes one copy."""
    for kind, x in views(dtype).items():
        if x.size and (name != "bytearray" or x.ndim):  # `bytearray(number)` asks for so many zeros
            result, seen = calls(partial(BUFFERS[name], x))
            numpy.testing.assert_array_equal(result, numpy.array(x.tolist(), dtype), err_msg=kind)
            assert seen["__buffer__"] == 1, (kind, seen)
            assert seen["__array__"] <= 1, (kind, seen)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="a class written in Python is a buffer from 3.12 on")
def test_files_and_digests_take_an_array() -> None:
    """What reads bytes reads the elements."""
    x = np.arange(6.0)
    stream = io.BytesIO()
    stream.write(x)
    assert stream.getvalue() == bytes(memoryview(x)) == x.tobytes()
    assert hashlib.sha256(x).digest() == hashlib.sha256(x.tobytes()).digest()


def test_a_dtype_that_no_buffer_has_is_converted() -> None:
    """NumPy asks for bfloat16 in another way when there is no buffer of it."""
    x = np.asarray([1.0, 2.5]).astype("bfloat16")
    result, seen = calls(lambda: numpy.asarray(x))
    assert result.tolist() == [1.0, 2.5]
    assert all(count <= 2 for count in seen.values()), seen


def test_memory_for_other_libraries_is_a_copy() -> None:
    x = np.arange(3.0)[1:]
    assert bytes(x.data) == numpy.array([1.0, 2.0]).tobytes()
    assert x.__dlpack_device__() == (1, 0)
    taken = numpy.from_dlpack(x)
    x[0] = 9
    assert taken.tolist() == [1, 2]
    assert isinstance(numpy.asarray(x), numpy.ndarray)


def test_bytes_in_an_order() -> None:
    x = numpy.arange(24.0).reshape(2, 3, 4)
    views: list[Callable[[Any], Any]] = [
        lambda x: x, lambda x: x.T, lambda x: x[::-1].T, lambda x: x[0, :1], lambda x: x.swapaxes(0, 1),
    ]  # fmt: skip
    for view in views:
        for order in ("C", "F", "A"):
            assert view(np.array(x)).tobytes(order) == view(x).tobytes(order), order
