"""Tensors made of arrays whose axes have names."""

from typing import Any

import numpy as np

import tensorbackend as tb
import tensorbackend.numpy as tnp


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
