"""The Python of the README and of docs/ runs."""

import inspect
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

import tensorbackend as tb

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = {page: re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL) for page in PAGES}


@pytest.mark.parametrize("page", [page for page in PAGES if BLOCKS[page]], ids=lambda page: page.name)
def test_the_blocks_of_a_page_run_in_order(page: Path) -> None:
    # A recipe declares ops and classes: it runs in a module of its own name.
    namespace = {"__name__": "docs_page"}
    for block in BLOCKS[page]:
        exec(compile(block, page.name, "exec"), namespace)
    assert "tb" in namespace


def test_the_page_on_backends_builds_the_example() -> None:
    page = (ROOT / "docs" / "write-a-backend.md").read_text()
    backend, _, _ = (ROOT / "examples" / "minimal_backend.py").read_text().partition("def main")
    _, _, backend = backend.partition("import annotations\n\n")
    for part in re.split(r"\n{2,}", backend.strip()):
        assert part in page, "docs/write-a-backend.md shows another version"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_generated_pages_are_current() -> None:
    pages = runpy.run_path(str(ROOT / "docs" / "tables.py"))["PAGES"]
    for path, page in pages.items():
        assert path.read_text() == page(), "run make docs"


def test_every_callback_has_a_public_function() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", (ROOT / "docs" / "coming-from-nx.md").read_text(), re.MULTILINE)
    assert len(rows) > 100
    assert [name for name, functions in rows if not functions] == []


ROWS = runpy.run_path(str(ROOT / "docs" / "rows.py"))
TABLES = {system: ROWS["read"](system) for system in ROWS["SYSTEMS"]}


@pytest.mark.parametrize(
    ("names", "row"),
    [pytest.param(table.names, row, id=f"{name}-{row.name}") for name, table in TABLES.items() for row in table.rows],
)
def test_what_stands_for_a_function_of_another_system_runs(names: str, row: Any) -> None:
    assert row.code or row.remark
    namespace: dict[str, Any] = {}
    exec(names, namespace)
    exec(row.code, namespace)


def test_no_function_stands_in_two_rows() -> None:
    for table in TABLES.values():
        names = [row.name for row in table.rows]
        assert len(names) == len(set(names))


FUNCTIONS = [name for name, each in vars(tb.nn).items() if callable(each) and name[0].islower()]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_networks_says_what_it_takes_and_gives(name: str) -> None:
    documented = inspect.getdoc(getattr(tb.nn, name)) or ""
    sections = re.findall(r"^(\w+)\n-{3,}$", documented, re.MULTILINE)
    assert {"Parameters", "Returns", "Examples"} <= set(sections)
