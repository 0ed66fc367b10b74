"""What is deprecated warns at the user's line, says so in its docstring, and is listed."""

from __future__ import annotations

import copy
import inspect
import pickle
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from runpy import run_path
from types import ModuleType
from typing import Any, ClassVar, NamedTuple

import pytest

import tensorbackend as tb
from tensorbackend.declarations.argument_errors import check_arguments
from tensorbackend.declarations.deprecations import (
    CONSTANTS,
    Constant,
    Deprecation,
    deprecated,
    deprecated_constants,
    deprecations,
)
from tensorbackend.errors import ArgumentError

ROOT = Path(__file__).resolve().parents[2]
SNAPSHOT = run_path(str(ROOT / "docs" / "snapshot.py"))


@deprecated("write tb.sum(x)", since="0.2", removal="0.3")
@check_arguments
def total(x: tb.Tensor, *, axis: int | None = None) -> tb.Tensor:
    """Sum the elements.

    Parameters
    ----------
    x : Tensor
        The tensor.
    """
    return tb.sum(x, axis=axis)


@deprecated("leave it out", since="0.2", removal="0.4", option="order")
def flat(x: tb.Tensor, order: str = "C") -> tb.Tensor:
    """Flatten a tensor."""
    return tb.reshape(x, (-1,))


@deprecated("write tb.Template", since="0.2", removal="0.3")
class Shape:
    """Sizes of axes."""

    def __init__(self, *sizes: int) -> None:
        self.sizes = sizes


@deprecated("write tb.Template", since="0.2", removal="0.3")
@dataclass(frozen=True)
class Sizes:
    """Sizes of axes."""

    height: int
    width: int = 3


@deprecated("write tb.Template", since="0.2", removal="0.3")
class Pair(NamedTuple):
    """Two sizes."""

    height: int
    width: int = 3


class Registered:
    """A class that keeps its instances and knows what is derived from it."""

    kept: ClassVar[dict[int, Any]] = {}
    names: ClassVar[list[str]] = []

    def __new__(cls, number: int) -> Any:
        return cls.kept.setdefault(number, super().__new__(cls))

    def __init_subclass__(cls, /, label: str = "", **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.names.append(label or cls.__name__)


SAID = "deprecated since 0.2 and removed in 0.3; write"


def test_a_call_warns_at_the_line_of_the_user() -> None:
    with pytest.warns(
        DeprecationWarning, match=r"^total: deprecated since 0.2 and removed in 0.3; write tb.sum\(x\)$"
    ) as found:
        assert total(tb.ones(3)).item() == 3.0
    assert found[0].filename == __file__


def test_an_option_warns_where_it_is_passed() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert flat(tb.ones((2, 2))).shape == (4,)
    said = "^flat: order is deprecated since 0.2 and removed in 0.4; leave it out$"
    with pytest.warns(DeprecationWarning, match=said):
        flat(tb.ones((2, 2)), "C")
    with pytest.warns(DeprecationWarning, match=said):
        flat(tb.ones((2, 2)), order="C")
    with pytest.raises(ArgumentError, match="expected a parameter of flat, got option='size'"):
        deprecated("leave it out", since="0.2", removal="0.4", option="size")(flat)


@pytest.mark.parametrize("kind", [Shape, Sizes, Pair])
def test_an_instance_of_a_class_warns_at_the_line_of_the_user(kind: Any) -> None:
    with pytest.warns(DeprecationWarning, match=f"^{kind.__name__}: {SAID} tb.Template$") as found:
        made = kind(2, 4)
    assert found[0].filename == __file__
    assert isinstance(made, kind)
    assert (inspect.getdoc(kind) or "").splitlines()[2].startswith("*Deprecated since 0.2")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert vars(pickle.loads(pickle.dumps(made))) == vars(made) if kind is Shape else copy.copy(made) == made
        with pytest.raises(TypeError):
            kind(2, 4, 6, wrong=8)


def test_a_class_keeps_its_signature_and_what_it_accepts() -> None:
    assert str(inspect.signature(Sizes)) == "(height: 'int', width: 'int' = 3) -> None"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert Sizes(1) == Sizes(1, 3)
        assert Pair(1) == (1, 3)
        empty: Any = deprecated("write object()", since="0.2", removal="0.3")(type("Empty", (), {}))
        empty()
        with pytest.raises(TypeError, match="takes no arguments"):
            empty(1)
    with pytest.raises(ArgumentError, match="expected no option for a class, got option='width'"):
        deprecated("leave it out", since="0.2", removal="0.3", option="width")(Shape)


def test_a_derived_class_warns_once_where_it_is_written() -> None:
    with pytest.warns(DeprecationWarning, match=f"^Shape: {SAID} tb.Template$") as found:

        class Named(Shape):
            pass

    assert (len(found), found[0].filename) == (1, __file__)
    with warnings.catch_warnings():
        warnings.simplefilter("error")

        class Further(Named):
            pass

        assert (Named(1).sizes, Further(2, 3).sizes) == ((1,), (2, 3))
    assert deprecations(Named) == ()
    assert [notice.since for notice in deprecations(Shape)] == ["0.2"]


def test_what_a_class_does_where_it_is_made_and_derived_stays() -> None:
    for base in (Registered, type("Indirect", (Registered,), {})):
        old: Any = deprecated("write new", since="0.2", removal="0.3")(base)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert old(1) is old(1)
            type("Derived", (old,), {}, label="derived")
        assert Registered.names[-1] == "derived"


@pytest.fixture
def module() -> Any:
    made: Any = ModuleType("deprecated_sizes")
    constants = {"LEAST": Constant(1, Deprecation("0.2", "0.3", "write 1", None))}
    made.__getattr__ = deprecated_constants(made.__name__, constants)
    sys.modules[made.__name__] = made
    yield made
    del sys.modules[made.__name__], CONSTANTS[made.__name__]


def test_a_constant_warns_at_the_line_of_the_user(module: Any) -> None:
    with pytest.warns(DeprecationWarning, match=f"^LEAST: {SAID} 1$") as found:
        assert module.LEAST == 1
    assert found[0].filename == __file__
    with pytest.warns(DeprecationWarning, match=f"^LEAST: {SAID} 1$") as found:
        exec(compile("from deprecated_sizes import LEAST", __file__, "exec"))
    assert found[0].filename == __file__
    with pytest.raises(AttributeError, match="module 'deprecated_sizes' has no attribute 'MOST'"):
        module.MOST  # noqa: B018


def test_other_names_of_a_module_are_found_as_before(module: Any) -> None:
    module.__getattr__ = deprecated_constants(module.__name__, CONSTANTS[module.__name__], lambda name: name.lower())
    assert module.MOST == "most"
    with pytest.warns(DeprecationWarning, match="^LEAST: "):
        assert module.LEAST == 1


def test_the_docstring_says_so_below_the_first_line() -> None:
    assert (inspect.getdoc(total) or "").splitlines()[:5] == [
        "Sum the elements.",
        "",
        "*Deprecated since 0.2 and removed in 0.3; write tb.sum(x).*",
        "",
        "Parameters",
    ]
    assert (
        inspect.getdoc(flat) == "Flatten a tensor.\n\n*Order is deprecated since 0.2 and removed in 0.4; leave it out.*"
    )


def test_the_list_of_the_interface_says_so() -> None:
    (line,) = SNAPSHOT["lines_of"]("tb.total", total)
    assert line == "tb.total(x, *, axis=None)  # deprecated since 0.2 and removed in 0.3; write tb.sum(x)"
    (line,) = SNAPSHOT["lines_of"]("tb.flat", flat)
    assert line.endswith("  # order is deprecated since 0.2 and removed in 0.4; leave it out")
    page = SNAPSHOT["deprecations_page"](["tb.ones(shape)", line])
    assert "| `tb.flat` | order is deprecated since 0.2 and removed in 0.4; leave it out |" in page
    assert "Nothing is deprecated" in SNAPSHOT["deprecations_page"](["tb.ones(shape)"])
    assert next(SNAPSHOT["lines_of"]("tb.Sizes", Sizes)).endswith(
        "tb.Sizes(height, width=3)  # deprecated since 0.2 and removed in 0.3; write tb.Template"
    )
    assert [notice.option for notice in deprecations(flat)] == ["order"]
    assert deprecations(tb.ones) == ()


def test_the_list_of_the_interface_has_the_constants(module: Any) -> None:
    assert list(SNAPSHOT["lines_of_constants"]("tb.sizes", module)) == [
        "tb.sizes.LEAST = 1  # deprecated since 0.2 and removed in 0.3; write 1"
    ]
    assert SNAPSHOT["deprecated"](SNAPSHOT["lines_of_constants"]("tb.sizes", module)).keys() == {"tb.sizes.LEAST"}


def test_nothing_is_left_that_this_version_should_have_removed() -> None:
    assert SNAPSHOT["overdue"](["tb.flat(x)  # deprecated since 0.2 and removed in 0.10; write x"], "0.10.1") == [
        "tb.flat"
    ]
    assert SNAPSHOT["overdue"](["tb.flat(x)  # deprecated since 0.2 and removed in 0.10; write x"], "0.9.3") == []
    lines = SNAPSHOT["FILE"].read_text(encoding="utf-8").splitlines()
    assert SNAPSHOT["overdue"](lines, tb.__version__) == [], "remove it"
