"""The display of a tensor, which reads no more data than it shows."""

from __future__ import annotations

from typing import NamedTuple

import pytest

import tensorbackend as tb
from tensorbackend.backends.binary import BinaryBackend
from tensorbackend.dtypes import bfloat16, float16


@pytest.mark.parametrize("backend", ["binary", "numpy"])
def test_a_matrix_with_names(backend: str) -> None:
    x = tb.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], names=("batch", "feature"), backend=backend)
    assert repr(x) == f"f32[batch: 2][feature: 3] {backend}\n[[1.0, 2.0, 3.0],\n [4.0, 5.0, 6.0]]"


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (tb.tensor(7), "s64 numpy 7"),
        (tb.tensor([True, False], names=("n",)), "pred[n: 2] numpy [True, False]"),
        (tb.tensor([0.1]), "f32[1] numpy [0.1]"),
        (tb.tensor([0.1], dtype=float16), "f16[1] numpy [0.1]"),
        (tb.tensor([0.1], dtype=bfloat16), "bf16[1] numpy [0.1]"),
        (tb.tensor([1 - 0.5j]), "c64[1] numpy [1.0-0.5j]"),
        (tb.zeros((2, 0)), "f32[2][0] numpy\n[[],\n []]"),
        (tb.template((2,), "f32", ("n",)), "f32[n: 2] template"),
    ],
)
def test_each_kind(x: tb.Tensor, text: str) -> None:
    assert repr(x) == text


def test_a_line_that_has_no_room_is_broken_behind_the_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    x = tb.asarray([1.0, 2.0], names=("n",))
    monkeypatch.setenv("COLUMNS", str(len("f32[n: 2] numpy [1.0, 2.0]")))
    assert repr(x) == "f32[n: 2] numpy [1.0, 2.0]"
    monkeypatch.setenv("COLUMNS", str(len("f32[n: 2] numpy [1.0, 2.0]") - 1))
    assert repr(x) == "f32[n: 2] numpy\n[1.0, 2.0]"


class Pair(NamedTuple):
    loss: tb.Tensor
    step: int


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_a_scalar_takes_one_line_in_texts_and_containers(backend: str) -> None:
    x = tb.asarray(1.5, backend=backend)
    line = f"f32 {backend} 1.5"
    pair = Pair(x, 3)
    assert [str(x), f"{x}", f"{x:.1f}", f"{[x]}", repr({"loss": x})] == [
        *(line, line, "1.5"),
        *(f"[{line}]", f"{{'loss': {line}}}"),
    ]
    assert repr(pair) == f"Pair(loss={line}, step=3)"


def test_the_ends_of_a_large_matrix_are_shown_in_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = repr(tb.iota((1000, 300), names=("row", "column"))).splitlines()
    assert shown[0] == "s64[row: 1000][column: 300] numpy"
    assert shown[1] == "[[     0,      1,      2,      3, ...,    296,    297,    298,    299],"
    assert shown[6] == " ...,"
    assert shown[-1] == " [299700, 299701, 299702, 299703, ..., 299996, 299997, 299998, 299999]]"
    assert len(shown) == 12


@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_rows_fit_the_width(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for x in (tb.iota((1000, 1000)), tb.iota((5, 20)) * 10**6, tb.iota(100), tb.iota((3, 40, 2, 50))):
        lines = repr(x).splitlines()[1:]
        assert max(map(len, lines)) <= width


def test_a_long_row_goes_on_in_the_next_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "24")
    assert repr(tb.iota(12)) == "s64[12] numpy\n[ 0,  1,  2,  3,  4,  5,\n  6,  7,  8,  9, 10, 11]"
    assert repr(tb.iota(1000)).endswith("\n[  0,   1,   2,   3,\n   4, ..., 995, 996,\n 997, 998, 999]")


@pytest.mark.parametrize(
    ("limit", "text"),
    [
        (0, "[...]"),
        (1, "[[0, ...],\n ...]"),
        (4, "[[ 0, ...,  9],\n ...,\n [90, ..., 99]]"),
    ],
)
def test_no_more_is_shown_than_asked_for(limit: int, text: str) -> None:
    assert tb.inspect(tb.iota((10, 10)), limit=limit).partition("\n")[2] == text


def test_decimal_points_stand_below_each_other() -> None:
    x = tb.tensor([[1.5, 100.0, float("nan")], [-0.25, 2.125, float("-inf")]])
    assert repr(x) == "f32[2][3] numpy\n[[ 1.5 , 100.0  ,  nan],\n [-0.25,   2.125, -inf]]"


def test_few_elements_of_many_axes_are_shown() -> None:
    x = tb.iota((9,) * 8)
    assert repr(x).startswith("s64[9][9][9][9][9][9][9][9] numpy\n[[[[[[[[")
    assert len(repr(x)) < 3000
    assert repr(tb.zeros((1000, 0))).count("[]") == 10


def test_no_more_is_read_than_is_shown() -> None:
    asked: list[int] = []

    class Watched(BinaryBackend):
        name = "watched"

        def to_binary(self, x: tb.Tensor, limit: int, /) -> bytes:
            asked.append(limit)
            return super().to_binary(x, limit)

    x = tb.zeros((1000, 1000), names=("row", "column"), backend=Watched())
    repr(x)
    assert tb.inspect(x, limit=2).endswith("\n[[0.0, ..., 0.0],\n ...]")
    x._repr_html_()
    assert asked == [100, 2, 100]


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_every_backend_shows_the_same(backend: str) -> None:
    x = tb.iota((30, 7, 11), dtype="f32", names=("a", None, "c"))
    assert repr(x.backend_copy(backend)) == repr(x).replace("numpy", backend)
    assert tb.tensor(7, backend=backend)._repr_html_() == tb.tensor(7)._repr_html_().replace("numpy", backend)
    html = x.backend_copy(backend)._repr_html_()
    assert html == x._repr_html_().replace("numpy", backend)
    assert "first of 30" in html


THIRDS = tb.asarray([[1 / 3, -2e10 / 3, 12.0], [float("nan"), -2 / 3e9, float("-inf")]], dtype="f64")


@pytest.mark.parametrize(
    ("width", "rows"),
    [
        (80, [["0.3333333333333333", "-6666666666.666667", "12.0"], ["nan", "-6.666666666666666e-10", "-inf"]]),
        (60, [["0.33333333", "-6666666700.0", "12.0"], ["nan", "-6.6666667e-10", "-inf"]]),
        (32, [["0.33333333", "...", "12.0"], ["nan", "...", "-inf"]]),
    ],
)
def test_rows_that_are_too_long_are_rounded(width: int, rows: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    cells = [[cell.strip() for cell in line.strip(" [],").split(",")] for line in repr(THIRDS).splitlines()[1:]]
    assert cells == rows


def test_complex_numbers_are_rounded_by_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    x = tb.asarray([[1 / 3 - 2j / 3, 1j]], dtype="c128")
    assert repr(x).splitlines()[1] == "[[0.33333333-0.66666667j, 0.0+1.0j]]"
