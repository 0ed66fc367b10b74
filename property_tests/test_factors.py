"""The factors that each op declares for its axes hold for data: results on halves of operands combine to the whole."""

from __future__ import annotations

from typing import Any
from zlib import crc32

import numpy
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.costs.mesh.factors import Factors, factors_of
from tensorbackend.costs.mesh.walk import flat
from tensorbackend.declarations.op_specs import OPS, REACHES
from tensorbackend.dtypes import as_dtype
from tensorbackend.errors import TensorBackendError
from tensorbackend.expr.evaluate import evaluate
from tensorbackend.expr.graph import Graph, subgraphs
from tensorbackend.expr.node import PARAMETER, Node, Value
from tensorbackend.template import Template
from tensorbackend.testing import calls, profile

EXAMPLES = 6
"""Calls of an op."""

NAMES = [
    name
    for name, spec in OPS.items()
    if spec.callback in REACHES and REACHES[spec.callback] != "each" and spec.function.__module__.startswith("tensorb")
]
"""Ops whose factors are more than those of an elementwise op."""

ADDS = {"sum", "dot", "conv"}
"""Callbacks whose partial results are added along a summed factor; other ops combine partial results differently."""


def run(node: Node, operands: list[Any], outs: tuple[Template, ...]) -> list[Any]:
    """Run a node's op on operands, as a device runs it on its parts."""
    tensors = [tb.asarray(operand, backend="numpy") for operand in operands]
    values = [Value(Node(PARAMETER, x.template)) for x in tensors]
    rest = iter(values)
    out = outs[0] if isinstance(node.out, Template) else outs
    rebuilt = Node(node.op, out, node.map_inputs(lambda value: next(rest)), node.options, default=node.default)
    return [numpy.asarray(x) for x in evaluate(Graph(values, rebuilt.values), tensors)]


def half(out: Template, places: Any, factor: int) -> Template:
    """Return a template whose axis with the given factor has half its size."""
    return out.replace(
        shape=tuple([n // 2 if axis_factor == factor else n for n, axis_factor in zip(out.shape, places, strict=True)])
    )


def sizes(node: Node, factors: Factors, factor: int) -> set[int]:
    """Return the sizes of the axes with the given factor, among operands and results."""
    templates = [*[value.template for value in node.operands], *node.outs]
    pairs = zip(templates, (*factors.inputs, *factors.outputs), strict=True)
    return {
        size for x, places in pairs for size, axis_factor in zip(x.shape, places, strict=True) if axis_factor == factor
    }


def indexed(node: Node, factors: Factors) -> set[Any]:
    """Return the factors of the axes that the node indexes."""
    if REACHES[node.op] not in ("read", "written", "put"):
        return set()
    axis, depth = node.options.get("axis"), node.operands[1].template.shape[-1:]
    return {factors.inputs[0][axis]} if isinstance(axis, int) else {*factors.inputs[0][: depth[0]]}


def check(node: Node, operands: list[Any]) -> int:
    """Compare results on halves with the whole result, and return how many factors could be halved."""
    factors, tried = factors_of(node), 0
    assert [len(places) for places in factors.inputs] == [value.template.ndim for value in node.operands]
    assert [len(places) for places in factors.outputs] == [out.ndim for out in node.outs]
    whole = run(node, operands, node.outs)
    for factor in {axis_factor for places in factors.inputs for axis_factor in places if axis_factor is not None}:
        there, summed = sizes(node, factors, factor), factor in factors.summed
        assert len(there) == 1 or REACHES[node.op] == "reshaped"
        if any(size % 2 or not size for size in there) or (summed and node.op not in ADDS):
            continue
        if not summed and not all(factor in places for places in factors.outputs):
            assert REACHES[node.op] in ("read", "written")
            continue
        if factor in indexed(node, factors):
            continue  # each index goes to the device that holds the entry
        parts = [
            run(
                node,
                [
                    numpy.split(x, 2, places.index(factor))[part] if factor in places else x
                    for x, places in zip(operands, factors.inputs, strict=True)
                ],
                tuple([half(out, places, factor) for out, places in zip(node.outs, factors.outputs, strict=True)]),
            )
            for part in (0, 1)
        ]
        for one, two, all_of_it, places in zip(*parts, whole, factors.outputs, strict=True):
            combined = one + two if summed else numpy.concatenate([one, two], places.index(factor))
            numpy.testing.assert_allclose(combined, all_of_it, rtol=1e-3, atol=1e-3)
        tried += 1
    return tried


@pytest.mark.parametrize("name", NAMES)
def test_parts_give_what_the_factors_of_an_op_say(name: str) -> None:
    dtype = as_dtype("complex128" if OPS[name].family == "fourier" else "float64")

    @seed(crc32(name.encode()))
    @settings(profile(EXAMPLES))
    @given(st.data())
    def run_examples(data: Any) -> None:
        call = data.draw(calls(name, dtype)).on("numpy")
        try:
            with numpy.errstate(all="ignore"):
                call.run()
                graph = flat(call.graph())
        except TensorBackendError:
            return  # what the data say is not a valid call
        if any(subgraphs(node) for node in graph.nodes):
            return
        kept = [node for node in graph.nodes if node.op in REACHES and REACHES[node.op] != "each" and node.inputs]
        values = list(dict.fromkeys(value for node in kept for value in node.operands))
        results = evaluate(Graph(graph.parameters, values), call.tensors) if values else []
        known = {value: numpy.asarray(x) for value, x in zip(values, results, strict=True)}
        for node in kept:
            operands = [known[value] for value in node.operands]
            if all(numpy.isfinite(x).all() and (abs(x) < 1e4).all() for x in operands if x.dtype.kind in "fc"):
                check(node, operands)

    run_examples()
