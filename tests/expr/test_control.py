"""Control flow: cond, while_loop, fori_loop and scan, eager, in graphs and on JAX."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import numpy
import pytest

import tensorbackend as tb
from tensorbackend.dtypes import bool_
from tensorbackend.expr.closures import close
from tensorbackend.expr.evaluate import evaluate
from tensorbackend.expr.graph import iterations, map_subgraphs, subgraphs
from tensorbackend.expr.node import Node
from tensorbackend.expr.simplify import expanded, simplified
from tensorbackend.expr.trees import flatten

from .control_programs import backwards, chosen, empty, held_on_to, limited, without_xs

BACKENDS = ["numpy", "binary", "jax"]


def x3(*, names: Any = None, dtype: str = "f32") -> tb.Tensor:
    return tb.asarray([1.5, -2.0, 4.0], dtype=dtype, names=names)


def matrix() -> tb.Tensor:
    return tb.asarray([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], names=("time", "feature"))


@dataclass
class State:
    value: tb.Tensor
    count: Any


class Pair(NamedTuple):
    left: Any
    right: Any


# Programs. The result of each is compared with known numbers: eagerly, as a graph, under jax.jit and under tb.jit.


def not_chosen(x: tb.Tensor) -> Any:
    return tb.cond(tb.sum(x) > 30, lambda x: x * 2, lambda x: -x, x)


def doubled(x: tb.Tensor) -> Any:
    return tb.while_loop(lambda x: tb.max(x) < 100, lambda x: x * 2, x)


def summed(x: tb.Tensor) -> Any:
    return tb.fori_loop(0, 3, lambda i, total: total + x[0] * i, 0.0)


def bounded_by_data(x: tb.Tensor) -> Any:
    last = tb.astype(x[2], "int32")
    return tb.fori_loop(1, last, lambda i, state: State(state.value * x, state.count + i), State(x, 0)).value


def running(x: tb.Tensor) -> Any:
    return tb.scan(lambda total, entry: (total + entry, {"sum": total + entry, "twice": entry * 2}), 0.0, x)


def nested(x: tb.Tensor) -> Any:
    def outer(carry: tb.Tensor, entry: tb.Tensor) -> Any:
        inner = tb.fori_loop(0, 2, lambda i, c: c + tb.cond(entry > 0, lambda: entry * i, lambda: x[0]), carry)
        limit = tb.while_loop(lambda c: c < inner, lambda c: c + entry * entry, carry)
        return inner, limit

    return tb.scan(outer, x[0], x)


PROGRAMS: dict[Callable[[tb.Tensor], Any], list[Any]] = {
    chosen: [[3.0, -4.0, 8.0]],
    not_chosen: [[-1.5, 2.0, -4.0]],
    held_on_to: [[4.4816890, 0.13533528, 54.59815], [1.5, -2.0, 4.0]],
    doubled: [[48.0, -64.0, 128.0]],
    limited: [3, [12.0, -16.0, 32.0]],
    summed: [4.5],
    bounded_by_data: [[1.5**4, 16.0, 256.0]],
    running: [3.5, [1.5, -0.5, 3.5], [3.0, -4.0, 8.0]],
    backwards: [1.5, [0.0, 4.0, 0.0], [1.5, -2.0, 4.0]],
    without_xs: [[1.5**5, -32.0, 1024.0], [1.5, 2.25, 3.375, 5.0625]],
    nested: [10.0, [3.75, 7.0, 22.0]],
    empty: [1.5, numpy.zeros((0, 3))],
}
every_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)


def check(result: Any, program: Callable[..., Any]) -> None:
    for leaf, reference in zip(flatten(result)[0], PROGRAMS[program], strict=True):
        numpy.testing.assert_allclose(numpy.asarray(leaf), numpy.asarray(reference), rtol=1e-6)


@every_program
@pytest.mark.parametrize("backend", BACKENDS)
def test_eager(program: Callable[..., Any], backend: str) -> None:
    with tb.default_backend(backend):
        result = program(x3())
    check(result, program)
    assert {leaf.backend.name for leaf in flatten(result)[0]} == {backend}


@every_program
@pytest.mark.parametrize("backend", BACKENDS)
def test_traced(program: Callable[..., Any], backend: str) -> None:
    x = x3().backend_copy(backend)
    for graph in (tb.trace(program)("f32[3]"), simplified(tb.trace(program)("f32[3]"))):
        check(graph(x), program)
        # A graph that runs on tensors of another trace is recorded in that trace.
        check(tb.trace(graph)(x)(x), program)
        assert str(graph)


@every_program
def test_under_jit(program: Callable[..., Any]) -> None:
    x = x3().backend_copy("jax")
    result = jax.jit(lambda x: flatten(program(x))[0])(x)
    check(result, program)


@every_program
def test_on_templates(program: Callable[..., Any]) -> None:
    templates = [x.template for x in flatten(program(x3()))[0]]
    leaves = flatten(program(tb.template((3,), "f32")))[0]
    assert [x.template for x in leaves] == templates
    assert {x.backend.name for x in leaves} == {"template"}
    assert list(tb.trace(program)("f32[3]").results) == templates


def test_one_node() -> None:
    ops = {
        "cond": chosen,
        "while_loop": doubled,
        "scan": running,
    }
    for op, program in ops.items():
        graph = tb.trace(program)("f32[3]")
        (node,) = [node for node in graph.nodes if subgraphs(node)]
        assert node.op == op
        assert node.line is not None
        assert node.line.file == program.__code__.co_filename
        assert [expanded_node.op for expanded_node in expanded(graph, lambda node: False).nodes].count(op) == 1
    known, unknown = (tb.trace(function)("f32[3]") for function in (summed, bounded_by_data))
    assert "scan" in [node.op for node in known.nodes]
    assert "while_loop" in [node.op for node in unknown.nodes]


def test_only_one_branch_runs() -> None:
    def failing() -> tb.Tensor:
        return tb.take(x3(), tb.asarray([7]))

    assert tb.cond(False, failing, lambda: x3()[:1]).tolist() == [1.5]
    with pytest.raises(IndexError) as caught:
        tb.cond(True, failing, lambda: x3()[:1])
    assert "in take, traced at" in caught.value.__notes__[0]


# Names


@pytest.mark.parametrize("backend", [*BACKENDS, "template"])
def test_a_named_axis(backend: str) -> None:
    x = matrix().backend_copy(backend)
    with tb.default_backend(backend):
        initial = tb.zeros(2, names=("feature",))
        for sequence in (x, tb.permute_dims(x, ("feature", "time"))):
            total, sums = tb.scan(lambda c, x: (c + x, (c + x, tb.sum(x))), initial, sequence, axis="time")
            assert total.names == ("feature",)
            assert sums[0].template is tb.Template((3, 2), "f32", ("time", "feature"))
            assert sums[1].names == ("time",)
            if backend != "template":
                assert sums[0].tolist() == [[1, 2], [4, 6], [9, 12]]
        assert tb.scan(lambda c, x: (c, x), 0, x)[1].template is x.template
        assert tb.scan(lambda c, x: (c, x), 0, x, axis=1)[1].template is tb.Template((2, 3), "f32", ("feature", "time"))
        assert tb.scan(lambda c, x: (c, x[0]), 0, [x, tb.zeros(3)])[1].names == ("time", "feature")


def test_names_are_seen_in_the_functions() -> None:
    x = matrix()
    assert tb.cond(True, lambda x: tb.sum(x, axis="time"), lambda x: tb.max(x, axis="time"), x).names == ("feature",)
    loop = tb.while_loop(lambda x: tb.sum(x, axis=("time", "feature")) < 50, lambda x: x + x.align_as(x), x)
    assert loop.names == x.names
    graph = tb.trace(lambda x: tb.fori_loop(0, 2, lambda i, c: c + tb.sum(x, axis="time"), x[0]))(x)
    assert graph(x).names == ("feature",)
    renamed = tb.trace(lambda x: tb.cond(True, lambda y: y.rename("a", "b"), lambda y: y.rename("a", "b"), x))(x)
    assert renamed(x).names == ("a", "b")


# Carried values


def test_containers() -> None:
    state = tb.while_loop(
        lambda s: s.left.count < 3,
        lambda s: Pair(State(s.left.value * 2, s.left.count + 1), [s.right[0], None]),
        Pair(State(x3(), 0), [True, None]),
    )
    assert isinstance(state, Pair)
    assert isinstance(state.left, State)
    assert (state.left.value.tolist(), state.left.count.tolist()) == ([12.0, -16.0, 32.0], 3)
    assert (state.right[0].dtype, state.right[1]) == (bool_, None)


def test_what_is_not_a_tensor_reaches_the_branches() -> None:
    def scaled(x: tb.Tensor, factor: float, name: str) -> tb.Tensor:
        assert (factor, name) == (2.0, "f32")
        return x * factor

    assert tb.cond(True, scaled, scaled, x3(dtype="f16"), 2.0, "f32").dtype is tb.float16


@pytest.mark.parametrize("dtype", ["f16", "f32", "f64", "c64", "s64"])
def test_a_number_takes_the_dtype_that_the_body_returns(dtype: str) -> None:
    x = tb.astype(tb.asarray([1, 2, 3]), dtype)
    expected_dtype = tb.result_type(tb.int64, x) if dtype == "s64" else x.dtype
    assert tb.scan(lambda c, x: (c + x, None), 0, x)[0].dtype is expected_dtype
    assert tb.fori_loop(0, 3, lambda i, c: c * 1.0 + x[0] * i, 0).dtype is tb.result_type(tb.float32, x)
    assert tb.while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, c[1] + x[0]), (0, 0))[1].dtype is expected_dtype


def test_a_number_that_a_function_returns_gives_way() -> None:
    x = x3(dtype="f64")
    assert tb.cond(True, lambda: 1, lambda: x[0]).template is tb.Template((), "f64")
    assert tb.cond(False, lambda: 1, lambda: 2.5).tolist() == 2.5
    assert tb.cond(True, lambda: True, lambda: False).dtype is bool_
    assert tb.fori_loop(0, 2, lambda i, c: 7, tb.asarray(1, dtype="u8")).template is tb.Template((), "u8")
    assert tb.scan(lambda c, x: (1.5, 2), 0, x)[0].tolist() == 1.5


def test_arrays_of_other_libraries() -> None:
    x = numpy.asarray([1.0, 2.0])
    for backend in BACKENDS:
        with tb.default_backend(backend):
            results = (
                tb.cond(numpy.asarray(True), lambda x: x + 1, lambda x: x, x),
                tb.while_loop(lambda x: tb.sum(x) < 5, lambda x: x + x, x),
                tb.scan(lambda c, x: (c + x, None), 0.0, x)[0],
            )
        assert [result.tolist() for result in results] == [[2, 3], [2, 4], 3]
        assert {result.backend.name for result in results} == {backend}
    assert tb.scan(lambda c, x: (c + x, None), tb.zeros((), backend="jax", dtype="f64"), x)[0].backend.name == "jax"


def test_no_turn_at_all() -> None:
    assert tb.fori_loop(3, 3, lambda i, c: c + 1, 5).tolist() == 5
    assert tb.fori_loop(3, -3, lambda i, c: c + 1, 5).tolist() == 5
    assert tb.while_loop(lambda c: c < 3, lambda c: c + 1, 5).tolist() == 5
    assert tb.while_loop(lambda c: c < 9, lambda c: c + 1, 5, limit=0).tolist() == 5
    for backend in BACKENDS:
        carry, ys = tb.scan(lambda c, x: (c + x, x), 2.0, tb.zeros((0,), names=("time",), backend=backend))
        assert (carry.tolist(), ys.tolist(), ys.names) == (2.0, [], ("time",))


def test_the_index_has_the_dtype_of_the_bounds() -> None:
    assert tb.fori_loop(0, 3, lambda i, c: c + i, 0).dtype is tb.int64
    last = tb.asarray(4, dtype="s16")
    assert tb.fori_loop(0, last, lambda i, c: i, tb.asarray(0, dtype="s16")).tolist() == 3
    assert tb.fori_loop(tb.asarray(1, dtype="u8"), last, lambda i, c: c + i, 0).tolist() == 6
    assert tb.fori_loop(tb.asarray(1, dtype="s8"), 4, lambda i, c: c + i, 0).tolist() == 6


@pytest.mark.parametrize("backend", BACKENDS)
def test_many_steps(backend: str) -> None:
    steps = 300 if backend == "binary" else 3_000
    x = tb.ones(steps, backend=backend)
    total, sums = tb.scan(lambda c, x: (c + x, c), 0.0, x)
    assert (total.item(), sums[-1].item()) == (steps, steps - 1)


# Graphs


def test_the_subgraphs_of_a_node() -> None:
    template = tb.Template((), "f32")
    one, two = (tb.trace(function)("f32") for function in (tb.exp, tb.sin))
    node = Node("while_loop", template, options={"condition": one, "body": two, "limit": None})
    assert subgraphs(node) == (one, two)
    assert iterations(node) == (None, None)
    assert map_subgraphs(node, lambda graph: {one: two, two: one}[graph]) == {
        "condition": two, "body": one, "limit": None,
    }  # fmt: skip
    assert iterations(Node("while_loop", template, options={"body": one, "limit": 3})) == (3,)
    assert iterations(Node("scan", template, options={"body": one, "length": 7})) == (7,)
    assert iterations(Node("cond", template, options={"true_branch": one, "false_branch": two})) == (1, 1)
    plain = Node("exp", template)
    assert (subgraphs(plain), iterations(plain)) == ((), ())
    assert map_subgraphs(plain, lambda graph: graph) is plain.options


def test_a_graph_shows_its_subgraphs() -> None:
    graph = tb.trace(lambda x: tb.cond(x[0] > 0, lambda: tb.exp(x), lambda: x))("f32[n=3]")
    lines = [line.split("  test_control")[0].rstrip() for line in str(graph).splitlines()]
    assert lines[-7:] == [
        "  %5 cond      f32[n: 3]  %4 %0",
        "      true_branch(constants[0]: f32[n: 3]) -> f32[n: 3]",
        "        %1 exp  f32[n: 3]  %0",
        "        return %1",
        "      false_branch(constants[0]: f32[n: 3]) -> f32[n: 3]",
        "        return %0",
        "  return %5",
    ]
    assert "cond" in graph.to_dot()
    assert "cond" in graph.to_mermaid()


def test_what_graphs_hold_on_to_is_shared() -> None:
    w = x3()
    one = tb.trace(lambda x: x + w)("f32[3]")
    other = tb.trace(lambda x: x * w * x3())("f32[3]")
    closed, tensors = close([one, other])
    assert len(tensors) == 2
    assert [len(graph.parameters) for graph in closed] == [3, 3]
    assert all(not graph.captured for graph in closed)
    assert [evaluate(graph, [*tensors, w])[0].tolist() for graph in closed] == [
        (w + w).tolist(), (w * w * w).tolist(),
    ]  # fmt: skip


def test_a_loop_is_compiled_once() -> None:
    backend: Any = tb.get_backend("jax")
    x = x3().backend_copy("jax")

    def run(scale: float) -> Any:
        w = x * scale
        return tb.scan(lambda c, x: (c + w, x), w, x)[0]

    results = [run(scale).tolist() for scale in (1.0, 2.0)]
    before = set(backend.kernels)
    assert run(3.0).tolist() == pytest.approx([3 * element for element in results[0]])
    assert set(backend.kernels) == before


def test_a_trace_within_a_trace() -> None:
    def outer(x: tb.Tensor) -> Any:
        return tb.trace(lambda y: tb.fori_loop(0, 2, lambda i, c: c * x + y, y))(x)(x)

    x = x3()
    assert tb.trace(outer)(x)(x).tolist() == ((x * x + x) * x + x).tolist()


# With other transformations


@every_program
@pytest.mark.parametrize("backend", BACKENDS)
def test_jit(program: Callable[..., Any], backend: str) -> None:
    x, jitted = x3().backend_copy(backend), tb.jit(program)
    for _ in range(2):
        check(jitted(x), program)


@every_program
def test_vmap(program: Callable[..., Any]) -> None:
    rows = [[1.5, -2.0, 4.0], [-3.0, 5.0, 2.0], [0.5, 0.25, 1.0]]
    batched = tb.vmap(program)(tb.asarray(rows))
    leaves_by_row = [flatten(program(tb.asarray(row)))[0] for row in rows]
    for leaf, row_leaves in zip(flatten(batched)[0], zip(*leaves_by_row, strict=True), strict=True):
        numpy.testing.assert_allclose(leaf, tb.stack(row_leaves), rtol=1e-5)
