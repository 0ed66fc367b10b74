"""vmap: axes by position and name, nesting, gradients, control flow, errors. The property tests cover every op."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.declarations import op_specs
from tensorbackend.errors import ArgumentError, AxisError, NamesError, OperandError, ShapeError
from tensorbackend.expr.graph import Graph

BACKENDS = ["binary", "numpy", "jax"]


def numbers(*shape: int, backend: str = "numpy", names: Any = None) -> tb.Tensor:
    """Return float64 numbers between -2 and 2."""
    values = np.random.default_rng(0).uniform(-2, 2, shape)
    return tb.asarray(values, names=names, backend=backend)


def loop(function: Callable[..., tb.Tensor], *batches: tb.Tensor) -> tb.Tensor:
    """Return the result that vmap along the first axes must give."""
    return tb.stack([function(*(x[i] for x in batches)) for i in range(batches[0].shape[0])])


def near(actual: tb.Tensor, reference: tb.Tensor) -> bool:
    assert actual.shape == reference.shape
    return np.allclose(np.asarray(actual), np.asarray(reference), rtol=1e-12, atol=1e-12)


def ops_of(graph: Graph) -> list[str]:
    return [node.op for node in graph.nodes[len(graph.parameters) :]]


@pytest.mark.parametrize("backend", BACKENDS)
def test_results_have_the_axis_in_front_under_its_name(backend: str) -> None:
    x = numbers(3, 2, backend=backend, names=("feature", "batch"))
    probabilities = tb.vmap(lambda v: tb.softmax(v, axis="feature"), in_axes="batch")(x)
    assert probabilities.names == ("batch", "feature")
    assert probabilities.backend is x.backend
    assert near(probabilities, tb.permute_dims(tb.softmax(x, axis="feature"), (1, 0)))


def test_axes_by_position_from_either_end() -> None:
    x = numbers(3, 2)
    for axis in (1, -1):
        assert tb.vmap(lambda v: v * 2, in_axes=axis)(x).tolist() == tb.permute_dims(x * 2, (1, 0)).tolist()
        assert tb.vmap(lambda v: v * 2, in_axes=axis, out_axes=axis)(x).tolist() == (x * 2).tolist()


def test_an_argument_may_be_the_same_for_all() -> None:
    x, w = numbers(4, 3), numbers(3, 2)
    assert near(tb.vmap(lambda v, m: v @ m, in_axes=(0, None))(x, w), x @ w)
    assert near(tb.vmap(lambda v, m: v @ m, (None, 1))(x[0], w), tb.reshape(x[0] @ w, (2,)))
    assert near(tb.vmap(lambda v, *, m: v @ m)(x, m=w), x @ w)


@dataclass
class Pair:
    """Two tensors."""

    left: Any
    right: Any


def test_axes_nest_as_arguments_and_results_do() -> None:
    x, y = numbers(4, 3), numbers(2, 4)

    def function(tree: dict[str, Any], pair: Pair) -> dict[str, Any]:
        return {"sum": tree["a"] + pair.left, "both": [tree["b"][0] * pair.right, pair.right]}

    axes = ({"a": 0, "b": (1,)}, {"left": 0, "right": None})
    results = tb.vmap(function, axes, {"sum": 1, "both": (0, None)})({"a": x, "b": (y,)}, Pair(x, y[:, 0]))
    assert near(results["sum"], tb.permute_dims(x + x, (1, 0)))
    assert near(results["both"][0], tb.permute_dims(y * y[:, :1], (1, 0)))
    assert results["both"][1].shape == (2,)


def test_a_new_name_and_names_inside() -> None:
    x = numbers(4, 3, names=(None, "time"))
    assert tb.vmap(lambda v: v, axis_name="example")(x).names == ("example", "time")
    assert tb.vmap(lambda v: tb.sum(v, axis="time"))(x).names == (None,)
    seen = []
    tb.vmap(lambda v: seen.append(v.template) or v)(x)  # type: ignore[func-returns-value] # append gives None
    assert repr(seen[0]) == "f64[time: 3]"


def test_each_op_is_run_once() -> None:
    batched = tb.vmap(lambda v, w: tb.softmax(v) * tb.sum(w), in_axes=(0, None))
    graph = tb.trace(batched)("f32[4, 3]", "f32[5]")
    assert ops_of(graph) == ["softmax", "sum", "multiply"]


def test_composites_of_others_go_by_their_parts() -> None:
    x = numbers(4, 3)
    try:

        @tb.composite
        def shares(x: tb.Tensor, /) -> tb.Tensor:
            """Divide by the sum of all elements, so that an additional axis does not act as a batch."""
            return x / tb.sum(x)

        assert near(tb.vmap(shares)(x), loop(shares, x))
    finally:
        op_specs.OPS.pop("shares", None)


@pytest.mark.parametrize("backend", BACKENDS)
def test_it_nests(backend: str) -> None:
    x, y = numbers(2, backend=backend), numbers(3, backend=backend)
    table = tb.vmap(lambda a: tb.vmap(lambda b: a - b * a)(y))(x)
    assert near(table, tb.reshape(x, (2, 1)) - y * tb.reshape(x, (2, 1)))


@pytest.mark.parametrize("backend", ["binary", "numpy"])
def test_with_gradients_in_any_order(backend: str) -> None:
    x, w = numbers(4, 3, backend=backend), numbers(3, backend=backend)

    def loss(v: tb.Tensor, weights: tb.Tensor) -> tb.Tensor:
        return tb.sum(tb.sin(v * weights) * v[0])

    gradients = tb.vmap(tb.grad(loss, argnums=1), in_axes=(0, None))(x, w)
    assert near(gradients, loop(lambda v: tb.grad(loss, argnums=1)(v, w), x))
    whole = tb.grad(lambda weights: tb.sum(tb.vmap(loss, in_axes=(0, None))(x, weights)))(w)
    assert near(whole, tb.sum(gradients, axis=0))
    assert near(tb.vmap(tb.hessian(lambda v: loss(v, w)))(x), loop(tb.hessian(lambda v: loss(v, w)), x))


def test_gradients_of_ones_own() -> None:
    @tb.custom_gradient
    def scaled(v: tb.Tensor, w: tb.Tensor) -> tuple[tb.Tensor, Any]:
        return tb.sum(v * w), lambda cotangent: (cotangent * 10 * w, cotangent * 100 * v)

    x, w = numbers(4, 3), numbers(3)
    gradients = tb.vmap(tb.grad(lambda v: scaled(v, w)))(x)
    assert near(gradients, tb.broadcast_to(10 * w, (4, 3)))
    of_all = tb.grad(lambda x, w: tb.sum(tb.vmap(scaled, in_axes=(0, None))(x, w)), argnums=(0, 1))(x, w)
    assert near(of_all[0], gradients)
    assert near(of_all[1], 100 * tb.sum(x, axis=0))
    stopped = tb.grad(lambda x: tb.sum(tb.vmap(lambda v: v * tb.stop_gradient(v))(x)))(x)
    assert near(stopped, x)


def test_against_jax() -> None:
    x, m = numbers(5, 3, 3), numbers(5, 3)

    def ours(a: tb.Tensor, v: tb.Tensor) -> tb.Tensor:
        return tb.linalg.solve(a, v) + tb.cumulative_sum(tb.exp(v)) @ a

    def theirs(a: Any, v: Any) -> Any:
        return jax.numpy.linalg.solve(a, v) + jax.numpy.cumsum(jax.numpy.exp(v)) @ a

    with jax.enable_x64():
        mapped = jax.jit(jax.vmap(theirs, in_axes=(0, 0), out_axes=1))
        reference = np.asarray(mapped(np.asarray(x), np.asarray(m)))
    assert np.allclose(np.asarray(tb.vmap(ours, out_axes=1)(x, m)), reference, rtol=1e-10)


def test_no_example_at_all() -> None:
    results = tb.vmap(lambda v, k: (tb.sum(v) * k, tb.conv(v, v)))(tb.zeros((0, 2, 3, 4)), tb.zeros(0))
    assert [x.shape for x in results] == [(0,), (0, 2, 2, 1)]


def test_random_numbers_of_a_key_each() -> None:
    keys = tb.random.split(tb.random.key(3), 4)
    assert (
        tb.vmap(lambda key: tb.random.normal(key, (3,)))(keys).tolist()
        == loop(lambda key: tb.random.normal(key, (3,)), keys).tolist()
    )


# Control flow

STARTS = [1.0, 5.0, 60.0, -3.0]


def powers(v: tb.Tensor) -> Any:
    return tb.while_loop(lambda carry: carry < 100, lambda carry: carry * 3 + 10, v)


def counted(v: tb.Tensor) -> Any:
    return tb.fori_loop(0, 4, lambda i, carry: carry * v + tb.astype(i, v.dtype), v)


def either(v: tb.Tensor) -> Any:
    return tb.cond(v > 2, lambda x: x * x, lambda x: x - 1, v)


def same_for_all(v: tb.Tensor) -> Any:
    return tb.cond(tb.asarray(True), lambda x: x * x, lambda x: x - 1, v)


def scanned(v: tb.Tensor) -> Any:
    total, steps = tb.scan(lambda c, e: (c + e * v, c * e), v * 0, tb.asarray([1.0, 2.0, 3.0], dtype=v.dtype))
    return total + tb.sum(steps * tb.asarray([1.0, 10.0, 100.0], dtype=v.dtype))


@pytest.mark.parametrize("function", [powers, counted, either, same_for_all, scanned])
@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_control_flow(backend: str, function: Callable[[tb.Tensor], tb.Tensor]) -> None:
    reference = loop(function, tb.asarray(STARTS, dtype="f64"))
    with tb.default_backend(backend):
        x = tb.asarray(STARTS, dtype="f64")
        assert near(tb.vmap(function)(x), reference)
        if backend == "numpy":
            assert near(tb.reshape(tb.vmap(tb.vmap(function))(tb.reshape(x, (2, 2))), (4,)), reference)


def test_entries_of_a_scan_on_a_batch() -> None:
    def running(v: tb.Tensor) -> Any:
        return tb.scan(lambda c, e: (c + e, c * e), 0.0, v, reverse=True)[1]

    x = numbers(4, 3, names=("batch", "time"))
    entries = tb.vmap(running)(x)
    assert entries.names == ("batch", "time")
    assert near(entries, loop(running, x))
    assert near(tb.vmap(tb.grad(lambda v: tb.sum(running(v))))(x), loop(tb.grad(lambda v: tb.sum(running(v))), x))


def test_a_counter_stays_one_number() -> None:
    graph = tb.trace(tb.vmap(counted))("f32[6]")
    (node,) = (node for node in graph.nodes if node.op in ("scan", "while_loop"))
    assert sorted(len(out.shape) for out in node.outs) == [0, 1]


# Mistakes


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: tb.vmap(tb.add)(x, x[:2]), ShapeError, "expected the same number of examples in each argument"),
        (lambda x: tb.vmap(tb.exp, in_axes="time")(x), AxisError, "an axis of x, f64[batch: 3][feature: 2]"),
        (lambda x: tb.vmap(tb.exp, in_axes=2)(x), AxisError, "got axis=2; give in_axes an axis that it has, or None"),
        (lambda x: tb.vmap(tb.exp, out_axes=2)(x), AxisError, "a position from -2 to 1 in out_axes"),
        (lambda x: tb.vmap(tb.exp, out_axes="n")(x), AxisError, "a position from -2 to 1 in out_axes, got"),
        (lambda x: tb.vmap(tb.add, in_axes=(0,))(x, x), ArgumentError, "in_axes nested like the arguments"),
        (lambda x: tb.vmap(tb.exp, in_axes=None)(x), ArgumentError, "an argument with an axis of examples"),
        (lambda x: tb.vmap(tb.exp, out_axes=None)(x), ArgumentError, "a position in out_axes for a result"),
        (lambda x: tb.vmap(tb.exp, out_axes={"a": 0})(x), ArgumentError, "out_axes nested like the result"),
        (lambda x: tb.vmap(tb.add)(x, 1.0), OperandError, "a tensor as x2, got axis=0, given=1.0"),
        (lambda x: tb.vmap(tb.add, in_axes=(0, 1))(x, x), NamesError, "one name for the axis of examples"),
    ],
)
def test_mistakes(call: Callable[[tb.Tensor], object], error: type[Exception], text: str) -> None:
    x = numbers(3, 2, names=("batch", "feature"))
    x = x if error is not NamesError else numbers(3, 3, names=("batch", "feature"))
    with pytest.raises(error, match=re.escape(text)):
        call(x)
