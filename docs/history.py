"""Makes history.md and its plot from history.jsonl, which `make bench-history` measures; `tables.py` writes them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
MEASURED = HERE / "history.jsonl"
COLUMNS = 6
"""The number of lines that the table shows."""


def lines() -> list[dict[str, Any]]:
    """What was measured, the oldest first."""
    return [json.loads(line) for line in MEASURED.read_text().splitlines()]


def mean(line: dict[str, Any], names: list[str]) -> float:
    """The geometric mean of the ratios of some programs."""
    return math.exp(math.fsum(math.log(line["ratios"][name]) for name in names) / len(names))


def page() -> str:
    """docs/history.md: the ratios of the last lines, and a plot of their means."""
    measured = lines()
    shown = measured[-COLUMNS:]
    cells = [
        [name, *(f"{line['ratios'][name]:.3g}" if name in line["ratios"] else "" for line in shown)]
        for name in shown[-1]["ratios"]
    ]
    head = [f"{line['day']}, {line['version']}" for line in shown]
    return "\n".join(
        [
            "# Speed over time",
            "",
            "`make bench-history` runs these programs next to the same computations in NumPy, in alternating rounds,",
            "and compares with the last day: what takes 12 % more is named. `make bench-history WRITE=1` adds a day.",
            "Each figure is a ratio of minima, times NumPy; [performance](performance.md) has other libraries.",
            "",
            "![The geometric mean of the programs that each day has, over days](history.svg)",
            "",
            f"| program | {' | '.join(head)} |",
            f"| --- |{' --- |' * len(shown)}",
            *(f"| {' | '.join(row)} |" for row in cells),
            "| Python, NumPy | " + " | ".join(f"{line['python']}, {line['numpy']}" for line in shown) + " |",
            "",
            "---",
            "",
            "*Generated from history.jsonl by `make docs`; a test fails when the page is stale.*",
            "",
        ]
    )


def plot() -> str:
    """docs/history.svg: the mean of the programs that each line has, by number of the line."""
    measured = lines()
    common = [name for name in measured[-1]["ratios"] if all(name in line["ratios"] for line in measured)]
    means = [mean(line, common) for line in measured]
    width, height, left, top = 640, 200, 48, 16
    highest = max(means) * 1.15
    step = (width - left - 24) / max(len(means) - 1, 1)
    points = [(left + step * i, top + (height - 48) * (1 - value / highest)) for i, value in enumerate(means)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    base = top + height - 48
    marks = [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"><title>{line["day"]}: {value:.3g}</title></circle>'
        for (x, y), value, line in zip(points, means, measured, strict=True)
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
            ' font-family="sans-serif" font-size="12" fill="#00897b">',
            f'<line x1="{left}" y1="{base}" x2="{width - 24}" y2="{base}" stroke="#888"/>',
            f'<polyline points="{path}" fill="none" stroke="#00897b" stroke-width="2"/>',
            *marks,
            f'<text x="4" y="{points[-1][1] + 4:.1f}">{means[-1]:.3g}</text>',
            f'<text x="4" y="{base + 4}">0</text>',
            f'<text x="{left}" y="{height - 8}">{measured[0]["day"]}</text>',
            f'<text x="{width - 24}" y="{height - 8}" text-anchor="end">{measured[-1]["day"]}, times NumPy</text>',
            "</svg>",
            "",
        ]
    )


def pages() -> dict[Path, Callable[[], str]]:
    """The files that are made from the measurements."""
    return {HERE / "history.md": page, HERE / "history.svg": plot}
