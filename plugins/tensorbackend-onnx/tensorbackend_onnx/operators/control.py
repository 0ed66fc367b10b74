"""Branches and loops.

What decides on a branch or an iteration is read where it is known. Else a branch is `tb.cond`, and a loop is
`tb.while_loop`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any

import tensorbackend as tb
from tensorbackend import Tensor
from tensorbackend.errors import ShapeError, TemplateDataError, expected

from .registry import Given, Maybe, Node, Reading, Value, operator, read, refuse

Body = Callable[..., tuple[Value, ...]]

FOREVER = 2**63 - 1


@operator("If")
def if_(condition: Tensor, *, then_branch: Body, else_branch: Body) -> tuple[Value, ...]:
    """The results of one of two graphs.

    Where the condition is not known, both need the same shapes; but a result of one element may have axes in one of
    them alone, as models of Paddle have it, and then has none.
    """
    chosen = tb.reshape(condition, ())
    if tb.is_concrete(chosen):
        return then_branch() if chosen.item() else else_branch()
    try:
        return tuple(tb.cond(chosen, lambda: list(then_branch()), lambda: list(else_branch())))
    except ShapeError:
        return tuple(tb.cond(chosen, lambda: _without_axes(then_branch()), lambda: _without_axes(else_branch())))


def _without_axes(values: Sequence[Value]) -> list[Value]:
    """Values, those of one element without axes."""
    return [tb.reshape(x, ()) if isinstance(x, Tensor) and x.size == 1 else x for x in values]


@operator("Loop")
def loop(limit: Maybe, condition: Maybe, *state: Value, body: Any, node: Node) -> tuple[Value, ...]:
    """A loop over a graph, up to a number of iterations and while a condition holds.

    The graph gets the number of the iteration, the condition and the state, and returns the condition, the state and
    what is collected of each iteration.
    """
    known = [x for x in (limit, condition) if x is not None]
    if not tb.is_concrete(*known):
        return _traced_loop(limit, condition, state, body)
    count = FOREVER if limit is None else read(limit, Reading.INT)
    goes_on = True if condition is None else read(condition, Reading.BOOL)
    start, collected, iteration = state, list[tuple[Value, ...]](), 0
    flag = tb.tensor(True, backend="binary") if condition is None else condition
    while goes_on and iteration < count:
        flag, *results = body(tb.tensor(iteration, backend="binary"), flag, *state)
        if not tb.is_concrete(flag):
            return _traced_loop(limit, condition, start, body)
        goes_on = bool(tb.reshape(flag, ()).item())
        state = tuple(results[: len(start)])
        collected.append(tuple(results[len(start) :]))
        iteration += 1
    kinds = body.graph.types[len(body.graph.types) + len(start) - len(node.outputs) :]
    return *state, *(stacked(collected) if collected else map(_nothing, kinds))


def stacked(rows: Sequence[tuple[Value, ...]]) -> list[Tensor]:
    """What is collected of each iteration, one after another."""
    return [tb.stack(list(column)) for column in zip(*rows, strict=True)]


def _nothing(kind: Any) -> Tensor:
    """What is collected of no iteration: no entries, of the shape and dtype that the graph says."""
    return tb.zeros((0, *(size or 0 for size in kind.shape or ())), dtype=kind.dtype, backend="binary")


def _traced_loop(limit: Maybe, condition: Maybe, state: tuple[Value, ...], body: Body) -> tuple[Value, ...]:
    """A loop whose end depends on data that is not known; it collects nothing."""
    most = FOREVER if limit is None else tb.reshape(limit, ()).astype(tb.int64)
    flag = tb.tensor(True) if condition is None else tb.reshape(condition, ())

    def goes_on(carry: Any) -> Tensor:
        iteration, flag, _ = carry
        return tb.logical_and(flag, iteration < most)

    def step(carry: Any) -> Any:
        iteration, flag, inner = carry
        flag, *results = body(iteration, flag, *inner)
        if len(results) > len(state):
            raise TemplateDataError(
                expected("a loop whose number of iterations is known, as it collects results", "give its end as data")
            )
        return iteration + 1, tb.reshape(flag, ()), tuple(results)

    like = next((x for x in (limit, condition, *state) if isinstance(x, Tensor) and not tb.is_concrete(x)), None)
    iteration = tb.zeros((), dtype=tb.int64, like=like)
    *_, final = tb.while_loop(goes_on, step, (iteration, flag, tuple(state)))
    return tuple(final)


@operator("Scan")
def scan_of_batches(lengths: Maybe, *values: Tensor, body: Body, given: Given) -> tuple[Value, ...]:
    """`scan` of opset 8, whose first axis is that of examples."""
    refuse(sequence_lens=None if lengths is None else lengths.shape)
    own = Given(num_scan_inputs=given.num_scan_inputs, scan_input_directions=given.directions)
    inputs = ([tb.take(value, example, axis=0) for value in values] for example in range(values[0].shape[0]))
    return tuple(stacked([scan(*each, body=body, given=own) for each in inputs]))


@operator("Scan", since=9)
def scan(*values: Tensor, body: Body, given: Given) -> tuple[Value, ...]:
    """A graph for each entry along an axis of some inputs, which gets a state and returns the next."""
    count = len(values) - given.num_scan_inputs
    state, inputs = values[:count], values[count:]
    ends = zip(given.scan_input_axes or repeat(0), given.scan_input_directions or repeat(0), inputs, strict=False)
    entries = [_turned(tb.moveaxis(value, axis, 0), backwards) for axis, backwards, value in ends]
    state, collected = (_each if tb.is_concrete(*values) else _scanned)(body, state, entries)
    ends = zip(given.scan_output_axes or repeat(0), given.scan_output_directions or repeat(0), collected, strict=False)
    return *state, *(tb.moveaxis(_turned(value, backwards), 0, axis) for axis, backwards, value in ends)


def _turned(x: Tensor, backwards: int) -> Tensor:
    return tb.flip(x, axis=0) if backwards else x


def _each(body: Body, state: tuple[Tensor, ...], entries: list[Tensor]) -> tuple[tuple[Tensor, ...], list[Tensor]]:
    """One entry after another."""
    collected: list[tuple[Value, ...]] = []
    for step in range(entries[0].shape[0]):
        results = body(*state, *(tb.take(entry, step, axis=0) for entry in entries))
        state = results[: len(state)]
        collected.append(results[len(state) :])
    return state, stacked(collected)


def _scanned(body: Body, state: tuple[Tensor, ...], entries: list[Tensor]) -> tuple[tuple[Tensor, ...], list[Tensor]]:
    """One `tb.scan`, whose state is where the entries are."""
    home = tb.backend_of(*state, *entries)
    carried = tuple(tb.asarray(x, backend=home) for x in state)

    def step(carry: Any, xs: Any) -> Any:
        results = body(*carry, *xs)
        return tuple(tb.asarray(x, backend=home) for x in results[: len(state)]), list(results[len(state) :])

    final, collected = tb.scan(step, carried, list(entries))
    return tuple(final), list(collected)
