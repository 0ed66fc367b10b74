"""Bins in either order, compared with NumPy's."""

from __future__ import annotations

import math
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend.numpy as np
from tensorbackend.testing import profile


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("bins", [[0.0, 1.0, 2.5], [2.5, 1.0, 0.0], [1, 1, 1], [3], []])
def test_an_edge_belongs_to_the_bin_that_it_belongs_to_in_numpy(bins: Any, right: Any) -> None:
    x = numpy.array([[-1.0, 0.0, 0.5], [1.0, 2.5, 9.0]])
    assert np.digitize(np.array(x), bins, right).tolist() == numpy.digitize(x, bins, right).tolist()


@pytest.mark.parametrize("dtype", ["bool", "i1", "u2", "i4", "f2", "f4", "c8", "c16"])
def test_complex_numbers_are_sorted_in_the_dtype_of_numpy(dtype: str) -> None:
    x = numpy.array([3, 0, 2, 1]).astype(dtype)
    ours, numpys = np.sort_complex(np.array(x)), numpy.sort_complex(x)
    assert (ours.tolist(), str(ours.dtype)) == (numpys.tolist(), str(numpys.dtype))


@pytest.mark.parametrize("name", ["sort", "argsort", "max", "min", "argmax", "argmin", "ptp"])
def test_complex_numbers_are_ordered_by_real_then_imaginary_part(name: str) -> None:
    @profile(150)
    @given(st.data())
    def agrees(data: st.DataObject) -> None:
        part = st.sampled_from([0.0, 1.0, -1.0, 2.0, numpy.inf, numpy.nan])
        shape = data.draw(st.lists(st.integers(1, 3), min_size=name in ("sort", "argsort"), max_size=3))
        count = math.prod(shape)
        parts = data.draw(st.lists(st.tuples(part, part), min_size=count, max_size=count))
        x = numpy.array([complex(*pair) for pair in parts], data.draw(st.sampled_from(["c8", "c16"]))).reshape(shape)
        axis = data.draw(st.sampled_from([*range(len(shape)), *([] if name in ("sort", "argsort") else [None])]))
        with numpy.errstate(invalid="ignore"):
            wanted = getattr(numpy, name)(x, axis=axis)
        found = numpy.asarray(getattr(np, name)(np.array(x), axis=axis))
        if name in ("max", "min", "ptp"):  # of several NaN it may be another one
            assert (numpy.isnan(found) == numpy.isnan(wanted)).all()
            found, wanted = (numpy.where(numpy.isnan(wanted), 0, each) for each in (found, wanted))
        numpy.testing.assert_array_equal(found, wanted)

    agrees()
