"""Pages that say what the functions of another system are called here, made of a module of rows.

Such a module has `INTRODUCTION`, `NAMES` and `ROWS`. A row is `name | code | remark`; the code runs after `NAMES`,
which a test does for each row. A row without code has a remark that says why there is nothing to call. Where a
module has `COMPARED`, the name is code of the other system. Put into that text it runs, and the test compares the two.
"""

from __future__ import annotations

from pathlib import Path
from runpy import run_path
from typing import NamedTuple

SYSTEMS = {
    "numpy": "NumPy",
    "xarray": "xarray",
    "pytorch": "PyTorch",
    "jax": "JAX",
    "phiml": "PhiML",
    "returnn": "RETURNN",
}
"""What the pages are about, by the names of their files."""


class Row(NamedTuple):
    """A function of another system, what to write here, and what differs."""

    name: str
    code: str
    remark: str


class Rows(NamedTuple):
    """What a module of rows has."""

    introduction: str
    names: str
    """What stands before the code of each row."""
    rows: list[Row]
    """In the order of the page."""
    compared: str
    """Where the name of a row is code that gives the same values, the text that runs it."""


def read(system: str) -> Rows:
    """The rows of a system's module."""
    module = run_path(str(Path(__file__).with_name(f"{system}_rows.py")))
    rows = []
    for line in module["ROWS"].strip().replace("\n    ", " ").splitlines():  # a long row goes on in a second line
        name, _, rest = line.partition(" | ")
        # "c | d" is code too: the remark stands behind the last bar.
        code, _, remark = rest.rpartition("|")
        rows.append(Row(name.strip(), code.strip(), remark.strip()))
    return Rows(module["INTRODUCTION"], module["NAMES"], rows, module.get("COMPARED", ""))


PAGE = """\
# Coming from {name}

Generated from `docs/{system}_rows.py` by `make docs`; a test runs the code of each row, after the block
below{compared}.

{introduction}

```python
{names}```

| {name} | tensorbackend | |
| --- | --- | --- |
"""


def page(system: str) -> str:
    """The text of a system's page."""
    table = read(system)
    compared = ", and compares what the two columns give" if table.compared else ""
    head = PAGE.format(
        name=SYSTEMS[system], system=system, introduction=table.introduction, names=table.names, compared=compared
    )
    return head + "".join(f"| `{row.name}` | {_cell(row.code)} | {row.remark} |\n" for row in table.rows)


def _cell(code: str) -> str:
    return f"`{code}`".replace("|", "\\|") if code else ""
