"""Where the tests of a module are: `tests/expr/grad/test_control_errors.py` tests `expr/grad/control.py`."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE, TESTS = ROOT / "tensorbackend", ROOT / "tests"
PROJECT = TESTS / "project"
"""The folder of tests about the package as a whole."""


def subject(path: Path) -> str:
    """Return what a test file tests, by its path: `expr/grad/control_errors`, a module with an aspect of it."""
    return path.relative_to(TESTS).with_name(path.stem.removeprefix("test_")).as_posix()


def exists(place: str) -> bool:
    """Return whether a place such as `expr/grad/control` is a module or a package."""
    return (PACKAGE / place).is_dir() or (PACKAGE / f"{place}.py").is_file()


def under_test(path: Path) -> str | None:
    """Return the module or package that a test file tests, without the aspect; `None` if there is none."""
    folder, _, words = subject(path).rpartition("/")
    parts = words.split("_")
    leading = ["/".join(filter(None, [folder, "_".join(parts[:end])])) for end in range(len(parts), 0, -1)]
    return next(filter(exists, leading), None)


@cache
def files() -> tuple[Path, ...]:
    """Return the test files that are about a module or a package."""
    return tuple(path for path in sorted(TESTS.rglob("test_*.py")) if path.parent != PROJECT)


def module_name(path: Path) -> str:
    """Return the place of a module, of its package for `__init__.py`: `expr/grad/control`."""
    place = path.relative_to(PACKAGE).with_suffix("")
    return (place.parent if place.name == "__init__" else place).as_posix()


def modules() -> list[Path]:
    """Return the modules of the package, without its face and those that define nothing."""
    found = sorted(PACKAGE.rglob("*.py"))
    return [path for path in found if path != PACKAGE / "__init__.py" and path.stat().st_size > 400 and defines(path)]


def defines(path: Path) -> bool:
    """Return whether a file is a module, or a package's face with functions and classes rather than imports alone."""
    body = ast.parse(path.read_text()).body
    return path.name != "__init__.py" or any(isinstance(node, (ast.FunctionDef, ast.ClassDef)) for node in body)


def own_tests(place: str) -> list[Path]:
    """Return the test files of a module or package itself."""
    return _by_subject().get(place, [])


@cache
def _by_subject() -> dict[str | None, list[Path]]:
    found: dict[str | None, list[Path]] = {}
    for path in files():
        found.setdefault(under_test(path), []).append(path)
    return found


def nearest_tests(place: str) -> list[Path]:
    """Return the test files of a module, then those in the folder of its package, then those of the package itself."""
    package = place.rpartition("/")[0]
    beside = [path for path in files() if path.parent == TESTS / package] if package else []
    return list(dict.fromkeys([*own_tests(place), *beside, *(own_tests(package) if package else [])]))
