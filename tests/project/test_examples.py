"""The programs of examples/ without a test of their own run, at a smaller size than by default."""

import importlib
import re
import runpy
import sys
from pathlib import Path

import pytest
from rich.console import Console

import tensorbackend as tb
import tensorbackend.numpy as np

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize("name", ["minimal_backend", "mixed_precision", "quantized", "transformer"])
def test_a_program_says_what_it_lacks_where_the_package_is_alone(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after `make demo`, which installs no extra."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.setattr(sys, "argv", [name])
    for module in [module for module in sys.modules if module.partition(".")[0] in ("rich", "transformer")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "rich", None)  # Python refuses to import it
    monkeypatch.setitem(sys.modules, "rich.console", None)
    with pytest.raises(SystemExit, match=r"needs rich: pip install '.\[examples\]'"):
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")


def test_other_programs_need_no_extra() -> None:
    needy = {path.stem for path in EXAMPLES.glob("*.py") if re.search(r"^ *(from|import) rich", path.read_text(), re.M)}
    assert needy == {"minimal_backend", "quantized", "transformer"}  # mixed_precision imports the last one
    others = r"^(from|import) (jax|matplotlib|torch|xarray)"
    assert not any(re.search(others, path.read_text(), re.M) for path in EXAMPLES.glob("*.py"))


def test_heat_around_an_obstacle(capsys: pytest.CaptureFixture[str]) -> None:
    program = runpy.run_path(str(EXAMPLES / "poisson.py"))
    temperatures = program["run"](16, 2, ["numpy"])  # compares backends, and the gradient with differences
    assert len(temperatures) == 3
    assert temperatures[0] > temperatures[1] > temperatures[2] > 0
    out = capsys.readouterr().out
    assert "binary: 6 x 6" in out
    assert out.count("\n") > 10, "the plate is drawn"


def test_mixed_precision_follows_float32(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    transformer = importlib.import_module("transformer")
    for name, size in {"LAYERS": 1, "WIDTH": 16, "CONTEXT": 8, "BATCH": 2}.items():
        monkeypatch.setattr(transformer, name, size)
    train = runpy.run_path(str(EXAMPLES / "mixed_precision.py"))["train"]
    exact = train(None, 3)
    assert train("bfloat16", 3) == pytest.approx(exact, rel=0.02)
    assert train("float16", 3) == pytest.approx(exact, rel=0.02)
    assert "after 0 overflows" in capsys.readouterr().out


def test_a_numpy_program_is_differentiated_and_compiled(capsys: pytest.CaptureFixture[str]) -> None:
    program = runpy.run_path(str(EXAMPLES / "numpy_program.py"))

    def smoothed(steps: int, x: np.ndarray) -> None:
        for _ in range(steps):
            x[1:-1] += 0.25 * (x[2:] - 2 * x[1:-1] + x[:-2])
            x[0] *= 0.5

    assert program["run"](smoothed, [3, np.linspace(0, 1, 8)]) < 1e-5
    assert "compiled" in capsys.readouterr().out


def test_a_transformer_keeps_its_loss_in_8_bits() -> None:
    program = runpy.run_path(str(EXAMPLES / "quantized.py"))
    found = program["run"](2, Console(quiet=True))  # compares predicted bytes with measured ones
    plain, full = found["float32"]
    assert all(abs(value - plain) < 0.2 for value, _ in found.values())
    assert abs(found["int8"][0] - plain) < 0.01
    assert found["int4"][1] < 0.15 * full


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "int4"])
def test_the_bytes_of_a_large_model_are_those_counted_by_hand(name: str) -> None:
    program = runpy.run_path(str(EXAMPLES / "llama.py"))
    report = tb.dry_run(program["generate"], *program["templates"](name, 8192, layers=1))
    held, counted = report.eager.timeline.parameters, program["by_hand"](name, 8192, layers=1)
    assert abs(held - counted) < 0.01 * counted
    assert program["by_hand"]("bfloat16", 0) == 2 * 70_553_706_496  # the number of parameters that its makers state
