"""Programs of kernels: of composites and graphs, and blocks that threads share."""

from __future__ import annotations

import threading
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.backends.array_module import fusion
from tensorbackend.errors import ArgumentError, DataError, IndexRangeError
from tensorbackend.expr.evaluate import Program, last_uses
from tensorbackend.select.threads import parallel_for


def test_the_precision_is_part_of_a_program() -> None:
    x = tb.tensor([1, 2, 4])
    for bits, dtype in ((32, tb.float32), (64, tb.float64), (32, tb.float32)):
        with tb.precision(bits):
            for _ in range(3):
                assert tb.mean(x).dtype is dtype


def test_a_program_gives_the_bits_of_its_ops() -> None:
    values = np.random.default_rng(1).standard_normal((5, 7)).astype("f4")
    calls: list[Any] = [
        lambda x: tb.logsumexp(x, axis="c"),
        lambda x: tb.std(x, axis="r"),
        lambda x: tb.median(x),
        lambda x: tb.roll(x, 3),
        lambda x: tb.stack([x, x]),
        lambda x: tb.top_k(x, 3).values,
    ]
    for call in calls:
        bits = {call(tb.asarray(values, names=("r", "c"))).to_binary() for _ in range(4)}
        assert len(bits) == 1


def test_values_are_freed_after_their_last_use() -> None:
    graph = tb.trace(lambda x: tb.sum(tb.exp(x.rename("n")) * x.rename("n")))("f32[3]")
    program = Program(graph, tb.get_backend("numpy"), entered_once=True)
    (freed,) = (payload for payload in program.kernel(np.ones(3, "f4")))
    assert freed.tolist() == pytest.approx(3 * np.e)
    ends = last_uses(graph)
    assert sum(map(len, ends.values())) == len({value for values in ends.values() for value in values})


def test_a_value_lives_as_long_as_it_has_names() -> None:
    def function(x: tb.Tensor) -> tb.Tensor:
        y = tb.exp(x)
        named = y.rename("n")
        z = tb.sum(named)
        return y * z + tb.sum(y)  # uses y after the last use of `named`, which is the same value

    x = tb.tensor([0.0, 1.0])
    assert tb.trace(function)(x)(x).tolist() == pytest.approx(function(x).tolist())
    assert tb.jit(function)(x).tolist() == pytest.approx(function(x).tolist())


def test_an_error_names_the_node_and_its_line() -> None:
    def function(x: tb.Tensor, at: tb.Tensor) -> tb.Tensor:
        return tb.exp(tb.take(x, at, axis=0))  # here

    x, at = tb.zeros(3), tb.tensor([7])
    for run in (tb.trace(function)(x, at), tb.jit(function)):
        with pytest.raises((DataError, IndexRangeError)) as caught:
            run(x, at)
        assert any("test_composite_programs.py" in note for note in caught.value.__notes__)


@pytest.mark.parametrize("function", [tb.linalg.qr, tb.linalg.svd, tb.linalg.eigh, lambda x: (x, x)])
def test_several_results_of_one_op(function: Any) -> None:
    results = tb.jit(function)(tb.eye(2))
    assert len(results) == len(function(tb.eye(2)))


@pytest.fixture
def threads() -> Any:
    yield tb.set_threads
    tb.set_threads(None)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_blocks_are_the_same_for_any_number_of_threads(
    count: int, threads: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fusion, "BLOCK", 64)
    threads(count)
    x = tb.asarray(np.random.default_rng(0).standard_normal(1000).astype("f4"))
    function = tb.jit(lambda x: tb.exp(-x * x) * 2 + tb.tanh(x))
    assert function(x).to_binary() == (tb.exp(-x * x) * 2 + tb.tanh(x)).to_binary()


def _note(parts: list[range], start: int, end: int) -> None:
    parts.append(range(start, end))


def test_work_is_shared_whole(threads: Any) -> None:
    for count in (1, 2, 5):
        threads(count)
        for length in (1, 7, 64, 65):
            parts: list[range] = []
            parallel_for(length, 8, partial(_note, parts))
            assert sorted(chain.from_iterable(parts)) == list(range(length))


def test_an_error_of_a_thread_is_raised(threads: Any) -> None:
    threads(2)

    def work(start: int, end: int) -> None:
        if start:
            raise ValueError("of the second part")

    with pytest.raises(ValueError, match="second part"):
        parallel_for(100, 10, work)


def test_work_is_done_where_no_thread_can_be_started(threads: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    threads(7)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        parts: list[range] = []
        parallel_for(65, 8, partial(_note, parts))
        assert sorted(chain.from_iterable(parts)) == list(range(65))
    parts.clear()  # what stayed in the pool's queue finds nothing left to do
    parallel_for(65, 8, partial(_note, parts))
    assert sorted(chain.from_iterable(parts)) == list(range(65))


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "2"])
def test_a_number_of_threads_is_at_least_one(count: Any) -> None:
    with pytest.raises(ArgumentError, match="at least 1 thread"):
        tb.set_threads(count)
