"""Tests of nodes that are found again: what an eager gradient remembers, and what it must not."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.caching.memos import POLICY
from tensorbackend.errors import BackendError, DataError, GradientError
from tensorbackend.expr.grad.gradient_programs import GRADIENT_PROGRAMS
from tensorbackend.expr.kept_nodes import NODES

from ..threads import call_in_threads

X = np.asarray([0.5, -1.5, 2.0])
W = np.asarray([3.0, 0.25, -1.0])


def tensor(array: Any, **options: Any) -> tb.Tensor:
    return tb.asarray(np.asarray(array, "float64"), backend="numpy", **options)


def grown(function: Callable[[], Any]) -> tuple[int, int]:
    """By how many nodes and programs a call makes the memos grow."""
    before = len(NODES), len(GRADIENT_PROGRAMS)
    function()
    return len(NODES) - before[0], len(GRADIENT_PROGRAMS) - before[1]


def test_a_computation_that_was_traced_before_makes_no_nodes() -> None:
    def call() -> Any:
        return tb.value_and_grad(lambda x: tb.sum(tb.sin(x) * tensor(W)))(tensor(X))

    call()
    assert grown(call) == (0, 0)
    value, gradient = call()
    np.testing.assert_allclose(value.item(), np.sum(np.sin(X) * W))
    np.testing.assert_allclose(gradient, np.cos(X) * W)


def test_the_function_runs_at_each_call_and_sees_its_surroundings() -> None:
    calls: list[int] = []
    power = 2

    def function(x: tb.Tensor) -> tb.Tensor:
        calls.append(power)
        return tb.sum(x**power) if power < 4 else tb.sum(tb.exp(x))

    gradient = tb.grad(function)
    for power, expected in (  # noqa: B007 # the function reads it
        (2, 2 * X),
        (3, 3 * X**2),
        (4, np.exp(X)),
        (2, 2 * X),
        (3, 3 * X**2),
    ):
        np.testing.assert_allclose(gradient(tensor(X)), expected)
    assert calls == [2, 3, 4, 2, 3]


def test_numbers_of_one_value_and_other_kinds_are_told_apart() -> None:
    factors: list[Any] = [1, 1.0, True, 0.0, -0.0, 2, 2.5]
    gradient = tb.grad(lambda x, factor: tb.sum(x * factor))
    for factor in [*factors, *reversed(factors)]:
        found = np.asarray(gradient(tensor(X), factor))
        assert np.array_equal(found, np.full(3, factor, float))
        assert np.array_equal(np.signbit(found), np.signbit(np.full(3, factor, float)))


def test_captured_tensors_are_told_apart_by_their_order() -> None:
    first, second = tensor(W), tensor(X)
    ratio = tb.grad(lambda x, a, b: tb.sum(x * a / b))
    for _ in range(3):
        np.testing.assert_allclose(ratio(tensor(X), first, second), W / X)
        np.testing.assert_allclose(ratio(tensor(X), second, first), X / W)
        np.testing.assert_allclose(ratio(tensor(X), first, first), [1, 1, 1])


def test_an_assignment_to_a_captured_tensor_counts_from_the_next_use_on() -> None:
    weight = tensor(W)
    gradient = tb.grad(lambda x: tb.sum(x * weight))
    np.testing.assert_allclose(gradient(tensor(X)), W)
    weight[0] = 10.0
    np.testing.assert_allclose(gradient(tensor(X)), [10.0, *W[1:]])

    def changing(x: tb.Tensor) -> tb.Tensor:
        total = tb.sum(x * weight)
        weight[1] = -7.0
        return total + tb.sum(x * weight)

    np.testing.assert_allclose(tb.grad(changing)(tensor(X)), [20.0, W[1] - 7, 2 * W[2]])


def test_shapes_in_turn_keep_their_programs() -> None:
    gradient = tb.grad(lambda x: tb.sum(x * x))
    arrays = [np.arange(float(count)) for count in range(1, 80)]
    for array in arrays:
        gradient(tensor(array))
    assert grown(lambda: [gradient(tensor(array)) for array in arrays]) == (0, 0)
    for array in arrays:
        np.testing.assert_allclose(gradient(tensor(array)), 2 * array)


def sums(order: int) -> Callable[[tb.Tensor], tb.Tensor]:
    """A function whose three uses of x are recorded in one of two orders."""

    def function(x: tb.Tensor) -> tb.Tensor:
        if order:
            third, second, first = tb.exp(x), tb.cos(x), tb.sin(x)
        else:
            first, second, third = tb.sin(x), tb.cos(x), tb.exp(x)
        return tb.sum(first * 0.1 + second * 0.3 + third * 0.7)

    return function


@pytest.mark.parametrize("order", [0, 1])
def test_the_bits_are_those_of_a_trace_made_anew(order: int) -> None:
    """Cotangents are added in the order of the program, though its nodes were made in another order."""
    tb.grad(sums(1 - order))(tensor(X))
    x = tensor(np.linspace(-3, 3, 101))
    anew = np.asarray(tb.trace(tb.grad(sums(order)))(x)(x))
    for _ in range(POLICY.calls_before_compiling + 3):
        found = np.asarray(tb.grad(sums(order))(x))
        assert np.array_equal(found, anew)


def test_an_op_that_is_called_twice_is_two_nodes_as_in_any_trace() -> None:
    def function(x: tb.Tensor) -> tb.Tensor:
        return tb.sum(tb.sin(x * 0.1) + tb.cos(x * 0.1) * tb.exp(x * 0.1))

    x = tensor(np.linspace(-3, 3, 101))
    for _ in range(3):
        assert np.array_equal(tb.grad(function)(x), tb.trace(tb.grad(function))(x)(x))


def test_names_are_part_of_what_is_remembered() -> None:
    gradient = tb.grad(lambda x: tb.sum(tb.softmax(x.rename("n"), axis="n") * tensor(W, names=("n",))))
    shares = np.exp(X) / np.exp(X).sum()
    expected = shares * (W - np.sum(shares * W))
    for names in ((None,), ("a",), ("n",), (None,), ("a",)):
        found = gradient(tensor(X, names=names))
        assert found.names == names
        np.testing.assert_allclose(found, expected)


def test_a_value_that_outlives_its_call_is_refused_in_the_next_one() -> None:
    """The nodes of the next call are the same, so only its mark tells the value of the first call."""
    held: list[tb.Tensor] = []
    weight = tensor(W)

    def function(x: tb.Tensor) -> tb.Tensor:
        held.append(x * weight)
        return tb.sum(held[0] * x * weight)

    gradient = tb.grad(function)
    gradient(tensor(X))
    uses: list[Callable[[], Any]] = [lambda: gradient(tensor(X)), lambda: held[0] + held[0], lambda: tb.exp(held[0])]
    for use in uses:
        with pytest.raises(BackendError, match="a value of a trace that still runs"):
            use()
    only = tb.grad(lambda x: tb.sum(held[0]))
    with pytest.raises(BackendError, match="a value of a trace that still runs"):
        only(tensor(X))


def test_memos_hold_no_data() -> None:
    class Payload(np.ndarray):
        """An array to which weak references are possible."""

    gradient = tb.grad(lambda x, w: tb.sum(x * w))
    arrays = [np.asarray(W).view(Payload) for _ in range(3)]
    references = [weakref.ref(array) for array in arrays]
    for array in arrays:
        tensor_of_it = tb.ones(3, dtype="float64", backend="numpy")
        tensor_of_it.data = array
        gradient(tensor(X), tensor_of_it)
    del array, arrays, tensor_of_it
    gc.collect()
    assert [reference() for reference in references] == [None, None, None]


def test_an_error_has_the_line_of_the_call_that_failed() -> None:
    """Both functions have the same nodes, which keep the line of the first."""

    def first(x: tb.Tensor) -> tb.Tensor:
        return tb.sum(tb.linalg.inv(x))

    def second(x: tb.Tensor) -> tb.Tensor:
        return tb.sum(tb.linalg.inv(x))

    regular, singular = tensor(np.eye(2)), tensor(np.zeros((2, 2)))
    for _ in range(2):
        tb.grad(first)(regular)
    for function in (second, first, second):
        with pytest.raises(DataError) as caught:
            tb.grad(function)(singular)
        notes = "".join(getattr(caught.value, "__notes__", ()))
        assert f"test_kept_nodes.py:{function.__code__.co_firstlineno + 1}" in notes

    def refused(x: tb.Tensor) -> tb.Tensor:
        return tb.sum(tb.gamma_inc_l(x, tensor(X)))

    def refused_too(x: tb.Tensor) -> tb.Tensor:
        return tb.sum(tb.gamma_inc_l(x, tensor(X)))

    for function in (refused, refused_too, refused):
        with pytest.raises(GradientError, match=f"test_kept_nodes.py:{function.__code__.co_firstlineno + 1}"):
            tb.grad(function)(tensor(W**2))


def test_constants_can_be_read_in_the_function() -> None:
    weight = tensor(W)

    def function(x: tb.Tensor) -> tb.Tensor:
        scale = tb.ones(3, dtype="float64") * weight  # depends on no argument
        assert tb.is_concrete(scale)
        return tb.sum(x * tb.sum(scale).item())

    for factor in (1.0, 2.0):
        weight = tensor(W * factor)
        np.testing.assert_allclose(tb.grad(function)(tensor(X)), np.full(3, W.sum() * factor))


def test_callbacks_and_control_flow_run_at_each_call() -> None:
    seen: list[float] = []

    def function(x: tb.Tensor) -> tb.Tensor:
        y = tb.sum(x * x)
        tb.debug_callback(lambda y: seen.append(y.item()), y)
        result: tb.Tensor = tb.cond(y > 4.0, lambda y: y * 3.0, lambda y: y, y)
        return result

    gradient = tb.grad(function)
    for scale in (1.0, 0.5, 1.0):
        factor = 3.0 if np.sum((X * scale) ** 2) > 4 else 1.0
        np.testing.assert_allclose(gradient(tensor(X * scale)), 2 * factor * X * scale)
    np.testing.assert_allclose(seen, [np.sum(X**2), np.sum((X * 0.5) ** 2), np.sum(X**2)])


def test_threads_share_the_nodes() -> None:
    gradient = tb.value_and_grad(lambda x, w: tb.sum(tb.tanh(x * w) * w))

    def work(seed: int) -> None:
        random = np.random.default_rng(seed)
        for count in random.integers(1, 12, 60):
            x, w = random.standard_normal((2, count))
            _, found = gradient(tensor(x), tensor(w))
            np.testing.assert_allclose(found, w * w / np.cosh(x * w) ** 2, rtol=1e-5, atol=1e-8)

    call_in_threads(work, 0, 1, 2, 3)


def test_what_is_remembered_is_bounded_shown_and_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    tb.clear_caches()
    gradient = tb.grad(lambda x: tb.sum(x * x))
    gradient(tensor(X))
    shown = {cache.name: cache for cache in tb.caches()}
    assert shown["programs of gradients"].entries == len(GRADIENT_PROGRAMS) == 1
    monkeypatch.setattr(GRADIENT_PROGRAMS, "limit", 2)
    monkeypatch.setattr(NODES, "limit", 5)
    for count in range(1, 9):
        np.testing.assert_allclose(gradient(tensor(np.arange(float(count)))), 2 * np.arange(count))
        assert len(GRADIENT_PROGRAMS) <= 2
        assert len(NODES) <= 5
    tb.clear_caches()
    assert not GRADIENT_PROGRAMS
    assert not NODES
    assert not {cache.name for cache in tb.caches() if cache.entries} - {"templates in use"}
    np.testing.assert_allclose(gradient(tensor(X)), 2 * X)
