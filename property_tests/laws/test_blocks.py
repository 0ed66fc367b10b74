"""Blocks end in any order: each setting is that of the open block that began last, and none outlives its block.

Programs are drawn that begin and end blocks in functions, generators, stacks and tasks, in threads with copies of a
context as well. A model that knows only which blocks are open says what each setting is.
`TENSORBACKEND_BLOCK_PROGRAMS` sets the number of programs; a seed and a number reproduce each.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from contextvars import copy_context
from functools import partial
from typing import Any, NamedTuple

import pytest

import tensorbackend as tb
import tensorbackend.numpy as np
from tensorbackend.dtypes import defaults
from tensorbackend.expr.node import current_scope

PROGRAMS = int(os.environ.get("TENSORBACKEND_BLOCK_PROGRAMS", "60"))
STEPS = 14
X = tb.ones((2, 2))

Make = Callable[[], AbstractContextManager[Any]]

MAKERS: dict[str, list[Make]] = {
    "backend": [lambda: tb.default_backend("binary"), lambda: tb.default_backend("numpy")],
    "precision": [
        lambda: tb.precision(64), lambda: tb.precision(16), lambda: tb.precision(64, cast=True),
        lambda: tb.precision("high"), tb.autocast, lambda: tb.autocast("float16"),
    ],
    "scope": [lambda: tb.name_scope("a"), lambda: tb.name_scope("b")],
    "stream": [np.random.numpy_stream],
}  # fmt: skip
"""Blocks by the setting that they change."""


def _computed() -> tuple[Any, ...]:
    """What programs see of the default precision."""
    dtypes = (X + X).dtype, (X @ X).dtype, tb.default_dtype("float")
    return *dtypes, tb.get_precision(), defaults.product_precision()


READERS: dict[str, Callable[[], Any]] = {
    "backend": lambda: tb.zeros(1).backend.name,
    "precision": _computed,
    "scope": current_scope.get,
    "stream": lambda: vars(np.random.default_rng(0))["_numpy"] is None,
}


def _settings() -> dict[str, Any]:
    return {name: read() for name, read in READERS.items()}


class _Held(NamedTuple):
    """An open block: what it changes, to which value, how to end it, and whether that can be tried twice."""

    setting: str
    value: Any
    end: Callable[[], object]
    movable: bool


def _begin(draw: random.Random, setting: str) -> tuple[Callable[[], object], bool]:
    """Begins a block, which one of several things holds; returns how to end it, and whether it can be tried twice."""
    make = draw.choice(MAKERS[setting])
    holder = draw.choice(["block", "generator", "dropped", "stack"])
    if holder == "stack":
        stack = ExitStack()
        stack.enter_context(make())
        return stack.close, False
    if holder == "block":
        block = make()
        block.__enter__()
        return lambda: block.__exit__(None, None, None), True

    def holding() -> Iterator[None]:
        with make():
            yield

    generator: Iterator[None] = holding()
    next(generator)
    if holder == "generator":
        return partial(next, generator, None), False
    only = [generator]
    generator = iter(())
    return only.clear, False


def _nested(draw: random.Random, depth: int) -> None:
    """Blocks that end in the reversed order, some of which decorate functions."""
    before, setting = _settings(), draw.choice([*MAKERS])
    make = draw.choice(MAKERS[setting])
    inside = _nested if depth else lambda *arguments: None
    if draw.random() < 0.5:
        make()(inside)(draw, depth - 1)  # type: ignore[operator] # blocks decorate
    else:
        with make():
            inside(draw, depth - 1)
    assert _settings() == before


def _check(held: list[_Held], outside: dict[str, Any]) -> None:
    wanted = outside | {each.setting: each.value for each in held}  # of several, the last
    assert _settings() == wanted


def _run_program(draw: random.Random, outside: dict[str, Any], pool: ThreadPoolExecutor, depth: int = 1) -> int:
    """Runs a drawn program; returns how many blocks ended before one that began later."""
    held, out_of_order = list[_Held](), 0
    for _ in range(STEPS):
        step = draw.choice(["begin", "begin", "end", "end", "nested", "copy", "elsewhere"])
        if step == "begin":
            setting = draw.choice([*MAKERS])
            ending = _begin(draw, setting)
            held.append(_Held(setting, READERS[setting](), *ending))
        elif step == "end" and held:
            place = draw.randrange(len(held))
            out_of_order += place < len(held) - 1
            held.pop(place).end()
        elif step == "nested":
            _nested(draw, 1)
        elif step == "copy" and depth:
            context, inherited = copy_context(), _settings()
            run = pool.submit(context.run, _run_program, draw, inherited, pool, 0)
            out_of_order += run.result()
        elif step == "elsewhere" and any(each.movable for each in held):
            each = draw.choice([each for each in held if each.movable])
            others = [other for other in held if other is not each]
            copy_context().run(_end_elsewhere, each, others, outside)
        _check(held, outside)
    while held:
        held.pop(draw.randrange(len(held))).end()
        _check(held, outside)
    return out_of_order


def _end_elsewhere(each: _Held, others: list[_Held], outside: dict[str, Any]) -> None:
    """Ends a block in a copy of its context, which is an error: there the setting is gone, in the context it stays."""
    with pytest.raises(tb.errors.BackendError, match="expected a block to end in the thread or task in which it began"):
        each.end()
    _check(others, outside)


def test_settings_are_those_of_the_open_block_that_began_last() -> None:
    outside, out_of_order = _settings(), 0
    with ThreadPoolExecutor(1) as pool:
        for number in range(PROGRAMS):
            out_of_order += _run_program(random.Random(number), outside, pool)
    assert out_of_order >= PROGRAMS
    assert not defaults.cast_blocks


def test_tasks_have_settings_of_their_own() -> None:
    outside = _settings()

    async def task(draw: random.Random, inherited: dict[str, Any], depth: int = 1) -> None:
        held = list[_Held]()
        for _ in range(STEPS):
            await asyncio.sleep(0)
            _check(held, inherited)
            if held and draw.random() < 0.5:
                held.pop(draw.randrange(len(held))).end()
            else:
                setting = draw.choice([*MAKERS])
                ending = _begin(draw, setting)
                held.append(_Held(setting, READERS[setting](), *ending))
            _check(held, inherited)
            await asyncio.sleep(0)
            if depth and draw.random() < 0.1:
                await asyncio.create_task(task(draw, _settings(), 0))
        while held:
            held.pop(draw.randrange(len(held))).end()
            await asyncio.sleep(0)
            _check(held, inherited)

    async def several(number: int) -> None:
        await asyncio.gather(*(task(random.Random(f"{number} {each}"), outside) for each in range(3)))

    for number in range(PROGRAMS // 20):
        asyncio.run(several(number))
        assert _settings() == outside


def test_looks_for_nan_end_in_any_order() -> None:
    """They belong to a thread, as the ops of a program do; another thread may end them."""
    for number in range(PROGRAMS // 5):
        draw, held = random.Random(number), list[tuple[bool, Any]]()
        with ThreadPoolExecutor(1) as pool:
            while len(held) < 3 or draw.random() < 0.5:
                infinities = draw.random() < 0.5
                held.append((infinities, tb.debug_nans(infinities=infinities)))
                held[-1][1].__enter__()
            while held:
                _, block = held.pop(draw.randrange(len(held)))
                if draw.random() < 0.5:
                    block.__exit__(None, None, None)
                else:
                    pool.submit(block.__exit__, None, None, None).result()
                assert _is_refused(lambda: tb.log(-X)) == bool(held)
                assert _is_refused(lambda: tb.exp(X * 1e3)) == bool(held and held[-1][0])
                assert not pool.submit(_is_refused, lambda: tb.log(-X)).result()


def _is_refused(function: Callable[[], object]) -> bool:
    try:
        function()
    except tb.errors.NonFiniteError:
        return True
    return False
