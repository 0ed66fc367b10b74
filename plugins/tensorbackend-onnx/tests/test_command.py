"""The commands `onnx`, `dryrun` and `check --onnx` on a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy
import onnx
import pytest
from onnx import helper
from small_models import model, value
from tensorbackend.cli import main

from tensorbackend_onnx import conformance


@pytest.fixture
def path(tmp_path: Path) -> str:
    proto = model(
        [helper.make_node("MatMul", ["x", "w"], ["h"], "product"), helper.make_node("Relu", ["h"], ["y"], "relu")],
        [value("x", "float", ("batch", 8))],
        [value("y", "float", ("batch", 16))],
        {"w": numpy.ones((8, 16), "f")},
    )
    onnx.save(proto, tmp_path / "small.onnx")
    return str(tmp_path / "small.onnx")


def test_onnx_shows_inputs_parameters_operators_and_costs_by_node(
    path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["onnx", path, "x=f32[batch=4, 8]"]) == 0
    said = capsys.readouterr().out
    for part in ("f32[batch: ?][8]", "1 parameters: 128 numbers, 512 bytes", "MatMul", "small.onnx:1", "1.02 k"):
        assert part in said
    assert main(["onnx", path]) == 0
    assert "a template for input x, f32[batch: ?][8]; such as 'x=f32[batch=8, 8]'" in capsys.readouterr().out


def test_onnx_says_whether_a_model_fits_and_writes_json(
    path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["onnx", path, "x=f32[batch=4, 8]", "--fits", "1MB", "--json", "-"]) == 0
    said = capsys.readouterr()
    written = json.loads(said.out)
    assert written.keys() == {"file", "opsets", "inputs", "outputs", "parameters", "operators", "costs"}
    assert written["inputs"] == [{"name": "x", "template": "f32[batch: ?][8]"}]
    assert written["parameters"] == {"count": 1, "numbers": 128, "bytes": 512}
    assert written["operators"] == {"MatMul": 1, "Relu": 1}
    assert written["costs"]["programs"][0]["flops"] == 2 * 4 * 8 * 16 + 4 * 16
    assert "fits in 1MB" in said.err
    assert main(["onnx", path, "x=f32[batch=4, 8]", "--fits", "1kB"]) == 1
    assert "does not fit in 1kB" in capsys.readouterr().err
    assert main(["onnx", path, "--json", str(tmp_path / "model.json")]) == 0
    assert json.loads((tmp_path / "model.json").read_text())["costs"] is None
    for arguments in (["--fits", "1kB"], ["--fits", "many"], ["--json", str(tmp_path / "none" / "model.json")]):
        assert main(["onnx", path, *arguments]) == 2


def test_onnx_names_what_is_missing_and_mistakes(path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    proto = onnx.load(path)
    proto.graph.node[1].op_type = "Frobnicate"
    onnx.save(proto, tmp_path / "other.onnx")
    assert main(["onnx", str(tmp_path / "other.onnx")]) == 1
    assert "Frobnicate in 'relu'" in capsys.readouterr().err
    for arguments in ([str(tmp_path / "none.onnx")], [path, "z=f32[4, 8]"], [path, "f32[4, 8]", "f32[4, 8]"]):
        assert main(["onnx", *arguments]) == 2
    assert "templates of 1 inputs, ['x']" in capsys.readouterr().err


def test_dryrun_takes_a_model_and_differentiates_it_by_its_parameters(path: str, tmp_path: Path) -> None:
    def flops(*options: str) -> Any:
        report = tmp_path / "report.json"
        assert main(["dryrun", path, "x=f32[batch=4, 8]", "--json", str(report), *options]) == 0
        return json.loads(report.read_text())["programs"][0]["flops"]

    forward = flops()
    assert forward == 2 * 4 * 8 * 16 + 4 * 16
    assert flops("--gradient") >= forward + 2 * 4 * 8 * 16
    assert main(["dryrun", path, "f32[batch=4, 8]", "--fits", "1kB"]) == 1
    assert main(["dryrun", path, "f32[batch=4, 9]"]) == 2


def test_check_runs_onnx_own_tests(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    few = [*conformance.cases("node", only="test_(abs|softmax_axis_0|strnorm.*)"), *conformance.cases("simple")]
    monkeypatch.setattr(conformance, "cases", lambda *kinds: iter(few))
    assert main(["check", "numpy", "--onnx"]) == 0
    said = capsys.readouterr().out
    assert "node" in said
    assert "simple" in said
    assert "only the kinds" not in said
    assert main(["check", "binary", "--onnx"]) == 0
    assert "only the kinds node, simple" in capsys.readouterr().out
    broken = few[0]._replace(data=[(inputs, [numpy.asarray(x) + 1 for x in right]) for inputs, right in few[0].data])
    few.append(broken)
    assert main(["check", "numpy", "--onnx"]) == 1
    assert "test_abs: AssertionError" in capsys.readouterr().out
