"""Sums spans: to rows of a table, and to a tree of the user's lines, the ops that they call, and their parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from ...display import plain_table
from ..cost.dry_run import source_of
from ..cost.units import show_bytes, show_count, show_seconds
from ..node import Line
from .limits import Limits
from .spans import Span, all_spans

By: TypeAlias = Literal["op", "line", "backend"]

LimitsOf: TypeAlias = Callable[[Span], Limits | None]
"""The limits of the device of a span; `None` where they are not known."""

MARK: Final = "-"
"""The mark in place of a backend for spans that a user added."""


class Row(NamedTuple):
    """The sums over runs of one op, at one line, or on one backend."""

    name: str
    """The op; empty where several ops are added up."""
    backend: str
    line: Line | None
    calls: int
    seconds: float
    """Seconds in total, with what ran inside."""
    own: float
    """Seconds in total, without what ran inside."""
    flops: int
    """Floating-point operations on paper, 0 where they are not known."""
    moved: int
    """Bytes read and written on paper, 0 where they are not known."""
    least: float
    """The seconds that the work takes at the device's limits, 0 where work or limits are not known."""

    @property
    def share(self) -> float | None:
        """The minimum time divided by the measured time, 1 if the device's limits are reached; `None` if not known."""
        return self.least / self.seconds if self.least and self.seconds else None


def _sum_spans(name: str, backend: str, line: Line | None, spans: Sequence[Span], limits_of: LimitsOf) -> Row:
    least = 0.0
    for span in spans:
        limits = None if span.work is None else limits_of(span)
        if span.work is not None and limits is not None:
            least += limits.seconds(span.work)
    works = [span.work for span in spans if span.work is not None]
    return Row(
        name,
        backend,
        line,
        len(spans),
        sum(span.seconds for span in spans),
        sum(span.own for span in spans),
        sum(work.flops for work in works),
        sum(work.read + work.written for work in works),
        least,
    )


_KEYS: Final[dict[By, Callable[[Span], tuple[str, str, Line | None]]]] = {
    "op": lambda span: (span.name, span.backend or MARK, None),
    "line": lambda span: (span.name, span.backend or MARK, span.line),
    "backend": lambda span: ("", span.backend or MARK, None),
}
"""The property that the runs of a row have in common."""


def rows_of(spans: Iterable[Span], by: By, limits_of: LimitsOf) -> list[Row]:
    """A row for each op, line or backend; sorted by their own time in descending order."""
    groups: dict[tuple[str, str, Line | None], list[Span]] = {}
    for span in all_spans(spans):
        if not span.is_mark:
            groups.setdefault(_KEYS[by](span), []).append(span)
    if by == "backend":  # the time of a span includes the time of the backend's spans inside it
        groups = {key: _outermost(group) for key, group in groups.items()}
    rows = [_sum_spans(name, backend, line, group, limits_of) for (name, backend, line), group in groups.items()]
    return sorted(rows, key=lambda row: -row.own)


def _outermost(spans: Sequence[Span]) -> list[Span]:
    """The spans that are not inside another one of them."""
    within = {id(inner) for span in spans for inner in all_spans(span.inside)}
    return [span for span in spans if id(span) not in within]


COLUMNS: Final = ("op", "backend", "calls", "total", "own", "FLOPs", "moved", "FLOP/s", "B/s", "of limit", "line")


def cells(row: Row) -> tuple[str, ...]:
    """A row under `COLUMNS`."""
    return (
        row.name,
        row.backend,
        str(row.calls),
        show_seconds(row.seconds),
        show_seconds(row.own),
        show_count(row.flops),
        show_bytes(row.moved) if row.moved else "",
        show_count(row.flops / row.seconds) if row.seconds else "",
        show_bytes(row.moved / row.seconds) if row.moved and row.seconds else "",
        "" if row.share is None else f"{row.share:.0%}",
        str(row.line or ""),
    )


def table(rows: Sequence[Row], top: int) -> str:
    """Rows as text."""
    more = [] if len(rows) <= top else [f"and {len(rows) - top} more"]
    return "\n".join([plain_table(COLUMNS, [cells(row) for row in rows[:top]]), *more])


# The tree


class Branch(NamedTuple):
    """A line of the tree, with its children."""

    text: str
    seconds: float
    branches: list[Branch]


def tree_of(spans: Sequence[Span], limits_of: LimitsOf, least: float) -> list[Branch]:
    """A branch for each of the user's lines, below it the ops that the line called, and below these their parts.

    Runs of one op at one line are one branch. Branches that took less than `least` seconds in total are omitted.
    """
    lines: dict[Line | None, list[Span]] = {}
    for span in spans:
        if not span.is_mark:
            lines.setdefault(span.line, []).append(span)
    branches = []
    for line, called in lines.items():
        seconds = sum(span.seconds for span in called)
        if seconds >= least:
            where = "elsewhere" if line is None else f"{line}  {source_of(line)}".rstrip()
            branches.append(Branch(f"{show_seconds(seconds):>8}  {where}", seconds, _ops(called, limits_of, least)))
    return sorted(branches, key=lambda branch: -branch.seconds)


def _ops(spans: Sequence[Span], limits_of: LimitsOf, least: float) -> list[Branch]:
    """A branch for each op among spans; sorted by time in descending order."""
    groups: dict[tuple[str, str], list[Span]] = {}
    for span in spans:
        if not span.is_mark:
            groups.setdefault((span.name, span.backend or MARK), []).append(span)
    branches = []
    for (name, backend), alike in groups.items():
        row = _sum_spans(name, backend, None, alike, limits_of)
        if row.seconds >= least:
            inside = [inner for span in alike for inner in span.inside]
            branches.append(Branch(_row_text(row), row.seconds, _ops(inside, limits_of, least)))
    return sorted(branches, key=lambda branch: -branch.seconds)


def _row_text(row: Row) -> str:
    parts = [f"{show_seconds(row.seconds):>8}  {row.name}", "" if row.backend == MARK else row.backend]
    parts.append(f"{row.calls} calls" if row.calls > 1 else "")
    parts.append(f"{show_count(row.flops / row.seconds)} FLOP/s" if row.flops and row.seconds else "")
    parts.append(f"{show_bytes(row.moved / row.seconds)}/s" if row.moved and row.seconds else "")
    parts.append("" if row.share is None else f"{row.share:.0%} of the limit")
    return "  ".join(filter(None, parts))


def plain_tree(branches: Sequence[Branch], indent: str = "") -> str:
    """Branches as text, each below its parent and indented."""
    lines = []
    for branch in branches:
        lines.append(indent + branch.text)
        if branch.branches:
            lines.append(plain_tree(branch.branches, indent + "    "))
    return "\n".join(lines)
