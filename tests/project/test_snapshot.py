"""The list of the public interface is that of the code, and changes only together with the changelog."""

from __future__ import annotations

import inspect
from difflib import unified_diff
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

import tensorbackend as tb

ROOT = Path(__file__).resolve().parents[2]
SNAPSHOT = run_path(str(ROOT / "docs" / "snapshot.py"))


def compare(found: str) -> None:
    """Fails with the lines that differ from those of the file."""
    listed = SNAPSHOT["FILE"].read_text(encoding="utf-8")
    lines = unified_diff(listed.splitlines(), found.splitlines(), "docs/interface.txt", "the code", n=0, lineterm="")
    if differing := "\n".join(lines):
        pytest.fail(f"{differing}\nwrite it into CHANGELOG.md and run `make snapshot`", pytrace=False)


@pytest.fixture(scope="module")
def text() -> str:
    found: str = SNAPSHOT["text"]()
    return found


def test_the_interface_is_the_listed_one(text: str) -> None:
    compare(text)


def test_each_section_has_lines(text: str) -> None:
    sections = [part.partition("\n")[2].split() for part in text.split("\n# ")[1:]]
    assert len(sections) == len(SNAPSHOT["SECTIONS"])
    assert all(sections)


def test_a_changed_default_is_a_difference(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function: Any = tb.linalg.pinv
    signature = inspect.signature(function)
    name, entry = next((name, x) for name, x in signature.parameters.items() if x.default is None)
    planted = signature.replace(parameters=[
        x.replace(default=0.5) if x.name == name else x for x in signature.parameters.values()
    ])  # fmt: skip
    before = next(line for line in text.splitlines() if line.startswith("tb.linalg.pinv("))
    monkeypatch.setattr(function, "__signature__", planted, raising=False)
    (after,) = SNAPSHOT["lines_of"]("tb.linalg.pinv", function)
    assert f"{name}={entry.default!r}" in before
    assert f"{name}=0.5" in after
    with pytest.raises(pytest.fail.Exception) as failure:
        compare(text.replace(before, after))
    assert str(failure.value).splitlines()[-3:] == [
        f"-{before}", f"+{after}", "write it into CHANGELOG.md and run `make snapshot`"
    ]  # fmt: skip


def test_a_change_is_written_after_it_is_announced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = SNAPSHOT["write"]
    file, changelog = tmp_path / "interface.txt", tmp_path / "CHANGELOG.md"
    file.write_text("tb.ones(shape)\ntensorbackend check --examples = 100\nkeep\n")
    changelog.write_text("## [Unreleased]\n- `ones` takes `dtype`.\n## [0.1.0]\n- `check --examples`\n")
    monkeypatch.setitem(write.__globals__, "FILE", file)
    monkeypatch.setitem(write.__globals__, "CHANGELOG", changelog)
    new = "tb.ones(shape, dtype=None)\ntensorbackend check --examples = 50\nkeep\n"
    monkeypatch.setitem(write.__globals__, "text", lambda: new)
    with pytest.raises(SystemExit, match=r"to name what changed, under Unreleased: --examples$"):
        write()
    assert "100" in file.read_text()
    changelog.write_text("## [Unreleased]\n- `ones` takes `dtype`; `check --examples` is 50.\n")
    write()
    assert file.read_text() == new


def test_every_option_that_writes_json_has_its_keys() -> None:
    written = {
        f"{command} {option}"
        for command, parser in SNAPSHOT["subcommands"]().items()
        for action in parser._actions
        for option in action.option_strings
        if option in ("--json", "--report") and command != "onnx"  # whose keys are the plugin's
    }
    assert written <= set(SNAPSHOT["ARGUMENTS"])
