"""Softmax of narrow floats on each backend, compared with NumPy in float64."""

from typing import Any

import numpy as np
import pytest

import tensorbackend as tb


@pytest.mark.parametrize("backend", ["binary", "numpy"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("function", [tb.softmax, tb.log_softmax])
def test_softmax_of_narrow_floats_is_rounded_once(backend: str, function: Any, dtype: str) -> None:
    x = tb.asarray(np.random.default_rng(0).normal(size=(50, 7)), dtype=dtype, backend=backend)
    powers = np.exp(np.asarray(x.astype("f64")))
    shares = powers / powers.sum(-1, keepdims=True)
    exact = shares if function is tb.softmax else np.log(shares)
    off = np.abs(np.asarray(function(x).astype("f64")) - exact)
    assert (off <= 0.501 * tb.finfo(dtype).eps * np.abs(exact)).all()
