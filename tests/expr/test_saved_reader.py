"""Graphs from JSON that is written by hand."""

from __future__ import annotations

from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.expr.saved_reader import Reader
from tensorbackend.files.source import FileDefect

VECTOR = {"shape": [2], "dtype": "float32", "names": [None]}


def written() -> dict[str, Any]:
    """The program of x * x as a file has it."""
    return {
        "nodes": [
            {"op": "parameter", "out": dict(VECTOR)},
            {"op": "multiply", "out": dict(VECTOR), "in": [[0, 0], [0, 0]], "options": {}, "line": ["a.py", 3, "f"]},
        ],
        "names": ["x"],
        "outputs": [[1, 0]],
        "tree": {"kind": "named Result", "keys": ["square"], "children": ["leaf"]},
        "call": None,
    }


def test_a_graph_is_read() -> None:
    graph = Reader({}).graph(written())
    assert graph(tb.asarray([2.0, 3.0])).square.tolist() == [4.0, 9.0]
    assert str(graph.nodes[1].line) == "a.py:3"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("nodes", 1, "in"), [[0, 0], [1, 0]]),  # of itself
        (("nodes", 1, "in"), [[0, 0], [0, 1]]),
        (("nodes", 0, "op"), "captured"),
        (("outputs",), [[0, 0], [1, 0]]),
        (("names",), ["x", "y"]),
        (("nodes", 1, "options"), {"x": {"code": "print()"}}),
    ],
)
def test_false_graphs_are_refused(path: tuple[Any, ...], value: Any) -> None:
    document = written()
    at: Any = document
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    with pytest.raises((FileDefect, KeyError, TypeError)):  # `load_graph` makes each a `FileError`
        Reader({}).graph(document)


def test_graphs_are_not_nested_without_an_end() -> None:
    document = written()
    for _ in range(70):
        document = {
            **written(),
            "nodes": [*written()["nodes"][:1], {**written()["nodes"][1], "options": {"g": {"graph": document}}}],
        }
    with pytest.raises(FileDefect, match="an intact file"):
        Reader({}).graph(document)
