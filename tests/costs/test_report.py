"""The report of a dry run: rows, text, JSON, charts, and whether it fits."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.costs import show_count
from tensorbackend.errors import ArgumentError


def report() -> Any:
    return tb.dry_run(lambda x, w: tb.softmax(tb.exp(x @ w)), "f32[batch=32, k=784]", "f32[k=784, n=10]")


def test_rows_in_order() -> None:
    rows = report().eager.rows
    assert [row.op for row in rows] == ["matmul", "exp", "softmax"]
    assert rows[0].flops == 2 * 32 * 784 * 10
    assert rows[0].results == (tb.Template((32, 10), "f32", ("batch", "n")),)
    assert max(row.memory for row in rows) == report().peak.memory


def test_the_text_has_totals_and_ops() -> None:
    text = repr(report())
    for part in ("eager", "optimised", "matmul", "softmax", "f32[batch: 32][n: 10]", "test_report.py"):
        assert part in text
    (_, line) = report().text("line").splitlines()
    assert line.split()[:3] == ["matmul,", "...", "3"]  # the ops of one line are one row
    assert show_count(report().flops) in line
    with pytest.raises(ArgumentError, match=r"^expected one of node, op, line, got by='lines'$"):
        report().text("lines")
    assert report().text("node", 1).splitlines()[-1] == "and 2 more"


def test_json_holds_all(tmp_path: Path) -> None:
    dry_run = report()
    dry_run.write_json(tmp_path / "run.json")
    programs = json.loads((tmp_path / "run.json").read_text())["programs"]
    eager, optimised = programs
    assert (eager["program"], optimised["program"]) == ("eager", "optimised")
    assert eager["flops"] == dry_run.flops
    assert eager["memory"]["peak"] == dry_run.peak.memory
    assert [row["op"] for row in eager["rows"]] == ["matmul", "exp", "softmax"]


def test_fits() -> None:
    dry_run = tb.dry_run(lambda x: x, "f32[250000]")
    assert dry_run.fits("1MB")
    assert dry_run.fits(10**6)
    assert not dry_run.fits("999 kB")
    assert not dry_run.fits("0.9 MiB")
    assert dry_run.fits("1 MiB", optimised=True)
    for size in ("141", "GB", "141 XB", "-1GB"):
        with pytest.raises(ArgumentError, match="expected a size such as 141GB"):
            dry_run.fits(size)


def test_a_page_needs_no_other_file(tmp_path: Path) -> None:
    path = tmp_path / "run.html"
    report().chart(path, limit="200kB")
    page = path.read_text()
    assert page.count("<polygon") >= 2
    assert "200 kB" in page
    assert "f32[batch: 32][n: 10]" in page
    for outside in ("src=", "href=", "@import", "url("):
        assert outside not in page
    with pytest.raises(ArgumentError, match=r"\.html or \.png"):
        report().chart(tmp_path / "run.pdf")


def test_a_notebook_shows_the_chart() -> None:
    shown = report()._repr_html_()
    assert shown.startswith("<svg")
    assert "<lambda>" not in shown
    assert "&lt;lambda&gt;" in shown


def test_long_programs_are_drawn_in_steps() -> None:
    from tensorbackend.costs.chart import STEPS, svg

    def program(x: tb.Tensor) -> tb.Tensor:
        for _ in range(2 * STEPS):
            x = tb.exp(x)
        return x

    dry_run = tb.dry_run(program, "f32[250]")
    assert STEPS / 2 <= svg(dry_run).count("<rect") / 2 <= STEPS


def test_without_matplotlib_the_error_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ArgumentError, match=r"pip install '.\[chart\]'"):
        report().chart(tmp_path / "run.png")
