"""Order statistics: the median, quantiles and the mode, written in public ops."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ....annotations import Axes, Axis
from ....declarations.argument_errors import check_arguments
from ....dispatch import composite
from ....dtypes import float64, int64
from ....errors import ArgumentError, expected
from ....rules.axes import normalize_axes, normalize_axis
from ....rules.broadcasting import check_dtype, to_floating
from ....rules.reduction import reduction
from ....sizes import is_size
from ....template import Template
from ....tensor import Tensor, TensorLike
from ...creation.filled import asarray, full, iota, ones, rename
from ...elementwise.basic import astype, ceil, floor, isinf, isnan, where
from ...elementwise.basic import round as nearest
from ...elementwise.binary import logical_and
from ...indexing.slices import slice_
from ...indexing.taking import take, take_along_axis_at
from ...reduction import argmax
from ...shape import concatenate, laid_flat, permute_dims, reshape
from ...sorting import sort
from ..cumulative import cumulative_max
from ..elementwise.functions import stop_gradient
from ..reduction import cast_to_float32
from ..shape.arranging import moveaxis, stack


@composite
def median(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The median: the middle element, or the mean of the two middle ones; NaN if any element is NaN or there is none.

    Integers and bool are converted to the default floating dtype.

    >>> tb.median(tb.asarray([3, 1, 2])).item(), tb.median(tb.asarray([4.0, 1.0, 2.0, 3.0])).item()
    (2.0, 2.5)
    """
    check_dtype(x.dtype, "real or bool")
    ordered, out = sort_axes(x, axis, keepdims)
    count = ordered.shape[-1]
    low, high, last = (_entry_at(ordered, place) for place in ((count - 1) // 2, count // 2, count - 1))
    one = not is_size(count) and count % 2 == 1  # the two places of an odd number of elements are one
    medians = where(isnan(last), math.nan, low if one else middle(low, high))
    return reshape(astype(medians, to_floating(x.dtype)), out.shape, names=out.names)


def sort_axes(x: Tensor, axis: Axes, keepdims: bool) -> tuple[Tensor, Template]:
    """The elements along some axes, sorted along one last axis in a floating dtype, and the template of the reduction.

    An empty axis is treated as one NaN, as in a mean.
    """
    out = reduction(x.template, axis, keepdims).out
    assert isinstance(out, Template)
    axes = normalize_axes(x.template, axis)
    kept = tuple(position for position in range(x.ndim) if position not in axes)
    count = math.prod(x.shape[position] for position in axes)
    if not count:
        lead = tuple(x.shape[position] for position in kept)
        return cast_to_float32(full((*lead, 1), math.nan, dtype=to_floating(x.dtype), like=x)), out
    flat = reshape(permute_dims(x, (*kept, *axes)), (*(x.shape[position] for position in kept), count))
    return cast_to_float32(sort(flat, axis=-1)), out


def _entry_at(x: Tensor, place: int) -> Tensor:
    """The entries at a place of the last axis, without that axis."""
    lead = x.shape[:-1]
    entry = slice_(x, starts=(*(0 for _ in lead), place), lengths=(*lead, 1), strides=(1,) * x.ndim)
    return reshape(entry, lead)


def middle(low: Tensor, high: Tensor) -> Tensor:
    """The mean of two numbers: half their sum, or where the sum overflows, the sum of their halves.

    Halves of such large numbers are exact.
    """
    total = low + high
    halves = low * 0.5 + high * 0.5
    return where(isinf(total), halves, total * 0.5)


# Quantiles: a method says at which position from 0 to n - 1 the quantile q of n sorted elements is; a fractional
# position is between two elements. The methods are those of Hyndman and Fan, Sample Quantiles in Statistical Packages
# (1996), and four more.


Method: TypeAlias = Callable[[int, Any, Any], Any]


class _OfNumbers:
    """What methods compute with, of Python numbers."""

    floor, ceil, round = staticmethod(math.floor), staticmethod(math.ceil), staticmethod(round)

    @staticmethod
    def where(condition: bool, x: Any, y: Any) -> Any:
        """x if the condition holds, else y."""
        return x if condition else y


class _OfTensors:
    """What methods compute with, of tensors."""

    floor, ceil, round, where = staticmethod(floor), staticmethod(ceil), staticmethod(nearest), staticmethod(where)


def _plotting_position(alpha: float, beta: float) -> Method:
    """The method whose places, counted from 1, are n * q + alpha + q * (1 - alpha - beta)."""
    return lambda n, q, of: n * q + alpha + q * (1 - alpha - beta) - 1


def _average_inverse_cdf(n: int, q: Any, of: Any) -> Any:
    place = n * q
    return of.where(place == of.floor(place), place - 0.5, of.ceil(place) - 1)


def _closest_observation(n: int, q: Any, of: Any) -> Any:
    place = n * q - 1.5
    below = of.floor(place)
    return of.where((place == below) & (below % 2 == 1), below, below + 1)


METHODS: dict[str, Method] = {
    "inverted_cdf": lambda n, q, of: of.ceil(n * q) - 1,
    "averaged_inverted_cdf": _average_inverse_cdf,
    "closest_observation": _closest_observation,
    "interpolated_inverted_cdf": _plotting_position(0, 1),
    "hazen": _plotting_position(0.5, 0.5),
    "weibull": _plotting_position(0, 0),
    "linear": lambda n, q, of: (n - 1) * q,
    "median_unbiased": _plotting_position(1 / 3, 1 / 3),
    "normal_unbiased": _plotting_position(3 / 8, 3 / 8),
    "lower": lambda n, q, of: of.floor((n - 1) * q),
    "higher": lambda n, q, of: of.ceil((n - 1) * q),
    "nearest": lambda n, q, of: of.round((n - 1) * q),
    "midpoint": lambda n, q, of: (of.floor((n - 1) * q) + of.ceil((n - 1) * q)) / 2,
}
"""Functions from n, q and what they compute with to the place of a share q among n elements, by the method's name."""


def place_of(count: int, share: Any, method: str) -> Any:
    """The place of a share among `count` sorted elements, as a number or a tensor as the share is."""
    of: Any = _OfTensors if isinstance(share, Tensor) else _OfNumbers
    place, last = METHODS[method](count, share, of), count - 1
    return of.where(place < 0, 0, of.where(place > last, last, place))


@composite.calls("quantile")
def _quantile(
    x: Tensor, /, q: Sequence[float], *, axis: Axes = None, keepdims: bool = False, method: str = "linear"
) -> Tensor:
    """See `quantile`."""
    return _quantiles_at(x, q, axis=axis, keepdims=keepdims, method=method)


def _quantiles_at(x: Tensor, q: Sequence[Any], *, axis: Axes, keepdims: bool, method: str) -> Tensor:
    """The quantiles of shares that are numbers, or tensors without axes."""
    ordered, out = sort_axes(x, axis, keepdims)
    last = ordered.shape[-1] - 1
    missing = isnan(_entry_at(ordered, last))
    quantiles = []
    for share in q:
        place = place_of(last + 1, share, method)
        interpolate = _interpolate_at if isinstance(place, Tensor) else _interpolate
        entry = where(missing, math.nan, interpolate(ordered, place))
        quantiles.append(reshape(astype(entry, to_floating(x.dtype)), out.shape, names=out.names))
    return stack(quantiles, axis=0)


def _interpolate(ordered: Tensor, place: float) -> Tensor:
    """The value at a place between entries of the last axis."""
    below = math.floor(place)
    low, share = _entry_at(ordered, below), place - below
    if not share:
        return low
    high = _entry_at(ordered, below + 1)
    return middle(low, high) if share == 0.5 else between(low, high, share)


def _interpolate_at(ordered: Tensor, place: Tensor) -> Tensor:
    """As `_interpolate`, at a place that may have no data."""
    below = astype(floor(place), int64)
    low, high = (take(ordered, entry, axis=-1, mode="clip") for entry in (below, below + 1))
    share = astype(place - below, ordered.dtype)
    value = where(share == 0.5, middle(low, high), between(low, high, share))
    return where(share == 0, low, value)  # the next entry may be infinite


def between(low: Tensor, high: Tensor, share: float | Tensor) -> Tensor:
    """The value at a share of the way from one number to another."""
    weighted = low * (1 - share) + high * share
    # Equal entries, also infinite ones, are the result to the bit; both have their share of the gradient.
    same, infinite = low == high, isinf(low)
    rounding = stop_gradient(where(same, weighted - where(infinite, 0, low), 0))
    return where(logical_and(same, infinite), low, weighted - rounding)


@check_arguments
def quantile(
    x: TensorLike,
    q: float | Sequence[float] | Tensor,
    /,
    *,
    axis: Axes = None,
    keepdims: bool = False,
    method: str = "linear",
) -> Tensor:
    """Quantiles: the values below which a fraction q of the elements is; NaN if any element is NaN or there is none.

    Several q, in a list or along the axis of a tensor, add a new first axis, with the tensor's name. If a quantile is
    between two elements, `method` decides: `"linear"` interpolates, and the others are NumPy's: "inverted_cdf",
    "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull",
    "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest". Integers and bool are converted to
    the default floating dtype. Raises `ArgumentError` for a q that is not from 0 to 1 or an unknown method. A q that is
    traced or on a tape has a gradient; where it is not from 0 to 1 the result is NaN.

    >>> x = tb.asarray([1.0, 2.0, 3.0, 5.0])
    >>> tb.quantile(x, 0.5).item(), tb.quantile(x, (0, 1)).tolist(), tb.quantile(x, 0.4, method="lower").item()
    (2.5, [1.0, 5.0], 2.0)
    """
    _check_method(method)
    return quantiles_of(_quantile, _quantiles_at, x, q, 1, axis=axis, keepdims=keepdims, method=method)


@check_arguments
def percentile(
    x: TensorLike,
    q: float | Sequence[float] | Tensor,
    /,
    *,
    axis: Axes = None,
    keepdims: bool = False,
    method: str = "linear",
) -> Tensor:
    """Percentiles: `quantile` with q in percent.

    Raises `ArgumentError` for a q that is not from 0 to 100 or an unknown method.

    >>> tb.percentile(tb.asarray([1.0, 2.0, 3.0]), 50).item()
    2.0
    """
    _check_method(method)
    return quantiles_of(_quantile, _quantiles_at, x, q, 100, axis=axis, keepdims=keepdims, method=method)


def _check_method(method: str) -> None:
    """Raises `ArgumentError` for an unknown method of quantiles."""
    if method not in METHODS:
        raise ArgumentError(expected(f"method to be one of {', '.join(METHODS)}", method=method))


def quantiles_of(
    op: Callable[..., Tensor],
    at: Callable[..., Tensor],
    x: TensorLike,
    q: float | Sequence[float] | Tensor,
    whole: int,
    **options: Any,
) -> Tensor:
    """Quantiles by an op that stacks those of several fractions, with q as fractions of `whole`.

    `at` does so for fractions that a trace or a tape records; NaN for one that is not from 0 to 1.
    """
    x = asarray(x)
    check_dtype(x.dtype, "real or bool")
    axes = getattr(q, "ndim", 1 if isinstance(q, Sequence) else 0)
    if axes > 1:
        raise ArgumentError(expected("probabilities along one axis", "reshape() them", q=q))
    if isinstance(q, Tensor) and q.size and q.backend.dispatch_priority > 1:
        wide = astype(q.rename(*(None,) * axes), float64) / whole
        shares = [wide[place] for place in range(q.size)] if axes else [wide]
        inside = reshape(logical_and(wide >= 0, wide <= 1), (len(shares),))
        quantiles = at(x, shares, **options)
        inside = reshape(inside, (len(shares),) + (1,) * (quantiles.ndim - 1))
        quantiles = where(inside, quantiles, math.nan)
    else:
        numbers = tuple(map(float, q if axes else (q,)))  # type: ignore[arg-type] # with an axis it is iterable
        if not all(0 <= number <= whole for number in numbers) or not numbers:
            raise ArgumentError(expected(f"q to be one number or several, each from 0 to {whole}", q=q))
        quantiles = op(x, tuple(number / whole for number in numbers), **options)
    if not axes:
        return reshape(quantiles, quantiles.shape[1:], names=quantiles.names[1:])
    return rename(quantiles, *q.names, *quantiles.names[1:]) if isinstance(q, Tensor) else quantiles


@composite
def mode(x: Tensor, /, *, axis: Axis | None = None, keepdims: bool = False) -> Tensor:
    """The most frequent element along an axis, or of all elements; if there are several, the smallest of them.

    Each NaN is a different element. Raises `ShapeError` for axes without elements.

    >>> tb.mode(tb.asarray([3, 1, 3, 2])).item(), tb.mode(tb.asarray([[2, 1], [1, 1]]), axis=1).tolist()
    (3, [1, 1])
    """
    check_dtype(x.dtype, "real or bool")
    over = None if axis is None else normalize_axis(x.template, axis)
    out = reduction(x.template, over, keepdims, identity=False).out
    assert isinstance(out, Template)
    flat = laid_flat(x) if over is None else moveaxis(x, over, -1).rename(*(None,) * x.ndim)
    ordered = sort(flat, axis=-1)
    count, lead = ordered.shape[-1], ordered.shape[:-1]
    place = iota(ordered.shape, axis=ordered.ndim - 1)
    before, after = (
        slice_(ordered, starts=(*(0 for _ in lead), start), lengths=(*lead, count - 1), strides=(1,) * ordered.ndim)
        for start in (0, 1)
    )
    differs = concatenate([ones((*lead, 1), dtype="bool"), before != after], axis=-1)
    # The number of equal elements before each element: its distance from the start of its run.
    length = place - cumulative_max(where(differs, place, 0), axis=-1)
    chosen = argmax(length, axis=-1, keepdims=True)
    return reshape(take_along_axis_at(ordered, chosen, axis=-1, mode="clip"), out.shape, names=out.names)
