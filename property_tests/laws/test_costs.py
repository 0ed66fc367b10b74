"""Dry runs of every op: each reports costs, and the parts of the memory add up, whatever the call."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorbackend.costs.dry_run import report
from tensorbackend.dtypes import ALL_DTYPES
from tensorbackend.errors import TensorBackendError
from tensorbackend.testing import Invocation, calls, names, profile


@pytest.mark.parametrize("name", names())
def test_the_costs_of_an_op(name: str) -> None:
    @profile(3)
    @given(st.one_of([calls(name, dtype) for dtype in ALL_DTYPES]))
    def add_up(call: Invocation) -> None:
        try:
            graph = call.on("numpy").graph()
        except TensorBackendError:  # what the op refuses, or what depends on data
            return
        costs = report(graph)
        for program in (costs.eager, costs.optimised):
            timeline = program.timeline
            assert min(program.flops, program.transcendentals, program.read, program.written) >= 0
            fixed = timeline.parameters + timeline.captured
            assert program.peak.memory >= fixed + timeline.results
            kinds = zip(*timeline.by_kind().values(), strict=True)
            assert [sum(sizes) for sizes in kinds] == list(timeline.memory)
            assert min(map(min, timeline.by_kind().values()), default=0) >= 0
        assert costs.optimised.flops <= costs.eager.flops
        if graph.parameters:
            inputs = sum(template.nbytes for template in graph.templates)
            assert costs.eager.timeline.parameters == inputs

    add_up()
