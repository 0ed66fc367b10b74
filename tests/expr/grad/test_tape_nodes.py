"""Tests of gradients on tapes that are found again by what the tape recorded."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import DataError
from tensorbackend.expr.grad.gradient_programs import GRADIENT_PROGRAMS

X = np.asarray([0.5, -1.5, 2.0])
W = np.asarray([3.0, 0.25, -1.0])


def tensor(array: Any, **options: Any) -> tb.Tensor:
    return tb.asarray(np.asarray(array, "float64"), backend="numpy", **options)


def taped(function: Callable[..., tb.Tensor], *arrays: Any, **options: Any) -> Any:
    """The gradients of a function by a tape."""
    with tb.tape() as tape:
        arguments = tape.watch([tensor(array, **options) for array in arrays])
        result = function(*arguments)
    return tb.gradient(result, arguments)


def test_what_was_recorded_before_needs_no_new_recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    def step(scale: float) -> Any:
        return taped(lambda x, w: tb.sum(tb.sin(x) * w), X * scale, W)

    step(1.0)
    before = len(GRADIENT_PROGRAMS)
    monkeypatch.delattr("tensorbackend.expr.grad.tape.pull_back")  # what applies the rules of gradients one by one
    for scale in (1.0, 2.0, -1.0):
        by_x, by_w = step(scale)
        np.testing.assert_allclose(by_x, np.cos(X * scale) * W)
        np.testing.assert_allclose(by_w, np.sin(X * scale))
    assert len(GRADIENT_PROGRAMS) == before


def test_branches_on_data_are_told_apart() -> None:
    def function(x: tb.Tensor) -> tb.Tensor:
        return tb.sum(x * x) if x[0] > 0 else tb.sum(tb.exp(x))

    for sign in (1, -1, 1, -1):
        (found,) = taped(function, sign * X)
        np.testing.assert_allclose(found, 2 * X if sign > 0 else np.exp(-X))


def test_tensors_that_share_memory_once_need_not_share_it_again() -> None:
    def product(x: tb.Tensor, w: tb.Tensor) -> tb.Tensor:
        return tb.sum(x * w * w)

    for one, two in ((X, X), (X, W), (W, X), (W, W)):
        shared = tensor(one)
        with tb.tape() as tape:
            x, w = tape.watch((shared, shared if one is two else tensor(two)))
            y = product(x, w)
        by_x, by_w = tb.gradient(y, (x, w))
        np.testing.assert_allclose(by_x, two * two)
        np.testing.assert_allclose(by_w, 2 * one * two)


def test_leaves_are_told_apart() -> None:
    """The same record, once for one of its operands, then for the other, for both, and in the other order."""

    def gradients(*leaves: int) -> Any:
        with tb.tape() as tape:
            watched = tape.watch([tensor(X), tensor(W)])
            result = tb.sum(tb.sin(watched[0]) * watched[1])
        return tb.gradient(result, [watched[leaf] for leaf in leaves])

    expected = [np.cos(X) * W, np.sin(X)]
    for leaves in ((0,), (1,), (0, 1), (1, 0), (0, 0)) * 2:
        for leaf, found in zip(leaves, gradients(*leaves), strict=True):
            np.testing.assert_allclose(found, expected[leaf])


def test_options_numbers_and_names_are_told_apart() -> None:
    for power, axis in ((2, 0), (3, 0), (2, 1), (3, 1), (2, 0)):
        matrix = np.asarray([X, W])
        (found,) = taped(lambda x, p=power, a=axis: tb.sum(tb.max(x, axis=a) ** p), matrix)
        expected = np.where(matrix == matrix.max(axis, keepdims=True), power * matrix ** (power - 1), 0)
        np.testing.assert_allclose(found, expected)
    for names in (("a",), ("b",), (None,)):
        (found,) = taped(lambda x: tb.sum(tb.softmax(x, axis=0) ** 2), X, names=names)
        assert found.names == names


def test_gradients_by_intermediate_values_and_by_none() -> None:
    for _ in range(2):
        with tb.tape() as tape:
            x, unused = tape.watch((tensor(X), tensor(W)))
            middle = tb.exp(x)
            y = tb.sum(middle * middle)
        by_middle, by_unused, by_x = tb.gradient(y, [middle, unused, x])
        np.testing.assert_allclose(by_middle, 2 * np.exp(X))
        np.testing.assert_allclose(by_unused, np.zeros(3))
        np.testing.assert_allclose(by_x, 2 * np.exp(2 * X))


@pytest.mark.parametrize("call", range(3))
def test_the_bits_are_those_of_a_gradient_derived_anew(call: int) -> None:
    """Inside the block a gradient is derived each time, so that it is recorded."""
    x = tensor(np.linspace(-3, 3, 101))
    with tb.tape() as tape:
        watched = tape.watch(x)
        y = tb.mean(tb.tanh(watched * 0.1) * tb.exp(watched * 0.1) + tb.sigmoid(watched) ** 2 + tb.square(watched))
        inside = tb.gradient(y, watched)
    assert np.array_equal(tb.gradient(y, watched), inside)


def test_composites_without_a_rule_are_recorded_by_their_parts() -> None:
    for count in (3, 3, 3, 5):
        array = np.linspace(-1, 2, count)
        (found,) = taped(lambda x: tb.sum(tb.std(tb.stack([x, tb.square(x)]), axis=0) * tb.hypot(x, x)), array)
        high = tb.grad(lambda x: tb.sum(tb.std(tb.stack([x, tb.square(x)]), axis=0) * tb.hypot(x, x)))
        np.testing.assert_allclose(found, high(tensor(array)), rtol=1e-12)


def test_an_error_has_the_line_of_the_computation() -> None:
    def first(x: tb.Tensor) -> tb.Tensor:
        return tb.sum(tb.linalg.slogdet(x)[1])

    def second(x: tb.Tensor) -> tb.Tensor:
        return tb.sum(tb.linalg.slogdet(x)[1])

    taped(first, np.eye(2))
    for function in (second, first):
        with pytest.raises(DataError) as caught:
            taped(function, np.zeros((2, 2)))
        notes = "".join(getattr(caught.value, "__notes__", ()))
        assert f"test_tape_nodes.py:{function.__code__.co_firstlineno + 1}" in notes


def test_recipes_hold_no_data() -> None:
    class Payload(np.ndarray):
        """An array to which weak references are possible."""

    references = []
    for _ in range(3):
        array = np.asarray(W).view(Payload)
        references.append(weakref.ref(array))
        weight = tb.ones(3, dtype="float64", backend="numpy")
        weight.data = array
        (found,) = taped(lambda x, w=weight: tb.sum(x * w), X)
        np.testing.assert_allclose(found, W)
    del array, weight, found
    gc.collect()
    assert [reference() for reference in references] == [None, None, None]
