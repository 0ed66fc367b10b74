"""Errors are caught by NumPy's classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tensorbackend.numpy as np
from tensorbackend.numpy.exceptions import AxisError


def test_an_axis_that_is_not_there_is_numpys_error() -> None:
    with pytest.raises(AxisError):
        np.sum(np.ones(2), axis=1)


def _itself(*parts: Any) -> list[Any]:
    cycle = [*parts]
    cycle.append(cycle)
    return cycle


AS_NUMPY: dict[str, Callable[[Any], Any]] = {
    "pow of three": lambda m: pow(m.arange(4), 2, 5),
    "a window of a text": lambda m: m.hamming("foo"),
    "a window of None": lambda m: m.blackman(None),
    "the rank of narrow numbers": lambda m: m.linalg.matrix_rank(m.ones(3, m.float16)),
    "the rank of zeros": lambda m: m.linalg.matrix_rank(m.zeros(3)),
    "gradient along an iterator": lambda m: m.gradient(m.arange(6.0).reshape(2, 3), axis=iter((0,))),
    "gradient along a range": lambda m: m.gradient(m.arange(6.0).reshape(2, 3), axis=range(1, 2)),
    "flip along an iterator": lambda m: m.flip(m.arange(6.0).reshape(2, 3), axis=(i for i in (0, 1))),
    "flip along nothing": lambda m: m.flip(m.arange(3.0), axis=1.5),
    "roll along an iterator": lambda m: m.roll(m.arange(6.0).reshape(2, 3), 1, axis=iter((0,))),
    "moveaxis by iterators": lambda m: m.moveaxis(m.ones((1, 3)), iter((0,)), iter((1,))),
    "rot90 of an iterator": lambda m: m.rot90(m.arange(6.0).reshape(2, 3), axes=iter((0, 1))),
    "tril of 1.5": lambda m: m.tril(m.ones((3, 3)), k=1.5),
    "tril of -0.5": lambda m: m.tril(m.ones((2, 3, 4)), k=-0.5),
    "triu of 1.5": lambda m: m.triu(m.ones((3, 3)), k=1.5),
    "tri of 1.5": lambda m: m.tri(3, 4, k=1.5, dtype=int),
    "tril of infinity": lambda m: m.tril(m.ones((3, 3)), k=float("inf")),
    "tril of a text": lambda m: m.tril(m.ones((3, 3)), k="a"),
    "a very wide vander": lambda m: m.vander([1, 2], 2**70),
    "a wide vander": lambda m: m.vander([1, 2], 2**61),
    "a negative vander": lambda m: m.vander([1, 2], -1),
    "a vander of 2.5": lambda m: m.vander([1, 2], 2.5),
    "a list that holds itself": lambda m: m.array(_itself(1)),
    "a list of nothing but itself": lambda m: m.array(_itself()),
    "its sum": lambda m: m.sum(_itself(1)),
    "it as an index": lambda m: m.arange(3)[_itself(1)],
    "it as an operand": lambda m: m.arange(3) + _itself(1),
    "it next to an array": lambda m: m.array([m.ones(2), _itself(1)]),
    "an array in it": lambda m: m.array(_itself(m.ones(1))),
    "its entries": lambda m: m.random.default_rng(0).choice(_itself(1)),
    "it as a pad": lambda m: m.pad(m.ones(2), _itself(1)),
}


@pytest.mark.filterwarnings("ignore:Cannot convert float safely:DeprecationWarning")  # of NumPy 2.5
@pytest.mark.parametrize("name", AS_NUMPY)
def test_odd_arguments_have_numpys_results_or_class_of_error(name: str) -> None:
    call = AS_NUMPY[name]
    try:
        wanted = call(numpy)
    except Exception as error:
        with pytest.raises(next(kind for kind in (ValueError, TypeError, MemoryError) if isinstance(error, kind))):
            call(np)
    else:
        numpy.testing.assert_array_equal(numpy.asarray(call(np)), wanted)
        assert isinstance(call(np), np.ndarray) or type(call(np)) is type(wanted)
