"""What is compared has its tensors as parameters."""

from __future__ import annotations

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError
from tensorbackend.expr.comparing.walk import trace_for


def test_tensors_of_nested_arguments_come_in_order() -> None:
    graph, tensors, name = trace_for(
        lambda w, scale, x: w["b"] * x * scale, [{"b": tb.ones(2)}, 3.0], {"x": tb.zeros(2)}, gradient=False, lift=False
    )
    assert ([x.tolist() for x in tensors], len(graph.parameters), name) == ([[1.0, 1.0], [0.0, 0.0]], 2, "<lambda>")


def test_a_graph_is_taken_as_it_is_and_its_tensors_are_lifted_to_be_compiled() -> None:
    x = tb.ones(2)
    held = tb.trace(lambda: tb.exp(x))()
    assert [len(trace_for(held, [], {}, gradient=False, lift=lift)[1]) for lift in (False, True)] == [0, 1]


def test_templates_are_no_data() -> None:
    with pytest.raises(ArgumentError, match="tensors with data"):
        tb.compare(tb.exp, "f32[3]")


def test_arrays_are_arguments() -> None:
    x = numpy.arange(3.0, dtype="f4")
    found = tb.compare(lambda p, x: tb.sum(p["a"] * x) * p["b"], {"a": x, "b": 2.0}, x, backends=("numpy", "binary"))
    assert "agree" in str(found)
