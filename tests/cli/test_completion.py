"""Scripts that let shells complete the command line."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tensorbackend.cli import main
from tensorbackend.cli.completion import SHELLS


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_gets_a_script(shell: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for word in ("info", "check", "dryrun", "completion", "--report", "--gradient", "binary", "float32", "logsumexp"):
        assert word.removeprefix("--") in script
    if shutil.which(shell) is None:
        return  # the script is not read where the shell is not there
    path = tmp_path / "script"
    path.write_text(script)
    done = subprocess.run([shell, "-n", path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


COMPLETED = """
source {script}
COMP_WORDS=({words}) COMP_CWORD={place} COMP_LINE="{words}" COMP_POINT=100
$(complete -p tensorbackend | sed 's/.*-F \\([^ ]*\\).*/\\1/')
echo "${{COMPREPLY[@]}}"
"""


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not there")
@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["tensorbackend", "ch"], ["check"]),
        (["tensorbackend", "check", "--qu"], ["--quick"]),
        (["tensorbackend", "check", "bin"], ["binary"]),
        (["tensorbackend", "completion", "z"], ["zsh"]),
    ],
)
def test_bash_completes(
    words: list[str], wanted: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    main(["completion", "bash"])
    script = tmp_path / "script"
    script.write_text(capsys.readouterr().out)
    program = COMPLETED.format(script=script, words=" ".join(words), place=len(words) - 1)
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.split() == wanted, done.stderr


def test_without_shtab_the_command_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 2
    assert "pip install 'tensorbackend[cli]'" in capsys.readouterr().err
