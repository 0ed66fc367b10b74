"""Pages that list the counterparts of another system's functions here, each made from a module of rows.

Such a module has `INTRODUCTION`, `NAMES` and `ROWS`. A row is `name | code | remark`; a test runs the code of each row
after `NAMES`. A row without code has a remark that says what to do instead; one without either has the hint of errors
for its name. If a module has `COMPARED`, the name in a row is code of the other system: the test puts it into the text
`COMPARED`, runs it, and compares the results. If it has `THEIRS`, the name is code of a library that these tests do not
install: a test in clients/ runs `THEIRS` and the name.
"""

from __future__ import annotations

from pathlib import Path
from runpy import run_path
from typing import NamedTuple

from tensorbackend.errors.hints import advice

SYSTEMS = {
    "numpy": "NumPy",
    "xarray": "xarray",
    "pytorch": "PyTorch",
    "jax": "JAX",
    "named_tensors": "PyTorch's named tensors",
    "phiml": "PhiML",
    "returnn": "RETURNN",
}
"""The systems that have a page, by the names in the files of the pages."""

SHORT = {"numpy": "np", "xarray": "xr", "pytorch": "torch", "jax": "jnp"}
"""The names by which programs import them, which the titles have, so that a search for `torch.cat` finds the page."""


class Row(NamedTuple):
    """A function of another system, what to write here, and what differs."""

    name: str
    code: str
    remark: str


class Rows(NamedTuple):
    """The content of a module of rows."""

    introduction: str
    names: str
    """The code that runs before the code of each row."""
    rows: list[Row]
    """The rows in the order of the page."""
    compared: str
    """The text that runs the name of a row as code, if the names are code with the same values."""
    theirs: str
    """The code that runs before the name of a row, if `make clients` compares the results of the two columns."""


def read(system: str) -> Rows:
    """The rows of a system's module."""
    module = run_path(str(Path(__file__).with_name(f"{system}_rows.py")))
    rows = []
    for line in module["ROWS"].strip().replace("\n    ", " ").splitlines():  # a long row continues in a second line
        name, _, rest = line.partition(" | ")
        # "c | d" is code too: the remark follows the last bar.
        code, remark = (part.strip() for part in rest.rpartition("|")[::2])
        if not code and not remark:
            hint = advice(name.strip().rpartition(".")[2])
            if hint is None:
                raise LookupError(f"{name}: write what to do instead, here or in errors/hints.toml")
            remark = f"`{hint}`"
        rows.append(Row(name.strip(), code, remark))
    return Rows(module["INTRODUCTION"], module["NAMES"], rows, module.get("COMPARED", ""), module.get("THEIRS", ""))


PAGE = """\
# Coming from {title}

{introduction}

```python
{names}```

| {name} | tensorbackend | |
| --- | --- | --- |
"""

NOTE = """
---

*Generated from `docs/{system}_rows.py` by `make docs`. A test runs the code block above and then the code of each
row{compared}.*
"""


FIRST = {"numpy": "search: {boost: 1.5} # a name of NumPy is found here before words of running text\n"}
"""What else is in front of the title of a page."""


def page(system: str) -> str:
    """The text of a system's page."""
    table = read(system)
    compared = ", and compares the results of the two columns" if table.compared else ""
    if table.theirs:
        compared = f"; `make clients` runs {SYSTEMS[system]} next to them, on data with NaN and without, and compares"
    name = SYSTEMS[system]
    title = f"{name} ({SHORT[system]})" if system in SHORT else name
    head = PAGE.format(name=name, title=title, introduction=table.introduction, names=table.names)
    rows = "".join(f"| `{row.name}` | {_cell(row.code)} | {row.remark} |\n" for row in table.rows)
    return (
        f"---\nhide: [toc] # the table needs the room\n{FIRST.get(system, '')}---\n\n"
        + head
        + rows
        + NOTE.format(system=system, compared=compared)
    )


def _cell(code: str) -> str:
    return f"`{code}`".replace("|", "\\|") if code else ""
