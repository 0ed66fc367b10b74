"""The annotations of NumPy programs can be evaluated, and say what NumPy's say."""

from __future__ import annotations

from typing import Any, get_args, get_origin

import numpy
import numpy.typing
import pytest

import tensorbackend as tb
import tensorbackend.numpy as np
import tensorbackend.numpy.typing as npt


@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.bool_])
def test_an_array_with_a_dtype_has_numpys_parameters(dtype: Any) -> None:
    ours, theirs = npt.NDArray[dtype], numpy.typing.NDArray[dtype]
    alias: Any = get_origin(theirs)
    if hasattr(alias, "__value__"):  # a statement `type NDArray[...] = ...` from NumPy 2.5 on
        theirs = alias.__value__[get_args(theirs)]
    assert get_origin(ours) is np.ndarray
    assert get_args(ours) == (tuple[Any, ...], numpy.dtype[dtype])
    assert get_args(ours)[1] == get_args(theirs)[1]


def test_the_class_of_arrays_takes_parameters() -> None:
    made: Any = np.ndarray[tuple[int, int], np.dtype[np.float64]]
    assert get_args(made) == (tuple[int, int], np.dtype[np.float64])
    assert get_origin(made) is np.ndarray


@pytest.mark.parametrize("value", [np.ones(2), tb.ones(2), numpy.ones(2), numpy.float64(1), 2j, [[1, 2]]])
def test_arrays_numbers_and_sequences_are_like_arrays(value: Any) -> None:
    classes = tuple([get_origin(each) or each for each in get_args(npt.ArrayLike)])
    assert isinstance(value, classes)
    assert not isinstance(object(), classes)


def test_the_names_are_those_of_numpy() -> None:
    assert set(npt.__all__) == set(numpy.typing.__all__) - {"NBitBase"}  # deprecated by NumPy
