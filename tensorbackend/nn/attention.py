"""Attention of queries to keys: its weights, and the averages of values by them."""

from __future__ import annotations

import math
from typing import NamedTuple

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments
from ..dtypes import promote_types
from ..errors import ShapeError, expected
from ..ops.composite.contraction import matmul
from ..ops.composite.elementwise.functions import isfinite, logical_not, stop_gradient
from ..ops.composite.reduction import cast_to_float32
from ..ops.composite.reduction.probabilities import masked_softmax, softmax
from ..ops.creation.filled import iota, rename
from ..ops.creation.values import operand_tensors
from ..ops.elementwise.basic import astype, where
from ..ops.elementwise.binary import logical_and
from ..ops.shape import align_to, expand_dims, matrix_transpose, permute_dims
from ..rules.accuracy import Bound, declare_bound
from ..rules.axes import normalize_axis
from ..rules.broadcasting import to_floating
from ..tensor import Tensor, TensorLike

ATTENDED = Bound(64, "exponentials of sums of products", "square", tame=True)


def with_axes_last(x: Tensor, time: Axis, axis: Axis) -> Tensor:
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


class FiniteVectors(NamedTuple):
    """Vectors (..., time, features) as products under a mask take them.

    A weight of 0 times NaN or an infinity is NaN, in the result and in the gradients of the other factor. So the
    factors of a product have zeros in their place, and the result is set to NaN afterwards, where the mask is true.
    """

    x: Tensor
    """The vectors with 0 in place of NaN and infinities."""
    whole: Tensor
    """(..., time): whether all elements of a vector are finite."""

    @classmethod
    def of(cls, x: Tensor) -> FiniteVectors:
        finite = isfinite(x)
        return cls(where(finite, x, 0), finite.all(axis=-1))


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
    query, key = with_axes_last(query, time, axis), with_axes_last(key, time, axis)
    key = _align_leading(key, query)
    if query.names[-2] is not None and query.names[-2] in key.names:
        key = rename(key, *key.names[:-2], None, key.names[-1])
    wide, keys = cast_to_float32(query), cast_to_float32(key)
    masked = causal or mask is not None
    if masked:
        (wide, query_whole), (keys, key_whole) = FiniteVectors.of(wide), FiniteVectors.of(keys)
    wide = wide * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    scores = matmul(wide, matrix_transpose(keys))
    if bias is not None:
        scores = _add_bias(scores, operand_tensors(scores, bias)[1])
    if not masked:
        return _Weights(softmax(scores, axis=-1), None)
    inside = None if mask is None else operand_tensors(scores, mask)[1]
    if causal:
        queries, count = scores.shape[-2:]
        seen = iota((1, count), axis=1, like=scores) <= iota((queries, 1), axis=0, like=scores)
        inside = seen if inside is None else logical_and(inside, seen)
    assert inside is not None  # as the scores are masked
    weights = masked_softmax(scores, inside, axis=-1)
    whole = logical_and(
        expand_dims(query_whole, axis=query_whole.ndim), expand_dims(key_whole, axis=key_whole.ndim - 1)
    )
    return _Weights(weights, logical_and(inside, logical_not(whole)))


def _add_bias(scores: Tensor, bias: Tensor) -> Tensor:
    """The scores plus a bias, which must broadcast to them."""
    biased = scores + astype(bias, scores.dtype)
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
    ShapeError, NamesError
        As for `attention_weights`.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> x = tb.asarray([[[1.0, 0.0], [3.0, 0.0]]], names=("batch", "time", "feature"))
    >>> tb.nn.attention(x * 0, x, x).tolist()
    [[[2.0, 0.0], [2.0, 0.0]]]
    """
    query, key, value = operand_tensors(query, key, value)
    weights, spoilt = _weights(query, key, mask, bias, causal, scale, time, axis)
    ends = with_axes_last(query, time, axis)
    values = _align_leading(with_axes_last(value, time, axis), ends)
    values = rename(values, *values.names[:-2], weights.names[-1], values.names[-1])
    wide = cast_to_float32(values)
    averages = matmul(weights, wide) if spoilt is None else _averages(weights, spoilt, wide)
    return astype(averages, to_floating(promote_types(promote_types(query.dtype, key.dtype), value.dtype)))


def _averages(weights: Tensor, spoilt: Tensor, values: Tensor) -> Tensor:
    """The values averaged with weights, for each query over the keys that it attends to alone."""
    finite, whole = FiniteVectors.of(values)
    averages = matmul(weights, finite)
    # The infinities and NaN of each feature, for the queries that attend to a vector with any of them.
    rest = stop_gradient(where(isfinite(values), 0, values).sum(axis=-2))
    reached = matmul(weights, astype(logical_not(expand_dims(whole, axis=whole.ndim)), weights.dtype)) > 0
    averages = averages + where(reached, expand_dims(rest, axis=rest.ndim - 1), 0)
    broken = spoilt.any(axis=-1)
    return where(expand_dims(broken, axis=broken.ndim), math.nan, averages)
