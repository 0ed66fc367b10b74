"""Calls of arrays that are not on the default backend: lists, numbers and NumPy's arrays go to theirs."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy as np
from tensorbackend.errors import BackendError
from tensorbackend.numpy.homes import home_of


@pytest.fixture(params=["binary", "jax"])
def x(request: pytest.FixtureRequest) -> Any:
    """An array that is not on the default backend."""
    with tb.default_backend(request.param):
        return np.array([3.0, 1.0, 2.0])


CALLS: dict[str, Any] = {
    "np.add(x, [1.0, 2.0, 3.0])": [4, 3, 5],
    "x + [1.0, 2.0, 3.0]": [4, 3, 5],
    "[1.0, 2.0, 3.0] - x": [-2, 1, 1],
    "numpy.ones(3) * x": [3, 1, 2],
    "np.where(x > 1, x, numpy.zeros(3))": [3, 0, 2],
    "np.concatenate([x, [1.0, 2.0]])": [3, 1, 2, 1, 2],
    "np.concatenate([[1.0, 2.0], x])": [1, 2, 3, 1, 2],
    "np.stack([[1, 2, 3], x])": [[1, 2, 3], [3, 1, 2]],
    "np.hstack([0.0, x, 0.0])": [0, 3, 1, 2, 0],
    "np.r_[0.0, x, 0.0]": [0, 3, 1, 2, 0],
    "np.array([x, [1, 2, 3]])": [[3, 1, 2], [1, 2, 3]],
    "np.atleast_1d(*[0.0] * 9, x)[9]": [3, 1, 2],
    "np.dot([1.0, 2.0, 3.0], x)": 11,
    "np.isin(x, [1.0, 2.0])": [False, True, True],
    "np.interp(x, [0.0, 4.0], [0.0, 1.0])": [0.75, 0.25, 0.5],
    "np.searchsorted([0.0, 1.5], x)": [2, 1, 2],
    "np.clip(x, [1.0, 1.5, 1.0], 2)": [2, 1.5, 2],
    "np.fmax(2, x)": [3, 2, 2],
    "np.sum(x, where=[True, False, True])": 5,
    "np.packbits(x > 1)": [160],
    "np.cov(x, [1.0, 2.0, 3.0])": [[1, -0.5], [-0.5, 1]],
    "np.lib.stride_tricks.sliding_window_view(x, 2)": [[3, 1], [1, 2]],
    "x[[0, 2]]": [3, 2],
    "np.vectorize(lambda a, b: a + b)(x, [1.0, 2.0, 3.0])": [4, 3, 5],
}


@pytest.mark.parametrize("call", CALLS)
def test_the_other_operands_follow_an_array(x: Any, call: str) -> None:
    made = eval(call, {"np": np, "numpy": numpy, "x": x})
    assert made.tensor.backend is x.tensor.backend
    numpy.testing.assert_allclose(numpy.asarray(made), CALLS[call])


@pytest.mark.parametrize(
    ("statement", "left"),
    [
        ("x[x > 1] = [7.0, 8.0]", [7, 1, 8]),
        ("x[[0, 1]] = numpy.ones(2)", [1, 1, 2]),
        ("x[1:] = [5, 6]", [3, 5, 6]),
        ("x += [1, 2, 3]", [4, 3, 5]),
        ("v = x[1:]; v *= [2.0, 3.0]", [3, 2, 6]),
        ("x.flat = [1, 2]", [1, 2, 1]),
        ("np.put(x, [0, 2], [8.0])", [8, 1, 8]),
        ("np.add([1.0, 2.0, 3.0], 1.0, out=x)", [2, 3, 4]),
        ("np.concatenate([[1.0], [2.0, 3.0]], out=x)", [1, 2, 3]),
    ],
)
def test_what_is_written_follows_the_array(x: Any, statement: str, left: list[float]) -> None:
    home = x.tensor.backend
    exec(statement, {"np": np, "numpy": numpy, "x": x})
    assert x.tensor.backend is home
    assert x.tolist() == left


def test_a_function_of_the_program_runs_where_the_array_is(x: Any) -> None:
    seen = []

    def look(row: Any) -> Any:
        seen.append(np.zeros(2).tensor.backend)
        return row

    np.apply_along_axis(look, 0, x)
    assert seen == [x.tensor.backend]
    assert np.zeros(2).tensor.backend is tb.get_backend()


def test_gradients_and_compiled_functions_take_lists(x: Any) -> None:
    slopes = tb.grad(lambda a: np.sum(np.dot(a, [1.0, 2.0, 3.0]) + a * [1.0, 1.0, 1.0]))(x)
    assert slopes.tensor.backend is x.tensor.backend
    assert slopes.tolist() == [4, 7, 10]
    assert tb.jit(lambda a: np.where(a > [1, 1, 1], a, [0.0, 0.0, 0.0]))(x).tolist() == [3, 0, 2]


def test_the_home_of_a_call() -> None:
    with tb.default_backend("binary"):
        x = np.ones(3)
    binary = tb.get_backend("binary")
    here, itself = np.ones(3), [1.0]
    itself[0] = itself  # type: ignore[call-overload] # a list that holds itself
    assert home_of((x, [1.0])) is home_of(([2.0], x[1:])) is home_of(([[0.0, x, 0.0]],)) is binary
    assert home_of((x.tensor, None)) is binary
    assert home_of((here, x)) is home_of((x, here)) is home_of(([], itself, 1.0, "a")) is None
    with tb.default_backend(binary):
        assert home_of((x,)) is None


def test_arrays_on_two_backends_are_refused() -> None:
    with tb.default_backend("jax"):
        x = np.ones(3)
    with pytest.raises(BackendError, match="expected tensors on one backend"):
        np.concatenate([np.ones(3), x, [1.0]])
