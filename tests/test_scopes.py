"""`with` blocks that set defaults for a context."""

from __future__ import annotations

import contextvars
import gc
import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.dispatch import watching
from tensorbackend.dtypes.defaults import cast_blocks
from tensorbackend.expr import mesh_variation, node, record
from tensorbackend.expr.grad import recorded
from tensorbackend.protocol import Backend


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
    return Defaults(*public, record.current(), node._line.get(), mesh_variation.current_mesh(), record._repeats.get())


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
    ends = [place for place, called in enumerate(counting.names) if called == "Block.__exit__"]
    places = [*ends[:: max(1, len(ends) // most)], *range(0, count, max(1, count // most))]
    interrupted = 0
    for place in places:
        interrupted += Interrupting(place).run(program)
        assert defaults() == before, f"interrupted as call {place} of {count}, {counting.names[place]}, is entered"
        assert recorded.active_tape() is None
    if name == "profile":
        gc.collect()  # of a block whose end was interrupted
    assert not watching.is_watching()
    assert interrupted >= 3  # a program whose calls are all known enters few
    assert tb.zeros(2).backend is before.backend
    program()


BLOCKS: dict[str, Callable[[], Any]] = {
    "default backend": lambda: tb.default_backend("binary"),
    "precision": lambda: tb.precision(64),
    "cast": lambda: tb.precision(64, cast=True),
    "autocast": lambda: tb.autocast("bfloat16"),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_an_interrupt_at_any_time_ends_a_block(
    name: str, repeat_until_interrupted: Callable[[Callable[[], object], float], None]
) -> None:
    """The end of a block runs in C, so no interrupt comes between its beginning and its end."""
    make, rng = BLOCKS[name], np.random.default_rng(0)

    def block() -> None:
        with make():
            pass

    def settings_after(seconds: float) -> dict[str, Any]:
        repeat_until_interrupted(block, seconds)
        return {variable.name: value for variable, value in contextvars.copy_context().items()}

    block()
    for _ in range(int(os.environ.get("TENSORBACKEND_INTERRUPTS", "300"))):
        context = contextvars.copy_context()
        wanted = {variable.name: value for variable, value in context.items()}
        assert context.run(settings_after, rng.uniform(2e-5, 3e-4)) == wanted
        assert not cast_blocks
