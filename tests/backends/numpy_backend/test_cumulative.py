"""Running sums of many terms, which are made a block at a time."""

from __future__ import annotations

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.backends.numpy_backend import cumulative


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize(
    "shape",
    [(400,), (401,), (384,), (3, 300), (7, 290), (300, 2), (299, 3), (270, 31), (270, 40), (3, 260, 6)],
    ids=str,
)
def test_sums_go_on_from_block_to_block(shape: tuple[int, ...], dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cumulative, "_BLOCK", 32)
    drawn = np.random.default_rng(0).standard_normal((2, *shape)).astype("float32")
    x = (drawn[0] + 1j * drawn[1] if dtype == "complex64" else drawn[0]).astype(dtype)
    axis = int(np.argmax(shape))
    wanted = np.cumsum(x.astype("complex128"), axis=axis)
    sums = np.asarray(tb.cumulative_sum(tb.asarray(x, backend="numpy"), axis=axis))
    assert sums.dtype == dtype
    np.testing.assert_allclose(sums, wanted, rtol=1e-6, atol=1e-5)


def test_what_is_not_finite_stays_where_it_is() -> None:
    x = np.ones(70_000, "float32")
    x[33_000], x[60_001] = np.inf, -np.inf
    sums = np.asarray(tb.cumulative_sum(tb.asarray(x, backend="numpy")))
    np.testing.assert_array_equal(sums[:33_000], np.arange(1, 33_001))
    assert np.isposinf(sums[33_000:60_001]).all()
    assert np.isnan(sums[60_001:]).all()
