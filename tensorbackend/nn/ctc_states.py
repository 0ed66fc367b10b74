"""The states of connectionist temporal classification, through which paths lead from frame to frame.

Between the labels, before and after them stand blanks: L labels are 2 * L + 1 states, of which a path goes through one
for each frame. From a state it goes to the same one, to the next, or to the one after that where the next is a blank
between two different labels (Graves et al. 2006, section 4.1). Where labels do not repeat, a path leaves each label
after one frame, and a blank between two labels is never needed (Sak et al. 2017).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ..dtypes import DType, float32, promote_types
from ..errors import ArgumentError, DTypeError, ShapeError, expected
from ..ops.composite.reduction import log_softmax
from ..ops.composite.shape.arranging import stack
from ..ops.creation.filled import full, iota
from ..ops.creation.values import together
from ..ops.elementwise.binary import add, equal, less, logical_and, maximum, multiply, not_equal, subtract
from ..ops.elementwise.conversion import astype
from ..ops.elementwise.ternary import where
from ..ops.indexing.slices import sliced
from ..ops.indexing.taking import take
from ..ops.shape import broadcast_to, concatenate, expand_dims, permute_dims, reshape
from ..rules.axes import normalize_axis
from ..rules.broadcasting import broadcast, check_dtype, to_floating
from ..template import Names, Shape, intern_template, merge_names
from ..tensor import Axis, Tensor, TensorLike

NEVER = -1e30
"""The logarithm of the probability of what cannot be: finite, so that neither sums nor differences are NaN."""


class Frames(NamedTuple):
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


def _repeated(x: Tensor, shape: Shape, names: Names, what: str) -> Tensor:
    """Lengths, say, for each example of the batch, along one axis."""
    wanted = intern_template(shape, x.dtype, names)
    if broadcast([wanted, x.template])[0] != shape:
        raise ShapeError(expected(f"{what} that broadcast to {wanted!r}", **{what: x.template}))
    return reshape(broadcast_to(x, shape), (-1,) if math.prod(shape) else (0,), names=(None,))


def _integers(x: Tensor, what: str) -> Tensor:
    if not x.dtype.is_integer:
        raise DTypeError(expected(f"{what} of an integer dtype", **{what.replace(" ", "_"): x.template}))
    return astype(x, "int64")


def frames_of(logits: Tensor, lengths: TensorLike | None, time: Axis, axis: Axis) -> Frames:
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
        return Frames(flat, less(place, sizes[1]), shape, names)
    given = _repeated(_integers(together(logits, lengths)[1], "lengths"), shape, names, "lengths")
    return Frames(flat, less(place, expand_dims(given, axis=1)), shape, names)


def possible(x: Tensor, dtype: DType) -> Tensor:
    """The logarithm of 1 where something holds, and of almost 0 elsewhere."""
    return where(x, full((), 0, dtype=dtype, like=x), NEVER)


def shifted(x: Tensor, by: int) -> Tensor:
    """(batch, states) with each state's entry from so many states before, or after for a negative number."""
    edge = full((x.shape[0], min(abs(by), x.shape[1])), NEVER, dtype=x.dtype, like=x)
    if by > 0:
        return concatenate([edge, sliced(x, (slice(None), slice(x.shape[1] - by if by < x.shape[1] else 0)))], axis=1)
    return concatenate([sliced(x, (slice(None), slice(-by, None))), edge], axis=1)


class Paths(NamedTuple):
    """What leads from frame to frame through the states of labels."""

    frames: Frames
    time: str | None
    """The name of the axis of the frames."""
    dtype: DType
    """Of the logits, as floating."""
    scores: Tensor
    """(batch, time, classes): logarithms of probabilities, in float32 at least."""
    classes: Tensor
    """(batch, states): the class of each state."""
    emitted: Tensor
    """(time, batch, states): the logarithm of each state's probability."""
    inside: Tensor
    """(time, batch, 1): which frames there are."""
    skips: Tensor
    """(batch, states): 0 where a state may follow the second one before it, else `NEVER`."""
    stays: Tensor | None
    """(batch, states): 0 where a state may follow itself, else `NEVER`; `None` where each may."""
    ends: Tensor
    """(batch, states): 0 where a path may end, at the last label and the last blank, else `NEVER`."""

    def first(self) -> Tensor:
        """(batch, states): 0 where a path is before the first frame, at the first blank, else `NEVER`."""
        _, rows, states = self.emitted.shape
        begin = possible(equal(iota(states, like=self.emitted), 0), self.emitted.dtype)
        return broadcast_to(begin, (rows, states))


def check_blank(logits: Tensor, blank: int, axis: Axis) -> int:
    """How many classes there are; raises `ArgumentError` for a blank that is none of them."""
    classes = logits.shape[normalize_axis(logits.template, axis)]
    if not -classes <= blank < classes:
        raise ArgumentError(expected(f"a blank from {-classes} to {classes - 1}", blank=blank))
    return classes


def paths_of(
    logits: TensorLike,
    labels: TensorLike,
    logit_lengths: TensorLike | None,
    label_lengths: TensorLike | None,
    blank: int,
    normalised: bool,
    repeats: bool,
    time: Axis,
    axis: Axis,
) -> Paths:
    """The paths of labels through frames."""
    logits, labels = together(logits, labels)
    dtype = to_floating(check_dtype(logits.dtype, "real"))
    classes = check_blank(logits, blank, axis)
    frames, targets, counts = _targets(frames_of(logits, logit_lengths, time, axis), labels, label_lengths)
    wide = astype(frames.logits, promote_types(dtype, float32))
    scores = wide if normalised else log_softmax(wide, axis=-1)
    states, skips, stays = _states(targets, counts, blank % classes, classes, wide.dtype, repeats)
    emitted = permute_dims(maximum(take(scores, states, axis=2, batch=0), NEVER), (1, 0, 2))
    inside = expand_dims(permute_dims(frames.inside, (1, 0)), axis=2)
    last = expand_dims(multiply(counts, 2), axis=1)
    place = iota(states.shape[1], dtype="int64", like=states)
    finals = logical_and(less(place, add(last, 1)), less(subtract(last, 2), place))  # the last label, the last blank
    ends = possible(finals, wide.dtype)
    name = logits.names[normalize_axis(logits.template, time)]
    return Paths(frames, name, dtype, scores, states, emitted, inside, skips, stays, ends)


def _targets(frames: Frames, labels: Tensor, lengths: TensorLike | None) -> tuple[Frames, Tensor, Tensor]:
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
    return frames, flat, _repeated(given, frames.shape, frames.names, "lengths")


def _states(
    targets: Tensor, counts: Tensor, blank: int, classes: int, dtype: DType, repeats: bool
) -> tuple[Tensor, Tensor, Tensor | None]:
    """The class of each state, (batch, states), then `skips` and `stays` of `Paths`."""
    rows, size = targets.shape
    there = less(iota(size, dtype="int64", like=targets), expand_dims(counts, axis=1))
    # What is no class is one too many, which reading finds out.
    valid = where(there, where(less(targets, 0), classes, targets), blank)
    blanks = full((rows, size), blank, dtype="int64", like=targets)
    pairs = reshape(stack([blanks, valid], axis=2), (rows, 2 * size), names=(None, None))
    states = concatenate([pairs, full((rows, 1), blank, dtype="int64", like=targets)], axis=1)
    label = not_equal(states, blank)
    if not repeats:
        return states, possible(label, dtype), possible(equal(states, blank), dtype)
    before = concatenate([full((rows, min(2, 2 * size + 1)), blank, dtype="int64", like=targets), states], axis=1)
    other = not_equal(states, sliced(before, (slice(None), slice(states.shape[1]))))
    return states, possible(logical_and(label, other), dtype), None
