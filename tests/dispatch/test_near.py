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
from tensorbackend.backends.binary import BinaryBackend
from tensorbackend.dispatch import CHECKED, watching
from tensorbackend.dispatch.path import Path
from tensorbackend.errors import ContractError, DeallocatedError, OutOfRangeError
from tensorbackend.memo import MEMO_LIMIT
from tensorbackend.opspec import OPS


def path_of(name: str) -> Path:
    return next(place for place in watching._places if isinstance(place, Path) and place.spec is OPS[name])


def entries(path: Path) -> list[Any]:
    """Return the records of an op of two tensors that the fastest path finds."""
    return [record for second in path.near.entries.values() for record in second.values()]


def test_a_warm_call_runs_what_the_memo_holds() -> None:
    x, path = tb.asarray([1.0, 2.0, 3.0]), path_of("add")
    x + x
    entry = path.near.entries[x.template][x.template]
    record = path.ready[x.template, x.template, x.backend]
    assert entry == (*record[:3], x.backend)
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
    held = {id(kernel) for _, kernel, *_ in path.ready.values()}
    assert all(id(kernel) in held for _, kernel, *_ in entries(path)[-3:])
    assert len(entries(path)) <= MEMO_LIMIT
    watching.forget()
    assert entries(path) == []
    x = tb.ones(3)
    assert (x - x).tolist() == [0, 0, 0]
    with tb.precision(64, cast=True):
        assert (x - x).dtype is tb.float64
    assert (x - x).dtype is tb.float32


def test_numbers_on_both_sides() -> None:
    x, path = tb.asarray([1.0, 4.0]), path_of("divide")
    for _ in range(3):
        assert (x / 2).tolist() == [0.5, 2.0]
        assert (2 / x).tolist() == [2.0, 0.5]
        assert tb.divide(x, 2.0).tolist() == [0.5, 2.0]
        assert tb.divide(2.0, x).tolist() == [2.0, 0.5]
        assert (x / True).tolist() == [1.0, 4.0]
        with tb.precision(64):
            assert (tb.asarray([1, 4]) / 3.0).dtype is tb.float64
        assert (tb.asarray([1, 4]) / 3.0).dtype is tb.float32
    after, before = (entries[32][x.template] for entries in path.near.numbers)
    assert set(after) == {int, float}
    assert set(before) == {int, float, bool}
    watching.forget()
    assert path.near.numbers == ({}, {})
    assert (1 / x).tolist() == [1.0, 0.25]


def test_numbers_while_operands_are_cast() -> None:
    x = tb.asarray([1.0, 4.0])
    for _ in range(3):
        assert (x - 1).dtype is (1 - x).dtype is tb.float32
        with tb.precision(64, cast=True):
            assert (x - 1).dtype is (1 - x).dtype is tb.float64


def test_a_number_out_of_range_is_one_error() -> None:
    x = tb.asarray([1, 2], dtype="u8")
    calls: list[Callable[[], Any]] = [lambda: x + 300, lambda: 300 + x, lambda: tb.add(300, x)]
    for call in calls:
        assert (x + 3).tolist() == (3 + x).tolist() == [4, 5]
        for _ in range(3):
            with pytest.raises(
                OutOfRangeError, match="add: expected an integer from 0 to 255 for uint8, got value=300"
            ):
                call()


def test_two_backends_in_turn() -> None:
    x = tb.ones(7)
    y = x.backend_copy("binary")
    for _ in range(3):
        for z in (x, y):
            for result in (z + z, z * 2, 2 * z, tb.exp(z * 0) + 1):
                assert result.backend is z.backend
                assert result.tolist() == [2] * 7


def test_an_error_while_a_number_becomes_a_payload() -> None:
    class Full(BinaryBackend):
        name = "full"
        dispatch_priority = 1
        fails = False

        def constant(self, out: tb.Template, /, *, value: Any) -> Any:
            if self.fails:
                raise MemoryError("full")
            return super().constant(out, value=value)

    backend = Full()
    x = tb.tensor([1.0, 2.0], backend=backend)
    calls: list[Callable[[Any], Any]] = [lambda number: x + number, lambda number: number + x]
    for call in calls:
        backend.fails = False
        for number in (1.5, 2.5, 3.5):
            assert call(number).tolist() == [1 + number, 2 + number]
        backend.fails = True
        with pytest.raises(MemoryError, match="expected enough memory"):
            call(4.5)


@pytest.mark.parametrize("fault", [KeyError("k"), AttributeError("a"), ZeroDivisionError("z")])
def test_the_error_of_a_kernel_runs_once_and_is_the_only_one(fault: Exception) -> None:
    runs: list[None] = []

    class Failing(BinaryBackend):
        name = "failing"
        dispatch_priority = 1
        fails = False

        def add(self, out: tb.Template, x1: tb.Tensor, x2: tb.Tensor, /) -> Any:
            if not self.fails:
                return super().add(out, x1, x2)
            runs.append(None)
            raise fault

    backend = Failing()
    x = tb.tensor([1.0, 2.0], backend=backend)
    calls: list[Callable[[], Any]] = [lambda: x + x, lambda: x + 1, lambda: 1 + x]
    for call in calls:
        backend.fails = False
        call(), call(), call()
        backend.fails = True
        runs.clear()
        with pytest.raises(ContractError, match="add of the backend 'failing'") as caught:
            call()
        assert len(runs) == 1
        assert caught.value.__cause__ is fault
        assert fault.__context__ is None


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
        pytest.skip("this process is that run")
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
