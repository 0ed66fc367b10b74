"""The command `onnx` where the distribution that it needs is missing; the distribution's own tests run it."""

from __future__ import annotations

import sys

import pytest

from tensorbackend.cli import main


@pytest.fixture(autouse=True)
def without_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("tensorbackend_onnx", "tensorbackend_onnx.command", "tensorbackend_onnx.conformance"):
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.parametrize(
    "arguments", [["onnx", "model.onnx"], ["dryrun", "model.onnx", "f32[3]"], ["check", "numpy", "--onnx"]]
)
def test_a_command_about_models_says_what_to_install(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert "install the distribution tensorbackend-onnx" in capsys.readouterr().err
