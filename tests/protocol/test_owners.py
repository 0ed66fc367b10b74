"""Counts of references to operands of programs: what holds a payload besides a variable, and where none is trusted."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any
from weakref import ref

import numpy as np
import pytest

from tensorbackend.protocol import owners
from tensorbackend.protocol.owners import PINNED, Counts, calibrate, is_spare, pinned_counts, reuses_operands

HAS_GLOBAL_LOCK = not sysconfig.get_config_var("Py_GIL_DISABLED")


@pytest.fixture(autouse=True)
def _calibrated_again() -> Iterator[None]:
    yield
    calibrate(pinned_counts())


def program(carried: list[Any]) -> bool:
    """What a kernel learns of the only payload of a program."""
    t0 = carried.pop()
    return kernel(t0)


def kernel(payload: Any) -> bool:
    return is_spare(payload)


def test_versions_that_were_tried_are_trusted() -> None:
    tried = sys.implementation.name == "cpython" and sys.version_info[:2] in PINNED and HAS_GLOBAL_LOCK
    assert reuses_operands() is tried
    assert program([np.zeros(3)]) is tried


def test_other_builds_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    never = Counts(-1, -1)
    monkeypatch.setattr(sys, "version", "3.13.0 experimental free-threading build (main) [GCC]")
    assert pinned_counts() == never
    monkeypatch.undo()
    monkeypatch.setattr(sys, "version_info", (3, 99, 0))
    assert pinned_counts() == never
    monkeypatch.undo()
    monkeypatch.setattr(sys.implementation, "name", "other")
    assert pinned_counts() == never


@pytest.mark.parametrize("change", [-2, -1, 1, 2])
@pytest.mark.parametrize("which", ["payload", "base"])
def test_a_number_that_is_not_counted_is_not_used(which: str, change: int) -> None:
    right = PINNED.get(sys.version_info[:2], Counts(4, 4))
    assert not calibrate(right._replace(**{which: getattr(right, which) + change}))
    assert not program([np.zeros(3)])


def test_a_debugger_that_keeps_local_variables_gives_no_trust() -> None:
    kept = []

    def keep(frame: FrameType, event: str, argument: Any) -> Any:
        kept.append(dict(frame.f_locals))
        return keep

    before = sys.gettrace()
    sys.settrace(keep)
    try:
        trusted = calibrate(pinned_counts())
    finally:
        sys.settrace(before)
    assert not trusted
    assert not program([np.zeros(3)])


def test_what_refers_to_a_payload() -> None:
    others: list[Callable[[Any], Any]] = [
        lambda x: x, lambda x: [x], lambda x: x[1:], np.asarray, memoryview, lambda x: x.flat, ref,
        lambda x: x.ctypes, iter, lambda x: x.__len__,
    ]  # fmt: skip
    for other in others:
        payload = np.zeros(3)
        kept = other(payload)
        carried = [payload]
        del payload
        assert not program(carried)
        del kept


def test_counts_of_each_version_are_of_calls_by_programs() -> None:
    assert owners.PINNED[3, 11] == owners.PINNED[3, 12] == owners.PINNED[3, 13]
    assert owners.PINNED[3, 14] == owners.PINNED[3, 15]
