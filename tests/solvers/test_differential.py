"""Initial value problems: names, trees, directions, and gradients by both methods next to closed forms."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import scipy.integrate

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, DTypeError, ShapeError

TIGHT: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-12}


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_an_oscillator_in_a_compiled_function(backend: str) -> None:
    times = tb.asarray([0.0, 0.3, 1.1, 2.0], dtype="f64", names=("time",), backend=backend)

    @tb.jit
    def run(start: Any) -> Any:
        return tb.solvers.solve_ivp(
            lambda t, y: {"x": y["v"], "v": -y["x"]}, (0.0, 2.0), start, times=times, rtol=1e-7, atol=1e-9
        )

    zero = tb.asarray([[0.0]], dtype="f64", names=("body", "axis"), backend=backend)
    found = run({"x": zero, "v": zero + 1})
    assert (found.y["x"].names, found.y["x"].shape) == (("time", "body", "axis"), (4, 1, 1))
    assert numpy.allclose(tb.reshape(found.y["x"], (-1,)).tolist(), numpy.sin(times.tolist()), atol=1e-6)
    assert found.converged.item()


def growth(rate: tb.Tensor, y0: tb.Tensor, end: tb.Tensor, **options: Any) -> tb.Tensor:
    """y0 exp(rate end**2 / 2)."""
    found = tb.solvers.solve_ivp(lambda t, y: rate * t * y, (0.0, end), y0, **TIGHT, **options)
    return tb.sum(found.y[1])


@pytest.mark.parametrize("options", [{}, {"gradient": "direct", "max_steps": 120}], ids=["adjoint", "direct"])
def test_gradients_have_closed_forms(options: dict[str, Any]) -> None:
    rate, y0, end = (tb.asarray(x, dtype="f64") for x in (0.6, [1.5], 1.2))
    by_rate, by_y0, by_end = tb.grad(lambda *x: growth(*x, **options), argnums=(0, 1, 2))(rate, y0, end)
    factor = numpy.exp(0.6 * 1.44 / 2)
    assert numpy.allclose(by_rate.item(), 1.5 * factor * 0.72, rtol=1e-7)
    assert numpy.allclose(by_y0.tolist(), [factor], rtol=1e-7)
    assert numpy.allclose(by_end.item(), 1.5 * factor * 0.6 * 1.2, rtol=1e-6)


def test_second_derivatives_and_tangents_by_the_adjoint() -> None:
    y0, end, rate = tb.asarray([1.0], dtype="f64"), tb.asarray(1.0, dtype="f64"), tb.asarray(0.5, dtype="f64")
    second = tb.grad(tb.grad(lambda rate: growth(rate, y0, end)))(rate)
    assert numpy.allclose(second.item(), numpy.exp(0.25) / 4, rtol=1e-6)
    _, tangent = tb.jvp(lambda rate: growth(rate, y0, end), (rate,), (tb.ones_like(rate),))
    assert numpy.allclose(tangent.item(), numpy.exp(0.25) / 2, rtol=1e-7)


def test_backwards_in_time_and_times_out_of_reach() -> None:
    back = tb.solvers.solve_ivp(lambda t, y: -t * y, (2.0, 0.0), tb.ones(1, dtype="f64"), **TIGHT)
    assert numpy.allclose(back.y.tolist(), [[1.0], [numpy.exp(2.0)]])
    stopped = tb.solvers.solve_ivp(lambda t, y: -t * y, (0.0, 2.0), tb.ones(1, dtype="f64"), max_steps=2, **TIGHT)
    assert (stopped.steps.item(), stopped.converged.item(), numpy.isnan(stopped.y[1, 0].item())) == (2, False, True)
    asked = tb.asarray([-0.5, 0.0, 1.0, 2.5, numpy.nan], dtype="f64")
    beside = tb.solvers.solve_ivp(lambda t, y: -t * y, (0.0, 2.0), tb.ones(1, dtype="f64"), times=asked, **TIGHT)
    assert numpy.isnan(beside.y[:, 0].tolist()).tolist() == [True, False, False, True, True]
    nothing = tb.solvers.solve_ivp(lambda t, y: y, (1.0, 1.0), tb.ones(1))
    assert (nothing.y.tolist(), nothing.steps.item()) == ([[1.0], [1.0]], 0)


def test_a_singularity_ends_the_search() -> None:
    found = tb.solvers.solve_ivp(lambda t, y: y * y, (0.0, 2.0), tb.ones(1, dtype="f64"), rtol=1e-6)
    assert not found.converged.item()


def test_as_many_steps_as_scipy_takes() -> None:
    def slope(t: Any, y: Any) -> list[Any]:
        return [y[1], (1 - y[0] ** 2) * y[1] - y[0]]

    theirs = scipy.integrate.solve_ivp(slope, (0, 10), [2.0, 0.0], rtol=1e-6, atol=1e-8)
    start = tb.asarray([2.0, 0.0], dtype="f64")
    ours = tb.solvers.solve_ivp(lambda t, y: tb.stack(slope(t, y)), (0.0, 10.0), start, rtol=1e-6, atol=1e-8)
    assert abs(ours.steps.item() - theirs.nfev / 6) < 5
    assert numpy.allclose(ours.y[1].tolist(), theirs.y[:, -1], atol=1e-4)


@pytest.mark.parametrize("start", [[2.0, 0.0], (2, 0)])
def test_numbers_in_a_list_are_a_tensor_as_in_scipy(start: Any) -> None:
    found = tb.solvers.solve_ivp(lambda t, y: tb.stack([y[1], -y[0]]), (0, 1), start)
    assert (found.y.dtype, found.y.shape) == (tb.float32, (2, 2))
    assert numpy.allclose(found.y[1].tolist(), [2 * numpy.cos(1), -2 * numpy.sin(1)], atol=1e-2)


def test_mistakes_are_found_without_data() -> None:
    y0 = tb.template((2,), "f32", names=("n",))
    found = tb.solvers.solve_ivp(lambda t, y: -y, (0.0, 1.0), y0)
    assert (found.y.shape, found.y.names) == ((2, 2), (None, "n"))
    with pytest.raises(ShapeError, match=r"solve_ivp: expected a derivative of shape \(2,\)"):
        tb.solvers.solve_ivp(lambda t, y: y[:1], (0.0, 1.0), y0)
    with pytest.raises(ShapeError, match="solve_ivp: expected a span of two times"):
        tb.solvers.solve_ivp(lambda t, y: y, (0.0, 1.0, 2.0), tb.ones(2))
    with pytest.raises(ArgumentError, match="solve_ivp: expected a number above 0 as rtol"):
        tb.solvers.solve_ivp(lambda t, y: y, (0.0, 1.0), tb.ones(2), rtol=0.0)
    with pytest.raises(ArgumentError, match="gradient"):
        tb.solvers.solve_ivp(lambda t, y: y, (0.0, 1.0), tb.ones(2), gradient="none")  # type: ignore[arg-type]
    with pytest.raises(DTypeError, match="solve_ivp: expected a real y0"):
        tb.solvers.solve_ivp(lambda t, y: y, (0.0, 1.0), tb.asarray([1j]))


def test_times_and_ends_have_gradients_beside_a_start_with_data() -> None:
    start = tb.ones(1, dtype="f64")

    def last(span: Any, times: Any = None) -> tb.Tensor:
        return tb.sum(tb.solvers.solve_ivp(lambda t, y: -y, span, start, times=times, rtol=1e-8).y[-1])

    times = tb.asarray([0.5, 1.0], dtype="f64")
    slopes = tb.grad(lambda times: last((0.0, 1.0), times))(times)
    numpy.testing.assert_allclose(slopes, [0.0, -numpy.exp(-1.0)], atol=1e-6)
    end = tb.asarray(1.0, dtype="f64")
    for span in (lambda end: (0.0, end), lambda end: tb.stack([end - 1, end])):
        expected = -numpy.exp(-1.0) if type(span(end)) is tuple else 0.0
        numpy.testing.assert_allclose(tb.grad(lambda end, span=span: last(span(end)))(end), expected, atol=1e-6)


@pytest.mark.parametrize("y0", [None, {}])
def test_y0_has_a_tensor(y0: Any) -> None:
    with pytest.raises(ArgumentError, match="a y0 with a tensor in it"):
        tb.solvers.solve_ivp(lambda t, y: y, (0.0, 1.0), y0)


def test_one_step_is_the_least() -> None:
    once = tb.solvers.solve_ivp(lambda t, y: -y, (0.0, 1.0), tb.ones(1, dtype="f64"), max_steps=1)
    assert (once.steps.item(), once.y[0].tolist()) == (1, [1.0])
    assert bool(tb.isnan(once.y[1, 0]))
    with pytest.raises(ArgumentError, match="solve_ivp: expected at least 1 step, got max_steps=0"):
        tb.solvers.solve_ivp(lambda t, y: -y, (0.0, 1.0), tb.ones(1), max_steps=0)
