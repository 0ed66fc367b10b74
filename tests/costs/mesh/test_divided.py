"""Dry runs of programs on a mesh: figures, text, JSON, the chart and mistakes."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.costs import show_bytes
from tensorbackend.errors import ArgumentError, ArgumentKindError

MESH = tb.Mesh({"data": 4, "model": 2})
RULES = {"batch": "data", "hidden": "model"}
MODEL = ["f32[feature=256, hidden=512]", "f32[hidden=512, out=64]"]
BATCH = ("f32[batch=128, feature=256]", "f32[batch=128, out=64]")


def network(model: Any, inputs: tb.Tensor, targets: tb.Tensor) -> tb.Tensor:
    up, down = model
    hidden = tb.maximum(tb.dot(inputs, up, contract=(["feature"], ["feature"])), 0.0)
    return tb.mean(tb.square(tb.dot(hidden, down, contract=(["hidden"], ["hidden"])) - targets))


def run(**options: Any) -> Any:
    return tb.dry_run(network, MODEL, *BATCH, gradient=True, **{"mesh": MESH, "layout": RULES, **options})


def test_figures_are_those_of_one_device() -> None:
    on_mesh = run().on_mesh
    weights = (256 * 512 + 512 * 64) * 4 // 2
    assert on_mesh.program.timeline.parameters == weights + (128 * 256 + 128 * 64) * 4 // 4
    assert on_mesh.program.timeline.results == weights + 4
    # All-reduces: the gradients and the loss over `data`, the outputs of the network over `model`.
    assert on_mesh.by_kind == {"all-reduce": weights + 128 * 64 * 4 // 4 + 4}
    assert on_mesh.sent == 2 * 3 / 4 * (weights + 4) + 2 * 1 / 2 * 128 * 64 * 4 // 4
    alone = tb.dry_run(network, MODEL, *BATCH, gradient=True)
    assert alone.on_mesh is None
    assert on_mesh.flops == pytest.approx(alone.flops / 8, rel=0.01)


def test_where_parameters_and_results_lie() -> None:
    on_mesh = run().on_mesh
    assert [(parameter.name, str(parameter.sharding)) for parameter in on_mesh.parameters[:2]] == [
        ("model[0]", "f32[feature: 256][hidden: 512 / model]"),
        ("model[1]", "f32[hidden: 512 / model][out: 64]"),
    ]
    assert str(on_mesh.results[1].sharding) == "f32[feature: 256][hidden: 512 / model]"
    assert on_mesh.results[1].nbytes == 256 * 256 * 4
    uneven = run(layout={"out": "data", "feature": "data", "nowhere": "model"}).on_mesh
    assert uneven.unused == ("nowhere",)
    assert "no tensor has an axis named nowhere" in uneven.summary()
    odd = tb.dry_run(tb.exp, "f32[batch=6]", mesh=MESH, layout=RULES).on_mesh
    assert odd is not None
    assert "batch is not divided over data: 4 does not divide 6" in odd.text()


def test_fits_judges_a_device() -> None:
    report = run()
    peak = report.on_mesh.peak
    assert report.fits(peak)
    assert not report.fits(peak - 1)
    assert report.eager.peak.memory > peak
    assert report.fits("1MB")
    with pytest.raises(ArgumentError, match="expected a size such as 141GB"):
        report.fits("much")


def test_texts_show_the_layout_and_the_collectives() -> None:
    text = repr(run())
    for part in (
        "on 8 devices, data=4 x model=2; batch on data, hidden on model",
        "all-reduce  data",
        "f32[feature: 256][hidden: 512 / model]",
        "test_divided.py:",
        "time by the model: ops",
    ):
        assert part in text
    assert "all whole" in run(layout=None).on_mesh.summary()


def test_json_and_chart_have_them_too(tmp_path: Path) -> None:
    report = run()
    report.write_json(tmp_path / "run.json")
    read = json.loads((tmp_path / "run.json").read_text())["on_mesh"]
    assert read["mesh"] == {"data": 4, "model": 2}
    assert read["layout"] == {"batch": ["data"], "hidden": ["model"]}
    assert read["collectives_by_kind"] == report.on_mesh.by_kind
    assert read["peak"] == read["program"]["memory"]["peak"] == report.on_mesh.peak
    assert sum(collective["sent"] for collective in read["collectives"]) == pytest.approx(read["sent"])
    assert read["parameters"][0]["layout"] == "f32[feature: 256][hidden: 512 / model]"
    report.chart(tmp_path / "run.html", limit="1MB")
    page = (tmp_path / "run.html").read_text()
    for part in ("layouts of parameters and results", "f32[hidden: 512 / model]", "collectives of each device", "1 MB"):
        assert part in page
    assert page.count("<svg") == 1


def test_it_needs_neither_devices_nor_jax() -> None:
    program = (
        "import sys; sys.modules['jax'] = None\n"
        "import tensorbackend as tb\n"
        "report = tb.dry_run(tb.sum, 'f32[batch=4096]', mesh=tb.Mesh({'data': 512}), layout={'batch': 'data'})\n"
        "print(report.on_mesh.by_kind, report.on_mesh.peak)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "{'all-reduce': 4} 40\n"


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        (
            {"layout": {"batch": "rows"}},
            ArgumentError,
            "an axis of the mesh for 'batch'.*the axes of the mesh are data",
        ),
        ({"layout": {"batch": ("data", "data")}}, ArgumentError, "each mesh axis once for 'batch'"),
        ({"layout": "batch=data"}, ArgumentKindError, "dry_run: expected a mapping"),
        ({"mesh": None}, ArgumentError, r"a mesh together with a layout, got layout=.*; pass mesh=tb\.Mesh"),
        ({"machine": "abacus"}, ArgumentError, "a machine among h100, h200, got machine='abacus'"),
        ({"mesh": {"data": 4}}, ArgumentKindError, "dry_run: expected "),
    ],
)
def test_mistakes(options: Any, error: Any, match: str) -> None:
    with pytest.raises(error, match=match):
        run(**options)


def test_a_mesh_of_other_devices_than_its_sizes_say_is_a_mistake() -> None:
    with pytest.raises(ArgumentError, match="expected 8 different devices, as the sizes say"):
        tb.Mesh({"data": 4, "model": 2}, [0, 1, 2, 3])


BENCHMARK: Any = runpy.run_path(str(Path(__file__).resolve().parents[3] / "benchmarks" / "layouts.py"))


@pytest.mark.parametrize("fully", [False, True])
def test_weak_scaling_is_that_of_the_closed_formula_and_of_the_page(fully: bool) -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "layouts.md").read_text()
    for devices in (1, 8, 512):
        scaled = BENCHMARK["scaled"](devices, fully)
        assert scaled.sent == pytest.approx(scaled.formula, rel=1e-3)
        (row,) = re.findall(rf"^\| {devices} \|.*$", page, re.MULTILINE)
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert cells[1 + 2 * fully : 3 + 2 * fully] == [str(scaled.collectives), show_bytes(scaled.sent)]


@pytest.mark.parametrize("name", BENCHMARK["LAYOUTS"])
def test_the_page_says_what_a_step_of_gpt3_takes(name: str) -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "layouts.md").read_text()
    batch = f"s64[batch={BENCHMARK['SEQUENCES']}, time=2048]"

    def figures(layers: int) -> tuple[int, float]:
        model = BENCHMARK["gpt3"].parameters(layers=layers, vocabulary=50_304)
        options = {"recompute": True, "mesh": BENCHMARK["MESH"], "layout": BENCHMARK["LAYOUTS"][name]}
        on_mesh = tb.dry_run(BENCHMARK["gpt3"].step, model, model, batch, batch, **options).on_mesh
        assert on_mesh is not None
        return on_mesh.program.timeline.parameters, on_mesh.sent

    # Each layer adds the same amount.
    held, sent = (show_bytes(two + 94 * (three - two)) for two, three in zip(figures(2), figures(3), strict=True))
    (row,) = re.findall(rf"^\| {name} \| yes \|.*$", page, re.MULTILINE)
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert (cells[2], cells[5]) == (held, sent)
