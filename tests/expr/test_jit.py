"""Compiled functions: cached by templates and options, equal to the function itself, on each backend."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.backends.array_module.fusion import fuse, prepare
from tensorbackend.backends.numpy_backend import NumpyBackend
from tensorbackend.errors import ArgumentError, DataError, OperandError
from tensorbackend.expr.graph import subgraphs
from tensorbackend.expr.simplify import remove_names, simplified

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
    inputs = arguments(backend)
    reference, results = network(*inputs), tb.jit(network)(*inputs)
    assert results.keys() == reference.keys()
    for name, x in results.items():
        assert (x.template, x.backend) == (reference[name].template, reference[name].backend)
        assert numpy.allclose(numpy.asarray(x), numpy.asarray(reference[name]))


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
    total = add(tb.ones(2), tb.ones(2, backend="binary"))
    assert (total.tolist(), total.backend.name) == ([2.0, 2.0], "numpy")
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
    compiled = tb.jit(lambda: tb.full(2, 3.0))
    assert compiled().backend.name == "numpy"
    with tb.default_backend("binary"):
        assert compiled().backend.name == "binary"


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_function_may_be_one_op_of_several_results(backend: str) -> None:
    x = tb.asarray([[2.0, 1.0], [1.0, 3.0]], backend=backend)
    functions: list[Callable[..., Any]] = [tb.linalg.qr, tb.linalg.eigh, tb.linalg.eig, tb.linalg.svd, tb.linalg.lu]
    for function in functions:
        results, reference = tb.jit(function)(x), function(x)
        assert type(results) is type(reference)
        pairs = zip(map(numpy.asarray, results), map(numpy.asarray, reference), strict=True)
        assert all(numpy.allclose(one, other) for one, other in pairs)
    assert tb.jit(tb.linalg.eigh)(x).eigenvalues.shape == (2,)
    key = tb.random.key(3, backend=backend)
    drawn = tb.random.uniform(key, (3,)).tolist()
    assert tb.jit(lambda key: tb.random.uniform(key, (3,)))(key).tolist() == drawn
    identity: Callable[[tb.Tensor], tb.Tensor] = tb.custom_gradient(lambda x: (x, lambda cotangent: cotangent))
    assert tb.jit(identity)(x).tolist() == x.tolist()


# The cache


def test_so_many_compilations_are_kept() -> None:
    traces = []

    @tb.jit(cache_size=3)
    def grown(x: tb.Tensor, by: Any) -> tb.Tensor:
        traces.append(by)
        total: tb.Tensor = x + by
        return total

    x = tb.ones(1)
    for by in (1, 2, 3, 1, 4):  # drops 2, the oldest without a second call
        grown(x, by)
    assert (traces, grown.cache_info()) == ([1, 2, 3, 4], (1, 4, 3, 3))
    grown(x, 1)
    grown(x, 2)
    assert traces == [1, 2, 3, 4, 2]
    grown.cache_clear()
    assert grown.cache_info() == (0, 0, 3, 0)
    assert grown(x, 1).tolist() == [2.0]
    assert traces == [1, 2, 3, 4, 2, 1]


def test_calls_by_the_short_way_count_too() -> None:
    double = tb.jit(lambda x: x * 2, cache_size=2)
    for size in (1, 2, 1, 1, 3, 1):
        assert double(tb.ones(size)).shape == (size,)
    assert double.cache_info() == (3, 3, 2, 2)
    with pytest.raises(ArgumentError, match="expected a cache_size of at least 1, got cache_size=0"):
        tb.jit(lambda x: x * 2, cache_size=0)


def test_an_option_that_is_nan_is_one_option() -> None:
    replaced = tb.jit(lambda x, by: tb.where(tb.isnan(x), by, x))
    for by in (float("nan"), float("nan"), complex(float("nan"), 0), complex(float("nan"), 0)):
        replaced(tb.ones(1), by)
    assert replaced.cache_info().misses == 2


class Model:
    """A mutable object that is equal only to itself."""

    def __init__(self) -> None:
        self.weight = tb.asarray(1.0)

    def scaled(self, x: tb.Tensor) -> tb.Tensor:
        product: tb.Tensor = self.weight * x
        return product


def test_an_object_that_may_change_is_not_an_option() -> None:
    model, x = Model(), tb.asarray(2.0)
    with pytest.raises(
        ArgumentError, match=r"expected an option that is compared by its value, got option=<.*dataclass"
    ):
        tb.jit(Model.scaled)(model, x)
    frozen = tb.jit(Model.scaled, static_argnames="self")
    assert frozen(model, x).item() == 2.0
    model.weight = tb.asarray(5.0)
    assert frozen(model, x).item() == 2.0
    for option in (len, Model, tb.exp, tb.float32, tb.get_backend("numpy"), math, object()):
        assert tb.jit(lambda x, option: x)(x, option).item() == 2.0


@pytest.mark.parametrize("backend", BACKENDS)
def test_floats_may_be_traced(backend: str) -> None:
    @tb.jit(trace_floats=True)
    def step(x: tb.Tensor, rate: float, times: int) -> tb.Tensor:
        moved: tb.Tensor = x - rate * times
        return moved

    x = tb.ones(2, backend=backend)
    assert [step(x, rate / 4, 2).tolist() for rate in range(4)] == [[1 - rate / 2] * 2 for rate in range(4)]
    assert step(x, 0.5, 2).backend.name == backend
    assert step.cache_info()[:2] == (4, 1)
    step(x, 0.5, 3)
    assert step.cache_info().misses == 2
    assert step(tb.ones(2, dtype="f16", backend=backend), 0.5, 2).dtype is tb.float32


def test_errors() -> None:
    with pytest.raises(ArgumentError, match="hashable options of a compiled function"):
        tb.jit(lambda x, y: x)(tb.ones(2), bytearray(b"x"))
    taken = tb.jit(lambda x, i: tb.take(x, i, axis=0))
    with pytest.raises(DataError) as raised:
        taken(tb.ones(2), tb.asarray([7]))
    assert "test_jit.py" in raised.value.__notes__[0]
    assert taken(tb.ones(2), tb.asarray([1])).tolist() == [1.0]


def test_a_chain_of_elementwise_ops_is_one_node_on_numpy() -> None:
    graph = simplified(tb.trace(lambda x: tb.sum(tb.exp(-x * x) * 2 + tb.tanh(x)))("f32[100, 100]"))
    ops = [node.op for node in fuse(remove_names(graph), NumpyBackend()).nodes]
    assert ops == ["parameter", "fused", "sum"]


def test_steps_that_change_nothing_are_left_out_of_programs() -> None:
    def function(x: tb.Tensor) -> tb.Tensor:
        same = tb.broadcast_to(tb.reshape(tb.permute_dims(x, (0, 1)), (2, 2), names=(None, None)), (2, 2))
        return tb.squeeze(tb.exp(tb.matrix_transpose(tb.astype(same, "float32"))), ())

    graph = remove_names(simplified(tb.trace(function)("f32[row=2, column=2]")))
    assert [node.op for node in graph.nodes] == ["parameter", "transpose", "exp"]


def test_a_value_that_others_need_ends_a_chain() -> None:
    def function(x: tb.Tensor) -> tuple[tb.Tensor, tb.Tensor]:
        shared = tb.exp(x) + 1.0
        return tb.sin(shared) * shared, tb.sum(shared)

    graph = tb.trace(function)("f32[5]")
    assert [node.op for node in fuse(graph, NumpyBackend()).nodes].count("fused") == 2
    x = tb.asarray([0.1, 0.2, 0.3, 0.4, 0.5])
    for result, reference in zip(tb.jit(function)(x), function(x), strict=True):
        assert result.to_binary() == reference.to_binary()


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
        same = tb.floor(x + 1)  # for integers, floor returns the memory of its operand
        again = tb.floor(same)
        return (x * 2 - 1) * same + tb.bitwise_xor(x, 3) * again + same

    x = tb.asarray([1, 2, 3, 4])
    assert tb.jit(function)(x).tolist() == function(x).tolist()


def test_the_body_of_a_loop_is_fused_too() -> None:
    def function(x: tb.Tensor) -> tb.Tensor:
        last: tb.Tensor = tb.fori_loop(0, 5, lambda i, x: tb.exp(-x * x) + x / 2, x)
        return last

    x = tb.asarray([0.1, 0.2, 0.3])
    assert tb.jit(function)(x).to_binary() == function(x).to_binary()
    (loop,) = [node for node in prepare(tb.trace(function)(x), NumpyBackend()).nodes if subgraphs(node)]
    assert "fused" in [node.op for node in subgraphs(loop)[0].nodes]


def test_what_is_compiled_follows_the_options_of_jit() -> None:
    step = tb.jit(lambda x, rate, sizes: x * rate * len(sizes), trace_floats=True, static_argnames="sizes")
    lowered = step.lower(tb.ones(2), 0.5, sizes=(1, 2))
    assert lowered.graph.names == ("x", "rate")


def test_results_are_tensors_without_data_too() -> None:
    function = tb.jit(lambda text, x: text)
    for x in (tb.ones(2), tb.template((2,), "f32")):
        with pytest.raises(OperandError, match="expected a function that returns tensors, got result='a'"):
            function("a", x)
