"""Texts, objects, dates, fields, masked arrays and subclasses are NumPy's own, on every backend."""

from __future__ import annotations

import copy
import inspect
import io
import operator
import pickle
from typing import Any

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy as ours

CALLS = [
    "np.array(['cat', 'dog', 'cat']) == 'cat'",
    "np.unique(['b', 'a', 'b'], return_counts=True)",
    "np.concatenate([['a'], ['bc']])",
    "np.where(x > 3, 'high', 'low')",
    "np.where(x > 3, None, 'low')",
    "np.c_[x, np.ma.masked_array(x, x > 3)].mask",
    "np.r_[x[0], np.array(['a', 'b'])]",
    "np.where(x > 3, 1, None)",
    "np.sort(['b', 'a', 'c'])",
    "np.argsort(['b', 'a', 'c'])",
    "np.isin(['a', 'b'], ['b'])",
    "np.searchsorted(['a', 'c'], 'b')",
    "x[np.array(['a', 'b', 'a']) == 'a'] * 2",
    "np.array(['a', 'b', 'c'])[k - k]",
    "np.array(['a', 'b', 'c', 'd'])[m[0]]",
    "np.char.upper(['a', 'b'])",
    "np.array(['1', '2', '3']).astype(float) + x[:, 0]",
    "x.astype(str)",
    "x.astype('S3')",
    "np.full(3, 'x')",
    "np.full((2, 2), None)",
    "np.zeros_like(np.array(['abc']))",
    "np.empty(2, dtype=object)",
    "np.zeros(3, 'U4')",
    "np.ndarray((2,), dtype='U0')",
    "np.array([1, 2**70])",
    "np.array([1, 2**70]) + k[:2]",
    "k[:2] * np.array([1, 2**70])",
    "np.add.reduce(np.array([1, 2**70]))",
    "np.add.outer(np.array([1, 2**70]), k)",
    "np.sum(np.array([1, 2**70]))",
    "np.multiply.accumulate(np.array([2**40, 2**40]).astype(object))",
    "np.frompyfunc(lambda a, b: a + b, 2, 1)(k, k).astype(int)",
    "np.arange('2016-07', '2016-09', dtype='datetime64[M]')",
    "np.diff(np.array(['2020-01-01', '2020-01-05'], dtype='datetime64[D]'))",
    "np.mean((np.array(['2020-01-01', '2020-01-05'], dtype='M8[D]') - np.datetime64('2020-01-01')).astype(float))",
    "np.isnat(np.array(['NaT', '2020'], dtype='M8[Y]'))",
    "np.max(np.array(['2020-01', '2021-01'], dtype='M8[M]'))",
    "np.array([(1, 2.5), (2, 3.5)], dtype=[('n', int), ('v', float)])['v'] * x[0, 1]",
    "np.sqrt(np.array([(1, 4.0)], dtype=[('n', int), ('v', float)])['v'])",
    "np.sort(np.array([(2, 1.0), (1, 2.0)], dtype=[('n', int), ('v', float)]), order='n')['n']",
    "np.unique(x.astype('i2').view([('', 'i2')] * 4)).view('i2')",
    "np.ma.masked_greater(x, 3).sum(axis=1).filled(0)",
    "np.mean(np.ma.masked_greater(x, 3))",
    "(x + np.ma.masked_greater(x, 3)).filled(-1)",
    "(np.ma.masked_greater(x, 3) * x).filled(-1)",
    "np.asarray(np.ma.masked_greater(x, 3))",
    "np.matrix([[1, 2], [3, 4]]) * np.matrix([[1, 0], [1, 1]])",
    "np.dot(np.matrix([[1, 2]]), np.matrix([[1], [1]]))",
    "np.array([1, 2], dtype=np.longdouble) + 1",
    "np.linalg.norm(np.matrix([[3.0, 4.0]]))",
    "np.matrix([[1, 2], [3, 4]]) * x[:2, :2]",
    "x[:2, :2] * np.matrix([[1, 2], [3, 4]])",
    "x[:2, :2] == np.matrix([[0, 1], [3, 4]])",
    "np.linalg.eig(np.matrix([[4.0, 1.0], [2.0, 3.0]]))[1]",
    "np.sqrt('text')",
    "np.vectorize(lambda v: 'high' if v > 3 else 'low')(x)",
    "np.vectorize(lambda v: [v], otypes=[object])(k)[0]",
    "np.array(['a', 'b']).reshape(2, 1).T",
    "np.array(['a'], dtype='no such dtype')",
    "np.lexsort((['b', 'a', 'a'], [1, 1, 0]))",
    "np.array_equal(['a', 'b'], ['a', 'b'])",
    "np.array2string(np.array(['a', 'b']))",
    "np.loadtxt(['a b', 'c d'], dtype=str)",
    "np.genfromtxt(['1,2.5', '3,4.5'], delimiter=',', dtype=None)['f1']",
    "np.append(['a'], 'b')",
    "np.repeat(['a', 'b'], 2)",
    "np.column_stack([['a', 'b'], k[:2]])",
    "np.vectorize(len)(['ab', 'c'])",
    "np.vectorize(lambda text: text + 'x')('a')",
    "(k % 3).choose(np.array([1, None, 2]))",
]
"""Calls whose results hold more than numbers, or come from such arrays."""


def value(source: str, np: Any) -> Any:
    """What a call of a namespace returns; the class of the error where one is raised."""
    x = np.array(numpy.arange(12.0).reshape(3, 4))
    scope = {
        "np": np,
        "x": x,
        "k": np.array(numpy.array([1, 5, 3])),
        "m": np.array(numpy.arange(12).reshape(3, 4) % 3 == 0),
    }
    try:
        return eval(source, scope)
    except (TypeError, ValueError) as error:
        return TypeError if isinstance(error, TypeError) else ValueError


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize("source", CALLS)
def test_what_tensors_cannot_hold_is_as_in_numpy(source: str, backend: str) -> None:
    with tb.default_backend(backend):
        result, wanted = value(source, ours), value(source, numpy)
    if isinstance(wanted, type):
        assert result is wanted
        return
    parts = [(result, wanted)] if not isinstance(wanted, tuple) else zip(result, wanted, strict=True)
    for part, expected in parts:
        array, array_wanted = numpy.asarray(part), numpy.asarray(expected)
        assert (array.shape, array.dtype) == (array_wanted.shape, array_wanted.dtype)
        numpy.testing.assert_array_equal(array, array_wanted)


def test_what_a_function_returns_is_an_array_here_if_a_tensor_can_hold_it() -> None:
    labels: Any = ours.array(["b", "a", "b"])
    assert (type(labels) is numpy.ndarray, isinstance(labels, ours.ndarray)) == (True, True)
    values, counts = ours.unique(labels, return_counts=True)
    assert (type(values), type(counts)) == (numpy.ndarray, ours.ndarray)
    with tb.default_backend("jax"):
        assert ours.argsort(labels).tensor.backend.name == "jax"


def test_a_masked_array_keeps_its_mask_next_to_arrays() -> None:
    masked = ours.ma.masked_array(ours.arange(3.0), mask=[False, True, False])
    for made in (masked + ours.ones(3), ours.ones(3) + masked, ours.add(ours.ones(3), masked)):
        assert isinstance(made, numpy.ma.MaskedArray)
        assert made.sum() == 4.0
    assert ours.sum(masked) == 2.0


def test_fields_are_written_and_computed_with_on_every_backend() -> None:
    with tb.default_backend("jax"):
        particles = ours.zeros(3, dtype=[("place", float, 2), ("mass", float)])
        particles["place"] = ours.arange(6.0).reshape(3, 2)
        particles["place"] += ours.ones((3, 2))
        far = ours.sqrt(ours.sum(particles["place"] ** 2, axis=1))
        assert far.tensor.backend.name == "jax"
    numpy.testing.assert_allclose(numpy.asarray(far), numpy.sqrt((numpy.arange(1.0, 7).reshape(3, 2) ** 2).sum(1)))


def test_an_array_of_objects_holds_arrays_themselves() -> None:
    rows = ours.empty(2, dtype=object)
    rows[0] = x = ours.arange(3)
    assert rows[0] is x


def test_texts_assigned_to_numbers_are_read() -> None:
    x = ours.zeros(3)
    x[0], x[1:] = "2.5", ["3", "4"]
    assert x.tolist() == [2.5, 3.0, 4.0]
    with pytest.raises(ValueError, match="could not convert"):
        x[0] = "text"
    assert x.tolist() == [2.5, 3.0, 4.0]


def test_a_subclass_is_one_of_numpys_array() -> None:
    class Named(ours.ndarray):
        name: str

        def __new__(cls, values: Any, name: str = "") -> Any:
            made: Any = ours.asarray(values).view(cls)
            made.name = name
            return made

        def __array_finalize__(self, source: Any) -> None:
            self.name = getattr(source, "name", "")

        def __setitem__(self, key: Any, value: Any) -> None:
            super().__setitem__(key, value + 1)

    x: Any = Named(ours.arange(3.0), "x")
    x[0] = 4
    assert (isinstance(x, numpy.ndarray), isinstance(x, ours.ndarray)) == (True, True)
    assert not isinstance(ours.arange(3), Named)
    total: Any = ours.add(ours.ones(3), x)
    assert ((x + 1).name, total.name) == ("x", "x")
    assert ours.sum(x) == 8.0


def test_random_draws_take_texts() -> None:
    labels = ours.array(["a", "b", "c"])
    rng = ours.random.default_rng(0)
    assert set(rng.choice(labels, 50)) == {"a", "b", "c"}
    assert rng.choice(["a"]) == "a"
    assert sorted(rng.permutation(labels)) == sorted(rng.choice(labels, 3, replace=False)) == ["a", "b", "c"]
    assert set(ours.random.choice(["a", "b"], 40, p=[0.0, 1.0])) == {"b"}
    rng.shuffle(labels)
    assert sorted(labels) == ["a", "b", "c"]
    assert rng.choice([["a", "b"], ["c", "d"]], 5, axis=1).shape == (2, 5)


def test_objects_are_saved_and_loaded_where_pickles_are_allowed() -> None:
    file = io.BytesIO()
    ours.save(file, ours.array([{"a": 1}, None]))
    with pytest.raises(ValueError, match="allow_pickle"):
        ours.load(io.BytesIO(file.getvalue()))
    assert ours.load(io.BytesIO(file.getvalue()), allow_pickle=True)[0] == {"a": 1}


def test_a_traced_array_next_to_texts_is_an_error() -> None:
    def program(x: Any) -> Any:
        return ours.array([x[0], "a"])

    with pytest.raises(tb.errors.TemplateDataError):
        tb.jit(program)(ours.arange(2.0))


def test_a_write_to_an_array_by_numpy_is_an_error_and_changes_nothing() -> None:
    x = ours.zeros(2)
    for write in (
        lambda: ours.copyto(x, ours.array(["a", "b"])),
        lambda: ours.add(ours.array([1, None]), 1, out=x),
        lambda: ours.add.at(x, [0], ours.array([None])),
        lambda: ours.put(x, [0], ["a"]),
        lambda: ours.place(x, [True, False], ["a"]),
        lambda: ours.putmask(x, [True, True], ["a"]),
    ):
        with pytest.raises((TypeError, ValueError)):
            write()
        assert x.tolist() == [0.0, 0.0]


def test_names_of_numpy_that_make_such_arrays_are_numpys() -> None:
    for name in ("datetime64", "object_", "str_", "ma", "matrix", "rec", "char", "busday_count"):
        assert operator.attrgetter(name)(ours) is operator.attrgetter(name)(numpy)


def test_texts_are_no_indices() -> None:
    with pytest.raises(IndexError, match="integer"):
        ours.arange(3)[ours.array(["a"])]


def test_an_object_of_a_higher_priority_has_operators_of_its_own() -> None:
    class Quantity:
        __array_priority__ = 2.0

        def __rmul__(self, other: Any) -> str:
            return "of its own"

    quantity: Any = Quantity()
    assert ours.ones(2) * quantity == "of its own"


def test_a_result_of_objects_is_written_to_an_array() -> None:
    numbers, total = ours.array([1, 2], dtype=object), ours.zeros(2)
    assert ours.add(numbers, 1, out=total, casting="unsafe") is total
    assert ours.sum(numbers.reshape(2, 1), axis=1, out=total[:2]).tolist() == total.tolist() == [1.0, 2.0]
    with pytest.raises(TypeError, match="same_kind"):
        ours.add(numbers, 1, out=total)


def test_objects_with_arrays_of_several_shapes_among_them() -> None:
    made = ours.array([[1.0, ours.ones(3)], [2.0, ours.zeros(2)]], dtype=object)
    assert made.shape == (2, 2)
    assert made[1, 1].tolist() == [0.0, 0.0]
    assert ours.asarray([ours.ones(3), ours.ones(2)], dtype=object).shape == (2,)


def test_a_loop_over_objects_is_numpys() -> None:
    made = ours.empty((1, 2), dtype=object)
    made[0, 0], made[0, 1] = ours.array([1.0, 2.0]), ours.array([3.0])
    assert [each.item().size for each in ours.nditer(made, flags=["refs_ok"])] == [2, 1]
    pairs = [(int(number), each.item().size) for number, each in ours.nditer([ours.arange(2), made[0]], ["refs_ok"])]
    assert pairs == [(0, 2), (1, 1)]


NOT_FUNCTIONS = {"nested_iters", "test"}
"""Names of NumPy's that are functions in C there, and other things here."""


@pytest.mark.parametrize("name", sorted(name for name in dir(numpy) if not name.startswith("_")))
def test_what_is_no_method_of_a_class_in_numpy_is_none_here(name: str) -> None:
    """`class Layer: activation = np.tanh` gets no `self`, as ufuncs and NumPy's functions in C do not."""
    theirs, found = getattr(numpy, name), getattr(ours, name, None)
    if isinstance(theirs, type) or not callable(theirs) or found is None or name in NOT_FUNCTIONS:
        return

    class Layer:
        of_numpy, of_ours = theirs, found

    assert (getattr(Layer().of_ours, "__self__", None).__class__ is Layer) == (
        getattr(Layer().of_numpy, "__self__", None).__class__ is Layer
    )


def test_functions_that_are_no_methods_are_called_shown_and_stored_as_others() -> None:
    class Layer:
        activation, array = ours.tanh, ours.array

    layer = Layer()
    assert layer.activation(ours.zeros(2)).tolist() == layer.array([0.0, 0.0]).tolist() == [0.0, 0.0]
    assert str(inspect.signature(ours.add)).startswith("(x1, x2, /, out=None, *")
    assert list(inspect.signature(ours.zeros).parameters) == ["shape", "dtype", "order", "device", "like"]
    for function in (ours.add, ours.zeros, ours.arange, ours.asarray):
        assert pickle.loads(pickle.dumps(function)) == copy.deepcopy(function) == function
        inner: Any = function
        assert pickle.loads(pickle.dumps(inner.__func__)) is inner.__func__  # as cloudpickle stores methods
    assert isinstance(ours.add, ours.ufunc)
    assert not isinstance(ours.zeros, ours.ufunc)
    with pytest.raises(TypeError, match="argument"):
        ours.zeros()  # type: ignore[call-arg]
