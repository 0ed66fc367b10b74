"""L-BFGS within bounds."""

from __future__ import annotations

import numpy
import pytest

import tensorbackend as tb
from tensorbackend import Tensor
from tensorbackend.optimize import minimize


def valley(x: Tensor) -> Tensor:
    return (x[0] - 1) ** 2 + 10 * (x[1] - x[0] ** 2) ** 2


@pytest.mark.parametrize(("target", "bound"), [(9.0, 5.0), (-9.0, -5.0)])
def test_what_stays_at_its_bound_does_not_slow_the_others(target: float, bound: float) -> None:
    start = tb.asarray([-1.2, 1.0], dtype="f64")
    alone = minimize(valley, start, bounds=(-5.0, 5.0))
    beside = minimize(
        lambda x: valley(x[:2]) + (x[2] - target) ** 2,
        tb.concatenate([start, tb.asarray([bound], dtype="f64")]),
        bounds=(-5.0, 5.0),
    )
    assert int(beside.iterations) <= int(alone.iterations) + 3
    numpy.testing.assert_allclose(beside.x, [1.0, 1.0, bound], rtol=1e-5)
