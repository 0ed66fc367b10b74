"""What is deprecated warns at the user's line, says so in its docstring, and is listed."""

from __future__ import annotations

import inspect
import warnings
from pathlib import Path
from runpy import run_path

import pytest

import tensorbackend as tb
from tensorbackend.declarations.argument_errors import check_arguments
from tensorbackend.declarations.deprecations import deprecated, deprecations
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
    assert [notice.option for notice in deprecations(flat)] == ["order"]
    assert deprecations(tb.ones) == ()


def test_nothing_is_left_that_this_version_should_have_removed() -> None:
    assert SNAPSHOT["overdue"](["tb.flat(x)  # deprecated since 0.2 and removed in 0.10; write x"], "0.10.1") == [
        "tb.flat"
    ]
    assert SNAPSHOT["overdue"](["tb.flat(x)  # deprecated since 0.2 and removed in 0.10; write x"], "0.9.3") == []
    lines = SNAPSHOT["FILE"].read_text(encoding="utf-8").splitlines()
    assert SNAPSHOT["overdue"](lines, tb.__version__) == [], "remove it"
