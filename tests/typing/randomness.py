"""Random numbers, statistics of them, and a Monte Carlo estimate by `vmap`."""

from __future__ import annotations

from typing import assert_type

import tensorbackend as tb
from tensorbackend import Tensor


def estimate(key: Tensor) -> Tensor:
    points = tb.random.uniform(key, (200, 2), names=("point", "axis"))
    return 4 * tb.mean(tb.astype(tb.sum(points**2, axis="axis") < 1, "f32"))


key = assert_type(tb.random.key(0), Tensor)
keys = assert_type(tb.random.split(key, 10), Tensor)
estimates = assert_type(tb.vmap(estimate)(keys), Tensor)
assert_type(tb.random.normal(key, (3,)), Tensor)
assert_type(tb.random.permutation(key, tb.iota(5)), Tensor)
assert_type(tb.random.choice(key, tb.iota(5)), Tensor)
assert_type(tb.random.categorical(key, tb.zeros(5)), Tensor)
assert_type(tb.mean(estimates), Tensor)
assert_type(tb.std(estimates), Tensor)
assert_type(tb.median(estimates), Tensor)
assert_type(tb.quantile(estimates, 0.5), Tensor)
assert 2.8 < float(estimates.mean()) < 3.5
