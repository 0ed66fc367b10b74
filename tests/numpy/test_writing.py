"""Functions of the NumPy namespace that write elements, and those that insert and delete entries."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tensorbackend.numpy as np

from .beside import assert_as_numpy

CALLS = """
np.copyto(x, 3)
np.copyto(x, t[0], where=m)
np.copyto(x, [[[1, 2, 3, 4]]])
np.copyto(t, 0.5 * t)
np.copyto([1], 2)
np.copyto(m, 5)
np.copyto(m, 5, casting='unsafe')
np.copyto(t, 1.5)
np.copyto(x, True)
np.copyto(x, 2j)
np.put_along_axis(x, i, -1, axis=0)
np.put_along_axis(x, i, -1, axis=None)
np.put_along_axis(x, i[0], -1, axis=None)
np.put_along_axis(x, i[0], -1, axis=0)
np.put_along_axis(x, i * 1.0, -1, axis=0)
np.put(x, [0, 5], [7, 8, 9])
np.put(x, [0, 5, 7], [7, 8])
np.put(x, [13, -1], 5, mode='wrap')
np.put(x, [13, -1], 5, mode='clip')
np.put(x, [13], 5)
np.put(x, [0], [])
np.place(x, m, [1, 2])
np.place(x, m, [])
np.putmask(x, m, [1, 2, 3])
np.fill_diagonal(x, 9)
np.fill_diagonal(x, [7, 8])
x = np.zeros((7, 3)); np.fill_diagonal(x, 4, wrap=True)
x = np.zeros((7, 3)); np.fill_diagonal(x, 4)
x = np.zeros((3, 3, 3)); np.fill_diagonal(x, 4)
np.fill_diagonal(t, 1)
np.fill_diagonal(k, 1)
np.insert(x, 1, 9, axis=1)
np.insert(x, [1, 3], [7, 8], axis=1)
np.insert(x, slice(0, 2), 5, axis=0)
np.insert(x, -1, 6)
np.insert(x, 1, [1, 2, 3], axis=1)
np.insert(x, [1], [[1], [2], [3]], axis=1)
np.insert(x, 9, 1, axis=0)
np.insert(x, 0, 1, axis=2)
np.delete(x, 1, axis=0)
np.delete(x, [0, -1], axis=1)
np.delete(x, slice(None, None, 2), axis=1)
np.delete(x, m[0], axis=1)
np.delete(x, m[0], axis=0)
np.delete(x, [])
np.delete(x, 7, axis=1)
np.delete(x, [0.5], axis=1)
"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS.split("\n")[1:-1])
def test_arrays_are_changed_as_by_numpy(call: str) -> None:
    assert_as_numpy(call)


@pytest.mark.parametrize("of_view", [False, True])
def test_a_bound_that_reads_the_array_reads_it_before_the_write(of_view: bool) -> None:
    class Bound:
        def __index__(self) -> int:
            taken.append(x.tensor)
            return 2

    taken: list[Any] = []
    x = np.ones(4)
    target = x[:3] if of_view else x
    for value in (9.0, np.array([7.0, 8.0])):
        target[:2] = 1.0
        taken.clear()
        target[: Bound()] = value
        assert x.tolist() == [*np.broadcast_to(value, 2).tolist(), 1.0, 1.0]
        assert {tuple(each.tolist()) for each in taken} == {(1.0,) * 4}


def test_putmask_of_no_values_writes_nothing() -> None:
    x = np.arange(3.0)
    np.putmask(x, x > 0, [])
    assert x.tolist() == [0.0, 1.0, 2.0]


WRITES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "flat, a place": lambda np, x, v: operator.setitem(x.flat, 1, v),
    "flat, a slice": lambda np, x, v: operator.setitem(x.flat, slice(0, 2), v),
    "flat, places": lambda np, x, v: operator.setitem(x.flat, [0, 2], v),
    "a slice": lambda np, x, v: operator.setitem(x, slice(0, 2), v),
    "a mask": lambda np, x, v: operator.setitem(x, np.asarray([True, False, True, False]), v),
    "put": lambda np, x, v: np.put(x, [0, 2], v),
    "place": lambda np, x, v: np.place(x, x > 1, v),
    "putmask": lambda np, x, v: np.putmask(x, x > 1, v),
    "insert": lambda np, x, v: np.insert(x, 1, v),
}

NUMBERS: list[Any] = [300, -1, 10**40, math.nan, math.inf, 1.5, 1e40, 1j, True, [1, 2], [300, 1], [-1.5, math.nan]]


@pytest.mark.parametrize("dtype", ["i1", "u1", "i8", "u8", "f4", "f8", "c16"])
@pytest.mark.parametrize("way", WRITES)
def test_a_number_or_list_that_the_dtype_does_not_hold_is_refused(way: str, dtype: str) -> None:
    for value in NUMBERS:
        refused, *wanted = _written(numpy, way, dtype, value)
        error, *given = _written(np, way, dtype, value)
        assert isinstance(error, type(refused)), value
        if refused is None:
            assert given == wanted, value
        else:  # NumPy may have written some of the numbers
            assert given[0] == str(numpy.arange(4).astype(dtype)), value


def _written(module: Any, way: str, dtype: str, value: Any) -> tuple[Any, str, str]:
    """The error of a write, the array, and what the function returned."""
    x = module.arange(4).astype(dtype)
    try:
        with numpy.errstate(all="ignore"):
            made: Any = WRITES[way](module, x, value)
    except (TypeError, ValueError, OverflowError) as error:
        return error, str(numpy.asarray(x)), ""
    return None, str(numpy.asarray(x)), str(numpy.asarray(made))


TO_NUMPYS_ARRAY = """
np.put(a, [0, 1], v)
np.place(a, a > 3, v)
np.putmask(a, a > 3, v)
np.copyto(a, 1.5)
np.copyto(a, v[0], where=a > 3)
np.fill_diagonal(a, v)
np.put_along_axis(a, numpy.array([[0], [1], [2]]), 5.0, 1)
np.add.at(a, (numpy.array([0, 0]), 1), 1)
np.add(a, 1, out=a)
np.cumsum(a, axis=0, out=a)
"""


@pytest.mark.parametrize("code", TO_NUMPYS_ARRAY.strip().splitlines())
def test_an_array_of_numpys_own_is_written_to(code: str) -> None:
    """As SciPy and pandas return them, and `isinstance(a, np.ndarray)` says of them."""
    found, wanted = (numpy.arange(12.0).reshape(3, 4) for _ in range(2))
    eval(code, {"np": np, "numpy": numpy, "a": found, "v": np.array([8.0, 9.0])})
    eval(code, {"np": numpy, "numpy": numpy, "a": wanted, "v": numpy.array([8.0, 9.0])})
    numpy.testing.assert_array_equal(found, wanted)
