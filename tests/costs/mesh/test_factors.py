"""Factors, the axes that operands and results have in common: every op has them, and they hold for data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.testing  # declares the ops of all namespaces
from tensorbackend.costs.mesh.factors import _KINDS, Factors, factors_of
from tensorbackend.declarations.op_specs import CALLBACKS, OPS, REACHES
from tensorbackend.errors import UnsupportedOp
from tensorbackend.expr.evaluate import evaluate
from tensorbackend.expr.graph import Graph
from tensorbackend.expr.node import PARAMETER, Node, Value
from tensorbackend.protocol.callbacks import Reach
from tensorbackend.template import Template


def test_every_primitive_of_tensors_has_a_reach() -> None:
    missing = [
        name
        for name, callback in CALLBACKS.items()
        if not callback.optional and callback.inputs and name not in REACHES
    ]
    assert not missing, f"state the reach of {missing} with the callback: @callback(reach=...)"


def test_every_reach_is_understood() -> None:
    assert set(get_args(Reach)) == set(_KINDS) == set(REACHES.values())


def test_a_composite_with_a_reach_stays_whole() -> None:
    assert [spec.name for spec in OPS.values() if spec.reach is not None] == ["add_along_axis"]


def test_an_op_without_a_reach_is_unsupported() -> None:
    x = Value(Node(PARAMETER, Template((2,), "f32")))
    with pytest.raises(UnsupportedOp, match="expected an op whose reach is known, got op='mine'; declare it"):
        factors_of(Node("mine", Template((2,), "f32"), (x,)))


def node_of(function: Callable[..., Any], *templates: Any) -> Node:
    """Return the last node of a function's graph."""
    return tb.trace(function)(*templates).nodes[-1]


@pytest.mark.parametrize(
    ("function", "templates", "factors"),
    [
        (tb.add, ("f32[3, 4]", "f32[4]"), Factors(((0, 1), (1,)), ((0, 1),))),
        (tb.add, ("f32[3, 4]", "f32[3, 1]"), Factors(((0, 1), (0, None)), ((0, 1),))),
        (lambda x: tb.sum(x, axis=1), ("f32[3, 4]",), Factors(((0, 1),), ((0,),), frozenset({1}))),
        (lambda x: tb.max(x, axis=0, keepdims=True), ("f32[3, 4]",), Factors(((0, 1),), ((None, 1),), frozenset({0}))),
        (lambda x: tb.argmax(x, axis=1), ("f32[3, 4]",), Factors(((0, None),), ((0,),))),
        (tb.argmax, ("f32[3, 4]",), Factors(((None, None),), ((),))),
        (lambda x: tb.sort(x, axis=0), ("f32[3, 4]",), Factors(((None, 1),), ((None, 1),))),
        (lambda x: tb.permute_dims(x, (2, 0, 1)), ("f32[2, 3, 4]",), Factors(((0, 1, 2),), ((2, 0, 1),))),
        (lambda x: tb.broadcast_to(x, (5, 3, 4)), ("f32[3, 1]",), Factors(((1, None),), ((0, 1, 2),))),
        (lambda x: tb.reshape(x, (12, 5)), ("f32[3, 4, 5]",), Factors(((0, None, 1),), ((0, 1),))),
        (lambda x: tb.reshape(x, (3, 4, 5)), ("f32[12, 5]",), Factors(((0, 1),), ((0, None, 1),))),
        (lambda x: tb.expand_dims(x, axis=1), ("f32[3, 4]",), Factors(((0, 1),), ((0, None, 1),))),
        (lambda x: tb.squeeze(x, axis=1), ("f32[3, 1, 4]",), Factors(((0, None, 1),), ((0, 1),))),
        (lambda x: tb.reshape(x, (4, 6)), ("f32[6, 4]",), Factors(((0, None),), ((0, None),))),
        (lambda x: x[1:], ("f32[3, 4]",), Factors(((None, 1),), ((None, 1),))),
        (lambda x: tb.flip(x, axis=0), ("f32[3, 4]",), Factors(((None, 1),), ((None, 1),))),
        (lambda x, y: tb.concatenate([x, y]), ("f32[3, 4]", "f32[2, 4]"), Factors(((None, 1),) * 2, ((None, 1),))),
        (
            lambda x, y: tb.dot(x, y, contract=((2,), (1,)), batch=((0,), (0,))),
            ("f32[2, 3, 4]", "f32[2, 4, 5]"),
            Factors(((0, 1, 2), (0, 2, 3)), ((0, 1, 3),), frozenset({2})),
        ),
        (
            lambda x, i: tb.take(x, i, axis=0),
            ("f32[3, 4]", "s64[5, 6]"),
            Factors(((0, 1), (2, 3)), ((2, 3, 1),), frozenset({0})),
        ),
        (
            lambda x, i: tb.gather(x, i),
            ("f32[3, 4]", "s64[5, 1]"),
            Factors(((0, 1), (2, None)), ((2, 1),), frozenset({0})),
        ),
        (
            lambda x, i, u: tb.indexed_add(x, i, u),
            ("f32[3, 4]", "s64[5, 1]", "f32[5, 4]"),
            Factors(((0, 1), (2, None), (2, 1)), ((0, 1),), frozenset({2})),
        ),
        (
            lambda x, i, u: tb.indexed_put(x, i, u),
            ("f32[3, 4]", "s64[5, 1]", "f32[5, 4]"),
            Factors(((0, 1), (None, None), (None, 1)), ((0, 1),)),
        ),
        (lambda x: tb.window_sum(x, (1, 2)), ("f32[3, 4]",), Factors(((0, None),), ((0, None),))),
        (
            lambda x, k: tb.conv(x, k),
            ("f32[2, 3, 8]", "f32[5, 3, 2]"),
            Factors(((0, 1, None), (3, 1, None)), ((0, 3, None),), frozenset({1})),
        ),
        (
            lambda x: tb.linalg.eigh(x)[0],
            ("f32[2, 3, 3]",),
            Factors(((0, None, None),), ((0, None), (0, None, None))),
        ),
    ],
)  # fmt: skip
def test_factors(function: Any, templates: tuple[str, ...], factors: Factors) -> None:
    assert factors_of(node_of(function, *templates)) == factors


CALLS: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]] = {
    "add": (tb.add, ((4, 6), (6,))),
    "sum": (lambda x: tb.sum(x, axis=1), ((4, 6),)),
    "max": (lambda x: tb.max(x, axis=0, keepdims=True), ((4, 6),)),
    "argmax": (lambda x: tb.argmax(x, axis=1), ((4, 6),)),
    "sort": (lambda x: tb.sort(x, axis=0), ((4, 6),)),
    "fft": (lambda x: tb.fft.fft(tb.astype(x, "c64"), axis=1), ((4, 6),)),
    "transpose": (lambda x: tb.permute_dims(x, (2, 0, 1)), ((2, 4, 6),)),
    "broadcast": (lambda x: tb.broadcast_to(x, (6, 4, 2)), ((4, 1),)),
    "reshape": (lambda x: tb.reshape(x, (24, 2)), ((4, 6, 2),)),
    "reshape apart": (lambda x: tb.reshape(x, (4, 6, 2)), ((24, 2),)),
    "slice": (lambda x: x[1:], ((4, 6),)),
    "pad": (lambda x: tb.pad(x, ((1, 0), (0, 0))), ((4, 6),)),
    "flip": (lambda x: tb.flip(x, axis=0), ((4, 6),)),
    "concatenate": (lambda x, y: tb.concatenate([x, y]), ((4, 6), (2, 6))),
    "dot": (lambda x, y: tb.dot(x, y, contract=((2,), (1,)), batch=((0,), (0,))), ((2, 4, 6), (2, 6, 8))),
    "window": (lambda x: tb.window_sum(x, (1, 2)), ((4, 6),)),
    "conv": (lambda x, k: tb.conv(x, k), ((2, 4, 8), (6, 4, 2))),
    "matrix": (lambda x: tb.linalg.qr(x)[1], ((4, 3, 2),)),
}
"""Calls on random numbers. The last node of each is under test; the axes that are divided have even sizes."""


@pytest.mark.parametrize("name", CALLS)
def test_halves_of_a_factor_give_halves_or_parts_of_the_result(name: str) -> None:
    function, shapes = CALLS[name]
    rng = numpy.random.default_rng(0)
    graph = tb.trace(function)(*[Template(shape, "f32") for shape in shapes])
    node = graph.outputs[0].node
    # Compute the operands of the last node, which is the one under test.
    arrays = [rng.normal(size=shape).astype(numpy.float32) for shape in shapes]
    before = Graph(graph.parameters, node.operands)
    operands = [numpy.asarray(x) for x in evaluate(before, [tb.asarray(array, backend="numpy") for array in arrays])]
    factors = factors_of(node)
    whole = run(node, operands, node.outs)[0]
    tried = 0
    for factor in {factor for places in (*factors.inputs, *factors.outputs) for factor in places if factor is not None}:
        if not any(factor in places for places in factors.inputs):
            continue
        halves = [run(node, *half(node, factors, operands, factor, part))[0] for part in (0, 1)]
        if factor in factors.summed:
            combined = numpy.maximum(*halves) if node.op == "reduce_max" else sum(halves)
        else:
            combined = numpy.concatenate(halves, factors.outputs[0].index(factor))
        numpy.testing.assert_allclose(combined, whole, rtol=1e-5, atol=1e-5)
        tried += 1
    assert tried


def half(
    node: Node, factors: Factors, operands: list[Any], factor: int, part: int
) -> tuple[list[Any], tuple[Template, ...]]:
    """Return the first or second half of the operands along a factor, and the templates of the results."""
    half_operands = [
        numpy.split(x, 2, places.index(factor))[part] if factor in places else x
        for x, places in zip(operands, factors.inputs, strict=True)
    ]
    outs = [
        out.replace(
            shape=tuple(
                [n // 2 if axis_factor == factor else n for n, axis_factor in zip(out.shape, places, strict=True)]
            )
        )
        for out, places in zip(node.outs, factors.outputs, strict=True)
    ]
    return half_operands, tuple(outs)


def run(node: Node, operands: list[Any], outs: tuple[Template, ...]) -> list[Any]:
    """Run the op of a node on other operands, as a device does."""
    tensors = [tb.asarray(operand, backend="numpy") for operand in operands]
    values = [Value(Node(PARAMETER, x.template)) for x in tensors]
    rest = iter(values)
    out = outs[0] if isinstance(node.out, Template) else outs
    device_node = Node(node.op, out, node.map_inputs(lambda value: next(rest)), node.options)
    return [numpy.asarray(x) for x in evaluate(Graph(values, [Value(device_node)]), tensors)]
