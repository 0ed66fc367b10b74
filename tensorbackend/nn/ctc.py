"""Connectionist temporal classification: the loss of labels that are not aligned with frames, and its best path."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from ..entry import entry
from ..expr.control import scan
from ..expr.grad.custom import custom_gradient
from ..ops.composite.cumulative import cumulative_sum
from ..ops.composite.elementwise.gradients import stop_gradient
from ..ops.composite.reduction import logsumexp, softmax
from ..ops.creation.filled import full, rename
from ..ops.creation.values import together
from ..ops.elementwise.binary import add, less, logical_and, maximum, multiply, not_equal, subtract
from ..ops.elementwise.conversion import astype
from ..ops.elementwise.ternary import where
from ..ops.elementwise.transcendental import exp, log
from ..ops.elementwise.unary import negative
from ..ops.indexing.scatter import indexed_put
from ..ops.indexing.slices import sliced
from ..ops.indexing.taking import take_along_axis
from ..ops.reduction import argmax, max, sum
from ..ops.shape import concatenate, expand_dims, reshape
from ..tensor import Axis, Tensor, TensorLike
from .ctc_alignment import best_states
from .ctc_states import NEVER, Paths, check_blank, frames_of, paths_of, shifted


class Decoded(NamedTuple):
    """What `ctc_best_path` gives."""

    labels: Tensor
    lengths: Tensor


# The sums over all paths


def _sum_of_three(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """log(exp(a) + exp(b) + exp(c))."""
    most = maximum(maximum(a, b), c)
    total = add(add(exp(subtract(a, most)), exp(subtract(b, most))), exp(subtract(c, most)))
    return add(most, log(total))


def _lowered(paths: Tensor) -> tuple[Tensor, Tensor]:
    """Logarithms less the greatest of their row, and that; 0 where nothing is possible."""
    most = max(paths, axis=-1, keepdims=True)
    most = where(less(NEVER / 2, most), most, 0)
    return subtract(paths, most), most


def _forward(paths: Paths) -> tuple[Tensor, Tensor, Tensor]:
    """For each frame and state the logarithm of the probability of the paths up to it, but for a summand of the frame.

    The summand keeps the numbers small, and so exact: it is their greatest. Gives the sum of all summands, a column,
    those of the last frame, and those of all frames, (time, batch, states).
    """
    skips, stays = paths.skips, paths.stays

    def step(carry: tuple[Tensor, Tensor], frame: tuple[Tensor, Tensor]) -> tuple[tuple[Tensor, Tensor], Tensor]:
        (summed, before), (log_probability, held) = carry, frame
        same = before if stays is None else add(before, stays)
        reached = _sum_of_three(same, shifted(before, 1), add(shifted(before, 2), skips))
        lowered, most = _lowered(add(reached, log_probability))
        after = where(held, lowered, before)
        return (where(held, add(summed, most), summed), after), after

    zero = full((paths.emitted.shape[1], 1), 0, dtype=paths.emitted.dtype, like=paths.emitted)
    (summed, last), forward = scan(step, (zero, paths.first()), (paths.emitted, paths.inside))
    return summed, last, forward


def _posteriors(
    emitted: Tensor, skips: Tensor, stays: Tensor | None, inside: Tensor, ends: Tensor, forward: Tensor
) -> Tensor:
    """For each frame the probability of each state, given the labels: (time, batch, states)."""
    ahead = shifted(skips, -2)

    def step(after: Tensor, frame: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        log_probability, held = frame
        here = add(after, log_probability)
        same = here if stays is None else add(here, stays)
        before, _ = _lowered(_sum_of_three(same, shifted(here, -1), add(shifted(here, -2), ahead)))
        return where(held, before, after), after

    _, backward = scan(step, ends, (emitted, inside), reverse=True)
    return where(inside, softmax(add(forward, backward), axis=-1), 0)


@custom_gradient
def _loss(
    emitted: Tensor,
    skips: Tensor,
    stays: Tensor | None,
    inside: Tensor,
    ends: Tensor,
    forward: Tensor,
    total: Tensor,
) -> tuple[Tensor, Callable[[Tensor], tuple[Tensor | None, ...]]]:
    """Minus the total, whose gradient by what is emitted is minus the probability of each state."""

    def pull(cotangent: Tensor) -> tuple[Tensor | None, ...]:
        found = _posteriors(emitted, skips, stays, inside, ends, forward)
        share = where(less(NEVER / 2, total), negative(cotangent), 0)
        return multiply(found, share), None, None, None, None, None, None

    return negative(total), pull


@entry
def ctc_loss(
    logits: TensorLike,
    labels: TensorLike,
    /,
    *,
    logit_lengths: TensorLike | None = None,
    label_lengths: TensorLike | None = None,
    blank: int = 0,
    normalised: bool = False,
    repeats: bool = True,
    best: bool = False,
    time: Axis = -2,
    axis: Axis = -1,
) -> Tensor:
    """Minus the logarithm of the probability that frames spell labels, summed over all alignments (Graves et al. 2006).

    Parameters
    ----------
    logits : Tensor
        Frames, classes and batch axes; `softmax` makes probabilities of them.
    labels : Tensor
        (batch..., positions): classes, none of which is the blank. What stands beyond a length may be anything.
    logit_lengths, label_lengths : Tensor, optional
        How many frames and labels each example has; they broadcast to the batch axes. By default all.
    blank : int, default 0
        The class that spells nothing; negative ones count from the end.
    normalised : bool, default False
        Whether the logits are logarithms of probabilities already.
    repeats : bool, default True
        Whether several frames in a row may spell one label, and a blank must part two equal ones; else each frame but
        the blanks spells a label of its own (Sak et al. 2017).
    best : bool, default False
        Whether only the most probable alignment counts, that of `ctc_alignment`, instead of the sum over all.
    time, axis : int or str, default -2 and -1
        The axis of the frames, and that of the classes.

    Returns
    -------
    Tensor
        A loss for each example, computed in float32 at least, in the dtype of the logits: infinite for labels that do
        not fit into the frames, with a gradient of 0. No frames spell no labels, with a loss of 0.

    Raises
    ------
    ShapeError
        For labels or lengths that do not have the batch axes of the logits.
    NamesError
        Where axes of two names meet.
    DTypeError
        For labels or lengths that are no integers.
    ArgumentError
        For a blank that is no class.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> logits = tb.zeros((1, 3, 2), names=("batch", "time", "class"))
    >>> loss = tb.nn.ctc_loss(logits, tb.asarray([[1]]))  # six of the eight sequences spell it
    >>> round(tb.exp(-loss).item(), 6)
    0.75

    References
    ----------
    A. Graves, S. Fernández, F. Gomez, J. Schmidhuber: Connectionist temporal classification, ICML 2006.

    H. Sak, M. Shannon, K. Rao, F. Beaufays: Recurrent neural aligner, Interspeech 2017.
    """
    paths = paths_of(logits, labels, logit_lengths, label_lengths, blank, normalised, repeats, time, axis)
    if best:
        losses = _best(paths)
    else:
        constant = paths._replace(emitted=stop_gradient(paths.emitted))
        summed, reached, forward = _forward(constant)
        total = add(summed, logsumexp(add(reached, paths.ends), axis=-1, keepdims=True))
        total = maximum(total, NEVER)
        losses = _loss(paths.emitted, paths.skips, paths.stays, paths.inside, paths.ends, forward, total)
    losses = where(less(losses, -NEVER / 2), losses, math.inf)
    return paths.frames.back(reshape(astype(losses, paths.dtype), (losses.shape[0],), names=(None,)))


def _best(paths: Paths) -> Tensor:
    """Minus the logarithm of the probability of the best path, a column."""
    places, reached = best_states(paths)
    chosen = take_along_axis(paths.emitted, expand_dims(places, axis=2), axis=2)
    total = sum(where(paths.inside, chosen, 0), axis=0)
    return where(less(NEVER / 2, reached), negative(total), -NEVER)


@entry
def ctc_best_path(
    logits: TensorLike,
    /,
    *,
    lengths: TensorLike | None = None,
    blank: int = 0,
    time: Axis = -2,
    axis: Axis = -1,
    name: str | None = None,
) -> Decoded:
    """The labels that the most probable class of each frame spells: repetitions taken once, then blanks left out.

    Parameters
    ----------
    logits : Tensor
        Frames, classes and batch axes, as in `ctc_loss`.
    lengths : Tensor, optional
        How many frames each example has; broadcasts to the batch axes. By default all.
    blank : int, default 0
        The class that spells nothing; negative ones count from the end.
    time, axis : int or str, default -2 and -1
        The axis of the frames, and that of the classes.
    name : str, optional
        Of the labels' axis.

    Returns
    -------
    Decoded
        The labels, (batch..., frames), int64, with blanks beyond their number, and how many there are.

    Raises
    ------
    ShapeError
        For lengths that do not broadcast to the batch axes.
    DTypeError
        For lengths that are no integers.
    ArgumentError
        For a blank that is no class.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> frames = tb.nn.one_hot(tb.asarray([[0, 2, 2, 0, 2, 1]]), 3)
    >>> labels, lengths = tb.nn.ctc_best_path(frames)
    >>> labels.tolist(), lengths.tolist()
    ([[2, 2, 1, 0, 0, 0]], [3])
    """
    (logits,) = together(logits)
    classes = check_blank(logits, blank, axis)
    frames = frames_of(logits, lengths, time, axis)
    best = argmax(frames.logits, axis=-1)
    rows, size = best.shape
    start = full((rows, min(1, size)), -1, dtype="int64", like=best)
    before = concatenate([start, sliced(best, (slice(None), slice(size - 1 if size else 0)))], axis=1)
    spelt = logical_and(not_equal(best, blank % classes), logical_and(not_equal(best, before), frames.inside))
    number = astype(spelt, "int64")
    # Each goes to the place of its number; what is left out goes beyond the end.
    place = where(spelt, subtract(cumulative_sum(number, axis=1), 1), size)
    empty = full((rows, size), blank % classes, dtype="int64", like=best)
    found = indexed_put(empty, expand_dims(place, axis=2), best, mode="fill", batch=0)
    return Decoded(frames.back(rename(found, None, name)), frames.back(sum(number, axis=1)))
