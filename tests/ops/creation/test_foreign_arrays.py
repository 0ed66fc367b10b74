"""Tensors made of arrays whose axes have names."""

from typing import Any

import numpy as np

import tensorbackend as tb


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
