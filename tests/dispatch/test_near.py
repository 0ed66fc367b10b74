"""The fastest path to a ready call: a record that leaves an op's memo is not found here either."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.dispatch import CHECKED, watching
from tensorbackend.dispatch.path import Path
from tensorbackend.errors import DeallocatedError
from tensorbackend.memo import MEMO_LIMIT
from tensorbackend.opspec import OPS


def path_of(name: str) -> Path:
    return next(place for place in watching._places if isinstance(place, Path) and place.spec is OPS[name])


def entries(path: Path) -> list[Any]:
    """Return the records of an op of two tensors that the fastest path finds."""
    return [
        record
        for first in path.near.entries.values()
        for second in first.values()
        for record in second.values()
    ]  # fmt: skip


def test_a_warm_call_runs_what_the_memo_holds() -> None:
    x, path = tb.asarray([1.0, 2.0, 3.0]), path_of("add")
    x + x
    record = path.near.entries[x.backend][x.template][x.template]
    assert record is path.ready[x.template, x.template, x.backend]
    assert (x + x).tolist() == [2, 4, 6]


def test_what_watches_kernels_sees_warm_calls() -> None:
    x = tb.ones(11)
    for _ in range(3):
        tb.exp(x), x + x
    with tb.profile() as profile:
        tb.exp(x), x + x
    assert sorted(row.name for row in profile.rows()) == ["add", "exp"]
    with tb.profile() as profile:
        tb.exp(x)
    assert [row.name for row in profile.rows()] == ["exp"]


def test_records_go_with_the_memos() -> None:
    path = path_of("subtract")
    for size in range(MEMO_LIMIT + 5):
        x = tb.Tensor(tb.Template((size,), "f32"), tb.get_backend("template"), None)
        x - x
    assert len(path.ready) <= MEMO_LIMIT
    assert all(record in path.ready.values() for record in entries(path)[-3:])
    assert len(entries(path)) <= MEMO_LIMIT
    watching.forget()
    assert entries(path) == []
    x = tb.ones(3)
    assert (x - x).tolist() == [0, 0, 0]
    with tb.precision(64, cast=True):
        assert (x - x).dtype is tb.float64
    assert (x - x).dtype is tb.float32


def test_operands_on_two_backends_are_no_near_call() -> None:
    x = tb.ones(5)
    y = x.backend_copy("binary")
    for _ in range(3):
        assert (x + y).tolist() == (y + x).tolist() == [2] * 5


def test_a_deallocated_operand_is_named_once() -> None:
    x = tb.ones(6)
    tb.exp(x), x + x
    x.backend_deallocate()
    calls: list[Callable[[], Any]] = [lambda: tb.exp(x), lambda: x + x, lambda: x + tb.ones(6), lambda: x + 1]
    for call in calls:
        with pytest.raises(DeallocatedError) as caught:
            call()
        assert caught.value.__context__ is None


def test_a_thread_in_the_context_sends_others_elsewhere() -> None:
    """One thread at a time is in the context of NumPy's kernels: run a long call in one, short calls in another."""
    large, small = tb.ones(4_000_000), tb.asarray(np.array([3e38, 1.0], "f4"))
    matrix = tb.ones((300, 300))
    tb.exp(large), small + small, tb.sum(small, axis=0), matrix @ matrix, small * 2
    going, failed = threading.Event(), list[BaseException]()
    going.set()

    def work() -> None:
        try:
            while going.is_set():
                tb.exp(large)
        except BaseException as error:  # the main thread reports it
            failed.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(300):
            assert (small + small).tolist() == [np.inf, 2.0]
            assert (small * 2).tolist() == [np.inf, 2.0]
            assert tb.sum(small, axis=0).item() == pytest.approx(3e38)
            assert tb.exp(small).tolist()[0] == np.inf
    finally:
        going.clear()
        thread.join(60)
    assert failed == []


def test_all_this_holds_where_nothing_is_checked() -> None:
    """Run this file without checked mode, which wraps each kernel, so that no warm call enters a context itself."""
    if not CHECKED:
        return  # this process is that run
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    completed = subprocess.run(
        command,
        env={**os.environ, "TENSORBACKEND_CHECK": "0", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert completed.returncode == 0, completed.stdout
