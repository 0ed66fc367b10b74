"""The most probable alignment of labels with frames (Viterbi 1967)."""

from __future__ import annotations

from ..entry import entry
from ..expr.control import scan
from ..ops.composite.elementwise.gradients import stop_gradient
from ..ops.creation.filled import rename
from ..ops.elementwise.binary import add, equal, less, logical_and, maximum, subtract
from ..ops.elementwise.ternary import where
from ..ops.indexing.taking import take_along_axis
from ..ops.reduction import argmax, max
from ..ops.shape import expand_dims, permute_dims, squeeze
from ..tensor import Axis, Tensor, TensorLike
from .ctc_states import NEVER, Paths, paths_of, shifted


def best_states(paths: Paths) -> tuple[Tensor, Tensor]:
    """The state of each frame on the best path, (time, batch), and the logarithm of its probability, a column."""
    skips, stays = paths.skips, paths.stays

    def step(before: Tensor, frame: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        log_probability, held = frame
        same = before if stays is None else add(before, stays)
        neighbour, second = shifted(before, 1), add(shifted(before, 2), skips)
        most = maximum(maximum(same, neighbour), second)
        back = where(equal(same, most), 0, where(equal(neighbour, most), 1, 2))
        after = maximum(add(most, log_probability), NEVER)
        return where(held, after, before), where(held, back, 0)

    given = stop_gradient(paths.emitted)
    last, back = scan(step, paths.first(), (given, paths.inside))
    reached = maximum(add(last, paths.ends), NEVER)
    final = expand_dims(argmax(reached, axis=-1), axis=1)

    def trace(state: Tensor, steps: Tensor) -> tuple[Tensor, Tensor]:
        return subtract(state, take_along_axis(steps, state, axis=1)), squeeze(state, axis=1)

    _, places = scan(trace, final, back, reverse=True)
    return places, max(reached, axis=-1, keepdims=True)


@entry
def ctc_alignment(
    logits: TensorLike,
    labels: TensorLike,
    /,
    *,
    logit_lengths: TensorLike | None = None,
    label_lengths: TensorLike | None = None,
    blank: int = 0,
    normalised: bool = False,
    repeats: bool = True,
    time: Axis = -2,
    axis: Axis = -1,
) -> Tensor:
    """The class of each frame on the most probable path that spells labels (Viterbi 1967).

    Parameters
    ----------
    logits, labels, logit_lengths, label_lengths, blank, normalised, repeats, time, axis
        As in `ctc_loss`.

    Returns
    -------
    Tensor
        (batch..., frames), int64: a class for each frame, the blank beyond an example's frames, and everywhere for
        labels that do not fit into them. No gradient flows through it.

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
    >>> frames = tb.nn.one_hot(tb.asarray([[0, 2, 0, 1]]), 3)
    >>> tb.nn.ctc_alignment(frames, tb.asarray([[2, 1]])).tolist()
    [[0, 2, 0, 1]]

    References
    ----------
    A. J. Viterbi: Error bounds for convolutional codes and an asymptotically optimum decoding algorithm, 1967.
    """
    paths = paths_of(logits, labels, logit_lengths, label_lengths, blank, normalised, repeats, time, axis)
    places, reached = best_states(paths)
    found = take_along_axis(paths.classes, permute_dims(places, (1, 0)), axis=1)
    there = logical_and(paths.frames.inside, less(NEVER / 2, reached))
    spelt = where(there, found, blank % paths.scores.shape[2])
    return paths.frames.back(rename(spelt, None, paths.time))
