"""Mutants of modules, made by the operators of cosmic-ray, and a sample of them.

cosmic-ray makes the mutants and nothing else. Its own runs, and those of mutmut, ask one command for all mutants, and
mutmut wraps each function, which this package's look at signatures and frames does not survive. Here each mutant has
tests of its own (`nearest.py`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import parso
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

FOLDERS = ("rules", "dispatch", "expr/grad", "expr/batching", "ragged", "sparse", "solvers", "optimize")
FILES = "backends/*/indexing.py"

LEFT_OUT = {"core/ExceptionReplacer", "core/RemoveDecorator", "core/NoOp"}
"""The first two fail at the import or change no behaviour, as where the decorator is a cache."""

GUARDS = {"strict", "frozen"}
"""Keywords that only guard against mistakes of the code itself."""

IDLE = {"name", "string", "newline", "endmarker", "trailer", "atom_expr", "arglist", "param", "simple_stmt", "suite"}
PUNCTUATION = {*"()[]{},:.=@;"}


@dataclass(frozen=True)
class Mutant:
    """A module, the place in it, the operators that apply there with their number among occurrences in the module."""

    module: Path
    line: int
    column: int
    operator: str
    occurrence: int

    def source(self) -> str | None:
        """Return the source of the module with the fault; `None` if it does not compile."""
        source: str | None = mutate_code(self.module.read_text(), get_operator(self.operator)(), self.occurrence)
        try:
            compile(source or "(", str(self.module), "exec")
        except SyntaxError:
            return None
        return source

    def __str__(self) -> str:
        return f"{self.module}:{self.line}:{self.column} {self.operator.removeprefix('core/')}"


def modules(package: Path) -> list[Path]:
    """Return the modules that get mutants."""
    found = [path for folder in FOLDERS for path in (package / folder).rglob("*.py")]
    return sorted([*found, *package.glob(FILES)])


def sample(package: Path, count: int, seed: int) -> list[Mutant]:
    """Return some mutants, each at another place, all places being equally likely.

    The draw is a hash of the seed and the place, so that a change of the code leaves most of a sample unchanged.
    """
    places = [place for module in modules(package) for place in _places(module)]

    def drawn(mutant: Mutant, about: str = "") -> bytes:
        text = mutant.module.read_text().splitlines()[mutant.line - 1]
        where = mutant.module.relative_to(package).as_posix()
        return sha256(f"{seed} {where} {text} {mutant.column} {about}".encode()).digest()

    chosen: list[Mutant] = []
    for place in sorted(places, key=lambda place: drawn(place[0])):
        place.sort(key=lambda mutant: drawn(mutant, f"{mutant.operator} {mutant.occurrence}"))
        chosen += [mutant for mutant in place if mutant.source() is not None][:1]
        if len(chosen) == count:
            break
    return chosen


def _places(module: Path) -> list[list[Mutant]]:
    """Return the mutants of a module, in a list for each place."""
    source = module.read_text()
    quiet = [*_without_effect(ast.parse(source))]
    nodes = [*_nodes(parso.parse(source))]
    places: dict[tuple[int, int], list[Mutant]] = {}
    for name in operator_names():
        kind = get_operator(name)
        if name in LEFT_OUT or kind.arguments():
            continue
        occurrence = 0
        for node in nodes:
            for (line, column), _ in kind().mutation_positions(node):
                marker = getattr(node.parent, "type", "") == "parameters"  # the `*` before keyword-only parameters
                if not marker and not any(first <= (line, column) < last for first, last in quiet):
                    places.setdefault((line, column), []).append(Mutant(module, line, column, name, occurrence))
                occurrence += 1
    return [places[start] for start in sorted(places)]


def _nodes(node: Any) -> Iterator[Any]:
    """Yield the nodes of a tree in cosmic-ray's order, without most of those that no operator applies to."""
    if node.type not in IDLE and getattr(node, "value", None) not in PUNCTUATION:
        yield node
    for child in getattr(node, "children", ()):
        yield from _nodes(child)


def _without_effect(tree: ast.Module) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield where something begins and ends that no program depends on: `int | None`, `strict=True`."""
    for node in ast.walk(tree):
        found = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        found += [node.value] if isinstance(node, ast.keyword) and node.arg in GUARDS else []
        for annotation in filter(None, found):
            end = (annotation.end_lineno or 0, annotation.end_col_offset or 0)
            yield (annotation.lineno, annotation.col_offset), end
