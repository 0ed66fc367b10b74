"""Summaries along axes and equality up to a tolerance, by example on each backend, NumPy as an oracle."""

import math
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import DTypeError, ShapeError

BACKENDS = ["binary", "numpy"]
INF, NAN = math.inf, math.nan


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def same(actual: tb.Tensor, wanted: Any, tolerance: float = 1e-6) -> None:
    np.testing.assert_allclose(np.asarray(actual), wanted, rtol=tolerance, atol=1e-7)
    assert actual.shape == np.shape(wanted)


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 2), -1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_summaries_are_numpys(backend: str, axis: Any, keepdims: bool) -> None:
    values = np.random.default_rng(0).normal(size=(3, 4, 6)).astype("float32")
    x = tb.asarray(values, backend=backend)
    same(tb.std(x, axis=axis, keepdims=keepdims, correction=1), np.std(values, axis=axis, keepdims=keepdims, ddof=1))
    same(tb.median(x, axis=axis, keepdims=keepdims), np.median(values, axis=axis, keepdims=keepdims))
    powers = np.log(np.sum(np.exp(values), axis=axis, keepdims=keepdims))
    same(tb.logsumexp(x, axis=axis, keepdims=keepdims), powers, 1e-5)


def test_too_small_a_sample_has_no_variance(backend: str) -> None:
    for count, correction in ((0, 0), (1, 1), (2, 3)):
        x = tb.ones(count, backend=backend)
        assert str(tb.var(x, correction=correction).item()) == "nan"
        assert str(tb.std(x, correction=correction).item()) == "nan"


def test_logsumexp_of_infinities_and_none(backend: str) -> None:
    x = tb.tensor([[INF, 0.0], [-INF, -INF], [-INF, 1.0], [NAN, INF]], backend=backend)
    assert str(tb.logsumexp(x, axis=1).tolist()) == "[inf, -inf, 1.0, nan]"
    assert tb.logsumexp(tb.zeros((2, 0), backend=backend), axis=1).tolist() == [-INF, -INF]


def test_median_at_the_edges(backend: str) -> None:
    greatest = tb.finfo("float32").max
    x = tb.tensor([[greatest, greatest], [INF, INF], [-INF, INF], [NAN, 1.0]], backend=backend)
    assert str(tb.median(x, axis=1).tolist()) == f"[{greatest}, inf, nan, nan]"
    named = tb.zeros((2, 3, 4), names=("a", "b", "c"), backend=backend)
    assert tb.median(named, axis=("a", "c")).names == ("b",)
    assert tb.median(named, axis="b", keepdims=True).template == tb.Template((2, 1, 4), "f32", ("a", "b", "c"))
    with pytest.raises(ShapeError, match="at least one element"):
        tb.median(tb.zeros((2, 0), backend=backend), axis=1)
    with pytest.raises(DTypeError, match="real or bool"):
        tb.median(tb.zeros(2, dtype="complex64", backend=backend))


def test_closeness_is_numpys(backend: str) -> None:
    left, right = np.array([1, INF, INF, NAN, 1e30, 0.0, 1.0]), np.array([1.00001, INF, -INF, NAN, INF, -0.0, 1.1])
    for options in ({}, {"equal_nan": True}, {"rtol": 0.2}, {"atol": 0.0, "rtol": 0.0}):
        x1, x2 = (tb.asarray(each, backend=backend) for each in (left, right))
        assert tb.isclose(x1, x2, **options).tolist() == np.isclose(left, right, **options).tolist()


def test_closeness_of_integers_is_exact(backend: str) -> None:
    x = tb.tensor([2**24 + 1, 255], backend=backend)
    assert tb.isclose(x, tb.tensor([2**24, 255], backend=backend), rtol=0, atol=0).tolist() == [False, True]
    small = tb.tensor([0, 255], dtype="uint8", backend=backend)
    assert tb.isclose(small, small[::-1], atol=1.0).tolist() == [False, False]
    assert tb.all_close(x, x).item() is True
    assert tb.all_close(tb.zeros(0, backend=backend), 1.0).item() is True
