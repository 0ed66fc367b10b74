"""Norms of the NumPy namespace in narrow dtypes."""

from __future__ import annotations

import numpy
import pytest

import tensorbackend.numpy as np

from .beside import assert_as_numpy

CALLS = """
np.linalg.norm(x.astype("f2"))
np.linalg.norm(x[0].astype("f2"), 1)
np.linalg.norm(x.astype("f2"), axis=1)
np.linalg.norm(x.astype("f2"), np.inf, axis=(0, 1), keepdims=True)
np.linalg.norm(k.astype("i1"))
np.linalg.norm(m)
np.linalg.cond(np.zeros((0, 2, 2)))
np.linalg.cond(np.zeros((2, 0, 2)))
np.linalg.norm(np.zeros((3, 0)), 0.5, axis=1)
"""


@pytest.mark.parametrize("call", CALLS.strip().splitlines())
def test_norms_are_numpys(call: str) -> None:
    assert_as_numpy(call)


def test_a_norm_in_float16_counts_in_a_wider_dtype() -> None:
    import tensorbackend.numpy as np

    assert float(np.linalg.norm(np.full(3, 300.0, dtype="f2"))) == 519.5


def test_results_of_several_parts_are_tuples_as_numpys() -> None:
    a = [[2.0, 1.0], [1.0, 3.0]]
    for name in ("eig", "eigh", "qr", "slogdet", "svd"):
        found, wanted = getattr(np.linalg, name)(np.array(a)), getattr(numpy.linalg, name)(a)
        assert found._fields == wanted._fields
        for each, other in zip(found * 2 + found[:1], wanted * 2 + wanted[:1], strict=True):
            numpy.testing.assert_allclose(numpy.asarray(each), other, atol=1e-12)


def test_a_norm_of_nothing_with_a_power_below_0_is_infinite() -> None:
    assert np.linalg.norm(np.zeros(0), -1) == numpy.inf
    assert np.linalg.vector_norm(np.zeros((0, 2)), axis=0, ord=-2).tolist() == [numpy.inf, numpy.inf]
