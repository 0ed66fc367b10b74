"""Compiled functions: cached by templates and options, equal to the function itself, on each backend."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.backends.array_module.fusion import fused, prepared
from tensorbackend.backends.numpy_backend import NumpyBackend
from tensorbackend.errors import ArgumentError, DataError
from tensorbackend.expr.simplify import simplified, without_names
from tensorbackend.expr.subgraphs import subgraphs

BACKENDS = ["numpy", "binary", "jax"]


def network(parameters: dict[str, tb.Tensor], x: tb.Tensor) -> dict[str, tb.Tensor]:
    hidden = tb.tanh(tb.dot(x, parameters["w"], contract=(["in"], ["in"])) + parameters["b"])
    return {"probabilities": tb.softmax(hidden, axis="out"), "norm": tb.sqrt(tb.sum(hidden * hidden))}


def arguments(backend: str) -> tuple[dict[str, tb.Tensor], tb.Tensor]:
    with tb.default_backend(backend):
        w = tb.tensor([[0.1, -0.2], [0.3, 0.4], [-0.5, 0.6]], names=("in", "out"))
        return {"w": w, "b": tb.ones(2, names=("out",))}, tb.ones((4, 3), names=("batch", "in"))


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_compiled_function_gives_what_the_function_gives(backend: str) -> None:
    given = arguments(backend)
    wanted, found = network(*given), tb.jit(network)(*given)
    assert found.keys() == wanted.keys()
    for name, x in found.items():
        assert (x.template, x.backend) == (wanted[name].template, wanted[name].backend)
        assert tb.all_close(x, wanted[name])


def test_a_function_is_traced_once_for_templates_and_options() -> None:
    traces = []

    @tb.jit
    def scaled(x: tb.Tensor, factor: Any) -> tb.Tensor:
        traces.append((x.shape, factor))
        scaled: tb.Tensor = x * factor
        return scaled

    assert [scaled(tb.ones(2), 3).tolist() for _ in range(3)] == [[3.0, 3.0]] * 3
    assert len(traces) == 1
    scaled(tb.ones(2), 3.0)
    scaled(tb.ones(2), 4)
    scaled(tb.ones(3), factor=4)
    scaled(tb.ones(2, dtype="f64"), 4)
    scaled(tb.ones(2, backend="binary"), 4)
    assert len(traces) == 6
    with tb.precision(64):
        scaled(tb.ones(2, dtype="f32"), 4)
    assert len(traces) == 7


def test_numpy_arrays_are_tensors_and_tensors_of_two_backends_meet() -> None:
    add = tb.jit(lambda x, y: x + y)
    assert add(numpy.ones(2, "float32"), tb.ones(2)).tolist() == [2.0, 2.0]
    found = add(tb.ones(2), tb.ones(2, backend="binary"))
    assert (found.tolist(), found.backend.name) == ([2.0, 2.0], "numpy")
    assert add(tb.ones(2, backend="binary"), tb.ones(2)).backend.name == "numpy"


def test_names_of_arguments_and_results() -> None:
    mean = tb.jit(lambda x: tb.mean(x.rename("row", "column"), axis="row"))
    x = tb.ones((2, 3), names=("a", "b"))
    assert mean(x).names == ("column",)
    assert mean(tb.ones((2, 3))).names == ("column",)
    assert tb.jit(lambda x: x.rename("row", "column"))(x).names == ("row", "column")


def test_a_result_may_be_an_argument_or_a_constant() -> None:
    x = tb.ones(2)
    same, constant, number = tb.jit(lambda x: (x, tb.zeros(3), tb.asarray(2.5)))(x)
    assert (same.tolist(), constant.tolist(), number.item()) == ([1.0, 1.0], [0.0] * 3, 2.5)


def test_within_a_trace_and_on_templates_the_function_itself_is_called() -> None:
    inner = tb.jit(lambda x: tb.exp(x) + 1.0)
    assert [node.op for node in tb.trace(inner)("f32[2]").nodes] == ["parameter", "exp", "constant", "add"]
    assert inner(tb.template((2,), "f32")).shape == (2,)
    assert tb.jit(lambda x: inner(inner(x)))(tb.zeros(1)).tolist() == pytest.approx([8.38905609893065])


def test_a_function_without_tensors_runs_on_the_default_backend() -> None:
    made = tb.jit(lambda: tb.full(2, 3.0))
    assert made().backend.name == "numpy"
    with tb.default_backend("binary"):
        assert made().backend.name == "binary"


def test_errors() -> None:
    with pytest.raises(ArgumentError, match="options of a compiled function to hash"):
        tb.jit(lambda x, y: x)(tb.ones(2), bytearray(b"x"))
    taken = tb.jit(lambda x, i: tb.take(x, i, axis=0))
    with pytest.raises(DataError) as raised:
        taken(tb.ones(2), tb.asarray([7]))
    assert "test_jit.py" in raised.value.__notes__[0]
    assert taken(tb.ones(2), tb.asarray([1])).tolist() == [1.0]


def test_a_chain_of_elementwise_ops_is_one_node_on_numpy() -> None:
    graph = simplified(tb.trace(lambda x: tb.sum(tb.exp(-x * x) * 2 + tb.tanh(x)))("f32[100, 100]"))
    ops = [node.op for node in fused(without_names(graph), NumpyBackend()).nodes]
    assert ops == ["parameter", "fused", "sum"]


def test_a_value_that_others_need_ends_a_chain() -> None:
    def function(x: tb.Tensor) -> tuple[tb.Tensor, tb.Tensor]:
        shared = tb.exp(x) + 1.0
        return tb.sin(shared) * shared, tb.sum(shared)

    graph = tb.trace(function)("f32[5]")
    assert [node.op for node in fused(graph, NumpyBackend()).nodes].count("fused") == 2
    x = tb.asarray([0.1, 0.2, 0.3, 0.4, 0.5])
    for found, wanted in zip(tb.jit(function)(x), function(x), strict=True):
        assert found.to_binary() == wanted.to_binary()


def test_arguments_are_not_written_to() -> None:
    x = tb.asarray([1.0, 2.0, 3.0])
    before = x.to_binary()
    tb.jit(lambda x: tb.exp(-x) * x + x)(x)
    assert x.to_binary() == before


def test_large_chains_run_in_blocks() -> None:
    x = tb.reshape(tb.iota(400_000, dtype="f32"), (400, 1000)) / 1e5
    row, column = tb.iota(1000, dtype="f32") / 1e3, tb.reshape(tb.iota(400, dtype="f32"), (400, 1))

    def function(x: tb.Tensor, row: tb.Tensor, column: tb.Tensor) -> tb.Tensor:
        return tb.where(x > row, tb.exp(-x * row), column + x) * 2.0

    assert tb.jit(function)(x, row, column).to_binary() == function(x, row, column).to_binary()
    assert tb.jit(function)(x.mT, row[:400], tb.zeros((1000, 1))).shape == (1000, 400)


def test_a_value_that_shares_memory_keeps_it() -> None:
    def function(x: tb.Tensor) -> tb.Tensor:
        same = tb.floor(x + 1)  # of integers the operand's own memory
        again = tb.floor(same)
        return (x * 2 - 1) * same + tb.bitwise_xor(x, 3) * again + same

    x = tb.asarray([1, 2, 3, 4])
    assert tb.jit(function)(x).tolist() == function(x).tolist()


def test_the_body_of_a_loop_is_fused_too() -> None:
    def function(x: tb.Tensor) -> tb.Tensor:
        found: tb.Tensor = tb.fori_loop(0, 5, lambda i, x: tb.exp(-x * x) + x / 2, x)
        return found

    x = tb.asarray([0.1, 0.2, 0.3])
    assert tb.jit(function)(x).to_binary() == function(x).to_binary()
    (loop,) = [node for node in prepared(tb.trace(function)(x), NumpyBackend()).nodes if subgraphs(node)]
    assert "fused" in [node.op for node in subgraphs(loop)[0].nodes]
