"""Random integers, truth values, orders and choices, from a key, by the formulas of `jax.random`.

Parameters may be numbers or tensors that broadcast to the shape. Errors: `DTypeError` and `ShapeError` for an
invalid key, a dtype of the wrong kind, and parameters that do not broadcast to the shape.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import index

from ....annotations import Axis
from ....declarations.argument_errors import check_arguments
from ....dispatch import composite
from ....dtypes import DType, DTypeLike, as_dtype, default_dtype, finfo, iinfo, int32, int64, scalar_kind, uint64
from ....errors import ArgumentError, OperandError, OutOfRangeError, ShapeError, expected
from ....rules.axes import normalize_axis
from ....rules.broadcasting import check_dtype
from ....rules.plan import flag, integer
from ....rules.random import RandomMode, check_fits, check_floating, check_key, check_mode
from ....select import common_backend
from ....template import NamesLike, Template, as_shape
from ....tensor import Tensor, TensorLike
from ...creation.filled import full, iota, rename, zeros
from ...creation.values import operand_tensor, operand_tensors
from ...elementwise.basic import astype, clip, where
from ...elementwise.binary import logical_and, maximum
from ...elementwise.transcendental import log
from ...indexing.slices import slice_basic
from ...indexing.taking import take_along_axis_at, take_at
from ...reduction import argmax
from ...shape import reshape
from ...sorting import argsort
from ..cumulative import cumulative_sum
from ..shape.arranging import moveaxis
from ..sorting.searching import searchsorted
from .checks import is_probability, require, require_classes, require_weights
from .continuous import parameter, standard_gumbel
from .threefry import fractions, name_axes, random_bits, split

# Integers


@composite
def _randint(
    key: Tensor, low: Tensor, high: Tensor, /, *, shape: Sequence[int], dtype: DTypeLike, names: NamesLike
) -> Tensor:
    """See `randint`."""
    check_key(key.template)
    sizes, kind = as_shape(shape), as_dtype(dtype)
    check_fits(sizes, low.template, high.template)
    # Narrow integers are drawn with 32 bits, as remainders of fewer bits are less evenly distributed.
    wide = kind if kind.bits >= 32 else int32
    beyond = high > min(iinfo(wide).max, iinfo(high.dtype).max) if kind is wide else full((), False)
    least, most = _clip_bound(low, kind, wide, 0), _clip_bound(high, kind, wide, 1)
    word = as_dtype(f"uint{wide.bits}")
    none = most <= least
    span = where(none, 1, astype(most - least, word))
    # Add 1 where `high` was above the dtype's maximum and clipped to it; the span of all integers wraps to 0.
    span = span + astype(logical_and(beyond, most > least), word)
    keys = split(key)
    upper, lower = (random_bits(keys[part], sizes, word) for part in (0, 1))
    # Two words are one number of twice the bits, upper * 2**bits + lower. Its remainder is computed part by part, and
    # the products wrap where the span needs more than half of the bits.
    half = _modulo(full((), 1 << wide.bits // 2, dtype=word), span)
    factor = _modulo(half * half, span)
    offset = _modulo(upper, span) * factor + _modulo(lower, span)
    return name_axes(astype(least + astype(_modulo(offset, span), wide), kind), names)


def _clip_bound(bound: Tensor, kind: DType, wide: DType, above: int) -> Tensor:
    """A bound in the dtype that samples are computed in, clipped to the range of the result's dtype."""
    limits, bound_limits = iinfo(kind), iinfo(bound.dtype)
    above = above if kind is not wide else 0
    return astype(clip(bound, max(limits.min, bound_limits.min), min(limits.max + above, bound_limits.max)), wide)


def _modulo(x: Tensor, span: Tensor) -> Tensor:
    """The remainder of x by a span; a span of 0 means 2**bits, so x is its own remainder."""
    return x - x // maximum(span, 1) * span


@check_arguments
def randint(
    key: TensorLike,
    /,
    shape: Sequence[int],
    minval: TensorLike,
    maxval: TensorLike,
    dtype: DTypeLike | None = None,
    *,
    names: NamesLike = None,
) -> Tensor:
    """Random integers from `minval` up to but excluding `maxval`, int64 by default.

    The numbers depend on the width of the dtype: JAX's default numbers are those of int32 here. They are
    remainders of random words, so unless maxval - minval is a power of 2, some numbers are slightly more likely
    than others. The smaller maxval - minval is compared with the dtype's range, the smaller this effect. Bounds that
    are tensors are clipped to that range, and if `minval` is not below `maxval`, the result is `minval`. For Python
    numbers, raises `ArgumentError` unless `minval` is below `maxval`, and `OutOfRangeError` for bounds that the dtype
    does not hold. `maxval` may be one above the largest integer of the dtype, unless that is uint64.

    >>> die = tb.random.randint(tb.random.key(0), (600,), 1, 7)
    >>> tb.min(die).item(), tb.max(die).item()
    (1, 6)
    """
    if isinstance(minval, list | tuple) or isinstance(maxval, list | tuple):
        remedy = "the order is key, shape, minval, maxval"
        raise OperandError(expected("a number or a tensor as a bound", remedy, minval=minval, maxval=maxval))
    key = operand_tensor(key, minval, maxval)
    kind = check_dtype(default_dtype("int") if dtype is None else as_dtype(dtype), "integer", "choose an integer dtype")
    if isinstance(minval, int) and isinstance(maxval, int) and minval >= maxval:
        raise ArgumentError(expected("minval below maxval", minval=minval, maxval=maxval))
    low, high = _bound(minval, kind, 0, key), _bound(maxval, kind, 1, key)
    return _randint(key, low, high, shape=as_shape(shape), dtype=kind, names=names)


def _bound(value: TensorLike, dtype: DType, above: int, key: Tensor) -> Tensor:
    """A bound of integers as a tensor; a Python number may exceed the dtype's largest integer by `above`."""
    if scalar_kind(value) is None:
        _, bound = operand_tensors(key, value)
        check_dtype(bound.dtype, "integer", "cast the bounds with astype()")
        return bound
    try:
        number = index(value)  # type: ignore[arg-type] # a Python number
    except TypeError:
        raise OperandError(expected("integers as bounds", bound=value)) from None
    limits = iinfo(dtype)
    if not limits.min <= number <= min(limits.max + above, iinfo(uint64).max):
        expectation = f"bounds from {limits.min} to {limits.max} for {dtype}"
        raise OutOfRangeError(expected(expectation, "choose a wider dtype, or bits() for all integers", bound=number))
    return full((), number, dtype=int64 if number <= iinfo(int64).max else uint64, backend=key.backend)


# Truth values and classes


@composite
def _bernoulli(key: Tensor, p: Tensor, /, *, shape: Sequence[int] | None, mode: RandomMode, names: NamesLike) -> Tensor:
    """See `bernoulli`."""
    check_key(key.template)
    check_mode(mode)
    dtype = check_dtype(p.dtype, "floating")
    sizes = p.shape if shape is None else as_shape(shape)
    check_fits(sizes, p.template)
    if mode == "low":
        return name_axes(fractions(key, sizes, dtype) < p, names)
    drawn = fractions(key, (2, *sizes), dtype)
    fine = slice_basic(drawn, 1) * finfo(dtype).eps
    return name_axes(fine < p - slice_basic(drawn, 0), names)


@check_arguments
def bernoulli(
    key: TensorLike,
    /,
    p: TensorLike = 0.5,
    shape: Sequence[int] | None = None,
    mode: RandomMode = "low",
    *,
    names: NamesLike = None,
) -> Tensor:
    """Random bools that are true with probability `p`, a number or a tensor.

    Probabilities below the eps of their dtype need `mode="high"`, which draws twice as many bits. Raises
    `ArgumentError` for a number that is not from 0 to 1, and `DataError` for such an element of a tensor whenever data
    can be read; in a trace, numbers below 0 are treated as 0, those above 1 as 1, and NaN as 0.

    >>> tb.random.bernoulli(tb.random.key(0), tb.asarray([0.0, 1.0])).tolist()
    [False, True]
    """
    key = operand_tensor(key, p)
    kind = default_dtype("float") if scalar_kind(p) else operand_tensors(key, p)[1].dtype
    likely = parameter(p, kind, key)
    sample = _bernoulli(key, likely, shape=None if shape is None else as_shape(shape), mode=mode, names=names)
    if p.__class__ is not float or not 0.0 <= p <= 1.0:
        require("a probability from 0 to 1", is_probability, p=(p, likely))
    return sample


@composite
def _categorical(
    key: Tensor,
    logits: Tensor,
    /,
    *,
    axis: int | str,
    shape: Sequence[int] | None,
    replace: bool,
    mode: RandomMode,
    names: NamesLike,
) -> Tensor:
    """See `categorical`."""
    check_key(key.template)
    dtype = check_dtype(logits.dtype, "floating")
    # `axis` is not annotated Axis, as the dispatcher would convert it to a position in the key.
    along = normalize_axis(logits.template, axis)
    batch = logits.shape[:along] + logits.shape[along + 1 :]
    sizes = batch if shape is None else as_shape(shape)
    check_fits(sizes, Template(batch, dtype))
    prefix, places = sizes[: len(sizes) - len(batch)], sizes[len(sizes) - len(batch) :]
    if flag(replace=replace):
        whole = (*prefix, *places[:along], logits.shape[along], *places[along:])
        classes = argmax(standard_gumbel(key, whole, dtype, mode) + logits, axis=len(prefix) + along)
        return name_axes(classes, names)
    count = math.prod(prefix)
    if count > logits.shape[along]:
        expectation = f"at most {logits.shape[along]} different classes"
        raise ArgumentError(expected(expectation, "pass replace=True", shape=sizes))
    if places != batch:
        raise ShapeError(
            expected(f"a shape that ends in {batch}", "broadcast the logits first, with broadcast_to()", shape=sizes)
        )
    order = _largest_indices(standard_gumbel(key, logits.shape, dtype, mode) + logits, along, count)
    classes = reshape(moveaxis(order, along, 0), (*prefix, *batch))
    others = logits.names[:along] + logits.names[along + 1 :]
    return name_axes(classes, (None,) * len(prefix) + others if names is None else names)


@check_arguments
def categorical(
    key: TensorLike,
    logits: TensorLike,
    /,
    axis: int | str = -1,
    shape: Sequence[int] | None = None,
    replace: bool = True,
    mode: RandomMode = "low",
    *,
    names: NamesLike = None,
) -> Tensor:
    """Random classes (int64) with probabilities softmax(logits) along an axis.

    A `shape` with more leading axes than the logits draws several classes for each place; with `replace=False` these
    are all different. Raises `ArgumentError` if more different classes are requested than there are. Raises
    `DataError` whenever data can be read if a logit is NaN, or fewer classes than needed have a logit above -inf; in a
    trace, NaN is treated as the largest logit, and classes of -inf are drawn if no others remain.

    The class is the one with the largest sum of its logit and a Gumbel number; several different classes are those
    with the largest sums (Kool, van Hoof and Welling, "Stochastic beams and where to find them", 2019).

    >>> logits = tb.asarray([[0.0, -100.0], [-100.0, 0.0]], names=("batch", "class"))
    >>> tb.random.categorical(tb.random.key(0), logits, axis="class")
    s64[batch: 2] numpy [0, 1]
    """
    key, scores = operand_tensors(key, logits)
    sizes = None if shape is None else as_shape(shape)
    classes = _categorical(key, scores, axis=axis, shape=sizes, replace=replace, mode=mode, names=names)
    several = 1 if replace or sizes is None else math.prod(sizes[: len(sizes) - scores.ndim + 1])
    require_classes(scores, normalize_axis(scores.template, axis), several)
    return classes


def _largest_indices(x: Tensor, axis: int, count: int) -> Tensor:
    """The indices of the `count` largest elements along an axis, in descending order of the elements."""
    return slice_basic(argsort(x, axis=axis, descending=True), (slice(None),) * axis + (slice(count),))


# Orders


@composite
def shuffle(key: Tensor, x: Tensor, /, axis: int | str = 0, independent: bool = False) -> Tensor:
    """Shuffle the entries of x along an axis; if `independent`, each vector along the axis separately.

    The entries are sorted by random words, repeatedly, so that two entries are unlikely to have equal words every time.

    >>> x = tb.iota(5, names=("n",))
    >>> tb.sort(tb.random.shuffle(tb.random.key(0), x)).tolist()
    [0, 1, 2, 3, 4]
    """
    check_key(key.template)
    # `axis` is not annotated Axis, as the dispatcher would convert it to a position in the key.
    along = normalize_axis(x.template, axis)
    if independent:
        for part in _parts(key, x.size):
            drawn = argsort(random_bits(part, x.shape, _WORD), axis=along)
            x = take_along_axis_at(x, drawn, axis=along, mode="clip")
        return x
    size = x.shape[along]
    order = None
    for part in _parts(key, size):
        drawn = argsort(random_bits(part, (size,), _WORD))
        order = drawn if order is None else take_at(order, drawn, axis=0, mode="clip")
    return x if order is None else rename(take_at(x, order, axis=along, mode="clip"), *x.names)


_WORD = as_dtype("uint32")


def _parts(key: Tensor, size: int) -> list[Tensor]:
    """A key for each round of sorting that `size` elements need: 3 log(size) / log(2**32 - 1) rounds, rounded up."""
    parts = []
    for _ in range(math.ceil(3 * math.log(max(1, size)) / math.log(iinfo(_WORD).max))):
        keys = split(key)
        key = keys[0]
        parts.append(keys[1])
    return parts


@check_arguments
def permutation(key: TensorLike, x: TensorLike, /, axis: Axis = 0, independent: bool = False) -> Tensor:
    """Return the integers below x in random order, or the entries of a tensor x as in `shuffle`.

    >>> sorted(tb.random.permutation(tb.random.key(0), 4).tolist())
    [0, 1, 2, 3]
    """
    key = operand_tensor(key, x)
    if scalar_kind(x) is not None:
        return shuffle(key, iota(integer(0, x=x), backend=key.backend))
    return shuffle(key, x, axis=axis, independent=independent)


# Choices


@composite
def _choice(
    key: Tensor, inputs: Sequence[Tensor], /, *, size: int, shape: Sequence[int], replace: bool, mode: RandomMode
) -> Tensor:
    """Random positions below `size`; `inputs` holds their probabilities, or nothing if they are equally likely."""
    check_key(key.template)
    sizes = as_shape(shape)
    count = math.prod(sizes)
    if not inputs:
        if replace:
            # JAX's numbers, for which it uses int32 as long as that suffices.
            kind = int32 if size <= iinfo(int32).max else int64
            return astype(randint(key, sizes, 0, size, kind), int64)
        return reshape(slice_basic(shuffle(key, iota(size)), slice(count)), sizes)
    (p,) = inputs
    dtype = check_floating(p.dtype)
    if p.shape != (size,):
        raise ShapeError(expected(f"{size} probabilities along one axis", p=p.template))
    if replace:
        running = cumulative_sum(p)
        total = slice_basic(running, -1)
        return searchsorted(running, total * (1 - fractions(key, sizes, dtype)))
    order = _largest_indices(standard_gumbel(key, (size,), dtype, mode) + log(p), 0, count)
    return reshape(order, sizes)


@check_arguments
def choice(
    key: TensorLike,
    a: TensorLike,
    /,
    shape: Sequence[int] = (),
    replace: bool = True,
    p: TensorLike | None = None,
    axis: Axis = 0,
    mode: RandomMode = "low",
    *,
    names: NamesLike = None,
) -> Tensor:
    """Random entries of a tensor along an axis, or random integers below `a`.

    The entries are equally likely unless a vector `p` holds their probabilities, and all different if `replace` is
    false. Probabilities are divided by their sum. Raises `ArgumentError` for a choice from nothing, or if more
    different entries are requested than there are. Raises `DataError` whenever data can be read for a probability that
    is negative, infinite or NaN, and if fewer entries than needed have one above 0; in a trace, any entries may then be
    drawn.

    >>> tb.random.choice(tb.random.key(0), tb.asarray([5, 6]), (3,), p=tb.asarray([0.0, 1.0])).tolist()
    [6, 6, 6]
    """
    key = operand_tensor(key, a, p)
    sizes = as_shape(shape)
    x = None if scalar_kind(a) is not None else operand_tensors(key, a)[1]
    if x is not None:
        common_backend((key, x))  # a single place has no axes, so it would move to the entries
    along = 0 if x is None else normalize_axis(x.template, axis)
    size = integer(a=a) if x is None else x.shape[along]
    count, replace = math.prod(sizes), flag(replace=replace)
    if count and size < 1:
        raise ArgumentError(expected("at least one entry to choose from", entries=size))
    if not replace and count > size:
        raise ArgumentError(expected(f"at most {size} different entries", "pass replace=True", shape=sizes))
    probabilities = [] if p is None else operand_tensors(key, p)[1:]  # also checks them where nothing is drawn
    if count:
        places = _choice(key, probabilities, size=size, shape=sizes, replace=replace, mode=mode)
        for probability in probabilities:
            require_weights(probability, 1 if replace else count)
    else:
        places = zeros(sizes, dtype=int64, backend=key.backend)
    return name_axes(places if x is None else take_at(x, places, axis=along, mode="clip"), names)
