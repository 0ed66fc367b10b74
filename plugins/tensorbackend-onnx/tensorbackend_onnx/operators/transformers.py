"""Attention and rotary positions as exported transformers have them, most in the domain com.microsoft."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import tensorbackend as tb
from onnx import NodeProto, defs
from tensorbackend import Tensor, nn
from tensorbackend.dtypes import bool_
from tensorbackend.errors import expected
from tensorbackend.extending import attention as dot_product

from ..errors import ModelError
from .registry import MICROSOFT, Given, Maybe, operator, refuse


def by_heads(x: Tensor, heads: int) -> Tensor:
    """(batch, time, features) as (batch, heads, time, features of a head)."""
    if x.ndim == 4:
        return x
    batch, time, features = x.shape
    return tb.permute_dims(tb.reshape(x, (batch, time, heads, features // heads)), (0, 2, 1, 3))


def merged(x: Tensor) -> Tensor:
    """(batch, heads, time, features of a head) as (batch, time, features)."""
    batch, heads, time, features = x.shape
    return tb.reshape(tb.permute_dims(x, (0, 2, 1, 3)), (batch, time, heads * features))


def attended(query: Tensor, key: Tensor, value: Tensor, bias: Maybe, mask: Maybe, causal: bool, scale: float) -> Tensor:
    """Attention of (batch, heads, time, features), as (batch, time, heads features)."""
    if causal and key.shape[2] != query.shape[2]:
        behind = key.shape[2] - query.shape[2]
        steps = tb.arange(query.shape[2], like=query)[:, None] + behind >= tb.arange(key.shape[2], like=query)
        mask = steps if mask is None else tb.logical_and(mask, steps)
        causal = False
    return merged(nn.attention(query, key, value, mask=mask, bias=bias, causal=causal, scale=scale or None))


_READ = {"is_causal", "kv_num_heads", "q_num_heads", "scale", "qk_matmul_output_mode"}
"""The attributes of a plain Attention; the last is of a result that nobody uses."""


def _is_plain(proto: NodeProto) -> bool:
    """Whether an Attention has no cache, no other result, and its other attributes, such as softcap, have no effect."""
    known = {name: attribute.default_value for name, attribute in defs.get_schema("Attention").attributes.items()}
    usual = all(given.name in _READ or given == known.get(given.name) for given in proto.attribute)
    return usual and not any(proto.input[4:]) and not any(proto.output[1:])


@operator("Attention", since=23, takes=_is_plain)
def scaled_attention(query: Tensor, key: Tensor, value: Tensor, mask: Maybe = None, *, given: Given) -> Tensor:
    """Attention with a mask, or a bias in which minus infinity hides a key; heads may share those of keys."""
    apart = query.ndim == 4
    if not apart:
        heads, others = given.q_num_heads, given.kv_num_heads
        if not heads or not others:
            raise ModelError(expected("q_num_heads and kv_num_heads for queries of three axes", query=query.template))
        query, key, value = by_heads(query, heads), by_heads(key, others), by_heads(value, others)
    shared = query.shape[1] // key.shape[1]
    if shared > 1:
        key, value = (tb.repeat(x, shared, axis=1) for x in (key, value))
    bias = None
    if mask is not None and mask.dtype != bool_:
        bias, mask = mask, mask != -tb.inf  # a query that sees nothing gets 0, where the softmax alone is NaN
    if given.is_causal:
        steps = tb.arange(query.shape[2], like=query)[:, None] >= tb.arange(key.shape[2], like=query)
        mask = steps if mask is None else tb.logical_and(mask, steps)
    result = dot_product(query, key, value, mask, bias, scale=given.scale)
    return result if apart else merged(result)


def padding_mask(mask: Maybe, keys: int) -> Maybe:
    """Which keys count, from a mask of them or from their number in each example."""
    if mask is None:
        return None
    if mask.ndim == 1:
        return (tb.arange(keys, like=mask) < mask[:, None])[:, None, None, :]
    flags = mask.astype(bool_)
    return flags[:, None, None, :] if flags.ndim == 2 else flags[:, None] if flags.ndim == 3 else flags


HEADS: dict[str, Any] = {"num_heads": ..., "mask_filter_value": -10000.0, "scale": 0.0, "unidirectional": 0}
SELF: dict[str, Any] = {**HEADS, "do_rotary": 0, "past_present_share_buffer": 0, "qkv_hidden_sizes": None}
"""The attributes of attention and of self-attention, with their defaults."""


def masked(query: Tensor, key: Tensor, value: Tensor, bias: Maybe, mask: Maybe, given: Given) -> Tensor:
    """Attention of (batch, heads, time, features) with a mask of keys."""
    kept = padding_mask(mask, key.shape[2])
    return attended(query, key, value, bias, kept, bool(given.unidirectional), given.scale)


def self_attended(projected: Tensor, mask: Maybe, past: Maybe, bias: Maybe, given: Given) -> Any:
    """Attention of queries, keys and values next to each other; also the next cache."""
    refuse(do_rotary=given.do_rotary, past_present_share_buffer=given.past_present_share_buffer)
    sizes = given.qkv_hidden_sizes or (projected.shape[-1] // 3,) * 3
    parts = tb.split(projected, [*accumulate(sizes[:2])], axis=-1)
    query, key, value = (by_heads(part, given.num_heads) for part in parts)
    if past is not None:
        key, value = (tb.concat([past[place], new], axis=2) for place, new in enumerate((key, value)))
    return masked(query, key, value, bias, mask, given), tb.stack([key, value])


@operator("Attention", domain=MICROSOFT, **SELF)
def attention(
    x: Tensor,
    weights: Tensor,
    bias: Maybe = None,
    mask: Maybe = None,
    past: Maybe = None,
    added: Maybe = None,
    *,
    given: Given,
) -> Any:
    """Self-attention with the projections of query, key and value in one matrix; also the next cache."""
    return self_attended(x @ weights if bias is None else x @ weights + bias, mask, past, added, given)


@operator("MultiHeadAttention", domain=MICROSOFT, **HEADS)
def multi_head_attention(
    query: Tensor,
    key: Maybe = None,
    value: Maybe = None,
    bias: Maybe = None,
    mask: Maybe = None,
    attention_bias: Maybe = None,
    past_key: Maybe = None,
    past_value: Maybe = None,
    *,
    given: Given,
) -> Any:
    """Attention of projected queries, keys and values, which may be packed in one tensor; also the next cache."""
    if key is None:  # (batch, time, heads, 3, features of a head)
        query, key, value = (merged(tb.permute_dims(query[:, :, :, place], (0, 2, 1, 3))) for place in range(3))
    elif value is None:  # (batch, time, heads, 2, features of a head)
        key, value = (merged(tb.permute_dims(key[:, :, :, place], (0, 2, 1, 3))) for place in range(2))
    if bias is not None:
        features = query.shape[-1]
        query = query + bias[:features]
        if key.ndim == 3:
            key, value = key + bias[features : 2 * features], value + bias[2 * features :]
    query, key, value = (by_heads(x, given.num_heads) for x in (query, key, value))
    if past_key is not None and past_value is not None:
        key, value = tb.concat([past_key, key], axis=2), tb.concat([past_value, value], axis=2)
    return masked(query, key, value, attention_bias, mask, given), key, value


def rotated(x: Tensor, cos_cache: Tensor, sin_cache: Tensor, positions: Tensor, interleaved: int) -> Tensor:
    """Pairs of features of (batch, heads, time, features) turned by the angles of positions (batch, time)."""
    cos, sin = (tb.take(cache, positions, axis=0)[:, None] for cache in (cos_cache, sin_cache))
    pairs = cos.shape[-1]
    turning, rest = x[..., : 2 * pairs], x[..., 2 * pairs :]
    if interleaved:
        first, second = turning[..., 0::2], turning[..., 1::2]
    else:
        first, second = turning[..., :pairs], turning[..., pairs:]
    parts = [first * cos - second * sin, first * sin + second * cos]
    turned = tb.reshape(tb.stack(parts, axis=-1), turning.shape) if interleaved else tb.concat(parts, axis=-1)
    return turned if rest.shape[-1] == 0 else tb.concat([turned, rest], axis=-1)


@operator(
    "RotaryEmbedding",
    domain=MICROSOFT,
    interleaved=0,
    is_packed_batching=0,
    num_heads=0,
    rotary_embedding_dim=0,
    scale=1.0,
)
def rotary_embedding(x: Tensor, positions: Tensor, cos_cache: Tensor, sin_cache: Tensor, *, given: Given) -> Tensor:
    """Positions as angles by which pairs of features are turned."""
    refuse(is_packed_batching=given.is_packed_batching)
    batch, time = (x.shape[0], x.shape[1]) if x.ndim == 3 else (x.shape[0], x.shape[2])
    head = given.rotary_embedding_dim or 2 * cos_cache.shape[1]
    heads = by_heads(x, given.num_heads or (x.shape[-1] // head if x.ndim == 3 else x.shape[1]))
    if positions.ndim < 2:
        positions = tb.reshape(positions, (1, 1)) + tb.arange(time, like=positions)
    turned = rotated(heads, cos_cache, sin_cache, tb.broadcast_to(positions, (batch, time)), given.interleaved)
    return merged(turned) if x.ndim == 3 else turned


GROUPED: dict[str, Any] = {
    **dict.fromkeys(("do_rotary", "rotary_interleaved", "smooth_softmax"), 0),
    **dict.fromkeys(("num_heads", "kv_num_heads"), ...),
    "local_window_size": -1,
    **dict.fromkeys(("scale", "softcap"), 0.0),
}


@operator("GroupQueryAttention", domain=MICROSOFT, **GROUPED)
def group_query_attention(
    query: Tensor,
    key: Maybe,
    value: Maybe,
    past_key: Maybe = None,
    past_value: Maybe = None,
    last_positions: Maybe = None,
    total_length: Maybe = None,
    cos_cache: Maybe = None,
    sin_cache: Maybe = None,
    positions: Maybe = None,
    attention_bias: Maybe = None,
    *,
    given: Given,
) -> Any:
    """Causal attention in which several heads of queries share a head of keys; also the next cache.

    All examples have a cache of the same length, as in models that decode one token after another.
    """
    num_heads, kv_num_heads, scale, softcap = given.num_heads, given.kv_num_heads, given.scale, given.softcap
    if key is None or value is None:
        head = query.shape[-1] // (num_heads + 2 * kv_num_heads)
        query, key, value = tb.split(query, (num_heads * head, (num_heads + kv_num_heads) * head), axis=-1)
    query, key, value = by_heads(query, num_heads), by_heads(key, kv_num_heads), by_heads(value, kv_num_heads)
    past = 0 if past_key is None else past_key.shape[2]
    if given.do_rotary and cos_cache is not None and sin_cache is not None:
        steps = tb.arange(query.shape[2], like=query) + past
        places = tb.broadcast_to(steps if positions is None else positions, (query.shape[0], query.shape[2]))
        query, key = (rotated(x, cos_cache, sin_cache, places, given.rotary_interleaved) for x in (query, key))
    if past_key is not None and past_value is not None:
        key, value = tb.concat([past_key, key], axis=2), tb.concat([past_value, value], axis=2)
    queries, keys = tb.arange(query.shape[2], like=query)[:, None] + past, tb.arange(key.shape[2], like=query)
    mask = queries >= keys
    if given.local_window_size > 0:
        mask = tb.logical_and(mask, queries - keys < given.local_window_size)
    if last_positions is not None:
        counted = keys[None, None, None] <= last_positions.astype(tb.int64)[:, None, None, None]
        mask = tb.logical_and(mask, counted)
    wide_key, wide_value = (tb.repeat(x, num_heads // kv_num_heads, axis=1) for x in (key, value))
    if not softcap and not given.smooth_softmax:
        return attended(query, wide_key, wide_value, attention_bias, mask, False, scale), key, value
    scores = tb.matmul(query, wide_key.mT) * (scale or query.shape[-1] ** -0.5)
    if softcap:
        scores = softcap * tb.tanh(scores / softcap)
    scores = scores if attention_bias is None else scores + attention_bias
    scores = tb.where(mask, scores, tb.full((), -tb.inf, dtype=scores.dtype, like=scores))
    if not given.smooth_softmax:
        return merged(tb.matmul(nn.softmax(scores), wide_value)), key, value
    zero = tb.zeros((*scores.shape[:-1], 1), dtype=scores.dtype, like=scores)
    return merged(tb.matmul(nn.softmax(tb.concat([scores, zero], axis=-1))[..., :-1], wide_value)), key, value
