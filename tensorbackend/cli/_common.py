"""What commands share: what an argument names in a module or a file, and what is printed.

These are tables, by rich if it is installed, JSON as the option `--json` says, and mistakes.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Final

from ..display import plain_table
from ..errors import ArgumentError, expected

PLACE: Final = re.compile(r"(?P<module>[\w./\\-]+):(?P<name>[A-Za-z_][\w.]*)")
"""The text of a place, `module:name` or `file.py:name`."""


def place(text: str) -> Any:
    """The object that a module or a file holds under a name; `ArgumentError` if there is none."""
    match = PLACE.fullmatch(text)
    if match is None:
        raise ArgumentError(expected("module:name or file.py:name", function=text))
    name = match["module"]
    sys.path.insert(0, os.getcwd())  # as `python -m` does
    try:
        resolved: Any = _import_file(Path(name)) if name.endswith(".py") else import_module(name)
        for part in match["name"].split("."):
            resolved = getattr(resolved, part)
    except Exception as error:  # whatever the user's module raises
        came = f"{type(error).__name__}: {error}"
        raise ArgumentError(expected(f"{text} to exist", "check the name and the folder", error=came)) from error
    return resolved


def _import_file(path: Path) -> Any:
    spec = spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"no file {path}")
    sys.path.insert(0, str(path.resolve().parent))  # as Python does for a script
    if path.stem not in sys.modules:
        sys.modules[path.stem] = module = module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[path.stem]


def onnx_plugin(module: str) -> Any:
    """A module of tensorbackend-onnx; `ArgumentError` if that is not installed."""
    try:
        return import_module(f"tensorbackend_onnx.{module}")
    except ModuleNotFoundError as error:
        remedy = "install the distribution tensorbackend-onnx"
        raise ArgumentError(expected("tensorbackend-onnx to be installed", remedy, error=str(error))) from error


def print_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], top: int | None = None, remedy: str = ""
) -> None:
    """Prints the first rows of cells under the names of their columns, and how many more there are.

    The table is plain if rich would have to break lines.
    """
    shown = rows[:top]
    if not _print_by_rich(columns, shown):
        print(plain_table(columns, shown))
    if len(shown) < len(rows):
        print(f"and {len(rows) - len(shown)} more{remedy}")


def _print_by_rich(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Prints a table by rich; returns whether it is installed and breaks no lines."""
    try:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        return False
    console, table = Console(), Table(*columns)
    for row in rows:
        table.add_row(*map(Text, row))  # brackets in a cell are not markup
    fits = console.measure(table, options=console.options.update(max_width=10_000)).maximum <= console.width
    if fits:
        console.print(table)
    return fits


def write_json(path: str, value: Any) -> None:
    """Write a value as JSON to a file; to standard output if the path is "-"."""
    text = json.dumps(value, indent=1)
    if path == "-":
        print(text)
    else:
        Path(path).write_text(text, encoding="utf-8")


def mistake(command: str, error: object, status: int = 2) -> int:
    """Prints what is wrong with a command line; returns the exit status."""
    print(f"tensorbackend {command}: {error}", file=sys.stderr)
    return status
