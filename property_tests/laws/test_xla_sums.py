"""Reductions of products in one program of XLA, at sizes and ranks where it fuses them, against NumPy in float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.testing import profile

REDUCTIONS: dict[str, Callable[..., Any]] = {"sum": numpy.sum, "mean": numpy.mean, "max": numpy.max, "min": numpy.min}
STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "nothing": lambda xp, x: x,
    "a bias": lambda xp, x: x + 0.02,
    "relu": lambda xp, x: xp.maximum(x - 0.5, xp.zeros_like(x)),
    "a square": lambda xp, x: x * x,
    "tanh": lambda xp, x: xp.tanh(x / 50),
}
SHAPES = st.lists(st.sampled_from([1, 2, 3, 8, 64, 169]), min_size=2, max_size=8).filter(
    lambda sizes: math.prod(sizes) <= 40_000
)


def second_operand(draw: Callable[..., Any], shape: tuple[int, ...], numbers: numpy.random.Generator) -> Any:
    """Draw an array that is broadcast to this shape from some of its axes, from all or from none."""
    kept = [draw(st.booleans()) for _ in shape] if draw(st.booleans()) else [False] * len(shape)
    return numbers.uniform(0.5, 1.5, [size if keep else 1 for size, keep in zip(shape, kept, strict=True)])


@profile(15)
@given(st.data(), SHAPES, st.sampled_from(sorted(REDUCTIONS)), st.sampled_from(sorted(STEPS)), st.booleans())
def test_reductions_of_products(
    data: st.DataObject, sizes: list[int], reduction: str, step: str, is_matrix_product: bool
) -> None:
    numbers = numpy.random.default_rng(sum(sizes))
    x = numbers.uniform(0.5, 1.5, sizes)
    shape = (*sizes[:-2], sizes[-1], 100) if is_matrix_product else tuple(sizes)
    y = second_operand(data.draw, shape, numbers)
    axes = tuple(data.draw(st.sets(st.integers(0, len(sizes) - 1), min_size=1).map(sorted)))
    is_constant = data.draw(st.booleans())

    def program(x: tb.Tensor, y: tb.Tensor) -> tb.Tensor:
        other = tb.broadcast_to(tb.full(shape, y_number, dtype="f32", backend="jax") if is_constant else y, shape)
        product = x @ other if is_matrix_product else x * other
        result: tb.Tensor = getattr(tb, reduction)(STEPS[step](tb, product), axis=axes)
        return result

    y_number = float(numpy.float32(y.reshape(-1)[0]))
    other = numpy.broadcast_to(numpy.float64(y_number) if is_constant else y, shape)
    expected = REDUCTIONS[reduction](STEPS[step](numpy, x @ other if is_matrix_product else x * other), axis=axes)
    found = tb.jit(program)(*(tb.asarray(array, dtype="f32", backend="jax") for array in (x, y)))
    numpy.testing.assert_allclose(numpy.asarray(found), expected, rtol=2e-5, atol=1e-5)
