"""Graphs and rewrites keep the meaning: each op, traced, rewritten and run, gives the result of the eager call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.backends.array_module import fusion
from tensorbackend.backends.array_module.fusion import fuse
from tensorbackend.backends.numpy_backend import NumpyBackend
from tensorbackend.declarations.op_specs import OPS
from tensorbackend.dtypes import ALL_DTYPES
from tensorbackend.errors import TemplateDataError, TensorBackendError
from tensorbackend.expr.evaluate import evaluate
from tensorbackend.expr.graph import Graph
from tensorbackend.expr.node import Node, Value
from tensorbackend.expr.simplify import (
    common_subexpressions,
    constant_folding,
    expanded,
    remove_names,
    results,
    rewritten,
)
from tensorbackend.protocol import own_method
from tensorbackend.testing import Invocation, calls, names, profile
from tensorbackend.testing.calls import READS_DATA
from tensorbackend.testing.source import public

NUMPY = NumpyBackend()


def with_override(node: Node) -> bool:
    return own_method(NUMPY, node.op) is not None


REWRITES: dict[str, Callable[[Graph], Graph]] = {
    "traced": lambda graph: graph,
    "results": lambda graph: results(graph, range(len(graph.outputs))),
    "common_subexpressions": common_subexpressions,
    "constant_folding": lambda graph: constant_folding(graph, NUMPY),
    "expanded": lambda graph: expanded(graph, with_override),
    "fused": lambda graph: fuse(remove_names(expanded(graph, with_override)), NUMPY),
}


def alike(actual: Sequence[tb.Tensor], reference: Sequence[tb.Tensor]) -> bool:
    """Return whether tensors have equal bits and equal templates, names included."""
    return [(x.template, x.to_binary()) for x in actual] == [(x.template, x.to_binary()) for x in reference]


def check_agreement(call: Invocation, rewrite: Callable[[Graph], Graph]) -> None:
    """Check that a call has the same result or error eagerly and as a rewritten graph."""
    call = call.on(NUMPY)
    try:
        result = call.run()
        reference = [result] if isinstance(result, tb.Tensor) else list(result)
    except TensorBackendError as error:
        expected = (type(error), TemplateDataError) if call.name in READS_DATA else type(error)
        with pytest.raises(expected):
            evaluate(rewrite(call.graph()), call.tensors, NUMPY)
        return
    try:
        graph = call.graph()
    except TemplateDataError:
        assert call.name in READS_DATA
        return
    actual = evaluate(rewrite(graph), call.tensors, NUMPY)
    assert alike(actual, reference), f"{call!r} gives {actual!r}, not {reference!r}, as\n{graph}"


@pytest.mark.parametrize("name", names())
def test_a_graph_of_an_op_gives_what_the_op_gives(name: str) -> None:
    @profile(6)
    @given(st.one_of([calls(name, dtype) for dtype in ALL_DTYPES]), st.sampled_from(sorted(REWRITES)))
    def agrees(call: Invocation, rewrite: str) -> None:
        check_agreement(call, REWRITES[rewrite])

    agrees()


def test_a_wrong_rewrite_is_caught() -> None:
    def first_operand(node: Node) -> tuple[Value, ...]:
        return (node.operands[0],) if node.op == "subtract" else node.values

    call = Invocation("subtract", (tb.asarray([1.0, 2.0]), tb.asarray([1.0, 1.0])), {})
    check_agreement(call, REWRITES["traced"])
    with pytest.raises(AssertionError, match="subtract"):
        check_agreement(call, lambda graph: rewritten(graph, first_operand))


BROADCASTS = [(6, 5), (5,), (1, 5), (6, 1), (), (1, 1)]
CHAIN = [
    "add",
    "multiply",
    "subtract",
    "maximum",
    "where",
    "exp",
    "tanh",
    "negative",
    "positive",
    "remainder",
    "floor",
    "sigmoid",
    "abs",
]


@given(st.data())
@profile(150)
def test_a_chain_gives_what_its_ops_give(data: st.DataObject) -> None:
    """Random chains of elementwise ops, with operands that broadcast, cut into blocks of few elements."""
    dtype = data.draw(st.sampled_from(["f32", "f64", "bf16", "s32", "c64"]))
    operands = [tb.astype(tb.full(shape, 0.5) + tb.iota(shape, dtype="f32"), dtype) for shape in BROADCASTS]
    picks = data.draw(st.lists(st.tuples(st.sampled_from(CHAIN), st.integers(0, 99), st.integers(0, 99)), min_size=2))

    def function(*tensors: tb.Tensor) -> tb.Tensor:
        known = [*tensors, tb.asarray(2, dtype=dtype)]
        for name, first, second in picks:
            x, y = known[first % len(known)], known[second % len(known)]
            try:
                known.append(tb.where(x == y, -x, y) if name == "where" else public(name)(*(x, y)[: arity(name)]))
            except TensorBackendError:  # the op does not take the dtype
                continue
        total = known[-1]
        for x in known[len(operands) :: 3]:  # the other values are used no more, so their memory can be reused
            total = total + x
        return total

    reference = function(*operands)
    graph = tb.trace(function)(*operands)
    with patch.object(fusion, "BLOCK", data.draw(st.sampled_from([4, 1 << 16]))):
        (payload,) = NUMPY.compile_graph(graph)(*[x.data for x in operands])
    assert alike([tb.Tensor(graph.results[0], NUMPY, payload)], [reference]), graph


def arity(name: str) -> int:
    """Return the number of tensors that an op takes."""
    return sum(parameter.role == "tensor" for parameter in OPS[name].parameters)
