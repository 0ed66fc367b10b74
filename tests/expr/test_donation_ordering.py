"""Updates that run as soon as their gradient is there: their place, their values, and the memory that they save."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.expr.donation import early_order, updates_early
from tensorbackend.expr.graph import Graph

from ..peak_memory import peak_memory

WIDTH, LAYERS = 200, 6


def loss(weights: list[tb.Tensor], x: tb.Tensor) -> tb.Tensor:
    for w in weights:
        x = tb.tanh(x @ w)
    return tb.sum(x * x)


def momentum(weights: list[tb.Tensor], state: list[tb.Tensor], x: tb.Tensor) -> Any:
    slopes = tb.grad(loss)(weights, x)
    state = [0.9 * v + g for v, g in zip(state, slopes, strict=True)]
    return [w - 0.1 * v for w, v in zip(weights, state, strict=True)], state


def start() -> tuple[list[tb.Tensor], list[tb.Tensor], tb.Tensor]:
    draw = np.random.default_rng(0).standard_normal
    weights = [tb.asarray(draw((WIDTH, WIDTH)).astype(np.float32) / 16, copy=True) for _ in range(LAYERS)]
    return weights, [tb.zeros(w.shape) for w in weights], tb.asarray(draw((2, WIDTH)).astype(np.float32))


def is_runnable(graph: Graph, order: Any) -> bool:
    """Whether the order has all nodes, each after its inputs, and the parameters first."""
    places = {node: place for place, node in enumerate(order)}
    first = tuple(value.node for value in graph.parameters)
    return (
        {*order} == {*graph.nodes}
        and order[: len(first)] == first
        and all(places[value.node] < places[node] for node in order for value in node.operands)
    )


def test_an_update_follows_its_gradient() -> None:
    graph = tb.trace(momentum)(*start())
    donated = range(2 * LAYERS)
    order = early_order(graph, donated)
    assert is_runnable(graph, order)
    places = {node: place for place, node in enumerate(order)}
    updates = [places[value.node] for value in graph.outputs[:LAYERS]]
    assert updates == sorted(updates, reverse=True)  # the last layer first, as its gradient is
    products = [places[node] for node in order if node.op in ("dot", "matmul")]
    assert sum(product > updates[-1] for product in products) > LAYERS  # most of the backward pass is to come
    assert updates_early(graph, ()) is graph
    assert [node.op for node in updates_early(graph, donated).nodes] == [node.op for node in order]


def test_an_update_that_takes_memory_stays() -> None:
    graph = tb.trace(momentum)(*start())
    assert early_order(graph, ()) == graph.nodes
    # New weights and a new state take the memory of a gradient and of the old weights or state, or of both.
    assert is_runnable(graph, early_order(graph, range(LAYERS)))
    assert early_order(graph, range(LAYERS)) != graph.nodes
    assert early_order(graph, [2 * LAYERS]) == graph.nodes


def test_an_update_waits_for_the_last_reader_of_what_it_writes_over() -> None:
    def step(w: tb.Tensor, x: tb.Tensor) -> Any:
        slope = tb.grad(lambda w: tb.sum(tb.tanh(x @ w)))(w)
        size = tb.sum(tb.linalg.inv(w))
        return w - 0.1 * slope, size

    graph = tb.trace(step)("f32[4, 4]", "f32[2, 4]")
    order = early_order(graph, [0])
    assert order.index(graph.outputs[0].node) > max(
        order.index(node) for node in graph.consumers(graph.parameters[0]) if node.op != "subtract"
    )
    assert is_runnable(graph, order)


def clipped_adam(params: Any, state: Any, x: tb.Tensor) -> Any:
    slopes = tb.grad(loss)(params, x)
    norm = tb.sqrt(sum(tb.sum(g * g) for g in slopes))
    slopes = [g / tb.maximum(norm, 1.0) for g in slopes]
    updates, state = tb.optimize.adam(0.01).update(slopes, state, params)
    return tb.tree_map(lambda w, u: w + u, params, updates), state, norm


@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize("kind", ["momentum", "adam"])
def test_values_are_the_same_to_the_last_bit(kind: str, backend: str) -> None:
    results = []
    for donated in (False, True):
        with tb.default_backend(backend):
            params, state, x = start()
            step = momentum if kind == "momentum" else clipped_adam
            given = state if kind == "momentum" else tb.optimize.adam(0.01).init(params)
            compiled = tb.jit(step, donate=list(step.__code__.co_varnames[:2]) if donated else ())
            for _ in range(3):
                params, given, *_ = compiled(params, given, x)
            results.append([np.asarray(leaf) for leaf in tb.tree_leaves((params, given))])
    assert all(np.array_equal(one, other) for one, other in zip(*results, strict=True))


def test_few_gradients_exist_at_a_time() -> None:
    one = WIDTH * WIDTH * 4
    compiled = tb.jit(momentum, donate=("weights", "state"))
    compiled(*start())
    predicted = tb.dry_run(momentum, *start(), donate=("weights", "state")).optimised.peak.memory
    measured = peak_memory(compiled, start)
    assert measured < (2 * LAYERS + 2.5) * one  # with all gradients there would be as many more as layers
    assert abs(predicted - measured) < 0.05 * measured


@pytest.mark.parametrize("seed", range(30))
def test_any_order_can_be_run(seed: int) -> None:
    draw = random.Random(seed)

    def function(params: list[tb.Tensor], x: tb.Tensor) -> Any:
        values = [*params, x]
        for _ in range(draw.randrange(5, 30)):
            one, other = draw.choice(values), draw.choice(values)
            ways: list[Any] = [
                lambda a, b: a + b, lambda a, b: a * tb.sum(b), lambda a, b: tb.tanh(a) - 0.5, lambda a, b: (a @ b) / 8,
                lambda a, b: a.T * b, lambda a, b: tb.cumulative_sum(a, axis=0) / 8, lambda a, b: tb.mean(a) + b,
            ]  # fmt: skip
            values.append(draw.choice(ways)(one, other))
        return draw.sample(values[4:], min(3, len(values) - 4))

    arrays = [np.random.default_rng(seed + k).uniform(-1, 1, (4, 4)) for k in range(4)]
    graph = tb.trace(function)([tb.asarray(a) for a in arrays[:3]], tb.asarray(arrays[3]))
    order = early_order(graph, range(3))
    assert is_runnable(graph, order)
    plain, early = graph(*map(tb.asarray, arrays)), updates_early(graph, range(3))(*map(tb.asarray, arrays))
    assert [x.tolist() for x in plain] == [x.tolist() for x in early]
