"""Whatever the package remembers without end of a call is shown and cleared: `tb.caches()` and `tb.clear_caches()`."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import tensorbackend

ROOT = Path(tensorbackend.__file__).parent
MODULES = {str(path.relative_to(ROOT)): path for path in sorted(ROOT.rglob("*.py")) if "testing" not in path.parts}

FEW = {
    ("dtypes/limits.py", "_limits"): "as many entries as dtypes",
    ("dtypes/promotion.py", "_dtype_by_name"): "as many entries as names of dtypes",
    ("dispatch/fallbacks.py", "_reachable_primitives"): "as many entries as backends",
    ("interchange/arrays.py", "scalar_dtype"): "as many entries as classes of numbers",
    ("expr/compiled_functions.py", "_flat"): "as many entries as numbers of arguments",
}
"""Memos that stay small by what they remember, and why."""

ENTER = {"remembers", "remembers_calls", "holds_entries", "holds_kernels"}
"""The functions that enter memos among those that are shown."""


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a file; an empty one if the file names nothing that makes or enters a memo."""
    source = path.read_text()
    return ast.parse(source if any(word in source for word in ("lru_cache", "remember", *ENTER)) else "")


def called(node: ast.Call) -> str:
    """The name of the called function, where it has one without dots."""
    return node.func.id if isinstance(node.func, ast.Name) else ""


@cache
def bounded(tree: ast.Module) -> set[str]:
    """The names of a module's own memos that drop entries: functions under `lru_cache`, and what `remember` fills."""
    variables = {
        target.id
        for statement in tree.body
        for target in (
            statement.targets
            if isinstance(statement, ast.Assign)
            else [statement.target]
            if isinstance(statement, ast.AnnAssign)
            else []
        )
        if isinstance(target, ast.Name)
    }
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            if any("lru_cache" in ast.unparse(decorator) for decorator in node.decorator_list):
                names.add(node.name)
        elif isinstance(node, ast.Call) and called(node) == "remember" and isinstance(node.args[0], ast.Name):
            names |= {node.args[0].id} & variables
    return names


@cache
def names_in_calls(tree: ast.Module) -> set[str]:
    """The names in calls of the functions in `ENTER`."""
    return {
        name.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and called(node) in ENTER
        for argument in node.args
        for name in ast.walk(argument)
        if isinstance(name, ast.Name)
    }


def test_each_memo_is_shown() -> None:
    for module in MODULES:
        check_shown(module)


def check_shown(module: str) -> None:
    """Fail for a memo of a module that is not shown."""
    here = bounded(tree_of(MODULES[module]))
    # By the module itself or one next to it.
    shown = {name for path in MODULES[module].parent.glob("*.py") for name in names_in_calls(tree_of(path))}
    assert {name for name in here - shown if (module, name) not in FEW} == set(), module


def test_no_exception_is_unused() -> None:
    for module, name in FEW:
        assert name in bounded(ast.parse(MODULES[module].read_text()))


def test_a_memo_that_is_not_entered_is_found() -> None:
    tree = ast.parse("known: dict[int, int] = {}\ndef f(x):\n    remember(known, x, x)\n@lru_cache(3)\ndef g(x): ...\n")
    assert bounded(tree) == {"known", "g"}
    assert names_in_calls(ast.parse('remembers_calls("g", g)\nholds_entries("known", known)')) == {"known", "g"}
