"""Probabilities of classes: `softmax` and its relatives, and the cross-entropy of targets."""

from __future__ import annotations

import math

from ....annotations import Axes, Axis
from ....dispatch import composite
from ....dtypes import float32, promote_types
from ....errors import ShapeError, expected
from ....rules.accuracy import Bound
from ....rules.broadcasting import broadcast, check_dtype, result_type, to_floating
from ....rules.indexing import check_indices
from ....template import intern_template, merge_names
from ....tensor import Tensor
from ...creation.filled import rename
from ...elementwise.basic import astype, where
from ...elementwise.binary import logical_and
from ...elementwise.transcendental import exp, log
from ...indexing.taking import take_along_axis_at
from ...reduction import max, sum
from ...shape import broadcast_to, expand_dims, squeeze
from ..elementwise.functions import isfinite, stop_gradient
from . import cast_to_float32, count_along, mean


@composite.within(Bound(32, "a quotient by a sum", tame=True))
def softmax(x: Tensor, /, *, axis: Axes = -1) -> Tensor:
    """Softmax: exp(x) divided by its sum along some axes, computed without overflow.

    Examples
    --------
    >>> tb.softmax(tb.asarray([[0.0, 0.0]], names=("row", "class")), axis="class").tolist()
    [[0.5, 0.5]]

    See Also
    --------
    masked_softmax : The softmax over the elements for which a mask holds.
    """
    dtype, x = to_floating(x.dtype), cast_to_float32(x)
    powers = exp(x - max(x, axis=axis, keepdims=True))
    return astype(powers / sum(powers, axis=axis, keepdims=True), dtype)


@composite.within(Bound(16, "a difference from a logarithm of a sum", "operand", tame=True))
def log_softmax(x: Tensor, /, *, axis: Axes = -1) -> Tensor:
    """Logarithm of `softmax`, accurate where the result is tiny.

    >>> tb.log_softmax(tb.asarray([0.0, -1000.0])).tolist()
    [0.0, -1000.0]
    """
    dtype, x = to_floating(x.dtype), cast_to_float32(x)
    shifted = x - max(x, axis=axis, keepdims=True)
    return astype(shifted - log(sum(exp(shifted), axis=axis, keepdims=True)), dtype)


def _broadcast_over(x: Tensor, other: Tensor, what: str) -> Tensor:
    """`other` broadcast to the shape of x; `ShapeError` if that would make x larger."""
    shape, names = broadcast([x.template, other.template])
    if shape != x.shape:
        raise ShapeError(expected(f"{what} that broadcasts to {x.template!r}", **{what.split()[-1]: other.template}))
    return broadcast_to(other, shape, names=names)


@composite.within(Bound(32, "a quotient by a sum", tame=True))
def masked_softmax(x: Tensor, mask: Tensor, /, *, axis: Axes = -1) -> Tensor:
    """`softmax` over the elements for which a mask holds; 0 elsewhere, and everywhere if the mask is false everywhere.

    Parameters
    ----------
    x : Tensor
        A tensor of a real dtype.
    mask : Tensor
        A bool tensor that broadcasts to x. Where it is false, x may hold any number.

    Returns
    -------
    Tensor
        A tensor with the shape and names of x, in its floating dtype, computed in float32 at least. The gradient is 0
        outside the mask.

    Raises
    ------
    DTypeError
        For an x of a complex dtype or bool, and for a mask that is not bool.
    ShapeError
        For a mask that does not broadcast to x.
    AxisError
        For an axis that x does not have.

    Examples
    --------
    >>> tb.nn.masked_softmax(tb.asarray([0.0, float("nan"), 0.0]), tb.asarray([True, False, True])).tolist()
    [0.5, 0.0, 0.5]
    """
    dtype = to_floating(check_dtype(x.dtype, "real"))
    inside = _broadcast_over(x, mask, "a mask")
    x = where(inside, astype(x, promote_types(dtype, float32)), -math.inf)
    if not count_along(x, axis):
        return astype(x, dtype)
    largest = max(x, axis=axis, keepdims=True)
    x = exp(x - where(largest == -math.inf, 0, largest))
    total = sum(x, axis=axis, keepdims=True)
    x = x / where(total == 0, 1, total)
    return astype(where(inside, x, 0), dtype)  # a NaN within the mask stays there


@composite.within(
    Bound(64, "a sum of products with logarithms, each with the rounding of log_softmax", "square", tame=True)
)
def cross_entropy(logits: Tensor, targets: Tensor, /, *, axis: Axis = -1, label_smoothing: float = 0.0) -> Tensor:
    """Cross-entropy between target probabilities and `softmax(logits)` along an axis.

    Parameters
    ----------
    targets : Tensor
        Probabilities, which broadcast to the logits.
    label_smoothing : float, default 0.0
        The fraction of each target that is distributed equally among all classes (Szegedy et al. 2016, section 7).

    Returns
    -------
    Tensor
        A loss for each position on the other axes, in the dtype to which logits and targets are promoted. Computed in
        float32 at least.

    Raises
    ------
    ShapeError
        For targets that do not broadcast to the logits.
    NamesError
        If matching axes have different names.

    Examples
    --------
    >>> logits = tb.asarray([[0.0, 0.0], [5.0, float("-inf")]], names=("batch", "class"))
    >>> tb.nn.cross_entropy(logits, tb.asarray([[0.5, 0.5], [1.0, 0.0]]), axis="class")[0].item()
    0.6931471824645996

    See Also
    --------
    sparse_cross_entropy : The loss for targets that are class labels.
    """
    if targets.dtype.is_integer and targets.ndim < logits.ndim:
        remedy = "sparse_cross_entropy() takes the class of each position"
        raise ShapeError(
            expected("a probability for each class", remedy, logits=logits.template, targets=targets.template)
        )
    dtype = to_floating(check_dtype(result_type([logits.template, targets.template]), "real or bool"))
    work = promote_types(dtype, float32)
    probabilities = astype(_broadcast_over(logits, targets, "targets"), work)
    if label_smoothing:
        class_share = label_smoothing / (count_along(logits, (axis,)) or 1.0)
        probabilities = probabilities * (1 - label_smoothing) + class_share
    logarithms = log_softmax(astype(logits, work), axis=axis)
    nothing = logical_and(probabilities == 0, logarithms == -math.inf)
    terms = probabilities * where(nothing, 0, logarithms)
    return astype(-sum(terms, axis=axis), dtype)


@composite.within(Bound(64, "a difference from a logarithm of a sum", "operand", tame=True))
def sparse_cross_entropy(
    logits: Tensor, labels: Tensor, /, *, axis: Axis = -1, label_smoothing: float = 0.0, ignore_index: int | None = None
) -> Tensor:
    """Cross-entropy between class labels and `softmax(logits)` along an axis.

    Parameters
    ----------
    labels : Tensor
        The class of each position, an integer from 0 up. The labels have the shape of the logits without the axis of
        the classes.
    label_smoothing : float, default 0.0
        The fraction of each target that is distributed equally among all classes.
    ignore_index : int, optional
        A label whose positions have the loss 0, whatever their logits are, such as -100. For the mean of the others,
        divide the sum by their number.

    Returns
    -------
    Tensor
        A loss for each position, computed in float32 at least, in the dtype of the logits.

    Raises
    ------
    ShapeError
        For labels of another shape.
    NamesError
        If matching axes have different names.
    DTypeError
        For labels that are not integers.
    IndexRangeError
        For a label that is not a class, whenever data can be read.

    Examples
    --------
    >>> tb.nn.sparse_cross_entropy(tb.asarray([[0.0, 0.0], [1000.0, 0.0]]), tb.asarray([1, 0])).tolist()
    [0.6931471824645996, 0.0]

    See Also
    --------
    cross_entropy : The loss for targets that are probabilities.
    """
    check_dtype(logits.dtype, "real or bool")
    check_indices(labels.template, "error")
    assert isinstance(axis, int)  # by the dispatcher
    rest = intern_template(
        logits.shape[:axis] + logits.shape[axis + 1 :], labels.dtype, logits.names[:axis] + logits.names[axis + 1 :]
    )
    names = merge_names(rest, labels.template) if rest.shape == labels.shape else ()
    if rest.shape != labels.shape:
        raise ShapeError(expected(f"a label for each position of {rest!r}", labels=labels.template))
    wide = cast_to_float32(logits)
    column = expand_dims(rename(labels, *names), axis=axis, name=logits.names[axis])
    if ignore_index is not None:
        ignored = column == ignore_index
        column, wide = where(ignored, 0, column), where(ignored, 0, wide)
    if count_along(logits, (axis,)):  # otherwise the rounding of large logits would be the loss
        largest = stop_gradient(max(wide, axis=axis, keepdims=True))
        wide = wide - where(isfinite(largest), largest, 0)
    picked = squeeze(take_along_axis_at(wide, column, axis=axis, mode="error"), axis)
    if label_smoothing:
        picked = picked * (1 - label_smoothing) + mean(wide, axis=axis) * label_smoothing
    losses = astype(log(sum(exp(wide), axis=axis)) - picked, to_floating(logits.dtype))
    return losses if ignore_index is None else where(squeeze(ignored, axis), 0, losses)
