"""The tests mirror the package: the name of a test file says which module it tests."""

from __future__ import annotations

from pathlib import Path

import pytest

import tensorbackend as tb

PACKAGE = Path(tb.__file__).parent
TESTS = Path(__file__).parents[1]
PROJECT = TESTS / "project"
"""The folder of tests about the package as a whole."""


def subject(path: Path) -> str:
    """Return what a test file tests, by its path: `expr/grad/test_control.py` tests `expr/grad/control`."""
    return path.relative_to(TESTS).with_name(path.stem.removeprefix("test_")).as_posix()


def exists(place: str) -> bool:
    return (PACKAGE / place).is_dir() or (PACKAGE / f"{place}.py").is_file()


@pytest.mark.parametrize("path", sorted(TESTS.rglob("test_*.py")), ids=subject)
def test_a_test_is_found_by_what_it_tests(path: Path) -> None:
    if path.parent == PROJECT:
        assert not exists(subject(path).removeprefix("project/")), "it is about one module"
        return
    place = subject(path)
    names = place.split("_")
    leading = ["_".join(names[:end]) for end in range(len(names), 0, -1)]
    assert any(map(exists, leading)), (
        "name it after a module or package of tensorbackend/, alone or with an aspect of it"
    )
