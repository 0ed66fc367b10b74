"""Compares calls: first their values, then their processor times, in turns.

A `Group` has programs and contenders. One contender is the base: the results of all others must agree with its results,
and all times are ratios to its times. A `Dash` stands for a program that a contender cannot express, and says why.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

Call = Callable[[], Any]


@dataclass(frozen=True)
class Fresh:
    """A program that gets new operands in each call, such as operands of another shape."""

    make: Callable[[], tuple[Any, ...]]
    """Makes the operands of one call; its time does not count."""
    run: Callable[..., Any]

    def __call__(self) -> Any:
        """Return the result for new operands."""
        return self.run(*self.make())


FRESH = 16
"""The most calls in a turn of a `Fresh` program, so that all calls of a contender are fewer than 480."""


class Dash(NamedTuple):
    """Why a contender does not have a program."""

    reason: str


@dataclass(frozen=True)
class Contender:
    """A library, or one way of using it."""

    name: str
    calls: Mapping[str, Call | Dash]
    """Functions without arguments, one to compute each program."""
    read: Callable[[Any], Any] = np.asarray
    """Converts a result to NumPy arrays, or to whatever else the base gives."""
    finish: Callable[[Any], object] = id
    """Waits for a result, if the library computes asynchronously."""


@dataclass(frozen=True)
class Group:
    """Contenders for the same programs, measured in one process."""

    name: str
    title: str
    base: str
    programs: Mapping[str, str]
    """The name of each program, and its computation as an expression in NumPy."""
    contenders: Callable[[], list[Contender]]
    keras: str = "numpy"
    """The backend of Keras, which is fixed for each process."""
    competes: bool = False
    """Whether the base is one of the libraries to compare, rather than the engine below them."""


class Budget(NamedTuple):
    """How long to measure a program: the number of rounds, the turns in a round, and the seconds of each turn."""

    rounds: int = 5
    turns: int = 5
    seconds: float = 1e-3
    longest: float = 0.1
    """The most seconds for all turns of a round: if they would take longer, there are fewer turns, but at least one."""


@dataclass
class Timing:
    """The seconds of a call: the minimum of each round."""

    rounds: list[float] = field(default_factory=list)

    def ratio(self, base: Timing) -> float:
        """Return the median over the rounds of the ratio to another timing.

        >>> Timing([2.0, 9.0, 4.0]).ratio(Timing([1.0, 3.0, 2.0]))
        2.0
        """
        return statistics.median(seconds / other for seconds, other in zip(self.rounds, base.rounds, strict=True))


def run(group: Group, budget: Budget) -> Iterator[dict[str, Any]]:
    """Yield the rows of a group, one for each program and contender.

    Raises
    ------
    ValueError
        If a contender has other programs than the group, or other results than the base.
    """
    contenders = {contender.name: contender for contender in group.contenders()}
    for contender in contenders.values():
        if odd := sorted({*contender.calls} ^ {*group.programs}):
            raise ValueError(f"{group.name}: expected each program or a dash, got otherwise {odd} by {contender.name}")
    for program in group.programs:
        calls: dict[str, Call] = {}
        for name, contender in contenders.items():
            call = contender.calls[program]
            if isinstance(call, Dash):
                yield {"group": group.name, "program": program, "peer": name, "reason": call.reason}
            else:
                calls[name] = call
        compare(group, program, calls, contenders)
        timings = measure(calls, {name: contenders[name].finish for name in calls}, budget)
        for name, timing in timings.items():
            yield {
                "group": group.name,
                "program": program,
                "peer": name,
                "ratio": timing.ratio(timings[group.base]),
                "microseconds": min(timing.rounds) * 1e6,
            }


def compare(group: Group, program: str, calls: Mapping[str, Call], contenders: Mapping[str, Contender]) -> None:
    """Raise `ValueError` if a contender's results differ from those of the base."""
    expected = contenders[group.base].read(calls[group.base]())
    for name, call in calls.items():
        if name == group.base:  # a further call of a `Fresh` program has other operands
            continue
        result = contenders[name].read(call())
        if not agree(result, expected):
            raise ValueError(
                f"{group.name}, {program}: expected {expected!r} as {group.base} has it, got {result!r} by {name}"
            )


def agree(result: Any, expected: Any) -> bool:
    """Return whether results agree in structure and shapes, and in values up to 1e-4 of the largest one.

    >>> agree((np.float32(1.0), "f32[2]"), (1.0000001, "f32[2]")), agree([[1.0]], [1.0]), agree("f32[3]", "f32[2]")
    (True, False, False)
    """
    if isinstance(expected, tuple):
        return isinstance(result, tuple) and len(result) == len(expected) and all(map(agree, result, expected))
    if isinstance(expected, str):
        return bool(result == expected)
    one, other = np.asarray(result), np.asarray(expected)
    if one.shape != other.shape:
        return False
    return bool(np.max(np.abs(one - other), initial=0.0) <= 1e-4 * np.max(np.abs(other), initial=0.0))


def measure(
    calls: Mapping[str, Call],
    finish: Mapping[str, Callable[[Any], object]],
    budget: Budget,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, Timing]:
    """Return the timings of calls that alternate, so that load on the machine slows all of them equally."""
    numbers = {name: calibrated(call, finish[name], budget.seconds, clock) for name, call in calls.items()}
    timings = {name: Timing() for name in calls}
    order = list(calls)
    gc.collect()
    gc.disable()
    try:
        start = clock()
        for name in order:
            seconds(calls[name], finish[name], numbers[name], clock)
        turns = max(1, min(budget.turns, int(budget.longest / max(clock() - start, 1e-9))))
        for _ in range(budget.rounds):
            least = dict.fromkeys(order, float("inf"))
            for _ in range(turns):
                order.append(order.pop(0))
                for name in order:
                    least[name] = min(least[name], seconds(calls[name], finish[name], numbers[name], clock))
            for name, value in least.items():
                timings[name].rounds.append(value)
            gc.collect()
    finally:
        gc.enable()
    return timings


def calibrated(call: Call, finish: Callable[[Any], object], least: float, clock: Callable[[], float]) -> int:
    """Return how many calls take about `least` seconds; the first calls plan and compile, and are not timed."""
    for _ in range(3):
        finish(call())
    number = 1
    most = FRESH if isinstance(call, Fresh) else 100_000
    while number < most and (taken := seconds(call, finish, number, clock) * number) < least:
        number = min(most, max(number + 1, min(10 * number, round(number * least / max(taken, 1e-9)))))
    return number


def seconds(call: Call, finish: Callable[[Any], object], number: int, clock: Callable[[], float]) -> float:
    """Return the seconds of one call, measured over a number of calls; only the last one is waited for."""
    if isinstance(call, Fresh):
        run, operands = call.run, [call.make() for _ in range(number)]
        last = operands.pop()
        start = clock()
        for each in operands:
            run(*each)
        finish(run(*last))
        return (clock() - start) / number
    rest = range(number - 1)
    start = clock()
    for _ in rest:
        call()
    finish(call())
    return (clock() - start) / number
