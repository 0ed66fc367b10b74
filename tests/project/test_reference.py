"""The site's reference has an entry for every public function, and its links lead to existing pages."""

from __future__ import annotations

import inspect
import os
import re
import runpy
from collections.abc import Iterator
from importlib import import_module
from inspect import isfunction
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import tensorbackend as tb

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = runpy.run_path(str(ROOT / "docs" / "reference.py"))
ENTRIES = REFERENCE["entries"]()
PAGES = REFERENCE["pages"]()
NAVIGATION = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]

SPACES = [value for value in (getattr(tb, name) for name in dir(tb)) if isinstance(value, ModuleType)]
"""The namespaces of `tb`."""

MODULES = [
    tb,
    *SPACES,
    *(import_module(f"tensorbackend.{name}") for name in ("errors", "extending", "files", "testing")),
]


def public(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield the functions that a module offers, however they got there, except those that it imports for itself."""
    text = inspect.getsource(module)
    for name in dir(module):
        value = getattr(module, name)
        if not name.startswith("_") and isfunction(value) and value.__module__.startswith("tensorbackend."):
            if f"def {name}(" not in text and name in vars(module) and f"{name} as {name}" not in text:
                continue
            yield name, value


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_public_function_has_an_entry(module: ModuleType) -> None:
    listed = {id(value) for page in ENTRIES.values() for value in page.values()}
    functions = dict(public(module))
    assert functions
    assert [name for name, value in functions.items() if id(value) not in listed] == []


def test_an_object_has_one_entry() -> None:
    values = [id(value) for page in ENTRIES.values() for value in page.values()]
    assert len(values) == len(set(values))
    blocks = [name for text in PAGES.values() for name in re.findall(r"^::: (\S+)$", text, re.MULTILINE)]
    assert len(blocks) == len(set(blocks)) == len(values)


def test_an_object_has_a_page_of_its_own() -> None:
    objects = [path for path in PAGES if path.count("/") == 2]
    assert len(objects) == sum(map(len, ENTRIES.values())) > 700
    assert len({path.lower() for path in objects}) == len(objects), "some disks do not tell these apart"
    assert PAGES["reference/reduction/sum.md"].count("\n::: ") == 1


def test_each_entry_is_found_under_its_name() -> None:
    for page in ENTRIES.values():
        for path, value in page.items():
            module, _, name = path.rpartition(".")
            assert getattr(import_module(module), name) is value


def test_a_plugin_with_a_page_in_docs_has_no_second_one() -> None:
    places = REFERENCE["OUTSIDE"]
    assert len({*places.values()}) == len(places)
    for name in ("dask", "mlx", "onnx"):
        assert places[f"plugins/tensorbackend-{name}/README.md"] == f"{name}.md"


def test_words_of_the_search_lead_to_pages() -> None:
    hook = REFERENCE
    known = {path.name for path in (ROOT / "docs").glob("*.md")} | {*PAGES, *hook["makers"](), *hook["PLACES"].values()}
    assert {*hook["WORDS"]} <= known


def test_every_page_of_docs_is_in_the_navigation() -> None:
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} | {*REFERENCE["OUTSIDE"].values()}
    assert {page for page in pages if f" {page}\n" not in NAVIGATION} == set()


@pytest.mark.parametrize(
    ("link", "source", "page", "expected"),
    [
        ("../examples/gpt3.py", "docs/dry-run.md", "dry-run.md", "examples/gpt3.md"),
        ("../README.md", "docs/index.md", "index.md", "index.md"),
        ("semantics.md#files", "docs/tour.md", "tour.md", "semantics.md#files"),
        ("../../README.md", "plugins/a/README.md", "plugins/a/readme.md", "../../index.md"),
        ("https://www.python.org", "docs/tour.md", "tour.md", "https://www.python.org"),
        ("#ops", "docs/tour.md", "tour.md", "#ops"),
    ],
)
def test_links_out_of_docs_lead_to_pages(link: str, source: str, page: str, expected: str) -> None:
    assert REFERENCE["linked"](f"[a]({link}), b", source, page) == f"[a]({expected}), b"


def test_pages_link_to_files_that_the_site_has() -> None:
    """The site is built from docs/ and the files of `OUTSIDE`: a link to another file would lead nowhere there."""
    sources = {*REFERENCE["OUTSIDE"], *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))}
    for source in sorted(source for source in sources if source.endswith(".md")):
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", (ROOT / source).read_text()):
            target = os.path.normpath(Path(source).parent / link)
            assert target in REFERENCE["PLACES"] or target.startswith("docs/"), f"{source} links to {link}"


def test_functions_are_found_by_their_names_in_other_libraries() -> None:
    elsewhere = runpy.run_path(str(ROOT / "docs" / "elsewhere.py"))
    names = elsewhere["other_names"]()
    assert {"np.cumsum", "torch.cumsum", "jnp.cumsum", "da.cumsum"} <= set(names["tb.cumulative_sum"])
    assert {"nn.Conv2d", "conv2d"} <= set(names["tb.nn.conv"])
    listed = {REFERENCE["short"](path) for page in ENTRIES.values() for path in page}
    assert len(listed & set(names)) > 150
    assert "np.cumsum" in REFERENCE["elsewhere"]()["reference/cumulative/cumulative_sum.md"]
