"""Each figure of README and docs/ is checked by a test, generated, marked with its month, or a constant.

A figure is a number with a unit of time, memory, work or ratio, or a count of thousands. Code and what it prints are
checked by `test_docs.py`; generated pages are current by it. Any other section with a figure says the month: figures
without another machine are of the one that docs/performance.md names.
"""

from __future__ import annotations

import re
import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GENERATED = {path.name for path in runpy.run_path(str(ROOT / "docs" / "tables.py"))["PAGES"]}
PAGES = [
    path
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted(ROOT.glob("plugins/*/README.md")))
    if path.name not in GENERATED
]

UNIT = "ns|µs|us|ms|s|seconds?|minutes?|hours?|milliseconds|microseconds?|[kMGT]i?B|bytes|[kMGT]?FLOPs?|%|percent|times"
FIGURE = re.compile(rf"(?<![\w.])\d[\d,.]*(?: ?[kMGTP])?\s(?:{UNIT})(?![\w/])|\b\d{{1,3}}(?:,\d{{3}})+\b|\d ?%")
MEASURED = re.compile(
    r"\b(January|February|March|April|May|June|July|August|September|October|November|December) 20\d\d\b"
)
TESTED = re.compile(r"^```python\n.*?^```\n(?:\n```(?:text|table)\n.*?^```)?", re.DOTALL | re.MULTILINE)

CONSTANTS = {
    "dask.md: ## A table that does not fit": "the sizes of its table",
    "dask.md: ## Options": "defaults",
    "dask.md: ## When ops are computed": "a constant of the backend",
    "dask.md: ## Memory and disk": "the options of an example",
    "layouts.md: ## Times": "the memory of devices",
    "onnx.md: ## PyTorch's modules": "a limit of the format",
    "profiling.md: ## The limit": "the whole of the limit",
    "semantics.md: ## Limits and meshes": "a format",
    "semantics.md: ## Files": "limits of the readers",
    "sharp-bits.md: ## NaN in what is left out has a gradient of NaN": "0 times NaN",
    "solvers.md: ## Linear systems": "a default",
    "tensorbackend-dask/README.md: ## Tests": "the sizes of a test",
    "tensorbackend-phiml/README.md: ## PhiFlow's notebooks": "written by a run of them",
}
"""The sections whose figures are no measurements, with what they are."""


def named(page: Path) -> str:
    return f"{page.parent.name}/{page.name}" if page.parent.parent.name == "plugins" else page.name


def unmarked(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the head and the figures of each section of a page that neither a test nor a date stands for."""
    for section in re.split(r"(?=^#{1,4} )", TESTED.sub("", text), flags=re.MULTILINE):
        figures = FIGURE.findall(section)
        if figures and not MEASURED.search(section):
            yield section.partition("\n")[0], figures


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_each_figure_has_a_source(page: Path) -> None:
    found = {head: figures for head, figures in unmarked(page.read_text()) if f"{named(page)}: {head}" not in CONSTANTS}
    assert not found, "say when these were measured ('Measured in November 2026'), or show them by a block"


def test_each_constant_still_has_figures() -> None:
    found = {f"{named(page)}: {head}" for page in PAGES for head, _ in unmarked(page.read_text())}
    assert {*CONSTANTS} - found == set()


def test_a_figure_without_a_source_is_found() -> None:
    shown = "```python\nprint(4)\n```\n\n```text\n4 MB\n```\n"
    assert list(unmarked(f"## Checked\n\n{shown}")) == []
    assert list(unmarked("## Dated\n\nIt takes 3 ms (May 2026).")) == []
    (head, figures) = next(unmarked("## Loose\n\nIt takes 3 ms, 1,024 times, or 40 % of 2 MB."))
    assert (head, figures) == ("## Loose", ["3 ms", "1,024 times", "40 %", "2 MB"])
