"""Forward-mode derivatives, functions with custom derivatives, checkpoints and detached tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, DTypeError
from tensorbackend.expr.trees import flatten
from tensorbackend.tensor import Tensor

X = tb.tensor([1.0, 2.0, 3.0], names=("n",))


def close(x: Tensor, reference: Any) -> bool:
    return bool(numpy.allclose(numpy.asarray(x), reference))


# Forward-mode and custom derivatives


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_a_jacobian_by_columns_is_that_by_rows(backend: str, whole: Callable[..., Any]) -> None:
    def function(x: Tensor, y: Tensor) -> Any:
        return {"outer": x[:, None] * tb.sin(y), "sum": (tb.sum(x), tb.exp(y))}

    x, y = X.backend_copy(backend), tb.tensor([1.0, -1.0], names=("m",), backend=backend)

    @whole
    def both_ways(x: Tensor, y: Tensor) -> Any:
        return [(tb.jacfwd(function, places)(x, y), tb.jacobian(function, places)(x, y)) for places in (0, 1, (1, 0))]

    for by_columns, by_rows in both_ways(x, y):
        assert tb.tree_map(lambda x: (x.template, x.backend), by_columns) == tb.tree_map(
            lambda x: (x.template, x.backend), by_rows
        )
        pairs = zip(flatten(by_columns)[0], flatten(by_rows)[0], strict=True)
        assert all(close(one, numpy.asarray(other)) for one, other in pairs)
    assert tb.jacfwd(lambda x: x * 2)(tb.zeros(0, backend=backend)).shape == (0, 0)
    assert whole(tb.vmap(tb.jacfwd(lambda x: x * x)))(tb.ones((2, 3), backend=backend)).shape == (2, 3, 3)
    z = tb.asarray([1 + 2j, 0.5 - 1j], backend=backend)
    assert close(whole(tb.jacfwd(lambda z: z * z))(z), numpy.diag([2 + 4j, 1 - 2j]))
    with pytest.raises(DTypeError, match="expected a floating or complex result for a jacobian"):
        tb.jacfwd(tb.argmax)(x)


def test_linearize_gives_the_derivative_along_many_tangents() -> None:
    runs = []

    def function(x: Tensor, y: Any) -> Any:
        runs.append(1)
        return {"product": x * y["y"], "place": tb.argmax(x)}

    value, push = tb.linearize(function, X, {"y": 2.0})
    assert close(value["product"], [2.0, 4.0, 6.0])
    for scale in (1.0, -3.0):
        tangent = push(tb.ones(3) * scale, {"y": 1.0})
        assert close(tangent["product"], [2 * scale + 1, 2 * scale + 2, 2 * scale + 3])
        assert (tangent["product"].names, tangent["place"].item()) == (("n",), 0)
    assert len(runs) == 1
    assert tb.jit(lambda x: tb.linearize(tb.sin, x)[1](1.0))(0.0).item() == 1.0
    assert tb.grad(lambda x: tb.linearize(lambda x: x**3, x)[1](1.0))(2.0).item() == 12.0
    with pytest.raises(ArgumentError, match="expected tangents nested like the arguments"):
        push(tb.ones(3))


@tb.custom_jvp
def cubed(x: Any, scale: Tensor, power: int) -> Any:
    """Return scale * x ** power."""
    return {"y": scale * x["x"] ** power}


@cubed.defjvp
def cubed_rule(primals: Any, tangents: Any) -> Any:
    """Return ten times the derivative with respect to x, plus the derivative with respect to scale."""
    (x, scale, power), (dx, dscale, dpower) = primals, tangents
    assert dpower is None
    along = 10 * power * x["x"] ** (power - 1) * scale * dx["x"] + x["x"] ** power * dscale
    return cubed(x, scale, power), {"y": along}


def test_a_derivative_of_ones_own_along_tangents() -> None:
    def loss(x: Tensor, scale: Tensor) -> Tensor:
        scaled_cube: Tensor = cubed({"x": x}, scale, 3)["y"]
        return scaled_cube

    x, scale = tb.asarray(2.0), tb.asarray(3.0)
    assert loss(x, scale).item() == 24.0
    for transform in (lambda f: f, tb.jit):
        assert [gradient.item() for gradient in transform(tb.grad(loss, (0, 1)))(x, scale)] == [360.0, 8.0]
    assert tb.jvp(loss, (x, scale), (1.0, 1.0))[1].item() == 368.0
    assert tb.grad(tb.grad(loss))(x, scale).item() == 360.0
    assert tb.vmap(tb.grad(loss), in_axes=(0, None))(tb.asarray([1.0, 2.0]), scale).tolist() == [90.0, 360.0]
    with tb.tape() as tape:
        watched = tape.watch(x)
        y = loss(watched, scale)
    assert tb.gradient(y, watched).item() == 360.0
    plain = tb.custom_jvp(lambda x: x)
    assert plain(x).item() == 2.0
    with pytest.raises(ArgumentError, match=r"expected a function with a derivative; define one with defjvp\(\)"):
        tb.grad(plain)(x)
    plain.defjvp(lambda primals, tangents: tangents[0])
    with pytest.raises(ArgumentError, match="expected a rule that returns the result and its tangent"):
        tb.grad(plain)(x)


def test_functions_of_cotangents_may_call_their_function() -> None:
    @tb.custom_gradient
    def inverse(x: Any) -> Any:
        return 1 / x, lambda cotangent: -cotangent * inverse(x) ** 2

    function: Callable[..., Any] = inverse
    derivatives = [0.5, -0.25, 0.25, -0.375]
    for derivative in derivatives:
        for transform in (lambda f: f, tb.jit):
            assert transform(function)(tb.asarray(2.0)).item() == derivative
        assert tb.vmap(function)(tb.asarray([2.0, 2.0])).tolist() == [derivative] * 2
        function = tb.grad(function)

    def outer(w: Tensor) -> Tensor:
        @tb.custom_gradient
        def scaled(x: Tensor, w: Tensor) -> Any:
            return x * x * w, lambda cotangent: (cotangent * 2 * scaled(x, w) / x, cotangent * scaled(x, w) / w)

        product: Tensor = tb.grad(tb.grad(scaled))(tb.asarray(3.0), w) * w
        return product

    assert outer(tb.asarray(2.0)).item() == 8.0
    assert tb.grad(outer)(2.0).item() == pytest.approx(8.0)
    assert tb.vmap(tb.grad(outer))(tb.asarray([1.0, 2.0])).tolist() == pytest.approx([4.0, 8.0])


# Checkpoints and detached tensors


@pytest.mark.parametrize("backend", ["numpy", "binary", "jax"])
def test_a_checkpoint_has_the_same_gradients(backend: str, whole: Callable[..., Any]) -> None:
    x = tb.tensor([0.1, 0.2], names=("n",), backend=backend)
    w = tb.tensor([0.3, 0.4], names=("n",), backend=backend)

    def loss(kept: Any) -> Any:
        def function(x: Tensor, w: Tensor) -> Tensor:
            layer = kept(lambda x, power: {"y": tb.sin(x * w) ** power})  # w is closed over
            return tb.sum(layer(layer(x, 2)["y"], power=1)["y"])

        return function

    plain, spared = loss(lambda f: f), loss(tb.checkpoint)
    batch = tb.tensor([[0.1, 0.2], [0.2, 0.4]], names=(None, "n"), backend=backend)

    def transformed(f: Any) -> Any:
        def derivatives(x: Tensor, w: Tensor, batch: Tensor) -> Any:
            return (
                tb.jit(tb.grad(f, (0, 1)))(x, w),
                tb.hessian(f, (0, 1))(x, w),
                tb.jvp(f, (x, w), (w, x)),
                tb.vmap(tb.grad(f, (0, 1)), in_axes=(0, None))(batch, w),
                tb.grad(lambda w: tb.sum(tb.vmap(f, in_axes=(0, None))(batch, w)))(w),
                tb.grad(lambda x: tb.scan(lambda c, _: (c * f(c, w), None), x, length=3)[0][0])(x),
            )

        return whole(derivatives)(x, w, batch)

    derivatives_of: list[Any] = [lambda f: tb.grad(f, (0, 1))(x, w), transformed, lambda f: _by_tape(f, x, w)]
    for derivative in derivatives_of:
        spared_leaves, plain_leaves = (flatten(derivative(f))[0] for f in (spared, plain))
        assert [x.template for x in spared_leaves] == [x.template for x in plain_leaves]
        assert all(close(one, numpy.asarray(other)) for one, other in zip(spared_leaves, plain_leaves, strict=True))
    assert [node.op for node in tb.trace(lambda x: tb.checkpoint(tb.exp)(x))("f32[2]").nodes] == [
        "parameter",
        "checkpoint",
    ]


def _by_tape(function: Any, *arguments: Tensor) -> Any:
    with tb.tape() as tape:
        watched = tape.watch(arguments)
        y = function(*watched)
    return tb.gradient(y, watched)


def test_a_checkpoint_keeps_less_for_the_way_back() -> None:
    def chain(layer: Any, x: Tensor) -> Tensor:
        for _ in range(16):
            x = layer(x)
        return tb.sum(x)

    def layer(x: Tensor) -> Tensor:
        return tb.sin(tb.exp(tb.tanh(x)))

    plain, spared = (
        tb.dry_run(lambda x, f=f: chain(f, x), "f32[100000]", gradient=True) for f in (layer, tb.checkpoint(layer))
    )
    assert spared.eager.peak.memory < 0.65 * plain.eager.peak.memory
    assert spared.optimised.peak.memory < 0.65 * plain.optimised.peak.memory
    assert spared.eager.transcendentals == 1.4 * plain.eager.transcendentals


def test_a_detached_tensor_has_data_and_no_gradient() -> None:
    with tb.tape() as tape:
        x = tape.watch(X)
        held = x.detach()
        y = tb.sum(x * held)
        assert (held.backend.name, held.names) == ("numpy", ("n",))
    assert close(tb.gradient(y, x), [1.0, 2.0, 3.0])
    assert y.detach().tolist() == 14.0
    assert close(tb.grad(lambda x: tb.sum(x * x.detach()))(X), [1.0, 2.0, 3.0])
    other = X.detach()
    other[0] = 9.0
    assert X.tolist() == [1.0, 2.0, 3.0]
