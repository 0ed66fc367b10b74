"""The programs of examples/ without a test of their own run, at a smaller size than by default."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_heat_around_an_obstacle(capsys: pytest.CaptureFixture[str]) -> None:
    program = runpy.run_path(str(EXAMPLES / "poisson.py"))
    temperatures = program["run"](16, 2, ["numpy"])  # compares backends, and the gradient with differences
    assert len(temperatures) == 3
    assert temperatures[0] > temperatures[1] > temperatures[2] > 0
    out = capsys.readouterr().out
    assert "binary: 6 x 6" in out
    assert out.count("\n") > 10, "the plate is drawn"
