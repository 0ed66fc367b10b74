"""Which tests run for a mutant: those of its module and package, and the property tests of its op."""

from __future__ import annotations

import ast
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from tests.places import PACKAGE, ROOT, TESTS, exists, files, module_name, nearest_tests, own_tests, under_test

LAWS = {
    "rules": r"test_(ops|invalid_calls|oracles|einsum|names|wrong_kinds)\b",
    "dispatch": r"test_(ops|warm_calls|changing_shapes|cast_mode|fallback\w*|invalid_calls|overrides)\b",
    "expr/grad": r"test_(gradient\w*|nested_gradients|transforms_elsewhere)\b",
    "expr/batching": r"test_(vmap_of_every_op|examples_alone|large_batches)\b",
    "ragged": r"test_(ragged|masked_places|oracles)\b",
    "sparse": r"test_(sparse|oracles)\b",
    "solvers": r"test_(solver\w*|oracles)\b",
    "optimize": r"test_(optimisers|oracles)\b",
    "backends": r"test_(ops|oracles|assignment|many_elements|traced_operands|predicted_memory)\b",
}
"""The property tests that judge what a folder is for, by the names of their files."""

FEW, MANY = 24, 160
"""How many property tests run at first, and then."""

INTERFACE = "tests/project/test_snapshot.py"
"""The test that knows the defaults of public functions."""

SPEAKING = 3
"""How many other test files run that name what a mutant touches."""

AROUND = 12
"""How many test files run at last that test modules which use the mutant's module or package."""


def asked(path: Path, line: int, tests: Sequence[str]) -> tuple[list[str], ...]:
    """Return the tests for a place in a module, at first the nearest; `tests` are the names of all property tests."""
    place = module_name(path)
    folder = next(folder for folder in LAWS if place.startswith(f"{folder}/") or place == folder)
    laws = [test for test in tests if re.search(LAWS[folder], test.partition("::")[0]) and "::test_every_" not in test]
    backend = re.search(r"(\w+)_backend/", place)
    if backend:  # a law that names a backend names this one
        laws = [test for test in laws if f"[{backend[1]}-" in test or not re.search(r"\[(numpy|jax)-", test)]
    if folder in ("ragged", "sparse", "solvers", "optimize"):  # functions of other packages have the same names
        laws = [test for test in laws if "test_oracles" not in test or f"-{folder}." in test]
    names = _names(path, line)
    of_op = [test for test in laws if names & {*_parameters(test)}]
    of_word = [test for test in laws if "[" not in test or _word(place) in test]
    spread = _evenly([test for test in laws if "test_ops" not in test or "[numpy-" in test], MANY)
    near, speaking = nearest_tests(place), _speaking_of(path, line)
    users = [file for file in near if _word(place) in _imported(under_test(file))]
    beside = dict.fromkeys([*(file for file in speaking if file in near), *users])
    first = [*_paths(own_tests(place) or beside or near), *_evenly(of_op, FEW)]
    first += [INTERFACE] if _has_defaults(path, line) else []
    later = [*_paths([*beside, *speaking]), *_evenly(of_op, MANY), *_paths(near)]
    later += [*_evenly(of_word, MANY), *([] if len(of_op) > FEW else spread)]
    second = [test for test in dict.fromkeys(later) if test not in first]
    return first, second, [test for test in _paths(_users(place)) if test not in {*first, *second}][:AROUND]


def _paths(files: Iterable[Path]) -> list[str]:
    return [str(file.relative_to(ROOT)) for file in files]


def _users(place: str) -> list[Path]:
    """Return the test files that import a module or test one that does; then those for its package, nearest first."""
    package = place.rpartition("/")[0]
    uses = {file: _places_imported(file) | _places_imported(PACKAGE / f"{under_test(file)}.py") for file in files()}
    of_module = [file for file, places in uses.items() if place in places]
    of_package = [file for file, places in uses.items() if any(f"{used}/".startswith(f"{package}/") for used in places)]
    around = str(TESTS / package / "..")
    of_package.sort(key=lambda file: len(os.path.relpath(file.parent, around).split("/")))
    return list(dict.fromkeys([*of_module, *of_package]))


@cache
def _places_imported(path: Path) -> set[str]:
    """Return the places, such as `expr/grad/control`, that a file of the package or a test imports from."""
    nodes = ast.walk(ast.parse(path.read_text())) if path.is_file() else ()
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            above = path.relative_to(ROOT).parents[node.level - 1].parts if node.level else ()
            parts = [*above, *(node.module or "").split(".")]
            inside = "/".join(filter(None, parts[1:])) if parts[0] == PACKAGE.name else None
            for name in node.names if inside is not None else ():
                longer = f"{inside}/{name.name}".lstrip("/")
                found.add(longer if exists(longer) else str(inside))
    return found


@cache
def _imported(place: str | None) -> set[str]:
    """Return the names of the modules that a module imports from, and of what it imports."""
    path = PACKAGE / f"{place}.py"
    nodes = ast.walk(ast.parse(path.read_text())) if path.is_file() else ()
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    return {name for node in imports for name in [*(node.module or "").split("."), *(part.name for part in node.names)]}


def _has_defaults(path: Path, line: int) -> bool:
    """Return whether a line has defaults of parameters."""
    functions = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)]
    defaults = [value for node in functions for value in (*node.args.defaults, *node.args.kw_defaults) if value]
    return any(value.lineno <= line <= (value.end_lineno or 0) for value in defaults)


def _speaking_of(path: Path, line: int) -> list[Path]:
    """Return the test files that name most of the functions that reach a line, of names that few files have."""
    names = {name.lstrip("_") for part in _reached(path, line) for name in _defined(part)}
    spread = Counter(name for words in _test_words().values() for name in names & words)
    rare = {name for name, count in spread.items() if count <= 2 * SPEAKING}
    found = {file: len(rare & words) for file, words in _test_words().items() if rare & words}
    return sorted(found, key=lambda file: -found[file])[:SPEAKING]


@cache
def _test_words() -> dict[Path, set[str]]:
    """Return the names and texts in each test file."""
    return {file: _words(ast.parse(file.read_text())) for file in files()}


def _evenly(tests: Sequence[str], count: int) -> list[str]:
    return list(tests[:: max(1, -(-len(tests) // count))])


def _word(place: str) -> str:
    return place.rpartition("/")[2]


def _parameters(test: str) -> Iterable[str]:
    """Yield the parameters of a test, and the last part of each: `sparse.dot` and `dot`."""
    for word in re.split(r"[-\]\[]", test.partition("[")[2]):
        yield word
        yield word.rpartition(".")[2]


def _names(path: Path, line: int) -> set[str]:
    """Return the names and texts in the function at a line, and the functions that reach it: ops, by their rules."""
    reached = _reached(path, line)
    names = {name for part in reached for name in _defined(part)}
    if path.parent.name == "rules":  # an op's declaration names its rule
        names |= {name for named, defined in _declarations() if names & named for name in defined}
    texts = {word for part in reached for word in _words(part) if not word.startswith("_")}
    return (names | texts) - COMMON


def _reached(path: Path, line: int) -> list[ast.stmt]:
    """Return the function at a line, and the functions of its module that reach it."""
    body = ast.parse(path.read_text()).body
    parts = [part for part in body if not isinstance(part, ast.Import | ast.ImportFrom)]
    parts += [inner for part in parts if isinstance(part, ast.ClassDef) for inner in part.body]
    words = [{*_words(part)} for part in parts]
    inside = [number for number, part in enumerate(parts) if _begin(part) <= line <= (part.end_lineno or 0)]
    reached = {*inside[-1:]}
    while True:  # until nothing more names what was reached
        names = {name for number in reached for name in _defined(parts[number])}
        more = reached | {number for number, named in enumerate(words) if names & named and _is_small(parts[number])}
        if more == reached:
            return [parts[number] for number in reached]
        reached = more


COMMON = {"x", "axis", "shape", "dtype", "name", "names", "real", "where", "sum", "abs", "tensor", "full", "any", "all"}
"""Words of nearly every function. Where they are meant, the function's own name says so too."""


def _defined(part: ast.AST) -> set[str]:
    """Return the names that a statement of a module defines."""
    if isinstance(part, ast.FunctionDef | ast.ClassDef):
        return {part.name}
    return {node.id for node in ast.walk(part) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _is_small(part: ast.AST) -> bool:
    """Return whether a statement is not a class, whose methods count by themselves."""
    return not isinstance(part, ast.ClassDef)


@cache
def _declarations() -> list[tuple[set[str], set[str]]]:
    """Return the words of each function in `ops/`, and its name."""
    bodies = [ast.parse(path.read_text()).body for path in sorted((PACKAGE / "ops").rglob("*.py"))]
    return [({*_words(part)}, {part.name}) for body in bodies for part in body if isinstance(part, ast.FunctionDef)]


def _begin(part: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(part, "decorator_list", [])
    return min([part.lineno, *(decorator.lineno for decorator in decorators)])


def _words(part: ast.AST) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(part):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
        elif isinstance(node, ast.FunctionDef):
            found.add(node.name)
    return found
