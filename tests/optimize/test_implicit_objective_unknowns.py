"""Roots and fixed points of trees, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy as np
from tensorbackend.errors import ArgumentError, OperandError, ShapeError
from tensorbackend.expr.arguments import is_tree
from tensorbackend.optimize.implicit import unknowns


def crossing(a: Any) -> Any:
    """x = sqrt(a), y = 1 / x."""
    start = {"x": tb.ones(1, dtype="f64"), "y": tb.ones(1, dtype="f64", names=("n",))}
    return tb.optimize.root(lambda t: [t["x"] ** 2 - a, t["y"] * t["x"] - 1], start)


def heron(a: Any) -> Any:
    start = {"x": tb.asarray(1.0, dtype="f64")}
    return tb.optimize.fixed_point(lambda t: {"x": (t["x"] + a / t["x"]) / 2}, start, tolerance=1e-12)


def test_roots_of_trees_have_gradients_by_what_the_function_closes_over() -> None:
    a = tb.asarray(4.0, dtype="f64")
    found = crossing(a)
    assert found.x["y"].names == ("n",)
    assert numpy.allclose([found.x["x"].item(), found.x["y"].item()], [2.0, 0.5])
    assert [x.shape for x in found.value] == [(1,), (1,)]
    slope = tb.jit(tb.grad(lambda a: crossing(a).x["y"][0]))(a)
    assert numpy.isclose(slope.item(), -0.5 * 4**-1.5)


@pytest.mark.parametrize("backend", ["binary", "numpy"])
def test_fixed_points_have_first_and_second_derivatives(backend: str) -> None:
    with tb.default_backend(backend):
        a = tb.asarray(9.0, dtype="f64")
        found = heron(a)
        assert found.converged.item()
        assert numpy.isclose(found.x["x"].item(), 3.0)
        assert numpy.isclose(tb.grad(lambda a: heron(a).x["x"])(a).item(), 1 / 6)
        assert numpy.isclose(tb.grad(tb.grad(lambda a: heron(a).x["x"]))(a).item(), -1 / 108)


def test_a_search_that_does_not_end_says_so() -> None:
    found = tb.optimize.fixed_point(lambda x: -x, tb.ones(2, names=("n",)), max_iterations=7)
    assert (found.converged.item(), found.iterations.item(), found.x.names) == (False, 7, ("n",))
    assert tb.optimize.fixed_point(lambda x: x * x * 1e30, tb.ones(2)).diverged.item()
    with pytest.raises(ShapeError, match="fixed_point: expected a function whose result has the elements of x0"):
        tb.optimize.fixed_point(lambda x: x[:1], tb.ones(2))
    with pytest.raises(ArgumentError, match="fixed_point: expected a number above 0 as tolerance"):
        tb.optimize.fixed_point(lambda x: x, tb.ones(2), tolerance=-1.0)


def test_lists_of_numbers_are_tensors() -> None:
    assert not is_tree([1.0, 2.0])
    assert not is_tree(tb.ones(2))
    both = unknowns({"b": tb.ones((2, 1), dtype="f64"), "a": tb.zeros(1)})
    assert (both.vector.dtype, both.vector.tolist()) == (tb.float64, [0.0, 1.0, 1.0])
    assert both.nest(both.vector)["b"].shape == (2, 1)


def test_unknowns_are_numbers_in_a_tree() -> None:
    def loss(p: Any) -> tb.Tensor:
        return (p["a"] - 3) ** 2 + (p["b"] + 1) ** 2  # type: ignore[no-any-return] # of whatever is in p

    minimum = tb.optimize.minimize(loss, {"a": 0.0, "b": 1})
    assert [round(minimum.x[name].item(), 4) for name in "ab"] == [3.0, -1.0]
    found = tb.optimize.least_squares(lambda p: tb.stack([p["a"] - 3, p["b"] + 1]), {"a": 0.5, "b": 1.0})
    assert [round(found.x[name].item(), 4) for name in "ab"] == [3.0, -1.0]
    start: Any = {"a": 0.5}
    assert tb.optimize.root(lambda p: {"y": p["a"] - 3}, start).x["a"].item() == 3.0
    assert round(tb.optimize.fixed_point(lambda p: {"a": p["a"] / 2 + 1}, start).x["a"].item(), 4) == 2.0
    assert tb.optimize.minimize(lambda x: tb.sum((x - 2) ** 2), [0.0, 1.0]).x.shape == (2,)
    with pytest.raises(OperandError, match="got element='text'"):
        tb.optimize.minimize(loss, {"a": "text", "b": 1.0})


def test_an_objective_may_return_an_array_of_the_numpy_namespace() -> None:
    found = tb.optimize.minimize(lambda x: np.sum((np.asarray(x) - 2.0) ** 2), tb.zeros(3))
    assert tb.all_close(found.x, tb.full((3,), 2.0), atol=1e-4).item()
    with pytest.raises(OperandError, match="a function that returns one tensor"):
        tb.optimize.minimize(lambda x: (tb.sum(x), 0.0), tb.zeros(3))
