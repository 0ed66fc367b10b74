"""Compiled functions at many sizes: one program serves all that pass its guards."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import RecompilationWarning, ShapeError
from tensorbackend.tensor import Tensor

RANDOM = np.random.default_rng(0)


def rows(count: int, width: int = 4) -> Tensor:
    return tb.asarray(RANDOM.normal(size=(count, width)).astype(np.float32))


def check_same(actual: Tensor, wanted: Tensor) -> None:
    assert actual.template is wanted.template
    np.testing.assert_allclose(np.asarray(actual), np.asarray(wanted), rtol=1e-5, atol=1e-6)


def layer(x: Tensor, w: Tensor) -> Tensor:
    h = tb.maximum(x @ w, 0)
    return tb.softmax((h - tb.mean(h, axis=0)) / tb.sqrt(tb.var(h, axis=0) + 1e-3), axis=1)


def test_from_the_third_size_on_no_size_is_compiled() -> None:
    w, compiled = rows(4, 6), tb.jit(layer)
    for count in (3, 4, 5):
        compiled(rows(count), w)
    misses = compiled.cache_info().misses
    for count in (7, 8, 11, 100):
        x = rows(count)
        check_same(compiled(x, w), layer(x, w))
    assert compiled.cache_info().misses == misses == 3
    assert compiled.cache_info().hits == 4


def test_sizes_that_answer_a_guard_in_another_way_are_compiled() -> None:
    w, compiled = rows(4, 6), tb.jit(layer)
    for count in (3, 4, 5, 1, 0, 2, 6):
        x = rows(count)
        check_same(compiled(x, w), layer(x, w))


def test_a_branch_on_a_size_is_a_guard() -> None:
    def function(x: Tensor) -> Tensor:
        return x * 2 if x.shape[0] > 10 else tb.concatenate([x, x[:1]])

    compiled = tb.jit(function)
    for count in (3, 4, 5, 6, 20, 21, 9, 10, 11, 12, 30):
        x = rows(count)
        check_same(compiled(x), function(x))
    assert compiled.cache_info().misses <= 5


def test_a_number_that_the_function_needs_keeps_the_size_exact() -> None:
    def function(x: Tensor) -> Tensor:
        total = tb.zeros((4,))
        for place in range(x.shape[0]):
            total = total + x[place] * len(f"{x.shape[0]}")
        return total

    compiled = tb.jit(function)
    for count in (3, 4, 5, 6, 7, 12, 5, 6):
        x = rows(count)
        check_same(compiled(x), function(x))


def test_a_count_in_a_mean_and_sizes_in_options() -> None:
    def function(x: Tensor) -> Any:
        n = x.shape[0]
        return {
            "mean": tb.mean(x),
            "scaled": x / n + n,
            "made": tb.zeros((n, 2)) + tb.iota((n, 2), dtype="f32"),
            "shaped": tb.reshape(x, (2 * n, -1)),
            "padded": tb.pad(x, [(1, n), (0, 0)]),
        }

    compiled = tb.jit(function)
    for count in (3, 4, 5, 6, 9):
        x = rows(count)
        actual, wanted = compiled(x), function(x)
        for name in wanted:
            check_same(actual[name], wanted[name])


def test_gradients_at_new_sizes() -> None:
    def loss(w: Tensor, x: Tensor) -> Tensor:
        return tb.mean(layer(x, w) ** 2) + tb.sum(tb.logsumexp(x @ w, axis=1)) / x.shape[0]

    compiled, w = tb.jit(tb.value_and_grad(loss)), rows(4, 6)
    for count in (3, 4, 5, 8, 9, 10, 1, 2):
        x = rows(count)
        for actual, wanted in zip(compiled(w, x), tb.value_and_grad(loss)(w, x), strict=True):
            check_same(actual, wanted)


def test_errors_of_new_sizes_are_those_of_the_function() -> None:
    compiled = tb.jit(lambda x, y: x @ y)
    for count in (3, 4, 5, 6):
        compiled(rows(2, count), rows(count, 3))
    with pytest.raises(ShapeError, match="matmul"):
        compiled(rows(2, 7), rows(8, 3))


def test_clearing_forgets_programs_for_many_sizes() -> None:
    compiled = tb.jit(tb.exp)
    for count in (3, 4, 5, 6):
        compiled(rows(count))
    compiled.cache_clear()
    assert compiled.cache_info()[:2] == (0, 0)
    compiled(rows(7))
    assert compiled.cache_info()[:2] == (0, 1)


def test_a_compiler_says_once_that_it_compiles_for_each_size() -> None:
    compiled = tb.jit(lambda x, y: tb.exp(x) + y)
    y = tb.ones((), backend="jax")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for count in range(2, 22):
            compiled(tb.ones((count,), names=("time",), backend="jax"), y)
    (warning,) = caught
    assert warning.category is RecompilationWarning
    assert "compiled for 16 shapes" in str(warning.message)
    assert "axis 0 of x varies: pad it" in str(warning.message)
