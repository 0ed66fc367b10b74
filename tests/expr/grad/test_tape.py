"""Tapes: gradients of what a block computed, data that may be read there, pauses, and errors."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import (
    ArgumentError,
    BackendError,
    DTypeError,
    GradientError,
    ShapeError,
)
from tensorbackend.tensor import Tensor

X = tb.tensor([1.0, 2.0, 3.0], names=("n",))


def close(x: Tensor, reference: Any) -> bool:
    return bool(numpy.allclose(numpy.asarray(x), reference))


@pytest.mark.parametrize("backend", ["numpy", "binary", "jax"])
def test_a_tape_lets_data_be_read(backend: str) -> None:
    with tb.tape() as tape:
        x = tape.watch({"x": X.backend_copy(backend)})
        y = x["x"]
        while tb.sum(y) < 40:
            y = y * x["x"]
        y = tb.sum(tb.softmax(y) * tb.reshape(x["x"], (3,)))
    gradient = tb.gradient(y, x)["x"]
    assert gradient.names == ("n",)
    assert gradient.backend.name == backend
    reference = tb.grad(lambda x: tb.sum(tb.softmax(x * x * x * x) * x))(X)
    assert float(y) == pytest.approx(float(tb.sum(tb.softmax(X * X * X * X) * X)))
    assert close(gradient, reference)


def test_a_gradient_inside_the_block_has_a_gradient() -> None:
    with tb.tape() as tape:
        x = tape.watch(tb.asarray(2.0))
        first = tb.gradient(x**3, x)
        second = tb.gradient(first, x)
    third = tb.gradient(second, x)
    assert (first.item(), second.item(), third.item()) == (12.0, 12.0, 6.0)
    assert third.backend.name == "numpy"


def test_a_gradient_by_what_was_computed() -> None:
    with tb.tape() as tape:
        x = tape.watch(tb.asarray(2.0))
        y = x * x
        z = y * x + tb.asarray(1.0)
    assert [gradient.item() for gradient in tb.gradient(z, [x, y])] == [12.0, 2.0]


def test_what_is_computed_after_the_block_of_a_tape_has_no_gradient() -> None:
    with tb.tape() as tape:
        x = tape.watch(tb.asarray(2.0))
        y = x * x
        constant = tb.asarray(3.0) + tb.stop_gradient(x) * 0
    loss = tb.sqrt(y)
    line = test_what_is_computed_after_the_block_of_a_tape_has_no_gradient.__code__.co_firstlineno + 5
    text = rf"expected a y that was computed in the block of the tape, got y=f32; move .*test_tape.py:{line}"
    for later in (loss, loss * 2, tb.sum(tb.stack([tb.asarray(1.0), loss]))):
        with pytest.raises(ArgumentError, match=text):
            tb.gradient(later, x)
    assert tb.gradient(y, x).item() == 4.0  # a tape gives several gradients
    assert tb.gradient(constant, x).item() == 0.0
    with tb.tape() as later_tape:
        z = later_tape.watch(tb.asarray(5.0))
        product = loss * z  # what an earlier tape recorded is constant
        nothing = loss * 2
    assert tb.gradient(product, z).item() == 2.0
    assert tb.gradient(nothing, z).item() == 0.0
    with pytest.raises(ArgumentError, match=r"expected x\[0\] and y recorded by one tape, got given=f32; watch it"):
        tb.gradient(product, (x, z))
    with pytest.raises(ArgumentError, match=r"expected x as a tensor that a tape recorded, got given=f32; watch it"):
        tb.gradient(product, loss)
    with pytest.raises(BackendError, match="expected one block for each tape"), tape:
        pass


def test_a_paused_tape_records_nothing() -> None:
    with tb.tape() as tape:
        x = tape.watch(tb.asarray(3.0))
        with tape.paused():
            weight = x * x
        y = weight * x
        other = weight + 1
    assert tb.gradient(y, x).item() == 9.0
    assert tb.gradient(other, x).item() == 0.0
    with pytest.raises(BackendError, match="expected a tape to be paused inside its block"), tape.paused():
        pass


def test_a_loop_of_steps_keeps_nothing_of_the_steps_before() -> None:
    w, momentum = tb.asarray(1.0), tb.asarray(0.0)
    for _ in range(3):
        with tb.tape() as tape:
            w = tape.watch(w)
            loss = w * w
        momentum = momentum * 0.5 + tb.gradient(loss, w)
        w = w - 0.1 * momentum
    assert w.item() == pytest.approx(0.302)


def test_a_tape_says_that_it_runs_and_what_it_follows() -> None:
    assert tb.current_tape() is None
    with tb.tape() as tape:
        assert tb.current_tape() is tape
        x = tape.watch(tb.asarray(3.0))
        y = x * 2
        constant = tb.stop_gradient(tb.asarray(1.0)) + x.detach()
        assert [tape.follows(tensor) for tensor in (x, y, constant, tb.asarray(1.0))] == [True, True, False, False]
        with tape.paused():
            assert tb.current_tape() is None
            assert not tape.follows(x * 2)
            assert tape.follows(y)
    assert tb.current_tape() is None
    assert tape.follows(y)
    assert not tb.tape().follows(y)


@tb.custom_gradient
def doubled(x: Any, y: Tensor) -> Any:
    """Return x * y, with twice the gradient with respect to x and none with respect to y."""
    return {"product": x["x"] * y}, lambda cotangent: ({"x": 2 * cotangent["product"] * y}, None)


def test_a_tape_and_the_functions_of_gradients() -> None:
    def scaled(x: Tensor) -> Any:
        return doubled({"x": x}, tb.asarray(3.0))["product"]

    with tb.tape() as tape:
        x = tape.watch(tb.asarray(2.0))
        y = tb.grad(lambda z: z * z * x)(x) + scaled(x)
    assert y.item() == 14.0
    assert tb.gradient(y, x).item() == 4 * 2.0 + 6.0


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tb.scan(lambda product, entry: (product * entry, product), tb.asarray(1.0), x)[0],
        lambda x: tb.prod(tb.vmap(lambda entry: entry * 1)(x)),
        tb.jit(tb.prod),
        lambda x: x[0] * tb.prod(tb.stack(list(x[1:]))),
    ],
)
def test_a_tape_records_what_graphs_are_for(function: Any) -> None:
    with tb.tape() as tape:
        x = tape.watch(X)
        y = function(x)
    assert close(tb.gradient(y, x), [6.0, 3.0, 2.0])


def test_assignment_has_a_gradient() -> None:
    def loss(x: Tensor) -> Tensor:
        z = x * 1
        z[0] = x[1] * 5
        return tb.sum(z * z)

    with tb.tape() as tape:
        x = tape.watch(X)
        y = loss(x)
    assert close(tb.gradient(y, x), [0.0, 104.0, 6.0])
    assert close(tb.grad(loss)(X), [0.0, 104.0, 6.0])


def test_errors_of_tapes() -> None:
    with tb.tape() as tape:
        x = tape.watch(X)
        with pytest.raises(BackendError, match="no tape inside the block of another tape"), tb.tape():
            pass
        with pytest.raises(DTypeError, match=r"expected x\[0\] to be a floating or complex tensor to be watched, got"):
            tape.watch([1])
        with pytest.raises(BackendError, match=r"have data to be watched; use grad\(\) in a traced function"):
            tb.trace(lambda x: tape.watch(x))("f32")
        y = tb.sum(tb.reduce(x, 0.0, function=lambda a, b: a + b))
    with pytest.raises(ShapeError, match=r"expected a scalar for a gradient, got y=f32\[n: 3\]"):
        tb.gradient(x, x)
    with pytest.raises(ArgumentError, match=r"expected x as a tensor that a tape recorded, got given="):
        tb.gradient(y, X)
    with pytest.raises(GradientError, match=r"op='reduce'.*test_tape.py:"):
        tb.gradient(y, x)
