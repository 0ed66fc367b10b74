"""Tables on a terminal: by rich if it is installed, otherwise plain and aligned."""

from __future__ import annotations

from collections.abc import Sequence

from ..display import plain_table


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Prints rows of cells under the names of their columns; plain if rich would have to break lines."""
    try:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        print(plain_table(columns, rows))
        return
    console, table = Console(), Table(*columns)
    for row in rows:
        table.add_row(*map(Text, row))  # brackets in a cell are not markup
    if console.measure(table, options=console.options.update(max_width=10_000)).maximum > console.width:
        print(plain_table(columns, rows))
    else:
        console.print(table)
