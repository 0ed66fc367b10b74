"""The history of benchmarks: a planted slowdown is found, and noise is not taken for one."""

from __future__ import annotations

import importlib
import json
import random
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = runpy.run_path(str(ROOT / "docs" / "history.py"))


@pytest.fixture
def history(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module("benchmarks.history")


class Machine:
    """A clock, and programs that take some time on it: more than that most times, as on a busy machine."""

    def __init__(self, seed: int) -> None:
        self.now, self.random = 0.0, random.Random(seed)

    def clock(self) -> float:
        return self.now

    def taking(self, seconds: float) -> Callable[[], None]:
        def call() -> None:
            busy = self.random.expovariate(2.0) if self.random.random() < 0.7 else 0.0
            self.now += seconds * (1 + busy)

        return call

    def programs(self, **factors: float) -> dict[str, tuple[Callable[[], None], Callable[[], None]]]:
        """Programs of a millisecond on NumPy, whose times on ours are multiples of it."""
        return {name: (self.taking(1e-3), self.taking(1e-3 * factor)) for name, factor in factors.items()}


@pytest.mark.parametrize("seed", range(5))
def test_a_slowdown_of_a_fifth_is_found_and_noise_is_none(history: Any, seed: int) -> None:
    machine = Machine(seed)
    how = {"seconds": 0.5, "clock": machine.clock}
    before = history.measure(machine.programs(add=2.0, sum=1.1, softmax=5.0), {}, **how)
    now = history.measure(machine.programs(add=2.0, sum=1.1 * 1.2, softmax=5.0), before, **how)
    found = history.slower(now, before)
    assert list(found) == ["sum"]
    assert found["sum"] == pytest.approx(1.2, rel=0.05)


def test_what_looks_slower_is_measured_longer(history: Any) -> None:
    machine = Machine(0)
    fast, calls = machine.taking(1e-3), 0

    def ours() -> None:
        nonlocal calls
        calls += 1
        for _ in range(2 if calls > 500 else 3):  # a machine that is busy at first
            fast()

    found = history.measure({"add": (machine.taking(1e-3), ours)}, {"add": 2.0}, seconds=1.0, clock=machine.clock)
    assert calls > 500
    assert found["add"] == pytest.approx(2.0, rel=0.05)


def test_a_line_a_day_is_kept(history: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "history.jsonl"
    first = history.today({"add": 2.0, "sum": 1.0}) | {"day": "2026-01-01"}
    history.write(first, path)
    history.write(history.today({"add": 9.0}), path)
    history.write(history.today({"add": 2.4, "sum": 1.0}), path)
    lines = history.read(path)
    assert [line["ratios"]["add"] for line in lines] == [2.0, 2.4]
    assert history.report(lines[1], lines[0]) == 1
    assert "slower: add: 20% more than on 2026-01-01" in capsys.readouterr().out
    assert history.report(lines[0], lines[0]) == 0
    assert history.report(lines[0], None) == 0
    assert "slower" not in capsys.readouterr().out


def test_each_program_has_been_measured_and_runs(history: Any) -> None:
    programs = history.programs()
    assert programs.keys() == history.read()[-1]["ratios"].keys(), "run make bench-history WRITE=1"
    for base, ours in programs.values():
        base()
        ours()


def test_the_page_shows_the_last_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "history.jsonl"
    line = {"version": "0.1.0", "python": "3.11", "numpy": "2.4", "processor": "x86_64"}
    days = [{"day": f"2026-01-0{i}", **line, "ratios": {"add": 1.0 * i, "sum": 4.0}} for i in range(1, 9)]
    path.write_text("".join(json.dumps(day) + "\n" for day in days))
    monkeypatch.setitem(PAGE["lines"].__globals__, "MEASURED", path)
    page, plot = PAGE["page"](), PAGE["plot"]()
    assert "| program | 2026-01-03, 0.1.0 |" in page
    assert "| add | 3 | 4 | 5 | 6 | 7 | 8 |" in page
    assert plot.count("<circle") == len(days)
    assert "<title>2026-01-01: 2</title>" in plot  # the geometric mean of 1 and 4
