"""Threads and asyncio tasks: simultaneous first calls, the registry, instances, defaults, templates, moves."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import pytest

import tensorbackend as tb
from tensorbackend.backends.binary import BinaryBackend
from tensorbackend.caching import option_keys
from tensorbackend.errors import ArgumentError, BackendError, DeallocatedError, TensorBackendError
from tensorbackend.protocol.core import Core
from tensorbackend.select import default, registry
from tensorbackend.template import Template, _intern_lock

Result = TypeVar("Result")

THREADS = 8


@pytest.fixture(autouse=True)
def _switch_often() -> Iterator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def at_once(function: Callable[[int], Result]) -> list[Result | BaseException]:
    """Run a function in threads that start together, each with its number; return the results or exceptions."""
    barrier = threading.Barrier(THREADS)
    outcomes: list[Result | BaseException] = [TimeoutError()] * THREADS

    def run(number: int) -> None:
        barrier.wait(10)
        try:
            outcomes[number] = function(number)
        except BaseException as error:
            outcomes[number] = error

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    return outcomes


@pytest.mark.parametrize("backend", ["binary", "numpy"])
@pytest.mark.parametrize("limit", [3, option_keys.MEMO_LIMIT])
def test_first_calls_of_one_op_at_once(backend: str, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(option_keys, "MEMO_LIMIT", limit)  # memos are emptied all the time, or never
    sizes = range(1, 16) if limit == 3 else range(16, 31)

    def program(size: int) -> list[object]:
        x = tb.reshape(tb.astype(tb.iota(2 * size, backend=backend), "f32"), (2, size), names=("row", f"n{size}"))
        y = tb.softmax(x + 1, axis="row") @ x.T.rename(row="other")
        results = (y, tb.sum(x, axis="row"), tb.std(x, axis=f"n{size}"), 2 * x - x, tb.expand_dims(x, 0)[0], -x)
        return [(tensor.template, tensor.tolist()) for tensor in results]

    outcomes = at_once(lambda number: [program(size) for size in sizes])
    assert outcomes == [[program(size) for size in sizes]] * THREADS


def test_equal_templates_are_one_object() -> None:
    def make(number: int) -> list[Template]:
        return [Template((size, 1009), "f32", ("a", "b")) for size in range(200)]

    outcomes = at_once(make)
    assert all(len({id(template) for template in same}) == 1 for same in zip(*outcomes, strict=True))


def test_a_template_may_be_made_while_one_is_made() -> None:
    templates: list[Template] = []

    def finalizer() -> None:  # as a `__del__` method may do
        with _intern_lock:
            templates.append(Template((1, 1013), "f32"))

    thread = threading.Thread(target=finalizer, daemon=True)
    thread.start()
    thread.join(5)
    assert [template.shape for template in templates] == [(1, 1013)]


def test_an_instance_is_set_up_once() -> None:
    class Slow(BinaryBackend):
        name = "slow"

        def setup(self) -> None:
            setups.append(tb.get_backend("binary"))  # gets another backend's instance from inside `setup`
            time.sleep(0.01)

    setups: list[Core] = []
    instances = at_once(lambda number: Slow())
    assert instances == [Slow()] * THREADS
    assert setups == [tb.get_backend("binary")]


def test_one_of_many_registrations_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_classes", dict(registry._classes))
    classes = [type("Racing", (BinaryBackend,), {"name": "racing"}) for _ in range(THREADS)]
    outcomes = at_once(lambda number: tb.register_backend(classes[number]))
    winner = type(tb.get_backend("racing"))
    assert [outcome for outcome in outcomes if not isinstance(outcome, BackendError)] == [winner]


def test_what_is_set_is_not_undone_by_a_first_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(default, "process_default", [None])
    look_up = default.get_backend

    def meanwhile(backend: tb.BackendLike = None, **options: str | None) -> tb.Backend:
        monkeypatch.setattr(default, "get_backend", look_up)
        thread = threading.Thread(target=tb.set_default_backend, args=("binary",))
        thread.start()
        thread.join(5)
        return look_up(backend, **options)

    monkeypatch.setattr(default, "get_backend", meanwhile)
    assert default.current() is look_up("binary")


def test_defaults_are_of_their_thread() -> None:
    def program(number: int) -> set[tuple[str, tb.DType]]:
        name, bits = ("binary", "numpy")[number % 2], (32, 64)[number // 2 % 2]
        with tb.default_backend(name), tb.precision(bits):
            seen = {(tb.softmax(tb.zeros(2), axis=0).backend.name, tb.mean(tb.iota(3)).dtype) for _ in range(30)}
        assert tb.zeros(1).dtype is tb.float32
        return seen

    outcomes = at_once(program)
    floats = {32: tb.float32, 64: tb.float64}
    assert outcomes == [
        {(("binary", "numpy")[number % 2], floats[(32, 64)[number // 2 % 2]])} for number in range(THREADS)
    ]


def test_defaults_are_of_their_task() -> None:
    async def task(name: str) -> list[str]:
        seen = []
        with tb.default_backend(name):
            for _ in range(10):
                await asyncio.sleep(0)
                seen.append(tb.zeros(1).backend.name)
            seen.append(await asyncio.to_thread(lambda: tb.zeros(1).backend.name))
        return seen

    async def main() -> list[list[str]]:
        return await asyncio.gather(*(task(name) for name in ("binary", "numpy", "template") * 3))

    assert asyncio.run(main()) == [[name] * 11 for name in ("binary", "numpy", "template") * 3]


def test_a_tensor_that_several_threads_move() -> None:
    for _ in range(20):
        x = tb.zeros(3)
        outcomes = at_once(lambda number, x=x: x.backend_transfer("binary").tolist())  # type: ignore[misc] # bound here
        assert [0.0, 0.0, 0.0] in outcomes
        assert all(outcome == [0.0, 0.0, 0.0] or isinstance(outcome, DeallocatedError) for outcome in outcomes)


def test_errors_name_their_own_op() -> None:
    ops = (tb.add, tb.multiply, tb.subtract, tb.divide)
    x, y = tb.zeros(2, names=("a",)), tb.zeros(2, names=("b",))

    def fail(number: int) -> None:
        for _ in range(50):
            with pytest.raises(TensorBackendError, match=f"^{ops[number % 4].__name__}: "):
                ops[number % 4](x, y)

    assert at_once(fail) == [None] * THREADS


# Precision


def test_the_precision_of_the_process_holds_in_every_thread() -> None:
    def default() -> tb.DType:
        return tb.asarray(0.5).dtype

    def in_a_thread() -> tb.DType:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(default).result()

    x = tb.ones(2, dtype="s64")
    jitted = tb.jit(lambda x: x * 0.5)
    try:
        with tb.precision(16):
            tb.set_precision(64)
            assert (default(), in_a_thread()) == (tb.float16, tb.float64)
        assert (default(), in_a_thread()) == (tb.float64, tb.float64)
        assert (x * 0.5).dtype is jitted(x).dtype is tb.mean(x).dtype is tb.float64
        with tb.precision(32):
            assert (default(), in_a_thread()) == (tb.float32, tb.float64)
    finally:
        tb.set_precision(32)
    assert (default(), in_a_thread()) == (tb.float32, tb.float32)
    assert (x * 0.5).dtype is jitted(x).dtype is tb.mean(x).dtype is tb.float32


@pytest.mark.parametrize("bits", [8, "64", True, 64.0])
def test_precisions_that_there_are_not(bits: Any) -> None:
    with pytest.raises(ArgumentError, match="set_precision: expected 16, 32 or 64 bits, got bits="):
        tb.set_precision(bits)
    with pytest.raises(ArgumentError, match="precision: expected"), tb.precision(bits):
        pass
