"""Views that are used often keep what they read until a write, and a write through a view changes its root's memory."""

from __future__ import annotations

import gc
import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy as np
from tensorbackend.numpy.holders import LASTING
from tensorbackend.numpy.subclasses import ours, theirs

USES = 8
"""More uses than a view needs to keep what it read."""


def _rows(x: Any) -> Any:
    return x[1:]


VIEWS: dict[str, Callable[[Any], Any]] = {
    "key": _rows,
    "column": lambda x: x[:, 1],
    "key of a key": lambda x: x[1:][0][:2],
    "transposed": lambda x: x.T,
    "reshaped": lambda x: x.reshape(6, 2),
    "key of a step": lambda x: x.T[1:],
    "step of a key": lambda x: x[1:].T,
    "other dtype": lambda x: x.view(numpy.int64)[1:],
}

WRITES: dict[str, Callable[[Any], Any]] = {
    "element": lambda x: x.__setitem__((1, 1), 7),
    "whole": lambda x: x.__setitem__(slice(None), 7),
    "rows": lambda x: x.__setitem__(slice(1, 3), x[:2].copy()),
    "overlapping rows": lambda x: x.__setitem__(slice(1, 3), x[:2]),
    "mask": lambda x: x.__setitem__(x > 3, 7),
    "in place": lambda x: x.__iadd__(1),
    "through a view": lambda x: x[1:].__setitem__((0, slice(0, 2)), 7),
    "through a view in place": lambda x: x[1:].__iadd__(1),
    "through a transposed view": lambda x: x.T.__setitem__(1, 7),
    "fill": lambda x: x.fill(7),
    "sort": lambda x: x[:, ::-1].sort(axis=0),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("backend", ["numpy", "jax", "binary"])
def test_a_view_that_was_used_often_sees_each_write(backend: str, view: str, write: str) -> None:
    plain = numpy.arange(12.0).reshape(4, 3)
    with tb.default_backend(backend):
        x = np.array(plain)
        ours, theirs = VIEWS[view](x), VIEWS[view](plain)
        for _ in range(3):
            for _ in range(USES):
                assert numpy.asarray(np.positive(ours)).tolist() == theirs.tolist()
            WRITES[write](x)
            WRITES[write](plain)
            assert numpy.asarray(np.positive(ours)).tolist() == theirs.tolist()
        ours[...] = 5
        theirs[...] = 5
        assert numpy.asarray(x).tolist() == plain.tolist()


@pytest.mark.parametrize("view", VIEWS)
def test_what_was_taken_from_a_view_does_not_change(view: str) -> None:
    x = np.array(numpy.arange(12.0).reshape(4, 3))
    shown = VIEWS[view](x)
    for _ in range(USES):
        np.positive(shown)
    taken, expected = shown.tensor, numpy.asarray(shown).tolist()
    x[...] = 0
    x[1:3] += 1
    shown[...] = 9
    assert taken.tolist() == expected


def _address(x: Any) -> int:
    return int(x.tensor.data.ctypes.data)


@pytest.mark.parametrize("view", VIEWS)
def test_a_write_changes_memory_in_place_although_a_view_was_used_often(view: str) -> None:
    x = np.array(numpy.arange(12.0).reshape(4, 3)).copy() + 0
    x[0, 0] = 1.0  # gives x memory of its own
    shown = VIEWS[view](x)
    for _ in range(USES):
        np.positive(shown)
    before = _address(x)
    x[1, 1] = 7.0
    assert _address(x) == before
    shown[...] = 5
    assert _address(x) == before
    x[1:, 1][1:] = 3.0
    x[1:][1] = np.ones(3)
    x[1:] += 1
    assert _address(x) == before


def test_views_that_are_gone_are_forgotten() -> None:
    x = np.zeros(5) + 1
    views = [x[1:], x[2:]]
    for view in views:
        for _ in range(USES):
            np.positive(view)
    assert len(LASTING[id(x)]) == 2
    del view, views[0]
    assert len(LASTING[id(x)]) == 1
    del views
    gc.collect()
    assert id(x) not in LASTING


def test_views_keep_what_they_read_in_traces_and_under_gradients() -> None:
    def program(x: Any) -> Any:
        view, total = x[1:], 0.0
        for _ in range(USES):
            total = total + np.sum(view * view)
        x[1] = 2 * x[0]
        return total + np.sum(view)

    x = np.arange(4.0) + 0
    expected = program(numpy.arange(4.0))
    assert float(tb.jit(program)(x)) == expected == 117.0
    assert numpy.asarray(tb.grad(program)(x)).tolist() == [2.0, 16.0, 33.0, 49.0]
    assert numpy.asarray(tb.vmap(program)(np.stack([x, x]))).tolist() == [expected] * 2


@pytest.mark.parametrize("value", [numpy.zeros((3, 3)), numpy.zeros(4)])
def test_a_wrong_shape_through_a_view_is_an_error_and_writes_nothing(value: Any) -> None:
    x = np.arange(6.0).reshape(2, 3) + 0
    with pytest.raises(ValueError, match="broadcast"):
        x[1:][0:1] = np.asarray(value)
    assert numpy.asarray(x).tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def test_a_number_is_written_through_a_view_as_numpy_would() -> None:
    x, plain = np.arange(4) + 0, numpy.arange(4)
    x[1:][0] = 2.7
    plain[1:][0] = 2.7
    assert numpy.asarray(x).tolist() == plain.tolist()
    with pytest.raises(OverflowError):
        x[1:][0] = 2**70
    with pytest.raises(IndexError):
        x[1:][5] = 1


def test_an_unknown_option_of_a_universal_function_is_an_error() -> None:
    add: Any = np.add
    with pytest.raises(TypeError, match=r"add\(\) got an unexpected keyword argument 'were'"):
        add(np.ones(2), 1, were=True)
    assert add(np.ones(2), 1, order="C", subok=False).tolist() == [2.0, 2.0]


def test_arrays_of_numpy_are_instances_and_subclasses_take_buffers() -> None:
    assert isinstance(numpy.zeros(2), np.ndarray)
    assert isinstance(numpy.array(["a"]), np.ndarray)
    assert not isinstance(numpy.float64(2), np.ndarray)
    assert issubclass(numpy.ndarray, np.ndarray)

    class Quaternion(np.ndarray):
        def __new__(cls, values: Any) -> Any:
            given = np.array(values, dtype=float)
            return super().__new__(cls, given.shape, float, given)  # type: ignore[call-arg] # the stub's class has none

    made = Quaternion([1, 2])
    assert type(made) is Quaternion
    assert made.tolist() == [1, 2]


class Tracked(np.ndarray):
    """A subclass as programs write them: over the elements of an array, with calls by the name of the class."""

    def __new__(cls, values: Any) -> Any:
        given = np.array(values, dtype=float)
        return np.ndarray.__new__(cls, given.shape, float, given)  # type: ignore[call-arg] # the stub's class has none

    def __array_wrap__(self, *arguments: Any, **options: Any) -> Any:
        wrap: Any = np.ndarray.__array_wrap__  # type: ignore[attr-defined] # NumPy's arrays alone have it
        return wrap(self, *arguments, **options)

    def __setitem__(self, key: Any, value: Any) -> None:
        np.ndarray.__setitem__(self, key, value)


UNBOUND = [
    "__add__", "__getitem__", "__mul__", "__str__", "argmax", "astype", "clip", "cumsum", "max", "mean", "nonzero",
    "repeat", "searchsorted", "sum", "take", "tolist",
]  # fmt: skip
"""Methods that are called by the class, as in `np.ndarray.sum(x)`."""


@pytest.mark.parametrize("name", UNBOUND)
@pytest.mark.parametrize("make", [Tracked, numpy.array, np.array])
def test_methods_of_the_class_take_arrays_of_subclasses_too(name: str, make: Any) -> None:
    options: tuple[Any, ...] = {
        "__add__": (1,), "__getitem__": (1,), "__mul__": (2,), "astype": (int,), "clip": (1, 2), "repeat": (2,),
        "searchsorted": (2.0,), "take": ([1, 0],),
    }.get(name, ())  # fmt: skip
    values = numpy.array([1.0, 2.5, 4.0])
    numpy.testing.assert_array_equal(
        numpy.asarray(getattr(np.ndarray, name)(make(values), *options)), getattr(numpy.ndarray, name)(values, *options)
    )


def test_subclasses_are_viewed_as_arrays_index_arrays_and_write_by_the_class() -> None:
    made = Tracked([1, 2, 0])
    made[0] = 2.0
    plain: Any = made.view(np.ndarray)
    assert type(plain) is numpy.ndarray
    plain[2] = 1.0
    assert made.tolist() == [2.0, 2.0, 1.0]
    assert made.max() == 2.0
    places = made.astype(int)
    assert type(places) is Tracked
    x = np.arange(4.0)
    assert x[places].tolist() == [2.0, 2.0, 1.0]
    x[places] = 0.0
    assert x.tolist() == [0.0, 0.0, 0.0, 3.0]


def test_an_array_under_a_subclass_is_read_only_as_its_writes_would_be_lost() -> None:
    x = np.zeros(3)
    row = np.zeros((2, 3))[1]
    made, of_row = (np.ndarray.__new__(Tracked, (3,), float, each) for each in (x, row))  # type: ignore[call-arg] # as above
    for each in (x, row, x[1:]):
        with pytest.raises(ValueError, match="read-only"):
            each[0] = 1.0
    made[0] = of_row[0] = 1.0
    assert made.tolist() == of_row.tolist() == [1.0, 0.0, 0.0]
    fresh = x.copy()
    fresh += 1
    assert fresh.tolist() == [1.0, 1.0, 1.0]


def test_the_class_makes_arrays_by_new_and_copies_by_pickle() -> None:
    new: Any = np.ndarray.__new__
    assert type(new(np.ndarray, (2,), int)) is np.ndarray
    assert pickle.loads(pickle.dumps(np.arange(3))).tolist() == [0, 1, 2]
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        operator.attrgetter("nonsense")(np.ndarray)


def test_a_subclass_is_told_of_the_functions_of_the_namespace() -> None:
    told: list[Any] = []

    class Unit(np.ndarray):
        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
            told.append(ufunc)
            return getattr(ufunc, method)(*[numpy.asarray(each) for each in inputs], **options)

        def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
            told.append(func)
            return super().__array_function__(func, types, args, kwargs)

    class Wrapped(np.ndarray):
        def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
            told.append(context[0])
            return np.asarray(array)

    x: Any = numpy.array([3.0, 4.0]).view(Unit)
    np.add(x, 1)
    assert (np.ones(2) * x).tolist() == [3.0, 4.0]
    assert np.add.reduce(x) == 7.0
    assert np.linalg.norm(x) == 5.0
    assert np.concatenate([x, x]).tolist() == [3.0, 4.0, 3.0, 4.0]
    wrapped: Any = numpy.array([3.0, 4.0]).view(Wrapped)
    np.exp(wrapped)
    wanted = [np.add, np.multiply, np.add, np.linalg.norm, np.concatenate, np.exp]
    for each in wanted:
        assert each in told
    assert not [each for each in told if isinstance(each, numpy.ufunc)]


@pytest.mark.parametrize("folder", ["", "linalg", "fft"])
def test_each_function_of_the_namespace_has_numpys_of_its_name(folder: str) -> None:
    mine, numpys = (operator.attrgetter(folder)(each) if folder else each for each in (np, numpy))
    for name in numpys.__all__:
        function, theirs_too = getattr(mine, name, None), getattr(numpys, name)
        if callable(theirs_too) and not isinstance(theirs_too, type) and function is not None:
            assert ours(theirs_too) is function, name
            if function.__name__ == name and name != "printoptions":  # `np.amax` is `np.max`
                assert theirs(function) is theirs_too, name
