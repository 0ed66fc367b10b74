"""The hints for names of other libraries; `tests/tensor/test_missing_names.py` has the errors."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import tensorbackend as tb
from tensorbackend.errors import hints
from tensorbackend.errors.hints import FUNCTIONS, NAMESPACES, advice, lacking, rows


def test_no_name_that_exists_is_answered() -> None:
    assert [name for name in rows(*FUNCTIONS) if hasattr(tb, name)] == []
    assert [name for name in rows("tensor") if hasattr(tb.ones((2, 2)), name)] == []
    for space in NAMESPACES:
        module = import_module(f"tensorbackend.{space}")
        assert rows(space)
        assert [name for name in rows(space) if hasattr(module, name)] == []


def test_a_name_has_one_answer() -> None:
    assert not {*rows("recipes")} & {*rows("package")}
    assert not {*rows(*FUNCTIONS)} & {*rows("synonyms")}


def test_each_section_is_asked_for() -> None:
    """A section is named in the code of the package, or is that of a namespace or of a class of results."""
    package = Path(hints.__file__).parents[1]
    code = "".join(path.read_text() for path in package.rglob("*.py"))
    for section in hints._sections():
        assert section in NAMESPACES or section.startswith("results.") or f'"{section}"' in code, section


def test_names_that_only_others_have_exist_there_and_not_here() -> None:
    for module, names in rows("host").items():
        theirs = import_module(module)
        assert [name for name in names.split() if not hasattr(theirs, name)] == [], module
        assert [name for name in names.split() if hasattr(tb, name)] == [], module


def test_a_namespace_answers_what_the_package_does() -> None:
    assert advice("einops") == advice("einops", "linalg") == rows("package")["einops"]
    assert advice("fillna") == advice("fillna", "Tensor") == rows("tensor")["fillna"]
    assert advice("no_such") is advice("normal", "arguments.dtype") is None


def test_the_names_that_tensors_lack_are_those_of_the_first_sections() -> None:
    assert sorted(lacking()) == sorted(name for held in ("synonyms", *FUNCTIONS, "tensor") for name in rows(held))


def test_the_hints_are_parsed_when_an_error_is_read() -> None:
    code = """
import sys, tensorbackend as tb
try:
    tb.cumsum
except AttributeError as error:
    assert "tomllib" not in sys.modules
    assert "tb.cumulative_sum" in str(error)
assert "tomllib" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
