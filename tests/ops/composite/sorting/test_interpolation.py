"""Linear interpolation, compared with NumPy's, and its gradients."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, ShapeError

XP, FP = np.array([-1.0, 0.0, 0.5, 2.0]), np.array([3.0, -1.0, 4.0, 4.5])
X = np.array([[-2.0, -1.0, -0.3], [0.5, 1.9, 7.0]])


@pytest.mark.parametrize("backend", ["binary", "numpy"])
@pytest.mark.parametrize("options", [{}, {"left": -9.0}, {"right": 0.0}, {"period": 2.5}, {"period": -4.0}])
def test_results_are_numpys(options: dict[str, Any], backend: str) -> None:
    x, xp, fp = (tb.asarray(each, backend=backend) for each in (X, XP, FP))
    x = x.rename("row", "n")
    wanted = np.interp(X, XP, FP, **options)
    for got in (tb.interp(x, xp, fp, **options), tb.jit(lambda x: tb.interp(x, xp, fp, **options))(x)):
        assert got.names == ("row", "n")
        np.testing.assert_allclose(np.asarray(got), wanted)


INF = math.inf
HARD: list[tuple[list[float], list[float]]] = [
    ([0.0, 1.0, 1.0], [1.0, 5.0, -2.0]),
    ([0.0, 0.0, 1.0], [1.0, 5.0, -2.0]),
    ([3.0, 3.0], [1.0, -2.0]),
    ([3.0], [1.0]),
    ([-INF, 2.0], [1.0, 5.0]),
    ([-INF, -1.0, 1.0, INF], [-2.0, 1.0, 5.0, 0.5]),
    ([-1.0, 0.0, 3.0], [5.0, INF, 5.0]),
    ([0.0, 1.0, 3.0], [INF, INF, 2.0]),
]
"""Equal places, a single one, and infinities: NumPy's choices."""


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
@pytest.mark.parametrize(("places", "values"), HARD)
def test_hard_points_are_numpys(places: list[float], values: list[float], backend: str) -> None:
    x = np.array([-INF, -2.0, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0, INF])
    for dtype in ("float64", "float32"):
        operands = [tb.asarray(np.array(each, dtype), backend=backend) for each in (x, places, values)]
        found = np.asarray(tb.interp(*operands, left=-7.0))
        np.testing.assert_array_equal(found, np.interp(x, places, values, left=-7.0))
        assert np.isnan(np.asarray(tb.interp(operands[0] * math.nan, *operands[1:]))).all()


def test_the_gradient_at_a_point_is_a_slope_next_to_it() -> None:
    x = np.array([0.0, 1.0, 2.0, 4.0])
    points, values = np.array([0.0, 1.0, 2.0, 4.0]), np.array([0.0, 1.0, 4.0, 16.0])
    found = tb.grad(lambda t: tb.sum(tb.interp(t, tb.asarray(points), tb.asarray(values))))(tb.asarray(x))
    with jax.enable_x64(True):
        wanted = jax.grad(lambda t: jnp.interp(t, points, values).sum())(x)
    assert found.tolist() == [1.0, 3.0, 6.0, 6.0] == wanted.tolist()


def test_gradients() -> None:
    x, xp, fp = (tb.asarray(each) for each in (X, XP, FP))
    slopes = tb.grad(lambda x: tb.sum(tb.interp(x, xp, fp)))(x)
    assert np.asarray(slopes)[0, 2] == pytest.approx(-4.0)
    assert np.asarray(slopes)[1, 1] == pytest.approx(1 / 3)
    assert [slopes[0, 0].item(), slopes[1, 2].item()] == [0.0, 0.0]  # outside
    shares = tb.grad(lambda fp: tb.sum(tb.interp(x, xp, fp)))(fp)
    assert tb.sum(shares).item() == pytest.approx(X.size)


def test_what_is_refused() -> None:
    for xp, fp in [(tb.zeros(0), tb.zeros(0)), (tb.zeros(2), tb.zeros(3)), (tb.zeros((1, 2)), tb.zeros((1, 2)))]:
        with pytest.raises(ShapeError, match=r"^interp: expected"):
            tb.interp(tb.zeros(2), xp, fp)
    with pytest.raises(ArgumentError, match="period"):
        tb.interp(tb.zeros(2), tb.zeros(2), tb.zeros(2), period=0.0)


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_an_infinite_part_of_a_complex_value_leaves_the_other_part_alone(backend: str) -> None:
    values = np.array([0, complex(0, np.inf), complex(-np.inf, 1), complex(2, 3)])
    places, x = np.array([0.0, 1.0, 2.0, 3.0]), np.array([-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, np.nan])
    made = tb.interp(*(tb.asarray(each, backend=backend) for each in (x, places, values)))
    np.testing.assert_array_equal(np.asarray(made), np.interp(x, places, values))
    again = tb.interp(*(tb.asarray(each, backend=backend) for each in (x, places, values)), period=4.0)
    np.testing.assert_array_equal(np.asarray(again), np.interp(x, places, values, period=4.0))
