"""What a dry run predicts against what is measured: XLA's own analysis, and the memory that NumPy takes."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

import tensorbackend as tb

BENCHMARK: Any = runpy.run_path(str(Path(__file__).resolve().parents[3] / "benchmarks" / "dryrun.py"))


@pytest.mark.parametrize("name", BENCHMARK["FUNCTIONS"])
def test_operations_and_memory_are_those_of_xla(name: str) -> None:
    function, templates = BENCHMARK["FUNCTIONS"][name]
    found, xla = tb.dry_run(function, *templates), BENCHMARK["Analysis"](function, templates)
    assert found.flops == pytest.approx(xla.flops, rel=0.02)
    assert found.eager.transcendentals == pytest.approx(xla.transcendentals, rel=0.02)
    assert found.eager.timeline.parameters == xla.arguments
    # XLA's buffer of a tuple has a pointer for each of several results.
    assert 0 <= xla.results - found.eager.timeline.results <= 8 * 4
    # XLA fuses elementwise ops, so it needs no more; it may need copies of what libraries do not take as it is.
    assert xla.memory - xla.temporary <= found.peak.memory <= 2 * xla.memory


@pytest.mark.parametrize("name", BENCHMARK["FUNCTIONS"])
def test_the_peak_in_eager_order_is_the_one_on_numpy(name: str) -> None:
    function, templates = BENCHMARK["FUNCTIONS"][name]
    found, most = tb.dry_run(function, *templates), BENCHMARK["memory_on_numpy"](function, templates)
    # Kernels may need a little of their own: a convolution lays out its windows, others work in blocks.
    assert 0.85 * most <= found.peak.memory - found.eager.timeline.parameters <= most


def test_a_training_step_takes_six_operations_for_each_parameter_and_token() -> None:
    example: Any = runpy.run_path(str(Path(__file__).resolve().parents[3] / "examples" / "gpt3.py"))
    parameters, tokens = example["parameters"](layers=3), f"s64[batch=1, time={example['TIME']}]"
    weights = sum(each.size for each in tb.trace(lambda tree: tree)(parameters).templates)
    found = tb.dry_run(example["loss"], parameters, tokens, tokens, gradient=True)
    # Beyond those are the attention's scores, which no parameter takes part in, and elementwise ops.
    assert 1 < found.flops / (6 * weights * example["TIME"]) < 1.05
    assert found.eager.timeline.parameters == 2 * weights + 2 * 8 * example["TIME"]
    assert found.eager.timeline.results == 2 * weights + 2
