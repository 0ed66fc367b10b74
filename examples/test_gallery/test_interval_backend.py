"""The true values, by Python's fractions, are inside the intervals, and the intervals are narrow where they can be."""

from fractions import Fraction
from typing import Any

import numpy

import tensorbackend as tb

from .conftest import Runner


def enclose(interval: tb.Tensor, true: list[Fraction]) -> bool:
    low, high = (end.reshape(-1).tolist() for end in interval.data)
    return all(Fraction(a) <= x <= Fraction(b) for a, x, b in zip(low, true, high, strict=True))


def solve(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction]:
    """Return the solution by Gauss's elimination."""
    rows = [[*row, x] for row, x in zip(matrix, right, strict=True)]
    for i in range(len(rows)):
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for j in range(len(rows)):
            if j != i:
                rows[j] = [x - rows[j][i] * y for x, y in zip(rows[j], rows[i], strict=True)]
    return [row[-1] for row in rows]


def test_the_true_values_are_inside(on_both: Runner) -> None:
    values = on_both("interval_backend")
    a, b = Fraction(77617), Fraction(33096)
    true: Any = Fraction("333.75") * b**6 + a**2 * (11 * a**2 * b**2 - b**6 - 121 * b**4 - 2)
    true = true + Fraction("5.5") * b**8 + a / (2 * b)
    assert abs(float(true) + 0.827396059946821) < 1e-12
    assert enclose(values["inside"], [true])
    assert not abs(values["plain"].item() - float(true)) < 1e20

    x, states = Fraction(1, 2), []
    for _ in range(8):  # the digits of a fraction double at each step
        x = Fraction(3.9) * x * (1 - x)
        states.append(x)
    forecast = values["forecast"](values["number"](0.5, values["IntervalBackend"]), 8)
    assert enclose(forecast, states)
    assert numpy.max(forecast.data[1] - forecast.data[0]) < 1e-10

    entries = [[Fraction(x) for x in row] for row in values["entries"]]
    assert enclose(values["solution"], solve(entries, [Fraction(1)] * 5))
    assert numpy.max(numpy.diff(values["solution"].data, axis=0)) < 1e-5


def test_what_is_made_of_its_ops_holds_too(on_both: Runner) -> None:
    backend = on_both("interval_backend")["IntervalBackend"]
    numbers = numpy.random.default_rng(0).uniform(-3, 3, (4, 3))
    x = tb.asarray(numbers, dtype="f64", backend=backend)
    exact = [[Fraction(value) for value in row] for row in numbers.tolist()]
    product = [[sum((p * q for p, q in zip(a, b, strict=True)), Fraction(0)) for b in exact] for a in exact]
    assert enclose(x @ x.T, [value for row in product for value in row])
    assert enclose(tb.mean(x / 7, axis=1), [sum(row, Fraction(0)) / 21 for row in exact])
    assert enclose(tb.cumulative_sum(x[0] / 3), [sum(exact[0][: i + 1], Fraction(0)) / 3 for i in range(3)])
    slope = tb.grad(lambda x: tb.sum(x * x * x / 9))(x)
    assert enclose(slope, [value * value / 3 for row in exact for value in row])
