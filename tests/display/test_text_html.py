"""The display of a tensor in a notebook."""

from __future__ import annotations

import re

import pytest

import tensorbackend as tb


def cells(x: tb.Tensor) -> list[list[str]]:
    """Return the texts of the table's cells, row by row, with the headings of rows and columns."""
    lines = re.findall(r"<tr>(.*?)</tr>", x._repr_html_())
    return [re.findall(r"<t[hd]>(.*?)</t[hd]>", line) for line in lines]


@pytest.mark.parametrize("backend", ["binary", "numpy"])
def test_a_small_matrix_is_shown_whole(backend: str) -> None:
    x = tb.tensor([[0.1, 2.0], [3.0, 4.0]], names=("batch", "feature"), backend=backend)
    assert x._repr_html_().startswith(f"<code>f32[batch: 2][feature: 2] {backend}</code>")
    assert cells(x) == [["batch \\ feature", "0", "1"], ["0", "0.1", "2.0"], ["1", "3.0", "4.0"]]


def test_a_large_matrix_is_cut_to_its_ends() -> None:
    x = tb.iota((1000, 300), names=("row", "column"))
    shown = cells(x)
    assert len(shown) == len(shown[0]) == 12
    assert shown[0] == ["row \\ column", "0", "1", "2", "3", "4", "&hellip;", "295", "296", "297", "298", "299"]
    assert shown[6] == ["&hellip;"] * 12
    assert shown[-1][0] == "999"
    assert shown[-1][-1] == "299999"


def test_the_first_matrix_stands_for_several() -> None:
    x = tb.iota((3, 2, 2))
    assert "s64[3][2][2] numpy, first of 3" in x._repr_html_()
    assert cells(x)[1:] == [["0", "0", "1"], ["1", "2", "3"]]


def test_fewer_axes_than_two() -> None:
    assert cells(tb.asarray(5)) == [["", "0"], ["0", "5"]]
    assert cells(tb.asarray([True, False], names=("n",))) == [["n", "0", "1"], ["0", "True", "False"]]


def test_what_has_no_elements_to_show_is_its_first_line() -> None:
    moved = tb.ones((2,), names=("n",))
    moved.backend_transfer("binary")
    shown: list[str] = []

    def traced(x: tb.Tensor) -> tb.Tensor:
        shown.append(x._repr_html_())
        return x

    tb.jit(traced)(tb.ones(2))
    assert tb.zeros((0, 3))._repr_html_() == "<code>f32[0][3] numpy</code>"
    assert tb.template((3,), "f32")._repr_html_() == "<code>f32[3] template</code>"
    assert moved._repr_html_() == "<code>f32[n: 2] numpy, deallocated</code>"
    assert shown == ["<code>f32[2] expr parameter</code>"]


def test_names_are_escaped() -> None:
    x = tb.ones((2, 1), names=("<script>", "a&b"))
    assert "<script>" not in x._repr_html_()
    assert cells(x)[0][0] == "&lt;script&gt; \\ a&amp;b"
    x.backend_transfer("binary")
    assert "<script>" not in x._repr_html_()


def test_a_tensor_on_a_tape_is_shown() -> None:
    with tb.tape() as tape:
        y = tape.watch(tb.ones((2, 2))) * 2
        assert cells(y)[1] == ["0", "2.0", "2.0"]


def test_a_table_has_8_digits() -> None:
    assert cells(tb.asarray([[1 / 3, 0.1]], dtype="f64"))[1] == ["0", "0.33333333", "0.1"]
