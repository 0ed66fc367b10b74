"""Graphs that PyTorch compiles."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import tensorbackend as tb
import torch

from tensorbackend_torch import CompiledTorchBackend, library

pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script_method` is deprecated:DeprecationWarning")
"""PyTorch warns of itself when its compiler is imported."""

EXTREMES = [math.nan, -0.0, 0.0, math.inf, -math.inf, 1.5, -2.0, 3e38]


def activations(x: tb.Tensor) -> Any:
    return tb.nn.silu(x), tb.nn.relu(x), tb.max(x, axis=0), tb.cumulative_sum(x[0, 1:3]), tb.clip(x, -1.0, 2.0)


def layer(x: tb.Tensor) -> Any:
    return tb.value_and_grad(lambda x: tb.sum(tb.softmax(tb.nn.gelu(x @ x.mT), axis=-1) * 0.5))(x)


def loop(x: tb.Tensor) -> Any:
    return tb.while_loop(lambda x: tb.sum(x) < 100.0, lambda x: x * 2.0, x)


def indices(x: tb.Tensor) -> Any:
    return tb.take(x, tb.astype(x[0], tb.int64), axis=0)


@pytest.mark.parametrize(
    ("function", "is_compiled"), [(activations, True), (layer, True), (indices, False), (loop, False)]
)
def test_a_compiled_program_is_that_of_the_uncompiled_backend(
    function: Callable[..., Any], is_compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    graphs, compile_ = [], torch.compile

    def counting(graph: Any, **options: Any) -> Any:
        graphs.append(graph)
        return compile_(graph, **options)

    monkeypatch.setattr(library.torch, "compile", counting)
    x = tb.tensor([EXTREMES, EXTREMES[::-1]]) if function is activations else tb.ones((2, 3))
    ours = tb.backend_copy(x, CompiledTorchBackend())
    program = tb.jit(function)
    for _ in range(2):  # the first call compiles
        found = tb.tree_leaves(program(ours))
        for one, other in zip(found, tb.tree_leaves(function(tb.backend_copy(x, "torch"))), strict=True):
            assert one.backend.name == "torch_compiled"
            torch.testing.assert_close(one.data, other.data, rtol=1e-5, atol=1e-6, equal_nan=True)
            assert torch.equal(*(torch.signbit(x.data.nan_to_num(1.0)) for x in (one, other))) or function is layer
    assert len(graphs) == is_compiled


def test_complex_numbers_run_op_by_op() -> None:
    x = tb.tensor([1 + 2j], backend=CompiledTorchBackend())
    assert tb.jit(lambda x: x * x)(x).tolist() == [-3 + 4j]


def test_a_program_runs_where_the_compiler_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: Any, **options: Any) -> Any:
        raise RuntimeError("no compiler")

    monkeypatch.setattr(library.torch, "compile", lambda *arguments, **options: fails)
    x = tb.tensor([1.0, 2.0], backend=CompiledTorchBackend())
    assert tb.jit(lambda x: tb.exp(x) - tb.exp(x))(x).tolist() == [0.0, 0.0]
