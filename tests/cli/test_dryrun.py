"""What `tensorbackend dryrun` prints, its exit status, the files that it writes, and mistakes in a call."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tensorbackend.cli import main

PROGRAM = """
import tensorbackend as tb

parameters = {"w": "f32[feature=784, class=10]", "b": "f32[class=10]"}

def loss(parameters, x, scale=1.0):
    logits = x @ parameters["w"] + parameters["b"]
    return tb.mean(tb.logsumexp(logits * scale, axis="class"))

def wrong(parameters, x):
    return parameters["w"] @ x

def broken(x):
    return x["no such key"]
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = f"program_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return name


X = "f32[batch=32, feature=784]"


def test_the_command_prints_totals_and_rows(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dryrun", f"{program}:loss", f"{program}:parameters", X]) == 0
    out = capsys.readouterr().out
    for part in ("eager", "optimised", "matmul", f"{program}.py:7", "alive at the peak", "parameters['w']"):
        assert part in out


def test_arguments_of_the_command(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    trees = '{"w": "f32[feature=784, class=10]", "b": "f32[class=10]"}'
    assert main(["dryrun", f"{program}.py:loss", trees, X, "2.5", "--json", "-"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["programs"][0]["flops"] > 2 * 32 * 784 * 10
    assert (
        main(["dryrun", f"{program}:loss", f"{program}:parameters", X, "--optimised", "--by", "op", "--top", "2"]) == 0
    )
    assert "--top" in capsys.readouterr().out


def test_the_exit_status_says_whether_it_fits(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["dryrun", f"{program}:loss", f"{program}:parameters", X, "--fits"]
    assert main([*command, "141GB"]) == 0
    assert "fits in 141GB" in capsys.readouterr().err
    assert main([*command, "100kB"]) == 1
    assert "does not fit in 100kB" in capsys.readouterr().err


def test_files_of_the_command(program: str, tmp_path: Path) -> None:
    files = ["--json", "run.json", "--chart", "run.html", "--fits", "1GB"]
    assert main(["dryrun", f"{program}:loss", f"{program}:parameters", X, *files]) == 0
    assert json.loads((tmp_path / "run.json").read_text())["function"] == "loss"
    assert "<svg" in (tmp_path / "run.html").read_text()


def test_a_users_mistake_shows_the_line_and_both_templates(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dryrun", f"{program}:wrong", f"{program}:parameters", X]) == 2
    error = capsys.readouterr().err
    assert f"{program}.py:11, in wrong" in error
    assert 'return parameters["w"] @ x' in error
    assert "f32[feature: 784][class: 10]" in error
    assert "f32[batch: 32][feature: 784]" in error
    assert "Traceback" not in error
    assert main(["dryrun", f"{program}:broken", "{}"]) == 2
    assert "KeyError: 'no such key'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["{program}", X],
        ["{program}:none", X],
        ["no_such_module:loss", X],
        ["no_such_file.py:loss", X],
        ["{program}:loss", "f32[batch"],
        ["{program}:loss", X, "--fits", "much"],
        ["{program}:loss", X, "--chart", "run.pdf"],
        ["{program}:loss", X, "--chart", "no_such_folder/run.html"],
        ["{program}:loss", X, "--json", "no_such_folder/run.json"],
        ["{program}:loss", X, "--top", "0"],
    ],
)
def test_mistakes_on_the_command_line(program: str, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dryrun", *(argument.format(program=program) for argument in arguments)]) == 2
    assert capsys.readouterr().err.startswith("tensorbackend dryrun: expected ")


def test_the_largest_size_that_fits(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["dryrun", f"{program}:loss", f"{program}:parameters", "x=f32[batch=?, feature=784]", "--gradient"]

    def peak_fits(size: int, limit: str) -> bool:
        text = command[3].replace("?", str(size))
        return main([*command[:3], text, *command[4:], "--fits", limit]) == 0

    assert main([*command, "--fits", "1MB"]) == 0
    said = capsys.readouterr().out.splitlines()[0]
    assert said.startswith("the largest size that fits in 1MB is ")
    size = int(said.rpartition(" ")[2])
    assert size > 1
    assert peak_fits(size, "1MB")
    assert not peak_fits(size + 1, "1MB")
    capsys.readouterr()
    assert main([*command, "--fits", "10kB"]) == 1
    assert capsys.readouterr().out.startswith("no size fits")


def test_an_open_size_needs_a_limit(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dryrun", f"{program}:loss", f"{program}:parameters", "f32[batch=?, feature=784]"]) == 2
    assert "--fits" in capsys.readouterr().err
