"""Pages that the package writes, in a browser: reports of checks, charts of dry runs, and tensors in notebooks."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path
from typing import Any, get_args

import pytest
from faults import LOOK, faults

import tensorbackend as tb
from tensorbackend.dtypes import ALL_DTYPES
from tensorbackend.testing.report import Report
from tensorbackend.testing.runner import Pair, Status

STATUSES = get_args(Status)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Write a report with every status at every dtype, and with long texts; return its address."""
    told = {"divergence": ("a reason " + "without_an_end" * 20,), "unsupported": ("expected a backend that has it",)}
    pairs = [
        Pair(op, family, dtype.name, status, 20, 0.25, told.get(status, ()), "value", "x" * 300, "f(" + "1, " * 99)
        for family, op in (("sorting", "sort"), ("linalg", "linalg.a_function_of_a_very_long_name"))
        for dtype, status in zip(ALL_DTYPES, cycle(STATUSES), strict=False)
    ]
    path = tmp_path_factory.mktemp("report") / "report.html"
    Report.of(tb.get_backend("numpy"), pairs, examples=20, seed=0, seconds=1.0).write(path)
    return path.as_uri()


def test_a_report_is_right(page: Any, report: str) -> None:
    assert faults(page, report) == []
    assert {*page.locator("td").evaluate_all("cells => cells.map(cell => cell.className)")} == {*STATUSES}
    page.get_by_role("button", name="Light or dark").click()
    assert page.evaluate(LOOK) == []


def test_a_report_is_filtered(window: Any, report: str) -> None:
    window.goto(report)
    window.get_by_label("Filter").fill("sorting")
    assert window.locator("tbody tr:visible").count() == 1
    window.get_by_label("Filter").fill("")
    window.locator("td.fail a").first.click()
    assert window.locator("article:target").is_visible()


def loss(weights: list[tb.Tensor], x: tb.Tensor) -> tb.Tensor:
    """Return the mean square of a deep network's outputs."""
    for weight in weights:
        x = tb.tanh(x @ weight)
    return tb.mean(tb.square(x))


DRY_RUN = tb.dry_run(loss, ["f32[4096, 4096]"] * 6, "f32[batch=2048, feature=4096]", gradient=True)


def test_a_chart_is_right(page: Any, tmp_path: Path) -> None:
    DRY_RUN.chart(tmp_path / "chart.html", limit="600MB")
    assert faults(page, (tmp_path / "chart.html").as_uri()) == []
    assert page.locator("svg polygon").count() >= 4


NOTEBOOK = """<!doctype html><html lang="en"><meta charset="utf-8"><title>a notebook</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<body style="background: {below}; color: {text}"><div style="overflow-x: auto">{shown}</div>"""
"""The output of a cell, in the notebook's colours, which may differ from those of the machine."""


@pytest.mark.parametrize(("text", "below"), [("black", "white"), ("#ddd", "#111")], ids=["light", "dark"])
@pytest.mark.parametrize(
    "value",
    [
        pytest.param(tb.reshape(tb.arange(2000.0), (2, 20, 50)).rename("batch", "time", "feature"), id="tensor"),
        pytest.param(tb.ones(()), id="number"),
        pytest.param(tb.zeros((2, 3), backend="template"), id="template"),
        pytest.param(tb.show(tb.sin(tb.reshape(tb.arange(60.0), (6, 10))) / tb.eye(6, 10)), id="heat map"),
        pytest.param(DRY_RUN, id="dry run"),
    ],
)
def test_a_value_is_right_in_a_notebook(window: Any, tmp_path: Path, value: Any, text: str, below: str) -> None:
    shown = value._repr_html_()
    (tmp_path / "notebook.html").write_text(NOTEBOOK.format(text=text, below=below, shown=shown), encoding="utf-8")
    assert faults(window, (tmp_path / "notebook.html").as_uri()) == []
    fills = window.locator("rect.step").evaluate_all("steps => steps.map(step => getComputedStyle(step).fill)")
    assert set(fills) <= {"none"}, "what is drawn over a chart hides it"
