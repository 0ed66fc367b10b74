"""Counts of sequences of tokens."""

from __future__ import annotations

import tensorbackend as tb
from tensorbackend import Tensor
from tensorbackend.errors import ArgumentError, expected

from .registry import operator


@operator("TfIdfVectorizer")
def tf_idf_vectorizer(
    x: Tensor,
    *,
    max_gram_length: int,
    max_skip_count: int,
    min_gram_length: int,
    mode: str,
    ngram_counts: tuple[int, ...],
    ngram_indexes: tuple[int, ...],
    pool_int64s: tuple[int, ...] | None = None,
    pool_strings: tuple[str, ...] | None = None,
    weights: tuple[float, ...] | None = None,
) -> Tensor:
    """How often sequences of numbers of a pool occur, whether they do ("IDF"), or a weighted count ("TFIDF")."""
    if pool_int64s is None:
        raise ArgumentError(expected("tokens that are numbers", pool_strings=pool_strings))
    counts = tb.zeros((*x.shape[:-1], max(ngram_indexes, default=-1) + 1), dtype=tb.float32, like=x)
    ends = (*ngram_counts[1:], len(pool_int64s))
    before = 0
    for length, (start, end) in enumerate(zip(ngram_counts, ends, strict=True), 1):
        count = (end - start) // length
        if count and min_gram_length <= length <= max_gram_length:
            pool = tb.tensor(pool_int64s[start:end], dtype=x.dtype, backend="binary").reshape((count, length))
            found = _occurrences(x, pool, max_skip_count if length > 1 else 0)
            places = list(ngram_indexes[before : before + count])
            spots = tb.tensor(places, backend="binary")[:, None] == tb.arange(counts.shape[-1], backend="binary")
            counts = counts + found @ spots.astype(tb.float32)
        before += count
    if mode == "TF":
        return counts
    present = (counts > 0).astype(tb.float32) if mode == "IDF" else counts
    if weights is None:
        return present
    factors = [0.0] * counts.shape[-1]
    for place, weight in zip(ngram_indexes, weights, strict=True):
        factors[place] = weight
    return present * tb.tensor(factors, dtype=tb.float32, backend="binary")


def _occurrences(x: Tensor, pool: Tensor, most_skipped: int) -> Tensor:
    """How often each sequence of a pool occurs along the last axis, with up to so many tokens between its tokens."""
    size, length = x.shape[-1], pool.shape[1]
    total = tb.zeros((*x.shape[:-1], pool.shape[0]), dtype=tb.float32, like=x)
    for step in range(1, most_skipped + 2):
        starts = size - (length - 1) * step
        if starts < 1:
            break
        tokens = [x[..., place * step : place * step + starts] for place in range(length)]
        matches = tb.stack(tokens, axis=-1)[..., :, None, :] == pool
        total = total + tb.sum(tb.all(matches, axis=-1).astype(tb.float32), axis=-2)
    return total
