"""Gradients of windowed extremes and products by brute force: dilated, strided and padded, with NaN, ties and zeros."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.testing import profile

ELEMENTS = st.sampled_from([math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, 1.0, 2.0, -3.0])


class Problem(NamedTuple):
    """The elements of a tensor of two axes, and the options of windows over it."""

    x: numpy.ndarray[Any, Any]
    options: dict[str, Any]

    def windows(self) -> Iterator[list[tuple[int, ...]]]:
        """Yield the places of the elements of each window in row-major order, without those in the padding."""
        along = []
        for size, window, stride, (low, high), dilation in zip(self.x.shape, *self.options.values(), strict=True):
            span = (window - 1) * dilation + 1
            starts = range(-low, size + high - span + 1, stride)
            along.append([[start + step * dilation for step in range(window)] for start in starts])
        for rows, columns in itertools.product(*along):
            places = itertools.product(rows, columns)
            yield [
                place for place in places if all(0 <= at < size for at, size in zip(place, self.x.shape, strict=True))
            ]


@st.composite
def problems(draw: Any, elements: st.SearchStrategy[float], dilated: bool = True) -> Problem:
    shape = draw(st.tuples(st.integers(0, 4), st.integers(1, 4)))
    number = math.prod(shape)
    x = numpy.asarray(draw(st.lists(elements, min_size=number, max_size=number)), "float64").reshape(shape)
    window = draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    dilations = draw(st.tuples(*[st.integers(1, 2 if dilated else 1)] * 2))
    pad = st.tuples(st.integers(0, 2), st.integers(0, 2))
    options = {
        "window_dimensions": window,
        "strides": draw(st.tuples(st.integers(1, 2), st.integers(1, 2))),
        "padding": draw(st.tuples(pad, pad)),
        "dilations": dilations,
    }
    return Problem(x, options)


def gradient(name: str, problem: Problem) -> tuple[numpy.ndarray[Any, Any], numpy.ndarray[Any, Any]]:
    """Return the gradient of a windowed op, and the cotangents of its windows, which all differ."""
    window, *_ = problem.options.values()
    options = {key: value for key, value in problem.options.items() if key != "window_dimensions"}

    def windowed(x: tb.Tensor) -> tb.Tensor:
        result: tb.Tensor = getattr(tb, name)(x, window, **options)
        return result

    out, pull = tb.vjp(windowed, tb.asarray(problem.x))
    weights = numpy.arange(1.0, out.size + 1).reshape(out.shape)
    return numpy.asarray(pull(tb.asarray(weights))[0]), weights.reshape(-1)


@pytest.mark.parametrize("name", ["window_max", "window_min"])
def test_the_cotangent_goes_to_the_first_nan_or_else_the_first_extreme(name: str) -> None:
    sign = 1 if name == "window_max" else -1

    @profile(45)
    @given(problems(ELEMENTS))
    def agrees(problem: Problem) -> None:
        found, weights = gradient(name, problem)
        expected = numpy.zeros_like(problem.x)
        for places, weight in zip(problem.windows(), weights, strict=True):
            values = [problem.x[place] for place in places]
            unknown = [place for place, value in zip(places, values, strict=True) if math.isnan(value)]
            if places:
                most = max(sign * value for value in values) if not unknown else None
                first = next(p for p, value in zip(places, values, strict=True) if unknown or sign * value == most)
                expected[unknown[0] if unknown else first] += weight
        numpy.testing.assert_array_equal(found, expected)

    agrees()


def test_a_product_has_the_product_of_the_others_as_its_derivative() -> None:
    @profile(45)
    @given(problems(st.sampled_from([0.0, 0.0, 0.5, 1.0, -2.0, 3.0])))
    def agrees(problem: Problem) -> None:
        found, weights = gradient("window_prod", problem)
        expected = numpy.zeros_like(problem.x)
        for places, weight in zip(problem.windows(), weights, strict=True):
            for place in places:
                expected[place] += weight * math.prod(problem.x[other] for other in places if other != place)
        numpy.testing.assert_allclose(found, expected, rtol=1e-12, atol=0)

    agrees()


def test_a_sum_gives_each_element_the_cotangents_of_its_windows() -> None:
    @profile(45)
    @given(problems(ELEMENTS))
    def agrees(problem: Problem) -> None:
        found, weights = gradient("window_sum", problem)
        expected = numpy.zeros_like(problem.x)
        for places, weight in zip(problem.windows(), weights, strict=True):
            for place in places:
                expected[place] += weight
        numpy.testing.assert_array_equal(found, expected)

    agrees()
