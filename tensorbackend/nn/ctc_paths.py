"""The paths of CTC that emit labels: calls of its callbacks, which handle all paths at once, and their defaults.

The defaults serve backends without callbacks of their own. There are blanks before, between and after the labels, so L
labels make 2 * L + 1 states. In each frame a path is in one state. From there it stays, moves to the next state, or
skips the next state if that is a blank between two different labels (Graves et al. 2006, section 4.1). If labels do not
repeat, a path leaves each label after one frame, and needs no blank between two equal labels (Sak et al. 2017).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import MappingProxyType
from typing import Any, NamedTuple

from ..dispatch import perform
from ..dispatch.narrow import composite_method
from ..dtypes import DType
from ..expr.control import scan
from ..expr.grad.custom import custom_gradient
from ..ops.composite.reduction import logsumexp
from ..ops.composite.reduction.probabilities import softmax
from ..ops.composite.shape.arranging import stack
from ..ops.creation.filled import full, iota, zeros
from ..ops.elementwise.basic import where
from ..ops.elementwise.binary import less, logical_and, maximum, multiply
from ..ops.elementwise.transcendental import exp, log
from ..ops.indexing.scatter import gather, indexed_add
from ..ops.indexing.slices import slice_basic
from ..ops.indexing.taking import take_along_axis
from ..ops.reduction import argmax, max
from ..ops.shape import broadcast_to, concatenate, expand_dims, permute_dims, reshape
from ..protocol.callbacks import CompositeCall
from ..select import common_backend, move
from ..template import Template
from ..tensor import Tensor

NEVER = -1e30
"""The log-probability of what is impossible: finite, so that neither sums nor differences are NaN."""


class Examples(NamedTuple):
    """A batch of frames and labels, without names."""

    scores: Tensor
    """(batch, time, classes): logarithms of probabilities, of a floating dtype."""
    labels: Tensor
    """(batch, positions), int64."""
    frames: Tensor
    """(batch,), int64: the number of frames of each example."""
    counts: Tensor
    """(batch,), int64: the number of labels of each example."""


def loss(examples: Examples, blank: int, repeats: bool) -> Tensor:
    """The negative logarithm of the summed probability of all paths, infinite if there are none: (batch,)."""
    return _loss(*examples, blank, repeats)


@custom_gradient
def _loss(
    scores: Tensor, labels: Tensor, frames: Tensor, counts: Tensor, blank: int, repeats: bool
) -> tuple[Tensor, Callable[[Tensor], tuple[Tensor | None, ...]]]:
    examples = Examples(scores, labels, frames, counts)
    losses, forward = _call("ctc_forward", _templates(examples), examples, blank, repeats, _forward)

    def pull(cotangent: Tensor) -> tuple[Tensor | None, ...]:
        out = Template(scores.shape, scores.dtype)
        posteriors = _call("ctc_posteriors", out, (*examples, losses, forward), blank, repeats, _posteriors)
        return multiply(posteriors, -expand_dims(cotangent, axis=(1, 2))), *[None] * 5

    return losses, pull


def _templates(examples: Examples) -> tuple[Template, Template]:
    (batch, time, _), dtype = examples.scores.shape, examples.scores.dtype
    return Template((batch,), dtype), Template((time, batch, 2 * examples.labels.shape[1] + 1), dtype)


def _call(
    name: str, out: Any, inputs: tuple[Tensor, ...], blank: int, repeats: bool, default: Callable[..., Any]
) -> Any:
    """Call a callback of the protocol, or the default where the backend has none, or none with these options."""
    backend = common_backend(inputs)
    options = {"blank": blank} if repeats else {"blank": blank, "repeats": False}
    call = CompositeCall(out, tuple(move(x, backend) for x in inputs), MappingProxyType(options))
    method = composite_method(backend, name, out, [x.template for x in inputs], options)
    return perform(backend, name, call, method, default)


class _Lattice(NamedTuple):
    """The lattice that the paths go through."""

    states: Tensor
    """(batch, states): the class of each state."""
    emitted: Tensor
    """(time, batch, states): the log-probability of each state's class in each frame."""
    skips: Tensor
    """(batch, states): 0 where a path may enter a state from the second one before it, else `NEVER`."""
    stays: Tensor | None
    """(batch, states): 0 where a path may stay in a state, else `NEVER`; `None` if it may stay in all states."""
    inside: Tensor
    """(time, batch, 1): whether each frame is within the length of its example."""
    ends: Tensor
    """(batch, states): 0 where a path may end, else `NEVER`."""


def lattice(examples: Examples, blank: int, repeats: bool = True) -> _Lattice:
    """The lattice of the labels' states, with their log-probabilities in each frame."""
    scores, labels, frames, counts = examples
    states, skips, stays = _states(labels, counts, blank, scores.dtype, repeats)
    # By `gather`, for which a label of -1 is out of range: `take` would count it from the end.
    read = gather(permute_dims(scores, (0, 2, 1)), expand_dims(states, axis=2), batch=0)
    emitted = permute_dims(maximum(read, NEVER), (2, 0, 1))
    place = iota((scores.shape[1], 1, 1), axis=0, dtype="int64", like=scores)
    inside = place < expand_dims(frames, axis=1)
    last = expand_dims(counts * 2, axis=1)
    place = iota(states.shape[1], dtype="int64", like=states)
    finals = logical_and(place < last + 1, last - 2 < place)  # the last label, the last blank
    return _Lattice(states, emitted, skips, stays, inside, _possible(finals, scores.dtype))


def _states(
    targets: Tensor, counts: Tensor, blank: int, dtype: DType, repeats: bool
) -> tuple[Tensor, Tensor, Tensor | None]:
    """The class of each state, (batch, states), and `skips` and `stays` of the lattice."""
    rows, size = targets.shape
    there = iota(size, dtype="int64", like=targets) < expand_dims(counts, axis=1)
    valid = where(there, targets, blank)
    blanks = full((rows, size), blank, dtype="int64", like=targets)
    pairs = reshape(stack([blanks, valid], axis=2), (rows, 2 * size), names=(None, None))
    states = concatenate([pairs, full((rows, 1), blank, dtype="int64", like=targets)], axis=1)
    spells = states != blank
    if not repeats:
        return states, _possible(spells, dtype), _possible(states == blank, dtype)
    before = concatenate([full((rows, min(2, 2 * size + 1)), blank, dtype="int64", like=targets), states], axis=1)
    other = states != slice_basic(before, (slice(None), slice(states.shape[1])))
    return states, _possible(logical_and(spells, other), dtype), None


def _possible(x: Tensor, dtype: DType) -> Tensor:
    """0, the logarithm of 1, where x is true, and `NEVER` elsewhere."""
    return where(x, full((), 0, dtype=dtype, like=x), NEVER)


def _shift(x: Tensor, by: int) -> Tensor:
    """x, (batch, states), shifted: each state gets the entry of the state `by` before it (`NEVER` if there is none)."""
    edge = full((x.shape[0], min(abs(by), x.shape[1])), NEVER, dtype=x.dtype, like=x)
    if by > 0:
        return concatenate(
            [edge, slice_basic(x, (slice(None), slice(x.shape[1] - by if by < x.shape[1] else 0)))], axis=1
        )
    return concatenate([slice_basic(x, (slice(None), slice(-by, None))), edge], axis=1)


def _stay(x: Tensor, paths: _Lattice) -> Tensor:
    """The scores of the paths that stay in their state for one more frame."""
    return x if paths.stays is None else x + paths.stays


def _sum_of_three(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """log(exp(a) + exp(b) + exp(c))."""
    most = maximum(maximum(a, b), c)
    total = exp(a - most) + exp(b - most) + exp(c - most)
    return most + log(total)


def _subtract_max(paths: Tensor) -> tuple[Tensor, Tensor]:
    """Subtract from each row of logarithms its maximum, or 0 if no path is possible.

    Return the differences, and what was subtracted.
    """
    most = max(paths, axis=-1, keepdims=True)
    most = where(less(NEVER / 2, most), most, 0)
    return paths - most, most


def _start(paths: _Lattice) -> Tensor:
    """The scores before the first frame, (batch, states): a path begins in the first state, a blank."""
    _, rows, states = paths.emitted.shape
    first = _possible(iota(states, like=paths.emitted) == 0, paths.emitted.dtype)
    return broadcast_to(first, (rows, states))


def _forward(out: object, inputs: tuple[Tensor, ...], options: Any) -> tuple[Tensor, Tensor]:
    """Compute the losses, and the log-probability of the paths up to each frame and state.

    In each frame, the maximum is subtracted from all logarithms, which keeps them small and accurate.
    """
    paths = lattice(Examples(*inputs), **options)

    def step(carry: tuple[Tensor, Tensor], frame: tuple[Tensor, Tensor]) -> tuple[tuple[Tensor, Tensor], Tensor]:
        (summed, before), (log_probability, held) = carry, frame
        ways = _sum_of_three(_stay(before, paths), _shift(before, 1), _shift(before, 2) + paths.skips)
        lowered, most = _subtract_max(ways + log_probability)
        after = where(held, lowered, before)
        return (where(held, summed + most, summed), after), after

    zero = zeros((paths.emitted.shape[1], 1), dtype=paths.emitted.dtype, like=paths.emitted)
    (summed, last), forward = scan(step, (zero, _start(paths)), (paths.emitted, paths.inside))
    losses = -(slice_basic(summed, (slice(None), 0)) + logsumexp(last + paths.ends, axis=-1))
    return where(losses >= -NEVER / 2, math.inf, losses), forward


def _posteriors(out: object, inputs: tuple[Tensor, ...], options: Any) -> Tensor:
    """The probability of each class in each frame, given the labels: the sum over the states with that class."""
    *rest, losses, forward = inputs
    examples = Examples(*rest)
    paths = lattice(examples, **options)
    ahead = _shift(paths.skips, -2)

    def step(after: Tensor, frame: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        log_probability, held = frame
        here = after + log_probability
        before, _ = _subtract_max(_sum_of_three(_stay(here, paths), _shift(here, -1), _shift(here, -2) + ahead))
        return where(held, before, after), after

    _, backward = scan(step, paths.ends, (paths.emitted, paths.inside), reverse=True)
    there = logical_and(paths.inside, expand_dims(losses < math.inf, axis=1))
    by_state = where(there, softmax(forward + backward, axis=-1), 0)
    batch, time, classes = examples.scores.shape
    empty = zeros((batch, classes, time), dtype=by_state.dtype, like=by_state)
    by_class = indexed_add(empty, expand_dims(paths.states, axis=2), permute_dims(by_state, (1, 2, 0)), batch=0)
    return permute_dims(by_class, (0, 2, 1))


# The best path


class Alignment(NamedTuple):
    """The most probable path of each example."""

    classes: Tensor
    """(batch, time), int64: the class of each frame; the blank beyond the frames, and if no path spells the labels."""
    inside: Tensor
    """(batch, time): whether each frame is within the length of its example."""
    possible: Tensor
    """(batch,): whether any path spells the labels."""


def best(examples: Examples, blank: int, repeats: bool) -> Alignment:
    """The most probable path of each example.

    Of equally probable paths, it is the one that ends in the earliest state and then, traced back from the last frame,
    stays in each state for as long as possible.
    """
    paths = lattice(examples, blank, repeats)

    def step(before: Tensor, frame: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        log_probability, held = frame
        ways = stack([_stay(before, paths), _shift(before, 1), _shift(before, 2) + paths.skips], axis=0)
        lowered, _ = _subtract_max(max(ways, axis=0) + log_probability)
        return where(held, lowered, before), argmax(ways, axis=0)

    last, moves = scan(step, _start(paths), (paths.emitted, paths.inside))
    final_scores = last + paths.ends
    possible = less(NEVER / 2, max(final_scores, axis=-1))

    def back(state: Tensor, frame: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        moved, held = frame
        before = state - take_along_axis(moved, state, axis=1)
        return where(held, before, state), state

    _, path = scan(back, argmax(final_scores, axis=-1, keepdims=True), (moves, paths.inside), reverse=True)
    inside = permute_dims(reshape(paths.inside, paths.inside.shape[:2]), (1, 0))
    classes = take_along_axis(paths.states, permute_dims(reshape(path, path.shape[:2]), (1, 0)), axis=1)
    kept = logical_and(inside, expand_dims(possible, axis=1))
    return Alignment(where(kept, classes, blank), inside, possible)
