"""Statistics of the elements that are not NaN, in the NumPy namespace."""

from __future__ import annotations

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy as np

from .beside import assert_as_numpy

CALLS = """
np.nanmean([[1.0, np.nan], [3.0, 5.0]], axis=0)
np.nanmean(np.array([1j, np.nan]), out=np.zeros((), int))
np.nanmean(np.array([1j, np.nan]), out=np.zeros(()))
np.nanvar(np.array([1.0, np.nan]), out=np.zeros((), bool))
np.nanmean(np.array([1.0, np.nan]), dtype=int)
np.nanvar([1.0, np.nan, 4.0], ddof=1)
np.nanstd([[1.0, 2.0, 9.0], [np.nan, 4.0, 5.0]], axis=1, where=[True, True, False])
np.nanvar([[1.0, 2.0], [4.0, np.nan]], axis=0, mean=[[2.0, 1.0]])
np.nanmedian([[1.0, np.nan, 9.0], [3.0, 5.0, 7.0]], axis=1)
np.nanquantile([1.0, np.nan, 4.0, 8.0], [0.25, 0.5])
np.nanquantile([1.0, 2.0, np.nan], 0.5, method="nearest")
np.nanquantile([1.0, 2.0, 7.0, np.nan], 0.5, method="inverted_cdf", weights=[1.0, 1.0, 5.0, 1.0])
np.nanpercentile([1.0, 2.0, 7.0, np.nan], 50, method="inverted_cdf", weights=[5.0, 1.0, 1.0, 1.0])
np.nanquantile([1.0, 2.0], 0.5, weights=[1.0, 2.0])
np.nanpercentile([1.0], 101)
np.nansum(np.array([1, np.nan, 3], dtype=np.float16), where=[True, True, False])
np.nanvar(c, where=[True, True, False, True])
np.nanpercentile(np.zeros((3, 0)), 40, axis=1)
np.nanquantile(t, [0.2, 0.5], axis=1, method="nearest", keepdims=True)
np.nanquantile(k, 0.5, method="closest_observation")
np.nanpercentile(np.array([1, np.nan, 2], dtype="f4"), 50.0, method="hazen")
np.nanquantile(x, [], axis=1, keepdims=True)
np.nanquantile(k[:0], 0.5, method="weibull")
np.nanquantile(np.array([1, np.nan, 2], dtype="f4"), [0.2, 0.6], method="lower")
""".strip().splitlines()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("source", CALLS)
def test_as_numpy(source: str) -> None:
    assert_as_numpy(source)


def test_complex_numbers_have_no_median() -> None:
    import tensorbackend.numpy as np

    with pytest.raises(TypeError, match="nanmedian: complex numbers have no order"):
        np.nanmedian(np.array([1j, 2.0]))


@pytest.mark.parametrize("name", ["nanstd", "std"])
def test_the_slope_of_equal_elements_is_0(name: str) -> None:
    where = np.array([True, True, False])
    x = np.array([1.5, 1.5, numpy.nan if name == "nanstd" else 4.0])
    slope = tb.grad(lambda x: getattr(np, name)(x, where=where))(x)
    assert slope.tolist() == [0.0, 0.0, 0.0]
