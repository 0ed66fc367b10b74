"""Every function of CuPy that the code names exists in the CuPy that is installed, and takes its arguments.

This needs CuPy but no GPU, and finds what a new version of CuPy has renamed or dropped.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tensorbackend.backends import cupy_module
from tensorbackend.backends.cupy_module import CupyModule

BACKENDS = Path(cupy_module.__file__).parent
FILES = [*sorted(BACKENDS.glob("cupy_*.py")), *sorted((BACKENDS / "array_module").rglob("*.py"))]


EAGER = {"errstate"}
"""What only an eager module is asked for, which CuPy is not."""


class Use(NamedTuple):
    """A name of CuPy's in the code, with the call where it is called."""

    place: str
    root: str
    path: tuple[str, ...]
    call: ast.Call | None


ROOTS = {"xp": "xp", "cupy": "cupy", "_cupy": "cupy", "_cupyx": "cupyx"}


def uses() -> Iterator[Use]:
    for file in FILES:
        tree = ast.parse(file.read_text())
        calls = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
        inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and id(node) not in inner:
                *_, root, path = ("", *chain(node))
                if root:
                    yield Use(f"{file.name}:{node.lineno}", root, path, calls.get(id(node)))


def chain(node: ast.expr) -> tuple[str, tuple[str, ...]]:
    """The root and the attributes after it: `self.xp.linalg.svd` is xp and linalg, svd."""
    path: list[str] = []
    while isinstance(node, ast.Attribute):
        if node.attr in ROOTS:
            return ROOTS[node.attr], tuple(path)
        path.insert(0, node.attr)
        node = node.value
    return (ROOTS[node.id], tuple(path)) if isinstance(node, ast.Name) and node.id in ROOTS else ("", ())


def fault(use: Use, roots: dict[str, Any]) -> str | None:
    """What is wrong with a use."""
    found = roots[use.root]
    for name in use.path:
        if not hasattr(found, name):
            return f"{use.place}: {use.root}.{'.'.join(use.path)} is missing"
        found = getattr(found, name)
    if use.call is None or any(isinstance(argument, ast.Starred) for argument in use.call.args):
        return None
    if any(keyword.arg is None for keyword in use.call.keywords):
        return None
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):  # of a ufunc or a compiled function
        return None
    try:
        signature.bind(*use.call.args, **{str(keyword.arg): keyword.value for keyword in use.call.keywords})
    except TypeError as error:
        return f"{use.place}: {use.root}.{'.'.join(use.path)} {error}"
    return None


def test_each_name_exists_and_takes_its_arguments() -> None:
    # CuPy is there on machines with a GPU alone: no extra for tests installs it.
    cupy, cupyx = pytest.importorskip("cupy"), pytest.importorskip("cupyx")
    roots = {"cupy": cupy, "cupyx": cupyx, "xp": CupyModule(cupy, cupyx)}
    found = [use for use in uses() if use.path and use.path[0] not in EAGER]
    assert len(found) > 300
    assert [text for use in found if (text := fault(use, roots)) is not None] == []


def test_a_name_that_is_missing_and_a_call_that_does_not_fit_are_found() -> None:
    def function(x: int, *, axis: int) -> None:
        """A function of another library."""

    class Library:
        take = staticmethod(function)

    def judged(code: str) -> str | None:
        call = ast.parse(code, mode="eval").body
        assert isinstance(call, ast.Call)
        return fault(Use("a.py:1", *chain(call.func), call), {"xp": Library})

    assert judged("self.xp.take(x, axis=1)") is None
    assert judged("xp.take(*arguments)") is None
    assert judged("xp.choose(x)") == "a.py:1: xp.choose is missing"
    assert "axis" in (judged("xp.take(x)") or "")
