"""Orders by several keys, compared with NumPy's."""

from __future__ import annotations

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_ties_are_broken_by_earlier_keys(backend: str) -> None:
    keys = numpy.random.default_rng(0).integers(0, 3, (3, 2, 9))
    tensors = [tb.asarray(key, names=("row", "n"), backend=backend) for key in keys]
    order = tb.jit(lambda *keys: tb.lexsort(keys, axis="n"))(*tensors)
    assert order.names == ("row", "n")
    assert order.tolist() == numpy.lexsort(keys).tolist()


def test_no_key_is_a_mistake() -> None:
    with pytest.raises(ArgumentError, match="lexsort: expected at least one key"):
        tb.lexsort([])
