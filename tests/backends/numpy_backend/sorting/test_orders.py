"""Tests distinct elements that NumpyBackend counts in a table instead of sorting."""

from __future__ import annotations

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.backends.numpy_backend.sorting.orders import _LEAST_ELEMENTS_FOR_PASSES


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize(
    "span", [1, 2, 200, _LEAST_ELEMENTS_FOR_PASSES - 1, _LEAST_ELEMENTS_FOR_PASSES, _LEAST_ELEMENTS_FOR_PASSES + 1]
)
def test_many_close_integers_are_numpys(dtype: str, span: int) -> None:
    limits = np.iinfo(dtype)
    span = min(span, int(limits.max) - int(limits.min))
    drawn = np.random.default_rng(span).integers(
        0, span, (2, _LEAST_ELEMENTS_FOR_PASSES // 2), endpoint=True, dtype="uint64"
    )
    for lowest in (limits.min, limits.max - span):
        values = (drawn + np.array(lowest, dtype).astype("uint64")).astype(dtype)  # both wrap around
        x = tb.asarray(values, names=("row", "place"))
        wanted, counts = np.unique_counts(values)
        assert tb.unique_values(x).dtype is x.dtype
        np.testing.assert_array_equal(np.asarray(tb.unique_values(x)), wanted)
        made = tb.unique_counts(x)
        np.testing.assert_array_equal(np.asarray(made.values), wanted)
        np.testing.assert_array_equal(np.asarray(made.counts), counts)
        assert made.counts.dtype is tb.int64
        np.testing.assert_array_equal(np.asarray(tb.unique_inverse(x).values), wanted)
