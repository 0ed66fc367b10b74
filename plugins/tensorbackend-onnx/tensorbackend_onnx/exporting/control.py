"""Branches and loops, as graphs inside nodes, which see the values around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorbackend as tb
from onnx import GraphProto
from tensorbackend.dtypes import bool_
from tensorbackend.expr.node import Node

from .shape import FIRST
from .writer import Name, Typed, Writer, option, writes

BRANCHES = (("then", "true"), ("else", "false"))
COUNT, FLAG = tb.Template((), tb.int64), tb.Template((), bool_)


def inlined(w: Writer, graph: Any, names: Sequence[Name]) -> list[Name]:
    """Write the nodes of a graph whose parameters have these names."""
    return w.graph(graph.nodes, graph.outputs, dict(zip(graph.parameters, names, strict=True)))


def typed(names: Sequence[Name], values: Sequence[Any]) -> list[Typed]:
    """Names with the templates of the values that have them."""
    return [(name, value.template) for name, value in zip(names, values, strict=True)]


def body(w: Writer, graph: Any, constants: Sequence[Name]) -> tuple[list[Typed], list[Name]]:
    """Write the body of a loop; returns its parameters after the constants, and the names of its results."""
    number = next(w.shared.numbers)
    rest = graph.parameters[len(constants) :]
    given = [f"in_{number}_{place}" for place in range(len(rest))]
    return typed(given, rest), inlined(w, graph, [*constants, *given])


def counting(w: Writer, carried: Sequence[Typed], results: Sequence[Typed], goes_on: Name) -> GraphProto:
    """The graph of a node `Loop`, which also gets the number of the step, and whether it goes on: by default yes."""
    number = next(w.shared.numbers)
    inputs = [(f"step_{number}", COUNT), (f"flag_{number}", FLAG), *carried]
    return w.body(inputs, [(goes_on or f"flag_{number}", FLAG), *results])


@writes("threefry2x32", "random_uniform", "random_normal", "host_call", "debug_callback", "shard_map", "collective")
def without_counterpart(w: Writer, node: Node, *inputs: Any) -> Any:
    """What a model cannot do: draw our random numbers, call Python, or talk to other devices."""
    raise w.refuse(node.op, "pass what it computes as an argument")


@writes("cond", pairs=True)
def cond(w: Writer, node: Node, predicate: Name, constants: Sequence[Name]) -> Any:

    def branch(graph: Any) -> GraphProto:
        inner = w.inside()
        return inner.body([], typed(inlined(inner, graph, constants), graph.outputs))

    branches = {f"{word}_branch": branch(node.options[f"{flag}_branch"]) for word, flag in BRANCHES}
    return w.several("If", len(node.outs), predicate, **branches)


@writes("while_loop", pairs=True)
def while_loop(w: Writer, node: Node, constants: Sequence[Name], initial: Sequence[Name]) -> list[Name]:
    condition, step, limit = (option(node, name) for name in ("condition", "body", "limit"))
    (begins,) = inlined(w, condition, [*constants, *initial])
    inner = w.inside()
    carried, results = body(inner, step, constants)
    (goes_on,) = inlined(inner, condition, [*constants, *results])
    graph = counting(inner, carried, typed(results, step.outputs), goes_on)
    most = "" if limit is None else w.scalar(limit, tb.int64)
    return w.several("Loop", len(node.outs), most, begins, *initial, body=graph)


@writes("scan", pairs=True)
def scan(w: Writer, node: Node, constants: Sequence[Name], initial: Sequence[Name], xs: Sequence[Name]) -> list[Name]:
    step, reverse, inner = option(node, "body"), option(node, "reverse"), w.inside()
    given, results = body(inner, step, constants)
    collected = len(results) - len(initial)
    if xs:
        graph = inner.body(given, typed(results, step.outputs))
        directions = {"scan_input_directions": [1] * len(xs)} if reverse else {}
        if reverse and collected:
            directions["scan_output_directions"] = [1] * collected
        return w.several("Scan", len(node.outs), *initial, *xs, body=graph, num_scan_inputs=len(xs), **directions)
    graph = counting(inner, given, typed(results, step.outputs), "")
    count = w.op("Squeeze", w.ints([option(node, "length")]), w.ints([0]))
    names = w.several("Loop", len(node.outs), count, w.scalar(True, bool_), *initial, body=graph)
    if not reverse:
        return names
    bounds = [w.ints([number]) for number in (-1, FIRST, 0, -1)]
    backwards = [w.op("Slice", name, *bounds) for name in names[len(initial) :]]
    return [*names[: len(initial)], *backwards]
