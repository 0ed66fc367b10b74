"""Tensors made of arrays of other libraries: with named axes, and without a copy."""

from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
import tensorbackend.numpy as tnp
from tensorbackend.errors import ArgumentError, ExchangeError


class Labelled:
    """An array with named axes, as a `DataArray` of xarray is; that library is not imported."""

    def __init__(self, array: Any, dims: Any) -> None:
        self.array, self.dims = array, dims
        self.shape, self.dtype = array.shape, array.dtype

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.array


def test_an_array_with_dims_keeps_its_names() -> None:
    values = np.arange(6.0).reshape(2, 3)
    labelled = Labelled(values, ("time", "place"))
    for _ in range(2):
        assert tb.asarray(labelled).names == ("time", "place")
        assert tb.tensor(labelled).names == ("time", "place")
        assert tb.asarray(labelled, dtype="f32").names == ("time", "place")
        assert tb.asarray(labelled, names=("a", "b")).names == ("a", "b")
        assert tb.asarray(values).names == (None, None)
        assert tb.sum(labelled, axis="place").names == ("time",)
    assert tb.asarray(Labelled(values, (0, 1))).names == (None, None)


def test_an_array_with_dims_around_an_array_of_this_library() -> None:
    """Its data is read as it is: traced, on its backend, and without a conversion through NumPy."""

    class Around(Labelled):
        @property
        def data(self) -> Any:
            return self.array

        def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
            raise AssertionError("read through NumPy")

    x = tb.asarray([[1.0, 2.0]], backend="binary")
    found = tb.asarray(Around(x, ("time", "place")))
    assert (found.names, found.backend.name, found.tolist()) == (("time", "place"), "binary", [[1.0, 2.0]])
    assert tb.asarray(Around(x[0, 0], ())).item() == 1.0
    array = tnp.asarray(x)
    traced = tb.jit(lambda array: tb.sum(tb.asarray(Around(array, ("time", "place"))), axis="place"))(array)
    assert (traced.names, traced.tolist()) == (("time",), [3.0])
    assert tb.asarray(Around(x, ("time", "place")), names=("a", "b")).names == ("a", "b")
    assert tb.asarray(Around(x, ("time", "place")), dtype="f16").dtype is tb.float16
    plain = Labelled(np.ones((1, 2)), ("time", "place"))  # whose `data` is none: it is read as before
    assert tb.asarray(plain).names == ("time", "place")


def test_without_a_copy_memory_is_shared_or_an_error_raised() -> None:
    values = np.zeros(64 + 8)  # JAX shares memory that begins at a multiple of 64 bytes
    first = -values.ctypes.data % 64 // 8
    aligned, odd = values[first : first + 8], values[first + 1 : first + 8]
    for copy in (None, False, None, False):
        for array, backend in ((odd, "numpy"), (aligned, "jax")):
            x = tb.asarray(array, copy=copy, backend=backend)
            if copy is False:
                array[0] += 1
                assert x[0].item() == array[0]
        for array, backend in ((odd, "binary"), (odd, "jax")):
            if copy is None:
                assert tb.asarray(array, copy=copy, backend=backend).shape == array.shape
                continue
            with pytest.raises(ArgumentError, match=r"memory the backend '\w+' can share, got .*; leave copy out"):
                tb.asarray(array, copy=False, backend=backend)
    with pytest.raises(ExchangeError, match="memory 'binary' can share"):
        tb.from_dlpack(odd, copy=False, backend="binary")
    for value in (odd, tb.asarray(odd)):
        with pytest.raises(ArgumentError, match="of the requested dtype and backend to share, got dtype=float32"):
            tb.asarray(value, copy=False, dtype="f32")
    assert tb.asarray(odd[:0], copy=False, backend="binary").shape == (0,)
    assert tb.asarray(odd, copy=False, backend="template").shape == (7,)
    assert tb.jit(lambda x: x + tb.asarray(odd, copy=False))(tb.ones(7)).shape == (7,)
