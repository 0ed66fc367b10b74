"""Sums and products in another dtype: elements are cast before they are combined, as in NumPy."""

from __future__ import annotations

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.testing import profile

FLOATS = ["float16", "float32", "float64"]
LARGE = st.sampled_from([0.0, 1.0, -3.0, 1e6, -1e6, 1e39, -1e39, 1e300])


@pytest.mark.parametrize("backend", ["numpy", "binary"])
@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid")
def test_elements_are_cast_first(backend: str) -> None:
    @profile(60)
    @given(st.lists(LARGE, min_size=1, max_size=4), st.sampled_from(FLOATS), st.sampled_from(FLOATS))
    def agrees(numbers: list[float], dtype: str, to: str) -> None:
        array = numpy.asarray(numbers).astype(dtype)
        x = tb.asarray(array, backend=backend)
        for ours, theirs in ((tb.sum, numpy.sum), (tb.prod, numpy.prod)):
            found, expected = ours(x, dtype=to), theirs(array.astype(to), dtype="float64").astype(to)
            assert found.dtype.name == to
            if numpy.isfinite(array.astype(to)).all():  # sums of finite numbers may be rounded in another order
                numpy.testing.assert_allclose(found.item(), expected, rtol=2e-3)
            else:
                numpy.testing.assert_array_equal(found.item(), expected)

    agrees()
