"""Threads, forked and spawned processes and interrupts: all run random programs whose results are known.

Each program is drawn from its seed: ops, gradients, batches, compiled functions and block defaults, on NumPy or
BinaryBackend. Errors are a result that differs in a bit from that of the program run alone, an exception, a hanging
child, and a default that outlives its block.

    python benchmarks/stress.py --seconds 600 --seed 7
"""

from __future__ import annotations

import argparse
import contextlib
import contextvars
import multiprocessing
import os
import random
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, NamedTuple

import tensorbackend as tb
from tensorbackend.caching import option_keys

THREADS = 8
PROGRAMS = 64
"""The number of programs of a run: few enough that each runs both cold and warm, and that programs share caches."""


# Programs

shared = tb.jit(lambda x: tb.exp(-x * x) * 2 + tb.sin(x), cache_size=4)
"""A compiled function that all threads share, with a cache that is too small for them."""


def _taped(x: tb.Tensor) -> tb.Tensor:
    with tb.tape() as tape:
        watched = tape.watch(x)
        y = tb.sum(watched * tb.sin(watched))
    slope: tb.Tensor = tb.gradient(y, watched)
    return slope


STEPS: list[Callable[[tb.Tensor], tb.Tensor]] = [
    tb.sin, tb.negative, tb.square, shared, _taped,
    lambda x: 2 * x - 1,
    lambda x: tb.softmax(x, axis=-1),
    lambda x: tb.sort(x, axis=0),
    lambda x: x - tb.mean(x, axis="row", keepdims=True),
    lambda x: tb.cumulative_sum(x, axis=0),
    lambda x: x[::-1],
    lambda x: x[[0, -1, 0]],
    lambda x: tb.where(x > 0, x, -x),
    lambda x: tb.concat([x, x[:1]], axis=0),
    lambda x: tb.take(x, tb.argsort(x[:, 0]), axis="row"),
    lambda x: tb.grad(lambda v: tb.sum(tb.tanh(v) * v))(x),
    lambda x: tb.vmap(lambda row: row / (1 + tb.max(tb.abs(row))))(x).rename("row", "column"),
    lambda x: tb.reshape(x, (-1, x.shape[1]), names=("row", "column")),
]  # fmt: skip


def program(seed: int) -> tuple[str, bytes]:
    """Run a program, and return its result's template and bytes."""
    draw = random.Random(seed)
    with _defaults(draw) as (backend, bits):
        x = _calls(draw)
        if x.backend.name != backend or tb.zeros(1).dtype is not {32: tb.float32, 64: tb.float64}[bits]:
            raise AssertionError("a default of the block is another one")
    return repr(x.template), x.to_binary()


@contextlib.contextmanager
def _defaults(draw: random.Random) -> Iterator[tuple[str, int]]:
    """The blocks of a program."""
    backend, bits = draw.choice(["numpy", "numpy", "binary"]), draw.choice([32, 32, 64])
    with tb.default_backend(backend), tb.precision(bits):
        yield backend, bits


def _calls(draw: random.Random) -> tb.Tensor:
    """The calls of a program, inside its blocks."""
    shape = draw.randrange(2, 6), draw.randrange(1, 7)
    x = tb.tensor([[draw.gauss(0, 1) for _ in range(shape[1])] for _ in range(shape[0])], names=("row", "column"))
    for step in draw.choices(STEPS, k=draw.randrange(2, 7)):
        x = step(x)
    return x


Known = dict[int, tuple[str, bytes]]


def check(seed: int, known: Known) -> None:
    """Run a program again; raise an error if its result differs, or if it leaves a default behind."""
    if program(seed) != known[seed]:
        raise AssertionError(f"program {seed} gives another result")
    if (fresh := tb.zeros(1)).dtype is not tb.float32 or fresh.backend.name != "numpy":
        raise AssertionError(f"program {seed} leaves a default behind")


# Rounds


class Total(NamedTuple):
    """The number of rounds, and the errors in them."""

    rounds: int
    errors: list[str]


def _told(error: BaseException) -> str:
    where = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({where.filename}:{where.lineno})"


def in_threads(known: Known, draw: random.Random, end: float) -> Total:
    """Runs programs in threads that switch all the time, with memos that are nearly always full."""
    rounds = [0] * THREADS
    errors: list[str] = []
    seeds = [random.Random(draw.random()) for _ in range(THREADS)]

    def run(number: int) -> None:
        while time.monotonic() < end and not errors:
            try:
                check(seeds[number].choice(list(known)), known)
            except Exception as error:  # whatever a program raises is reported: none may raise
                errors.append(_told(error))
            rounds[number] += 1

    with _switching_often(), _small_memos():
        threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0.0, end - time.monotonic()) + 60)
    errors += ["a thread hangs" for thread in threads if thread.is_alive()]
    return Total(sum(rounds), errors)


def interrupted(known: Known, draw: random.Random, end: float) -> Total:
    """Interrupts programs at random moments, and checks after each interrupt that a program gives the right result.

    An interrupt may come as the end of a user's block is entered, before the block's default is restored, which no
    `with` in Python can prevent. So programs with blocks of their own run in a copy of the context, and in every other
    round the calls of programs are interrupted inside blocks that no interrupt ends: these must leave the defaults.
    """
    rounds = 0
    errors: list[str] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    def reported(ignored: Any) -> None:
        # Python only reports an interrupt in a callback of the garbage collector, so the test ignores it.
        if ignored.exc_type is not KeyboardInterrupt:
            errors.append(f"while interrupted: {_told(ignored.exc_value)}")

    before = signal.signal(signal.SIGALRM, interrupt)
    hook, sys.unraisablehook = sys.unraisablehook, reported
    try:
        while time.monotonic() < end and not errors:
            seeds = draw.choices(list(known), k=30)
            if rounds % 2:
                errors += _interrupted_calls(seeds, draw)
            try:
                signal.setitimer(signal.ITIMER_REAL, draw.uniform(1e-5, 3e-3))
                for seed in seeds:
                    contextvars.copy_context().run(program, seed)
            except KeyboardInterrupt:
                pass
            except Exception as error:  # an interrupt may end a program, but cause no other error
                errors.append(f"while interrupted: {_told(error)}")
            finally:
                with contextlib.suppress(KeyboardInterrupt):
                    signal.setitimer(signal.ITIMER_REAL, 0)
            try:
                check(draw.choice(list(known)), known)
            except Exception as error:  # the interrupt before must leave nothing behind that makes this fail
                errors.append(f"after an interrupt: {_told(error)}")
            rounds += 1
    finally:
        sys.unraisablehook = hook
        signal.signal(signal.SIGALRM, before)
    return Total(rounds, errors)


def _interrupted_calls(seeds: list[int], draw: random.Random) -> list[str]:
    """Interrupts the calls of programs, not their blocks; an error if a default is another one afterwards."""
    with _defaults(random.Random(seeds[0])) as (backend, bits):
        with contextlib.suppress(KeyboardInterrupt):
            try:
                signal.setitimer(signal.ITIMER_REAL, draw.uniform(1e-5, 3e-3))
                for seed in seeds:
                    calls = random.Random(seed)
                    calls.random()
                    _calls(calls)
            finally:
                with contextlib.suppress(KeyboardInterrupt):
                    signal.setitimer(signal.ITIMER_REAL, 0)
        found = tb.get_backend().name, tb.get_precision()
    return [] if found == (backend, bits) else [f"an interrupt leaves {found} as the defaults, not {(backend, bits)}"]


def forked(known: Known, draw: random.Random, end: float) -> Total:
    """Forks children of a process whose threads run programs; a child that waits for one of their locks is killed."""
    rounds = 0
    errors: list[str] = []
    stop = threading.Event()

    def run(seed: float) -> None:
        choices = random.Random(seed)
        while not stop.is_set():
            program(choices.choice(list(known)))

    threads = [threading.Thread(target=run, args=(draw.random(),), daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    while time.monotonic() < end and not errors:
        seed = draw.choice(list(known))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about forking with threads, which is the purpose here
            child = os.fork()
        if not child:
            signal.alarm(60)
            try:
                os._exit(0 if program(seed) == known[seed] else 1)
            finally:
                os._exit(2)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status:
            errors.append(f"a child that runs program {seed} ends with {status}")
        rounds += 1
    stop.set()
    for thread in threads:
        thread.join(60)
    return Total(rounds, errors)


def _in_child(seed: int, x: Any) -> tuple[tuple[str, bytes], Any]:
    return program(seed), x + 1


def spawned(known: Known, draw: random.Random, end: float) -> Total:
    """Sends tensors to fresh processes and back."""
    rounds = 0
    errors: list[str] = []
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        while time.monotonic() < end or not rounds:
            seeds = draw.choices(list(known), k=20)
            tasks = [(seed, tb.tensor([[seed]], names=("a", "b"))) for seed in seeds]
            for seed, (result, x) in zip(seeds, pool.starmap_async(_in_child, tasks).get(120), strict=True):
                if result != known[seed] or x.tolist() != [[seed + 1]] or x.names != ("a", "b"):
                    errors.append(f"program {seed} in a spawned process gives another result")
                rounds += 1
    return Total(rounds, errors)


@contextlib.contextmanager
def _switching_often() -> Iterator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)


@contextlib.contextmanager
def _small_memos() -> Iterator[None]:
    limit = option_keys.MEMO_LIMIT
    setattr(option_keys, "MEMO_LIMIT", 7)  # noqa: B010 # final for everyone else
    try:
        yield
    finally:
        setattr(option_keys, "MEMO_LIMIT", limit)  # noqa: B010


KINDS = {"threads": in_threads, "interrupts": interrupted, "fork": forked, "spawn": spawned}


def main() -> int:
    """Runs all kinds of rounds for equal parts of the time and prints totals; returns 1 if there were errors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="time for all rounds together")
    parser.add_argument("--seed", type=int, default=16)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    known = {seed: program(seed) for seed in (draw.randrange(1 << 32) for _ in range(PROGRAMS))}
    failed = False
    for kind, run in KINDS.items():
        total = run(known, draw, time.monotonic() + options.seconds / len(KINDS))
        print(f"{kind}: {total.rounds} rounds, {len(total.errors)} errors")
        for error in total.errors[:5]:
            print(f"  {error}")
        failed = failed or bool(total.errors)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
