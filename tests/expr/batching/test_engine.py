"""How often an op runs in a batch: once, however many examples there are."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.declarations import op_specs
from tensorbackend.expr.batching.engine import runs_once
from tensorbackend.expr.graph import Graph


def ops_of(graph: Graph) -> list[str]:
    return [node.op for node in graph.nodes[len(graph.parameters) :]]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tb.flip(x, axis=1),
        lambda x: tb.sum(x, axis=(0, 1)),
        lambda x: tb.max(x, axis=1),
        lambda x: tb.squeeze(x, axis=2),
        lambda x: tb.sort(x, axis=1),
        lambda x: tb.permute_dims(x, (2, 0, 1)),
        lambda x: tb.pad(x, [(0, 1), (2, 0), (0, 0)]),
        lambda x: x[1:, ::2],
    ],
)
def test_a_primitive_is_run_once_however_many_examples_there_are(function: Any) -> None:
    alone, few, many = (
        ops_of(tb.trace(traced)(f"f32[{shape}]"))
        for traced, shape in (
            (function, "2, 3, 1"),
            (tb.vmap(function), "2, 2, 3, 1"),
            (tb.vmap(function), "9, 2, 3, 1"),
        )
    )
    assert alone == few == many


def test_no_primitive_need_run_for_each_example() -> None:
    for callback in op_specs.CALLBACKS.values():
        if not callback.optional:
            assert runs_once(callback), f"give {callback.name} a rule in tensorbackend/expr/batching/"


@pytest.mark.parametrize("axes", [0, 1, 2, (0,), (0, 1), (1, 2), (0, 2), (2, 0), (-1, 0), None], ids=str)
@pytest.mark.parametrize(
    "function",
    [tb.softmax, tb.log_softmax, tb.logsumexp, tb.std, tb.var, tb.mean, tb.nanmean, tb.linalg.vector_norm, tb.median],
    ids=lambda function: function.__name__,
)
def test_a_composite_of_several_axes_runs_as_in_a_loop(function: Any, axes: Any) -> None:
    values = numpy.random.default_rng(3).normal(size=(4, 2, 3, 5))
    axes = (0, 1, 2) if axes is None and function in (tb.softmax, tb.log_softmax) else axes
    examples = [tb.asarray(example) for example in values]
    together = tb.vmap(lambda x: function(x, axis=axes))(tb.asarray(values))
    for example, found in zip(examples, together, strict=True):
        numpy.testing.assert_allclose(found, function(example, axis=axes), rtol=1e-12)
