"""Attention with several heads, of all steps at once or of the next ones with earlier keys and values in a cache."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments, check_construction
from ..dtypes import DTypeLike
from ..errors import ArgumentError, ShapeError, expected
from ..ops.composite.contraction import ATTENDED, matmul
from ..ops.composite.reduction import cast_to_float32
from ..ops.composite.shape.arranging import moveaxis
from ..ops.creation.filled import asarray, full, iota, rename, zeros
from ..ops.creation.values import operand_tensors
from ..ops.elementwise.basic import astype, where
from ..ops.indexing.slices import put_slice
from ..ops.shape import expand_dims, reshape
from ..rules.accuracy import declare_bound
from ..tensor import Like, Tensor, TensorLike
from ..tensor.missing_names import explain_missing
from .attention import FiniteVectors, attention, with_axes_last

Rotation = Callable[[Tensor, Tensor], Tensor]
"""A function that rotates queries or keys (..., time, units) by their positions, such as `tb.nn.rotary`."""


@explain_missing
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
    batch: tuple[int, ...] | list[int],
    /,
    *,
    heads: int,
    size: int,
    units: int,
    dtype: DTypeLike | None = None,
    like: Like = None,
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
    like : Tensor, optional
        A tensor on whose backend the cache is made; by default it is on the default backend.

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
    >>> tb.nn.key_value_cache((2,), heads=4, size=16, units=8).keys.shape
    (2, 4, 16, 8)
    """
    shape = (*batch, heads, size, units)
    keys, values = (zeros(shape, dtype=dtype, like=like) for _ in range(2))
    return KeyValueCache(keys, values, full((), 0, dtype="int64", like=like))


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
        x, whole = FiniteVectors.of(cast_to_float32(x) if not x.dtype.is_floating else x)
    product = matmul(x, parameters[name])
    bias = parameters.get(f"{name}_bias")
    if bias is not None:
        product = product + bias
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
    >>> names = ("query", "key", "value", "output")
    >>> parameters = {name: tb.ones((4, 4), names=("feature", None)) for name in names}
    >>> parameters["output"] = tb.ones((4, 4), names=(None, "feature"))
    >>> x = tb.ones((2, 3, 4), names=("batch", "time", "feature"))
    >>> tb.nn.multi_head_attention(parameters, x, heads=2, causal=True).template
    f32[batch: 2][time: 3][feature: 4]
    """
    x = with_axes_last(asarray(x), time, axis)
    source = x if memory is None else with_axes_last(operand_tensors(x, memory)[1], time, axis)
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
    >>> parameters = {name: tb.ones((4, 4)) for name in ("query", "key", "value", "output")}
    >>> cache = tb.nn.key_value_cache((2,), heads=2, size=8, units=2)
    >>> for _ in range(3):
    ...     result, cache = tb.nn.incremental_attention(parameters, tb.ones((2, 1, 4)), cache, heads=2)
    >>> result.shape, cache.length.item()
    ((2, 1, 4), 3)
    """
    x = with_axes_last(asarray(x), time, axis)
    steps = x.shape[-2]
    query, key, value = (_split_heads(_project(parameters, name, x, True), heads) for name in ("query", "key", "value"))
    positions = iota(steps, dtype="int64", like=x) + cache.length
    if rotate is not None:
        query, key = rotate(query, positions), rotate(key, positions)
    keys, values = (_write_steps(old, new, cache.length) for old, new in ((cache.keys, key), (cache.values, value)))
    seen = iota((1, keys.shape[-2]), axis=1, like=x) < reshape(positions, (steps, 1)) + 1
    bare = (rename(operand, *(None,) * operand.ndim) for operand in (query, keys, values))
    attended = rename(attention(*bare, mask=seen), *query.names)
    after = KeyValueCache(keys, values, cache.length + steps)
    return _project(parameters, "output", _merge_heads(attended), True), after


def _write_steps(old: Tensor, new: Tensor, start: Tensor) -> Tensor:
    """The buffer `old` with the steps of `new` from the position `start` on."""
    if old.ndim != new.ndim or old.shape[:-2] != new.shape[:-2] or old.shape[-1] != new.shape[-1]:
        raise ShapeError(expected("a cache of the same batch, heads and units", cache=old.template, x=new.template))
    bare = rename(astype(new, old.dtype), *(None,) * new.ndim)
    return put_slice(old, bare, starts=(*(0,) * (old.ndim - 2), start, 0))
