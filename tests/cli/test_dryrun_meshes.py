"""The options of `tensorbackend dryrun` for meshes; `test_dryrun.py` has the other options."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tensorbackend.cli import main

PROGRAM = """
import tensorbackend as tb

def loss(w, x):
    return tb.mean(tb.square(tb.dot(x, w, contract=(["feature"], ["feature"]))))
"""

CALL = ["f32[feature=512, unit=512]", "f32[batch=4096, feature=512]", "--gradient"]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    name = f"program_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return ["dryrun", f"{name}:loss", *CALL]


def test_a_mesh_shows_collectives_where_tensors_lie_and_what_fits(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["--mesh", "data=4,model=2", "--layout", "batch=data,unit=model", "--machine", "h200"]
    assert main([*command, *place, "--fits", "141GB"]) == 0
    shown = capsys.readouterr()
    for part in ("on 8 devices, data=4 x model=2", "time, h200", "all-reduce", "f32[feature: 512][unit: 512 / model]"):
        assert part in shown.out
    assert "per device: the peak of" in shown.err
    assert main([*command, *place, "--fits", "1MB"]) == 1
    both = ["--mesh", "data=4,model=2", "--layout", "batch=data+model", "--json", "-"]
    capsys.readouterr()
    assert main([*command, *both]) == 0
    assert json.loads(capsys.readouterr().out)["on_mesh"]["layout"] == {"batch": ["data", "model"]}


def test_search_ranks_layouts(command: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    search = ["--mesh", "data=4,model=2", "--search", "batch,unit"]
    assert main([*command, *search, "--top", "3", "--json", "found.json"]) == 0
    out = capsys.readouterr().out
    assert "batch on" in out
    assert "and 6 more: --top 9 shows all" in out
    assert len(json.loads((tmp_path / "found.json").read_text())) == 9
    assert main([*command, *search, "--fits", "1kB"]) == 1
    assert "no layout fits in 1kB: the smallest peak is" in capsys.readouterr().err
    assert main([*command, *search, "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["fits"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--layout", "batch=data"], "--mesh together with --layout"),
        (["--search", "batch"], "--mesh together with --search"),
        (["--by", "xla"], "--mesh together with --by xla"),
        (["--mesh", "data"], "--mesh data=4,model=2, got mesh='data'"),
        (["--mesh", "data=four"], "sizes by name"),
        (["--mesh", "data=0"], "an int of at least 1 as the size of 'data'"),
        (["--mesh", "data=4,data=2"], "pairs of different names"),
        (["--mesh", "data=4", "--layout", "batch:data"], "--layout batch=data,hidden=model, got layout='batch:data'"),
        (["--mesh", "data=4", "--layout", "batch=rows"], "the axes of the mesh are data"),
        (["--mesh", "data=4", "--layout", "batch=data+data"], "each mesh axis once"),
        (["--mesh", "data=4", "--search", "nowhere"], "names that axes of tensors have"),
        (["--mesh", "data=4", "--search", "batch", "--layout", "batch=data"], "--search without --layout"),
        (["--mesh", "data=4", "--machine", "abacus"], "a machine among h100, h200"),
        (["--mesh", "data=4", "--fits", "much"], "a size such as 141GB"),
    ],
)
def test_mistakes_about_meshes(
    command: list[str], options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, *options]) == 2
    error = capsys.readouterr().err
    assert error.startswith("tensorbackend dryrun: ")
    assert said in error


def test_without_jax_there_are_no_figures_of_xla(
    command: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tensorbackend.errors import BackendError

    def missing(*_: object) -> None:
        raise BackendError("expected an installed backend, got name='jax'")

    monkeypatch.setattr("tensorbackend.costs.mesh.divided.get_backend", missing)
    assert main([*command, "--mesh", "data=4", "--by", "xla"]) == 2
    assert "expected an installed backend" in capsys.readouterr().err
