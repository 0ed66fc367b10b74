"""Normalisation by the statistics of a batch, of each example, or of groups of features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..annotations import Axes, Axis
from ..declarations.argument_errors import check_arguments, check_construction
from ..dtypes import float32, promote_types
from ..errors import ArgumentError, NamesError, ShapeError, expected
from ..ops.composite.elementwise.functions import stop_gradient
from ..ops.composite.reduction import cast_to_float32, count_along, normalisation, standardise
from ..ops.composite.reduction.normalisation import NORMALISED, affine
from ..ops.creation.values import operand_tensors
from ..ops.elementwise.basic import astype, where
from ..ops.elementwise.binary import maximum
from ..ops.elementwise.complex_functions import rsqrt
from ..ops.reduction import sum
from ..ops.shape import broadcast_to, permute_dims, reshape
from ..rules.accuracy import declare_bound
from ..rules.axes import normalize_axes, normalize_axis, sorted_axes
from ..rules.broadcasting import broadcast
from ..template import check_meeting
from ..tensor import Tensor, TensorLike
from ..tensor.missing_names import explain_missing


def _parameters(
    x: Tensor, axes: Sequence[int], scale: TensorLike | None, offset: TensorLike | None
) -> tuple[Tensor | None, Tensor | None]:
    """A scale and an offset for some axes of x, as far as there are any, reshaped to broadcast with x."""
    return (
        None if scale is None else reshape_parameter(operand_tensors(x, scale)[1], x, axes, "a scale"),
        None if offset is None else reshape_parameter(operand_tensors(x, offset)[1], x, axes, "an offset"),
    )


def _scale_and_offset(
    x: Tensor, like: Tensor, axes: Sequence[int], scale: TensorLike | None, offset: TensorLike | None
) -> Tensor:
    """x times a scale plus an offset for the axes, in the floating dtype of the mean of `like`."""
    return affine(astype(x, promote_types(x.dtype, float32)), like, *_parameters(x, axes, scale, offset))


@check_arguments
@declare_bound(NORMALISED)
def layer_norm(
    x: TensorLike,
    scale: TensorLike | None = None,
    offset: TensorLike | None = None,
    /,
    *,
    axis: Axes = -1,
    epsilon: float = 1e-5,
) -> Tensor:
    """Normalise each example to mean 0 and variance 1 along some axes, then scale and shift it (Ba et al. 2016).

    Parameters
    ----------
    scale, offset : Tensor, optional
        A scale and an offset for each entry along the normalised axes, with the shape of these axes.
    axis : axis, or several, default -1
        The axes that are normalised together.

    Raises
    ------
    ShapeError
        For a scale or offset of another shape.
    NamesError
        For a scale or offset with another name.

    Examples
    --------
    >>> x = tb.asarray([[1.0, 3.0], [5.0, 5.0]], names=("batch", "feature"))
    >>> tb.nn.layer_norm(x, tb.asarray([1.0, 10.0]), axis="feature", epsilon=0.01).tolist()[1]
    [0.0, 0.0]
    """
    (x,) = operand_tensors(x)
    axes = normalize_axes(x.template, axis)
    if scale is None and offset is None:
        return standardise(x, axis=axes, epsilon=epsilon)
    return normalisation.layer_norm(x, *_parameters(x, axes, scale, offset), axis=axes, epsilon=epsilon)


@check_arguments
@declare_bound(NORMALISED)
def rms_norm(x: TensorLike, scale: TensorLike | None = None, /, *, axis: Axes = -1, epsilon: float = 1e-6) -> Tensor:
    """Divide x by the root mean square along some axes, then scale it (Zhang and Sennrich 2019).

    Parameters
    ----------
    scale : Tensor, optional
        A scale for each entry along the normalised axes, with the shape of these axes.
    axis : axis, or several, default -1
        The axes that are normalised together.
    epsilon : float, default 1e-6
        Added to the mean of the squares.

    Raises
    ------
    ShapeError
        For a scale of another shape.

    Examples
    --------
    >>> tb.nn.rms_norm(tb.asarray([3.0, 3.0]), tb.asarray([1.0, 2.0]), epsilon=0.0).tolist()
    [1.0, 2.0]
    """
    (x,) = operand_tensors(x)
    axes = normalize_axes(x.template, axis)
    return normalisation.rms_norm(x, _parameters(x, axes, scale, None)[0], axis=axes, epsilon=epsilon)


@check_arguments
@declare_bound(NORMALISED)
def group_norm(
    x: TensorLike,
    scale: TensorLike | None = None,
    offset: TensorLike | None = None,
    /,
    *,
    groups: int,
    axis: Axis = -1,
    batch: Axes = 0,
    epsilon: float = 1e-5,
) -> Tensor:
    """Normalise each example and group of features to mean 0 and variance 1, then scale and shift it (Wu and He 2018).

    Parameters
    ----------
    groups : int
        The number of groups, which divides the number of features. A group is adjacent features.
    batch : axis, or several, default 0
        The axes along which each entry is normalised separately. All others are normalised together.

    Raises
    ------
    ArgumentError
        For a number of groups that does not divide the number of features.
    ShapeError
        For a scale or offset of another shape, and if the axis of features is one of the batch.

    Examples
    --------
    >>> x = tb.asarray([[1.0, 3.0, 10.0, 30.0]], names=("batch", "feature"))
    >>> tb.nn.group_norm(x, groups=2, axis="feature", epsilon=0.0).tolist()
    [[-1.0, 1.0, -1.0, 1.0]]
    """
    (x,) = operand_tensors(x)
    along, kept = normalize_axis(x.template, axis), sorted_axes(x.template, batch)
    if along in kept:
        raise ShapeError(expected("an axis of features that is not an axis of the batch", axis=axis, batch=batch))
    size = x.shape[along]
    if groups < 1 or size % groups:
        raise ArgumentError(expected(f"a number of groups that divides the {size} features", groups=groups))
    still = {axis + (axis > along) for axis in kept} | {along}
    rest = tuple(axis for axis in range(x.ndim + 1) if axis not in still)

    def apart(x: Tensor) -> Tensor:
        return reshape(x, (*x.shape[:along], groups, x.shape[along] // groups, *x.shape[along + 1 :]))

    parts = (None if part is None else apart(part) for part in _parameters(x, (along,), scale, offset))
    return reshape(normalisation.layer_norm(apart(x), *parts, axis=rest, epsilon=epsilon), x.shape, names=x.names)


@explain_missing
@check_construction
class Statistics(NamedTuple):
    """The running mean and variance of each feature, which `batch_norm` takes and returns."""

    mean: Tensor
    variance: Tensor


@explain_missing
class BatchNormResult(NamedTuple):
    """Result of `batch_norm`."""

    result: Tensor
    statistics: Statistics


@check_arguments
@declare_bound(NORMALISED)
def batch_norm(
    x: TensorLike,
    scale: TensorLike | None = None,
    offset: TensorLike | None = None,
    /,
    *,
    statistics: Statistics,
    training: bool,
    axis: Axis = -1,
    momentum: float = 0.1,
    epsilon: float = 1e-5,
    mask: TensorLike | None = None,
) -> BatchNormResult:
    """Normalise each feature to mean 0 and variance 1 over the batch, then scale and shift it (Ioffe and Szegedy 2015).

    In training, normalise by the mean and variance of x, and update the running statistics with these. Otherwise,
    normalise by the running statistics, and leave them unchanged.

    Parameters
    ----------
    statistics : Statistics
        The running mean and variance of each feature: zeros and ones to start with.
    training : bool
        Whether to normalise by the statistics of x, and to update the running statistics.
    momentum : float, default 0.1
        The weight of the statistics of x in the update of the running statistics.
    mask : Tensor, optional
        Bool, broadcasts to x: true for valid elements, for example those within the length of a sequence. The others
        are replaced by 0, and are ignored in the statistics.

    Returns
    -------
    BatchNormResult
        The result, of x's shape and names, computed in float32 at least, and the statistics. The running variance is
        updated with the sample variance, whose divisor is n - 1, as in PyTorch. Those of a feature without a valid
        element stay. No gradient flows from the running statistics to x.

    Raises
    ------
    ShapeError
        For a scale, offset or statistics of another shape, and a mask that does not broadcast.

    Examples
    --------
    >>> start = tb.nn.Statistics(tb.zeros(1), tb.ones(1))
    >>> result, after = tb.nn.batch_norm(tb.asarray([[1.0], [3.0]]), statistics=start, training=True, epsilon=0.0)
    >>> result.tolist(), after.mean.tolist()
    ([[-1.0], [1.0]], [0.20000000298023224])
    """
    (x,) = operand_tensors(x)
    along = normalize_axis(x.template, axis)
    rest = tuple(other for other in range(x.ndim) if other != along)
    wide, inside = cast_to_float32(x), None
    if mask is not None:
        inside = _broadcast_mask(operand_tensors(x, mask)[1], x)
        wide = where(inside, wide, 0)
    old = Statistics(*(astype(statistic, promote_types(statistic.dtype, wide.dtype)) for statistic in statistics))
    if not training:
        centre, variance = (
            reshape_parameter(statistic, x, (along,), f"a running {name}")
            for statistic, name in zip(old, old._fields, strict=True)
        )
        unit = (wide - centre) * rsqrt(variance + epsilon)
        return BatchNormResult(_scale_and_offset(unit, x, (along,), scale, offset), _handles(statistics))
    if not x.size and x.shape[along]:  # a batch without elements has no statistics
        return BatchNormResult(_scale_and_offset(wide, x, (along,), scale, offset), _handles(statistics))
    seen = None if inside is None else sum(astype(inside, wide.dtype), axis=rest, keepdims=True)
    count = count_along(x, rest) if seen is None else maximum(seen, 1)

    def average(elements: Tensor) -> Tensor:
        counted = elements if inside is None else where(inside, elements, 0)
        return sum(counted, axis=rest, keepdims=True) / count

    centre = average(wide)
    apart = wide - centre
    variance = average(apart * apart)
    rate = count / maximum(count - 1, 1) if isinstance(count, Tensor) else count / max(count - 1, 1)
    unit = apart * rsqrt(variance + epsilon)
    measured = Statistics(centre, variance * rate)
    # A feature without an element has no statistics either.
    weight = momentum if seen is None else where(seen > 0, momentum, 0.0)
    after = (_update_statistic(statistic, reshape_parameter(statistic, x, (along,), f"a running {name}"), new, weight)
             for statistic, new, name in zip(statistics, measured, measured._fields, strict=True))  # fmt: skip
    return BatchNormResult(_scale_and_offset(unit, x, (along,), scale, offset), Statistics(*after))


def _broadcast_mask(mask: Tensor, x: Tensor) -> Tensor:
    """The mask, broadcast to x's shape."""
    shape, names = broadcast([x.template, mask.template])
    if shape != x.shape:
        raise ShapeError(expected(f"a mask that broadcasts to {x.template!r}", mask=mask.template))
    return broadcast_to(mask, shape, names=names)


def _handles(statistics: Statistics) -> Statistics:
    """New handles, which stay valid when the caller deallocates the ones it passed in."""
    return Statistics(*(statistic.rename(*statistic.names) for statistic in statistics))


def _update_statistic(old: Tensor, column: Tensor, new: Tensor, momentum: float | Tensor) -> Tensor:
    """Move a running statistic towards a new one; `column` is `old`, reshaped to broadcast with x."""
    towards = column * (1 - momentum) + stop_gradient(new) * momentum
    return reshape(astype(towards, old.dtype), old.shape, names=old.names)


def reshape_parameter(parameter: Tensor, x: Tensor, axes: Sequence[int], what: str) -> Tensor:
    """The parameter for some axes of x, reshaped to broadcast with x.

    [feature: 4] for axis 1 of [batch: 2][feature: 4][time: 3] is [1][feature: 4][1]. A parameter for several
    axes has them in x's order or, if they are named, in any order.
    """
    axes = sorted(axes)
    if parameter.ndim == len(axes) and None not in parameter.names:
        axis_names = [x.names[axis] for axis in axes]
        if {*parameter.names} == {*axis_names}:
            parameter = permute_dims(parameter, tuple(map(parameter.names.index, axis_names)))
    sizes = tuple(x.shape[axis] for axis in axes)
    if parameter.shape != sizes:
        raise ShapeError(
            expected(f"{what} of shape {sizes}", **{what.split()[-1]: parameter.template, "x": x.template})
        )
    names: list[str | None] = [None] * x.ndim
    shape = [1] * x.ndim
    for place, axis in enumerate(axes):
        names[axis], shape[axis] = parameter.names[place], parameter.shape[place]
        check_meeting((parameter.names[place],), (x.names[axis],), parameter.template, x.template)
    given = [name for name in names if name is not None]
    if len({*given}) < len(given):
        raise NamesError(expected("each name once in a tensor", names=tuple(names)))
    return reshape(parameter, tuple(shape), names=tuple(names))
