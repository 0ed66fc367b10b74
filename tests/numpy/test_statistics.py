"""Quantiles of the NumPy namespace: an array of shares has a dtype of its own, a number yields to the elements."""

from __future__ import annotations

import pytest

from .beside import assert_as_numpy

CALLS = """
np.quantile(f, 0.25)
np.quantile(f, np.float64(0.25))
np.quantile(f, np.float32(0.25))
np.quantile(f, np.array(0.25))
np.quantile(f, [0.25, 0.5], axis=0)
np.quantile(f, np.array([0.25], dtype='f4'))
np.percentile(f, 25)
np.percentile(f, 25.0)
np.percentile(f, np.float64(25))
np.percentile(f, np.array(25))
np.percentile(f, [25, 50], axis=1)
np.nanquantile(f, [0.25, 0.5])
np.nanpercentile(f, [25])
np.nanpercentile(f, 25)
np.quantile(t, [0.25, 0.5])
np.quantile(x, np.array([0.25], dtype='f4'))
np.percentile(k, 50, method="lower")
np.quantile(k, [0.2, 0.9], method="nearest")
np.quantile(x.astype(np.float32), 0.4, method="averaged_inverted_cdf")
np.percentile(x, [])
np.percentile(np.arange(65521) < 60000, 91, method="lower")
np.percentile((np.arange(65521) < 60000).astype(np.float16), 91.5, method="inverted_cdf")
np.cov(np.zeros((0, 2)))
np.corrcoef(np.zeros((0, 2)))
np.cov(x.astype('f4'))
np.cov(x.astype('f2'))
np.corrcoef(x.astype('f4') ** 2)
np.cov(c.astype('c8'))
np.cov(c.reshape(2, 2), aweights=[0.5, 0.25])
np.cov([[8.0, 3.0], [1.0, 2.0]], aweights=[0.4057, 0.3])
np.average(np.ones(3, dtype='f2'), weights=[4e4, 4e4, 4e4])
np.average(x.astype('f4'), axis=0, weights=[0.1, 0.2, 0.7], returned=True)
np.average(x.astype('f2'), axis=0, returned=True)
np.average(c.astype('c8'), weights=[1, 2, 3, 4], returned=True)
np.quantile(x, [], axis=1, keepdims=True)
np.quantile(f, [0.2, 0.6], method="nearest")
np.quantile(f, np.float64(0.3), method="inverted_cdf")
np.quantile(m, 0.5, method="closest_observation")
np.quantile(k, 0, method="weibull")
np.quantile(f, [0, 1], method="hazen")
np.quantile(f, [0, 1])
np.percentile(f, [], method="lower")
np.histogram2d(x[0], x[1], [2, [4, 5.5, 7]])
np.histogram2d(x[0], x[1], (np.array([0.0, 1.0, 3.0]), 3))
np.histogram2d(x[0], x[1], [0, 2, 5, 9])
"""


@pytest.mark.parametrize("call", CALLS.strip().splitlines())
def test_the_dtype_of_a_quantile_is_numpy_s(call: str) -> None:
    assert_as_numpy(call.replace("(f,", "(x.astype('f4'),"))


@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value", "ignore:Degrees of freedom")
@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("call", ["np.cov(np.zeros(0))", "np.corrcoef(np.zeros(0))", "np.cov(np.zeros((2, 0)))"])
def test_covariances_of_no_observations_are_numpys(call: str) -> None:
    assert_as_numpy(call)
