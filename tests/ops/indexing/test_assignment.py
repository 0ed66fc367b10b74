"""`x[...] = v`: what was made from x before keeps its elements, and memory that nobody else sees is written to."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable
from itertools import count, product
from typing import Any
from weakref import ref

import numpy as np
import pytest

import tensorbackend as tb
import tensorbackend.numpy as arrays
from tensorbackend.ops.indexing import assignment
from tensorbackend.testing.sharers import SHARERS, check_values_stay

BACKENDS = ["binary", "numpy", "jax"]
DATA = np.arange(12, dtype="float32").reshape(3, 4) + 1

KEYS: list[Any] = [
    0,
    -1,
    slice(1, 3),
    slice(None, None, -1),
    ...,
    (),
    (1, 2),
    (slice(None), 1),
    (..., 0),
    (None, 1),
    (1, None, slice(0, 2)),
    [0, 2],
    ([0, 1], [1, 3]),
    (slice(None), [3, 0]),
    DATA > 5,
    np.array([True, False, True]),
    (np.array([True, False, True]), 1),
    np.int64(1),
    True,
    np.array(2),
]


@pytest.fixture
def x() -> tb.Tensor:
    return tb.tensor(DATA, backend="numpy")


def address(x: tb.Tensor) -> int:
    return int(x.data.ctypes.data)


@pytest.mark.parametrize("backend", ["binary", "numpy"])
@pytest.mark.parametrize("sharer", SHARERS)
def test_what_was_made_before_keeps_its_elements(backend: str, sharer: str) -> None:
    for key, turns in product(KEYS, [1, 2]):
        x = tb.tensor(DATA, backend=backend) * 1
        for _ in range(turns):  # the second time x has memory of its own
            reader = SHARERS[sharer](x)
            before, reference = reader(), np.array(x)
            x[key] = -1.0
            reference[key] = -1.0
            assert np.array_equal(x, reference)
            assert np.array_equal(reader(), before)
            x[key] = x[key] * 3
            reference[key] = reference[key] * 3
            assert np.array_equal(x, reference)
            assert np.array_equal(reader(), before)


def test_what_was_made_before_keeps_its_elements_on_jax() -> None:
    check_values_stay(tb.tensor(DATA, backend="binary"), 1, 2.0, tb.get_backend("jax"))


def test_memory_that_nobody_else_sees_is_written_to(x: tb.Tensor) -> None:
    plain = [slice(None), 1, (1, 2), (..., 0), (None, 1), tb.asarray([0, 2]), (tb.asarray([0, 1]), 1), x > 5]
    for key, value in product(plain, [2.0, 3, True, tb.asarray(4.0)]):
        for turn in range(3):  # the first assignment of a kind finds out how, the next one gives x memory of its own
            x[key] = value
            x[key] = x[key]
            x[key] = x[key] + 1
            x[key] += 1
            if turn == 1:
                place = address(x)
        assert address(x) == place


def test_a_new_shape_is_not_a_new_plan() -> None:
    for size in range(4, 9):
        x = tb.zeros(size) + 1
        x[1:3] = tb.zeros(2)
        x[tb.asarray([1] * size)] = 2.0
        if size == 4:
            known = len(assignment._writes)
    assert len(assignment._writes) == known


def test_copies_once_for_each_that_shares(x: tb.Tensor) -> None:
    x[0] = 1.0
    place, kept = address(x), x[1:]
    x[0] = 2.0
    assert address(x) != place
    place = address(x)
    x[0] = 3.0
    assert address(x) == place
    assert kept.tolist() == DATA[1:].tolist()


def test_an_array_of_the_user_stays_as_it_is() -> None:
    array = np.ones(5, "float32")
    part = np.zeros(9, "float32")[2:7]
    frozen = np.ones(5, "float32")
    frozen.flags.writeable = False
    for given in (array, part, frozen, np.frombuffer(bytearray(20), "float32"), np.frombuffer(bytes(20), "float32")):
        before = given.copy()
        for x in (tb.asarray(given), tb.asarray(given, copy=False), tb.asarray(np.asarray(tb.asarray(given)))):
            x[0] = 7.0
            x[1:3] = 8.0
            assert x.tolist()[:3] == [7.0, 8.0, 8.0]
            assert np.array_equal(given, before)


def test_memory_without_an_owner_is_not_written_to() -> None:
    """An array over another's memory, of which NumPy does not know whose it is."""
    owner = np.ones(4, "float32")
    borrowed = np.ndarray(4, "float32", buffer=owner)
    x = tb.asarray(borrowed)
    del borrowed
    x[0] = 5.0
    assert owner.tolist() == [1.0] * 4


def test_weak_references_count(x: tb.Tensor) -> None:
    """Functions that remember what they found out about an array refer to it weakly, and know it by its identity."""
    x[0] = 1.0
    payload = ref(x.data)
    before = payload()
    del before
    x[0] = 2.0
    assert payload() is None  # the tensor has another array


def test_a_sparse_matrix_may_be_assigned_to() -> None:
    """The factor of a matrix is kept, and is that of an array by its identity."""
    matrix = tb.sparse.csr(tb.ones(3) * 1, tb.asarray([0, 1, 2]), tb.asarray([0, 1, 2, 3]), (3, 3))
    vector = tb.asarray([1.0, 2.0, 3.0])
    for number in (2.0, 4.0, 8.0):
        matrix.values[...] = number
        for _ in range(2):
            assert tb.sparse.triangular_solve(matrix, vector, lower=True).tolist() == [
                1 / number,
                2 / number,
                3 / number,
            ]


def test_a_frame_of_another_thread_keeps_its_array(x: tb.Tensor) -> None:
    x[0] = 1.0
    held, ready, done = [], threading.Event(), threading.Event()

    def work() -> None:
        data = x.data
        ready.set()
        done.wait()
        held.append(data.copy())

    thread = threading.Thread(target=work)
    thread.start()
    ready.wait()
    before = np.array(x)
    x[0] = 99.0
    done.set()
    thread.join()
    assert np.array_equal(held[0], before)


@pytest.mark.parametrize("backend", BACKENDS)
def test_parts_of_itself(backend: str) -> None:
    x = tb.tensor(DATA.reshape(-1), backend=backend)
    reference = DATA.reshape(-1).copy()
    for to, of in ((slice(1, 5), slice(2, 6)), (slice(2, 6), slice(1, 5)), (slice(None), slice(None, None, -1))):
        kept = x[of]
        before = kept.tolist()
        x[to] = kept
        reference[to] = reference[of].copy()
        assert x.tolist() == reference.tolist()
        assert kept.tolist() == before
        x[to] = x[of]
        reference[to] = reference[of].copy()
        assert x.tolist() == reference.tolist()
        x[...] = x
        assert x.tolist() == reference.tolist()


def test_parts_of_itself_are_written_in_place() -> None:
    x = tb.tensor(DATA.reshape(-1)) * 1
    x[1:5] = x[2:6]
    place = address(x)
    x[1:5] = x[2:6]
    y = x[3:7]
    x[1:5] = y
    x[:4] = x[:4]
    assert address(x) == place
    y[0] = 3.0
    assert address(x) == place


def test_an_index_or_a_mask_that_is_a_part_of_it() -> None:
    x = tb.asarray([2, 0, 1, 1]) + 0
    x[x[:2]] = 3
    assert x.tolist() == [3, 0, 3, 1]
    x[x % 4] = 0
    assert x.tolist() == [0, 0, 3, 0]
    flags = tb.asarray([True, False, True]) & True
    flags[flags] = False
    assert flags.tolist() == [False] * 3


# An interrupt that comes in a callback of a weak reference is shown and goes no further, as Python does it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_leaves_it_as_before_or_after(
    repeat_until_interrupted: Callable[[Callable[[], object], float], None],
) -> None:
    x, numbers = tb.zeros(1000) + 1, count()

    def fill() -> None:
        x[...] = float(next(numbers))

    for turn in range(300):
        kept = [x[:], x.tolist()]
        repeat_until_interrupted(fill, 0.0002 + turn % 7 * 0.00003)
        assert len(set(x.tolist())) == 1
        assert kept[0].tolist() == kept[1]
        assert x.data.shape == (1000,)


def other_threads_may_assign() -> bool:
    """Whether no assignment of this thread still holds the lock."""
    answers = []

    def ask() -> None:
        answers.append(assignment.lock.acquire(blocking=False))
        if answers[0]:
            assignment.lock.release()

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    return answers[0]


def assign(x: tb.Tensor, a: arrays.ndarray) -> None:
    x[3] = 1.0


def assign_list(x: tb.Tensor, a: arrays.ndarray) -> None:
    x[[0, 3]] = [1.0, 2.0]


def assign_to_array(x: tb.Tensor, a: arrays.ndarray) -> None:
    a[3] = 1.0


def add_in_place(x: tb.Tensor, a: arrays.ndarray) -> None:
    a += 1.0


def add_to_view(x: tb.Tensor, a: arrays.ndarray) -> None:
    a[2:5] += 1.0


def put_by_list(x: tb.Tensor, a: arrays.ndarray) -> None:
    a[[0, 3]] = [1.0, 2.0]


ASSIGNMENTS = [assign, assign_list, assign_to_array, add_in_place, add_to_view, put_by_list]


@pytest.mark.parametrize("write", ASSIGNMENTS)
def test_an_interrupt_leaves_other_threads_free_to_assign(
    write: Callable[[tb.Tensor, arrays.ndarray], None],
    repeat_until_interrupted: Callable[[Callable[[], object], float], None],
) -> None:
    """An interrupt may come as soon as a call has taken the lock, before the next statement."""
    x, a, rng = tb.zeros(10), arrays.zeros(10), random.Random(0)
    write(x, a)
    for _ in range(int(os.environ.get("TENSORBACKEND_INTERRUPTS", "100"))):
        repeat_until_interrupted(lambda: write(x, a), rng.uniform(5e-5, 3e-4))
        assert other_threads_may_assign()


class _Bound:
    """A bound of a slice that runs a function when it is read."""

    def __init__(self, value: int, run: Callable[[], object]) -> None:
        self.value, self.run = value, run

    def __index__(self) -> int:
        self.run()
        return self.value


@pytest.mark.parametrize("backend", ["numpy", "jax", "binary"])
@pytest.mark.parametrize("place", ["start", "stop", "step", "in a tuple"])
def test_a_bound_is_read_before_the_memory_is_looked_at(backend: str, place: str) -> None:
    x = tb.zeros(4, backend=backend) + 1
    for _ in range(3):
        x[:2] = 1.0
        x[:2,] = 1.0
        x[::1] = 1.0
    taken: list[tb.Tensor] = []
    bound = _Bound({"start": 0, "step": 1}.get(place, 2), lambda: taken.append(x[:]))
    key: Any = {"start": slice(bound, 2), "stop": slice(bound), "step": slice(0, 2, bound)}.get(place, (slice(bound),))
    x[key] = 9.0
    assert x.tolist() == [9.0, 9.0, 1.0, 1.0]
    assert [each.tolist() for each in taken] == [[1.0] * 4] * len(taken)
    changing = _Bound(2, lambda: x.__setitem__(3, 5.0))
    x[:changing] = tb.zeros(2, backend=backend)
    assert x.tolist() == [0.0, 0.0, 1.0, 5.0]
