"""Files of trace events against the requirements of the Trace Event Format for each phase."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import tensorbackend as tb

REQUIRED = {"name", "ph", "ts", "pid", "tid"}
METADATA = {"process_name", "process_labels", "process_sort_index", "thread_name", "thread_sort_index"}


def wrong(event: dict[str, Any]) -> str | None:
    """Return what is wrong with an event, or `None` if the format allows it."""
    if not event.keys() >= REQUIRED:
        return "a field lacks"
    if not (isinstance(event["name"], str) and isinstance(event["pid"], int) and isinstance(event["tid"], int)):
        return "a field is of another type"
    if not isinstance(event["ts"], int | float) or isinstance(event["ts"], bool):
        return "a time is not a number"
    if event["ph"] == "X":
        return None if isinstance(event.get("dur"), int | float) and event["dur"] >= 0 else "a span has no duration"
    if event["ph"] == "i":
        return None if event.get("s") in ("g", "p", "t") else "a mark has no scope"
    if event["ph"] == "M":
        named = event["name"] in METADATA and isinstance(event.get("args", {}).get("name"), str)
        return None if named else "metadata of no known kind"
    return "another phase"


def saved(p: tb.Profile, folder: Path) -> list[dict[str, Any]]:
    p.save(folder / "trace.json")
    content = json.loads((folder / "trace.json").read_text())
    assert content["displayTimeUnit"] in ("ms", "ns")
    events: list[dict[str, Any]] = content["traceEvents"]
    return events


def test_a_file_is_as_the_format_says(tmp_path: Path) -> None:
    x = tb.ones((4, 4))
    with tb.profile(limits=tb.Limits(1e12, 1e12)) as p:
        tb.matmul(x, x)
        p.add("a mark")
        with p.span("block"):
            tb.softmax(x, axis=0)
        p.add("elsewhere", 0.25)
    events = saved(p, tmp_path)
    assert [wrong(event) for event in events] == [None] * len(events)
    by_name = {event["name"]: event for event in events}
    product = by_name["matmul"]
    assert (product["ph"], product["cat"], product["pid"]) == ("X", "numpy", os.getpid())
    assert product["args"]["line"].startswith(f"{__file__}:")
    assert product["args"]["function"] == "test_a_file_is_as_the_format_says"
    assert product["args"]["result"] == "f32[4][4]"
    assert (product["args"]["FLOPs"], product["args"]["bytes"]) == (128, 192)
    assert 0 < product["args"]["share of the limit"] < 1
    assert (by_name["a mark"]["ph"], by_name["a mark"]["s"]) == ("i", "t")
    block, inside = by_name["block"], by_name["softmax"]
    assert block["ts"] <= inside["ts"]
    assert inside["ts"] + inside["dur"] <= block["ts"] + block["dur"]
    assert block["tid"] == inside["tid"]
    assert by_name["elsewhere"]["dur"] == 250_000
    assert by_name["elsewhere"]["tid"] != block["tid"]
    threads = {event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert threads == {"MainThread", "measured elsewhere"}


def test_a_profile_of_nothing_is_a_file_as_well(tmp_path: Path) -> None:
    with tb.profile() as p:
        pass
    assert [event["name"] for event in saved(p, tmp_path)] == ["process_name"]


def test_the_check_of_events_finds_what_is_wrong() -> None:
    right: dict[str, Any] = {"name": "x", "ph": "X", "ts": 0.5, "dur": 1, "pid": 1, "tid": 1}
    assert wrong(right) is None
    changes: list[dict[str, Any]] = [{"ph": "Y"}, {"dur": -1}, {"ph": "i"}, {"ph": "M"}, {"ts": "0"}, {"tid": "main"}]
    assert all(wrong(right | change) for change in changes)
    assert wrong({key: value for key, value in right.items() if key != "pid"})
