"""Roots of functions of vectors and of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, DTypeError, ShapeError
from tensorbackend.optimize import bisect, fixed_point, root


@pytest.mark.parametrize("backend", ["numpy", "binary", "jax"])
def test_newtons_method(backend: str) -> None:
    def function(x: Any) -> Any:
        return tb.stack([tb.exp(x[0]) - x[1], x[0] + x[1] - 3])

    start = tb.asarray([0.0, 0.0], dtype="f64", names=("n",), backend=backend)
    solution = root(function, start, tolerance=1e-12)
    assert (solution.x.names, solution.converged.item(), solution.diverged.item()) == (("n",), True, False)
    first, second = solution.x.tolist()
    assert abs(numpy.exp(first) - second) < 1e-11
    assert 0 < int(solution.iterations) < 10


def test_newtons_method_elsewhere() -> None:
    assert root(lambda x: x**2 - 2, tb.asarray(1.0), tolerance=1e-6).x.item() == pytest.approx(2**0.5)
    compiled = tb.jit(lambda x, a: root(lambda x: x**2 - a, x).x)
    assert compiled(tb.asarray(1.0), tb.asarray(9.0)).item() == pytest.approx(3.0)
    assert tb.vmap(compiled)(tb.ones(2), tb.asarray([4.0, 9.0])).tolist() == pytest.approx([2.0, 3.0])
    grid = root(lambda x: x**3 - 8, tb.full((2, 3), 1.0))
    assert (grid.x.shape, grid.converged.item()) == ((2, 3), True)
    assert root(lambda x: x**2 + 1, tb.asarray(0.3 + 0.5j)).x.item() == pytest.approx(1j)
    far = root(tb.arctan if hasattr(tb, "arctan") else tb.atan, tb.asarray(3.0))  # full steps diverge
    assert far.converged.item()
    none = root(lambda x: x**2 + 1, tb.asarray(1.0), max_iterations=9)
    assert not none.converged.item()
    flat = root(lambda x: x * 0 + 1, tb.asarray(1.0))
    assert (flat.converged.item(), flat.diverged.item()) == (False, True)


@pytest.mark.parametrize(
    ("search", "most"),
    [
        (lambda **limit: root(lambda x: x**2 + 1, 1.3, **limit), 50),
        (lambda **limit: fixed_point(lambda x: -x, 1.0, **limit), 500),
    ],
)
def test_a_search_without_an_end_ends_at_its_limit(search: Callable[..., Any], most: int) -> None:
    for limit, count in ({}, most), ({"max_iterations": 7}, 7), ({"max_iterations": 0}, 0):
        found = search(**limit)
        assert (found.iterations.item(), found.converged.item(), found.diverged.item()) == (count, False, False)


@pytest.mark.parametrize("backend", ["numpy", "binary", "jax"])
def test_halving(backend: str, whole: Callable[..., Any]) -> None:
    roots = tb.asarray([2.0, 3.0, 0.0, 5.0, 7.0], names=("n",), dtype="f64", backend=backend)
    low, high = (tb.asarray(value, dtype="f64", backend=backend) for value in (0.0, 5.0))

    @whole
    def halved(roots: Any, low: Any, high: Any) -> Any:
        return bisect(lambda x: x - roots, low + 0 * roots, high, tolerance=1e-9)

    solution = halved(roots, low, high)
    numpy.testing.assert_allclose(numpy.asarray(solution.x)[:4], [2, 3, 0, 5], atol=1e-9)
    assert solution.converged.tolist() == [True] * 4 + [False]
    assert solution.diverged.tolist() == [False] * 4 + [True]
    assert solution.x.names == ("n",)


def test_bounds_that_are_numbers_go_where_the_others_are() -> None:
    solution = bisect(lambda x: x - 2, 0.0, tb.asarray([5.0, 9.0], backend="jax"))
    numpy.testing.assert_allclose(numpy.asarray(solution.x), [2, 2], atol=1e-5)
    assert solution.x.backend.name == "jax"


def test_integers_are_floats_to_start_from() -> None:
    found = bisect(lambda x: x * x - 2, 0, 3)
    assert found.x.dtype is tb.float32
    assert found.x.item() == bisect(lambda x: x * x - 2, 0.0, 3.0).x.item()
    assert root(lambda x: x * x - 2, 1).x.item() == root(lambda x: x * x - 2, 1.0).x.item()
    assert root(lambda x: {"a": x["a"] - 2}, {"a": tb.asarray(1)}).x["a"].item() == 2.0
    assert tb.optimize.fixed_point(lambda x: x / 2 + 1, 1).x.item() == pytest.approx(2.0, abs=1e-5)


def test_mistakes() -> None:
    with pytest.raises(ShapeError, match="root: expected a function whose result has the number of elements of x0"):
        root(lambda x: x[:1], tb.ones(2))
    with pytest.raises(ArgumentError, match="root: expected a number above 0 as tolerance, got tolerance=0"):
        root(lambda x: x, tb.ones(2), tolerance=0)
    with pytest.raises(DTypeError, match="root: expected a floating or complex x0"):
        root(lambda x: x, tb.ones(2, dtype="bool"))
    with pytest.raises(ArgumentError, match="bisect: expected a number above 0 as tolerance"):
        bisect(lambda x: x, 0.0, 1.0, tolerance=-1.0)
    with pytest.raises(DTypeError, match="bisect: expected floating bounds"):
        bisect(lambda x: x, False, True)
    with pytest.raises(ShapeError, match="bisect: expected a function with a number for each element"):
        bisect(lambda x: tb.stack([x, x]), 0.0, 1.0)


@pytest.mark.parametrize("backend", ["numpy", "binary", "jax"])
@pytest.mark.parametrize("shape", [(0,), (3, 0)], ids=str)
def test_x0_without_elements_is_the_root(shape: tuple[int, ...], backend: str) -> None:
    found = root(lambda x: tb.reshape(x**2 - 4, (-1,)), tb.zeros(shape, backend=backend))
    assert (found.x.shape, found.value.shape, found.x.backend.name) == (shape, (0,), backend)
    assert (found.iterations.item(), found.converged.item(), found.diverged.item()) == (0, True, False)
    assert tb.jit(lambda x: root(lambda x: x**2 - 4, x).converged)(tb.zeros(shape, backend=backend)).item()
