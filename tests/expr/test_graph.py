"""Traces and graphs: what they record, capture and share, how they are shown, and their errors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.costs.dry_run import user_line
from tensorbackend.errors import (
    ArgumentError,
    AxisError,
    DataError,
    NamesError,
    OperandError,
    ShapeError,
    TemplateDataError,
)
from tensorbackend.expr.graph import subgraphs
from tensorbackend.expr.node import Line, spec_of_default
from tensorbackend.expr.simplify import common_subexpressions, constant_folding, expanded, simplified
from tensorbackend.expr.trees import flatten, tree_map, unflatten

X = tb.asarray([[1.0, 2.0], [3.0, 4.0]], names=("row", "column"))


@dataclass(frozen=True)
class Layer:
    weight: Any
    bias: Any


def ops(graph: Any) -> list[str]:
    return [node.op for node in graph.nodes]


def test_a_graph_runs_on_every_backend_with_names() -> None:
    graph = tb.trace(lambda x: tb.softmax(x, axis="column") @ x.mT.rename("column", "other"))(X)
    reference = tb.softmax(X, axis="column") @ X.mT.rename("column", "other")
    for backend in ("numpy", "binary", "jax"):
        result = graph(X.backend_copy(backend))
        assert (result.template, result.backend.name) == (reference.template, backend)
        assert tb.all_close(result.backend_copy("numpy"), reference)
    assert graph(tb.template((2, 2), "f32", ("row", "column"))).template is reference.template


def test_a_composite_stays_one_node_until_its_parts_are_asked_for() -> None:
    graph = tb.trace(lambda x: tb.softmax(x, axis="column"))(X)
    assert ops(graph) == ["parameter", "softmax"]
    assert "exp" in ops(expanded(graph, lambda node: False))
    assert ops(expanded(graph, lambda node: True)) == ops(graph)


def test_subgraphs_are_shared_and_dead_code_is_not_kept() -> None:
    def function(x: tb.Tensor) -> tb.Tensor:
        shared = tb.exp(x)
        tb.sin(x)
        return shared + shared

    assert ops(tb.trace(function)(X)) == ["parameter", "exp", "add"]


def test_a_captured_tensor_keeps_its_value_and_is_captured_once() -> None:
    held = tb.asarray([1.0, 2.0])
    graph = tb.trace(lambda x: x * held + held)("f32[2]")
    held[...] = tb.asarray([5.0, 5.0])
    assert len(graph.captured) == 1
    assert graph(tb.ones(2)).tolist() == [2.0, 4.0]


def test_assignment_in_a_traced_function_leaves_the_argument_alone() -> None:
    def function(x: tb.Tensor) -> tb.Tensor:
        x[0] = 7.0
        return x

    argument = tb.zeros(2)
    assert tb.trace(function)(argument)(argument).tolist() == [7.0, 0.0]
    assert argument.tolist() == [0.0, 0.0]


def test_an_inner_trace_takes_values_of_the_outer_one() -> None:
    def outer(x: tb.Tensor) -> tb.Tensor:
        double = x + x
        inner = tb.trace(lambda y: y * double * x)(x)
        assert [node.tensor is not None for node in inner.captured] == [True, True]
        product: tb.Tensor = inner(tb.exp(x))
        return product

    graph = tb.trace(outer)("f64[2]")
    assert ops(graph).count("parameter") == 1
    x = tb.asarray([1.0, 2.0], dtype="f64")
    assert tb.all_close(graph(x), tb.exp(x) * 2 * x * x)


def test_arguments_and_results_nest() -> None:
    def function(layer: Layer, batch: dict[str, tb.Tensor], scale: float) -> dict[str, Any]:
        return {"y": (batch["x"] @ layer.weight + layer.bias, scale), "nothing": None}

    graph = tb.trace(function)(Layer("f32[2, 3]", "f32[3]"), {"x": X.template}, 2.0)
    assert graph.names == ("layer.weight", "layer.bias", "batch['x']")
    results = graph(tb.ones((2, 3)), tb.ones(3), X)
    again = graph(Layer(tb.ones((2, 3)), tb.ones(3)), {"x": X}, 2.0)
    assert again["y"][0].tolist() == results["y"][0].tolist()
    assert results["y"][0].tolist() == [[4.0] * 3, [8.0] * 3]
    assert (results["y"][1].item(), results["nothing"]) == (2.0, None)


def test_trees() -> None:
    value = {"a": [1, (2, None)], "layer": Layer(3, 4)}
    leaves, tree = flatten(value)
    assert leaves == [1, 2, 3, 4]
    assert unflatten(tree, leaves) == value
    assert tree == flatten(tree_map(lambda x: -x, value))[1]
    assert hash(tree) == hash(flatten(value)[1])
    assert tree.size == 4


def test_ten_thousand_nodes_neither_recurse_nor_go_quadratic() -> None:
    def function(x: tb.Tensor) -> tb.Tensor:
        for _ in range(10_000):
            x = x + 1.0
        return x

    graph = tb.trace(function)("f32[3]")
    assert len(graph.nodes) > 10_000
    assert graph(tb.zeros(3)).tolist() == [10_000.0] * 3
    assert len(repr(graph).splitlines()) == len(graph.nodes) + 1
    assert len(simplified(graph).nodes) == len(graph.nodes)


def test_rewrites() -> None:
    graph = tb.trace(lambda x: (tb.exp(x) + tb.exp(x)) * tb.sqrt(tb.asarray(4.0)))("f32[2]")
    assert ops(common_subexpressions(graph)).count("exp") == 1
    assert "sqrt" not in ops(constant_folding(graph))
    assert sorted(ops(simplified(graph))) == ["add", "captured", "exp", "multiply", "parameter"]
    assert tb.all_close(simplified(graph)(tb.zeros(2)), tb.asarray([4.0, 4.0]))


def test_rewrites_that_replace_nothing_return_the_graph() -> None:
    graph = tb.trace(lambda x: tb.exp(x) + x * 2.0)("f32[2]")
    assert simplified(graph) is graph
    twice = tb.trace(lambda x: tb.exp(x) + tb.exp(x))("f32[2]")
    merged = simplified(twice)
    assert merged is not twice
    assert len(twice.nodes) == len(merged.nodes) + 1  # the given graph is as it was
    assert simplified(merged) is merged


def test_zeros_of_both_signs_and_numbers_of_two_kinds_are_not_one_subexpression() -> None:
    graph = tb.trace(lambda x: (tb.copysign(x, tb.full(2, 0.0)), tb.copysign(x, tb.full(2, -0.0))))("f32[2]")
    first, second = common_subexpressions(graph)(tb.ones(2))
    assert (first.tolist(), second.tolist()) == ([1.0, 1.0], [-1.0, -1.0])


def test_large_constants_are_not_folded() -> None:
    graph = tb.trace(lambda x: x + tb.sqrt(tb.full(10**6, 2.0)))("f32[1000000]")
    assert "sqrt" in ops(constant_folding(graph))


def test_pictures() -> None:
    graph = tb.trace(lambda x: tb.sum(x, axis="row"))(X)
    assert "n1 -> n" not in graph.to_dot()
    assert '"sum\\nf32[column: 2]"' in graph.to_dot()
    assert "n0 --> n1" in graph.to_mermaid()
    assert graph._repr_mimebundle_()["text/markdown"].startswith("```mermaid\nflowchart")


def test_text_names_the_user_s_line() -> None:
    text = repr(tb.trace(lambda x: tb.sum(x))(X))
    assert "test_graph.py:" in text
    assert text.startswith("graph(x: f32[row: 2][column: 2]) -> f32\n")


def test_a_package_may_be_called_much_like_this_one() -> None:
    file = f"{Path(tb.__file__).parent}_mylib/model.py"
    scope: dict[str, Any] = {"tb": tb}
    exec(compile("def model(x):\n    return tb.sum(x)", file, "exec"), scope)
    (node,) = (node for node in tb.trace(scope["model"])(X).nodes if node.op == "sum")
    assert node.line == Line(file, 2, "model")
    with pytest.raises(AxisError) as raised:
        exec(compile("tb.sum(x, axis=7)", file, "exec"), {"tb": tb, "x": X})
    line = user_line(raised.value.__traceback__)
    assert line is not None
    assert line.file == file


def test_data_cannot_be_read_while_tracing() -> None:
    with pytest.raises(TemplateDataError, match=r"no data to be read while a function is traced.*tb\.cond"):
        tb.trace(lambda x: 1 if x[0, 0] > 0 else 2)(X)


def test_errors() -> None:
    graph = tb.trace(lambda x: tb.take(x, tb.asarray([5]), axis=0))(X)
    with pytest.raises(DataError) as raised:
        graph(X)
    assert "test_graph.py" in raised.value.__notes__[0]
    with pytest.raises(ShapeError, match="x as it was traced"):
        graph(tb.zeros(3))
    with pytest.raises(ArgumentError, match="expected 1 tensors, for x, got given=2"):
        graph(X, X)
    with pytest.raises(NamesError):
        tb.trace(lambda x, y: x + y)("f32[a=2]", "f32[b=2]")
    with pytest.raises(ShapeError, match="a template such as"):
        tb.trace(lambda x: x)("f32(2)")
    with pytest.raises(OperandError, match="a function that returns tensors"):
        tb.trace(lambda x: "text")(X)


def test_dependencies_and_consumers() -> None:
    seen: list[tb.Tensor] = []

    def model(x: tb.Tensor, y: tb.Tensor, unused: tb.Tensor) -> tb.Tensor:
        seen.append(tb.exp(x))
        return tb.sum(seen[0] * y) + tb.sum(seen[0])

    graph = tb.trace(model)("f32[n=3]", "f32[n=3]", "f32[]")
    exponential = seen[0]
    assert [node.op for node in graph.dependencies(exponential)] == ["parameter"]
    assert [node.op for node in graph.consumers(exponential)] == ["multiply", "sum"]
    assert graph.arguments_of(exponential) == ("x",)
    assert graph.arguments_of() == graph.arguments_of(graph.outputs[0]) == ("x", "y")
    assert graph.consumers(graph.parameters[2]) == ()
    assert graph.consumers(graph.outputs[0].node) == ()
    assert set(graph.dependencies()) == {*graph.nodes} - {graph.parameters[2].node}
    other = tb.trace(lambda x: x * 2)("f32[n=3]")
    for wrong in (other.nodes[0], other.outputs[0], tb.ones(3)):
        with pytest.raises(ArgumentError, match="expected a node of this graph"):
            graph.consumers(wrong)
        with pytest.raises(ArgumentError, match="expected a node of this graph"):
            graph.dependencies(wrong)


def test_consumers_of_one_result_of_several() -> None:
    graph = tb.trace(lambda x: tb.top_k(x, 2)[1] * 2)("f32[n=3]")
    (node,) = (node for node in graph.nodes if node.op == "top_k")
    values, indices = node.values
    assert graph.consumers(values) == ()
    assert (
        [consumer.op for consumer in graph.consumers(indices)]
        == [consumer.op for consumer in graph.consumers(node)]
        == ["multiply"]
    )


def test_a_graph_that_uses_outer_values_keeps_the_order_of_the_program() -> None:
    def inner(y: tb.Tensor, w: tb.Tensor) -> tb.Tensor:
        return tb.tanh(y) + tb.exp(y * w) + tb.cos(y)

    def bodies(function: Any) -> list[list[str]]:
        graph = tb.trace(function)("f32[3]")
        return [[n.op for n in body.nodes if n.op != "parameter"] for node in graph.nodes for body in subgraphs(node)]

    def branches(x: tb.Tensor) -> Any:
        w = x * 2.0
        return tb.cond(tb.sum(x) > 0, lambda y: inner(y, w), lambda y: y, x)

    assert bodies(branches) == [["tanh", "multiply", "exp", "add", "cos", "add"], []]


def test_only_a_composite_is_told_by_its_default() -> None:
    class Holder:
        spec = "not a declaration"

        def default(self, x: tb.Tensor) -> tb.Tensor:
            return x

    assert spec_of_default(Holder().default) is None
    assert spec_of_default(len) is None
    (node,) = (node for node in tb.trace(tb.softmax)(tb.ones(2)).nodes if node.default is not None)
    spec = spec_of_default(node.default)
    assert spec is not None
    assert spec.name == "softmax"
