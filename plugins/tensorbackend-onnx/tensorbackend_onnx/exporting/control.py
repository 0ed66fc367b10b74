"""Branches and loops, as graphs inside nodes, which see the values around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorbackend as tb
from onnx import GraphProto
from tensorbackend.dtypes import bool_
from tensorbackend.expr.node import Node

from .shape import FIRST
from .writer import Name, Writer, writes

COUNT, FLAG = tb.Template((), tb.int64), tb.Template((), bool_)


def fresh(w: Writer, graph: Any, known: Sequence[Name]) -> list[tuple[Name, tb.Template]]:
    """Names for the parameters of a graph after those that are known."""
    number = next(w.shared.numbers)
    rest = graph.parameters[len(known) :]
    return [(f"in_{number}_{place}", parameter.template) for place, parameter in enumerate(rest)]


def inlined(w: Writer, graph: Any, names: Sequence[Name]) -> list[Name]:
    """Write the nodes of a graph whose parameters have these names."""
    return w.graph(graph.nodes, graph.outputs, dict(zip(graph.parameters, names, strict=True)))


def templates(graph: Any) -> list[tb.Template]:
    """The templates of a graph's outputs."""
    return [output.template for output in graph.outputs]


@writes("threefry2x32", "random_uniform", "random_normal", "host_call", "debug_callback", "shard_map", "collective")
def without_counterpart(w: Writer, node: Node, *inputs: Any) -> Any:
    """What a model cannot do: draw our random numbers, call Python, or talk to other devices."""
    raise w.refuse(node.op, "pass what it computes as an argument")


@writes("cond")
def cond(w: Writer, node: Node, predicate: Name, constants: Sequence[Name]) -> Any:

    def branch(graph: Any) -> GraphProto:
        inner = w.inside()
        outputs = inlined(inner, graph, constants)
        return inner.body([], list(zip(outputs, templates(graph), strict=True)))

    branches = {
        "then_branch": branch(node.options["true_branch"]),
        "else_branch": branch(node.options["false_branch"]),
    }
    return w.several("If", len(node.outs), predicate, **branches)


@writes("while_loop")
def while_loop(w: Writer, node: Node, constants: Sequence[Name], initial: Sequence[Name]) -> list[Name]:
    condition, body, limit = (node.options[name] for name in ("condition", "body", "limit"))
    (begins,) = inlined(w, condition, [*constants, *initial])
    inner = w.inside()
    carried = fresh(w, body, constants)
    results = inlined(inner, body, [*constants, *(name for name, _ in carried)])
    (goes_on,) = inlined(inner, condition, [*constants, *results])
    number = next(w.shared.numbers)
    inputs = [(f"step_{number}", COUNT), (f"flag_{number}", FLAG), *carried]
    graph = inner.body(inputs, [(goes_on, FLAG), *zip(results, templates(body), strict=True)])
    most = "" if limit is None else w.scalar(limit, tb.int64)
    return w.several("Loop", len(node.outs), most, begins, *initial, body=graph)


@writes("scan")
def scan(w: Writer, node: Node, constants: Sequence[Name], initial: Sequence[Name], xs: Sequence[Name]) -> list[Name]:
    body, reverse = (node.options[name] for name in ("body", "reverse"))
    if not xs:
        return _counted(w, node, constants, initial)
    inner = w.inside()
    given = fresh(w, body, constants)
    results = inlined(inner, body, [*constants, *(name for name, _ in given)])
    graph = inner.body(given, list(zip(results, templates(body), strict=True)))
    collected = len(results) - len(initial)
    directions = {}
    if reverse:
        directions["scan_input_directions"] = [1] * len(xs)
        if collected:
            directions["scan_output_directions"] = [1] * collected
    return w.several("Scan", len(node.outs), *initial, *xs, body=graph, num_scan_inputs=len(xs), **directions)


def _counted(w: Writer, node: Node, constants: Sequence[Name], initial: Sequence[Name]) -> list[Name]:
    """A loop of so many steps without entries."""
    body, length, reverse = (node.options[name] for name in ("body", "length", "reverse"))
    inner = w.inside()
    carried = fresh(w, body, constants)
    results = inlined(inner, body, [*constants, *(name for name, _ in carried)])
    number = next(w.shared.numbers)
    inputs = [(f"step_{number}", COUNT), (f"flag_{number}", FLAG), *carried]
    graph = inner.body(inputs, [(f"flag_{number}", FLAG), *zip(results, templates(body), strict=True)])
    count = w.op("Squeeze", w.ints([length]), w.ints([0]))  # type: ignore[list-item]
    names = w.several("Loop", len(node.outs), count, w.scalar(True, bool_), *initial, body=graph)
    if not reverse:
        return names
    bounds = [w.ints([number]) for number in (-1, FIRST, 0, -1)]
    backwards = [w.op("Slice", name, *bounds) for name in names[len(initial) :]]
    return [*names[: len(initial)], *backwards]
