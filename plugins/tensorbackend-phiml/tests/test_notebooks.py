"""The runner of PhiFlow's notebooks, on notebooks and a `phi.flow` that are planted here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import run
from run import Outcome, Row, distance, last_error, main, table, written, wrong

FLOW = (
    "from phiml import *\nfrom phiml import math\nimport numpy as np\ndef plot(*values): raise RuntimeError('drawn')\n"
)


def planted(folder: Path, **notebooks: list[str]) -> Path:
    """A checkout with a library `phi.flow` and notebooks of cells of code."""
    (folder / "phi").mkdir()
    (folder / "phi" / "flow.py").write_text(FLOW)
    (folder / "phi" / "VERSION").write_text("9.9\n")
    (folder / "examples" / "grids").mkdir(parents=True)
    for name, sources in notebooks.items():
        cells = [{"cell_type": "markdown", "source": ["no code"]}]
        cells += [{"cell_type": "code", "source": source.splitlines(keepends=True)} for source in sources]
        (folder / "examples" / "grids" / f"{name}.ipynb").write_text(json.dumps({"cells": cells}))
    return folder


def arrays(folder: Path, notebook: str, backend: str, steps: str = "3") -> Any:
    """The numbers of a run, which must succeed."""
    outcome = run.run(folder, f"grids/{notebook}", backend, steps, folder)
    assert outcome.error == ""
    return outcome.arrays


IMPORTS = "%pip install phiflow\nfrom phi.jax.flow import *\nfrom tqdm.notebook import trange\n"
STEPS = """\
@jit_compile
def step(x):
    return x * .5 + 1

x = math.random_uniform(spatial(x=2)) + tensor([1., 2.], spatial('x'))
trajectory = iterate(step, batch(time=100), x, range=trange, substeps=5)
last = iterate(step, 100, x)
plot(trajectory)
"""
LOOP = "!ls\nlosses = []\nfor i in range(200):\n    losses.append(math.sum(trajectory.time[i]))\nname = 'a text'\n"


def test_a_notebook_runs_at_few_steps_with_the_same_draws(tmp_path: Path) -> None:
    folder = planted(tmp_path, Few=[IMPORTS, STEPS, LOOP])
    theirs = arrays(folder, "Few", "numpy")
    assert sorted(theirs) == ["i:0", "last:0", "losses:0", "losses:1", "losses:2", "trajectory:0", "x:0"]
    assert theirs["trajectory:0"].shape == (4, 2)
    for backend in ("ours:numpy", "ours:numpy:eager", "jax"):
        assert distance(arrays(folder, "Few", backend), theirs) < 1e-12
    assert theirs["x:0"].dtype == np.float64


def test_a_notebook_runs_all_its_steps_where_asked(tmp_path: Path) -> None:
    folder = planted(
        tmp_path, All=["from phi.flow import *", "x = iterate(lambda x: x + 1, batch(time=7), tensor(0.))"]
    )
    assert arrays(folder, "All", "ours:numpy", "all")["x:0"].tolist() == list(range(8))


def test_of_the_steps_of_a_solve_the_first_and_the_last_are_saved(tmp_path: Path) -> None:
    lines = "x = math.range(batch(trajectory=9)) * wrap([1, 2], spatial('x'))\ny = math.range(batch(trajectory=3))"
    folder = planted(tmp_path, Solved=["from phi.flow import *", lines])
    found = arrays(folder, "Solved", "ours:numpy")
    assert found["x:0"].tolist() == [[0, 0], [1, 2], [2, 4], [8, 16]]
    assert found["y:0"].tolist() == [0, 1, 2]


def test_solves_in_64_bits_have_a_tolerance_that_direct_ones_reach(tmp_path: Path) -> None:
    x, y = (f"{name} = math.Solve().with_defaults('solve').rel_tol" for name in "xy")
    folder = planted(tmp_path, Solved=["from phi.flow import *", x, f"with math.precision(32):\n    {y}"])
    found = arrays(folder, "Solved", "numpy")
    assert found["x:0"] == 1e-10
    assert found["y:0"] == 1e-5


def test_a_run_that_fails_leaves_its_error(tmp_path: Path) -> None:
    folder = planted(tmp_path, Fails=["from phi.flow import *", "1 / 0"], Empty=["from phi.flow import *", "a = 'b'"])
    assert run.run(folder, "grids/Fails", "numpy", "3", folder).error == "ZeroDivisionError: division by zero"
    assert "expected tensors in the variables" in run.run(folder, "grids/Empty", "numpy", "3", folder).error


def test_a_report_is_not_made_again(tmp_path: Path) -> None:
    (tmp_path / "grids-Kept-numpy.txt").write_text("ValueError: of a run before")
    assert run.run(tmp_path, "grids/Kept", "numpy", "3", tmp_path).error == "ValueError: of a run before"


def test_the_error_of_a_traceback_is_found() -> None:
    text = "Traceback (most recent call last):\n  File 'x'\nphiml.math._optimize.Diverged: no\nFor simplicity, JAX\n"
    assert last_error(text) == "phiml.math._optimize.Diverged: no"
    assert last_error("AssertionError\n") == "AssertionError"


@pytest.mark.parametrize(
    ("found", "expected", "apart"),
    [
        ([1.0, 4.0], [1.0, 5.0], 0.2),
        ([np.nan, 2.0], [np.nan, 2.0], 0.0),
        ([np.inf, 2.0], [1.0, 2.0], np.inf),
        ([True, False], [True, True], 1.0),
        ([1.0, 1.0, 1.0], [1.0, 1.0], np.inf),
    ],
)
def test_the_distance_is_relative_to_the_largest_number(found: Any, expected: Any, apart: float) -> None:
    assert distance({"x": np.array(found)}, {"x": np.array(expected)}) == pytest.approx(apart)


def test_the_distance_of_other_variables_is_infinite() -> None:
    assert distance({}, {"x": np.zeros(1)}) == np.inf


def rows(**outcomes: Any) -> list[Row]:
    """Rows of one notebook whose runs have one number, or fail with a text."""
    given = {name.replace("_", ":"): value for name, value in outcomes.items()}
    return [
        Row(
            "grids/Planted",
            {
                name: Outcome(None, value) if isinstance(value, str) else Outcome({"x": np.array(value)})
                for name, value in given.items()
            },
        )
    ]


def test_what_differs_and_is_not_listed_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    found = rows(numpy="Error: a", jax=2.0, ours_numpy="Error: b", ours_numpy_eager=2.00001, ours_jax=3.0)
    assert wrong(found) == ["grids/Planted, ours:numpy: Error: b", "grids/Planted, ours:jax: 5e-01"]
    listed = {("grids/Planted", name): "a reason" for name in ("ours:numpy", "ours:numpy:eager")}
    monkeypatch.setattr(run, "EXCEPTIONS", listed)
    assert wrong(found)[0] == "grids/Planted, ours:numpy:eager: is an exception and agrees"
    text = table(found)
    assert "| grids/Planted | fails | runs |  | fails | 5e-06 | 5e-01 |" in text
    assert "1 notebooks; 1 run on one of PhiML's backends, and of these 0 agree ours on NumPy" in text
    assert "| grids/Planted | ours on NumPy | a reason |" in text


def test_what_is_undetermined_is_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    def outcome(x: float, p: float) -> Outcome:
        return Outcome({"x": np.array(x), "p": np.array(p)})

    row = Row("grids/Planted", {"numpy": outcome(1, 2), "ours:numpy": outcome(1, 3), "ours:jax": outcome(2, 2)})
    assert not row.agrees("ours:numpy")
    monkeypatch.setattr(run, "UNDETERMINED", {("grids/Planted", "p"): "a constant is free"})
    assert row.agrees("ours:numpy")
    assert not row.agrees("ours:jax")
    row.outcomes |= {"jax": outcome(1, 2), "ours:numpy:eager": outcome(1, 2)}
    assert "- `p` of grids/Planted is not compared: a constant is free." in table([row])


def test_a_reason_for_phimls_own_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    found = rows(numpy=1.0, jax=2.0, ours_numpy=1.0, ours_numpy_eager=1.0, ours_jax=1.0)
    assert wrong(found) == []
    monkeypatch.setattr(run, "EXCEPTIONS", {("grids/Planted", "jax"): "a reason"})
    assert wrong(found) == []
    assert "| grids/Planted | PhiML's JAX | a reason |" in table(found)
    agrees = rows(numpy=1.0, jax=1.0, ours_numpy=1.0, ours_numpy_eager=1.0, ours_jax=1.0)
    assert wrong(agrees) == ["grids/Planted, jax: is an exception and agrees"]


def test_what_phiml_cannot_run_is_not_wrong() -> None:
    found = rows(numpy="a.b.Error: |`x", jax="a.b.Error: |`x", ours_numpy="no", ours_numpy_eager="no", ours_jax=1.0)
    assert wrong(found) == []
    assert "| grids/Planted | `Error: /'x` |" in table(found)


def test_the_table_is_written_between_its_comments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{run.BEGIN}\nold\n{run.END}\nafter\n")
    folder = planted(tmp_path, Small=["from phi.flow import *", "x = math.ones(spatial(x=3))"])
    assert main([str(folder), "--page", str(page)]) == 0
    assert "| grids/Small | runs | 0 |  | 0 | 0 | 0 |" in page.read_text()
    assert page.read_text().startswith("before\n")
    assert page.read_text().endswith("after\n")
    assert "old" not in page.read_text()
    assert "PhiFlow 9.9 on PhiML" in page.read_text()
    assert "grids/Small: numpy runs" in capsys.readouterr().out
    assert written(page.read_text(), "new") == f"before\n{run.BEGIN}\n\nnew\n\n{run.END}\nafter\n"


def test_another_folder_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([str(tmp_path)])
    assert "expected a checkout of PhiFlow" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([str(planted(tmp_path, Small=[])), "grids/Other"])
    assert "got grids/Other" in capsys.readouterr().err
