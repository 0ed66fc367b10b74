"""Random counts: the Poisson and the binomial distribution, by inversion and by rejection, in loops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..declarations.argument_errors import check_arguments
from ..dtypes import DType, DTypeLike, as_dtype, default_dtype, float32, float64, iinfo
from ..expr.jit import jit
from ..expr.while_loops import while_loop
from ..ops.composite.elementwise.functions import isfinite, stop_gradient
from ..ops.composite.elementwise.functions import logical_not as invert
from ..ops.composite.random.checks import is_probability, require
from ..ops.composite.random.continuous import uniform
from ..ops.composite.random.threefry import split
from ..ops.creation.filled import full, full_like, rename, tensor, zeros_like
from ..ops.elementwise.basic import astype, ceil, clip, floor, where
from ..ops.elementwise.binary import greater, less_equal, logical_and, logical_or
from ..ops.elementwise.transcendental import log, log1p, sqrt
from ..ops.indexing.slices import slice_basic
from ..ops.indexing.taking import take_at
from ..rules.broadcasting import check_dtype
from ..template import NamesLike
from ..tensor import Tensor, TensorLike
from . import floating_kind, named, spread_parameters, working_kind

_BY_INVERSION = 10
"""Means up to which counts are drawn by adding up waiting times; above, by rejection."""

_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)

_TAIL = (
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
    0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287,
)  # fmt: skip
"""log(k!) minus Stirling's formula without its series, for k from 0 to 9."""


def _uniform(key: Tensor, like: Tensor, kind: DType) -> Tensor:
    """Numbers from 0 to 1 that are drawn in a dtype, and computed with in that of others."""
    return astype(uniform(key, like.shape, kind), like.dtype)


def _reject(key: Tensor, like: Tensor, kind: DType, unused: Tensor, candidate: Any) -> Tensor:
    """Draws candidates until one is accepted for each element; none if all elements are unused.

    `candidate` takes u from -0.5 to 0.5 and v from 0 to 1, and returns a number and whether it is accepted.
    """

    def draw(state: tuple[Tensor, Tensor, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        drawn, accepted, key = state
        keys = split(key, 3)
        u, v = (_uniform(slice_basic(keys, place), like, kind) for place in (1, 2))
        k, accepts = candidate(u - 0.5, v)
        return where(accepts, k, drawn), logical_or(accepted, accepts), slice_basic(keys, 0)

    accepted = logical_and(full(like.shape, True, dtype="bool"), unused.all())
    first = full_like(like, -1), accepted, key
    drawn: Tensor = while_loop(lambda state: invert(state[1]).any(), draw, first)[0]
    return drawn


@jit
def _poisson(key: Tensor, rate: Tensor) -> Tensor:
    """Counts; -1 for numbers that are not rates in a trace, where a loop would not end."""
    known = logical_and(isfinite(rate), rate >= 0)
    few = logical_or(invert(known), rate < _BY_INVERSION)
    by_times = _poisson_by_times(key, where(logical_and(few, known), rate, 0))
    by_rejection = _poisson_by_rejection(key, where(few, 1e5, rate), few)
    return where(known, where(few, by_times, by_rejection), -1)


def _poisson_by_times(key: Tensor, rate: Tensor) -> Tensor:
    """The number of exponential waiting times that fit into the rate (Knuth)."""

    def draw(state: tuple[Tensor, Tensor, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        count, total, key = state
        keys = split(key)
        fits = total > -rate
        drawn = _uniform(slice_basic(keys, 1), rate, float32)
        return where(fits, count + 1, count), total + log(drawn), slice_basic(keys, 0)

    first = zeros_like(rate), zeros_like(rate), key
    counts: Tensor = while_loop(lambda state: greater(state[1], -rate).any(), draw, first)[0]
    return where(rate == 0, 0, counts - 1)


def _poisson_by_rejection(key: Tensor, rate: Tensor, unused: Tensor) -> Tensor:
    """The transformed rejection PTRS of W. Hörmann, 1993."""
    b = 0.931 + 2.53 * sqrt(rate)
    a = -0.059 + 0.02483 * b
    scale, quick = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2)

    def candidate(u: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        rest = 0.5 - abs(u)
        k = floor((2 * a / rest + b) * u + rate + 0.43)
        # The logarithm of the probability of k, in terms that are small where k is near the rate.
        after = k + 1
        density = k * log1p((rate - after) / after) + (after - rate) - 0.5 * log(after) - _HALF_LOG_2PI
        likely = log(v * scale / (a / (rest * rest) + b)) <= density - _stirling_rest(k)
        refused = logical_or(k < 0, logical_and(rest < 0.013, v > rest))
        inside = logical_and(rest >= 0.07, v <= quick)
        return k, logical_or(inside, logical_and(invert(refused), likely))

    return _reject(key, rate, float32, unused, candidate)


@check_arguments
def poisson(
    key: TensorLike,
    /,
    lam: TensorLike,
    shape: Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    *,
    names: NamesLike = None,
) -> Tensor:
    """Random counts of the Poisson distribution.

    Parameters
    ----------
    lam : Tensor or scalar
        The mean, at least 0.
    dtype : DType, optional
        An integer dtype, by default int64.

    Returns
    -------
    Tensor
        The sample. Counts beyond the dtype's largest number are that number.

    Raises
    ------
    ArgumentError
        For a number that is negative or not finite.
    DataError
        The same for tensors, whenever data can be read; in a trace, the count is -1, or 0 if the dtype has no sign.
    DTypeError
        For a dtype that is not an integer's.
    ShapeError
        For an invalid key, and a `lam` that does not broadcast to the shape.

    Notes
    -----
    Uniform numbers are drawn in float32, as in JAX, and counts are computed from them in float64: in float32, as JAX
    computes them, the variance would be 5 % too large for a mean of 1e6, and 75 % for one of 1e8.

    References
    ----------
    Hörmann, "The transformed rejection method for generating Poisson random variables", Insurance: Mathematics and
    Economics 12, 1993.

    Examples
    --------
    >>> x = tb.random.poisson(tb.random.key(0), tb.asarray([0.0, 4.0], names=("site",)), (1000, 2))
    >>> x.template, tb.max(x[:, 0]).item(), abs(tb.mean(x[:, 1]).item() - 4) < 0.3
    (s64[1000][site: 2], 0, True)
    """
    kind = check_dtype(default_dtype("int") if dtype is None else as_dtype(dtype), "integer", "choose an integer dtype")
    key, (rate,) = spread_parameters(key, shape, float64, lam)
    require("a finite lam of at least 0", lambda x: logical_and(isfinite(x), x >= 0), lam=(lam, rate))
    counts = _poisson(key, stop_gradient(rename(rate, *(None,) * rate.ndim)))
    return named(astype(clip(counts, max(-1, iinfo(kind).min), iinfo(kind).max), kind), names, rate)


def _stirling_rest(k: Tensor) -> Tensor:
    """log(k!) minus Stirling's formula without its series: (k + 0.5) log(k + 1) - (k + 1) + 0.5 log(2 pi)."""
    place = astype(clip(k, 0, len(_TAIL) - 1), "int32")
    small = take_at(tensor(_TAIL, dtype=k.dtype), place, axis=0, mode="clip")
    next_square = (k + 1) * (k + 1)
    return where(k < len(_TAIL), small, (1 / 12 - (1 / 360 - 1 / 1260 / next_square) / next_square) / (k + 1))


@jit(static_argnums=(3,))
def _binomial(key: Tensor, count: Tensor, p: Tensor, kind: DType) -> Tensor:
    """Counts for probabilities up to 0.5; NaN for other numbers in a trace, where a loop would not end."""
    known = logical_and(logical_and(isfinite(count), count >= 0), is_probability(p))
    count, p = where(known, count, 0), where(known, p, 0)
    few = count * p <= _BY_INVERSION
    by_times = _binomial_by_times(key, where(few, count, 0), p, kind)
    by_rejection = _binomial_by_rejection(key, where(few, 1e4, count), where(few, 0.5, p), kind, few)
    return where(known, where(few, by_times, by_rejection), math.nan)


def _binomial_by_times(key: Tensor, count: Tensor, p: Tensor, kind: DType) -> Tensor:
    """The number of geometric waiting times that fit into the number of trials (Devroye, 1986, X.4.3)."""
    of_failure = -abs(log1p(-p))  # -0.0 for a p of either sign of 0, so that the first time is infinite

    def draw(state: tuple[Tensor, Tensor, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        number, total, key = state
        keys = split(key)
        drawn = _uniform(slice_basic(keys, 0), count, kind)
        waiting = ceil(log(drawn) / of_failure)
        return where(total <= count, number + 1, number), total + waiting, slice_basic(keys, 1)

    first = zeros_like(count), zeros_like(count), key
    number: Tensor = while_loop(lambda state: less_equal(state[1], count).any(), draw, first)[0]
    return number - 1


def _binomial_by_rejection(key: Tensor, count: Tensor, p: Tensor, kind: DType, unused: Tensor) -> Tensor:
    """The transformed rejection BTRS of W. Hörmann, 1993."""
    deviation = sqrt(count * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    centre, quick, odds = count * p + 0.5, 0.92 - 4.2 / b, p / (1 - p)
    scale = (2.83 + 5.1 / b) * deviation
    most = floor((count + 1) * p)

    def candidate(u: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        rest = 0.5 - abs(u)
        k = floor((2 * a / rest + b) * u + centre)
        level = log(v * scale / (a / (rest * rest) + b))
        bound = (most + 0.5) * log((most + 1) / (odds * (count - most + 1)))
        bound = bound + (count + 1) * log((count - most + 1) / (count - k + 1))
        bound = bound + (k + 0.5) * log(odds * (count - k + 1) / (k + 1))
        bound = bound + _stirling_rest(most) + _stirling_rest(count - most)
        bound = bound - _stirling_rest(k) - _stirling_rest(count - k)
        refused = logical_or(k < 0, k > count)
        inside = logical_and(rest >= 0.07, v <= quick)
        return k, logical_or(inside, logical_and(invert(refused), level <= bound))

    return _reject(key, count, kind, unused, candidate)


@check_arguments
def binomial(
    key: TensorLike,
    /,
    n: TensorLike,
    p: TensorLike,
    shape: Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    *,
    names: NamesLike = None,
) -> Tensor:
    """Random numbers of successes in n trials.

    Parameters
    ----------
    n : Tensor or scalar
        The number of trials, at least 0; of a number that is not whole, the part after the point is dropped.
    p : Tensor or scalar
        The probability of a success, from 0 to 1.
    dtype : DType, optional
        A floating dtype, as in JAX; by default that of a floating parameter, else the default one.

    Returns
    -------
    Tensor
        The sample: whole numbers.

    Raises
    ------
    ArgumentError
        For numbers out of their ranges.
    DataError
        The same for tensors, whenever data can be read; in a trace, the sample is NaN.
    DTypeError
        For a dtype that is not floating.
    ShapeError
        For an invalid key, and parameters that do not broadcast to the shape.

    Notes
    -----
    Uniform numbers are drawn in the sample's dtype, in float32 at least, and counts are computed from them in float64:
    in float32 the variance would be 40 % too large for 1e8 trials.

    References
    ----------
    Hörmann, "The generation of binomial random variates", Journal of Statistical Computation and Simulation 46, 1993.

    Examples
    --------
    >>> x = tb.random.binomial(tb.random.key(0), 100, 0.3, (1000,))
    >>> abs(tb.mean(x).item() - 30) < 1
    True
    """
    kind = floating_kind(dtype, n, p)
    key, (count, share) = spread_parameters(key, shape, float64, n, p)
    require("a finite n of at least 0", lambda x: logical_and(isfinite(x), x >= 0), n=(n, count))
    require("a probability p from 0 to 1", is_probability, p=(p, share))
    trials, chance = (stop_gradient(rename(x, *(None,) * x.ndim)) for x in (floor(count), share))
    rare = chance < 0.5
    successes = _binomial(key, trials, where(rare, chance, 1 - chance), working_kind(kind))
    return named(astype(where(rare, successes, trials - successes), kind), names, count)
