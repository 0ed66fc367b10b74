"""Dry runs of every op: the costs can be told, and memory adds up, whatever the call."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import ALL_DTYPES
from tensorbackend.errors import TensorBackendError
from tensorbackend.expr.cost.dry_run import report
from tensorbackend.expr.graph import Graph
from tensorbackend.expr.trace import trace_leaves
from tensorbackend.testing import Invocation, calls, names, profile


def traced(call: Invocation) -> Graph:
    """The graph of a call, with a parameter for each of its tensors."""

    def function(tensors: list[tb.Tensor]) -> object:
        rest = iter(tensors)
        return call.mapped(lambda x: next(rest)).run()

    found = call.tensors
    return trace_leaves(function, found, [f"x{number}" for number in range(len(found))])


@pytest.mark.parametrize("name", names())
def test_the_costs_of_an_op(name: str) -> None:
    @profile(8)
    @given(st.one_of([calls(name, dtype) for dtype in ALL_DTYPES]))
    def add_up(call: Invocation) -> None:
        try:
            graph = traced(call.on("numpy"))
        except TensorBackendError:  # what the op refuses, or what depends on data
            return
        found = report(graph)
        for program in (found.eager, found.optimised):
            timeline = program.timeline
            assert min(program.flops, program.transcendentals, program.read, program.written) >= 0
            fixed = timeline.parameters + timeline.captured
            assert program.peak.memory >= fixed + timeline.results
            kinds = zip(*timeline.by_kind().values(), strict=True)
            assert [sum(each) for each in kinds] == list(timeline.memory)
            assert min(map(min, timeline.by_kind().values()), default=0) >= 0
        assert found.optimised.flops <= found.eager.flops
        if graph.parameters:
            inputs = sum(template.nbytes for template in graph.templates)
            assert found.eager.timeline.parameters == inputs

    add_up()
