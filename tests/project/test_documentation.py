"""The docstrings of public functions have numpydoc's sections, and these name the parameters of the function.

`MODULES` are the namespaces in which this holds for all functions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from inspect import Parameter, getdoc, isfunction, signature
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend import errors, extending, files, testing
from tensorbackend.docstrings.results import RAISES, RETURNS
from tensorbackend.docstrings.sections import PARAMETERS

MODULES = (
    tb, errors, extending, files, testing, tb.fft, tb.linalg, tb.nn, tb.optimize, tb.ragged, tb.random, tb.solvers,
    tb.sparse,
)  # fmt: skip
STARS: dict[Any, str] = {Parameter.VAR_POSITIONAL: "*", Parameter.VAR_KEYWORD: "**"}


def functions(module: ModuleType) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the public functions of a namespace, with their names."""
    for name in dir(module):
        value = getattr(module, name)
        if not name.startswith("_") and isfunction(value) and value.__module__.startswith("tensorbackend"):
            yield f"{module.__name__}.{name}", value


def sections(function: Callable[..., Any]) -> dict[str, list[str]]:
    """Return the lines of each section of a docstring by the section's title; the leading lines have an empty title."""
    lines = (getdoc(function) or "").split("\n")
    lines_by_title: dict[str, list[str]] = {"": []}
    title = ""
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if re.fullmatch("-+", following) and len(following) == len(line):
            title = line
            lines_by_title[title] = []
        elif not re.fullmatch("-+", line):
            lines_by_title[title].append(line)
    return lines_by_title


def lacking(function: Callable[..., Any]) -> list[str]:
    """Return what the docstring of a function lacks."""
    lines_by_title, declared = sections(function), signature(function)
    taken = [parameter for parameter in declared.parameters.values() if parameter.annotation != "Never"]  # not refused
    expected_names = {STARS.get(parameter.kind, "") + parameter.name for parameter in taken}
    entries = [
        line.partition(" : ")[0] for line in lines_by_title.get("Parameters", ()) if line and not line.startswith(" ")
    ]
    named = {name.strip() for entry in entries for name in entry.split(",")}
    wrong = [f"the parameter {name}" for name in sorted(expected_names ^ named)]
    if not lines_by_title[""][0].strip():
        wrong.append("a summary")
    if declared.return_annotation not in (None, "None") and not {"Returns", "Yields"} & {*lines_by_title}:
        wrong.append("what it returns")
    if not re.search(r"^>>> ", getdoc(function) or "", re.MULTILINE):
        wrong.append("an example")
    return wrong


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_public_function_is_documented(module: ModuleType) -> None:
    gaps_by_name = {name: lacking(function) for name, function in functions(module)}
    assert gaps_by_name
    assert {name: wrong for name, wrong in gaps_by_name.items() if wrong} == {}


def test_what_is_lacking_is_told() -> None:
    def bare(x: int, *rest: int, scale: float = 1.0) -> int:
        return x

    def other(x: int, y: int) -> None:
        """Do nothing.

        Parameters
        ----------
        x, z : int
            Numbers.
        """

    parameters = ["the parameter *rest", "the parameter scale", "the parameter x"]
    assert lacking(bare) == [*parameters, "a summary", "what it returns", "an example"]
    assert lacking(other) == ["the parameter y", "the parameter z", "an example"]


def test_sections_are_completed_where_an_op_is_declared() -> None:
    lines_by_title = sections(tb.sum)
    assert list(lines_by_title) == ["", "Parameters", "Returns", "Examples"]
    assert "keepdims : bool, default False" in lines_by_title["Parameters"]
    assert lines_by_title["Returns"][0] == "Tensor"
    assert sections(tb.linalg.qr)["Returns"][0] == "QRResult"
    assert sections(tb.dot)["Parameters"] != []


@tb.composite
def doubled(x: tb.Tensor, /) -> tb.Tensor:
    """Twice x."""
    return tb.add(x, x)


def test_a_docstring_is_completed_with_what_it_does_not_say_itself() -> None:
    lines_by_title = sections(tb.nn.kaiser)
    names = [line.split(" : ")[0] for line in lines_by_title["Parameters"] if line[:1].strip()]
    assert names == [*signature(tb.nn.kaiser).parameters]
    assert "beta : float" in lines_by_title["Parameters"]
    assert "    The parameter, at least 0; 0 is a rectangle, 14 a good start." in lines_by_title["Parameters"]
    raised = [
        "ArgumentError",
        "    For a negative size or parameter.",
        "DTypeError",
        "    For a dtype that is not floating.",
    ]
    assert lines_by_title["Raises"][:4] == raised
    assert [*lines_by_title][-1] == "Examples"  # whose title the docstring leaves out
    assert sections(tb.nn.glu)["Raises"][::2] == ["ShapeError", ""]


def test_what_others_declare_stays_as_it_is() -> None:
    assert doubled.__doc__ == "Twice x."


def test_no_words_are_left_over() -> None:
    known = {"", "ragged"}
    for function in {id(function): function for module in MODULES for _, function in functions(module)}.values():
        path = function.__module__.removeprefix("tensorbackend.").removeprefix("ops.").removeprefix("composite.")
        name = function.__name__
        known |= {name, path, f"{path}.{name}", path.rpartition(".")[2], path.partition(".")[0]}
    assert {*PARAMETERS, *RETURNS, *RAISES} - known == set()


SOURCES = sorted(Path(tb.__file__).parent.rglob("*.py"))

_NO_PROSE = re.compile(r"(>>>|\s|\.\.|[-*|] |[A-Z][A-Za-z ]+\n-{3,})|.*(\n\s|https?:|>>>)", re.DOTALL)
"""A paragraph of examples, code, a table, a list or a section."""


def cut_paragraphs(source: str) -> list[str]:
    """Return the ends of paragraphs of prose in docstrings that end in the middle of a sentence."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)
    texts = [ast.get_docstring(node) or "" for node in ast.walk(ast.parse(source)) if isinstance(node, kinds)]
    paragraphs = [paragraph.rstrip() for text in texts for paragraph in text.split("\n\n")]
    return [part[-60:] for part in paragraphs if re.search(r"[\w,]$", part) and not _NO_PROSE.match(part)]


def test_paragraphs_of_docstrings_end_as_sentences() -> None:
    """A blank line in the middle of a sentence makes two paragraphs of it."""
    assert cut_paragraphs('def f():\n    """The sum of all\n\n    elements."""\n') == ["The sum of all"]
    cut = {path.name: found for path in SOURCES if (found := cut_paragraphs(path.read_text("utf-8")))}
    assert not cut
