"""Dry runs: their parameters, peaks and rewritten graphs, of transformed functions too, and where a mistake is."""

from __future__ import annotations

import resource
from pathlib import Path
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.errors import OperandError, ShapeError

from ..peak_memory import peak_memory


def test_parameters_captured_tensors_and_results_are_told_apart() -> None:
    held = tb.ones((50,), dtype="f32", backend="numpy")
    dry_run = tb.dry_run(lambda x, unused: (x + held, tb.sum(x)), "f32[50]", "f32[1000]")
    timeline = dry_run.eager.timeline
    assert (timeline.parameters, timeline.captured, timeline.results) == (4200, 200, 204)
    assert dry_run.peak.memory == 4200 + 200 + 204
    assert sum(dry_run.peak.by_kind().values()) == dry_run.peak.memory
    totals = [sum(sizes) for sizes in zip(*timeline.by_kind().values(), strict=True)]
    assert totals == list(timeline.memory)


def test_the_peak_says_where_it_is_and_what_is_there() -> None:
    def program(x: tb.Tensor) -> tb.Tensor:
        wide = tb.broadcast_to(x, (100, 250)) * 2.0
        return tb.sum(wide)

    peak = tb.dry_run(program, "f32[250]").peak
    assert peak.op == "multiply"
    assert peak.line is not None
    assert (Path(peak.line.file).name, peak.line.function) == ("test_dry_run.py", "program")
    assert [(block.kind, block.name, block.nbytes) for block in peak.alive] == [
        ("intermediate", "multiply", 100_000),
        ("parameter", "x", 1000),
        ("intermediate", "constant", 4),
    ]


def test_the_optimised_graph_is_rewritten() -> None:
    dry_run = tb.dry_run(lambda x: tb.exp(x) + tb.exp(x) * tb.sqrt(tb.asarray(2.0)), "f32[250]")
    assert dry_run.eager.transcendentals == 501
    assert dry_run.optimised.transcendentals == 250
    assert dry_run.optimised.peak.memory < dry_run.eager.peak.memory


# Nothing is allocated


def test_terabytes_take_no_memory() -> None:
    def program(x: tb.Tensor, w: tb.Tensor) -> tb.Tensor:
        return tb.mean(tb.softmax(tb.tanh(x @ w) + tb.ones((10**6, 10**6), dtype="f32"), axis=-1))

    def dry_run() -> Any:
        return tb.dry_run(program, "f32[row=1000000, k=1000000]", "f32[k=1000000, column=1000000]")

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert peak_memory(dry_run) < 3_000_000
    report = dry_run()
    assert report.peak.memory > 10**13
    assert report.flops > 2 * 10**18
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # kilobytes


# Mistakes


def test_a_mistake_has_the_users_line() -> None:
    def wrong(x: tb.Tensor, w: tb.Tensor) -> tb.Tensor:
        y = tb.exp(x)
        return y @ w

    with pytest.raises(ShapeError) as error:
        tb.dry_run(wrong, "f32[batch=2, k=3]", "f32[k=4, n=5]")
    (note,) = error.value.__notes__
    assert "test_dry_run.py" in note
    assert note.endswith("return y @ w")
    assert "f32[batch: 2][k: 3]" in str(error.value)
    assert "f32[k: 4][n: 5]" in str(error.value)


def test_a_template_from_outside_is_a_mistake() -> None:
    w = tb.template((3,), "f32")
    with pytest.raises(OperandError, match="pass it as an argument"):
        tb.dry_run(lambda x: x + w, "f32[3]")


# Transformed functions


def test_transformed_functions() -> None:
    def square(x: tb.Tensor) -> tb.Tensor:
        return tb.sum(tb.exp(x) * x)

    assert tb.dry_run(tb.jit(square), "f32[250]").eager.transcendentals == 250
    assert tb.dry_run(tb.vmap(square), "f32[4, 250]").eager.transcendentals == 1000
    gradients = tb.dry_run(square, "f32[250]", gradient=True)
    assert gradients.gradient
    assert gradients.eager.timeline.results == 1004
    assert [block.name for block in gradients.peak.alive if block.kind == "parameter"] == ["x"]
    second = tb.dry_run(tb.grad(lambda x: tb.sum(tb.grad(square)(x))), "f32[250]")
    assert second.flops > gradients.flops


def test_a_module_of_pytorch_is_told_from_a_function() -> None:
    base = type("Module", (), {"__module__": "torch.nn.modules.module", "__call__": lambda self, x: x})
    module = type("Decoder", (base,), {})()
    with pytest.raises(OperandError, match=r"got function='Decoder'; tensorbackend_onnx.from_torch"):
        tb.dry_run(module, "f32[2]")
