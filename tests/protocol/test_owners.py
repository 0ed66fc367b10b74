"""Counting references: what holds a payload besides its tensor, and where the count is not trusted."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any
from weakref import ref

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.protocol import owners
from tensorbackend.protocol.owners import held_alone


@pytest.fixture(autouse=True)
def _calibrated_again() -> Iterator[None]:
    yield
    owners.calibrate(owners.pinned_count())


def test_versions_that_were_tried_are_trusted() -> None:
    tried = sys.implementation.name == "cpython" and (3, 11) <= sys.version_info < (3, 14)
    global_lock = not sysconfig.get_config_var("Py_GIL_DISABLED")
    assert (owners.pinned_count() == 3) is (tried and global_lock)
    assert held_alone(tb.zeros(3) + 1) is (tried and global_lock)


def test_other_builds_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version", "3.13.0 experimental free-threading build (main) [GCC]")
    assert owners.pinned_count() == 0
    monkeypatch.undo()
    monkeypatch.setattr(sys, "version_info", (3, 99, 0))
    assert owners.pinned_count() == 0
    monkeypatch.undo()
    monkeypatch.setattr(sys.implementation, "name", "other")
    assert owners.pinned_count() == 0


@pytest.mark.parametrize("number", [0, 1, 2, 4, 5])
def test_a_number_that_is_not_counted_is_not_used(number: int) -> None:
    assert not owners.calibrate(number)
    x = tb.zeros(3) + 1
    for _ in range(number):  # however many hold it
        others = [x.data] * number
        assert not held_alone(x)
        del others
    x[0] = 2.0
    kept = x.data
    x[0] = 3.0
    assert x.data is not kept
    assert x.tolist() == [3.0, 1.0, 1.0]


def test_a_debugger_that_keeps_local_variables_gives_no_trust() -> None:
    kept = []

    def keep(frame: FrameType, event: str, argument: Any) -> Any:
        kept.append(dict(frame.f_locals))
        return keep

    before = sys.gettrace()
    sys.settrace(keep)
    try:
        trusted = owners.calibrate(owners.pinned_count())
    finally:
        sys.settrace(before)
    assert not trusted
    assert not held_alone(tb.zeros(3) + 1)


def test_a_debugger_makes_it_no_less_careful() -> None:
    x = tb.zeros(3) + 1
    kept = x[1:]

    def look(frame: FrameType, event: str, argument: Any) -> Any:
        dict(frame.f_locals)
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        for turn in range(3):
            x[1] = float(turn)
            x[:2] = x[1:]
    finally:
        sys.settrace(before)
    assert x.tolist() == [2.0, 1.0, 1.0]
    assert kept.tolist() == [1.0, 1.0]


def test_what_refers_to_a_payload() -> None:
    x = tb.zeros(3) + 1
    others: list[Callable[[], Any]] = [
        lambda: x.data, lambda: [x.data], lambda: x[1:], lambda: np.asarray(x), lambda: memoryview(x.data),
        lambda: x.data.flat, lambda: ref(x.data), lambda: x.__copy__(), lambda: x.data.ctypes,
        lambda: iter(x.data), lambda: x.data.__len__,
    ]  # fmt: skip
    for other in others:
        assert held_alone(x)
        kept = other()
        assert not held_alone(x)
        del kept
