"""Gradients of NumPy programs that look at their data, by a tape, against differences that NumPy computes."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy as np

POINT = [1.5, -0.5, 2.0]


def of_a_mask(x: Any) -> Any:
    return np.sum(x[x > 0] ** 2)


def of_a_branch(x: Any) -> Any:
    return x[0] * x[1] if x[0] > 0 else x.sum()


def of_a_written_mask(x: Any) -> Any:
    y = x.copy()
    y[y < 0] = 0
    return (y**3).sum()


def of_written_elements(x: Any) -> Any:
    y = np.zeros(3)
    for i in range(3):
        y[i] = x[i] * x[(i + 1) % 3]
    return y.sum()


def of_writes_in_place(x: Any) -> Any:
    y = x * 2
    y[1:] += x[:-1]
    y *= x
    return y.mean()


def of_a_loop_over_elements(x: Any) -> Any:
    total = 0.0
    for v in x:
        total += v * v
    return total


def of_a_sorted_vector(x: Any) -> Any:
    return np.max(np.sort(x)) * np.median(x)


def of_unique_values(x: Any) -> Any:
    u = np.unique(x)
    return (u * np.arange(len(u))).sum()


def of_a_triangle(x: Any) -> Any:
    return np.linalg.norm(np.outer(x, x)[np.triu_indices(3)])


def of_an_output(x: Any) -> Any:
    out = np.empty(3)
    np.multiply(x, x, out=out)
    return out.sum()


def of_a_list(x: Any) -> Any:
    return np.array([x[0], x[1] * 2, 3.0]).prod()


PROGRAMS = [value for name, value in sorted(globals().items()) if name.startswith("of_")]


@pytest.mark.parametrize("backend", ["numpy", "binary", "jax"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_the_gradient_of_a_program_that_looks_at_data(program: Callable[[Any], Any], backend: str) -> None:
    with tb.default_backend(backend), tb.tape() as tape:
        x = tape.watch(np.asarray(POINT, dtype=np.float64))
        y = program(x)
        assert tape.follows(y)
        assert not tape.follows(np.ones(2))
    found = tb.gradient(y, x)
    assert isinstance(found, np.ndarray)

    by_numpy = FunctionType(getattr(program, "__code__"), {**globals(), "np": numpy})  # noqa: B009
    point, step = numpy.asarray(POINT), 1e-6
    expected = [(by_numpy(point + step * e) - by_numpy(point - step * e)) / (2 * step) for e in numpy.eye(3)]
    numpy.testing.assert_allclose(numpy.asarray(found), expected, atol=1e-7)


def test_a_second_gradient() -> None:
    with tb.tape() as tape:
        x = tape.watch(np.array(POINT))
        slope = tb.gradient(np.sum(x[x > 0] ** 3), x)
        again = np.sum(slope)
    numpy.testing.assert_allclose(numpy.asarray(tb.gradient(again, x)), [9.0, 0.0, 12.0])


def test_lists_are_no_scalars() -> None:
    with tb.tape() as tape:
        x = tape.watch(np.array(POINT))
        y = np.sum(x)
    with pytest.raises(tb.errors.ArgumentError, match="gradient: expected y as a tensor that a tape recorded"):
        tb.gradient([y], x)


READS: list[Callable[[Any], Any]] = [
    numpy.asarray,
    numpy.from_dlpack,
    lambda x: numpy.ones(3) * numpy.array(x),
    lambda x: [numpy.asarray(part) for part in x[:1]],
]


@pytest.mark.parametrize("make", [np.array, tb.asarray])
@pytest.mark.parametrize("read", READS)
def test_no_other_library_reads_what_a_tape_follows(make: Callable[[Any], Any], read: Callable[[Any], Any]) -> None:
    """A gradient would end there without a word."""
    with tb.tape() as tape:
        x = tape.watch(make(POINT))
        with pytest.raises(tb.errors.BackendError, match="expected no other library to read what a tape follows"):
            read(x)
        with tape.paused():
            numpy.testing.assert_allclose(numpy.asarray(x), POINT)
        numpy.testing.assert_allclose(numpy.asarray(make(POINT)), POINT)
    numpy.testing.assert_allclose(numpy.asarray(x), POINT)


@pytest.mark.parametrize("x", [None, 3.0, "x", [np.ones(1)], {"x": 1.0}])
def test_a_tape_follows_only_tensors_and_arrays(x: object) -> None:
    with tb.tape() as tape:
        assert tape.follows(x) is False


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("data", [[], [2.0], [numpy.nan, 1.0], [numpy.inf, 0.0]])
def test_a_gradient_has_the_shape_and_dtype_of_its_array(data: list[float], dtype: str) -> None:
    with tb.tape() as tape:
        x = tape.watch(np.asarray(tb.tensor(data, dtype=dtype)))
        y = np.sum((2 * x)[x > 0])
    found = tb.gradient(y, x)
    assert (found.shape, found.dtype) == (x.shape, x.dtype)
    assert found.tolist() == [2.0 if value > 0 else 0.0 for value in data]


def test_an_error_in_the_block_leaves_the_tape_as_it_was() -> None:
    with tb.tape() as tape:
        x = tape.watch(np.array([1.0, 2.0]))
        with pytest.raises(tb.errors.BackendError):
            numpy.asarray(x)
        y = np.sum(x * x) + np.sum(x[x > 1])
    assert [slope.tolist() for slope in tb.gradient(y, [x, x])] == [[2.0, 5.0]] * 2
