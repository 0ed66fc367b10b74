"""The public interface as text, one line for each name, option, key and format: `make snapshot`.

docs/interface.txt is what a release promises. Everything in it is read from the package: modules from the page of the
promise, signatures from functions, options from the command line, keys from what small programs write. A line is the
same on each Python and with any optional package, so types are left out, and modules that need a package are read from
their source.

A changed line is announced: its name has to stand in the changelog, under "Unreleased", before the file is written.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import json
import re
import sys
from argparse import SUPPRESS, ArgumentParser
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from runpy import run_path
from tempfile import TemporaryDirectory
from types import FunctionType
from typing import Any, Final

import tensorbackend as tb
from tensorbackend.cli import command_line, main
from tensorbackend.declarations.deprecations import CONSTANTS, deprecations
from tensorbackend.expr.saved_graphs import FORMAT, KEY, VERSIONS
from tensorbackend.files import safetensors
from tensorbackend.files.source import Source

HERE: Final = Path(__file__).resolve().parent
ROOT: Final = HERE.parent
FILE: Final = HERE / "interface.txt"
CHANGELOG: Final = ROOT / "CHANGELOG.md"

FROM_SOURCE: Final = {"xarray": "xarray.py", "numpy": "numpy/__init__.pyi"}
"""The public modules that are read from a file: those that import an optional package, or have a stub."""

IMPLIED: Final = {
    *("__init__", "__new__", "__post_init__", "__getnewargs__"),  # the signature of the class shows them
    *("__repr__", "__reduce__", "__class_getitem__", "__replace__", "__annotate__", "__annotate_func__"),
}
"""The special methods without a line: those of every class, and those that Python makes, differently by version."""

MARK: Final = "  # "
"""What separates a name from the note that it is deprecated."""

COMPARISONS: Final = {"__eq__", "__lt__", "__le__", "__gt__", "__ge__", "__ne__"}


# Names


def modules() -> list[str]:
    """The public modules, as the promise lists them, `tb` first."""
    text = (HERE / "stability.md").read_text(encoding="utf-8")
    promised = re.findall(r"`tensorbackend\.(\w+)`", text.partition("\n## What is public\n")[2].partition("\n## ")[0])
    return ["", *dict.fromkeys([*run_path(str(HERE / "reference.py"))["MODULES"], *promised])]


def names() -> Iterator[str]:
    """A line for each public name, with the signature of what can be called."""
    exported = run_path(str(HERE / "reference.py"))["exported"]
    first: dict[int, str] = {}
    for name in modules():
        if name in FROM_SOURCE:
            yield from _of_source(f"tensorbackend.{name}", ROOT / "tensorbackend" / FROM_SOURCE[name])
            continue
        module = import_module(f"tensorbackend.{name}".removesuffix("."))
        space = f"tb.{name}".removesuffix(".") if hasattr(tb, name) or not name else module.__name__
        for public in sorted({*exported(module), *_constants(module)}):
            value = getattr(module, public)
            named = f"{space}.{public}"
            if _is_ours(value):
                known = first.setdefault(id(value), named)
                if known != named:
                    yield f"{named} = {known}"
                    continue
            yield from lines_of(named, value)
        yield from lines_of_constants(space, module)


def lines_of_constants(space: str, module: Any) -> Iterator[str]:
    """The lines of the constants of a module that are deprecated, which only its `__getattr__` knows."""
    for name, (value, notice) in sorted(CONSTANTS.get(module.__name__, {}).items()):
        (line,) = lines_of(f"{space}.{name}", value)
        yield f"{line}{MARK}{notice}"


def _constants(module: Any) -> Iterator[str]:
    """The names without an underscore that a module assigns."""
    for node in ast.parse(inspect.getsource(module)).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        yield from (x.id for x in targets if isinstance(x, ast.Name) and x.id[0] != "_")


def _is_ours(value: Any) -> bool:
    return callable(value) and str(getattr(value, "__module__", "")).startswith("tensorbackend")


def lines_of(name: str, value: Any) -> Iterator[str]:
    """The lines of one public object: a class has one for each of its public members.

    >>> list(lines_of("half", lambda x, /, *, scale=0.5: x * scale))
    ['half(x, /, *, scale=0.5)']
    """
    if isinstance(value, type):
        bases = ", ".join(dict.fromkeys(base.__name__ for base in _bases(value)))
        yield f"{name}{_signature(value)}{f' is a {bases}' if bases else ''}{_deprecation(value)}"
        if value is tb.Backend or not issubclass(value, tb.Backend):  # the members of others are overrides
            for member, found in sorted(_members(value), key=lambda pair: pair[0]):
                shown = f"{_signature(found)}{_deprecation(found)}" if callable(found) else ""
                yield f"{name}.{member}{shown}"
    elif callable(value) and (_is_ours(value) or isinstance(value, FunctionType)):
        yield f"{name}{_signature(value)}{_deprecation(value)}"
    elif type(value).__module__ in ("typing", "types") or isinstance(value, type(list[int])):
        yield f"{name}: type"
    else:
        plain = isinstance(value, bool | int | float | str) or value is None
        yield f"{name} = {value!r}" if plain else f"{name}: {type(value).__name__}"


def _bases(kind: type) -> Iterator[type]:
    """The bases of a class that are public, or that other packages define; others stand for their own bases."""
    for base in kind.__bases__:
        if base in _public_classes() or not _is_ours(base):
            yield from () if base is object else (base,)
        else:
            yield from _bases(base)


@cache
def _public_classes() -> frozenset[type]:
    exported = run_path(str(HERE / "reference.py"))["exported"]
    spaces = [import_module(f"tensorbackend.{name}".removesuffix(".")) for name in modules() if name not in FROM_SOURCE]
    values = [getattr(space, name) for space in spaces for name in exported(space)]
    return frozenset(value for value in values if isinstance(value, type))


def _members(kind: type) -> Iterator[tuple[str, Any]]:
    """The public members that a class has from this package, as its instances show them."""
    shown = {*dir(kind), *getattr(kind, "__dataclass_fields__", ())} - (set(dir(object)) - COMPARISONS)
    for name in shown:
        base = next((base for base in kind.__mro__ if name in _defined(base)), kind)
        value = vars(base).get(name)
        value = getattr(value, "__func__", value)
        if base.__module__.startswith("tensorbackend") and (name[0] != "_" or _is_special(name, value)):
            yield name, value


def _defined(kind: type) -> set[str]:
    return {*vars(kind), *getattr(kind, "__dataclass_fields__", ())}


def _is_special(name: str, value: Any) -> bool:
    """Whether it is a special method that somebody wrote and that returns: the others refuse, or are Python's."""
    return (
        name.startswith("__")
        and name not in IMPLIED
        and isinstance(value, FunctionType)
        and value.__code__.co_filename != "<string>"  # what `dataclass` writes, differently by version
        and value.__code__.co_name != "refuse"
        and inspect.signature(value).return_annotation not in ("Never", "NoReturn")
    )


def _signature(value: Any) -> str:
    """The parameters with their defaults; nothing for what shows none, such as an exception."""
    if isinstance(value, type) and (issubclass(value, BaseException) or getattr(value, "_is_protocol", False)):
        return ""
    try:
        shown = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    kept = [
        entry.replace(annotation=entry.empty, default=entry.empty if entry.default is entry.empty else _Shown(entry))
        for entry in shown.parameters.values()
        if entry.annotation != "Never"  # what catches arguments that no call may have
    ]
    return str(inspect.Signature(kept))


class _Shown:
    """A default as text that is the same in each process."""

    def __init__(self, entry: inspect.Parameter) -> None:
        default = entry.default
        text = getattr(default, "__qualname__", None) or repr(default)
        self.text = f"<{type(default).__name__}>" if " at 0x" in text else text

    def __repr__(self) -> str:
        return self.text


def _deprecation(value: Any) -> str:
    """What the line says of a function or a class that is deprecated, or of its options."""
    notices = "; ".join(map(str, deprecations(value)))
    return f"{MARK}{notices}" if notices else ""


def _of_source(module: str, path: Path) -> Iterator[str]:
    """The lines of a module that is not imported."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        yield from _of_node(module, node)


def _of_node(space: str, node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.ClassDef) and node.name[0] != "_":
        yield f"{space}.{node.name}"
        lines = {line: None for inner in node.body for line in _of_node(f"{space}.{node.name}", inner)}
        yield from sorted(lines)  # an overloaded method once, if its parameters are the same
    elif isinstance(node, ast.FunctionDef) and (node.name[0] != "_" or space.count(".") > 1):
        for argument in ast.walk(node.args):
            if isinstance(argument, ast.arg):
                argument.annotation = None
        yield f"{space}.{node.name}({ast.unparse(node.args)})"
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id[0] != "_":
        yield f"{space}.{node.target.id}"


# The command line


def commands() -> Iterator[str]:
    """A line for each subcommand and each of its arguments."""
    for command, parser in subcommands().items():
        yield f"tensorbackend {command}"
        for action in parser._actions:
            if action.dest != "help":
                name = ", ".join(action.option_strings) or action.metavar or action.dest.upper()
                takes = "" if action.nargs is None else f" takes {action.nargs}"
                choices = "" if action.choices is None else f" of {list(action.choices)}"
                default = "" if action.default in (None, False, SUPPRESS) else f" = {action.default!r}"
                yield f"tensorbackend {command} {name}{takes}{choices}{default}"


def subcommands() -> dict[str, ArgumentParser]:
    """The parsers of the subcommands by name."""
    for action in command_line()._actions:
        if isinstance(action.choices, dict):
            return dict(action.choices)
    raise AssertionError("a command line without subcommands")


# The keys of JSON

PROGRAM: Final = """\
import tensorbackend as tb

def loss(w, x):
    return tb.sum(tb.tanh(x @ w))
"""
"""What the commands run to show their keys."""

ARGUMENTS: Final = {
    "check --report": "check binary --op add --dtype f32 --examples 1 --report {folder}/keys.json",
    "dryrun --json": "dryrun {folder}/program.py:loss f32[n=4,m=2] f32[batch=8,n=4] --gradient --json -"
    " --mesh data=2 --layout batch=data",
    "dryrun --search --json": "dryrun {folder}/program.py:loss f32[n=4,m=2] f32[batch=8,n=4] --json -"
    " --mesh data=2 --search batch",
    "info --json": "info binary --json",
}
"""For each option that writes JSON, arguments that show all of its keys. A plugin's own test holds its keys."""


def keys() -> Iterator[str]:
    """A line for each key that a command writes, with the type of its value."""
    with TemporaryDirectory() as folder:
        Path(folder, "program.py").write_text(PROGRAM, encoding="utf-8")
        for option, text in ARGUMENTS.items():
            written = io.StringIO()
            with contextlib.redirect_stdout(written), contextlib.redirect_stderr(io.StringIO()):
                main(text.format(folder=folder).split())
            in_file = "keys.json" in text
            found = json.loads(Path(folder, "keys.json").read_text(encoding="utf-8") if in_file else written.getvalue())
            yield from (f"{option}: {line}" for line in sorted(set(paths(found))))


def paths(value: Any, place: str = "") -> Iterator[str]:
    """The keys of JSON as paths.

    >>> list(paths({"peak": {"bytes": 8}, "nodes": [{"op": "add"}]}))
    ['peak.bytes int', 'nodes[].op str']
    """
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from paths(inner, f"{place}.{key}".lstrip("."))
    elif isinstance(value, list) and value:
        for inner in value:
            yield from paths(inner, f"{place}[]")
    else:
        yield f"{place} {type(value).__name__}"


# File formats


def formats() -> Iterator[str]:
    """A line for the version of each format that the package defines, and for each key of its parts."""
    yield f"save_graph: format {FORMAT}, ops of later versions {VERSIONS}"
    with TemporaryDirectory() as folder:
        place = Path(folder)
        tb.save_graph(place / "graph.safetensors", tb.trace(lambda x: tb.tanh(x) * 2)("f32[n=2]"))
        with Source(str(place / "graph.safetensors")) as source:
            document = json.loads(safetensors.metadata_of(source, None)[KEY])
        yield from (f"save_graph: {line}" for line in sorted(set(paths(document))))
        tb.checkpoints.save(place / "checkpoint", {"w": tb.ones((2, 3), names=("n", "m")), "step": 4})
        for path in sorted(place.glob("checkpoint/**/*")):
            named = path.relative_to(place).as_posix()
            yield f"checkpoints: {named}"
            if path.suffix == ".json":
                found = sorted(set(paths(json.loads(path.read_text(encoding="utf-8")))))
                yield from (f"checkpoints: {named}: {line}" for line in found)
        tb.save(place / "x.npy", tb.ones(2))
        major, minor = (place / "x.npy").read_bytes()[6:8]
        yield f"save: .npy of NumPy's version {major}.{minor}"


# The file

SECTIONS: Final = {"Names": names, "Command line": commands, "Keys of JSON": keys, "File formats": formats}


def text() -> str:
    """The whole file."""
    lines = ["# The public interface, one line for each name. Written by `make snapshot`."]
    for title, make in SECTIONS.items():
        lines += ["", f"# {title}", "", *make()]
    return "\n".join([*lines, ""])


def changed_names(before: str, after: str) -> list[str]:
    """The names of the lines that differ.

    >>> changed_names("tb.ones(shape)\\ntb.e = 2.7\\n", "tb.ones(shape, *, dtype=None)\\ntb.e = 2.7\\n")
    ['ones']
    """
    differing = set(before.splitlines()) ^ set(after.splitlines())
    return sorted({_name(line) for line in differing if line and line[0] != "#"})


def _name(line: str) -> str:
    """The word by which the changelog has to name a line."""
    if line.startswith("tensorbackend "):  # of the command line
        return line.split()[2].rstrip(",") if len(line.split()) > 2 else line.split()[1]
    found = re.match(r"[\w.]+", line.rpartition(": ")[2] if re.match(r"[\w ./-]+: ", line) else line)
    return line if found is None else found[0].rpartition(".")[2]


def unannounced(changed: Iterable[str], changelog: str) -> list[str]:
    """The changed names that the changelog does not have under "Unreleased".

    >>> unannounced(["ones", "zeros"], "## [Unreleased]\\n- `ones(dtype=)`\\n## [0.1.0]\\n- `zeros`")
    ['zeros']
    """
    said = changelog.partition("## [Unreleased]")[2].partition("\n## [")[0]
    words = set(re.findall(r"[\w-]+", " ".join(re.findall(r"`([^`]+)`", said))))
    return [name for name in changed if name not in words]


# Deprecations


def deprecated(lines: Iterable[str]) -> dict[str, str]:
    """The names of the lines that are marked, with what is said of them."""
    marked = (line.partition(MARK) for line in lines if MARK in line and line[0] != "#")
    return {re.split(r"[( ]", line)[0]: said for line, _, said in marked}


def overdue(lines: Iterable[str], version: str) -> list[str]:
    """The names that a version should no longer have."""

    def numbers(text: str) -> list[int]:
        return [int(number) for number in re.findall(r"\d+", text)]

    return [
        name
        for name, said in deprecated(lines).items()
        if any(numbers(version) >= numbers(removal) for removal in re.findall(r"removed in ([\d.]*\d)", said))
    ]


def deprecations_page(lines: Iterable[str]) -> str:
    """docs/deprecations.md: what a later release removes."""
    rows = [f"| `{name}` | {said} |" for name, said in deprecated(lines).items()]
    table = ["| name | |", "| --- | --- |", *rows] if rows else ["Nothing is deprecated in this version."]
    head = (
        "What is listed here issues a `DeprecationWarning`; [the promise](stability.md#deprecation) says when it goes."
    )
    note = "*Generated from interface.txt by `make docs`; a test fails when the page is stale.*"
    return "\n".join(["# Deprecations", "", head, "", *table, "", "---", "", note, ""])


def pages() -> dict[Path, Callable[[], str]]:
    """The page that is made from the file."""
    return {HERE / "deprecations.md": lambda: deprecations_page(FILE.read_text(encoding="utf-8").splitlines())}


def write() -> None:
    """Writes the file, unless the changelog lacks a changed name."""
    found, before = text(), FILE.read_text(encoding="utf-8") if FILE.exists() else None
    missing = [] if before is None else unannounced(changed_names(before, found), CHANGELOG.read_text(encoding="utf-8"))
    if missing:
        sys.exit(f"snapshot: expected CHANGELOG.md to name what changed, under Unreleased: {', '.join(missing)}")
    FILE.write_text(found, encoding="utf-8")


if __name__ == "__main__":
    write()
