"""Tensors as heat maps, in a terminal and in a notebook."""

from __future__ import annotations

import io
import re
from xml.etree import ElementTree

import pytest

import tensorbackend as tb
from tensorbackend.display.heat_map import HeatMap, colours_of
from tensorbackend.errors import ArgumentError

NAN, INF = float("nan"), float("inf")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environment", "colours"),
    [
        ({"COLORTERM": "truecolor"}, "all"),
        ({}, "256"),
        ({"NO_COLOR": "1", "COLORTERM": "truecolor"}, "none"),
        ({"NO_COLOR": ""}, "256"),
        ({"TERM": "dumb"}, "none"),
    ],
)
def test_a_terminal_says_which_colours_it_has(
    environment: dict[str, str], colours: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "COLORTERM", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert colours_of(Terminal()) == colours
    assert colours_of(io.StringIO()) == "none"


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_characters_are_as_dark_as_numbers_are_great(backend: str) -> None:
    x = tb.tensor([[0.0, 9.0], [4.5, NAN], [INF, -INF]], names=("row", "column"), backend=backend)
    shown = tb.show(x).text("none", width=80)
    head = f"f32[row: 3][column: 2] {backend}"
    assert shown == f'{head}\n  @@\n==??\n^^vv\n0 " .:-=+*#%@" 9, ? NaN, ^ infinity, v -infinity'


def test_half_blocks_show_two_rows_in_a_line() -> None:
    lines = tb.show(tb.tensor([[0.0, 1.0], [1.0, 0.0], [NAN, 0.0]])).text("all").splitlines()
    low, high = "2;68;1;84", "2;253;231;37"
    assert lines[1] == f"\x1b[38;{low};48;{high}m▀\x1b[0m\x1b[38;{high};48;{low}m▀\x1b[0m"
    assert lines[2] == f"\x1b[38;2;214;39;40m▀\x1b[0m\x1b[38;{low}m▀\x1b[0m"
    assert lines[3].startswith("0 \x1b[")
    assert lines[3].endswith("NaN")
    assert set(re.findall(r"[34]8;5;(\d+)", tb.show(tb.tensor([0.0, 1.0])).text("256"))) >= {"54", "227"}


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_a_cell_is_the_mean_of_a_block(backend: str) -> None:
    x = tb.iota((5, 7), dtype="f32", backend=backend)
    heat_map = tb.show(x, size=(2, 3))
    assert heat_map.head.endswith(f"f32[5][7] {backend}, each cell the mean of 3 x 3")
    assert heat_map.cells == [[8.0, 11.0, 13.0], [25.5, 28.5, 30.5]]
    assert tb.show(tb.iota(1001), size=(1, 10)).cells[0][-1] == (909 + 1000) / 2


def test_a_block_with_nan_is_nan() -> None:
    x = tb.tensor([1.0, NAN, 2.0, INF, 3.0, 4.0])
    (row,) = tb.show(x, size=(1, 3)).cells
    assert row[0] != row[0]
    assert list(row[1:]) == [INF, 3.5]


@pytest.mark.parametrize(
    ("x", "cells", "head"),
    [
        (tb.tensor(3), [[3.0]], "s64 numpy"),
        (tb.tensor([True, False]), [[1.0, 0.0]], "pred[2] numpy"),
        (tb.tensor([3 + 4j]), [[5.0]], "c64[1] numpy"),
        (tb.iota((3, 1, 2)), [[0.0, 1.0]], "s64[3][1][2] numpy, first of 3"),
        (tb.zeros((0, 2)), [], "f32[0][2] numpy"),
        (tb.template((2,), "f32"), [], "f32[2] template"),
    ],
)
def test_each_kind(x: tb.Tensor, cells: list[list[float]], head: str) -> None:
    heat_map = tb.show(x)
    assert (heat_map.cells, heat_map.head) == (cells, head)
    assert heat_map.text("none").startswith(head)
    assert head in heat_map._repr_html_()


def test_a_traced_tensor_has_no_cells() -> None:
    heat_maps: list[HeatMap] = []

    def traced(x: tb.Tensor) -> tb.Tensor:
        heat_maps.append(tb.show(x))
        return x

    tb.jit(traced)(tb.ones(2))
    assert repr(heat_maps[0]) == "f32[2] expr parameter"
    with tb.tape() as tape:
        y = tape.watch(tb.ones((2, 2))) * 2
        assert tb.show(y).cells == [[2.0, 2.0], [2.0, 2.0]]


def test_a_notebook_gets_a_drawing() -> None:
    html = tb.show(tb.tensor([[0.0, 0.0, 1.0], [NAN, INF, -INF]], names=("<b>", "a")))._repr_html_()
    assert "<b>" not in html
    drawing = ElementTree.fromstring(html[html.index("<svg") : html.index("</svg>") + 6])
    paths = [
        {key: value for key, value in element.attrib.items() if key in ("fill", "d", "stroke")} for element in drawing
    ]
    assert paths[:2] == [{"fill": "#440154", "d": "M0 0h2v1h-2z"}, {"fill": "#fde725", "d": "M2 0h1v1h-1z"}]
    assert [path["stroke"] for path in paths[2:]] == ["currentColor"] * 3, "the marks show on a light and a dark page"
    assert html.endswith("-infinity")
    assert len(tb.show(tb.random.normal(tb.random.key(0), (500, 500)), size=(40, 80))._repr_html_()) < 60_000


def test_numbers_at_the_limits_have_a_scale() -> None:
    x = tb.tensor([-1.7e308, 0.0, 1.7e308], dtype="f64")
    assert tb.show(x).text("none", width=80).splitlines()[1] == "  ==@@"


@pytest.mark.parametrize("size", [(0, 3), (3, 0)])
def test_a_size_without_cells_is_refused(size: tuple[int, int]) -> None:
    with pytest.raises(ArgumentError, match="show: expected at least one row and one column of cells"):
        tb.show(tb.ones(3), size=size)
