"""Graphs as text, as Graphviz source and as Mermaid source."""

from __future__ import annotations

from collections.abc import Iterator

from .graph import Graph
from .node import CAPTURED, PARAMETER, Node, Value


def as_text(graph: Graph) -> str:
    """One line for each node, in columns: number, op, template, inputs, options and the user's line. A node's subgraphs
    are shown below it."""
    return "\n".join(_lines(graph, "graph"))


def _lines(graph: Graph, title: str) -> list[str]:
    numbers = _numbers(graph)
    nodes = graph.nodes[len(graph.parameters) :]
    rows = [
        (
            f"%{numbers[node]} {node.op}",
            _templates(node),
            " ".join(_name(value, numbers) for value in node.operands),
            " ".join(_options(node)),
            str(node.line or ""),
        )
        for node in nodes
    ]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(4)]
    names = ", ".join(f"{name}: {value.template!r}" for name, value in zip(graph.names, graph.parameters, strict=True))
    lines = [f"{title}({names}) -> {', '.join(map(repr, graph.results))}"]
    for node, row in zip(nodes, rows, strict=True):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=False))
        lines.append("  " + "  ".join([*cells, row[4]]).rstrip())
        for name, option in node.options.items():
            if isinstance(option, Graph):
                lines += [f"      {line}" for line in _lines(option, name)]
    returned = " ".join(_name(value, numbers) for value in graph.outputs)
    return [*lines, f"  return {returned}"]


def to_dot(graph: Graph) -> str:
    """The graph as Graphviz source."""
    numbers = _numbers(graph)
    lines = ["digraph {", '  node [shape=box fontname="monospace"]']
    for node in graph.nodes:
        shape = " shape=ellipse" if node.op in (PARAMETER, CAPTURED) else ""
        lines.append(f'  n{numbers[node]} [label="{_label(graph, node)}"{shape}]')
    lines += [f"  n{source} -> n{target}" for source, target in _edges(graph, numbers)]
    return "\n".join([*lines, "}"])


def to_mermaid(graph: Graph) -> str:
    """The graph as Mermaid source."""
    numbers = _numbers(graph)
    lines = ["flowchart TD"]
    for node in graph.nodes:
        left, right = ("([", "])") if node.op in (PARAMETER, CAPTURED) else ("[", "]")
        label = _label(graph, node).replace("[", "#91;").replace("]", "#93;").replace("\\n", "<br>")
        lines.append(f'  n{numbers[node]}{left}"{label}"{right}')
    return "\n".join([*lines, *(f"  n{source} --> n{target}" for source, target in _edges(graph, numbers))])


def _numbers(graph: Graph) -> dict[Node, int]:
    return {node: number for number, node in enumerate(graph.nodes)}


def _edges(graph: Graph, numbers: dict[Node, int]) -> Iterator[tuple[int, int]]:
    for node in graph.nodes:
        for value in node.operands:
            yield numbers[value.node], numbers[node]


def _name(value: Value, numbers: dict[Node, int]) -> str:
    part = f".{value.index}" if len(value.node.outs) > 1 else ""
    return f"%{numbers[value.node]}{part}"


def _templates(node: Node) -> str:
    return ", ".join(map(repr, node.outs))


def _options(node: Node) -> Iterator[str]:
    for name, value in node.options.items():
        if isinstance(value, Graph):  # below the node
            continue
        yield f"{name}={getattr(value, '__name__', None) or repr(value)}"


def _label(graph: Graph, node: Node) -> str:
    name = node.op
    if node.op == PARAMETER:
        name = graph.names[[value.node for value in graph.parameters].index(node)]
    return f"{name}\\n{_templates(node)}".replace('"', "'")
