"""The choice of what to compute again, so that a function fits into a limit of memory.

The calls of checkpointed functions are the candidates. A dry run of a choice says what it costs. With few candidates
the search tries every choice, and finds the best one. With more it looks through two lists of choices, whose FLOPs
rise: those with the fewest FLOPs for the bytes that they save, and the first calls of the cheapest. What a call costs
and saves is measured for one of each kind. In each list dry runs decide:

1. Bisection finds a choice that fits.
2. Of its calls, what is not needed is dropped, the most expensive first.

The cheaper result wins. A higher limit never costs more FLOPs: see `Descent`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import combinations
from typing import Final, NamedTuple

from ..declarations.op_specs import CALLBACKS
from ..expr.node import Node
from ..expr.recomputation import PART, Selection, select_calls
from ..tensor.missing_names import explain_missing
from . import show_bytes
from .estimate import Estimator
from .flops import total
from .program import Program

EXHAUSTIVE_CALLS: Final = 6
"""With at most this many candidates the search tries every choice."""

LEVELS: Final = 256
"""The number of steps in which saved bytes are measured."""

DROPS: Final = 32
"""The most calls, or kinds of equal ones, that are tried without."""

SET_ASIDE: Final = 1 << 17
"""Bytes of a limit that are left for NumPy's buffers: an op has up to three, of 8,192 elements each."""

SET_ASIDE_FOR_OP: Final = 150
"""Bytes of a limit that are left for Python's objects, for each op. After a trace is freed, Python keeps about 120 of
them to use again."""

CHAIN_ARRAYS: Final = 2
"""The arrays that a fused chain of elementwise ops holds at most, beyond what its ops hold one by one: its inputs exist
until it ends."""

CHAIN_SIZE: Final = 1 << 17
"""The most elements of an array for which that is so. Larger ones are computed in blocks, which take less."""


class Cost(NamedTuple):
    """What a dry run says of a choice."""

    nbytes: int
    """The peak of memory."""
    flops: int
    """FLOPs and transcendental functions."""


@explain_missing
class Recomputation(NamedTuple):
    """Which calls of checkpointed functions to compute again, and what that costs."""

    limit: int
    """The limit of memory in bytes."""
    calls: tuple[str, ...]
    """The names of the checkpointed functions that were called, in the order of the calls; `"part"` for each part of a
    gradient that calls none."""
    chosen: frozenset[int]
    """The numbers of the calls that are computed again."""
    before: Cost
    """The cost where nothing is computed again."""
    after: Cost
    """The cost of the choice."""
    aside: int = 0
    """The bytes that are left for other things than tensors, Python's objects and NumPy's buffers."""

    @property
    def promised(self) -> int:
        """The most bytes that the choice takes in all."""
        return self.after.nbytes + self.aside

    @property
    def counted(self) -> str:
        """How many of the calls are computed again, as text."""
        what = "parts" if {*self.calls} == {PART} else "calls"
        return f"{len(self.chosen)} of {len(self.calls)} {what} computed again"

    @property
    def fits(self) -> bool:
        """Whether the function fits into the limit."""
        return self.promised <= self.limit

    def __str__(self) -> str:
        fits = "fits into" if self.fits else "does not fit into"
        chosen = _show_calls([(self.calls[number], number) for number in sorted(self.chosen)])
        more = (self.after.flops / self.before.flops - 1) * 100 if self.before.flops else 0.0
        limit, before, after = map(show_bytes, (self.limit, self.before.nbytes, self.after.nbytes))
        return (
            f"{fits} {limit} with {self.counted}{chosen}\npeak {before} before, {after} after, {more:.1f} % more FLOPs"
        )


def _show_calls(calls: Sequence[tuple[str, int]]) -> str:
    """Calls as text, with the numbers of successive calls of one function as a range.

    >>> _show_calls([("layer", 0), ("layer", 1), ("layer", 2), ("head", 5)])
    ': layer 0 to 2, head 5'
    """
    ranges: list[tuple[str, int, int]] = []
    for name, number in calls:
        if ranges and ranges[-1][0] == name and ranges[-1][2] == number - 1:
            ranges[-1] = name, ranges[-1][1], number
        else:
            ranges.append((name, number, number))
    texts = [f"{name} {first}" + (f" to {last}" if last > first else "") for name, first, last in ranges]
    return f": {', '.join(texts)}" if texts else ""


class Candidate(NamedTuple):
    """Estimates of a call."""

    number: int
    nbytes: int
    flops: int


def set_aside(program: Program) -> int:
    """The bytes that a program takes besides its values; the ops of a checkpoint count as one."""
    aside = SET_ASIDE + SET_ASIDE_FOR_OP * program.ops
    if program.name != "optimised":
        return aside
    values = [out for node in program.timeline.nodes if _is_elementwise(node) for out in node.outs]
    return aside + CHAIN_ARRAYS * max((out.payload_nbytes for out in values if out.size <= CHAIN_SIZE), default=0)


def _is_elementwise(node: Node) -> bool:
    callback = CALLBACKS.get(node.op)
    return callback is not None and callback.elementwise


class Search:
    """Dry runs of choices, each made once."""

    def __init__(self, run: Callable[[], Program]) -> None:
        self._run = run
        self._known: dict[frozenset[int], Cost] = {}
        self.aside = SET_ASIDE
        """The bytes for other things than the values of the program, the most of the choices so far."""

    def cost(self, chosen: Collection[int]) -> Cost:
        """What a choice costs."""
        key = frozenset(chosen)
        if key not in self._known:
            self._known[key] = self._costs_of(Selection(key))
        return self._known[key]

    def best(self, limit: int) -> frozenset[int]:
        """The choice so far that fits with the fewest FLOPs; if none fits, the one with the lowest peak."""
        fitting = [chosen for chosen, cost in self._known.items() if cost.nbytes <= limit]
        return self.cheapest(fitting) if fitting else min(self._known, key=lambda chosen: self._known[chosen])

    def cheapest(self, choices: Iterable[frozenset[int]]) -> frozenset[int]:
        """That of some choices with the fewest FLOPs; of several, the one with the lowest peak."""
        return min(choices, key=lambda chosen: (self.cost(chosen).flops, self.cost(chosen).nbytes))

    def candidates(self) -> tuple[tuple[str, ...], list[Candidate]]:
        """The names of all calls, and estimates of those that can be computed again."""
        everything, estimator = Selection(), Estimator()
        cost = self._costs_of(everything)
        found = []
        for number, call in enumerate(everything.calls):
            if call.body is not None:
                work = total(estimator.works(call.body))
                inside = sum(
                    value.template.nbytes for node in call.body.nodes if node.operands for value in node.values
                )
                found.append(Candidate(number, inside, work.flops + work.transcendentals))
        self._known[frozenset(candidate.number for candidate in found)] = cost
        return tuple(call.name for call in everything.calls), found

    def _costs_of(self, selection: Selection) -> Cost:
        with select_calls(selection):
            program = self._run()
        self.aside = max(self.aside, set_aside(program))
        return Cost(program.peak.memory, program.flops + program.transcendentals)


class Descent:
    """Takes choices that fit into a limit, none more expensive than the one before.

    A choice that costs less than one that did not fit is never taken. So a higher limit never costs more FLOPs, in
    whatever order choices are offered, if that order depends on nothing but the answers: two limits get the same
    answers up to the first choice that fits into the higher one alone. From then on its FLOPs are the most that the
    higher limit costs, and the least that the lower one does.
    """

    def __init__(self, search: Search, choice: frozenset[int], limit: int) -> None:
        self._search, self._limit, self._least = search, limit, 0
        self.choice = choice
        """The last choice that was taken; at first one that is known to fit."""

    def take(self, chosen: frozenset[int]) -> bool:
        """Whether a choice is taken."""
        cost = self._search.cost(chosen)
        if cost.nbytes > self._limit:
            self._least = max(self._least, cost.flops)
        elif self._least <= cost.flops <= self._search.cost(self.choice).flops:
            self.choice = chosen
            return True
        return False


def choose_recomputation(run: Callable[[], Program], limit: int, *, sets_aside: bool = False) -> Recomputation:
    """The choice with the fewest FLOPs, among those tried, whose peak is at most a limit.

    `run` returns the costs of the function. If no choice fits, it is that with the lowest peak. With `sets_aside`, the
    limit includes what Python and NumPy need besides tensors.
    """
    search = Search(run)
    before = search.cost(())
    names, candidates = search.candidates()
    aside = search.aside if sets_aside else 0
    chosen = _choose(search, candidates, limit - aside)
    return Recomputation(limit, names, chosen, before, search.cost(chosen), aside)


def _choose(search: Search, candidates: Sequence[Candidate], limit: int) -> frozenset[int]:
    if search.cost(()).nbytes <= limit or not candidates:
        return frozenset()
    if len(candidates) <= EXHAUSTIVE_CALLS:
        for count in range(len(candidates) + 1):
            for chosen in combinations([candidate.number for candidate in candidates], count):
                search.cost(chosen)
        return search.best(limit)
    lowest = _lowest(search, candidates)
    if search.cost(lowest).nbytes > limit:  # nor does nothing fit, whose peak may be the lower one
        return min(frozenset(), lowest, key=lambda chosen: search.cost(chosen).nbytes)
    calls = _measured(search, [candidate for candidate in candidates if candidate.number in lowest])
    # Of equal calls the earlier first, whose values exist longer.
    order = [call.number for call in sorted(calls, key=lambda x: (x.flops, x.number))]
    starts = [frozenset(order[:count]) for count in range(1, len(order) + 1)]
    return search.cheapest(descend(search, choices, calls, limit) for choices in ([*_frontier(calls), lowest], starts))


def _measured(search: Search, calls: Sequence[Candidate]) -> list[Candidate]:
    """Calls with the bytes that they save at the lowest peak, and their FLOPs, by a dry run for equal estimates."""
    everything = frozenset(call.number for call in calls)
    whole = search.cost(everything)
    known: dict[tuple[int, int], tuple[int, int]] = {}
    for call in calls:
        if call[1:] not in known:
            without = search.cost(everything - {call.number})
            known[call[1:]] = max(without.nbytes - whole.nbytes, 1), max(whole.flops - without.flops, 1)
    return [Candidate(call.number, *known[call[1:]]) for call in calls]


def _frontier(calls: Sequence[Candidate]) -> list[frozenset[int]]:
    """Choices, each with the fewest FLOPs for the bytes that it saves, from few to many."""
    step = -(-sum(call.nbytes for call in calls) // LEVELS)
    best: dict[int, tuple[int, frozenset[int]]] = {0: (0, frozenset())}
    for call in calls:
        for level, (flops, chosen) in list(best.items()):
            reached = level + round(call.nbytes / step)
            if reached > level and (reached not in best or flops + call.flops < best[reached][0]):
                best[reached] = flops + call.flops, chosen | {call.number}
    choices: list[tuple[int, frozenset[int]]] = []
    for level in sorted(best, reverse=True):
        if level and (not choices or best[level][0] < choices[-1][0]):
            choices.append(best[level])
    return [chosen for _, chosen in reversed(choices)]


def _lowest(search: Search, candidates: Sequence[Candidate]) -> frozenset[int]:
    """All calls without those that raise the peak, the last ones tried first.

    Computing a call again right after it was computed, as at the end of a forward pass, saves nothing and needs memory
    for its operands. Where one is needed, so are those before it with the same estimates, whose values exist longer.
    """
    choice = frozenset(candidate.number for candidate in candidates)
    needed: set[tuple[int, int]] = set()
    for candidate in sorted(candidates, key=lambda x: -x.number)[:DROPS]:
        fewer = choice - {candidate.number}
        if candidate[1:] in needed:
            continue
        if search.cost(fewer).nbytes < search.cost(choice).nbytes:
            choice = fewer
        else:
            needed.add(candidate[1:])
    return choice


def descend(
    search: Search, choices: Sequence[frozenset[int]], calls: Sequence[Candidate], limit: int
) -> frozenset[int]:
    """The first of some choices that fits, without calls that it does not need; the last one is known to fit.

    Of equal calls the last are dropped first, whose values exist for the shortest time, and bisection finds how many.
    So a network of equal layers takes a few dry runs, however deep it is.
    """
    descent, least, most = Descent(search, choices[-1], limit), 0, len(choices) - 1
    while least < most:
        middle = (least + most) // 2
        if descent.take(choices[middle]):
            most = middle
        else:
            least = middle + 1
    alike: dict[tuple[int, int], list[int]] = {}
    for call in sorted(calls, key=lambda x: (-x.flops, -x.number)):
        if call.number in descent.choice:
            alike.setdefault(call[1:], []).append(call.number)
    for numbers in list(alike.values())[:DROPS]:
        everything, least, most = descent.choice, 0, len(numbers)
        while least < most:
            middle = (least + most + 1) // 2
            if descent.take(everything - {*numbers[:middle]}):
                least = middle
            else:
                most = middle - 1
    return descent.choice
