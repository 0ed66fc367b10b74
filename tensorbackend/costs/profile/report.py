"""Spans as rows of a table, as a tree of the user's lines, the ops that they call and their parts, and as a file.

The file is in the Trace Event Format, which Perfetto (https://ui.perfetto.dev) and chrome://tracing read: an object
with a list of events, each with a phase `ph`, a process, a thread, and a time `ts` in microseconds.
https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from ...display import plain_table
from ...expr.node import Line
from ...template import Template
from .. import show_bytes, show_count, show_seconds
from ..dry_run import source_of
from .limits import Limits
from .spans import ELSEWHERE, Span, all_spans

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
    return plain_table(COLUMNS, list(map(cells, rows)), top)


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


def trace_of(spans: Sequence[Span], started: int, limits_of: LimitsOf) -> dict[str, Any]:
    """The content of a file of trace events; times are relative to `started`.

    A span is a complete event (`X`), a mark an instant one (`i`), the names of process and threads are metadata (`M`).
    """
    process = os.getpid()
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    events = [_metadata(process, 0, "process_name", "tensorbackend")]
    flat = sorted(all_spans(spans), key=lambda span: (span.start, -span.end))
    for thread in dict.fromkeys(span.thread for span in flat):
        name = "measured elsewhere" if thread == ELSEWHERE else names.get(thread, f"thread {thread}")
        events.append(_metadata(process, thread, "thread_name", name))
    events += [_event(span, process, started, limits_of) for span in flat]
    return {"traceEvents": events, "displayTimeUnit": "ms"}


def _metadata(process: int, thread: int, kind: str, name: str) -> dict[str, Any]:
    return {"ph": "M", "pid": process, "tid": thread, "ts": 0, "name": kind, "args": {"name": name}}


def _event(span: Span, process: int, started: int, limits_of: LimitsOf) -> dict[str, Any]:
    event: dict[str, Any] = {
        "name": span.name,
        "cat": span.backend or "user",
        "ph": "i" if span.is_mark else "X",
        "pid": process,
        "tid": span.thread,
        "ts": (span.start - started) / 1000,
        "args": dict(_details(span, limits_of)),
    }
    if span.is_mark:
        event["s"] = "t"  # its scope is the thread
    else:
        event["dur"] = (span.end - span.start) / 1000
    return event


def _details(span: Span, limits_of: LimitsOf) -> Iterator[tuple[str, Any]]:
    """The details that a viewer shows for a selected span."""
    if span.line is not None:
        yield "line", f"{span.line.file}:{span.line.number}"
        yield "function", span.line.function
    if span.out is not None:
        yield "result", ", ".join(map(repr, (span.out,) if isinstance(span.out, Template) else span.out))
    if span.work is not None:
        yield "FLOPs", span.work.flops
        yield "bytes", span.work.read + span.work.written
        limits = limits_of(span)
        if limits is not None and span.seconds:
            yield "share of the limit", limits.seconds(span.work) / span.seconds
