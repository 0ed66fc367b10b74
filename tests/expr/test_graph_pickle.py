"""Graphs that are sent to another process."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError
from tensorbackend.expr.graph_pickle import from_bytes, to_bytes
from tensorbackend.expr.trees import flatten


def network(w: tb.Tensor, x: tb.Tensor) -> Any:
    """Use composites, control flow, a captured tensor, several results and sequences of inputs."""
    held = tb.asarray([1.0, 2.0, 3.0], dtype="f32", backend="numpy")
    carried, steps = tb.scan(lambda c, v: (tb.softmax(c + v), c), x[0], x)
    again = tb.checkpoint(lambda v: tb.tanh(v @ w))(x)
    return tb.sum(again) + tb.sum(carried * held), tb.concatenate([steps, again]), tb.linalg.qr(w)[1]


def test_a_graph_that_came_back_computes_the_same() -> None:
    templates = tb.Template((3, 3), "f32"), tb.Template((4, 3), "f32")
    for function in (network, tb.value_and_grad(lambda w, x: network(w, x)[0])):
        graph = tb.trace(function)(*templates)
        again = from_bytes(to_bytes(graph))
        assert [node.op for node in again.nodes] == [node.op for node in graph.nodes]
        assert [node.line for node in again.nodes] == [node.line for node in graph.nodes]
        assert again.names == graph.names
        rng = numpy.random.default_rng(0)
        w, x = (tb.asarray(rng.normal(size=template.shape).astype("f4"), backend="numpy") for template in templates)
        expected, _ = flatten(graph(w, x))
        for one, two in zip(again(w, x), expected, strict=True):
            numpy.testing.assert_array_equal(one, two)


def test_a_long_chain_goes_too() -> None:
    def chain(x: tb.Tensor) -> tb.Tensor:
        for _ in range(3000):
            x = tb.exp(x)
        return x

    assert len(from_bytes(to_bytes(tb.trace(chain)("f32[2]"))).nodes) == 3001


def test_functions_of_the_host_stay_behind() -> None:
    graph = tb.trace(lambda x: tb.host_call(lambda v: v + 1, x.template, x))("f32[2]")
    again = from_bytes(to_bytes(graph))
    assert again.results == graph.results
    with pytest.raises(ArgumentError, match="expected a graph that is only compiled"):
        again(tb.ones(2, dtype="f32", backend="numpy"))


def test_a_function_that_no_process_can_import_is_a_mistake() -> None:
    graph = tb.trace(lambda x: tb.map(x, function=lambda v: v + 1))("f32[2]")
    with pytest.raises(ArgumentError, match=r"expected a graph for another process.*at the top of a module"):
        to_bytes(graph)
