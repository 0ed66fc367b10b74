"""Quantiles at shares that a trace or a tape records."""

import math

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.ops.composite.sorting.order_statistics import METHODS

SHARES = [0.0, 0.25, 0.5, 0.3, 1.0, 1 / 3]


@pytest.mark.parametrize("method", METHODS)
def test_traced_shares_give_the_quantiles_of_numbers(method: str) -> None:
    random = numpy.random.default_rng(0)
    for count in (1, 2, 3, 7, 20):
        x = tb.asarray(random.standard_normal((3, count)).round(1), names=("row", "place"))
        q = tb.asarray(SHARES, dtype="f64", names=("share",))
        expected = tb.quantile(x, q, axis="place", method=method)
        found = tb.jit(lambda q, x=x: tb.quantile(x, q, axis="place", method=method))(q)
        assert found.template == expected.template
        numpy.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_traced_shares_without_nan() -> None:
    x = tb.asarray([[1.0, math.nan, 4.0, 2.0], [math.nan] * 4])
    q = tb.asarray(SHARES)
    found = tb.jit(lambda q: tb.nanquantile(x, q, axis=1, keepdims=True))(q)
    numpy.testing.assert_allclose(found, tb.nanquantile(x, q, axis=1, keepdims=True), rtol=1e-6)


def test_a_share_has_a_gradient_and_one_outside_is_nan() -> None:
    x = tb.asarray([1.0, 3.0, 4.0, 8.0])
    assert tb.grad(lambda q: tb.quantile(x, q))(tb.asarray(0.4)).item() == pytest.approx(3.0)
    with tb.tape() as tape:
        q = tape.watch(tb.asarray(40.0))
        y = tb.percentile(x, q)
    assert tb.gradient(y, q).item() == pytest.approx(0.03)
    below, inside, above = tb.vmap(lambda q: tb.percentile(x, q))(tb.asarray([-1.0, 100.0, 101.0])).tolist()
    assert inside == 8.0
    assert math.isnan(below)
    assert math.isnan(above)
