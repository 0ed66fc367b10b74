"""The table of peers: how it is measured, and the page that is made from it."""

from __future__ import annotations

import importlib
import json
import runpy
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = runpy.run_path(str(ROOT / "docs" / "performance.py"))


@pytest.fixture
def measuring(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT)
    module = importlib.import_module("benchmarks.peers.measuring")
    monkeypatch.setattr(module.gc, "collect", lambda: 0)  # it would visit what all other tests left
    return module


def group(measuring: Any, *contenders: Any) -> Any:
    return measuring.Group("two", "Two", "base", {"double": "x + x", "none": "x"}, lambda: list(contenders))


def contender(measuring: Any, name: str, double: Callable[[], Any]) -> Any:
    return measuring.Contender(name, {"double": double, "none": measuring.Dash("has none")})


SHORT = {"rounds": 1, "turns": 1, "seconds": 1e-5}
X = np.ones(3, np.float32)


def rows(measuring: Any, *doubles: Callable[[], Any]) -> list[dict[str, Any]]:
    contenders = [
        measuring.Contender("base", {"double": lambda: X + X, "none": lambda: X}),
        *(contender(measuring, f"peer {number}", double) for number, double in enumerate(doubles)),
    ]
    return list(measuring.run(group(measuring, *contenders), measuring.Budget(**SHORT)))


def test_each_program_has_a_ratio_or_a_reason(measuring: Any) -> None:
    rows_by_peer = {(row["program"], row["peer"]): row for row in rows(measuring, lambda: 2 * X)}
    assert rows_by_peer["double", "base"]["ratio"] == 1.0
    assert rows_by_peer["double", "peer 0"]["ratio"] > 0
    assert rows_by_peer["double", "peer 0"]["microseconds"] > 0
    assert rows_by_peer["none", "peer 0"]["reason"] == "has none"
    assert len(rows_by_peer) == 4


@pytest.mark.parametrize("wrong", [lambda: 3 * X, lambda: 2 * X[:2], lambda: 2 * X + 1e-3, lambda: (2 * X,)])
def test_a_peer_that_computes_something_else_is_an_error(measuring: Any, wrong: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=r"two, double: expected .* as base has it, got .* by peer 1"):
        rows(measuring, lambda: 2 * X, wrong)


def test_a_peer_without_a_program_is_an_error(measuring: Any) -> None:
    lacking = measuring.Contender("base", {"double": lambda: X + X})
    with pytest.raises(ValueError, match=r"two: expected each program or a dash, got otherwise \['none'\] by base"):
        list(measuring.run(group(measuring, lacking), measuring.Budget(**SHORT)))


def test_each_call_of_a_fresh_program_has_operands_of_its_own(measuring: Any) -> None:
    """Their making is not timed, and all sides are compared on the operands of their first calls."""

    def program() -> tuple[Any, list[int]]:
        sizes, seen = count(3), []

        def run(x: Any) -> Any:
            seen.append(len(x))
            return x + x

        return measuring.Fresh(lambda: (np.ones(next(sizes), np.float32),), run), seen

    (base, of_base), (peer, of_peer) = program(), program()
    contenders = [
        measuring.Contender("base", {"double": base, "none": lambda: X}),
        contender(measuring, "peer", peer),
    ]
    assert len(list(measuring.run(group(measuring, *contenders), measuring.Budget(**SHORT)))) == 4
    for sizes in (of_base, of_peer):
        assert sizes == list(range(3, 3 + len(sizes)))
        assert len(sizes) > 4


def test_the_least_of_turns_and_the_median_of_rounds_count(measuring: Any) -> None:
    ticks = count()
    timings = measuring.measure(
        {"one": lambda: None, "three": lambda: [next(ticks) for _ in range(2)]},
        {"one": id, "three": id},
        measuring.Budget(rounds=3, turns=2, seconds=0.5),
        clock=lambda: float(next(ticks)),  # each reading advances the clock by 1 s, each call of `three` by 2 s
    )
    assert timings["one"].rounds == [1.0] * 3
    assert timings["three"].ratio(timings["one"]) == 3.0


def test_a_package_that_is_not_installed_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)
    environment = importlib.import_module("benchmarks.peers.environment")
    monkeypatch.setattr(environment, "PACKAGES", ("numpy", "no-such-package", "nor-this"))
    with pytest.raises(ModuleNotFoundError, match="lacking no-such-package, nor-this; make peers installs them"):
        environment.versions()


LINES: list[dict[str, Any]] = [
    {
        "environment": {
            "system": "Linux", "processor": "x86_64", "cores": 2, "python": "CPython 3.11", "packages": {"a": "1"},
        }
    },
    {
        "group": "numpy, small", "title": "Above", "base": "NumPy", "competes": False,
        "programs": {"add": "x + y", "sort": "sort(x)"},
    },
    {"group": "numpy, small", "program": "add", "peer": "NumPy", "ratio": 1.0, "microseconds": 0.5},
    {"group": "numpy, small", "program": "add", "peer": "tensorbackend", "ratio": 3.0, "microseconds": 1.5},
    {"group": "numpy, small", "program": "add", "peer": "other", "ratio": 2.0, "microseconds": 1.0},
    {"group": "numpy, small", "program": "sort", "peer": "NumPy", "ratio": 1.0, "microseconds": 123.4},
    {"group": "numpy, small", "program": "sort", "peer": "tensorbackend", "ratio": 0.25, "microseconds": 30.0},
    {"group": "numpy, small", "program": "sort", "peer": "other", "reason": "sorts nothing"},
]  # fmt: skip


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    path = tmp_path / "performance.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    return path


def test_the_page_has_ratios_dashes_and_what_is_slower(measured: Path) -> None:
    page = PAGE["page"](measured)
    assert "| numpy, small | 2 | 1 | add: tensorbackend 3.00, other 2.00 |\n" in page
    assert "On Linux, x86_64, 2 cores, with CPython 3.11: a 1." in page
    page = PAGE["measurements"](measured)
    assert "|  | NumPy | tensorbackend | other |\n| --- | ---: | ---: | ---: |\n" in page
    assert "| add: `x + y` | 0.50 µs | 3.00 | 2.00 |\n" in page
    assert "| sort: `sort(x)` | 123 µs | 0.25 | — |\n" in page
    assert "- other has no row for sort: sorts nothing.\n" in page
    assert "| numpy, small | add | tensorbackend 3.00 | other 2.00 |\n" in page
    assert "| numpy, small | sort |" not in page
    assert "| geometric mean of rows without a dash | 1.00 | 3.00 | 2.00 |" in page


def test_plots_are_pictures_with_a_bar_for_each_peer(measured: Path) -> None:
    drawn = PAGE["plot"]("performance-calls.svg", measured)
    tree = ElementTree.fromstring(drawn)
    texts = [node.text for node in tree.iter() if node.tag.endswith("text")]
    assert texts[1:] == ["above NumPy", "tensorbackend", "1.00", "other", "0.50"]  # NumPy itself takes 0.5 us
    kinds = [node.get("class") for node in tree.iter() if node.tag.endswith("rect")]
    assert kinds == ["card", "ours", "bar"]


def test_the_first_page_has_measured_figures() -> None:
    groups = {group.name: group for group in PAGE["read"]()[1]}
    figures = [
        PAGE["shown"](groups["training"].ratio("batch of 512", peer))
        for peer in ("ours on NumPy, jit", "ours on JAX, jit", "jax.jit", "PyTorch, eager")
    ]
    for path in (ROOT / "docs" / "index.md", ROOT / "README.md"):
        text = " ".join(path.read_text().replace("*", "").split())
        assert f"takes {figures[0]} of the time" in text
        assert "on JAX it takes {}, `jax.jit` {}, and PyTorch {}".format(*figures[1:]) in text


def test_the_page_shows_every_plot_and_group() -> None:
    short = (ROOT / "docs" / "performance.md").read_text()
    assert short.count("\n") <= 120
    page = PAGE["measurements"]()
    for name in PAGE["PLOTS"]:
        assert f"]({name})" in short + page
        assert (ROOT / "docs" / name).read_text().count('class="ours"') >= 1
    _, groups = PAGE["read"]()
    assert len(groups) == 15
    assert {group.name for group in groups} == {*PAGE["TEXTS"]["HEADINGS"]}
    assert all(f"\n## {PAGE['TEXTS']['HEADINGS'][group.name]}\n" in page and group.title in page for group in groups)
    before, _, _ = short.partition("\n## ")
    assert (before.count("\n| --- "), before.count("![")) == (1, 1), "one table and one figure come first"
    ratio = next(group for group in groups if group.name == "training").ratio("batch of 512", "ours on NumPy, jit")
    assert f"**{PAGE['shown'](ratio)}** compiled on NumPy" in before
    for peer in ("xarray", "PhiML", "Keras", "autoray", "array-api-compat", "array-api-strict", "FakeTensor"):
        assert any(peer in group.peers for group in groups)
