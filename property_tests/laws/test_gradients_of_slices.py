"""Gradients of reductions along an axis where a whole slice is -inf, zero, equal or empty, next to ordinary slices.

Expected gradients are the formulas of each function in NumPy, one slice after the other; ties share equally.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.testing import profile

INF = math.inf
Array = Any


def extreme(row: Array, most: Any) -> Array:
    """Return equal shares for those that equal the extreme element; NaN wins."""
    hit = numpy.isnan(row) if numpy.isnan(row).any() else row == most(row)
    return hit / hit.sum()


def product(row: Array) -> Array:
    return numpy.asarray([math.prod(numpy.delete(row, at).tolist()) for at in range(len(row))])


def shares(row: Array) -> Array:
    """Return the softmax; of nothing but -inf each element has a share of 0, as `logsumexp` has no slope there."""
    if (row == -INF).all():
        return numpy.zeros_like(row)
    powers = numpy.exp(row - row.max())
    return powers / powers.sum()


def variance(row: Array, correction: float) -> Array:
    if len(row) <= correction:
        return numpy.full(len(row), numpy.nan)
    return 2 * (row - row.mean()) / (len(row) - correction)


def deviation(row: Array, correction: float) -> Array:
    """Return the slope of the standard deviation, which is 0 where all elements are equal."""
    if len(row) <= correction:
        return numpy.full(len(row), numpy.nan)
    apart = row - row.mean()
    if not apart.any():
        return numpy.zeros(len(row))
    return apart / math.sqrt((apart**2).sum() * (len(row) - correction))


def norm(row: Array) -> Array:
    length = math.sqrt((row**2).sum())
    return row / length if length else numpy.zeros(len(row))


Case = tuple[Callable[[tb.Tensor], tb.Tensor], Callable[[Array], Array]]
CASES: dict[str, Case] = {
    "sum": (lambda x: tb.sum(x, axis=1), numpy.ones_like),
    "mean": (lambda x: tb.mean(x, axis=1), lambda row: numpy.ones_like(row) / len(row)),
    "prod": (lambda x: tb.prod(x, axis=1), product),
    "max": (lambda x: tb.max(x, axis=1), lambda row: extreme(row, numpy.max)),
    "min": (lambda x: tb.min(x, axis=1), lambda row: extreme(row, numpy.min)),
    "logsumexp": (lambda x: tb.logsumexp(x, axis=1), shares),
    "var": (lambda x: tb.var(x, axis=1), lambda row: variance(row, 0)),
    "var, 1": (lambda x: tb.var(x, axis=1, correction=1), lambda row: variance(row, 1)),
    "var, 2": (lambda x: tb.var(x, axis=1, correction=2), lambda row: variance(row, 2)),
    "std": (lambda x: tb.std(x, axis=1), lambda row: deviation(row, 0)),
    "std, 1": (lambda x: tb.std(x, axis=1, correction=1), lambda row: deviation(row, 1)),
    "std, 2": (lambda x: tb.std(x, axis=1, correction=2), lambda row: deviation(row, 2)),
    "vector_norm": (lambda x: tb.linalg.vector_norm(x, axis=1), norm),
    "last cumulative_sum": (lambda x: tb.cumulative_sum(x, axis=1)[:, -1], numpy.ones_like),
    "last cumulative_prod": (lambda x: tb.cumulative_prod(x, axis=1)[:, -1], product),
    "softmax's first": (
        lambda x: tb.softmax(x, axis=1)[:, 0],
        lambda row: shares(row)[0] * (numpy.eye(len(row))[0] - shares(row)),
    ),
    "log_softmax's first": (
        lambda x: tb.log_softmax(x, axis=1)[:, 0],
        lambda row: numpy.eye(len(row))[0] - shares(row),
    ),
}
EMPTY = {"sum", "mean", "prod", "logsumexp", "var", "var, 1", "std", "std, 1", "vector_norm"}
"""Functions of slices without elements."""
AT_INFINITY = {"sum", "max", "min", "logsumexp", "last cumulative_sum"}
"""Functions that have a slope where elements are -inf."""


def slices(data: st.DataObject, size: int, finite: bool) -> Array:
    """Draw slices, of which most are extreme throughout."""
    values = [0.0, 1.0, 2.5, -3.0, *([] if finite else [-INF])]
    whole = st.sampled_from(values).map(lambda value: [value] * size)
    mixed = st.lists(st.sampled_from(values), min_size=size, max_size=size)
    zero_but_one = st.integers(0, max(size - 1, 0)).map(lambda at: [float(at == place) for place in range(size)])
    rows = data.draw(st.lists(st.one_of(whole, mixed, zero_but_one), min_size=1, max_size=4))
    return numpy.asarray(rows, "float64").reshape(len(rows), size)


@pytest.mark.parametrize("backend", ["numpy", "binary"])
@pytest.mark.parametrize("name", CASES)
def test_each_slice_has_its_own_gradient(name: str, backend: str) -> None:
    function, formula = CASES[name]

    @profile(40)
    @given(st.data())
    def agrees(data: st.DataObject) -> None:
        x = slices(data, data.draw(st.integers(0 if name in EMPTY else 1, 4)), name not in AT_INFINITY)
        weights = numpy.arange(1.0, len(x) + 1)
        held = tb.asarray(weights, backend=backend)
        found = tb.grad(lambda x: tb.sum(function(x) * held))(tb.asarray(x, backend=backend))
        with numpy.errstate(all="ignore"):
            expected = [weight * formula(row) for weight, row in zip(weights, x, strict=True)]
        wanted = numpy.asarray(expected).reshape(x.shape)
        numpy.testing.assert_allclose(numpy.asarray(found), wanted, rtol=1e-12, atol=1e-12)

    agrees()
