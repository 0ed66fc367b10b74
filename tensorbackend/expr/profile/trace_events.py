"""Spans as a file that viewers of traces open.

The Trace Event Format, which Perfetto (https://ui.perfetto.dev) and chrome://tracing read: an object with a list of
events, each with a phase `ph`, a process, a thread, and a time `ts` in microseconds.
https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from ...template import Template
from .report import LimitsOf
from .spans import ELSEWHERE, Span, all_spans


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
