"""Connectionist temporal classification: the loss of labels that are not aligned with frames, and its best path.

Between the labels, before and after them stand blanks: L labels are 2 * L + 1 states, of which a path goes through one
for each frame. From a state it goes to the same one, to the next, or to the one after that where the next is a blank
between two different labels (Graves et al. 2006, section 4.1).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from ..dtypes import DType, float32, promote_types
from ..entry import entry
from ..errors import ArgumentError, DTypeError, ShapeError, expected
from ..expr.control import scan
from ..expr.grad.custom import custom_gradient
from ..ops.composite.cumulative import cumulative_sum
from ..ops.composite.elementwise.gradients import stop_gradient
from ..ops.composite.reduction import log_softmax, logsumexp, softmax
from ..ops.composite.shape.arranging import stack
from ..ops.creation.filled import full, iota, rename
from ..ops.creation.values import together
from ..ops.elementwise.binary import (
    add,
    equal,
    less,
    logical_and,
    maximum,
    multiply,
    not_equal,
    subtract,
)
from ..ops.elementwise.conversion import astype
from ..ops.elementwise.ternary import where
from ..ops.elementwise.transcendental import exp, log
from ..ops.elementwise.unary import negative
from ..ops.indexing.scatter import indexed_put
from ..ops.indexing.slices import sliced
from ..ops.indexing.taking import take
from ..ops.reduction import argmax, max, sum
from ..ops.shape import broadcast_to, concatenate, expand_dims, permute_dims, reshape
from ..rules.axes import normalize_axis
from ..rules.broadcasting import broadcast, check_dtype, to_floating
from ..template import Names, Shape, intern_template, merge_names
from ..tensor import Axis, Tensor, TensorLike

NEVER = -1e30
"""The logarithm of the probability of what cannot be: finite, so that neither sums nor differences are NaN."""


class Decoded(NamedTuple):
    """What `ctc_best_path` gives."""

    labels: Tensor
    lengths: Tensor


class _Frames(NamedTuple):
    """Logits with one batch axis in front: (batch, time, classes), without names."""

    logits: Tensor
    inside: Tensor
    """(batch, time): which frames there are."""
    shape: Shape
    names: Names
    """Those of the batch axes of the logits."""

    def back(self, x: Tensor) -> Tensor:
        """A tensor (batch, ...) with the batch axes of the logits."""
        rest = x.shape[1:]
        return reshape(x, (*self.shape, *rest), names=(*self.names, *x.names[1:]))


def _flat(x: Tensor, shape: Shape, names: Names, what: str) -> Tensor:
    """Lengths, say, for each example of the batch, along one axis."""
    wanted = intern_template(shape, x.dtype, names)
    if broadcast([wanted, x.template])[0] != shape:
        raise ShapeError(expected(f"{what} that broadcast to {wanted!r}", **{what: x.template}))
    return reshape(broadcast_to(x, shape), (-1,) if math.prod(shape) else (0,), names=(None,))


def _integers(x: Tensor, what: str) -> Tensor:
    if not x.dtype.is_integer:
        raise DTypeError(expected(f"{what} of an integer dtype", **{what.replace(" ", "_"): x.template}))
    return astype(x, "int64")


def _frames(logits: Tensor, lengths: TensorLike | None, time: Axis, axis: Axis) -> _Frames:
    along, classes = normalize_axis(logits.template, time), normalize_axis(logits.template, axis)
    if along == classes:
        raise ShapeError(expected("two axes, for frames and classes", time=time, axis=axis))
    batch = [each for each in range(logits.ndim) if each not in (along, classes)]
    shape, names = tuple(logits.shape[each] for each in batch), tuple(logits.names[each] for each in batch)
    moved = permute_dims(logits, (*batch, along, classes))
    sizes = (math.prod(shape), *moved.shape[-2:])
    flat = reshape(moved, sizes, names=(None,) * 3)
    place = iota(sizes[:2], axis=1, dtype="int64", like=logits)
    if lengths is None:
        return _Frames(flat, less(place, sizes[1]), shape, names)
    given = _flat(_integers(together(logits, lengths)[1], "lengths"), shape, names, "lengths")
    return _Frames(flat, less(place, expand_dims(given, axis=1)), shape, names)


# The sums over all paths


def _possible(x: Tensor, dtype: DType) -> Tensor:
    """The logarithm of 1 where something holds, and of almost 0 elsewhere."""
    return where(x, full((), 0, dtype=dtype, like=x), NEVER)


def _shifted(x: Tensor, by: int) -> Tensor:
    """(batch, states) with each state's entry from so many states before, or after for a negative number."""
    edge = full((x.shape[0], min(abs(by), x.shape[1])), NEVER, dtype=x.dtype, like=x)
    if by > 0:
        return concatenate([edge, sliced(x, (slice(None), slice(x.shape[1] - by if by < x.shape[1] else 0)))], axis=1)
    return concatenate([sliced(x, (slice(None), slice(-by, None))), edge], axis=1)


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


def _forward(emitted: Tensor, skips: Tensor, inside: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """For each frame and state the logarithm of the probability of the paths up to it, but for a summand of the frame.

    The summand keeps the numbers small, and so exact: it is their greatest. Gives the sum of all summands, a column,
    those of the last frame, and those of all frames, (time, batch, states). `emitted` (time, batch, states) is the
    logarithm of each state's probability, `skips` is 0 where a state may follow the second one before it, else `NEVER`.
    """
    _, rows, states = emitted.shape
    first = broadcast_to(_possible(equal(iota(states, like=emitted), 0), emitted.dtype), (rows, states))

    def step(carry: tuple[Tensor, Tensor], frame: tuple[Tensor, Tensor]) -> tuple[tuple[Tensor, Tensor], Tensor]:
        (summed, before), (log_probability, held) = carry, frame
        paths = _sum_of_three(before, _shifted(before, 1), add(_shifted(before, 2), skips))
        lowered, most = _lowered(add(paths, log_probability))
        after = where(held, lowered, before)
        return (where(held, add(summed, most), summed), after), after

    zero = full((rows, 1), 0, dtype=emitted.dtype, like=emitted)
    (summed, last), forward = scan(step, (zero, first), (emitted, inside))
    return summed, last, forward


def _posteriors(emitted: Tensor, skips: Tensor, inside: Tensor, ends: Tensor, forward: Tensor) -> Tensor:
    """For each frame the probability of each state, given the labels: (time, batch, states)."""
    ahead = _shifted(skips, -2)

    def step(after: Tensor, frame: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        log_probability, held = frame
        here = add(after, log_probability)
        before, _ = _lowered(_sum_of_three(here, _shifted(here, -1), add(_shifted(here, -2), ahead)))
        return where(held, before, after), after

    _, backward = scan(step, ends, (emitted, inside), reverse=True)
    return where(inside, softmax(add(forward, backward), axis=-1), 0)


@custom_gradient
def _loss(
    emitted: Tensor, skips: Tensor, inside: Tensor, ends: Tensor, forward: Tensor, total: Tensor
) -> tuple[Tensor, Callable[[Tensor], tuple[Tensor | None, ...]]]:
    """Minus the total, whose gradient by what is emitted is minus the probability of each state."""

    def pull(cotangent: Tensor) -> tuple[Tensor | None, ...]:
        possible = less(NEVER / 2, total)
        found = _posteriors(emitted, skips, inside, ends, forward)
        return multiply(found, where(possible, negative(cotangent), 0)), None, None, None, None, None

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
    """
    logits, labels = together(logits, labels)
    dtype = to_floating(check_dtype(logits.dtype, "real"))
    classes = logits.shape[normalize_axis(logits.template, axis)]
    if not -classes <= blank < classes:
        raise ArgumentError(expected(f"a blank from {-classes} to {classes - 1}", blank=blank))
    frames = _frames(logits, logit_lengths, time, axis)
    frames, targets, counts = _targets(frames, labels, label_lengths)
    wide = astype(frames.logits, promote_types(dtype, float32))
    scores = wide if normalised else log_softmax(wide, axis=-1)
    states, skips = _states(targets, counts, blank % classes, classes, wide.dtype)
    emitted = permute_dims(maximum(take(scores, states, axis=2, batch=0), NEVER), (1, 0, 2))
    inside = expand_dims(permute_dims(frames.inside, (1, 0)), axis=2)
    last = expand_dims(multiply(counts, 2), axis=1)
    place = iota(states.shape[1], dtype="int64", like=states)
    finals = logical_and(less(place, add(last, 1)), less(subtract(last, 2), place))  # the last label, the last blank
    ends = _possible(finals, wide.dtype)
    constant = stop_gradient(emitted)
    summed, reached, forward = _forward(constant, skips, inside)
    total = maximum(add(summed, logsumexp(add(reached, ends), axis=-1, keepdims=True)), NEVER)
    losses = _loss(emitted, skips, inside, ends, forward, total)
    losses = where(less(losses, -NEVER / 2), losses, math.inf)
    return frames.back(reshape(astype(losses, dtype), (losses.shape[0],), names=(None,)))


def _targets(frames: _Frames, labels: Tensor, lengths: TensorLike | None) -> tuple[_Frames, Tensor, Tensor]:
    """The frames with the names that labels add, labels as (batch, positions), and how many each example has."""
    if not labels.ndim:
        raise ShapeError(expected("labels with an axis of positions", labels=labels.template))
    batch = intern_template(labels.shape[:-1], labels.dtype, labels.names[:-1])
    wanted = intern_template(frames.shape, labels.dtype, frames.names)
    if batch.shape != frames.shape:
        raise ShapeError(expected(f"labels for each example of {wanted!r}", labels=labels.template))
    frames = frames._replace(names=merge_names(wanted, batch))
    size = labels.shape[-1]
    flat = reshape(_integers(labels, "labels"), (frames.inside.shape[0], size), names=(None, None))
    if lengths is None:
        return frames, flat, full(flat.shape[:1], size, dtype="int64", like=flat)
    given = _integers(together(labels, lengths)[1], "lengths")
    return frames, flat, _flat(given, frames.shape, frames.names, "lengths")


def _states(targets: Tensor, counts: Tensor, blank: int, classes: int, dtype: DType) -> tuple[Tensor, Tensor]:
    """The class of each state, (batch, states), and the `skips` of `_forward`."""
    rows, size = targets.shape
    there = less(iota(size, dtype="int64", like=targets), expand_dims(counts, axis=1))
    # What is no class is one too many, which reading finds out.
    valid = where(there, where(less(targets, 0), classes, targets), blank)
    blanks = full((rows, size), blank, dtype="int64", like=targets)
    pairs = reshape(stack([blanks, valid], axis=2), (rows, 2 * size), names=(None, None))
    states = concatenate([pairs, full((rows, 1), blank, dtype="int64", like=targets)], axis=1)
    before = concatenate([full((rows, min(2, 2 * size + 1)), blank, dtype="int64", like=targets), states], axis=1)
    other = not_equal(states, sliced(before, (slice(None), slice(states.shape[1]))))
    may_skip = logical_and(not_equal(states, blank), other)
    return states, _possible(may_skip, dtype)


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
    classes = logits.shape[normalize_axis(logits.template, axis)]
    if not -classes <= blank < classes:
        raise ArgumentError(expected(f"a blank from {-classes} to {classes - 1}", blank=blank))
    frames = _frames(logits, lengths, time, axis)
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
