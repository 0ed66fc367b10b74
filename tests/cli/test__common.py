"""Functions and classes that the command line finds in modules and files."""

import sys
from pathlib import Path

import pytest

from tensorbackend.cli._common import place
from tensorbackend.errors import ArgumentError


def test_a_place_is_in_a_module_or_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "held_in_a_file.py").write_text("class Held:\n    number = 3\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert place("held_in_a_file.py:Held.number") == 3
    assert place("held_in_a_file:Held") is sys.modules["held_in_a_file"].Held
    assert place("math:pi") > 3
    for wrong in ("held_in_a_file:other", "no_such_module:f", "missing.py:f", "no place"):
        with pytest.raises(ArgumentError):
            place(wrong)
