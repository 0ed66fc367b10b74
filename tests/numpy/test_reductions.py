"""Reductions in the NumPy namespace with arguments that the op does not have."""

from __future__ import annotations

import pytest

from .beside import assert_as_numpy

CALLS = """
np.var([1.0, 2.0, 6.0], mean=2.0)
np.std([[1, 2], [3, 9]], axis=1, mean=[[1.0], [4.0]], ddof=1)
np.var([1 + 2j, 3j, 5.0], where=[True, True, False])
np.sum(np.zeros((0, 2), int), axis=0, initial=3)
np.max(np.zeros((2, 0)), axis=(0, 1), keepdims=True, initial=3.0)
np.sum(3, axis=0)
np.max(3.5, axis=-1)
np.sum(3, axis=1)
np.sum(np.array([1.5, 2], dtype=np.float32), where=[True, False], initial=2)
""".strip().splitlines()


@pytest.mark.parametrize("source", CALLS)
def test_as_numpy(source: str) -> None:
    assert_as_numpy(source)
