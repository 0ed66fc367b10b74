"""The command line as a whole: the version, and what is said of a command that does not exist."""

from __future__ import annotations

import pytest

import tensorbackend as tb
from tensorbackend.cli import commands, main


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit:
        main(["--version"])
    assert exit.value.code == 0
    assert capsys.readouterr().out == f"tensorbackend {tb.__version__}\n"


@pytest.mark.parametrize(
    ("wrong", "remedy"),
    [("chek", "did you mean check?"), ("dry-run", "did you mean dryrun?"), ("zzz", f"choose one of {commands()[0]}, ")],
)
def test_a_wrong_command_is_told_the_nearest(wrong: str, remedy: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([wrong, "numpy"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"tensorbackend: expected a command, got command='{wrong}'; {remedy}")


def test_a_function_made_of_an_op_is_checked_by_the_op(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "numpy", "--op", "nn.conv", "--dtype", "f32", "--examples", "2"]) == 0
    assert "1 ops, 1 pairs of op and dtype, 2 calls" in capsys.readouterr().out
