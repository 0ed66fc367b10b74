"""Attention of queries to keys, with several heads, and incremental with earlier keys and values in a cache."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments, check_construction
from ..dtypes import DTypeLike, promote_types
from ..errors import ArgumentError, ShapeError, expected
from ..ops.composite.contraction import matmul
from ..ops.composite.elementwise.functions import isfinite, logical_not
from ..ops.composite.elementwise.gradients import stop_gradient
from ..ops.composite.reduction import cast_to_float32
from ..ops.composite.reduction.probabilities import masked_softmax, softmax
from ..ops.composite.shape.arranging import moveaxis
from ..ops.creation.filled import asarray, iota, rename, zeros
from ..ops.creation.values import operand_tensors
from ..ops.elementwise.binary import add, greater, less, less_equal, logical_and, multiply
from ..ops.elementwise.conversion import astype
from ..ops.elementwise.ternary import where
from ..ops.indexing.slices import put_slice
from ..ops.reduction import all as all_
from ..ops.reduction import any as any_
from ..ops.reduction import sum as sum_
from ..ops.shape import align_to, expand_dims, matrix_transpose, permute_dims, reshape
from ..rules.accuracy import Bound, declare_bound
from ..rules.axes import normalize_axis
from ..rules.broadcasting import to_floating
from ..tensor import Tensor, TensorLike

ATTENDED = Bound(64, "exponentials of sums of products", "square", tame=True)

Rotation = Callable[[Tensor, Tensor], Tensor]
"""A function that rotates queries or keys (..., time, units) by their positions, such as `tb.nn.rotary`."""


def _last(x: Tensor, time: Axis, axis: Axis) -> Tensor:
    """x with its axes of times and features last."""
    first, second = normalize_axis(x.template, time), normalize_axis(x.template, axis)
    if first == second:
        raise ShapeError(expected("two axes, for times and features", time=time, axis=axis))
    return permute_dims(
        x, (*(other_axis for other_axis in range(x.ndim) if other_axis not in (first, second)), first, second)
    )


def _align_leading(x: Tensor, query: Tensor) -> Tensor:
    """Keys or values with their leading axes in the order of the queries', by name if all of them have names."""
    lead, query_lead = x.names[:-2], query.names[:-2]
    if None in lead or None in query_lead or not {*lead} <= {*query_lead}:
        return x
    bare = rename(x, *lead, "\0time", "\0feature")
    order = [*(name for name in query_lead if name is not None), "\0time", "\0feature"]
    return rename(align_to(bare, order), *query_lead, *x.names[-2:])


class _Finite(NamedTuple):
    """Vectors (..., time, features) as products under a mask take them.

    A weight of 0 times NaN or an infinity is NaN, in the result and in the gradients of the other factor. So the
    factors of a product have zeros in their place, and the result is set to NaN afterwards, where the mask is true.
    """

    x: Tensor
    """The vectors with 0 in place of NaN and infinities."""
    whole: Tensor
    """(..., time): whether all elements of a vector are finite."""

    @classmethod
    def of(cls, x: Tensor) -> _Finite:
        finite = isfinite(x)
        return cls(where(finite, x, 0), all_(finite, axis=-1))


class _Weights(NamedTuple):
    """Weights (..., queries, keys) of queries and keys whose NaN and infinities were replaced."""

    weights: Tensor
    spoilt: Tensor | None
    """Under a mask, where it holds for a query or key that is not finite: the weights there are to be NaN."""


@check_arguments
@declare_bound(ATTENDED)
def attention_weights(
    query: TensorLike,
    key: TensorLike,
    /,
    *,
    mask: TensorLike | None = None,
    bias: TensorLike | None = None,
    causal: bool = False,
    scale: float | None = None,
    time: Axis = -2,
    axis: Axis = -1,
) -> Tensor:
    """Compute attention weights: `softmax` of the scaled products of queries and keys, along the keys.

    Parameters
    ----------
    query : Tensor
        Queries with features. The other axes are batch axes, heads among them.
    key : Tensor
        Keys with the same number of features. Their batch axes broadcast with those of the queries, by name if all
        have names, otherwise by position.
    mask : Tensor, optional
        Bool, broadcasts to the result: where it is false, the weight is 0. A query that may attend to no key has
        weights of 0.
    bias : Tensor, optional
        Added to the scaled products, for example for relative positions; broadcasts to the result.
    causal : bool, default False
        Whether query i attends to keys 0 to i only.
    scale : float, optional
        The factor of the products, by default 1 / sqrt(features).
    time, axis : int or str, default -2 and -1
        The axis of the queries and of the keys, and the axis of the features.

    Returns
    -------
    Tensor
        (batch..., queries, keys), in float32 at least, the dtype of the computation. The axis of keys has its name in
        `key`, but no name if the axis of queries has the same one, as in self-attention.

    Raises
    ------
    ShapeError
        For sizes that do not match.
    NamesError
        If matching axes have different names.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> x = tb.ones((3, 2), names=("time", "feature"))
    >>> tb.nn.attention_weights(x, x, causal=True).tolist()[:2]
    [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]
    """
    query, key = operand_tensors(query, key)
    weights, spoilt = _weights(query, key, mask, bias, causal, scale, time, axis)
    return weights if spoilt is None else where(spoilt, math.nan, weights)


def _weights(
    query: Tensor,
    key: Tensor,
    mask: TensorLike | None,
    bias: TensorLike | None,
    causal: bool,
    scale: float | None,
    time: Axis,
    axis: Axis,
) -> _Weights:
    """The weights that `attention_weights` documents."""
    query, key = _last(query, time, axis), _last(key, time, axis)
    key = _align_leading(key, query)
    if query.names[-2] is not None and query.names[-2] in key.names:
        key = rename(key, *key.names[:-2], None, key.names[-1])
    wide, keys = cast_to_float32(query), cast_to_float32(key)
    masked = causal or mask is not None
    if masked:
        (wide, query_whole), (keys, key_whole) = _Finite.of(wide), _Finite.of(keys)
    wide = multiply(wide, 1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    scores = matmul(wide, matrix_transpose(keys))
    if bias is not None:
        scores = _add_bias(scores, operand_tensors(scores, bias)[1])
    if not masked:
        return _Weights(softmax(scores, axis=-1), None)
    inside = None if mask is None else operand_tensors(scores, mask)[1]
    if causal:
        queries, count = scores.shape[-2:]
        seen = less_equal(iota((1, count), axis=1, like=scores), iota((queries, 1), axis=0, like=scores))
        inside = seen if inside is None else logical_and(inside, seen)
    assert inside is not None  # as the scores are masked
    weights = masked_softmax(scores, inside, axis=-1)
    whole = logical_and(
        expand_dims(query_whole, axis=query_whole.ndim), expand_dims(key_whole, axis=key_whole.ndim - 1)
    )
    return _Weights(weights, logical_and(inside, logical_not(whole)))


def _add_bias(scores: Tensor, bias: Tensor) -> Tensor:
    """The scores plus a bias, which must broadcast to them."""
    biased = add(scores, astype(bias, scores.dtype))
    if biased.shape != scores.shape:
        raise ShapeError(expected(f"a bias that broadcasts to {scores.template!r}", bias=bias.template))
    return biased


@check_arguments
@declare_bound(ATTENDED)
def attention(
    query: TensorLike,
    key: TensorLike,
    value: TensorLike,
    /,
    *,
    mask: TensorLike | None = None,
    bias: TensorLike | None = None,
    causal: bool = False,
    scale: float | None = None,
    time: Axis = -2,
    axis: Axis = -1,
) -> Tensor:
    """Scaled dot-product attention (Vaswani et al. 2017): values averaged with `attention_weights`.

    Parameters
    ----------
    query, key, mask, bias, causal, scale, time, axis
        As in `attention_weights`.
    value : Tensor
        The values of each key, along the same axis as the key's features.

    Returns
    -------
    Tensor
        (batch..., queries, values), in the dtype that the operands promote to; integers and bool are converted to the
        default floating dtype.

    Raises
    ------
    ShapeError
        For sizes that do not match.
    NamesError
        If matching axes have different names.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> x = tb.asarray([[[1.0, 0.0], [3.0, 0.0]]], names=("batch", "time", "feature"))
    >>> tb.nn.attention(x * 0, x, x).tolist()
    [[[2.0, 0.0], [2.0, 0.0]]]
    """
    query, key, value = operand_tensors(query, key, value)
    weights, spoilt = _weights(query, key, mask, bias, causal, scale, time, axis)
    ends = _last(query, time, axis)
    values = _align_leading(_last(value, time, axis), ends)
    values = rename(values, *values.names[:-2], weights.names[-1], values.names[-1])
    wide = cast_to_float32(values)
    averages = matmul(weights, wide) if spoilt is None else _averages(weights, spoilt, wide)
    return astype(averages, to_floating(promote_types(promote_types(query.dtype, key.dtype), value.dtype)))


def _averages(weights: Tensor, spoilt: Tensor, values: Tensor) -> Tensor:
    """The values averaged with weights, for each query over the keys that it attends to alone."""
    finite, whole = _Finite.of(values)
    averages = matmul(weights, finite)
    # The infinities and NaN of each feature, for the queries that attend to a vector with any of them.
    rest = stop_gradient(sum_(where(isfinite(values), 0, values), axis=-2))
    reached = greater(matmul(weights, astype(logical_not(expand_dims(whole, axis=whole.ndim)), weights.dtype)), 0)
    averages = add(averages, where(reached, expand_dims(rest, axis=rest.ndim - 1), 0))
    broken = any_(spoilt, axis=-1)
    return where(expand_dims(broken, axis=broken.ndim), math.nan, averages)


@check_construction
class KeyValueCache(NamedTuple):
    """Keys and values of the steps so far, in buffers of fixed size; a tree of tensors."""

    keys: Tensor
    """(batch..., heads, size, units)."""
    values: Tensor
    length: Tensor
    """The number of steps so far, an int64 without axes."""


@check_arguments
def key_value_cache(
    batch: tuple[int, ...] | list[int], /, *, heads: int, size: int, units: int, dtype: DTypeLike | None = None
) -> KeyValueCache:
    """An empty cache for `incremental_attention`.

    Parameters
    ----------
    batch : sequence of int
        The shape of the batch axes.
    heads, size, units : int
        The number of heads, the maximum number of steps, and the number of features of each head.
    dtype : dtype, optional
        The dtype; by default the default floating dtype.

    Returns
    -------
    KeyValueCache
        Buffers of zeros, with a length of 0.

    Raises
    ------
    ShapeError
        For a negative size.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> tb.nn.key_value_cache((2,), heads=4, size=16, units=8).keys.shape
    (2, 4, 16, 8)
    """
    shape = (*batch, heads, size, units)
    return KeyValueCache(zeros(shape, dtype=dtype), zeros(shape, dtype=dtype), asarray(0, dtype="int64"))


Parameters = Mapping[str, Tensor]
"""Weights `query`, `key` and `value` (features, units) and `output` (units, features), and optional biases such as
`query_bias`."""


def _project(parameters: Parameters, name: str, x: Tensor, masked: bool) -> Tensor:
    """x of shape (..., features) times a weight of the parameters, plus its bias.

    Under a mask, vectors that are not finite become NaN, and do not contribute to gradients.
    """
    if name not in parameters:
        raise ArgumentError(expected("parameters query, key, value and output", parameters=sorted(parameters)))
    whole = None
    if masked:
        x, whole = _Finite.of(cast_to_float32(x) if not x.dtype.is_floating else x)
    product = matmul(x, parameters[name])
    bias = parameters.get(f"{name}_bias")
    if bias is not None:
        product = add(product, bias)
    return product if whole is None else where(expand_dims(whole, axis=whole.ndim), product, math.nan)


def _split_heads(x: Tensor, heads: int) -> Tensor:
    """(..., time, heads * units) as (..., heads, time, units)."""
    if heads < 1 or x.shape[-1] % heads:
        raise ArgumentError(expected(f"a number of heads that divides the {x.shape[-1]} units", heads=heads))
    apart = reshape(x, (*x.shape[:-1], heads, x.shape[-1] // heads), names=(*x.names[:-1], None, None))
    return moveaxis(apart, -2, -3)


def _merge_heads(x: Tensor) -> Tensor:
    """(..., heads, time, units) as (..., time, heads * units)."""
    back = moveaxis(x, -3, -2)
    return reshape(back, (*back.shape[:-2], back.shape[-2] * back.shape[-1]), names=(*back.names[:-2], None))


@check_arguments
@declare_bound(ATTENDED)
def multi_head_attention(
    parameters: Parameters,
    x: TensorLike,
    memory: TensorLike | None = None,
    /,
    *,
    heads: int,
    mask: TensorLike | None = None,
    bias: TensorLike | None = None,
    causal: bool = False,
    rotate: Rotation | None = None,
    time: Axis = -2,
    axis: Axis = -1,
) -> Tensor:
    """Attention with several heads (Vaswani et al. 2017, section 3.2.2).

    Parameters
    ----------
    parameters : mapping of str to Tensor
        `"query"`, `"key"` and `"value"` of shape (features, units), `"output"` of shape (units, features); each may
        have a bias, such as `"query_bias"`.
    x : Tensor
        The sequence of the queries, with axes of times and features, and batch axes.
    memory : Tensor, optional
        The sequence that x attends to, by default x itself.
    heads : int
        The number of heads that the units are split into.
    mask, bias, causal
        As in `attention_weights`, for a result (batch..., heads, queries, keys).
    rotate : function, optional
        Rotates queries or keys (..., time, units) by their positions, its second argument: for example `tb.nn.rotary`.
    time, axis : int or str, default -2 and -1
        The axis of the times, and the axis of the features.

    Returns
    -------
    Tensor
        (batch..., time, features), whatever the order of x's axes.

    Raises
    ------
    ArgumentError
        For a number of heads that does not divide the units, and for parameters that lack a weight.
    ShapeError
        For sizes that do not match.
    NamesError
        If matching axes have different names.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> names = ("query", "key", "value", "output")
    >>> parameters = {name: tb.ones((4, 4), names=("feature", None)) for name in names}
    >>> parameters["output"] = tb.ones((4, 4), names=(None, "feature"))
    >>> x = tb.ones((2, 3, 4), names=("batch", "time", "feature"))
    >>> tb.nn.multi_head_attention(parameters, x, heads=2, causal=True).template
    f32[batch: 2][time: 3][feature: 4]
    """
    x = _last(asarray(x), time, axis)
    source = x if memory is None else _last(operand_tensors(x, memory)[1], time, axis)
    masked = causal or mask is not None
    query, key, value = (
        _split_heads(_project(parameters, name, of, masked), heads)
        for name, of in (("query", x), ("key", source), ("value", source))
    )
    if rotate is not None:
        query, key = (rotate(vectors, iota(vectors.shape[-2], like=vectors)) for vectors in (query, key))
    attended = attention(query, key, value, mask=mask, bias=bias, causal=causal)
    return _project(parameters, "output", _merge_heads(attended), masked)


@check_arguments
def incremental_attention(
    parameters: Parameters,
    x: TensorLike,
    cache: KeyValueCache,
    /,
    *,
    heads: int,
    rotate: Rotation | None = None,
    time: Axis = -2,
    axis: Axis = -1,
) -> tuple[Tensor, KeyValueCache]:
    """Causal `multi_head_attention` for the next steps, with keys and values of earlier steps in a cache.

    Parameters
    ----------
    parameters, heads, rotate, time, axis
        As in `multi_head_attention`.
    x : Tensor
        The next step, or the next steps.
    cache : KeyValueCache
        The cache of the steps so far; `key_value_cache` makes an empty one. It must have room for the next steps, which
        overwrite the last steps of a full cache.

    Returns
    -------
    tuple of Tensor and KeyValueCache
        The result for the next steps, and the cache that includes them.

    Raises
    ------
    ShapeError
        For sizes that do not match.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> parameters = {name: tb.ones((4, 4)) for name in ("query", "key", "value", "output")}
    >>> cache = tb.nn.key_value_cache((2,), heads=2, size=8, units=2)
    >>> for _ in range(3):
    ...     result, cache = tb.nn.incremental_attention(parameters, tb.ones((2, 1, 4)), cache, heads=2)
    >>> result.shape, cache.length.item()
    ((2, 1, 4), 3)
    """
    x = _last(asarray(x), time, axis)
    steps = x.shape[-2]
    query, key, value = (_split_heads(_project(parameters, name, x, True), heads) for name in ("query", "key", "value"))
    positions = add(iota(steps, dtype="int64", like=x), cache.length)
    if rotate is not None:
        query, key = rotate(query, positions), rotate(key, positions)
    keys, values = (_write_steps(old, new, cache.length) for old, new in ((cache.keys, key), (cache.values, value)))
    seen = less(iota((1, keys.shape[-2]), axis=1, like=x), add(reshape(positions, (steps, 1)), 1))
    bare = (rename(operand, *(None,) * operand.ndim) for operand in (query, keys, values))
    attended = rename(attention(*bare, mask=seen), *query.names)
    after = KeyValueCache(keys, values, add(cache.length, steps))
    return _project(parameters, "output", _merge_heads(attended), True), after


def _write_steps(old: Tensor, new: Tensor, start: Tensor) -> Tensor:
    """The buffer `old` with the steps of `new` from the position `start` on."""
    if old.ndim != new.ndim or old.shape[:-2] != new.shape[:-2] or old.shape[-1] != new.shape[-1]:
        raise ShapeError(expected("a cache of the same batch, heads and units", cache=old.template, x=new.template))
    bare = rename(astype(new, old.dtype), *(None,) * new.ndim)
    return put_slice(old, bare, starts=(*(0,) * (old.ndim - 2), start, 0))
