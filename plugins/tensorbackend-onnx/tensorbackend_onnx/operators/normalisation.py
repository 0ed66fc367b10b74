"""Normalisation: by the statistics of a batch, of channels, of groups and of features."""

from __future__ import annotations

from typing import Any

import tensorbackend as tb
from tensorbackend import Tensor, nn

from .registry import MICROSOFT, Given, Maybe, Node, operator
from .shape import by_channel


@operator("BatchNormalization")
def batch_norm(x: Tensor, scale: Tensor, offset: Tensor, mean: Tensor, variance: Tensor, *, given: Given) -> Any:
    """Channels normalised by running statistics, or in training by those of the batch, which then move the others."""
    if given.spatial == 0 and scale.ndim > 1:
        return ((x - mean) * tb.rsqrt(variance + given.epsilon)) * scale + offset
    if not given.training_mode:
        return _normalised(x, mean, variance, scale, offset, given.epsilon)
    wide, axes = x.astype(tb.result_type(x, mean)), (0, *range(2, x.ndim))
    own = tb.mean(wide, axis=axes), tb.var(wide, axis=axes)
    share, pairs = given.momentum, zip((mean, variance), own, strict=True)
    running = ((old * share + new * (1 - share)).astype(mean.dtype) for old, new in pairs)
    return _normalised(x, *own, scale, offset, given.epsilon), *running


def _normalised(x: Tensor, mean: Tensor, variance: Tensor, scale: Tensor, offset: Tensor, epsilon: float) -> Tensor:
    factor = scale * tb.rsqrt(variance + epsilon)
    shift = offset - mean * factor
    return (x * by_channel(factor, x.ndim) + by_channel(shift, x.ndim)).astype(x.dtype)


@operator("InstanceNormalization")
def instance_norm(x: Tensor, scale: Tensor, offset: Tensor, *, epsilon: float = 1e-5) -> Tensor:
    """Each channel of each example normalised by itself."""
    standard = nn.standardise(x, axis=tuple(range(2, x.ndim)), epsilon=epsilon)
    return standard * by_channel(scale, x.ndim) + by_channel(offset, x.ndim)


def _widened(x: Tensor, stash_type: int | None) -> Tensor:
    """The tensor in the dtype in which statistics are computed: 1, the default, is float32."""
    return x.astype(tb.float32) if stash_type in (None, 1) and x.dtype != tb.float64 else x


def _from(x: Tensor, axis: int) -> tuple[int, ...]:
    """The axes from one on."""
    return tuple(range(axis % max(x.ndim, 1), x.ndim))


@operator("LayerNormalization")
def layer_norm(x: Tensor, scale: Tensor, offset: Maybe = None, *, given: Given, node: Node) -> Any:
    """The axes from one on normalised; also the mean and the reciprocal of the deviation."""
    axes, wide = _from(x, given.axis), _widened(x, given.stash_type)
    result = _layer_norm(wide, x, scale, offset, axes, given.epsilon)
    if not (node.wants(1) or node.wants(2)):
        return result
    deviation = tb.rsqrt(tb.var(wide, axis=axes, keepdims=True) + given.epsilon)
    return result, tb.mean(wide, axis=axes, keepdims=True), deviation


def _layer_norm(wide: Tensor, x: Tensor, scale: Tensor, offset: Maybe, axes: tuple[int, ...], epsilon: float) -> Tensor:
    """x normalised along some axes with the statistics of `wide`, times a scale plus an offset, which may broadcast."""
    whole = tuple(x.shape[axis] for axis in axes)
    if wide.dtype == x.dtype and scale.shape == whole and (offset is None or offset.shape == whole):
        return nn.layer_norm(wide, scale, offset, axis=axes, epsilon=epsilon)
    result = nn.standardise(wide, axis=axes, epsilon=epsilon).astype(x.dtype) * scale
    return result if offset is None else result + offset


@operator("RMSNormalization")
@operator("SimplifiedLayerNormalization")
@operator("SimplifiedLayerNormalization", domain=MICROSOFT)
def rms_norm(x: Tensor, scale: Tensor, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1) -> Tensor:
    """The axes from one on divided by their root mean square; models of before opset 23 have other names for it."""
    axes, wide = _from(x, axis), _widened(x, stash_type)
    if wide.dtype == x.dtype and scale.shape == tuple(x.shape[axis] for axis in axes):
        return nn.rms_norm(wide, scale, axis=axes, epsilon=epsilon)
    return nn.rms_norm(wide, axis=axes, epsilon=epsilon).astype(x.dtype) * scale


@operator("SkipLayerNormalization", domain=MICROSOFT)
def skip_layer_norm(
    x: Tensor, skip: Tensor, scale: Tensor, offset: Maybe = None, bias: Maybe = None, *, epsilon: float = 1e-12
) -> tuple[Tensor, None, None, Tensor]:
    """The layer normalisation of a sum, and the sum."""
    total = x + skip if bias is None else x + skip + bias
    last = (total.ndim - 1,)
    return _layer_norm(_widened(total, 1), total, scale, offset, last, epsilon), None, None, total


@operator("SkipSimplifiedLayerNormalization", domain=MICROSOFT)
def skip_simplified_layer_norm(
    x: Tensor, skip: Tensor, scale: Tensor, bias: Maybe = None, *, epsilon: float = 1e-12
) -> tuple[Tensor, None, None, Tensor]:
    """A sum divided by its root mean square, and the sum."""
    total = x + skip if bias is None else x + skip + bias
    return rms_norm(total, scale, epsilon=epsilon), None, None, total


@operator("EmbedLayerNormalization", domain=MICROSOFT, epsilon=1e-12, mask_index_type=0)
def embed_layer_norm(
    words: Tensor,
    segments: Maybe,
    word_embedding: Tensor,
    position_embedding: Tensor,
    segment_embedding: Maybe = None,
    scale: Maybe = None,
    offset: Maybe = None,
    mask: Maybe = None,
    positions: Maybe = None,
    *,
    given: Given,
) -> tuple[Any, ...]:
    """The layer normalisation of the sum of embeddings, the number of words of each example, and the sum."""
    positions = tb.arange(words.shape[1], like=words) if positions is None else positions
    total = tb.take(word_embedding, words, axis=0) + tb.take(position_embedding, positions, axis=0)
    if segments is not None and segment_embedding is not None:
        total = total + tb.take(segment_embedding, segments, axis=0)
    counted = tb.zeros((words.shape[0],), dtype=tb.int32, like=words)
    if mask is not None:
        counted = tb.sum(mask.astype(tb.int32), axis=1, dtype=tb.int32)
    return nn.layer_norm(total, scale, offset, epsilon=given.epsilon), counted, total


@operator("GroupNormalization", since=18)
def group_norm(x: Tensor, scale: Tensor, offset: Tensor, *, given: Given, node: Node) -> Tensor:
    """Groups of channels of each example normalised by themselves."""
    if node.opset < 21:  # there are a scale and an offset for each group
        scale, offset = (tb.repeat(z, x.shape[1] // given.num_groups) for z in (scale, offset))
    grouped = _widened(tb.reshape(x, (x.shape[0], given.num_groups, -1)), given.stash_type)
    standard = tb.reshape(nn.standardise(grouped, axis=2, epsilon=given.epsilon).astype(x.dtype), x.shape)
    return standard * by_channel(scale, x.ndim) + by_channel(offset, x.ndim)


@operator("LpNormalization")
def lp_norm(x: Tensor, *, axis: int = -1, p: int = 2) -> Tensor:
    """An axis divided by its 1-norm or 2-norm; zeros stay."""
    return tb.divide_no_nan(x, tb.linalg.vector_norm(x, axis=axis, keepdims=True, ord=p))


@operator("LRN")
def local_response_norm(x: Tensor, *, size: int, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0) -> Tensor:
    """Each element divided by the squares of its neighbours along the channels."""
    low = (size - 1) // 2
    squares = tb.window_sum(tb.square(x), {1: size}, padding={1: (low, size - 1 - low)})
    return x / tb.pow(bias + (alpha / size) * squares, beta)
