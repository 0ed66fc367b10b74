"""Gradients through control flow: against central differences and JAX, of second order and in forward mode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import GradientError
from tensorbackend.expr.trees import flatten

from ..control_programs import backwards, chosen, empty, held_on_to, limited, without_xs


@dataclass
class State:
    value: tb.Tensor
    count: Any


# Programs


def grown(x: tb.Tensor) -> Any:
    """Run a loop whose number of iterations depends on data, up to a limit."""
    return tb.while_loop(lambda c: tb.sum(c[0]) < 5, lambda c: (c[0] * 1.5 + x * x, c[1] + 1), (tb.exp(x), 0), limit=6)


def recurrent(x: tb.Tensor) -> Any:
    """Run a recurrent network whose weights are constants of the loop."""
    weights = tb.make_diagonal(x) + tb.sin(x)
    return tb.scan(lambda h, x: (tb.tanh(weights @ h + x), (tb.exp(weights) @ h, tb.argmax(h))), x * 0, x)


def deep(x: tb.Tensor) -> Any:
    def outer(carry: Any, entry: tb.Tensor) -> Any:
        inner, _ = tb.scan(lambda c, y: (c * tb.cos(y) + entry, None), carry[0], x, reverse=True)
        chosen = tb.cond(
            inner > 0.3, lambda: inner * x[0], lambda: tb.fori_loop(0, 3, lambda i, c: c * x[1] + i, inner)
        )
        return (chosen, carry[1] + 1), inner

    return tb.scan(outer, (x[2], 0), x)


def turning(x: tb.Tensor) -> Any:
    """Run a loop whose carried values change places, so that a gradient needs several iterations to reach x[0]."""
    return tb.fori_loop(0, 4, lambda i, c: (c[1], c[2], c[0] * x[i % 3]), (x[0], 1.0, 2.0))


DIFFERENTIABLE = [
    chosen, held_on_to, limited, backwards, without_xs, empty, grown, recurrent, deep, turning,
]  # fmt: skip
CALL_BY_CALL = [chosen, limited, backwards, turning]
"""Programs that also run op by op on JAX, which compiles each op: one program for each kind of control flow."""
every_gradient = pytest.mark.parametrize("program", DIFFERENTIABLE, ids=lambda program: program.__name__)


def scalar(result: Any) -> tb.Tensor:
    """Return a number that depends on every floating leaf of a result."""
    total = tb.zeros((), dtype="f64")
    for weight, leaf in enumerate(flatten(result)[0]):
        if leaf.dtype.is_inexact:
            total = total + tb.sum(tb.sin(leaf) * (weight + 1))
    return total


def x64() -> tb.Tensor:
    return tb.asarray([0.45, -0.6, 1.2], dtype="f64")


def differences(function: Callable[[tb.Tensor], tb.Tensor], x: tb.Tensor, step: float = 1e-6) -> list[Any]:
    """Return the central differences along each element."""
    rows = (tb.asarray(row, backend=x.backend) for row in numpy.eye(x.size))
    return [((function(x + step * row) - function(x - step * row)) / (2 * step)).tolist() for row in rows]


@every_gradient
@pytest.mark.parametrize("backend", ["numpy", "binary"])
def test_gradients(program: Callable[..., Any], backend: str) -> None:
    x = x64().backend_copy(backend)
    with tb.default_backend(backend), tb.precision(64):
        function = lambda x: scalar(program(x))  # noqa: E731
        gradient = tb.grad(function)(x)
        assert gradient.template is x.template
        numpy.testing.assert_allclose(gradient, differences(function, x), rtol=1e-7, atol=1e-8)


@every_gradient
def test_gradients_of_jax(program: Callable[..., Any]) -> None:
    x = x64().backend_copy("jax")
    with tb.default_backend("jax"), tb.precision(64):

        def function(x: tb.Tensor) -> tb.Tensor:
            return scalar(program(x))

        both: Any = jax.jit(lambda x: (jax.grad(lambda x: function(x).data)(x), tb.grad(function)(x)))
        reference, compiled = map(numpy.asarray, both(x))
        numpy.testing.assert_allclose(compiled, reference, rtol=1e-10, atol=1e-12)
        if program in CALL_BY_CALL:
            gradient = numpy.asarray(tb.grad(function)(x))
            numpy.testing.assert_allclose(gradient, reference, rtol=1e-10, atol=1e-12)


@every_gradient
def test_second_order(program: Callable[..., Any]) -> None:
    x = x64()
    with tb.precision(64):
        gradient = tb.grad(lambda x: scalar(program(x)))
        expected_hessian = differences(gradient, x)
        numpy.testing.assert_allclose(
            tb.hessian(lambda x: scalar(program(x)))(x), expected_hessian, rtol=1e-6, atol=1e-7
        )


@every_gradient
def test_jvp(program: Callable[..., Any]) -> None:
    x, tangent = x64(), tb.asarray([0.5, -1.0, 2.0], dtype="f64")
    with tb.precision(64):
        gradient = tb.grad(lambda x: scalar(program(x)))(x)
        _, derivative = tb.jvp(lambda x: scalar(program(x)), (x,), (tangent,))
        assert derivative.item() == pytest.approx(tb.sum(gradient * tangent).item(), rel=1e-10, abs=1e-12)


def test_gradients_by_what_is_held_on_to_and_by_trees() -> None:
    weights = tb.asarray([[0.5, -1.0], [0.25, 2.0]], names=("to", "from"))
    sequence = tb.asarray([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], names=("time", "from"))

    def loss(parameters: dict[str, tb.Tensor], sequence: tb.Tensor) -> tb.Tensor:
        def step(carry: State, x: tb.Tensor) -> Any:
            h = tb.tanh(tb.sum(parameters["weights"] * (carry.value + x), axis="from")) + parameters["bias"]
            return State(h.rename("from"), carry.count + 1), h

        end, hs = tb.scan(step, State(tb.zeros(2, names=("from",)), 0), sequence, axis="time")
        assert hs.names == ("time", "to")
        return tb.sum(hs * hs) + tb.sum(end.value)

    parameters = {"weights": weights, "bias": tb.asarray([0.1, 0.2], names=("to",))}
    by_parameters, by_sequence = tb.grad(loss, (0, 1))(parameters, sequence)
    assert {name: x.template for name, x in by_parameters.items()} == {
        name: x.template for name, x in parameters.items()
    }
    assert by_sequence.template is sequence.template
    step = 1e-2
    for name, x in parameters.items():
        change = tb.astype(x * 0 + step, "f32")
        difference = loss({**parameters, name: x + change}, sequence) - loss({**parameters, name: x - change}, sequence)
        assert tb.sum(by_parameters[name]).item() == pytest.approx(difference.item() / (2 * step), rel=1e-2)


def test_what_needs_no_gradient_has_none() -> None:
    """An op may lack a gradient where no gradient flows. The backward pass carries only what the gradient needs."""

    def function(x: tb.Tensor, w: tb.Tensor) -> Any:
        def step(carry: Any, entry: tb.Tensor) -> Any:
            last = tb.while_loop(lambda c: c < 3, lambda c: c + 1.0, tb.sum(w))
            return (carry[0] * tb.exp(w[0]) + entry * last, carry[1] + 1), carry[1]

        (total, _), _ = tb.scan(step, (x[0], 0), x)
        return tb.sum(total)

    x = tb.asarray([1.5, -2.0, 4.0])
    graph = tb.trace(tb.grad(function))(x, x)
    back = [node for node in graph.nodes if node.op == "scan"][-1]
    assert back.options["reverse"]
    assert [len(operands) for operands in back.inputs if isinstance(operands, tuple)] == [2, 1, 0]
    assert tb.grad(function)(x, x).shape == (3,)
    with pytest.raises(GradientError, match="give while_loop\\(\\) a limit, or fori_loop\\(\\) ints") as caught:
        tb.grad(function, 1)(x, x)
    assert f"called at {__file__}" in str(caught.value)
    with pytest.raises(GradientError, match="op='while_loop'"):
        tb.grad(lambda x: tb.fori_loop(0, tb.argmax(x), lambda i, c: c * x[0], 1.0))(x)


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_a_gradient_of_many_steps(backend: str) -> None:
    x = tb.full((3_000,), 1e-4, backend=backend)
    gradient = tb.grad(lambda x: tb.scan(lambda c, x: (c + c * x, None), 1.0, x)[0])(x)
    numpy.testing.assert_allclose(gradient, numpy.full(3_000, (1 + 1e-4) ** 2_999), rtol=2e-3)


@every_gradient
def test_on_a_tape(program: Callable[..., Any]) -> None:
    with tb.precision(64):
        with tb.tape() as tape:
            x = tape.watch(x64())
            y = scalar(program(x))
        reference = tb.grad(lambda x: scalar(program(x)))(x64())
        numpy.testing.assert_allclose(tb.gradient(y, x), reference, rtol=1e-10, atol=1e-12)


def test_jit_of_a_gradient_through_loops() -> None:
    with tb.precision(64):
        gradient = tb.grad(lambda x: scalar(deep(x)))
        numpy.testing.assert_allclose(tb.jit(gradient)(x64()), gradient(x64()), rtol=1e-12)


def test_gradients_of_complex_numbers() -> None:
    def loss(z: tb.Tensor) -> Any:
        def step(c: tb.Tensor, x: tb.Tensor) -> Any:
            product = c * x  # computed once, as JAX takes long to compile it
            return product + tb.conj(x), tb.abs(c) + tb.real(product)

        c, ys = tb.scan(step, z[0], z)
        d = tb.cond(tb.real(c) > 0, lambda: c * c, lambda: tb.conj(c) * z[1])
        w = tb.while_loop(lambda v: tb.abs(v) < 1.5, lambda v: v * (1.2 + 0.3j), d, limit=5)
        return tb.sum(ys) + tb.real(w) + tb.imag(d)

    z = tb.asarray([1 + 2j, -0.5 + 0.25j, 0.3 - 1j], dtype="c128")
    theirs: Any = jax.jit(jax.grad(lambda z: loss(z).data))
    numpy.testing.assert_allclose(tb.grad(loss)(z), theirs(z.backend_copy("jax")), rtol=1e-12)


def test_gradients_that_a_user_gives_inside_a_loop() -> None:
    @tb.custom_gradient
    def cut(x: tb.Tensor) -> Any:
        return x, lambda cotangent: tb.clip(cotangent, -1, 1)

    def function(x: tb.Tensor) -> Any:
        def step(carry: tb.Tensor, entry: tb.Tensor) -> Any:
            return tb.stop_gradient(carry) * 0.5 + tb.scaled_gradient(entry, 2.0) + carry * entry, cut(entry) * 3

        last, ys = tb.scan(step, 0.1, x)
        return last + tb.cond(last > 0, lambda: tb.sum(ys), lambda: last)

    # By hand, for each entry: 1 through `cut`, plus (2 + carry) times the product of the later entries.
    expected_gradient = [1 - 2.1 * 0.18, 1 + 2.38 * 0.9, 1 + 2 - 0.086]
    numpy.testing.assert_allclose(tb.grad(function)(tb.asarray([0.3, -0.2, 0.9])), expected_gradient, rtol=1e-5)
