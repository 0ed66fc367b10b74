"""Derivatives of samples compared with NumPy's."""

from __future__ import annotations

import itertools
from typing import Any

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy
from tensorbackend.errors import ArgumentError, ShapeError


@pytest.mark.parametrize("edge_order", [1, 2])
def test_derivatives_of_samples_at_even_and_uneven_places(edge_order: Any) -> None:
    y = numpy.random.default_rng(0).normal(size=(4, 6, 2))
    places = numpy.array([0.0, 1.0, 1.5, 4.0, 5.0, 7.0])
    x = tb.asarray(y, names=("batch", "time", "channel"))
    slope = tb.jit(lambda x, t: tb.sample_gradient(x, t, axis="time", edge_order=edge_order))
    got = slope(x, tb.asarray(places, names=("time",)))
    assert got.names == x.names
    assert numpy.allclose(numpy.asarray(got), numpy.gradient(y, places, axis=1, edge_order=edge_order))
    even = tb.sample_gradient(x, dx=0.25, axis=0, edge_order=edge_order)
    assert numpy.allclose(numpy.asarray(even), numpy.gradient(y, 0.25, axis=0, edge_order=edge_order))


@pytest.mark.parametrize("edge_order", [1, 2])
@pytest.mark.parametrize("places", [None, [0.0, 0.5, 1.0, 1.5], [0.0, 1.0, 2.0, 4.0], [4.0, 1.5, 1.0, 0.0]])
def test_slopes_next_to_what_is_not_finite_are_those_of_numpy(places: list[float] | None, edge_order: Any) -> None:
    others = itertools.product([1.5, numpy.inf, -numpy.inf, numpy.nan], repeat=4)
    y = numpy.array(list(others))
    spacing = 0.5 if places is None else numpy.array(places)
    with numpy.errstate(invalid="ignore"):
        expected = numpy.gradient(y, spacing, axis=1, edge_order=edge_order)
    if places is None:
        ours = tb.sample_gradient(tb.asarray(y), dx=0.5, edge_order=edge_order)
    else:
        ours = tb.sample_gradient(tb.asarray(y), tb.asarray(spacing), edge_order=edge_order)
    numpy.testing.assert_allclose(numpy.asarray(ours), expected, rtol=1e-14, atol=1e-14)
    of_namespace = tb.numpy.gradient(tb.numpy.asarray(y), spacing, axis=1, edge_order=edge_order)
    numpy.testing.assert_allclose(numpy.asarray(of_namespace), expected, rtol=1e-14, atol=1e-14)


def test_samples_have_a_gradient() -> None:
    samples = tb.asarray([0.0, 1.0, 4.0, 9.0])
    matrix = numpy.gradient(numpy.eye(4), axis=0)
    assert tb.jacobian(tb.sample_gradient)(samples).tolist() == numpy.asarray(matrix).tolist()


def test_too_few_samples_are_an_error() -> None:
    with pytest.raises(ShapeError, match="sample_gradient: expected at least 3 samples along axis 0"):
        tb.sample_gradient(tb.template((2,), "f32"), edge_order=2)
    with pytest.raises(ArgumentError, match="sample_gradient: expected edge_order to be 1 or 2, got edge_order=3"):
        tb.sample_gradient(tb.template((9,), "f32"), edge_order=3)
    with pytest.raises(ShapeError, match="sample_gradient: expected places along the axis"):
        tb.sample_gradient(tb.template((9,), "f32"), tb.template((8,), "f32"))
