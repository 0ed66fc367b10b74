"""Nonlinear least squares: SciPy's minima, their gradients, trees and flags."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import scipy.optimize

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, DTypeError

T = numpy.linspace(0, 3, 20)
NOISE = numpy.random.default_rng(0).normal(size=20) * 0.1


def fit(scale: Any, backend: str = "numpy") -> Any:
    t, noise = (tb.asarray(x, names=("time",), backend=backend) for x in (T, NOISE))
    seen = 3 * tb.exp(-1.2 * t) + scale * noise
    start = {name: tb.asarray(x, dtype="f64", backend=backend) for name, x in (("a", 1.0), ("b", 1.0), ("c", 0.0))}
    return tb.optimize.least_squares(lambda p: p["a"] * tb.exp(-p["b"] * t) + p["c"] - seen, start)


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_a_curve_is_fitted_in_a_compiled_function(backend: str) -> None:
    found = tb.jit(lambda scale: fit(scale, backend))(tb.asarray(1.0, dtype="f64", backend=backend))
    theirs = scipy.optimize.least_squares(
        lambda p: p[0] * numpy.exp(-p[1] * T) + p[2] - 3 * numpy.exp(-1.2 * T) - NOISE, [1.0, 1.0, 0.0], "3-point",
        method="lm", xtol=1e-14, ftol=1e-14, gtol=1e-14,
    )  # fmt: skip
    assert found.converged.item()
    assert numpy.allclose([found.x[name].item() for name in "abc"], theirs.x, rtol=1e-6)
    assert numpy.allclose(found.cost.item(), theirs.cost, rtol=1e-9)
    assert found.residuals.names == ("time",)


def test_a_minimum_with_residuals_has_the_gradient_of_differences() -> None:
    one = tb.asarray(1.0, dtype="f64")
    slope = tb.grad(lambda scale: fit(scale).x["b"])(one).item()
    ahead, behind = (fit(one + change).x["b"].item() for change in (1e-2, -1e-2))
    assert numpy.isclose(slope, (ahead - behind) / 2e-2, rtol=1e-5)


def test_rosenbrock_in_float32_and_flags() -> None:
    valley = lambda x: tb.stack([10 * (x[1] - x[0] ** 2), 1 - x[0]])  # noqa: E731
    found = tb.optimize.least_squares(valley, tb.asarray([-1.2, 1.0], names=("n",)))
    assert (found.x.names, found.x.dtype, found.converged.item()) == (("n",), tb.float32, True)
    assert numpy.allclose(found.x.tolist(), [1.0, 1.0], atol=1e-4)
    assert not tb.optimize.least_squares(valley, tb.asarray([-1.2, 1.0]), max_iterations=2).converged.item()
    assert tb.optimize.least_squares(lambda x: x / 0, tb.ones(1)).diverged.item()
    assert tb.optimize.least_squares(lambda x: x - 1, tb.ones(1)).iterations.item() == 0


@pytest.mark.parametrize("unit", [1e-170, 1e-20, 1e-9, 1e9, 1e170])
def test_units_of_residuals_and_unknowns_do_not_matter(unit: float) -> None:
    start = tb.asarray([0.0], dtype="f64")
    by_residuals = tb.optimize.least_squares(lambda x: (x - 3) * unit, start)
    by_unknowns = tb.optimize.least_squares(lambda x: (x * unit - 3) / unit, start)
    for found, x in ((by_residuals, 3.0), (by_unknowns, 3.0 / unit)):
        assert found.converged.item()
        assert numpy.allclose(found.x.tolist(), x, rtol=1e-12, atol=0)


@pytest.mark.parametrize("unit", [1e-170, 1.0, 1e170])
def test_the_gradient_is_the_same_in_any_unit(unit: float) -> None:
    """Of (x^2 - a)^2 + (x - 2 a)^2, whose minimum moves by 6 / 19 at a = 3."""

    def minimum(a: tb.Tensor) -> Any:
        start = tb.asarray([1.0], dtype="f64")
        return tb.optimize.least_squares(lambda x: tb.stack([x[0] ** 2 - a, x[0] - 2 * a]) * unit, start).x[0]

    assert numpy.allclose(tb.grad(minimum)(tb.asarray(3.0, dtype="f64")).item(), 6 / 19, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_narrow_floats_are_computed_in_float32(dtype: str) -> None:
    found = tb.optimize.least_squares(lambda x: x - 3, tb.asarray([1.0], dtype=dtype))
    assert (found.x.tolist(), found.converged.item(), str(found.x.template)) == ([3.0], True, f"{dtype}[1]")


def test_slopes_that_are_singular_at_the_minimum() -> None:
    """Powell's singular function: J^T J has rank 2 at the minimum, where x is 0."""

    def powell(x: tb.Tensor) -> tb.Tensor:
        a, b, c, d = x[0], x[1], x[2], x[3]
        return tb.stack([a + 10 * b, 5**0.5 * (c - d), (b - 2 * c) ** 2, 10**0.5 * (a - d) ** 2])

    found = tb.optimize.least_squares(powell, tb.asarray([3.0, -1.0, 0.0, 1.0], dtype="f64"))
    assert found.converged.item()
    assert not found.diverged.item()
    assert numpy.allclose(found.x.tolist(), 0, atol=1e-7)


def test_integers_are_floats_to_start_from() -> None:
    assert tb.optimize.least_squares(lambda x: x - 2.5, tb.asarray([1])).x.tolist() == pytest.approx([2.5])


def test_mistakes() -> None:
    with pytest.raises(ArgumentError, match="least_squares: expected a number above 0 as tolerance"):
        tb.optimize.least_squares(lambda x: x, tb.ones(1), tolerance=0.0)
    with pytest.raises(DTypeError, match="least_squares: expected a floating x0"):
        tb.optimize.least_squares(lambda x: x, tb.asarray([True]))
    with pytest.raises(DTypeError, match="least_squares: expected floating residuals"):
        tb.optimize.least_squares(lambda x: x > 0, tb.ones(1))
