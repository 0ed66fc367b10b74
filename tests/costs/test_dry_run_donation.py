"""The peak of a step with donated arguments: predicted, and as Python measures it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError

from ..peak_memory import peak_memory


def step(params: Any, state: Any, slopes: Any) -> Any:
    """A step of Adam."""
    first = [0.9 * m + 0.1 * g for m, g in zip(state[0], slopes, strict=True)]
    second = [0.99 * v + 0.01 * g * g for v, g in zip(state[1], slopes, strict=True)]
    pairs = zip(params, first, second, strict=True)
    return [w - 0.1 * m / (tb.sqrt(v) + 1e-8) for w, m, v in pairs], [first, second]


def start() -> tuple[Any, Any, Any]:
    draw = np.random.default_rng(0).standard_normal
    params = [tb.asarray(draw((400, 300)).astype(np.float32), copy=True) for _ in range(6)]
    return params, [[tb.zeros(w.shape) for w in params] for _ in range(2)], [w * 2 for w in params]


@pytest.mark.parametrize("names", [(), ("params", "state")])
def test_the_predicted_peak_is_the_measured_one(names: tuple[str, ...]) -> None:
    compiled = tb.jit(step, donate=names)
    compiled(*start())
    predicted = tb.dry_run(step, *start(), donate=names).optimised.peak.memory
    measured = peak_memory(compiled, start)
    assert abs(predicted - measured) < 0.05 * measured


def test_a_dry_run_names_what_could_be_donated() -> None:
    report, donated = tb.dry_run(step, *start()), tb.dry_run(step, *start(), donate=("params", "state"))
    assert report.donatable == ("params", "state")
    assert report.peak_if_donated == donated.optimised.peak.memory < 0.75 * report.optimised.peak.memory
    assert "could be donated: params, state; the optimised peak would be" in report.summary()
    assert donated.donatable == ()
    assert tb.dry_run(step, *start(), donate="state").donatable == ("params",)


def test_elementwise_ops_write_over_donated_parameters() -> None:
    report = tb.dry_run(lambda x: tb.exp(x), "f32[1000]", donate="x")
    assert report.optimised.peak.memory == 4000
    assert report.peak.memory == 8000
    compiled = tb.jit(tb.exp, donate="x")
    compiled(tb.ones(50000, backend="numpy"))
    assert peak_memory(compiled, lambda: (tb.ones(50000, backend="numpy") + 0,)) < 1.05 * 200000


def test_the_parameters_to_donate_must_be_there() -> None:
    with pytest.raises(ArgumentError, match="the parameters are params, state, slopes"):
        tb.dry_run(step, *start(), donate="z")


def test_what_is_donated_is_freed_on_each_device_of_a_mesh() -> None:
    def leaves(rows: int) -> tuple[Any, Any, Any]:
        params = [f"f32[row={rows}, column=300]" for _ in range(6)]
        return params, [params, params], params

    def peaks(names: Any) -> tuple[int, int]:
        mesh, layout = tb.Mesh({"data": 4}), {"row": "data"}
        on_mesh = tb.dry_run(step, *leaves(400), donate=names, mesh=mesh, layout=layout).on_mesh
        assert on_mesh is not None
        return on_mesh.peak, tb.dry_run(step, *leaves(100), donate=names).optimised.peak.memory

    kept, donated = peaks(()), peaks(("params", "state"))
    for on_mesh, alone in (kept, donated):
        assert on_mesh == pytest.approx(alone, rel=0.03)  # but for constants, which the optimised program holds
    assert donated[0] < 0.75 * kept[0]
