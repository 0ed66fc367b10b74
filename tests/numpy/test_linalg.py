"""Norms of the NumPy namespace in narrow dtypes."""

from __future__ import annotations

import pytest

from .beside import assert_as_numpy

CALLS = """
np.linalg.norm(x.astype("f2"))
np.linalg.norm(x[0].astype("f2"), 1)
np.linalg.norm(x.astype("f2"), axis=1)
np.linalg.norm(x.astype("f2"), np.inf, axis=(0, 1), keepdims=True)
np.linalg.norm(k.astype("i1"))
np.linalg.norm(m)
"""


@pytest.mark.parametrize("call", CALLS.strip().splitlines())
def test_norms_are_numpys(call: str) -> None:
    assert_as_numpy(call)


def test_a_norm_in_float16_counts_in_a_wider_dtype() -> None:
    import tensorbackend.numpy as np

    assert float(np.linalg.norm(np.full(3, 300.0, dtype="f2"))) == 519.5
