"""Memory that an assignment may write to: what keeps the payload alive, and that nothing depends on the interpreter."""

from __future__ import annotations

import gc
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any
from weakref import ref

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.backends.numpy_backend import memory
from tensorbackend.backends.numpy_backend.memory import Memory, own


@pytest.fixture
def x() -> tb.Tensor:
    x = tb.asarray(np.arange(6.0).reshape(2, 3), backend="numpy")
    for _ in range(2):  # the first assignment of a kind finds out how, and the next one gives x memory of its own
        x[0, 0] = 7.0
    return x


def address(x: tb.Tensor) -> int:
    return int(x.data.ctypes.data)


def is_alone(x: tb.Tensor) -> bool:
    """Whether the next assignment writes to the memory that x has."""
    before = address(x)
    x[0, 0] = 8.0
    return address(x) == before


def generator(data: Any) -> Iterator[None]:
    yield
    del data


def started(data: Any) -> Any:
    waiting = generator(data)
    next(waiting)
    return waiting


KEEPERS: list[Callable[[Any], Any]] = [
    lambda d: d, lambda d: [d], lambda d: d[1:], lambda d: d[0], lambda d: d[:1][:, 1:], lambda d: d.T,
    lambda d: d.reshape(-1), lambda d: d.view("i8"), lambda d: d.real, np.diagonal, np.asarray, memoryview,
    lambda d: memoryview(d)[1:], lambda d: d.flat, lambda d: d.ctypes, lambda d: d.ctypes.data_as, np.nditer, iter,
    lambda d: d.__len__, lambda d: d.__dlpack__(), lambda d: np.from_dlpack(d), np.frombuffer,
    pickle.PickleBuffer, lambda d: np.lib.stride_tricks.as_strided(d, (2,), (8,)),
    lambda d: np.lib.stride_tricks.sliding_window_view(d, 2, 1), lambda d: np.broadcast_to(d, (2, 2, 3)), started,
    lambda d: (lambda: d), lambda d: np.ndarray((2,), buffer=d), lambda d: d.__array_struct__,
    lambda d: np.ctypeslib.as_ctypes(d), lambda d: d.view(np.recarray),
    lambda d: d.view(np.matrix), lambda d: np.ma.masked_array(d), np.atleast_3d,
]  # fmt: skip
"""What keeps a payload, or memory of it."""


@pytest.mark.parametrize("place", range(len(KEEPERS)))
def test_what_keeps_a_payload_is_seen(x: tb.Tensor, place: int) -> None:
    assert is_alone(x)
    kept = KEEPERS[place](x.data)
    assert not is_alone(x)
    del kept
    gc.collect()
    assert is_alone(x)


def test_the_first_assignment_copies_what_an_op_or_a_user_made() -> None:
    makers: list[Callable[[], tb.Tensor]] = [
        lambda: tb.zeros(3) + 1, lambda: tb.zeros(3), lambda: tb.asarray(np.ones(3)),
    ]  # fmt: skip
    for make in makers:
        x = make()
        x[0] = 3.0
        x = make()
        first = x.data
        x[0] = 2.0
        assert x.data.base.__class__ is Memory
        assert first[0] != 2


def test_of_two_tensors_of_one_payload_each_gets_memory_of_its_own(x: tb.Tensor) -> None:
    y = x.__copy__()
    z = x.__copy__()
    y[0, 0] = 1.0
    z[0, 0] = 2.0
    x[0, 0] = 3.0
    assert [t.tolist()[0][0] for t in (x, y, z)] == [3, 1, 2]
    assert is_alone(x)
    assert is_alone(y)
    assert is_alone(z)


def test_a_view_of_a_payload_that_is_gone_keeps_the_memory(x: tb.Tensor) -> None:
    part = x.data[1:]  # its base is the payload
    x[1] = 9.0
    y = tb.asarray(part)
    x[1] = 10.0
    assert y.tolist() == [[3.0, 4.0, 5.0]]


def test_a_weak_reference_ends_with_the_elements_that_it_knew(x: tb.Tensor) -> None:
    known = ref(x.data)
    x[0, 0] = 1.0
    assert known() is None


def test_an_interrupted_decision_is_a_copy_next_time(x: tb.Tensor) -> None:
    kept = x.data
    x.data.base.lent = None  # as between the lines of `own`
    x[0, 0] = 5.0
    assert kept[0, 0] == 7
    assert is_alone(x)


def test_a_write_that_fails_changes_nothing(x: tb.Tensor) -> None:
    before = x.tolist()
    for key, value in [((5, 0), 1.0), (0, tb.zeros(7)), ("a", 1.0)]:
        with pytest.raises(tb.errors.TensorBackendError):
            x[key] = value
        assert x.tolist() == before
    assert is_alone(x)


def test_tracers_and_threads_change_no_answer(x: tb.Tensor) -> None:
    sys.settrace(lambda *arguments: None)
    try:
        assert is_alone(x)
    finally:
        sys.settrace(None)
    answers: list[bool] = []
    thread = threading.Thread(target=lambda: answers.append(is_alone(x)))
    thread.start()
    thread.join()
    assert answers == [True]


def test_own_of_every_layout() -> None:
    for array in (np.zeros(()), np.zeros((0, 3)), np.asfortranarray(np.ones((2, 3))), np.arange(5)[::-1]):
        x = tb.asarray(array)
        for _ in range(2):
            made = own(x)
            assert made.flags.c_contiguous
            assert np.array_equal(made, array)
            del made


def test_checked_mode_compares_the_answer_with_the_count(x: tb.Tensor, monkeypatch: pytest.MonkeyPatch) -> None:
    def believe_nobody_reads(x: tb.Tensor) -> Any:
        return x.data

    monkeypatch.setattr(memory, "_own", believe_nobody_reads)
    assert memory.own_as_counted(x) is x.data
    kept = x.data[1:]
    with pytest.raises(tb.errors.ContractError, match="nothing else refers to"):
        memory.own_as_counted(x)
    del kept
    assert memory.own_as_counted(x) is x.data
