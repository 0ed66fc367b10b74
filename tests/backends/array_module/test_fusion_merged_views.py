"""Indexing by ints in programs on NumPy: one key each, with the values and the errors of single ops."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.backends.array_module.fusion import merge_views

X = tb.asarray(numpy.arange(12.0).reshape(3, 4))


def _write(x: Any, key: Any, value: Any) -> Any:
    y = x + 0
    y[key] = value
    return y


PROGRAMS = [
    (lambda x: x[1:, 2], "slice"),
    (lambda x: x[1, 2] * 2, "slice"),
    (lambda x: x[-1, ::2], "slice"),
    (lambda x: _write(x, (1, 2), x[0, 0] + 1), "put_slice"),
    (lambda x: _write(x, (slice(None), 1), x[:, 2]), "put_slice"),
    (lambda x: _write(x, (2, slice(1, 3)), x[0, :2]), "put_slice"),
]


@pytest.mark.parametrize(("program", "op"), PROGRAMS)
def test_a_key_with_ints_is_one_node(program: Any, op: str) -> None:
    graph = tb.trace(program)(X.template)
    merged = merge_views(graph, X.backend)  # type: ignore[arg-type] # NumPy's backend
    assert len(merged.nodes) < len(graph.nodes)
    assert any(op in str(node.options.get("ops")) for node in merged.nodes)
    assert numpy.asarray(tb.jit(program)(X)).tolist() == numpy.asarray(program(X)).tolist()


def test_a_slice_that_is_needed_elsewhere_stays() -> None:
    def program(x: Any) -> Any:
        part = x[1:2]
        return part, tb.squeeze(part, axis=0)

    graph = tb.trace(program)(X.template)
    assert len(merge_views(graph, X.backend).nodes) == len(graph.nodes)  # type: ignore[arg-type]


def test_writes_in_a_program_leave_what_the_caller_holds() -> None:
    def program(x: Any) -> Any:
        x[1, 2] = 5.0
        x[0] = x[1]
        return x

    before = X.tolist()
    result = tb.jit(program)(X)
    assert X.tolist() == before
    assert result.tolist()[0] == [4.0, 5.0, 5.0, 7.0]
