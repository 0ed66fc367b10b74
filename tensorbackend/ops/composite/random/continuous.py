"""Random numbers of continuous distributions, from a key.

Each takes a shape, a floating dtype (the default one if it is omitted) and names of the axes. Parameters may be
numbers or tensors that broadcast to the shape. `uniform` returns the numbers of `jax.random` to the bit. The others
are computed from uniform numbers by JAX's formulas, and differ only in the last digits of functions such as `log`.
Errors: `DTypeError` and `ShapeError` for an invalid key, a dtype that is not floating, and parameters that do not
broadcast to the shape.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ....declarations.argument_errors import check_arguments
from ....dispatch import composite
from ....dtypes import (
    REAL_OF,
    DType,
    DTypeLike,
    as_dtype,
    check_scalar,
    default_dtype,
    finfo,
    float32,
    float64,
    promote_types,
    scalar_kind,
)
from ....rules.accuracy import Bound
from ....rules.broadcasting import broadcast, check_dtype
from ....rules.random import RandomMode, check_fits, check_floating, check_key, check_mode
from ....template import NamesLike, Shape, as_shape
from ....tensor import Tensor, TensorLike
from ...creation.filled import full
from ...creation.values import operand_tensor, operand_tensors
from ...elementwise.basic import abs, astype, clip, imag, real, sign, where
from ...elementwise.binary import greater, less, maximum
from ...elementwise.transcendental import erf_inv, log, log1p
from ...indexing.slices import slice_basic
from ..elementwise.functions import complex, nextafter, stop_gradient
from .checks import in_ascending_order, require, require_bounds
from .threefry import fractions, name_axes, split, uniform_between
from .truncation import Side, quantile, side_of, side_quantile, standardise


def parameter(value: TensorLike, dtype: DType, key: Tensor) -> Tensor:
    """A parameter of a distribution as a tensor in the sample's dtype; a Python number is put on the key's backend."""
    if not isinstance(value, Tensor) and scalar_kind(value) is not None:
        check_scalar(value, dtype)  # type: ignore[arg-type] # a Python number, by its kind
        return full((), value, dtype=dtype, backend=key.backend)
    _, tensor = operand_tensors(key, value)
    return tensor if tensor.dtype is dtype else astype(tensor, dtype)


@composite.calls("random_uniform")
def _uniform(
    key: Tensor, low: Tensor, high: Tensor, /, *, shape: Sequence[int], dtype: DTypeLike, names: NamesLike
) -> Tensor:
    """See `uniform`."""
    check_key(key.template)
    check_dtype(low.dtype, "floating or complex", "choose a floating or complex dtype")
    sizes = as_shape(shape)
    if not low.dtype.is_complex:
        return name_axes(uniform_between(key, low, high, sizes), names)
    keys = split(key)
    halves = [uniform_between(keys[place], part(low), part(high), sizes) for place, part in enumerate((real, imag))]
    return name_axes(complex(*halves), names)


@check_arguments
def uniform(
    key: TensorLike,
    /,
    shape: Sequence[int] = (),
    dtype: DTypeLike | None = None,
    minval: TensorLike = 0.0,
    maxval: TensorLike = 1.0,
    *,
    names: NamesLike = None,
) -> Tensor:
    """Uniform random numbers from `minval` up to but excluding `maxval`.

    With bounds other than 0 and 1, numbers just below `maxval` may round to it.

    Parameters
    ----------
    dtype : DType, optional
        A floating or complex dtype; by default the default complex dtype if a bound is complex, else the default
        floating dtype.
    minval, maxval : Tensor or scalar, default 0 and 1
        The bounds, which broadcast to the shape. The real parts of complex bounds are the bounds of the sample's real
        parts, and their imaginary parts those of its imaginary parts.

    Raises
    ------
    DTypeError
        For another dtype, and for complex bounds of a floating sample.
    ShapeError
        For an invalid key, and bounds that do not broadcast to the shape.
    ArgumentError
        For numbers as bounds with `minval` above `maxval`, or with a difference that the dtype does not hold.
    DataError
        The same for tensors, whenever data can be read. In a trace, the result is `minval` if that is above
        `maxval`, and infinite if the difference is.

    Examples
    --------
    >>> tb.random.uniform(tb.random.key(0), (2,), names=("n",)).template
    f32[n: 2]
    >>> tb.random.uniform(tb.random.key(0), maxval=1 + 2j).dtype
    complex64
    """
    key = operand_tensor(key, minval, maxval)
    if dtype is None:
        bounds = (minval, maxval)
        several = any(
            bound.dtype.is_complex if isinstance(bound, Tensor) else scalar_kind(bound) == "complex" for bound in bounds
        )
        kind = default_dtype("complex" if several else "float")
    else:
        kind = check_dtype(as_dtype(dtype), "floating or complex", "choose a floating or complex dtype")
    low, high = parameter(minval, kind, key), parameter(maxval, kind, key)
    sample = _uniform(key, low, high, shape=as_shape(shape), dtype=kind, names=names)
    if not in_ascending_order(minval, maxval, finfo(REAL_OF.get(kind, kind)).max):
        require_bounds(minval, maxval, low, high)
    return sample


def standard_normal(key: Tensor, shape: Shape, dtype: DType) -> Tensor:
    """Normal numbers of mean 0 and standard deviation 1, by the inverse of the distribution function."""
    # From the float next to -1, where erf_inv is still finite, up to but excluding 1.
    spread = fractions(key, shape, dtype) * 2 + (-1 + finfo(dtype).eps / 2)
    return erf_inv(spread) * math.sqrt(2)


@composite.calls("random_normal").within(Bound(10, "the inverse of a distribution function"))
def _normal(
    key: Tensor, mean: Tensor, deviation: Tensor, /, *, shape: Sequence[int], dtype: DTypeLike, names: NamesLike
) -> Tensor:
    """See `normal`."""
    check_key(key.template)
    sizes = as_shape(shape)
    kind = mean.dtype
    check_fits(sizes, mean.template, deviation.template)
    if not kind.is_complex:
        sample = standard_normal(key, sizes, kind)
    else:
        keys = split(key)
        halves = [standard_normal(keys[part], sizes, REAL_OF[kind]) * math.sqrt(0.5) for part in (0, 1)]
        sample = halves[0] + astype(halves[1], kind) * 1j
    return name_axes(mean + sample * deviation, names)


@check_arguments
def normal(
    key: TensorLike,
    /,
    shape: Sequence[int] = (),
    dtype: DTypeLike | None = None,
    *,
    mean: TensorLike = 0.0,
    deviation: TensorLike = 1.0,
    names: NamesLike = None,
) -> Tensor:
    """Random normal numbers with a mean and a standard deviation.

    The real and imaginary parts of complex numbers each have half the variance.

    >>> tb.random.normal(tb.random.key(0), (3, 4), "bf16").template
    bf16[3][4]
    """
    key = operand_tensor(key, mean, deviation)
    kind = default_dtype("float") if dtype is None else as_dtype(dtype)
    check_dtype(kind, "floating or complex", "choose a floating or complex dtype")
    centre, width = parameter(mean, kind, key), parameter(deviation, kind, key)
    return _normal(key, centre, width, shape=as_shape(shape), dtype=kind, names=names)


@composite.within(Bound(32, "the inverse of a distribution function between two of its values", "one"))
def _truncated_normal(
    key: Tensor,
    lower: Tensor,
    upper: Tensor,
    moments: Sequence[Tensor],
    /,
    *,
    shape: Sequence[int] | None,
    side: Side,
    names: NamesLike,
) -> Tensor:
    """See `truncated_normal`; `moments` are a mean and a deviation, or none for 0 and 1.

    `side` says where the bounds are, which decides what is computed.
    """
    check_key(key.template)
    edges, dtype = [lower, upper], lower.dtype
    sizes = broadcast([operand.template for operand in (*edges, *moments)])[0] if shape is None else as_shape(shape)
    check_fits(sizes, *(operand.template for operand in (*edges, *moments)))
    fraction = fractions(key, sizes, dtype)
    if side == "centre":
        low, high = (standardise(edge, moments) for edge in edges)
        sample = quantile(fraction, low, high)
    else:  # in float64, as edges far away from the mean must not be rounded
        wide_moments = [astype(moment, float64) for moment in moments]
        low, high = (standardise(astype(edge, float64), wide_moments) for edge in edges)
        sample = astype(side_quantile(astype(fraction, float64), low, high, side, dtype), dtype)
    if moments:
        mean, deviation = moments
        sample = sample * deviation + mean
    first, last = nextafter(stop_gradient(lower), math.inf), nextafter(stop_gradient(upper), -math.inf)
    inside = clip(sample, first, last)
    return name_axes(inside, names)


@check_arguments
def truncated_normal(
    key: TensorLike,
    /,
    lower: TensorLike,
    upper: TensorLike,
    shape: Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    *,
    mean: TensorLike = 0.0,
    deviation: TensorLike = 1.0,
    names: NamesLike = None,
) -> Tensor:
    """Random normal numbers between two bounds.

    Parameters
    ----------
    lower, upper : Tensor or scalar
        The bounds: all numbers are above `lower` and below `upper`.
    shape : sequence of int, optional
        The shape of the sample, by default the one to which the bounds and moments broadcast.
    mean, deviation : Tensor or scalar, default 0 and 1
        The mean and the standard deviation of the normal distribution that is truncated at the bounds.

    Returns
    -------
    Tensor
        The sample. Its gradient by bounds and moments is that of the inverse distribution function. Where both bounds
        are on one side of the mean, more than one deviation away from it, the numbers are computed from the logarithm
        of the probability of larger ones, so that they are distributed as finely as elsewhere; other numbers
        are computed as JAX computes them.

    Raises
    ------
    ArgumentError
        For numbers as bounds unless `lower` is below `upper`, and for a deviation that is not above 0.
    DataError
        The same for tensors, whenever data can be read. In a trace, the result is any number.
    DTypeError
        For a dtype that is not floating.
    ShapeError
        For an invalid key, and bounds or moments that do not broadcast to the shape.

    Examples
    --------
    >>> bool(tb.all(tb.abs(tb.random.truncated_normal(tb.random.key(0), -2, 2, (100,))) < 2))
    True
    >>> prices = tb.random.truncated_normal(tb.random.key(0), 0, 20, (100,), mean=12.0, deviation=5.0)
    >>> bool(tb.all((0 < prices) & (prices < 20)))
    True
    """
    key = operand_tensor(key, lower, upper, mean, deviation)
    kind = check_floating(None if dtype is None else as_dtype(dtype))
    low, high = parameter(lower, kind, key), parameter(upper, kind, key)
    requested_moments = (mean, deviation)
    standard = all(scalar_kind(moment) is not None for moment in requested_moments) and requested_moments == (0, 1)
    moments = [] if standard else [parameter(moment, kind, key) for moment in requested_moments]
    side = side_of(lower, upper, mean, deviation)
    sizes = None if shape is None else as_shape(shape)
    sample = _truncated_normal(key, low, high, moments, shape=sizes, side=side, names=names)
    if not in_ascending_order(lower, upper):
        require("lower below upper", less, lower=(lower, low), upper=(upper, high))
    if moments and not in_ascending_order(0, deviation):
        require("a deviation above 0", lambda width: greater(width, 0), deviation=(deviation, moments[1]))
    return sample


def _widened(x: Tensor) -> Tensor:
    """At least float32, for logarithms whose rounding to a narrower dtype is the same on every backend."""
    return astype(x, promote_types(x.dtype, float32))


@composite.within(Bound(10, "the inverse of a distribution function"))
def exponential(
    key: Tensor, /, shape: Sequence[int] = (), dtype: DTypeLike | None = None, *, names: NamesLike = None
) -> Tensor:
    """Random numbers of the exponential distribution with mean 1.

    >>> bool(tb.random.exponential(tb.random.key(0)) >= 0)
    True
    """
    kind = check_floating(None if dtype is None else as_dtype(dtype))
    # 1 - u is above 0 and at most 1, where the logarithm is finite.
    return name_axes(astype(-log1p(-_widened(fractions(key, as_shape(shape), kind))), kind), names)


def standard_gumbel(key: Tensor, shape: Shape, dtype: DType, mode: RandomMode) -> Tensor:
    """See `gumbel`."""
    # The maximum keeps 0 out of the logarithm. Adding the number, as JAX does, has no effect where XLA joins the
    # addition with the subtraction of 1 in `fractions`.
    smallest = finfo(dtype).smallest_normal
    if check_mode(mode) == "low":
        return astype(-log(-log(_widened(maximum(fractions(key, shape, dtype), smallest)))), dtype)
    drawn = fractions(key, (2, *shape), dtype)
    coarse, fine = slice_basic(drawn, 0), slice_basic(drawn, 1)
    # Below 0.5, floats are dense enough for more bits below the last bit of `coarse`.
    together = maximum(coarse + fine * finfo(dtype).eps, smallest)
    small = where(coarse >= 0.5, coarse, together)
    return astype(-log(-log1p(-_widened(small))), dtype)


@composite.within(Bound(8, "the logarithm of a logarithm near 1", "one"))
def gumbel(
    key: Tensor,
    /,
    shape: Sequence[int] = (),
    dtype: DTypeLike | None = None,
    mode: RandomMode = "low",
    *,
    names: NamesLike = None,
) -> Tensor:
    """Random numbers of the standard Gumbel distribution, exp(-exp(-x)).

    In float32 the largest numbers of `mode="low"` are about 16; `mode="high"` draws twice as many bits and reaches 32.

    >>> tb.random.gumbel(tb.random.key(0), (2,), "f64").dtype
    float64
    """
    kind = check_floating(None if dtype is None else as_dtype(dtype))
    return name_axes(standard_gumbel(key, as_shape(shape), kind, mode), names)


@composite.within(Bound(10, "the inverse of a distribution function"))
def laplace(
    key: Tensor, /, shape: Sequence[int] = (), dtype: DTypeLike | None = None, *, names: NamesLike = None
) -> Tensor:
    """Random numbers of the Laplace distribution with mean 0 and scale 1: their density is exp(-abs(x)) / 2.

    >>> x = tb.random.laplace(tb.random.key(0), (1000,))
    >>> 0.9 < tb.mean(tb.abs(x)).item() < 1.1
    True
    """
    kind = check_floating(None if dtype is None else as_dtype(dtype))
    low, high = full((), -1 + float(finfo(kind).eps) / 2, dtype=kind), full((), 1, dtype=kind)
    u = _widened(uniform_between(key, low, high, as_shape(shape)))
    return name_axes(astype(sign(u) * log1p(-abs(u)), kind), names)
