"""Counts of sequences of tokens."""

from __future__ import annotations

import tensorbackend as tb
from tensorbackend import Tensor
from tensorbackend.errors import ArgumentError, expected

from .registry import Given, operator


@operator("TfIdfVectorizer")
def tf_idf_vectorizer(x: Tensor, *, given: Given) -> Tensor:
    """How often sequences of numbers of a pool occur, whether they do ("IDF"), or a weighted count ("TFIDF")."""
    if given.pool_int64s is None:
        raise ArgumentError(expected("tokens that are numbers", pool_strings=given.pool_strings))
    counts = tb.zeros((*x.shape[:-1], max(given.ngram_indexes, default=-1) + 1), dtype=tb.float32, like=x)
    ends = (*given.ngram_counts[1:], len(given.pool_int64s))
    before = 0
    for length, (start, end) in enumerate(zip(given.ngram_counts, ends, strict=True), 1):
        count = (end - start) // length
        if count and given.min_gram_length <= length <= given.max_gram_length:
            pool = tb.tensor(given.pool_int64s[start:end], dtype=x.dtype, backend="binary").reshape((count, length))
            found = _occurrences(x, pool, given.max_skip_count if length > 1 else 0)
            places = list(given.ngram_indexes[before : before + count])
            spots = tb.tensor(places, backend="binary")[:, None] == tb.arange(counts.shape[-1], backend="binary")
            counts = counts + found @ spots.astype(tb.float32)
        before += count
    if given.mode == "TF":
        return counts
    present = (counts > 0).astype(tb.float32) if given.mode == "IDF" else counts
    if given.weights is None:
        return present
    factors = [0.0] * counts.shape[-1]
    for place, weight in zip(given.ngram_indexes, given.weights, strict=True):
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
