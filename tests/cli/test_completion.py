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
def test_each_shell_gets_a_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for word in ("info", "check", "dryrun", "completion", "--report", "--gradient", "binary", "float32", "logsumexp"):
        assert word.removeprefix("--") in script


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_reads_its_script(shell: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    main(["completion", shell])
    path = tmp_path / "script"
    path.write_text(capsys.readouterr().out)
    done = subprocess.run([shell, "-n", path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


BASH = """
source {script}
COMP_WORDS=({words}) COMP_CWORD={place} COMP_LINE="{words}" COMP_POINT=100
$(complete -p tensorbackend | sed 's/.*-F \\([^ ]*\\).*/\\1/')
echo "${{COMPREPLY[@]}}"
"""

FISH = """
source {script}
complete --do-complete '{words}' | string split --fields 1 \\t
"""

# Send the line and the Tab key to an interactive zsh on a pseudoterminal. Its compadd writes the matches to a file. Its
# prompt shows that it is ready. Another key runs a widget, which shows that the completion is done.
ZSH = """
zmodload zsh/zpty
zpty inner zsh -f -i
zpty -w inner '
    PATH={folder}:$PATH; autoload -Uz compinit; compinit -u -D; bindkey "^I" complete-word; eval "$(<{script})"
    compadd() {{
        local matches; builtin compadd -A matches "$@"; print -lr -- $matches >> {folder}/found; builtin compadd "$@"
    }}
    finished() {{ print -n FINISHED }}; zle -N finished; bindkey "^X" finished; PS1=REA""DY
'
zpty -r -m inner output '*READY*'
zpty -w -n inner '{words}'$'\\t\\x18'
zpty -r -m inner output '*FINISHED*'
zpty -d inner
sort -u {folder}/found
"""

PROGRAMS = {"bash": BASH, "fish": FISH, "zsh": ZSH}


@pytest.mark.parametrize("shell", [shell for shell in PROGRAMS if shell == "bash" or shutil.which(shell)])
@pytest.mark.parametrize(
    ("words", "completions"),
    [
        (["tensorbackend", "ch"], ["check"]),
        (["tensorbackend", "check", "--qu"], ["--quick"]),
        (["tensorbackend", "check", "bin"], ["binary"]),
        (["tensorbackend", "check", "--op", "log1p", "--op", "logaddexp", "--dtype", "bf"], ["bfloat16"]),
        (["tensorbackend", "completion", "z"], ["zsh"]),
        (["tensorbackend", "dryrun", "pro"], ["program.py"]),
    ],
)
def test_a_shell_completes(
    shell: str, words: list[str], completions: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    main(["completion", shell])
    script = tmp_path / "script"
    script.write_text(capsys.readouterr().out)
    (tmp_path / "program.py").touch()
    command = tmp_path / "tensorbackend"
    command.touch(mode=0o755)
    program = PROGRAMS[shell].format(script=script, folder=tmp_path, words=" ".join(words), place=len(words) - 1)
    done = subprocess.run([shell, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == completions, done.stderr


def test_without_shtab_the_command_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 2
    assert "pip install '.[cli]'" in capsys.readouterr().err
