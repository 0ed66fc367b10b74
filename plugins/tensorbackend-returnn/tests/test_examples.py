"""The training loop of the README, as a program."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "examples"


def load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("over", ["numpy", "jax"])
def test_the_conformer_learns(over: str, capsys: pytest.CaptureFixture[str]) -> None:
    losses = load("train_conformer").main(over, 45)
    assert losses[-1] < losses[0] / 4
    assert "model.001.pt" in capsys.readouterr().out
