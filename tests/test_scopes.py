"""`with` blocks that set defaults for a context."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import gc
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
import pytest

import tensorbackend as tb
import tensorbackend.numpy as np_
from tensorbackend.dispatch import watching
from tensorbackend.dtypes.defaults import cast_blocks
from tensorbackend.expr import expr_backend, mesh_variation, node
from tensorbackend.expr.evaluate import op_by_op
from tensorbackend.expr.grad import tape_nodes
from tensorbackend.protocol import Backend


@pytest.fixture(autouse=True)
def programs_of_one_test() -> Iterator[None]:
    """Hides what other tests compiled: a watch goes through all programs, and begins a thousand times here."""
    others = list(watching._programs)
    watching._programs.clear()
    yield
    watching._programs.update(others)


@pytest.mark.parametrize("make", [tb.default_backend, lambda backend: tb.precision(64)])
def test_a_block_that_was_given_up_changes_no_other_context(make: Callable[[str], Any]) -> None:
    def given_up() -> list[Any]:
        several = [make("binary"), make("numpy")]
        for block in several:
            block.__enter__()
        return several

    several = contextvars.copy_context().run(given_up)
    while several:
        several.pop()  # dropping an open generator makes Python run the end of its block here
    gc.collect(1)  # not what other tests left
    assert tb.scoped_backend() is None
    assert tb.get_precision() == 32


def test_a_block_that_an_error_ends_restores_what_it_set() -> None:
    with pytest.raises(ZeroDivisionError), tb.default_backend("binary"), tb.precision(64, cast=True):
        1 / 0  # noqa: B018 # the error is what matters
    with pytest.raises(tb.errors.ArgumentError), tb.precision(7):
        pass
    assert tb.scoped_backend() is None
    assert tb.get_precision() == 32


def test_each_call_of_a_decorated_function_has_its_own_block() -> None:
    @tb.precision(64, cast=True)
    def depths(depth: int) -> list[int]:
        return [tb.get_precision(), *(depths(depth - 1) if depth else []), tb.get_precision()]

    with tb.precision(16):
        assert depths(2) == [64] * 6
        assert tb.get_precision() == 16


def test_a_block_decorates_a_function() -> None:
    @tb.default_backend("binary")
    def decorated() -> tb.Tensor:
        return tb.zeros(1)

    assert decorated().backend.name == decorated().backend.name == "binary"
    assert tb.zeros(1).backend.name == "numpy"


class Defaults(NamedTuple):
    """What an interrupted call must leave as it was."""

    backend: Backend
    scoped: Backend | None
    precision: int
    trace: object
    line: object
    mesh: object
    repeats: bool


def defaults() -> Defaults:
    public = tb.get_backend(), tb.scoped_backend(), tb.get_precision()
    return Defaults(
        *public, expr_backend.current(), node._line.get(), mesh_variation.current_mesh(), expr_backend._repeats.get()
    )


X = tb.asarray([[0.5, 2.0], [1.0, 3.0]], names=("row", None))


def taped() -> tb.Tensor:
    with tb.tape() as tape:
        watched = tape.watch(X)
        y = tb.sum(watched * tb.sin(watched))
    slope: tb.Tensor = tb.gradient(y, watched)
    return slope


def profiled() -> object:
    with tb.profile() as profile:
        tb.jit(lambda x: tb.exp(x) * 2)(X)
    return profile


def branched(x: tb.Tensor) -> tb.Tensor:
    halved: tb.Tensor = tb.cond(tb.sum(x) > 3, lambda x: x / 2, tb.square, x)
    grown: tb.Tensor = tb.while_loop(lambda x: tb.sum(x) < 9, lambda x: x * 1.5, halved, limit=4)
    return grown


PROGRAMS: dict[str, Callable[[], object]] = {
    "jit": lambda: tb.jit(lambda x: tb.softmax(x * 2, axis=0))(X),
    "grad": lambda: tb.grad(lambda x: tb.sum(tb.tanh(x) * tb.mean(x)))(X),
    "vmap": lambda: tb.vmap(lambda row: row / (1 + tb.max(tb.abs(row))))(X),
    "control flow": lambda: tb.grad(lambda x: tb.sum(branched(x)))(X),
    "batched branch": lambda: tb.vmap(lambda x: tb.cond(tb.sum(x) > 3, tb.sin, tb.square, x))(X),
    "tape": taped,
    "profile": profiled,
    "compiled gradient": lambda: tb.jit(tb.grad(lambda x: tb.sum(tb.var(x, axis=0))))(X),
    "host call": lambda: tb.jit(lambda x: tb.host_call(np.sin, x.template, x))(X),
    "random": lambda: tb.random.split(tb.random.key(0), 3),
    "function of elements": lambda: tb.reduce(X, 0.0, function=tb.add),
}


class Interrupting:
    """Counts the calls of Python functions, and raises `KeyboardInterrupt` as one of them is entered."""

    def __init__(self, at: int = -1) -> None:
        self.at, self.names = at, list[str]()

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            self.names.append(frame.f_code.co_qualname)
            if len(self.names) - 1 == self.at:
                raise KeyboardInterrupt

    def run(self, program: Callable[[], object]) -> bool:
        """Whether the program was interrupted."""
        traced = sys.gettrace()
        try:
            sys.settrace(self)
            program()
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(traced)
        return False


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_interrupt_at_the_entry_of_any_call_leaves_all_defaults_as_they_were(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Python only reports an interrupt that comes while it closes a generator.
    monkeypatch.setattr(sys, "unraisablehook", lambda ignored: None)
    watching.forget()  # a profile goes through all that other tests made ready
    program, before = PROGRAMS[name], defaults()
    for _ in range(3):  # until nothing is compiled any more
        program()
    counting = Interrupting()
    assert not counting.run(program)
    count, most = len(counting.names), int(os.environ.get("TENSORBACKEND_EXAMPLES", "3"))
    ends = [place for place, called in enumerate(counting.names) if called.endswith("._ended")]
    places = [*ends[:: max(1, len(ends) // most)], *range(0, count, max(1, count // most))]
    interrupted = 0
    for place in places:
        interrupted += Interrupting(place).run(program)
        assert defaults() == before, f"interrupted as call {place} of {count}, {counting.names[place]}, is entered"
        assert tape_nodes.active_tape() is None
    if name == "profile":
        gc.collect()  # of a block whose end was interrupted
    assert not watching.is_watching()
    assert interrupted >= 3  # a program whose calls are all known enters few
    assert tb.zeros(2).backend is before.backend
    program()


TAPE: tb.Tape = tb.tape()
BLOCKS: dict[str, Callable[[], Any]] = {
    "default backend": lambda: tb.default_backend("binary"),
    "precision": lambda: tb.precision(64),
    "cast": lambda: tb.precision(64, cast=True),
    "autocast": lambda: tb.autocast("bfloat16"),
    "name scope": lambda: tb.name_scope("inner"),
    "tape": tb.tape,
    "pause": lambda: TAPE.paused(),
    "NumPy's stream": np_.random.numpy_stream,
    "look for NaN": tb.debug_nans,
    "profile": tb.profile,
}


@pytest.mark.parametrize("name", BLOCKS)
def test_an_interrupt_at_any_time_ends_a_block(
    name: str, repeat_until_interrupted: Callable[[Callable[[], object], float], None]
) -> None:
    """The end of a block runs in C, so no interrupt comes between its beginning and its end."""
    make, rng = BLOCKS[name], np.random.default_rng(0)
    watching.forget()  # a look for NaN goes through all that other tests made ready
    tb.abs(X)

    def block() -> None:
        with make():
            pass

    def settings() -> dict[str, Any]:
        # What knows the home of a block is no setting.
        known = {variable.name: value for variable, value in contextvars.copy_context().items()}
        return {name: value for name, value in known.items() if name != "tensorbackend_block_home"}

    def settings_after(seconds: float) -> dict[str, Any]:
        repeat_until_interrupted(block, seconds)
        return settings()

    with TAPE if name == "pause" else contextlib.nullcontext():
        block()
        for _ in range(int(os.environ.get("TENSORBACKEND_INTERRUPTS", "120"))):
            wanted = settings()
            assert contextvars.copy_context().run(settings_after, rng.uniform(2e-5, 3e-4)) == wanted
            assert not cast_blocks
            assert not any(op_by_op.values())
            tb.abs(X)  # the first call after a block whose end was interrupted
            assert not watching.is_watching()
            assert not op_by_op


def test_the_blocks_above_are_all_that_are_public() -> None:
    kinds = "Block", "Tape", "DebugNans", "Iterator"
    spaces = tb, np_, np_.random
    members = {name: getattr(space, name) for space in spaces for name in dir(space) if name[0] != "_"}
    functions = {name: member for name, member in members.items() if not isinstance(member, type)}
    returned = {name: getattr(function, "__annotations__", {}).get("return") for name, function in functions.items()}
    blocks = {name for name, kind in returned.items() if str(kind).split("[")[0] in kinds}
    # The first is an iterator, the second sets nothing, and the last is NumPy's own block.
    assert blocks - {"to_batched", "as_library_errors", "printoptions"} == {
        "autocast", "debug_nans", "default_backend", "name_scope", "numpy_stream", "precision", "profile", "tape"
    }  # fmt: skip


def test_a_block_that_is_open_does_not_begin_again() -> None:
    for block in (tb.precision(64), tb.name_scope("a"), tb.debug_nans()):
        error = pytest.raises(tb.errors.BackendError, match="expected a block that has not begun; make another one")
        with block, error:
            block.__enter__()
        with block:
            pass
    assert tb.get_precision() == 32


@pytest.mark.parametrize("make", [lambda: tb.default_backend("binary"), tb.debug_nans], ids=["backend", "nans"])
def test_a_block_decorates_coroutines_but_no_generators(make: Callable[[], Any]) -> None:
    async def coroutine() -> tuple[str, bool]:
        return tb.get_backend().name, watching.is_watching()

    decorated = make()(coroutine)
    names = asyncio.run(decorated())
    assert names in {("binary", False), ("numpy", True)}
    assert decorated.__name__ == "coroutine"

    def numbers() -> Iterator[int]:
        yield 1

    async def more() -> AsyncIterator[int]:
        yield 1

    for function in (numbers, more):
        with pytest.raises(tb.errors.ArgumentError, match="expected a function that is no generator"):
            make()(function)
    assert tb.get_backend().name == "numpy"


def test_a_thread_with_a_copied_context_casts_after_the_block_has_ended() -> None:
    x = tb.ones(2)
    with tb.precision(64, cast=True):
        copied = contextvars.copy_context()
        assert copied.run(lambda: (x + x).dtype) == tb.float64
    assert (x + x).dtype == tb.float32
    assert copied.run(lambda: (x + x).dtype) == tb.float64
    del copied
    assert not cast_blocks


def test_a_block_that_outlives_the_traced_function_that_opened_it_says_so() -> None:
    held = list[Any]()

    def opening(x: tb.Tensor) -> tb.Tensor:
        held.append(tb.default_backend("binary"))
        held[-1].__enter__()
        return tb.sum(x * 2)

    for transformed in (tb.jit(opening), tb.grad(opening)):
        transformed(tb.ones(3))
        assert tb.get_backend().name == "numpy"
        with pytest.raises(tb.errors.BackendError, match="expected a block to end in the thread or task in which"):
            held[-1].__exit__(None, None, None)
        assert tb.get_backend().name == "numpy"
