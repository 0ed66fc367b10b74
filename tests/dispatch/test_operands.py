"""Operands: Python numbers, numbers and arrays of other libraries, lists of these, and values that are refused."""

from collections.abc import Callable
from enum import IntEnum
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.declarations.op_specs import OPS
from tensorbackend.dispatch import watching
from tensorbackend.dispatch.operands import convert_arrays
from tensorbackend.dispatch.path import FullPath
from tensorbackend.errors import ArgumentError, DTypeError, NamesError, OperandError, OutOfRangeError, ShapeError

BACKENDS = ["binary", "numpy", "jax"]


class Half(float):
    """A float subclass, which has no dtype."""


class Size(IntEnum):
    """An int subclass, which has no dtype."""

    SMALL = 2


def test_numbers_with_a_dtype_keep_it() -> None:
    x = tb.ones(2)
    assert (x * np.float64(2)).dtype is (np.float64(2) * x).dtype is tb.float64
    assert (x * np.float32(2)).dtype is (x * 2.0).dtype is (x * Half(2)).dtype is (x * Size.SMALL).dtype is tb.float32
    assert tb.add(np.int8(1), np.int8(2)).dtype is tb.int8
    assert tb.asarray(np.float64(0.1)).item() == 0.1
    assert tb.result_type(tb.float32, 1j) is tb.complex64


def test_complex_numbers_follow_the_tensor_beside_them() -> None:
    with tb.precision(64):
        assert (tb.ones(2, dtype="f32") * 1j).dtype is tb.complex64
        assert (tb.ones(2, dtype="f64") * 1j).dtype is (tb.ones(2, dtype="s8") * 1j).dtype is tb.complex128
    assert (tb.ones(2, dtype="f64") * 1j).dtype is tb.complex128
    assert (tb.ones(2, dtype="f16") * 1j).dtype is tb.complex64


@pytest.mark.parametrize("backend", BACKENDS)
def test_logical_ops_take_any_number(backend: str) -> None:
    x = tb.asarray([0, 1, 2], backend=backend)
    assert tb.logical_and(x, 3).tolist() == [False, True, True]
    assert tb.logical_or(0.0, x).tolist() == [False, True, True]
    assert tb.logical_xor(x, 1j).tolist() == [True, False, False]
    unsigned, signed = (
        tb.asarray([0, 5], dtype="u64", backend=backend),
        tb.asarray([1, -1], dtype="s8", backend=backend),
    )
    assert tb.logical_and(unsigned, signed).tolist() == [False, True]


LISTS: list[tuple[Any, Any, str]] = [
    ([np.float32(1), np.float32(2)], [1.0, 2.0], "f32"),
    ([np.float64(0.5), 2], [0.5, 2.0], "f64"),
    ([np.int8(1), 2.5], [1.0, 2.5], "f32"),
    ([[np.array(1), 2], [3, 4]], [[1, 2], [3, 4]], "s64"),
    (range(3), [0, 1, 2], "s64"),
    ([range(2), (2, 3)], [[0, 1], [2, 3]], "s64"),
    ([np.arange(2, dtype="i2"), np.arange(2, dtype="i2")], [[0, 1], [0, 1]], "s16"),
    ([np.asarray([0.1, 0.2]), [0.1, 0.2]], [[0.1, 0.2], [0.1, 0.2]], "f64"),
    ([tb.ones(2), np.zeros(2, dtype="f4"), [2, 3.0]], [[1.0, 1.0], [0.0, 0.0], [2.0, 3.0]], "f32"),
    ([[tb.ones(()), 2], [3, 4]], [[1.0, 2.0], [3.0, 4.0]], "f32"),
    ([tb.asarray(1), tb.asarray(2)], [1, 2], "s64"),
    ([], [], "f32"),
]


@pytest.mark.parametrize(("value", "elements", "dtype"), LISTS)
def test_lists_of_anything(value: Any, elements: Any, dtype: str) -> None:
    tensor = tb.asarray(value)
    assert tensor.tolist() == elements
    assert tensor.dtype is tb.Template((), dtype).dtype
    assert tb.asarray(value, dtype="f64", backend="binary").backend.name == "binary"


def test_lists_of_traced_values() -> None:
    gradient = tb.grad(lambda x: tb.sum(tb.asarray([x[0] * 2, [x[1]][0], 3.0]) * tb.asarray([1.0, 10.0, 100.0])))
    assert gradient(tb.asarray([1.0, 2.0])).tolist() == [2.0, 10.0]


def test_a_dtype_casts_lists_as_it_does_arrays() -> None:
    assert tb.asarray([1.7, -1.7, float("nan")], dtype="s64").tolist() == [1, -1, 0]
    assert tb.asarray([0, 2, 0.5], dtype=bool).tolist() == [False, True, True]
    with pytest.raises(OutOfRangeError, match="an integer from 0 to 255"):
        tb.asarray([300], dtype="u8")
    with pytest.raises(DTypeError, match=r"take real\(x\) or imag\(x\) first"):
        tb.tensor(1j, dtype="f32")


@pytest.mark.parametrize("two", [tb.asarray(2.0), np.float32(2), np.asarray(2.0, dtype="f4")])
def test_creation_takes_numbers_with_a_dtype(two: Any) -> None:
    assert tb.full((2,), two, names=("n",)).template == tb.Template((2,), "f32", ("n",))
    assert tb.full((2,), two, dtype="s8").tolist() == tb.full_like(tb.zeros(2, dtype="s8"), two).tolist() == [2, 2]
    assert tb.arange(two).tolist() == [0.0, 1.0]
    assert tb.arange(0, two, tb.asarray(1)).dtype is tb.float32
    assert tb.linspace(0, two, 3).tolist() == [0.0, 1.0, 2.0]
    assert tb.arange(np.int8(3)).dtype is tb.int8
    with pytest.raises(ShapeError, match=r"use broadcast_to\(\)"):
        tb.full((2,), tb.ones(2))


def test_full_of_a_traced_value() -> None:
    assert tb.grad(lambda x: tb.sum(tb.full((3,), x)))(tb.asarray(2.0)).item() == 3.0


def test_linspace_between_tensors() -> None:
    low, high = np.asarray([0.0, 1.0], dtype="f4"), np.asarray([[4.0], [6.0]], dtype="f4")
    for options in ({}, {"axis": -1}, {"endpoint": False}):
        spaced = tb.linspace(tb.asarray(low, names=("n",)), high, 5, name="step", **options)
        assert np.allclose(spaced, np.linspace(low, high, 5, **options))
        assert sorted(map(str, spaced.names)) == ["None", "n", "step"]
    assert tb.linspace(tb.asarray([0.0, 1.0]), 2, 1).tolist() == [[0.0, 1.0]]


def test_seeds_and_keys() -> None:
    assert tb.random.key(-1).tolist() == [2**32 - 1, 2**32 - 1]
    assert tb.random.key(-2).tolist() == tb.random.key(2**64 - 2).tolist()
    key = tb.random.key(0)
    folded = tb.random.fold_in(key, tb.iota(3, names=("step",)))
    assert folded.names == ("step", None)
    assert folded.tolist() == [tb.random.fold_in(key, number).tolist() for number in range(3)]


def test_limits_of_other_libraries_dtypes() -> None:
    assert tb.finfo(np.float32).bits == tb.finfo(np.dtype("float32")).bits == 32
    assert tb.iinfo(np.int8).max == 127


REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: tb.zeros(2, dtype="i8"), DTypeError, "write 'int8', or 'int64' for NumPy's 'i8'"),
    (lambda: tb.sum(tb.ones(2), keepdims="no"), ArgumentError, "sum: expected keepdims to be True or False"),  # type: ignore[arg-type]
    (lambda: tb.mean(tb.ones(2), keepdims="no"), ArgumentError, "keepdims to be True or False"),  # type: ignore[arg-type]
    (lambda: tb.argmax(tb.ones(2), keepdims=None), ArgumentError, "argmax: expected keepdims"),  # type: ignore[arg-type]
    (lambda: tb.linalg.svd(tb.eye(2), full_matrices="no"), ArgumentError, "full_matrices"),  # type: ignore[arg-type]
    (lambda: tb.zeros(True), ShapeError, "a shape of integers, got shape=True"),
    (lambda: tb.zeros((2, True)), ShapeError, "a shape of integers"),
    (lambda: tb.zeros(b"ab"), ShapeError, "a shape of integers, got shape=b'ab'"),
    (lambda: tb.zeros((2, 3), names={"a", "b"}), NamesError, "which has an order"),  # type: ignore[arg-type]
    (lambda: tb.zeros(2).to_binary(-1), ArgumentError, "an int of at least 0 as limit, got limit=-1"),
    (lambda: tb.asarray(np.ma.masked_array([1, 2], [False, True])), OperandError, r"fill it first with filled\(\)"),
    (lambda: tb.add(tb.ones(2), np.ma.masked_array([1, 2], [False, True])), OperandError, "without a mask"),
    (lambda: tb.asarray([np.ma.masked, 1]), OperandError, "without a mask"),
    (lambda: tb.asarray([np.zeros(2), "a"]), OperandError, "Python numbers"),
]


@pytest.mark.parametrize(("call", "error", "text"), REFUSED)
def test_what_is_refused(call: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("backend", ["numpy", "binary", "jax"])
def test_an_array_beside_a_tensor_is_kept_as_a_tensor_would_be(backend: str) -> None:
    x = tb.asarray(np.arange(3, dtype=np.float32), backend=backend)
    for array in (np.float32(2), np.full(3, 2, np.float32), np.full((2, 1), 2, np.float32)):
        wanted = np.arange(3, dtype=np.float32) * array
        for _ in range(3):
            results: list[Any] = [x * array, array * x, tb.multiply(array, x)]
            for result in results:
                assert result.backend is x.backend
                assert result.dtype is tb.float32
                np.testing.assert_array_equal(np.asarray(result), wanted)
    path = next(place for place in watching._places if isinstance(place, FullPath) and place.spec is OPS["multiply"])
    operand = tb.asarray(np.full((2, 1), 2, np.float32), backend=backend)
    watching.forget()
    x * np.full((2, 1), 2, np.float32)
    assert (
        path.calls.find((x.backend, x.template, operand.template)) is not None
    )  # so that the next call has nothing to plan


def test_an_array_that_makes_no_tensor_and_one_of_a_wrong_shape_are_refused_by_the_op() -> None:
    x = tb.ones(3)
    with pytest.raises(ShapeError, match=r"^multiply: expected sizes that are equal or 1"):
        x * np.ones(4)
    with pytest.raises(DTypeError):
        x * np.asarray(["a", "b", "c"])
    assert convert_arrays(OPS["multiply"], [x, 2.0]) is None
    assert convert_arrays(OPS["sum"], [x]) is None
