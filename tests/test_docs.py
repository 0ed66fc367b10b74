"""The Python of the README and of docs/ runs."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = [
    pytest.param(block, id=f"{page.name}-{number}")
    for page in PAGES
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
]


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_runs(block: str) -> None:
    # A recipe declares ops and classes: it runs in a module of its own name.
    namespace = {"__name__": "docs_block"}
    exec(compile(block, "docs", "exec"), namespace)
    assert "tb" in namespace


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
