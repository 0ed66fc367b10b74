"""The records of ready calls, as warm calls find and run them."""

from __future__ import annotations

import operator
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
from tensorbackend.caching.option_keys import MEMO_LIMIT
from tensorbackend.declarations.op_specs import OPS
from tensorbackend.dispatch import CHECKED, watching
from tensorbackend.dispatch.path import FullPath
from tensorbackend.dispatch.ready_calls import Memo, ReadyCall, Record, record
from tensorbackend.errors import ContractError, DeallocatedError, OutOfRangeError
from tensorbackend.protocol import Kernel


def path_of(name: str) -> FullPath:
    return next(place for place in watching._places if isinstance(place, FullPath) and place.spec is OPS[name])


def record_of(*templates: Any, ready_kernel: Kernel = operator.neg) -> Record:
    return record(ReadyCall(templates[-1], ready_kernel))


@pytest.mark.parametrize("nested", [True, False])
def test_a_memo_finds_what_was_entered(nested: bool) -> None:
    memo, template = Memo(nested=nested), tb.Template((2,), "f32")
    keys = [("numpy", template), ("jax", template), (32, "numpy", template), ("numpy", float)]
    for key in keys:
        assert memo.find(key) is None
        known = record_of(template)
        for _ in range(2):
            memo.store(key, known)
        assert memo.find(key) is known
    assert len(memo) == len(keys)
    memo.exchange(lambda kernel, subject: operator.pos)
    for key in keys:
        found = memo.find(key)
        assert found is not None
        assert found[1] is found[2].kernel is operator.pos
    memo.clear()
    assert len(memo) == 0
    assert memo.find(keys[0]) is None


@pytest.mark.parametrize("nested", [True, False])
def test_a_memo_is_bounded(nested: bool) -> None:
    memo = Memo(nested=nested)
    for size in range(MEMO_LIMIT + 5):
        template = tb.Template((size,), "f32")
        memo.store(("numpy", template), record_of(template))
        assert len(memo) <= MEMO_LIMIT
    assert memo.find(("numpy", template)) is not None


def test_a_warm_call_runs_what_the_memo_holds() -> None:
    x, path = tb.asarray([1.0, 2.0, 3.0]), path_of("add")
    watching.forget()  # else a plan by kind may serve the call
    x + x
    assert path.calls.find((x.backend, x.template, x.template)) is not None
    path.calls.exchange(lambda kernel, subject: lambda left, right: np.asarray([7, 8, 9], "f4"))
    try:
        assert (x + x).tolist() == [7, 8, 9]
    finally:
        path.calls.clear()
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
    assert 0 < len(path.calls) <= MEMO_LIMIT
    watching.forget()
    assert len(path.calls) == 0
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
    by_kind = path.calls.entries[x.backend]
    assert set(by_kind[x.template]) == {int, float, bool}
    assert x.template in by_kind[int]
    assert x.template in by_kind[float]
    watching.forget()
    assert path.calls.entries == {}
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


def test_operands_on_two_backends_are_moved() -> None:
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
