"""Makes performance.md and its plots from performance.jsonl, which `make peers` measures; `tables.py` writes them."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from html import escape
from pathlib import Path
from runpy import run_path
from typing import Any

HERE = Path(__file__).parent
MEASURED = HERE / "performance.jsonl"
OURS = ("tensorbackend", "ours", "TemplateBackend")
"""The beginnings of the names of our columns."""
SLOWER = 1.1
"""The smallest ratio that counts as slower; a smaller difference may be noise."""

Rows = dict[str, dict[str, dict[str, Any]]]
"""The rows of a group, by program and peer."""

TEXTS = run_path(str(HERE / "performance_texts.py"))
"""The words of the page."""


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
    parts = [TEXTS["INTRODUCTION"], *in_short({group.name: group for group in groups}), TEXTS["AFTER_SHORT"]]
    parts.append(TEXTS["SLOWER_TEXT"].format(margin=SLOWER - 1))
    parts += _table(["", "programs", "slower", "the furthest"], slowest(groups), "---")
    parts.append(TEXTS["MEASURED_TEXT"].format(
        packages=", ".join(f"{name} {version}" for name, version in environment["packages"].items()),
        **{name: environment[name] for name in ("system", "processor", "cores", "python")},
    ))  # fmt: skip
    return "".join([*parts, TEXTS["NOTE"]])


def measurements(path: Path = MEASURED) -> str:
    """measurements.md, a page of the site alone: each program for which ours is slower, and all ratios."""
    _, groups = read(path)
    parts = [TEXTS["ALL_TEXT"], "\n## Where tensorbackend is slower\n\n"]
    parts += _table(["", "program", "ours", "quickest other"], slower(groups), "---")
    for group in groups:
        parts.append(f"\n## {TEXTS['HEADINGS'].get(group.name, group.title)}\n\n")
        if figure := TEXTS["FIGURES"].get(group.name):
            parts.append(f"![{PLOTS[figure][0]}]({figure})\n\n")
        if group.name in TEXTS["HEADINGS"]:
            parts.append(f"{group.title}. ")
        parts.append(f"{TEXTS['OF_GROUPS'].get(group.name, '')}\n\n")
        parts += ratios(group)
        parts += dashes(group)
    return "".join([*parts, TEXTS["NOTE"]])


def in_short(groups: dict[str, Group]) -> Iterator[str]:
    """The first table: a row of `IN_SHORT` for each of the groups that were measured."""
    rows = []
    for what, name, program, ours, others in TEXTS["IN_SHORT"]:
        if group := groups.get(name):
            cells = [
                "; ".join(f"**{_mean(group, program, peer)}** {_plain(peer)}" for peer in ours if peer in group.peers),
                "; ".join(f"{peer} {_mean(group, program, peer)}" for peer in others if peer in group.peers),
            ]
            rows.append([what, group.base, *cells])
    return _table(["", "1 is", "tensorbackend", "others"], rows, "---")


def _mean(group: Group, program: str | None, peer: str) -> str:
    """A ratio of one program, or the geometric mean over those that all peers can run."""
    programs = [program] if program else group.common()
    return shown(statistics.geometric_mean(group.ratio(name, peer) or math.nan for name in programs))


def _plain(peer: str) -> str:
    """One of our columns without our name.

    >>> _plain("ours on NumPy, jit"), _plain("tensorbackend, jit"), _plain("tensorbackend")
    ('compiled on NumPy', 'compiled', 'eager')
    """
    name = peer.removeprefix("ours ").removeprefix("tensorbackend").strip(", ")
    if name.endswith("jit"):
        return " ".join(["compiled", name.removesuffix("jit").rstrip(", ")]).rstrip()
    return name or "eager"


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


def slowest(groups: list[Group]) -> Iterator[list[str]]:
    """For each group with such programs: in how many of its programs ours was slower, and where by most."""
    listed = list(slower(groups))
    for group in groups:
        rows = [row for row in listed if row[0] == group.name]
        if rows:
            _, program, ours, other = max(rows, key=lambda row: _last(row[2]) / _last(row[3]))
            count = len({row[1] for row in rows})
            yield [group.name, str(len(group.programs)), str(count), f"{program}: {ours}, {other}"]


def _last(cell: str) -> float:
    """The ratio at the end of a cell."""
    return float(cell.rpartition(" ")[2])


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


def _table(head: list[str], rows: Iterable[list[str]], aligned: str = "---:") -> Iterator[str]:
    for row in (head, ["---"] + [aligned] * (len(head) - 1), *rows):
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
