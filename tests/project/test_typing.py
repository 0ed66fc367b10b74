"""The programs of tests/typing, which assert the types that type checkers infer, run; `make types` checks the types."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

PROGRAMS = sorted((Path(__file__).resolve().parents[1] / "typing").glob("*.py"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_a_program_that_states_its_types_runs(program: Path) -> None:
    assert runpy.run_path(str(program))


def test_there_are_ten() -> None:
    assert len(PROGRAMS) >= 10, "of each kind of user one"
    assert all("assert_type(" in program.read_text() for program in PROGRAMS)
