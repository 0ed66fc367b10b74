"""Functions that `mx.compile` compiles, and those that it cannot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mlx.core as mx
import numpy
import pytest
import tensorbackend as tb
from tensorbackend.errors import IndexRangeError

from tensorbackend_mlx import MlxBackend
from tensorbackend_mlx.kernels import tracing

X = tb.tensor([[1.0, -2.0], [0.5, 4.0]], names=("row", "column"), backend="mlx")


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[Callable[..., Any]]:
    """The functions that MLX compiled without that it had to give up."""
    kept: list[Callable[..., Any]] = []
    original = mx.compile

    def compile_(function: Callable[..., Any]) -> Callable[..., Any]:
        run = original(function)

        def call(*arrays: mx.array) -> Any:
            results = run(*arrays)
            kept.append(function)
            return results

        return call

    monkeypatch.setattr(mx, "compile", compile_)
    monkeypatch.setattr("tensorbackend_mlx.graphs.mx.compile", compile_, raising=False)
    return kept


def test_a_compiled_gradient_is_that_of_the_numpy_backend(compiled: list[Any]) -> None:
    wanted = tb.grad(lambda w: tb.sum(tb.tanh(w) * w))(X.backend_copy("numpy"))
    given = tb.jit(tb.grad(lambda w: tb.sum(tb.tanh(w) * w)))(X)
    assert compiled
    assert given.names == wanted.names
    assert numpy.allclose(numpy.asarray(given), numpy.asarray(wanted), rtol=1e-5)


FUNCTIONS: dict[str, Callable[[tb.Tensor], tb.Tensor]] = {
    "a factorisation": lambda x: tb.linalg.eigvalsh(x + tb.matrix_transpose(x).rename(None, None)),
    "a function of float64": lambda x: tb.sin(tb.astype(x, "f64")),
    "a loop": lambda x: tb.while_loop(lambda x: tb.sum(x) < 50.0, lambda x: x * 2.0, x),
    "a user's function": lambda x: tb.map(x, function=lambda element: element * 3.0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_reads_data_runs_node_by_node(name: str, compiled: list[Any]) -> None:
    function, x = FUNCTIONS[name], X.rename("row", None).rename("column", None)
    wanted, jitted = function(x.backend_copy("numpy")), tb.jit(function)
    for _ in range(2):  # in the first call MLX may try
        assert numpy.allclose(numpy.asarray(jitted(x)), numpy.asarray(wanted), rtol=1e-5)
    assert not compiled
    assert not tracing.on


def test_a_traced_index_is_moved_to_the_end_and_a_constant_raises() -> None:
    take = tb.jit(lambda x, places: tb.take(x, places, axis="column"))
    assert take(X, tb.tensor([1, 7], backend="mlx")).tolist() == [[-2.0, -2.0], [4.0, 4.0]]
    with pytest.raises(IndexRangeError, match="index=7"):
        tb.take(X, tb.tensor([1, 7], backend="mlx"), axis="column")
    places = tb.tensor([1, 7], backend="mlx")
    with pytest.raises(IndexRangeError, match="index=7"):
        tb.jit(lambda x: tb.take(x, places, axis="column"))(X)


def test_without_a_compiler_graphs_run_node_by_node(monkeypatch: pytest.MonkeyPatch, compiled: list[Any]) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr("shutil.which", lambda name: None)
    graph = tb.trace(lambda x: tb.tanh(x) + x)(tb.template((2, 2), "f32"))
    assert MlxBackend(device="cpu").compile_graph(graph) is None
