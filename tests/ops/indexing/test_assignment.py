"""`x[...] = v`: what was made from x before keeps its elements, and memory that nobody else sees is written to."""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from itertools import count, product
from typing import Any
from weakref import ref

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.backends.numpy_backend import NumpyBackend
from tensorbackend.errors import (
    ContractError,
    DTypeError,
    IndexRangeError,
    NamesError,
    OutOfRangeError,
    ShapeError,
    TensorBackendError,
)
from tensorbackend.ops.indexing import assignment
from tensorbackend.protocol.indexing import Write
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
        assert x.data.flags.owndata


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


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_last_of_several_values_for_one_place_stays(backend: str) -> None:
    """In row-major order, whatever the memory layout of the indices and the values."""
    indices, values = np.array([[0, 0, 1], [1, 0, 0]]), np.arange(6).reshape(2, 3)
    turns: list[Callable[[Any], Any]] = [lambda a: a, np.transpose, lambda a: a[::-1], lambda a: a[:, ::-1]]
    for turn, flip in product(turns, repeat=2):
        if turn(indices).shape != flip(values).shape:
            continue
        reference = [0, 0]
        for index, value in zip(turn(indices).reshape(-1), flip(values).reshape(-1), strict=True):
            reference[index] = int(value)
        x, table = tb.zeros(2, dtype="int64", backend=backend), tb.zeros((2, 2), dtype="int64", backend=backend)
        key = tb.asarray(turn(indices), backend=backend)
        for _ in range(2):
            x[key] = tb.asarray(flip(values), backend=backend)
            table[key, key] = tb.asarray(flip(values), backend=backend)
            assert x.tolist() == reference
            assert [table.tolist()[0][0], table.tolist()[1][1]] == reference


WRONG: list[tuple[Any, Any, type[TensorBackendError]]] = [
    (3, 1.0, IndexRangeError),
    (-4, 1.0, IndexRangeError),
    ((0, 4), 1.0, IndexRangeError),
    ((0, 0, 0), 1.0, IndexRangeError),
    ([0, 3], 1.0, IndexRangeError),
    ([0, -4], 1.0, IndexRangeError),
    (np.array([0, 2**63], "uint64"), 1.0, IndexRangeError),
    ([True, False], 1.0, IndexRangeError),
    (0, 1e39, OutOfRangeError),
    (0, 10**400, OutOfRangeError),
    (0, 1j, DTypeError),
    (0, [1.0, 2.0], ShapeError),
    (0, np.ones((1, 1, 4), "float32"), ShapeError),
    (slice(0, 2), np.ones((3, 4), "float32"), ShapeError),
    ([0, 1], np.ones((3, 4), "float32"), ShapeError),
    (DATA > 5, np.ones(3, "float32"), ShapeError),
    (0, tb.ones(4, names=("n",)), NamesError),
]


@pytest.mark.parametrize(("key", "value", "error"), WRONG)
def test_wrong_assignments_change_nothing(key: Any, value: Any, error: type[TensorBackendError]) -> None:
    for backend in ("numpy", "binary"):
        x = tb.tensor(DATA, names=("row", "column"), backend=backend) * 1
        right = {IndexRangeError: (0, value), OutOfRangeError: (key, 1.0)}.get(error, (key, 0.0))
        texts = set()
        for _ in range(2):
            x[right[0]] = right[1] if not isinstance(right[1], complex) else 1.0
            before = np.array(x)
            with pytest.raises(error) as told:
                x[key] = value
            assert np.array_equal(x, before)
            with pytest.raises(error) as put:
                tb.put_at(x, key, value)
            assert type(told.value.__context__) is type(put.value.__context__)
            texts |= {str(raised.value).removeprefix("put_at").removeprefix("setitem") for raised in (told, put)}
        assert len(texts) == 1


def test_numbers_are_rounded_and_checked_as_put_at_does() -> None:
    whole = [0, 1, -1, 255, 256, 2**31, 2**53 + 1, 2**63, 2**64, True, False, np.int8(3)]
    floats = [-0.0, 0.1, 65504.0, 65519.9, 65520.0, 3.5e38, 1e-50, math.inf, -math.inf, math.nan, np.float64(0.1)]
    for dtype, key in product(tb.dtypes.ALL_DTYPES, [1, slice(0, 2), (...,)]):
        x = tb.zeros(3, dtype=dtype)
        for number in [*whole, *floats, 1j, 1 + 0j] * 2:
            wanted = outcome(lambda: tb.put_at(x, key, number).to_binary())  # noqa: B023 # called at once

            def assign() -> bytes:
                with np.errstate(all="raise"):
                    x[key] = number  # noqa: B023
                return x.to_binary()  # noqa: B023

            assert outcome(assign) == wanted


def outcome(function: Callable[[], bytes]) -> bytes | str:
    """The bytes that a function returns, or the text of its error."""
    try:
        return function()
    except TensorBackendError as error:
        return str(error)


@pytest.mark.parametrize("backend", ["binary", "numpy"])
def test_an_assignment_casts_no_operands(backend: str) -> None:
    x = tb.zeros(3, backend=backend)
    with tb.precision(64, cast=True):
        for key in (0, [1], x == 0):
            x[key] = 2.0
            x[key] = tb.asarray(3.0, backend=backend)
    assert backend == "binary" or x.data.dtype == np.float32
    assert x.tolist() == [3.0] * 3


def test_an_interrupt_leaves_it_as_before_or_after() -> None:
    x = tb.zeros(1000) + 1

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for turn in range(300):
            kept = [x[:], x.tolist()]
            with suppress(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, 0.0002 + turn % 7 * 0.00003)
                for number in count():
                    x[...] = float(number)
            assert len(set(x.tolist())) == 1
            assert kept[0].tolist() == kept[1]
            assert x.data.shape == (1000,)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_tape_keeps_the_elements_of_an_operand() -> None:
    x, factor = tb.ones(3) * 1, tb.ones(3) * 2
    with tb.tape() as tape:
        watched = tape.watch(x)
        square, scaled = tb.sum(watched * watched), tb.sum(watched * factor)
    x[0] = factor[0] = 9.0
    assert tb.gradient(square, watched).tolist() == [2.0] * 3
    assert tb.gradient(scaled, watched).tolist() == [2.0] * 3


def test_in_traces_and_on_tapes() -> None:
    def changed(x: tb.Tensor) -> tb.Tensor:
        y = x * 1
        y[0] = x[1] * 2
        y[1:] = y[:-1]
        return tb.sum(y * y)

    x = tb.asarray([1.0, 2.0, 3.0])
    slopes = [tb.grad(changed)(x), tb.jit(tb.grad(changed))(x)]
    with tb.tape() as tape:
        watched = tape.watch(x)
        slopes.append(tb.gradient(changed(watched), watched))
    # y is (2 b, 2 b, b)
    assert [slope.tolist() for slope in slopes] == [[0.0, 2 * (4 + 4 + 1) * 2.0, 0.0]] * 3


def test_jit_changes_no_argument() -> None:
    def added(a: tb.Tensor) -> tb.Tensor:
        a[...] = a + 1
        return a

    x = tb.zeros(3) * 1
    assert tb.jit(added)(x).tolist() == [1.0] * 3
    assert x.tolist() == [0.0] * 3
    assert added(x).tolist() == x.tolist() == [1.0] * 3


def test_adding_to_a_variable_assigns_nothing() -> None:
    def added(a: tb.Tensor) -> tb.Tensor:
        a += 1
        return a

    x = tb.zeros(3)
    assert added(x).tolist() == tb.jit(added)(x).tolist() == [1.0] * 3
    assert x.tolist() == [0.0] * 3


def test_checked_mode_compares_with_put_at(monkeypatch: pytest.MonkeyPatch) -> None:
    class Careless(NumpyBackend):
        name = "careless"

        def assignment(self, x: tb.Template, structure: tuple[Any, ...], value: tb.Template | type, /) -> Write | None:
            def write(x: tb.Tensor, key: Any, value: Any) -> None:
                x.data = x.data + 1

            return write

    monkeypatch.setattr(assignment, "CHECKED", True)
    x = tb.zeros(3, backend=Careless())
    x[0] = 1.0
    with pytest.raises(ContractError, match="to write what put_at returns"):
        x[0] = 2.0


@pytest.mark.parametrize("transform", [tb.jit, tb.vmap, lambda function: tb.grad(lambda s: tb.sum(function(s)))])
def test_a_copy_that_is_made_in_a_trace_takes_traced_values(transform: Any) -> None:
    captured = tb.asarray([[1.0, 2.0], [3.0, 4.0]])

    def function(value: Any) -> Any:
        x = tb.tensor(captured)
        x[1, 1] = value
        return x * x

    result = transform(function)(tb.asarray([5.0]) if transform is tb.vmap else tb.asarray(5.0))
    assert result.tolist() in ([[1.0, 4.0], [9.0, 25.0]], [[[1.0, 4.0], [9.0, 25.0]]], 10.0)
    assert captured.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    with pytest.raises(tb.errors.BackendError, match=r"assign to a copy that is made in it by tb.tensor\(x\)"):
        tb.jit(lambda value: captured.__setitem__(0, value))(tb.asarray(1.0))
    with tb.default_backend("template"):
        assert tb.tensor(captured).tolist() == captured.tolist()
