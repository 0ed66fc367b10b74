"""Makes performance.md and its plots from performance.jsonl, which `make peers` measures; `tables.py` writes them."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
MEASURED = HERE / "performance.jsonl"
OURS = ("tensorbackend", "ours", "TemplateBackend")
"""The beginnings of the names of our columns."""
SLOWER = 1.1
"""The smallest ratio that counts as slower; a smaller difference may be noise."""

Rows = dict[str, dict[str, dict[str, Any]]]
"""The rows of a group, by program and peer."""

INTRODUCTION = """\
# Performance

Generated from `docs/performance.jsonl` by `make docs`. `make peers` measures this page again, and `make bench` runs all
benchmarks of the project. `make npbench NPBENCH=<a checkout of spcl/npbench>` runs NPBench's programs, which others
wrote for NumPy, on tensorbackend. The one that takes some 25 times as long, `crc16`, works on single elements: for
these NumPy has numbers, whose operations take a tenth of the time that NumPy's own take on arrays without axes.

This page compares tensorbackend with NumPy and eight other libraries: PyTorch (eager, its meta device and FakeTensor),
JAX (eager, compiled and `eval_shape`), array-api-compat, array-api-strict, xarray, autoray, Keras and PhiML. The
programs are single calls on a few elements and on 10^6 elements, a program on named axes, runs without data, calls
whose shapes change, assignment, and a training step. Smaller numbers are better in every table and plot.

## How it was measured

- The **results are compared** before they are timed (shapes and dtypes where there is no data). The script ends with an
  error if a library computes something else, or if a package is not installed. Where a table has a dash, the reason is
  below the table.
- **Processor time** is measured, so that other programs on the machine do not count. The libraries alternate in
  slices of about a millisecond. The time of a round is the shortest of several slices. A cell shows the median, over
  the rounds, of the **ratio to the first column**; the first column shows microseconds. Everything is measured twice,
  in separate processes, and a cell shows the larger of the two ratios, for us and for others.
- Everything runs on **one thread**: products in NumPy and PyTorch, XLA, and our own blocks. On Linux the process is
  pinned to one core. JAX computes before a call returns (`jax_cpu_enable_async_dispatch` is off). 64-bit dtypes are
  enabled in JAX where our JAX backend, which needs them, is in the same process. `torch.compile` is not measured,
  because it needs a C++ compiler.
- Calls are **warm**: planning, tracing and compiling at the first call of a kind are not counted, except in *new batch*
  and in *When shapes change* below.
- On {system}, {processor}, {cores} cores, with {python}: {packages}.
"""

SLOWER_TEXT = """
## Where tensorbackend is slower

The table lists each program for which tensorbackend takes at least {margin:.0%} longer than the fastest of the other
libraries in the same table. The first column counts as one of them only for the training step; in the other tables it
is the library that tensorbackend itself runs on.

"""

TEXTS = {
    "engines, small": "The table shows eager calls on each engine, as ratios to NumPy. JAX is made for compiled"
    " functions; its single calls are slow.",
    "numpy, small": "The libraries in this table all compute with NumPy. The code in each row is NumPy's.",
    "numpy, large": "The standard's `sort` is stable, and so is ours; NumPy's default sort is not, and is much quicker"
    " than its stable one. PhiML's `softmax` does not subtract the maximum, which saves a pass but overflows.",
    "torch, small": "The table compares our plugin with other libraries on PyTorch's tensors. Our `sort` and the"
    " standard's are stable.",
    "jax, small": "`array_namespace` of a JAX array is `jax.numpy` itself, so array-api-compat costs only the look-up."
    " JAX's own `m[indices]` and `m[0]` use a general path that is slow for single calls; libraries that call"
    " `jnp.take` are quicker.",
    "named axes, small": "NumPy takes the axes by position; the other libraries find them by name. `jit` is `tb.jit` on"
    " NumPy.",
    "shapes": "In this table the other libraries are shown as ratios to ours, so the larger ratio of the two runs"
    " favours us. `jax.eval_shape` remembers the trace of a function for the same shapes, and our dispatch remembers"
    " every call. `new batch` has shapes that did not occur before. Our gradient is traced again in each call, as it"
    " runs without `tb.jit`. Most functions of PyTorch's meta device are written in Python.",
    "changing": "Each call has operands of a shape that no call before had, as texts of varying lengths and growing"
    " buffers have. JAX compiles each op for each shape.",
    "assignment, small": "JAX's arrays do not change; `x.at[3].set(1.0)` returns a changed copy, which the variable"
    " gets. Our tensors have assignment on every backend.",
    "training": "The step computes the loss of two layers, its gradient, and the updated parameters. `train_on_batch`"
    " of Keras does more: it keeps metrics and returns the loss as a Python number.",
}
"""The text of a group, by its name."""


class Group:
    """A group of the file: programs, peers, and what was measured."""

    def __init__(self, line: dict[str, Any], rows: Iterable[dict[str, Any]]) -> None:
        self.name, self.title, self.base = line["group"], line["title"], line["base"]
        self.competes, self.programs = line["competes"], line["programs"]
        self.rows: Rows = {program: {} for program in self.programs}
        for row in rows:
            self.rows[row["program"]][row["peer"]] = row
        first = next(iter(self.rows.values()))
        self.peers = [self.base, *(peer for peer in first if peer != self.base)]

    def ratio(self, program: str, peer: str) -> float | None:
        """The ratio to the base, `None` for a dash."""
        return self.rows[program][peer].get("ratio")

    def common(self) -> list[str]:
        """The programs that all peers can run."""
        return [name for name in self.programs if all(self.ratio(name, peer) is not None for peer in self.peers)]


def read(path: Path = MEASURED) -> tuple[dict[str, Any], list[Group]]:
    """The environment and the groups of a file."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    (environment,) = (line["environment"] for line in lines if "environment" in line)
    return environment, [
        Group(line, (row for row in lines if row.get("group") == line["group"] and "peer" in row))
        for line in lines
        if "programs" in line
    ]


def is_ours(peer: str) -> bool:
    """Whether a column is ours."""
    return peer.startswith(OURS)


# The page


def page(path: Path = MEASURED) -> str:
    """docs/performance.md."""
    environment, groups = read(path)
    parts = [INTRODUCTION.format(
        packages=", ".join(f"{name} {version}" for name, version in environment["packages"].items()),
        **{name: environment[name] for name in ("system", "processor", "cores", "python")},
    )]  # fmt: skip
    parts += [f"\n![{title}]({name})\n" for name, (title, _) in PLOTS.items()]
    parts.append(SLOWER_TEXT.format(margin=SLOWER - 1))
    parts += _table(["", "program", "ours", "quickest other"], slower(groups))
    for group in groups:
        parts.append(f"\n## {group.title}\n\n")
        if group.name in TEXTS:
            parts.append(f"{TEXTS[group.name]}\n\n")
        parts += ratios(group)
        parts += dashes(group)
    return "".join(parts)


def slower(groups: list[Group]) -> Iterator[list[str]]:
    """The programs in which ours was slower than the quickest other: the group, the program, both ratios."""
    for group in groups:
        others = [peer for peer in group.peers if not is_ours(peer) and (group.competes or peer != group.base)]
        for program in group.programs if others and not group.name.startswith("engines") else ():
            known = {peer: ratio for peer in others if (ratio := group.ratio(program, peer)) is not None}
            quickest = min(known, key=known.__getitem__, default=None)
            for peer in filter(is_ours, group.peers):
                our_ratio = group.ratio(program, peer)
                if quickest is not None and our_ratio is not None and our_ratio > SLOWER * known[quickest]:
                    yield [group.name, program, f"{peer} {shown(our_ratio)}", f"{quickest} {shown(known[quickest])}"]


def ratios(group: Group) -> Iterator[str]:
    """The table of a group, with a row for each program, or for each peer if there are many more peers."""
    if len(group.peers) > 2 * len(group.programs):
        yield from _table(
            ["", *group.programs],
            ([peer, *(_cell(group, program, peer) for program in group.programs)] for peer in group.peers),
        )
        return
    means = {
        peer: statistics.geometric_mean(ratio for program in group.common() if (ratio := group.ratio(program, peer)))
        for peer in (group.peers if group.common() else ())
    }
    rows = [
        [f"{program}: `{code}`", *(_cell(group, program, peer) for peer in group.peers)]
        for program, code in group.programs.items()
    ]
    if means:
        rows.append(["geometric mean of rows without a dash", *map(shown, means.values())])
    yield from _table(["", *group.peers], rows)


def dashes(group: Group) -> Iterator[str]:
    """The reasons why peers lack programs."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for program, row in group.rows.items():
        for peer, cell in row.items():
            if "reason" in cell:
                reasons.setdefault((peer, cell["reason"]), []).append(program)
    if reasons:
        yield "\n"
    for (peer, reason), programs in reasons.items():
        yield f"- {peer} has no row for {', '.join(programs)}: {reason}.\n"


def _cell(group: Group, program: str, peer: str) -> str:
    row = group.rows[program][peer]
    if "reason" in row:
        return "—"
    return f"{shown(row['microseconds'])} µs" if peer == group.base else shown(row["ratio"])


def _table(head: list[str], rows: Iterable[list[str]]) -> Iterator[str]:
    for row in (head, ["---"] + ["---:"] * (len(head) - 1), *rows):
        yield f"| {' | '.join(row)} |\n"


def shown(number: float) -> str:
    """A number with at most three significant digits.

    >>> shown(0.0123), shown(0.987), shown(12.345), shown(45678.0), shown(-0.147)
    ('0.012', '0.99', '12.3', '45700', '-0.15')
    """
    if number < 100:
        return f"{number:.3f}" if 0 < number < 0.1 else f"{number:.2f}" if number < 10 else f"{number:.1f}"
    places = math.floor(math.log10(number)) - 2
    return str(round(number / 10**places) * 10**places)


# The plots

Bars = list[tuple[str, list[tuple[str, float]]]]
"""Titles of panels, each with names and numbers."""


def added(groups: dict[str, Group]) -> Bars:
    """The microseconds that each library adds to a small call: the median over the programs that all can run."""
    bars: Bars = []
    for name, title in (("numpy, small", "NumPy"), ("torch, small", "PyTorch"), ("jax, small", "JAX")):
        if group := groups.get(name):
            bars.append((f"above {title}", [(peer, _added(group, peer)) for peer in group.peers if peer != group.base]))
    return bars


def _added(group: Group, peer: str) -> float:
    """The microseconds that a peer takes more than the base, computed from the ratio to it."""
    median: float = statistics.median(
        group.rows[program][peer]["microseconds"] * (1 - 1 / group.rows[program][peer]["ratio"])
        for program in group.common()
    )
    return median


def of_programs(*pairs: tuple[str, str]) -> Callable[[dict[str, Group]], Bars]:
    """Panels of one program each: groups and programs."""

    def bars(groups: dict[str, Group]) -> Bars:
        return [
            (
                f"{name}: {program}",
                [(peer, ratio) for peer in group.peers if (ratio := group.ratio(program, peer)) is not None],
            )
            for name, program in pairs
            if (group := groups.get(name))
        ]

    return bars


PLOTS: dict[str, tuple[str, Callable[[dict[str, Group]], Bars]]] = {
    "performance-calls.svg": ("Microseconds that a library adds to a call of a few elements", added),
    "performance-names.svg": (
        "A program on named axes, ratio to NumPy by position",
        of_programs(("named axes, small", "all of these"), ("named axes, large", "all of these")),
    ),
    "performance-shapes.svg": (
        "Shapes without data, ratio to TemplateBackend",
        of_programs(("shapes", "network"), ("shapes", "network, new batch"), ("shapes", "gradient")),
    ),
    "performance-training.svg": (
        "A training step, ratio to NumPy by hand",
        of_programs(("training", "batch of 8"), ("training", "batch of 512")),
    ),
}
"""The files of the plots, each with its title and the function that gives its bars."""

STYLE = """\
<style>
  .card { fill: #ffffff } text { fill: #1f2328; font: 13px sans-serif } .head { font-weight: bold }
  .bar { fill: #a0a8b0 } .ours { fill: #0e8a86 }
  @media (prefers-color-scheme: dark) {
    .card { fill: #1e2129 } text { fill: #e6edf3 } .bar { fill: #6e7681 } .ours { fill: #35b8b2 }
  }
</style>
"""
"""A plot has a background of its own, so that it can be read on light and dark pages."""

WIDTH, LABELS, LINE = 720, 230, 22


def plot(name: str, path: Path = MEASURED) -> str:
    """A plot as SVG: panels of bars, each panel with its own scale."""
    title, bars = PLOTS[name]
    lines, y = [], 5 * LINE // 2
    for head, rows in bars({group.name: group for group in read(path)[1]}):
        lines.append(f'<text class="head" x="16" y="{y}">{escape(head)}</text>')
        most = max((value for _, value in rows), default=1.0)
        for label, value in rows:
            y += LINE
            width = max(1.0, (WIDTH - LABELS - 80) * value / most)
            lines += [
                f'<text x="{LABELS - 8}" y="{y}" text-anchor="end">{escape(label)}</text>',
                f'<rect class="{"ours" if is_ours(label) else "bar"}" x="{LABELS}" y="{y - 13}" width="{width:.1f}" '
                'height="16" rx="2"/>',
                f'<text x="{LABELS + width + 6:.1f}" y="{y}">{shown(value)}</text>',
            ]
        y += int(1.5 * LINE)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {WIDTH} {y}" width="{WIDTH}">\n'
        f"<title>{escape(title)}</title>\n{STYLE}"
        f'<rect class="card" width="{WIDTH}" height="{y}" rx="8"/>\n'
        f'<text class="head" x="16" y="{LINE}">{escape(title)}</text>\n' + "\n".join(lines) + "\n</svg>\n"
    )


def pages() -> dict[Path, Callable[[], str]]:
    """The functions that make the files, by path."""
    return {HERE / "performance.md": page, **{HERE / name: partial(plot, name) for name in PLOTS}}
