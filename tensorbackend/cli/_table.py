"""Tables on a terminal: by rich where it is installed, else plain and aligned."""

from __future__ import annotations

from collections.abc import Sequence


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Prints rows of cells under the names of their columns."""
    try:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        print(plain_table(columns, rows))
        return
    table = Table(*columns)
    for row in rows:
        table.add_row(*map(Text, row))  # brackets in a cell are no markup
    Console().print(table)


def plain_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The table as text, each column as wide as its widest cell.

    >>> print(plain_table(["name", "n"], [["a", "1"], ["long name", "2"]]))
    name       n
    a          1
    long name  2
    """
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (columns, *rows))
    return "\n".join(map(str.rstrip, lines))
