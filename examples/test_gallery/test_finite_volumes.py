"""The water by a loop over NumPy arrays, and near the exact solution of Stoker."""

import numpy
import pytest
from scipy.optimize import brentq

from .conftest import Runner

GRAVITY = 9.81


def dam_break(behind: float, cells: int, steps: int) -> numpy.ndarray:
    """Return the depths at the end, after as many steps of Rusanov's scheme."""
    middles = (numpy.arange(cells) + 0.5) * 100 / cells
    state = numpy.array([numpy.where(middles < 50, behind, 1.0), numpy.zeros(cells)])
    for _ in range(steps):
        wide = numpy.pad(state, ((0, 0), (1, 1)), mode="edge")
        wide[1, [0, -1]] *= -1
        depth, momentum = wide
        flux = numpy.array([momentum, momentum**2 / depth + GRAVITY / 2 * depth**2])
        speed = abs(momentum / depth) + numpy.sqrt(GRAVITY * depth)
        fastest = numpy.maximum(speed[1:], speed[:-1])
        through = (flux[:, 1:] + flux[:, :-1] - fastest * numpy.diff(wide)) / 2
        state = state - 5 / steps * cells / 100 * numpy.diff(through)
    return state[0]


def exact(behind: float, x: numpy.ndarray, t: float) -> numpy.ndarray:
    """Return the depth at places relative to the dam, by Stoker's solution for a depth of 1 m before it."""
    c0 = numpy.sqrt(GRAVITY * behind)

    def shock(depth: float) -> float:
        return (depth - 1) * numpy.sqrt(GRAVITY / 2 * (depth + 1) / depth)

    middle = brentq(lambda depth: shock(depth) - 2 * (c0 - numpy.sqrt(GRAVITY * depth)), 1 + 1e-9, behind)
    speed = shock(middle)
    fan = (2 * c0 - x / t) ** 2 / (9 * GRAVITY)
    tail, front = speed - numpy.sqrt(GRAVITY * middle), speed * middle / (middle - 1)
    return numpy.select([x < -c0 * t, x < tail * t, x < front * t], [behind, fan, middle], 1.0)


def test_the_water_is_that_of_a_loop(on_both: Runner) -> None:
    values = on_both("finite_volumes", CELLS=60, STEPS=50)
    depths = numpy.asarray(values["water"].depth[:, -1])
    for behind, depth in zip((1.5, 2.0, 3.0), depths, strict=True):
        numpy.testing.assert_allclose(depth, dam_break(behind, 60, 50), rtol=1e-11)
    nearby = [dam_break(2 + shift, 60, 50)[39] for shift in (-1e-5, 1e-5)]
    assert values["slope"].item() == pytest.approx((nearby[1] - nearby[0]) / 2e-5, rel=1e-5)


def test_the_scheme_tends_to_the_exact_solution() -> None:
    errors = []
    for cells in (100, 400):
        x = (numpy.arange(cells) + 0.5) * 100 / cells - 50
        errors.append(numpy.mean(abs(dam_break(2.0, cells, cells) - exact(2.0, x, 5.0))))
    assert errors[1] < errors[0] / 2
    assert errors[1] < 0.01
