"""What commands print: tables, by rich if it is installed, JSON as the option `--json` says, and mistakes."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..display import plain_table


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
