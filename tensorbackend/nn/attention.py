"""Attention of queries to keys: its weights, and the averages of values by them."""

from __future__ import annotations

import math
from typing import NamedTuple

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments
from ..declarations.argument_kinds import fits, misfit
from ..errors import ShapeError, expected
from ..ops.composite import contraction
from ..ops.composite.contraction import ATTENDED, weights_of
from ..ops.composite.elementwise.functions import isfinite, logical_not, stop_gradient
from ..ops.creation.filled import iota, rename
from ..ops.creation.values import operand_tensors
from ..ops.elementwise.basic import astype, where
from ..ops.elementwise.binary import logical_and
from ..ops.indexing.taking import slice_along_axis
from ..ops.shape import align_to, concatenate, expand_dims, permute_dims
from ..rules.accuracy import declare_bound
from ..rules.axes import normalize_axis
from ..tensor import Tensor, TensorLike


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
    >>> x = tb.ones((3, 2), names=("time", "feature"))
    >>> tb.nn.attention_weights(x, x, causal=True).tolist()[:2]
    [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]
    """
    query, key = operand_tensors(query, key)
    query, key = _pair(query, key, time, axis)
    inside = _seen(query, key, mask, causal)
    if inside is None:
        return weights_of(query, key, None, bias, scale)
    (query, query_whole), (key, key_whole) = FiniteVectors.of(query), FiniteVectors.of(key)
    weights = weights_of(query, key, inside, bias, scale)
    return where(_spoilt(inside, query_whole, key_whole), math.nan, weights)


def _pair(query: Tensor, key: Tensor, time: Axis, axis: Axis) -> tuple[Tensor, Tensor]:
    """Queries and keys (batch..., time, features), whose axes of times have two names."""
    query, key = with_axes_last(query, time, axis), with_axes_last(key, time, axis)
    key = _align_leading(key, query)
    if query.names[-2] is not None and query.names[-2] in key.names:
        key = rename(key, *key.names[:-2], None, key.names[-1])
    return query, key


def _seen(query: Tensor, key: Tensor, mask: TensorLike | None, causal: bool) -> Tensor | None:
    """A mask, and whether a key is at most as late as a query; `None` where each query attends to all keys."""
    if not fits(causal, bool):
        raise misfit(bool, "causal", causal)
    inside = None if mask is None else operand_tensors(query, mask)[1]
    if not causal:
        return inside
    queries, keys = query.shape[-2], key.shape[-2]
    early = iota((1, keys), axis=1, like=query) <= iota((queries, 1), axis=0, like=query)
    return early if inside is None else logical_and(inside, early)


def _spoilt(inside: Tensor, query_whole: Tensor, key_whole: Tensor) -> Tensor:
    """Whether the mask holds for a query or a key that is not finite: the weights there are to be NaN."""
    whole = logical_and(
        expand_dims(query_whole, axis=query_whole.ndim), expand_dims(key_whole, axis=key_whole.ndim - 1)
    )
    return logical_and(inside, logical_not(whole))


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
    >>> x = tb.asarray([[[1.0, 0.0], [3.0, 0.0]]], names=("batch", "time", "feature"))
    >>> tb.nn.attention(x * 0, x, x).tolist()
    [[[2.0, 0.0], [2.0, 0.0]]]
    """
    query, key, value = operand_tensors(query, key, value)
    query, key = _pair(query, key, time, axis)
    value = _align_leading(with_axes_last(value, time, axis), query)
    value = rename(value, *value.names[:-2], key.names[-2], value.names[-1])
    inside = _seen(query, key, mask, causal)
    if bias is not None:
        bias = operand_tensors(query, bias)[1]
    if inside is None:
        return contraction.attention(query, key, value, None, bias, scale=scale)
    (query, query_whole), (key, key_whole) = FiniteVectors.of(query), FiniteVectors.of(key)
    finite, value_whole = FiniteVectors.of(value)
    # One more feature: the weight of the values that are not finite, whose infinities and NaN those queries get.
    broken = astype(logical_not(expand_dims(value_whole, axis=value_whole.ndim)), finite.dtype)
    averages = contraction.attention(query, key, concatenate([finite, broken], axis=-1), inside, bias, scale=scale)
    reached = slice_along_axis(averages, value.shape[-1], 1, axis=-1) > 0
    averages = slice_along_axis(averages, 0, value.shape[-1], axis=-1)
    rest = stop_gradient(where(isfinite(value), 0, value).sum(axis=-2))
    averages = averages + where(reached, astype(expand_dims(rest, axis=rest.ndim - 1), averages.dtype), 0)
    spoilt = _spoilt(inside, query_whole, key_whole).any(axis=-1)
    return where(expand_dims(spoilt, axis=spoilt.ndim), math.nan, averages)
