"""Averages and related reductions along axes, written in public ops."""

from __future__ import annotations

import math

from ....annotations import Axes, Axis
from ....declarations.argument_errors import check_arguments
from ....dispatch import composite
from ....dtypes import DType, float32, promote_types, scalar_kind
from ....errors import ShapeError, expected
from ....rules.accuracy import LOG_OF_SUM, SUM, Bound
from ....rules.axes import sorted_axes
from ....rules.broadcasting import broadcast, check_dtype, result_type, to_floating
from ....rules.indexing import check_indices
from ....sizes import apply
from ....template import intern_template, merge_names, weak_template
from ....tensor import Tensor, TensorLike
from ...creation.filled import rename
from ...creation.values import operand_tensors
from ...elementwise.binary import add, divide, equal, logical_and, multiply, subtract
from ...elementwise.conversion import astype
from ...elementwise.ternary import where
from ...elementwise.transcendental import exp, log, sqrt
from ...elementwise.unary import negative
from ...indexing.taking import take_along_axis_at
from ...reduction import all, max, sum
from ...shape import align_as, broadcast_to, expand_dims, reshape, squeeze
from ..elementwise.functions import isclose, isfinite
from ..elementwise.gradients import stop_gradient


def count_along(x: Tensor, axis: Axes) -> float:
    """The number of elements that a reduction combines into one; the dispatcher has made the axes positions."""
    assert isinstance(axis, tuple)
    count: float = apply(float, math.prod(x.shape[position] for position in axis if isinstance(position, int)))
    return count


def cast_to_float32(x: Tensor) -> Tensor:
    """Casts to at least float32, so that neither a sum of float16 nor a count of elements overflows."""
    return astype(x, promote_types(to_floating(x.dtype), float32))


@composite.within(SUM)
def mean(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Arithmetic mean; NaN if there are no elements. Integers and bool are converted to the default floating dtype.

    >>> import tensorbackend as tb
    >>> tb.mean(tb.asarray([True, False])).item()
    0.5
    """
    total = sum(cast_to_float32(x), axis=axis, keepdims=keepdims)
    return astype(divide(total, count_along(x, axis)), to_floating(x.dtype))


_mean = mean  # for functions with a parameter named `mean`


@composite.within(Bound(16, "a sum of squares of differences", "square", tame=True))
def var(x: Tensor, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Variance. The divisor is the number of elements minus `correction`; the result is NaN if that is not positive.

    >>> import tensorbackend as tb
    >>> tb.var(tb.asarray([1.0, 3.0])).item(), tb.var(tb.asarray([1.0, 3.0]), correction=1).item()
    (1.0, 2.0)
    """
    check_dtype(x.dtype, "real")
    wide = cast_to_float32(x)
    centred = subtract(wide, mean(wide, axis=axis, keepdims=True))
    squares = sum(multiply(centred, centred), axis=axis, keepdims=keepdims)
    divisor = count_along(x, axis) - correction
    return astype(divide(squares, divisor if divisor > 0 else math.nan), to_floating(x.dtype))


@composite.within(Bound(16, "the root of a sum of squares of differences", "operand", tame=True))
def std(x: Tensor, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Standard deviation: the square root of the variance. The divisor is the number of elements minus `correction`.

    >>> import tensorbackend as tb
    >>> tb.std(tb.asarray([[1.0, 3.0], [1.0, 5.0]], names=("row", "n")), axis="n").tolist()
    [1.0, 2.0]
    """
    return astype(
        sqrt(var(cast_to_float32(x), axis=axis, correction=correction, keepdims=keepdims)), to_floating(x.dtype)
    )


@composite.within(LOG_OF_SUM)
def _logsumexp(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """See `logsumexp`."""
    check_dtype(x.dtype, "real or bool")
    return _shifted_sum(cast_to_float32(x), None, axis, keepdims, to_floating(x.dtype))


def _scaled_sum(x: TensorLike, scale: TensorLike, axis: Axes, keepdims: bool) -> Tensor:
    """See `logsumexp`."""
    x, factors = operand_tensors(x, scale)
    kind = scalar_kind(scale)
    weight = factors.template if kind is None else weak_template(kind)
    dtype = to_floating(check_dtype(result_type([x.template, weight]), "real or bool"))
    work = promote_types(dtype, float32)
    return _shifted_sum(astype(x, work), astype(factors, work), sorted_axes(x.template, axis), keepdims, dtype)


def _shifted_sum(x: Tensor, scale: Tensor | None, axis: Axes, keepdims: bool, dtype: DType) -> Tensor:
    """log(sum(scale * exp(x))), with the exponentials divided by the largest one so that none overflows."""
    if not count_along(x, axis):
        return astype(log(sum(x, axis=axis, keepdims=keepdims)), dtype)
    largest = max(x, axis=axis, keepdims=True)
    shift = where(isfinite(largest), largest, 0)
    terms = exp(subtract(x, shift))
    if scale is not None:
        scaled = multiply(terms, scale)
        if scaled.shape != x.shape:
            raise ShapeError(expected(f"a scale that broadcasts to {x.template!r}", scale=scale.template))
        terms = scaled
    total = sum(terms, axis=axis, keepdims=keepdims)
    return astype(add(log(total), reshape(shift, total.shape, names=total.names)), dtype)


@check_arguments
def logsumexp(
    x: TensorLike, /, *, axis: Axes = None, keepdims: bool = False, scale: TensorLike | None = None
) -> Tensor:
    """Logarithm of the sum of exp(x), computed without overflow; -inf if there are no elements.

    If a `scale` is given, the exponentials are multiplied by it. Raises `ShapeError` for a scale that does not
    broadcast to x.

    >>> import tensorbackend as tb
    >>> tb.logsumexp(tb.asarray([1000.0, -1000.0])).item()
    1000.0
    >>> round(tb.logsumexp(tb.asarray([1.0, 1.0]), scale=tb.asarray([0.25, 0.75])).item(), 6)
    1.0
    """
    if scale is None:
        return _logsumexp(x, axis=axis, keepdims=keepdims)
    return _scaled_sum(x, scale, axis, keepdims)


@composite.within(Bound(16, "a quotient of sums", "operand", tame=True))
def weighted_mean(x: Tensor, weights: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Mean of the elements with weights: the weighted sum divided by the sum of the weights.

    The weights broadcast to x, by name if each of their axes has one. If `axis` is a single axis, they may also be a
    vector with a weight for each entry along it. If the weights add up to 0, the result is NaN or infinite.

    >>> import tensorbackend as tb
    >>> tb.weighted_mean(tb.asarray([1.0, 3.0]), tb.asarray([3, 1])).item()
    1.5
    """
    dtype = to_floating(result_type([x.template, weights.template]))
    work = promote_types(dtype, float32)
    assert isinstance(axis, tuple)  # by the dispatcher
    along = axis[0] if len(axis) == 1 else None
    if weights.ndim == 1 and isinstance(along, int) and weights.shape[0] == x.shape[along]:
        sizes, names = [1] * x.ndim, [None] * x.ndim
        sizes[along] = weights.shape[0]
        weights = reshape(weights, tuple(sizes), names=(*names[:along], *weights.names, *names[along + 1 :]))
    elif weights.ndim and None not in weights.names and {*weights.names} <= {*x.names}:
        weights = align_as(weights, x)
    weights = astype(weights, work)
    products = multiply(astype(x, work), weights)
    if products.shape != x.shape:
        remedy = "broadcast_to() x first"
        raise ShapeError(expected(f"weights that broadcast to {x.template!r}", remedy, weights=weights.template))
    total = sum(broadcast_to(weights, x.shape, names=products.names), axis=axis, keepdims=keepdims)
    return astype(divide(sum(products, axis=axis, keepdims=keepdims), total), dtype)


@composite
def all_close(x1: Tensor, x2: Tensor, /, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """Test whether `isclose` holds for every pair of elements; return a bool without axes.

    >>> import tensorbackend as tb
    >>> tb.all_close(tb.asarray([1.0, float("nan")]), tb.asarray([1.0, float("nan")]), equal_nan=True).item()
    True
    """
    return all(isclose(x1, x2, rtol=rtol, atol=atol, equal_nan=equal_nan))


@composite.within(Bound(32, "a quotient by a sum", tame=True))
def softmax(x: Tensor, /, *, axis: Axes = -1) -> Tensor:
    """Softmax: exp(x) divided by its sum along some axes, computed without overflow.

    Parameters
    ----------
    x : Tensor
        A tensor of a real dtype or bool.
    axis : int, str, or several of them, default -1
        The axes along which the result adds up to 1; `None` for all.

    Returns
    -------
    Tensor
        A tensor with the shape and names of x, in its dtype, or the default floating dtype for integers and bool.

    Raises
    ------
    DTypeError
        For a complex dtype.
    AxisError
        For an axis that x does not have.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> tb.softmax(tb.asarray([[0.0, 0.0]], names=("row", "class")), axis="class").tolist()
    [[0.5, 0.5]]

    See Also
    --------
    masked_softmax : The softmax over the elements for which a mask holds.
    """
    dtype, x = to_floating(x.dtype), cast_to_float32(x)
    powers = exp(subtract(x, max(x, axis=axis, keepdims=True)))
    return astype(divide(powers, sum(powers, axis=axis, keepdims=True)), dtype)


@composite.within(Bound(16, "a difference from a logarithm of a sum", "operand", tame=True))
def log_softmax(x: Tensor, /, *, axis: Axes = -1) -> Tensor:
    """Logarithm of `softmax`, accurate where the result is tiny.

    Parameters
    ----------
    x : Tensor
        A tensor of a real dtype or bool.
    axis : int, str, or several of them, default -1
        The axes along which the result adds up to 1; `None` for all.

    Returns
    -------
    Tensor
        A tensor with the shape and names of x, in its dtype, or the default floating dtype for integers and bool.

    Raises
    ------
    DTypeError
        For a complex dtype.
    AxisError
        For an axis that x does not have.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> tb.log_softmax(tb.asarray([0.0, -1000.0])).tolist()
    [0.0, -1000.0]
    """
    dtype, x = to_floating(x.dtype), cast_to_float32(x)
    shifted = subtract(x, max(x, axis=axis, keepdims=True))
    return astype(subtract(shifted, log(sum(exp(shifted), axis=axis, keepdims=True))), dtype)


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
    axis : int, str, or several of them, default -1
        The axes along which the result adds up to 1; `None` for all.

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
    >>> import tensorbackend as tb
    >>> tb.nn.masked_softmax(tb.asarray([0.0, float("nan"), 0.0]), tb.asarray([True, False, True])).tolist()
    [0.5, 0.0, 0.5]
    """
    dtype = to_floating(check_dtype(x.dtype, "real"))
    inside = _broadcast_over(x, mask, "a mask")
    wide = where(inside, astype(x, promote_types(dtype, float32)), -math.inf)
    if not count_along(x, axis):
        return astype(wide, dtype)
    largest = max(wide, axis=axis, keepdims=True)
    powers = exp(subtract(wide, where(equal(largest, -math.inf), 0, largest)))
    total = sum(powers, axis=axis, keepdims=True)
    shares = divide(powers, where(equal(total, 0), 1, total))
    return astype(where(inside, shares, 0), dtype)  # a NaN within the mask stays there


@composite.within(Bound(64, "differences from a mean over a root of a mean", "operand", tame=True))
def standardise(x: Tensor, /, *, axis: Axes = -1, epsilon: float = 1e-5) -> Tensor:
    """Standardise: (x - mean) / sqrt(variance + epsilon) along some axes.

    Parameters
    ----------
    x : Tensor
        A tensor of any shape, of a real dtype or bool.
    axis : int, str, or several of them, default -1
        The axes over which mean and variance are computed; `None` for all.
    epsilon : float, default 1e-5
        Added to the variance.

    Returns
    -------
    Tensor
        A tensor with the shape and names of x, in its dtype, or the default floating dtype for integers and bool. It is
        computed in float32 at least.

    Raises
    ------
    DTypeError
        For a complex dtype.
    AxisError
        For an axis that x does not have.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> tb.nn.standardise(tb.asarray([1.0, 3.0]), epsilon=0.0).tolist()
    [-1.0, 1.0]

    See Also
    --------
    layer_norm : With a scale and an offset.
    """
    check_dtype(x.dtype, "real or bool")
    wide = cast_to_float32(x)
    centred = subtract(wide, mean(wide, axis=axis, keepdims=True))
    variance = mean(multiply(centred, centred), axis=axis, keepdims=True)
    return astype(divide(centred, sqrt(add(variance, epsilon))), to_floating(x.dtype))


@composite.within(
    Bound(64, "a sum of products with logarithms, each with the rounding of log_softmax", "square", tame=True)
)
def cross_entropy(logits: Tensor, targets: Tensor, /, *, axis: Axis = -1, label_smoothing: float = 0.0) -> Tensor:
    """Cross-entropy between target probabilities and `softmax(logits)` along an axis.

    Parameters
    ----------
    logits : Tensor
        Scores, of a real dtype.
    targets : Tensor
        Probabilities, which broadcast to the logits.
    axis : int or str, default -1
        The axis of the classes.
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
    >>> import tensorbackend as tb
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
        probabilities = add(multiply(probabilities, 1 - label_smoothing), class_share)
    logarithms = log_softmax(astype(logits, work), axis=axis)
    nothing = logical_and(equal(probabilities, 0), equal(logarithms, -math.inf))
    terms = multiply(probabilities, where(nothing, 0, logarithms))
    return astype(negative(sum(terms, axis=axis)), dtype)


@composite.within(Bound(64, "a difference from a logarithm of a sum", "operand", tame=True))
def sparse_cross_entropy(
    logits: Tensor,
    labels: Tensor,
    /,
    *,
    axis: Axis = -1,
    label_smoothing: float = 0.0,
    ignore_index: int | None = None,
) -> Tensor:
    """Cross-entropy between class labels and `softmax(logits)` along an axis.

    Parameters
    ----------
    logits : Tensor
        Scores, of a real dtype.
    labels : Tensor
        The class of each position, an integer from 0 up. The labels have the shape of the logits without the axis of
        the classes.
    axis : int or str, default -1
        The axis of the classes.
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
    >>> import tensorbackend as tb
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
        ignored = equal(column, ignore_index)
        column, wide = where(ignored, 0, column), where(ignored, 0, wide)
    if count_along(logits, (axis,)):  # otherwise the rounding of large logits would be the loss
        largest = stop_gradient(max(wide, axis=axis, keepdims=True))
        wide = subtract(wide, where(isfinite(largest), largest, 0))
    picked = squeeze(take_along_axis_at(wide, column, axis=axis, mode="error"), axis)
    if label_smoothing:
        picked = add(multiply(picked, 1 - label_smoothing), multiply(mean(wide, axis=axis), label_smoothing))
    losses = astype(subtract(log(sum(exp(wide), axis=axis)), picked), to_floating(logits.dtype))
    return losses if ignore_index is None else where(squeeze(ignored, axis), 0, losses)


@composite
def count_nonzero(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Count the nonzero elements along some axes (int64). NaN is not zero.

    >>> import tensorbackend as tb
    >>> tb.count_nonzero(tb.asarray([[0, 3], [1, 1]]), axis=1).tolist()
    [1, 2]
    """
    return sum(astype(x, "bool"), axis=axis, keepdims=keepdims)
