"""Unions, intersections and differences, compared with NumPy's, with and without a size."""

from __future__ import annotations

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import TemplateDataError

X1, X2 = np.array([[3, 1], [3, 7]]), np.array([2, 3, 9, 2])


@pytest.mark.parametrize("backend", ["binary", "numpy"])
@pytest.mark.parametrize("name", ["union1d", "intersect1d", "setdiff1d", "setxor1d"])
def test_results_are_numpys(name: str, backend: str) -> None:
    ours, wanted = getattr(tb, name), getattr(np, name)(X1, X2).tolist()
    x1, x2 = tb.asarray(X1, backend=backend), tb.asarray(X2, backend=backend)
    assert ours(x1, x2).tolist() == wanted
    for size in (0, 1, 8):
        got = tb.jit(lambda x1, x2, size=size: ours(x1, x2, size=size, fill_value=-1))(x1, x2)
        assert got.tolist() == (wanted + [-1] * 8)[:size]
    with pytest.raises(TemplateDataError, match="pass a size"):
        ours(tb.template((3,), "int64"), tb.template((3,), "int64"))


@pytest.mark.parametrize("name", ["union1d", "intersect1d", "setdiff1d", "setxor1d"])
def test_a_number_takes_the_dtype_of_the_tensor(name: str) -> None:
    x = tb.asarray([3, 1], dtype="u64")
    assert getattr(tb, name)(x, 3).dtype is getattr(tb, name)(3, x).dtype is tb.uint64
