"""Connectionist temporal classification (CTC), for labels that are not aligned with frames."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments
from ..dtypes import float32, promote_types
from ..errors import ArgumentError, DTypeError, ShapeError, expected
from ..ops.composite.cumulative import cumulative_sum
from ..ops.composite.reduction.probabilities import log_softmax
from ..ops.creation.filled import full, iota, rename
from ..ops.creation.values import operand_tensors
from ..ops.elementwise.basic import astype, where
from ..ops.elementwise.binary import logical_and
from ..ops.indexing.scatter import indexed_put
from ..ops.indexing.slices import slice_basic
from ..ops.indexing.taking import take_along_axis
from ..ops.reduction import argmax, sum
from ..ops.shape import broadcast_to, concatenate, expand_dims, permute_dims, reshape
from ..rules.accuracy import Bound, declare_bound
from ..rules.axes import normalize_axis
from ..rules.broadcasting import broadcast, check_dtype, to_floating
from ..rules.plan import choice
from ..template import Names, Shape, intern_template, merge_names
from ..tensor import Tensor, TensorLike
from ..tensor.missing_names import explain_missing
from .ctc_paths import Examples, best, loss


@explain_missing
class Decoded(NamedTuple):
    """Result of `ctc_best_path`."""

    labels: Tensor
    lengths: Tensor


class _Frames(NamedTuple):
    """Logits with one batch axis in front: (batch, time, classes), without names."""

    logits: Tensor
    counts: Tensor
    """(batch,), int64: the number of frames of each example; beyond it the logits are 0."""
    shape: Shape
    names: Names
    """The names of the batch axes of the logits."""
    time: str | None
    """The name of the axis of frames."""

    def back(self, x: Tensor) -> Tensor:
        """x, (batch, ...), with the batch axes of the logits in place of the first axis."""
        rest = x.shape[1:]
        return reshape(x, (*self.shape, *rest), names=(*self.names, *x.names[1:]))


def _flat(x: Tensor, shape: Shape, names: Names, what: str) -> Tensor:
    """x, for example lengths, broadcast to the batch axes and flattened to (batch,)."""
    batch = intern_template(shape, x.dtype, names)
    if broadcast([batch, x.template])[0] != shape:
        raise ShapeError(expected(f"{what} that broadcast to {batch!r}", **{what: x.template}))
    return reshape(broadcast_to(x, shape), (-1,) if math.prod(shape) else (0,), names=(None,))


def _integers(x: Tensor, what: str) -> Tensor:
    if not x.dtype.is_integer:
        raise DTypeError(expected(f"{what} of an integer dtype", **{what.replace(" ", "_"): x.template}))
    return astype(x, "int64")


def _frames(logits: Tensor, lengths: TensorLike | None, time: Axis, axis: Axis) -> _Frames:
    along, classes = normalize_axis(logits.template, time), normalize_axis(logits.template, axis)
    if along == classes:
        raise ShapeError(expected("two axes, for frames and classes", time=time, axis=axis))
    batch = [batch_axis for batch_axis in range(logits.ndim) if batch_axis not in (along, classes)]
    shape, names = (
        tuple(logits.shape[batch_axis] for batch_axis in batch),
        tuple(logits.names[batch_axis] for batch_axis in batch),
    )
    moved = permute_dims(logits, (*batch, along, classes))
    sizes = (math.prod(shape), *moved.shape[-2:])
    flat = reshape(moved, sizes, names=(None,) * 3)
    if lengths is None:
        counts = full(sizes[:1], sizes[1], dtype="int64", like=logits)
    else:
        counts = _flat(_integers(operand_tensors(logits, lengths)[1], "lengths"), shape, names, "lengths")
        inside = iota(sizes[1], dtype="int64", like=flat) < expand_dims(counts, axis=1)
        flat = where(expand_dims(inside, axis=2), flat, 0)
    return _Frames(flat, counts, shape, names, logits.names[along])


def _blank(blank: int, logits: Tensor, axis: Axis) -> int:
    """The class of the blank, as a non-negative number."""
    classes = logits.shape[normalize_axis(logits.template, axis)]
    if not -classes <= blank < classes:
        raise ArgumentError(expected(f"a blank from {-classes} to {classes - 1}", blank=blank))
    return blank % classes


def _examples(
    logits: Tensor,
    labels: Tensor,
    logit_lengths: TensorLike | None,
    label_lengths: TensorLike | None,
    normalised: bool,
    time: Axis,
    axis: Axis,
) -> tuple[_Frames, Examples]:
    """The frames, and the `Examples` for paths, with log-probabilities in float32 at least."""
    dtype = to_floating(check_dtype(logits.dtype, "real"))
    frames, targets, counts = _targets(_frames(logits, logit_lengths, time, axis), labels, label_lengths)
    wide = astype(frames.logits, promote_types(dtype, float32))
    scores = wide if normalised else log_softmax(wide, axis=-1)
    return frames, Examples(scores, targets, frames.counts, counts)


@check_arguments
@declare_bound(Bound(64, "sums of exponentials over all paths", "operand", tame=True))
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
    alignments: Literal["all", "best"] = "all",
    time: Axis = -2,
    axis: Axis = -1,
) -> Tensor:
    """CTC loss: the negative log-probability of labels over all alignments with the frames (Graves et al. 2006).

    Parameters
    ----------
    logits : Tensor
        Scores with axes of frames and classes, and batch axes. Their `softmax` is the probabilities.
    normalised : bool, default False
        Whether the logits are log-probabilities already.
    repeats : bool, default True
        Whether several consecutive frames may emit one label, so that a blank must separate two equal labels.
        Otherwise each frame that is not blank emits a label of its own (Sak et al. 2017).
    alignments : {"all", "best"}, default "all"
        Whether to sum the probabilities of all alignments, or to use that of the most probable one alone.

    Returns
    -------
    Tensor
        A loss for each example, computed in float32 at least, in the dtype of the logits. It is infinite, with a
        gradient of 0, for labels that need more frames than there are. It is 0 for an example without frames and
        labels.

    Examples
    --------
    >>> logits = tb.zeros((1, 3, 2), names=("batch", "time", "class"))
    >>> loss = tb.nn.ctc_loss(logits, tb.asarray([[1]]))  # six of the eight sequences spell it
    >>> round(tb.exp(-loss).item(), 6)
    0.75

    References
    ----------
    A. Graves, S. Fernández, F. Gomez, J. Schmidhuber: Connectionist temporal classification, ICML 2006.

    H. Sak, M. Shannon, K. Rao, F. Beaufays: Recurrent neural aligner, Interspeech 2017.
    """
    choice(("all", "best"), alignments=alignments)
    logits, labels = operand_tensors(logits, labels)
    at = _blank(blank, logits, axis)
    frames, examples = _examples(logits, labels, logit_lengths, label_lengths, normalised, time, axis)
    if alignments == "all":
        losses = loss(examples, at, repeats)
    else:
        path = best(examples, at, repeats)
        path_scores = take_along_axis(examples.scores, expand_dims(path.classes, axis=2), axis=2)
        spelt = where(path.inside, reshape(path_scores, path_scores.shape[:2]), 0)
        losses = where(path.possible, -sum(spelt, axis=1), math.inf)
    return frames.back(astype(losses, to_floating(logits.dtype)))


@check_arguments
def ctc_alignment(
    logits: TensorLike,
    labels: TensorLike,
    /,
    *,
    logit_lengths: TensorLike | None = None,
    label_lengths: TensorLike | None = None,
    blank: int = 0,
    repeats: bool = True,
    time: Axis = -2,
    axis: Axis = -1,
) -> Tensor:
    """Align labels with frames: the class of each frame on the most probable path (Viterbi's algorithm).

    Parameters
    ----------
    repeats : bool, default True
        Whether several consecutive frames may emit one label, as in `ctc_loss`.

    Returns
    -------
    Tensor
        (batch..., frames), int64: blank beyond the frames of an example, and only blanks if the labels need more
        frames than there are.

    Examples
    --------
    >>> frames = tb.nn.one_hot(tb.asarray([0, 2, 1, 1, 0]), 3) * 4
    >>> tb.nn.ctc_alignment(frames, tb.asarray([2, 1])).tolist()
    [0, 2, 1, 1, 0]
    >>> tb.nn.ctc_alignment(frames, tb.asarray([1, 2, 1, 1])).tolist()
    [1, 2, 1, 0, 1]

    See Also
    --------
    ctc_loss : `alignments="best"` is minus the logarithm of this path's probability.
    ctc_best_path : Decodes labels from the most probable classes.
    """
    logits, labels = operand_tensors(logits, labels)
    at = _blank(blank, logits, axis)
    frames, examples = _examples(logits, labels, logit_lengths, label_lengths, False, time, axis)
    return frames.back(rename(best(examples, at, repeats).classes, None, frames.time))


def _targets(frames: _Frames, labels: Tensor, lengths: TensorLike | None) -> tuple[_Frames, Tensor, Tensor]:
    """The frames with names added from the labels, the labels as (batch, positions), and their number per example."""
    if not labels.ndim:
        raise ShapeError(expected("labels with an axis of positions", labels=labels.template))
    batch = intern_template(labels.shape[:-1], labels.dtype, labels.names[:-1])
    frame_batch = intern_template(frames.shape, labels.dtype, frames.names)
    if batch.shape != frames.shape:
        raise ShapeError(expected(f"labels for each example of {frame_batch!r}", labels=labels.template))
    frames = frames._replace(names=merge_names(frame_batch, batch))
    size = labels.shape[-1]
    flat = reshape(_integers(labels, "labels"), (frames.counts.shape[0], size), names=(None, None))
    if lengths is None:
        return frames, flat, full(flat.shape[:1], size, dtype="int64", like=flat)
    counts = _integers(operand_tensors(labels, lengths)[1], "lengths")
    return frames, flat, _flat(counts, frames.shape, frames.names, "lengths")


@check_arguments
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
    """Decode greedily: the most probable class of each frame, with repetitions merged and blanks removed.

    Parameters
    ----------
    lengths : Tensor, optional
        The number of frames of each example; broadcasts to the batch axes. By default all.
    name : str, optional
        The name of the labels' axis.

    Returns
    -------
    Decoded
        The labels, (batch..., frames), int64, followed by blanks, and the number of labels of each example.

    Raises
    ------
    ShapeError
        For lengths that do not broadcast to the batch axes.
    DTypeError
        For lengths that are not integers.
    ArgumentError
        For a blank that is not a class.

    Examples
    --------
    >>> frames = tb.nn.one_hot(tb.asarray([[0, 2, 2, 0, 2, 1]]), 3)
    >>> labels, lengths = tb.nn.ctc_best_path(frames)
    >>> labels.tolist(), lengths.tolist()
    ([[2, 2, 1, 0, 0, 0]], [3])
    """
    (logits,) = operand_tensors(logits)
    at = _blank(blank, logits, axis)
    frames = _frames(logits, lengths, time, axis)
    likely = argmax(frames.logits, axis=-1)
    rows, size = likely.shape
    inside = iota(size, dtype="int64", like=likely) < expand_dims(frames.counts, axis=1)
    start = full((rows, min(1, size)), -1, dtype="int64", like=likely)
    before = concatenate([start, slice_basic(likely, (slice(None), slice(size - 1 if size else 0)))], axis=1)
    spelt = logical_and(likely != at, logical_and(likely != before, inside))
    number = astype(spelt, "int64")
    # The first frame of each label writes to the place of the label's number; the others write beyond the end.
    place = where(spelt, cumulative_sum(number, axis=1) - 1, size)
    empty = full((rows, size), at, dtype="int64", like=likely)
    labels = indexed_put(empty, expand_dims(place, axis=2), likely, mode="fill", batch=0)
    return Decoded(frames.back(rename(labels, None, name)), frames.back(sum(number, axis=1)))
