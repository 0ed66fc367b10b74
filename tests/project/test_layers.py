"""Modules import only lower layers, with any kind of import, and form no cycles except the listed ones."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

import pytest

import tensorbackend as tb
from tensorbackend.select import ENTRY_POINT_GROUP

NAME = "tensorbackend"
PACKAGE = Path(tb.__file__).parent

LAYERS = [
    ("annotations", "registration", "errors", "caching"),
    ("docstrings", "sizes", "scopes"),
    ("dtypes",),
    ("template",),
    ("rules", "mesh", "interchange"),
    ("tensor", "display"),
    ("protocol",),
    ("declarations",),
    ("select",),
    ("dispatch",),
    ("ops",),
    ("linalg", "fft", "array_api", "axis_types", "files"),  # the first three are re-exports only
    ("expr",),
    ("costs",),
    ("nn", "quantized", "ragged", "sparse", "sampling", "looped"),  # above graphs: functions of tensors and of trees
    ("random",),  # a namespace: some distributions are drawn in loops
    ("solvers",),
    ("optimize",),
    ("backends",),
    ("late_imports", "distributed", "checkpoints"),  # loaded late, and handed to lower layers
    (NAME,),  # the package itself
    ("numpy",),  # NumPy's names over the package
    ("xarray",),  # whose objects hold arrays of that namespace
    ("extending",),  # what backends in other distributions may import: re-exports only
    ("testing",),
    ("cli",),
    ("__main__",),
]
LAYER = {module: number for number, modules in enumerate(LAYERS) for module in modules}

TYPES = {("tensor", "protocol"), ("protocol", "testing"), ("protocol", "expr"), ("protocol", "costs")}
"""Imports of a higher layer, only for type checkers."""

UPWARDS = {("tensor", NAME)}
"""Imports of a higher layer: `__array_namespace__` returns the package."""

COMPUTED = {
    "cli",
    "cli._common",
    "backends.libraries",
    "late_imports",
    "files",
    "numpy",
    "numpy.host_modules",
}
"""Modules that import a computed name: subcommands, programs and plugins, array libraries, ops, a file format, modules
of the NumPy namespace that are imported at their first use, and NumPy's own."""

CIRCLES = [
    {"expr.graph", "expr.evaluate", "expr.show"},  # methods call and show a graph
]
"""Cycles of modules, each closed by imports inside functions."""


class Import(NamedTuple):
    """One import of a module of the package."""

    module: str
    """The imported module without the package's name; the package's name for itself; empty for a computed name."""
    kind: Literal["run", "types"]
    """Whether the import runs, or is only for type checkers."""


def module_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imports(module: str, source: str, is_package: bool) -> Iterator[Import]:
    """Yield a module's imports of the package: import statements anywhere, calls, and strings that name a module."""
    nodes = list(ast.walk(ast.parse(source)))
    for_types = {
        id(node)
        for branch in nodes
        if isinstance(branch, ast.If) and "TYPE_CHECKING" in ast.unparse(branch.test)
        for statement in branch.body
        for node in ast.walk(statement)
    }
    full = f"{NAME}.{module}"
    package = full if is_package else full.rpartition(".")[0]
    for node in nodes:
        for name in _names(node, package):
            target = name and _known(name)
            if target is not None:
                yield Import(target, "types" if id(node) in for_types else "run")


def _names(node: ast.AST, package: str) -> Iterable[str]:
    """Return the full names that a node imports; an empty name stands for a computed one."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        base = _absolute("." * node.level + (node.module or ""), package)
        return [f"{base}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Call) and _called(node.func).endswith(("import_module", "__import__")):
        first = node.args[0] if node.args else None
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            return [_absolute(first.value, package)]
        return [""]
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value != ENTRY_POINT_GROUP:
        named = re.fullmatch(rf"({NAME}(\.\w+)+)(:\w+)?", node.value)
        return [named[1]] if named and _known(named[1]) != NAME else []
    return []


def _called(function: ast.expr) -> str:
    """Return the last name of a called function; an empty text for a function that another call returns."""
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _absolute(name: str, package: str) -> str:
    """Return an absolute name for a name that may be relative, with leading dots."""
    rest = name.lstrip(".")
    level = len(name) - len(rest)
    if not level:
        return name
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - level + 1], *filter(None, [rest])])


def _known(name: str) -> str | None:
    """Return the module of the package that contains a full name; `None` for other packages."""
    parts = name.split(".")
    if parts[0] != NAME:
        return None
    for end in range(len(parts), 1, -1):
        if ".".join(parts[1:end]) in FILES:
            return ".".join(parts[1:end])
    return NAME


MODULES = [module for module in FILES if module]  # the package itself may import anything


@cache
def imports_of(module: str) -> list[Import]:
    """Return the imports of the package in a module."""
    path = FILES[module]
    return list(imports(module, path.read_text(), path.name == "__init__.py"))


def top(module: str) -> str:
    return module.partition(".")[0]


def wrong(module: str, dependencies: Iterable[Import]) -> list[str]:
    """Return messages about imports that a module may not have."""
    messages = []
    for dependency in dependencies:
        if not dependency.module:
            allowed = module in COMPUTED
        else:
            pair = (top(module), top(dependency.module))
            allowed = (
                pair[0] == pair[1]
                or LAYER[pair[1]] < LAYER[pair[0]]
                or pair in UPWARDS
                or (dependency.kind == "types" and pair in TYPES)
            )
        if not allowed:
            messages.append(f"{module} may not import {dependency.module or 'by a computed name'}")
    return messages


def circles(edges: Mapping[str, Iterable[str]]) -> list[set[str]]:
    """Return the sets of modules that import each other, directly or through others."""
    reached: dict[str, set[str]] = {}
    for start in edges:
        waiting, seen = [start], set[str]()
        while waiting:
            for target in edges.get(waiting.pop(), ()):
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
        reached[start] = seen
    disjoint_circles: list[set[str]] = []
    for start, seen in reached.items():
        if not any(start in circle for circle in disjoint_circles):
            circle = {module for module in seen if start in reached.get(module, ())}
            if len(circle) > 1:
                disjoint_circles.append(circle)
    return disjoint_circles


def edges() -> dict[str, set[str]]:
    """Return, for each module, the modules that it imports when it runs."""
    return {
        module: {dependency.module for dependency in imports_of(module) if dependency.kind == "run"}
        - {"", NAME, module}
        for module in MODULES
    }


def test_modules_import_lower_layers() -> None:
    assert [message for module in MODULES for message in wrong(module, imports_of(module))] == []


def test_no_permission_is_unused() -> None:
    pairs = {
        (top(module), top(dependency.module), dependency.kind)
        for module in MODULES
        for dependency in imports_of(module)
    }
    used = {(module, target) for module, target, kind in pairs if kind == "run"}
    assert used >= UPWARDS
    assert {(module, target) for module, target, kind in pairs if kind == "types"} - used >= TYPES
    assert {module for module in MODULES if any(not dependency.module for dependency in imports_of(module))} == COMPUTED
    assert set(LAYER) == {top(module) for module in MODULES} | {NAME}


def test_few_modules_are_outside_of_packages() -> None:
    loose = [module for module in MODULES if FILES[module].parent == PACKAGE and module != "__main__"]
    assert len(loose) <= 14


def test_the_picture_shows_what_is_there() -> None:
    pages = Path(__file__).parents[2] / "docs"
    picture = (pages / "architecture.md").read_text().partition("## Layers")[2].split("```")[1]
    shown = {word for row in picture.splitlines() for word in re.findall(r"[a-z_]+/?", row)}
    names = {path.stem if path.parent == PACKAGE else f"{path.parent.name}/" for path in map(FILES.get, LAYER) if path}
    assert names - {"__main__", "__init__"} <= shown


def test_modules_make_no_circle_but_those_stated() -> None:
    assert sorted(map(sorted, circles(edges()))) == sorted(map(sorted, CIRCLES))


PLANTED = [
    'import_module("tensorbackend.expr.evaluate")',
    'importlib.import_module("..expr.evaluate", __package__)',
    'import_module("..expr", __package__)',
    'import_module(f"tensorbackend.{name}")',
    '__import__("tensorbackend.cli")',
    'BACKENDS = {"numpy": "tensorbackend.backends.numpy_backend:NumpyBackend"}',
    "def late():\n    import tensorbackend.testing.calls as calls",
    "def late():\n    from tensorbackend import expr",
    "def late():\n    from tensorbackend.expr.evaluate import program",
    "def late():\n    from ..expr import evaluate",
    "def late():\n    from .. import late_imports",
    "import tensorbackend",
    "if TYPE_CHECKING:\n    from ..cli import main",
    "if TYPE_CHECKING:\n    pass\nelse:\n    from ..expr import evaluate",
]


@pytest.mark.parametrize("source", PLANTED)
def test_an_import_upwards_is_caught(source: str) -> None:
    assert wrong("protocol.core", imports("protocol.core", source, False))


@pytest.mark.parametrize("source", ["from ..dtypes import DType", "import numpy", 'import_module("numpy")', '"a.b"'])
def test_other_imports_are_not(source: str) -> None:
    assert not wrong("protocol.core", imports("protocol.core", source, False))


def test_a_circle_closed_by_a_text_is_caught() -> None:
    planted = imports("protocol.core", 'import_module("tensorbackend.dispatch.fallbacks")', False)
    known = edges()
    detected = circles(
        {**known, "protocol.core": {*known["protocol.core"], *(dependency.module for dependency in planted)}}
    )
    assert any({"protocol.core", "dispatch.fallbacks"} <= circle for circle in detected)
