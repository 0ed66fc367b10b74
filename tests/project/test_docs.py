"""The Python code in the README and in docs/ runs."""

import ast
import inspect
import linecache
import re
import runpy
from functools import cache
from pathlib import Path
from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend import extending

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(?:python\n(.*?)```|(?:text|table)\n(.*?)```)", re.DOTALL | re.MULTILINE)
BLOCKS = {page: [block.groups() for block in BLOCK.finditer(page.read_text())] for page in PAGES}
"""The blocks of each page: (Python, None), or (None, output)."""

MEASURED = {"profiling.md"}
"""Pages whose output changes from run to run."""


NEEDS = {"xarray.md": "xarray"}
"""Pages whose code needs a library that the tests' environment lacks; `make clients` runs them."""


@cache
def hook() -> Any:
    """Return what makes the pages that exist only on the site."""
    return runpy.run_path(str(ROOT / "docs" / "reference.py"))


@cache
def made_for_the_site() -> dict[str, str]:
    """Return the pages of tables that exist only on the site."""
    made: dict[str, str] = hook()["tables"]()
    return made


@cache
def reference() -> set[str]:
    """Return the paths of the pages that exist only on the site."""
    return {*hook()["pages"](), *hook()["makers"]()}


def test_tables_are_made_for_the_site() -> None:
    for page, text in made_for_the_site().items():
        assert text.count("\n| ") > 50
        assert not (ROOT / "docs" / page).exists(), "the site has this page, and no copy is committed"


@pytest.mark.parametrize("page", [page for page in PAGES if BLOCKS[page]], ids=lambda page: page.name)
def test_the_blocks_of_a_page_run_in_order(
    page: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if page.name in NEEDS:
        pytest.importorskip(NEEDS[page.name])
    monkeypatch.setenv("COLUMNS", "80")  # lines are cut to this width
    # Recipes declare ops and classes, so each page runs as a module with a name of its own.
    namespace = {"__name__": "docs_page"}
    printed = ""
    shown = [output is not None for _, output in BLOCKS[page]] + [False]
    for number, (code, output) in enumerate(BLOCKS[page], 1):
        if code is not None:
            linecache.cache[page.name] = (len(code), None, code.splitlines(keepends=True), page.name)  # errors show it
            exec(compile(code, page.name, "exec"), namespace)
            printed = capsys.readouterr().out
            assert not printed or shown[number], f"the page does not show {printed!r}"
        elif page.name not in MEASURED:
            assert output in printed, "the page shows another output"
    assert "tb" in namespace


SHOW_NOTHING = {"testing.md", "write-a-backend.md", "semantics.md"}
"""Pages whose first block only declares something, or states a rule; so do those that begin with a table's names."""


@pytest.mark.parametrize("page", [page for page in PAGES if BLOCKS[page]], ids=lambda page: page.name)
def test_the_first_example_of_a_page_shows_its_output(page: Path) -> None:
    if page.name not in SHOW_NOTHING and not page.name.startswith("coming-from"):
        codes = [code for code, _ in BLOCKS[page]]
        assert codes[0] is not None
        assert None in codes[:2], f"{page.name} shows no output of its first example"


@pytest.mark.parametrize("page", [*PAGES, *ROOT.glob("plugins/*/README.md")], ids=lambda page: page.parent.name)
def test_no_page_installs_from_an_index_what_is_not_there(page: Path) -> None:
    """Whoever registers the name of a distribution that was not published would be installed."""
    lines = re.findall(r"pip install[^`\n]*", page.read_text())
    assert [line for line in lines if re.search(r"(?<![./\w-])tensorbackend\b", re.sub("#.*", "", line))] == []


COMMANDS = re.compile(r"^```(?:text)?\n(?:\w+=\S+ )*(?:tensorbackend|pip|make|python3?|pytest|gh|gcc) .*", re.MULTILINE)


@pytest.mark.parametrize("page", [*PAGES, *ROOT.glob("plugins/*/README.md")], ids=lambda page: page.parent.name)
def test_commands_are_not_shown_as_what_is_printed(page: Path) -> None:
    """The site sets off what is printed, and offers to copy the rest."""
    assert COMMANDS.findall(page.read_text()) == [], "these blocks begin with ```bash"


def joined(text: str) -> list[str]:
    """Return the lines that MkDocs joins with what is before them, as no blank line is there."""
    found = []
    before, fenced = "", False
    for line in text.splitlines():
        table, row = before.startswith("|"), line.startswith("|")
        item = re.match(r"\s+\S|[-*] |\d+\. ", before)
        continued = not line or re.match(r"\s|[-*] |\d+\. ", line)
        starts = (
            line.startswith("#") or (line.startswith("```") and not fenced) or table != row or (item and not continued)
        )
        if not fenced and starts and before and line and "<!--" not in before + line:
            found.append(line)
        fenced ^= line.startswith("```")
        before = "" if line == "```" else line
    return found


@pytest.mark.parametrize("page", [*PAGES, *ROOT.glob("*.md"), *ROOT.glob("plugins/*/*.md")], ids=lambda page: page.name)
def test_blocks_stand_apart(page: Path) -> None:
    assert joined(page.read_text()) == []


def test_a_block_that_is_joined_is_found() -> None:
    page = "These are slower:\n| call | times |\n\n- one\n## Two\n\n- three\nfour\n\nSo:\n```bash\n# ls\nls\n```\n"
    assert joined(page) == ["| call | times |", "## Two", "four", "```bash"]


def test_the_menu_to_start_with_is_short() -> None:
    start = (ROOT / "mkdocs.yml").read_text().partition("  - Start:\n")[2].partition("\n  - ")[0]
    assert 3 <= len(start.splitlines()) <= 8


def test_the_page_on_backends_builds_the_example() -> None:
    page = (ROOT / "docs" / "write-a-backend.md").read_text()
    backend, _, _ = (ROOT / "examples" / "minimal_backend.py").read_text().partition("def main")
    _, _, backend = backend.partition("import annotations\n\n")
    for part in re.split(r"\n{2,}", backend.strip()):
        assert part in page, "docs/write-a-backend.md shows another version"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", re.sub("`[^`]*`", "", page.read_text())):
        exists = (page.parent / target).exists()
        assert exists or (page.parent.name == "docs" and target in reference()), f"{page.name} links to {target}"


def test_generated_pages_are_current() -> None:
    pages = runpy.run_path(str(ROOT / "docs" / "tables.py"))["PAGES"]
    for path, page in pages.items():
        assert path.read_text() == page(), "run make docs"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_notes_for_maintainers_come_last(page: Path) -> None:
    text = page.read_text()
    before, found, note = text.partition("Generated from ")
    assert not found or (before.endswith("\n---\n\n*") and note.endswith("*\n") and "\n\n" not in note)


def test_every_callback_has_a_public_function() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", made_for_the_site()["coming-from-nx.md"], re.MULTILINE)
    assert len(rows) > 100
    assert [name for name, functions in rows if not functions] == []


def test_the_signatures_of_the_page_for_backends_are_those_of_the_code() -> None:
    page = (ROOT / "docs" / "write-a-backend.md").read_text()
    found = {
        node.name: [argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)]
        for block in re.findall(r"^```py\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
        for node in ast.parse(block).body
        if isinstance(node, ast.FunctionDef)
    }
    assert {"to_numpy", "import_library"} <= found.keys()
    for name, parameters in found.items():
        function = getattr(tb.Backend, name, None) or getattr(extending, name)
        assert sorted(inspect.signature(function).parameters) == sorted(parameters), name


ROWS = runpy.run_path(str(ROOT / "docs" / "rows.py"))
TABLES = {system: ROWS["read"](system) for system in ROWS["SYSTEMS"]}


@pytest.mark.parametrize(
    ("table", "row"),
    [pytest.param(table, row, id=f"{name}-{row.name}") for name, table in TABLES.items() for row in table.rows],
)
def test_what_stands_for_a_function_of_another_system_runs(table: Any, row: Any) -> None:
    assert row.code or row.remark
    namespace: dict[str, Any] = {}
    exec(table.names, namespace)
    if not table.compared or not row.code or re.search(r" [-+*/]?= ", row.code):
        exec(row.code, namespace)
        return
    ours, theirs = eval(row.code, namespace), eval(table.compared.format(row.name), namespace)
    assert_same(ours, theirs, drawn="rng." in row.name)


NAMED = [row for row in TABLES["named_tensors"].rows if row.code]


@pytest.mark.parametrize("row", NAMED, ids=lambda row: row.name)
def test_names_are_those_of_named_tensors(row: Any) -> None:
    """The remark begins with what PyTorch documents: the names of a result, or the result itself."""
    namespace: dict[str, Any] = {}
    exec(TABLES["named_tensors"].names, namespace)
    found = eval(row.code, namespace)
    documented = re.match("`([^`]+)`", row.remark)
    assert documented
    assert (found.names if isinstance(found, tb.Tensor) else found) == ast.literal_eval(documented[1])


def assert_same(ours: Any, theirs: Any, drawn: bool) -> None:
    """Check that two results have the same structure and values, or only the same shapes if they are random."""
    if isinstance(theirs, (tuple, list)) and not isinstance(ours, tb.Tensor):
        for one, other in zip(ours, theirs, strict=True):
            assert_same(one, other, drawn)
    else:
        assert numpy.shape(ours) == numpy.shape(theirs)
        if not drawn:
            numpy.testing.assert_allclose(numpy.asarray(ours), numpy.asarray(theirs), rtol=1e-5, atol=1e-6)


def test_other_values_are_not_the_same() -> None:
    assert_same((tb.ones(2), 1), [numpy.ones(2), 1], drawn=False)
    assert_same(tb.ones(2), numpy.zeros(2), drawn=True)
    for ours, theirs in ((tb.ones(2), numpy.zeros(2)), (tb.ones(2), numpy.ones(3)), ((tb.ones(2),), [])):
        with pytest.raises((AssertionError, ValueError)):
            assert_same(ours, theirs, drawn=False)


def test_no_function_stands_in_two_rows() -> None:
    for table in TABLES.values():
        names = [row.name for row in table.rows]
        assert len(names) == len(set(names))


FUNCTIONS = [name for name, member in vars(tb.nn).items() if callable(member) and name[0].islower()]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_networks_says_what_it_takes_and_gives(name: str) -> None:
    documented = inspect.getdoc(getattr(tb.nn, name)) or ""
    sections = re.findall(r"^(\w+)\n-{3,}$", documented, re.MULTILINE)
    assert {"Parameters", "Returns", "Examples"} <= set(sections)
