"""The graph of each op comes back from a file as it was, and computes the same bits; or no file can hold it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, TensorBackendError
from tensorbackend.expr.trees import flatten
from tensorbackend.testing import Invocation, assert_equal, calls, names, profile

CALL_PYTHON = {"map", "reduce", "window_reduce"}
"""Ops that call a function of the user's, which no file can hold."""


@pytest.mark.parametrize("name", sorted({*names()} - CALL_PYTHON))
def test_the_graph_of_an_op_comes_back(name: str, tmp_path: Path) -> None:
    path = tmp_path / "graph.safetensors"

    @profile(2)
    @given(calls(name, tb.float32) | calls(name, tb.complex128))
    def comes_back(call: Invocation) -> None:
        try:
            graph = call.graph()
            results = flatten(graph(*call.tensors))[0]
        except TensorBackendError:  # a call with a mistake, or one that reads data
            return
        tb.save_graph(path, graph)
        program = tb.load_graph(path)
        assert program.results == graph.results
        for one, other in zip(flatten(program(*call.tensors))[0], results, strict=True):
            assert_equal(one, other, ulps=0)

    comes_back()


@pytest.mark.parametrize("name", sorted(CALL_PYTHON))
def test_an_op_that_calls_python_is_refused(name: str, tmp_path: Path) -> None:
    refused = 0

    @profile(20)
    @given(calls(name, tb.float32))
    def refuses(call: Invocation) -> None:
        nonlocal refused
        try:
            graph = call.graph()
        except TensorBackendError:
            return
        if any(node.op == ("reduce" if name == "reduce" else name) for node in graph.nodes):
            with pytest.raises(ArgumentError, match="options that a file can hold"):
                tb.save_graph(tmp_path / "graph.safetensors", graph)
            refused += 1

    refuses()
    assert refused
