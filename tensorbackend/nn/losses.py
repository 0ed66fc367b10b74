"""Losses for each element or example: squares, logistic regression, distances; numbers of edits of sequences."""

from __future__ import annotations

from math import isfinite

from ..annotations import Axes, Axis
from ..declarations.argument_errors import check_arguments
from ..dtypes import DType, float32
from ..errors import ArgumentError, DTypeError, ShapeError, expected
from ..expr.control import scan
from ..linalg import vector_norm
from ..ops.composite.cumulative import cumulative_min
from ..ops.composite.elementwise.activations import log_sigmoid
from ..ops.composite.elementwise.functions import square
from ..ops.composite.reduction import mean
from ..ops.composite.shape.arranging import moveaxis
from ..ops.creation.filled import full, iota, rename
from ..ops.creation.values import operand_tensors
from ..ops.elementwise.basic import astype, isinf, where
from ..ops.elementwise.binary import logical_and, maximum, minimum, multiply
from ..ops.indexing.slices import slice_basic
from ..ops.indexing.taking import take_along_axis
from ..ops.inspection import wide_operands
from ..ops.shape import broadcast_to, concatenate, expand_dims, squeeze
from ..rules.accuracy import Bound, declare_bound
from ..rules.broadcasting import broadcast
from ..template import Template, intern_template
from ..tensor import Tensor, TensorLike


def _wide(*values: TensorLike) -> tuple[DType, list[Tensor]]:
    """The dtype of a loss, and operands in it or in float32, if that is wider."""
    return wide_operands(values, "real or bool", float32)


@declare_bound(Bound(64, "the square of a difference, and a sum", "square"))
@check_arguments
def mean_squared_error(predictions: TensorLike, targets: TensorLike, /, *, axis: Axes = None) -> Tensor:
    """The mean of squared differences.

    Parameters
    ----------
    predictions, targets : Tensor
        Real tensors, which broadcast.
    axis : axis, or several, optional
        The axes of the mean, by default all; `()` for the squares themselves.

    Returns
    -------
    Tensor
        The means, computed in float32 at least, in the dtype to which the operands are promoted.

    Examples
    --------
    >>> tb.nn.mean_squared_error(tb.asarray([1.0, 2.0]), tb.asarray([1.0, 4.0])).item()
    2.0
    """
    dtype, (x, y) = _wide(predictions, targets)
    return astype(mean(square(x - y), axis=axis), dtype)


@declare_bound(Bound(32, "functions with a few ulps, and their sum", "operand"))
@check_arguments
def binary_cross_entropy(logits: TensorLike, targets: TensorLike, /, *, positive_weight: TensorLike = 1.0) -> Tensor:
    """Cross-entropy between probabilities of two classes and `sigmoid(logits)`, for each element.

    Parameters
    ----------
    logits : Tensor
        Scores before the sigmoid, of a real dtype; none is too large.
    targets : Tensor
        Bools or probabilities of the positive class, which broadcast with the logits.
    positive_weight : Tensor or float, default 1.0
        The weight of the loss of positive examples, which may differ among classes.

    Returns
    -------
    Tensor
        The losses, computed in float32 at least, in the dtype to which the operands are promoted.

    See Also
    --------
    cross_entropy : The loss for more than two classes.

    Examples
    --------
    >>> tb.nn.binary_cross_entropy(tb.asarray([0.0, 1000.0]), tb.asarray([True, False])).tolist()
    [0.6931471824645996, 1000.0]
    """
    dtype, (x, p) = _wide(logits, targets)
    (weight,) = _wide(positive_weight)[1] if isinstance(positive_weight, Tensor) else [positive_weight]
    q = 1 - p
    positive, rest = _weighted(p, log_sigmoid(x)), _weighted(q, log_sigmoid(-x))
    return astype(multiply(positive, weight) + rest, dtype)


def _weighted(share: Tensor, logarithm: Tensor) -> Tensor:
    """The loss of a class with a share of the target.

    An infinite logit of the right class has a loss of 0, so the other class' infinite one, times 0, is left out. A
    finite one stays, as it is the slope by the target.
    """
    return -share * where(logical_and(share == 0, isinf(logarithm)), 0, logarithm)


@declare_bound(Bound(16, "a difference and its square", "square"))
@check_arguments
def huber(predictions: TensorLike, targets: TensorLike, /, *, delta: float = 1.0) -> Tensor:
    """Huber's loss for each element: half of the squared difference near 0, linear farther away.

    Parameters
    ----------
    predictions, targets : Tensor
        Real tensors, which broadcast.
    delta : float, default 1.0
        The difference from which on the loss is linear, above 0.

    Returns
    -------
    Tensor
        The losses, computed in float32 at least, in the dtype to which the operands are promoted.

    Raises
    ------
    ArgumentError
        For a delta that is not above 0.

    References
    ----------
    Huber, "Robust estimation of a location parameter", Annals of Mathematical Statistics 35, 1964.

    Examples
    --------
    >>> tb.nn.huber(tb.asarray([0.0, 1.0, 5.0]), 0.0, delta=2.0).tolist()
    [0.0, 0.5, 8.0]
    """
    if not (delta > 0 and isfinite(delta)):
        raise ArgumentError(expected("a finite delta above 0", delta=delta))
    dtype, (x, y) = _wide(predictions, targets)
    difference = x - y
    error = abs(difference)
    near = error <= delta
    # Both branches stay finite, so that neither spoils the gradient of the other. The magnitude has no second
    # derivative at 0, where the square has.
    squares = square(where(near, difference, 0)) * 0.5
    return astype(where(near, squares, delta * (error - 0.5 * delta)), dtype)


@declare_bound(Bound(64, "differences of norms", "square"))
@check_arguments
def triplet(
    anchors: TensorLike,
    positives: TensorLike,
    negatives: TensorLike,
    /,
    *,
    axis: Axis = -1,
    margin: float = 1.0,
    order: float = 2,
    epsilon: float = 1e-6,
) -> Tensor:
    """How much nearer than a margin positive examples should be to anchors than negative ones are, and are not.

    Parameters
    ----------
    anchors, positives, negatives : Tensor
        Real vectors, which broadcast.
    axis : int or str, default -1
        The axis of the vectors.
    margin : float, default 1.0
        The difference of distances from which on the loss is 0.
    order : float, default 2
        The order of the norm that is the distance.
    epsilon : float, default 1e-6
        Added to each difference, as in PyTorch, so that the norm has a gradient everywhere.

    Returns
    -------
    Tensor
        max(d(anchor, positive) - d(anchor, negative) + margin, 0) for each triplet.

    References
    ----------
    Schroff, Kalenichenko and Philbin, "FaceNet", CVPR 2015.

    Examples
    --------
    >>> anchor, near, far = tb.asarray([[0.0, 0.0]]), tb.asarray([[0.0, 1.0]]), tb.asarray([[3.0, 4.0]])
    >>> tb.nn.triplet(anchor, near, far).tolist()
    [0.0]
    >>> tb.round(tb.nn.triplet(anchor, far, near)).tolist()
    [5.0]
    """
    dtype, (x, y, z) = _wide(anchors, positives, negatives)
    near, far = (vector_norm(x - other + epsilon, axis=axis, ord=order) for other in (y, z))
    return astype(maximum(near - far + margin, 0), dtype)


@check_arguments
def edit_distance(
    hypotheses: TensorLike,
    references: TensorLike,
    /,
    *,
    hypothesis_lengths: TensorLike | None = None,
    reference_lengths: TensorLike | None = None,
) -> Tensor:
    """The minimum number of insertions, deletions and substitutions between two sequences (Levenshtein 1966).

    Parameters
    ----------
    hypotheses, references : Tensor
        (batch..., positions), of integers; the batch axes broadcast. The axes of positions may differ in size and name.
    hypothesis_lengths, reference_lengths : Tensor, optional
        The length of each sequence; they broadcast to the batch axes. By default all positions.

    Returns
    -------
    Tensor
        The distance for each example (int64).

    Raises
    ------
    ShapeError
        For batch axes or lengths that do not broadcast, and tensors without axes.
    NamesError
        If matching batch axes have different names.
    DTypeError
        For a dtype that is not an integer dtype.

    Examples
    --------
    >>> kitten, sitting = (tb.asarray([ord(letter) for letter in word]) for word in ("kitten", "sitting"))
    >>> tb.nn.edit_distance(kitten, sitting).item()
    3
    """
    x, y = operand_tensors(hypotheses, references)
    for sequence in (x, y):
        if not sequence.ndim or not sequence.dtype.is_integer:
            expectation = "integers with an axis of positions"
            error = DTypeError if sequence.ndim else ShapeError
            raise error(expected(expectation, tensor=sequence.template))
    batches = [intern_template(sequence.shape[:-1], sequence.dtype, sequence.names[:-1]) for sequence in (x, y)]
    shape, names = broadcast(batches)
    width = y.shape[-1]
    wide = intern_template(shape, x.dtype, names)
    x = broadcast_to(x, (*shape, x.shape[-1]), names=(*names, None))
    y = rename(broadcast_to(y, (*shape, width)), *(None,) * (len(shape) + 1))
    ends = [_length(size, lengths, wide, like) for size, lengths, like in (
        (x.shape[-1], hypothesis_lengths, x), (width, reference_lengths, y))]  # fmt: skip
    places = iota(width + 1, dtype="int64", like=y)
    first = broadcast_to(places, (*shape, width + 1))

    def step(row: Tensor, entry: tuple[Tensor, Tensor]) -> tuple[Tensor, None]:
        token, number = entry
        changed = astype(where(expand_dims(token, axis=token.ndim) == y, 0, 1), "int64")
        shorter, longer = slice_basic(row, (..., slice(width))), slice_basic(row, (..., slice(1, None)))
        best = minimum(shorter + changed, longer + 1)
        deleted = broadcast_to(number + 1, (*shape, 1))
        # Insertions cost 1 per place: subtract the place, take the minimum up to each place, and add the place again.
        after = cumulative_min(concatenate([deleted, best], axis=-1) - places, axis=-1) + places
        return where(number < expand_dims(ends[0], axis=len(shape)), after, row), None

    tokens = moveaxis(rename(x, *(None,) * x.ndim), -1, 0)
    numbers = iota(x.shape[-1], dtype="int64", like=x)
    last, _ = scan(step, first, (tokens, numbers))
    distances = take_along_axis(last, expand_dims(ends[1], axis=len(shape)), axis=-1, mode="clip")
    return rename(squeeze(distances, len(shape)), *names)


def _length(size: int, lengths: TensorLike | None, batch: Template, like: Tensor) -> Tensor:
    """The length of each sequence, at most its size: a tensor of the batch's shape, without names."""
    if lengths is None:
        return full(batch.shape, size, dtype="int64", like=like)
    counts = operand_tensors(like, lengths)[1]
    if not counts.dtype.is_integer:
        raise DTypeError(expected("lengths of an integer dtype", lengths=counts.template))
    if broadcast([batch, counts.template])[0] != batch.shape:
        raise ShapeError(expected(f"lengths that broadcast to {batch!r}", lengths=counts.template))
    wide = rename(broadcast_to(counts, batch.shape), *(None,) * batch.ndim)
    return minimum(maximum(astype(wide, "int64"), 0), size)
