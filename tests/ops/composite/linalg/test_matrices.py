"""A matrix applied to the vectors along a named axis."""

from __future__ import annotations

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import ShapeError


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_a_square_matrix_with_names_is_applied_again_and_again(backend: str) -> None:
    values = np.array([[0.5, 0.25], [0.5, 0.75]], "float32")
    step = tb.asarray(values, names=("new", "old"), backend=backend)
    x = tb.asarray([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]], names=("walker", "place"), backend=backend)
    wanted = np.asarray(x)
    for _ in range(4):
        x = tb.linalg.apply_matrix(x, step, axis="place")
        wanted = wanted @ values.T
    assert x.names == ("walker", "place")
    np.testing.assert_allclose(np.asarray(x), wanted, rtol=1e-6)
    powers = tb.fori_loop(0, 4, lambda _, x: tb.linalg.apply_matrix(x, step, axis="place"), x)
    assert powers.names == x.names


@pytest.mark.parametrize("axis", [0, 1, -1, "b"])
def test_any_axis_and_any_number_of_rows(axis: int | str) -> None:
    x = tb.iota((2, 3, 4), names=("a", "b", "c"), dtype="f64")
    place = x.names.index(axis) if isinstance(axis, str) else axis
    matrix = np.random.default_rng(0).standard_normal((5, x.shape[place]))
    result = tb.linalg.apply_matrix(x, tb.asarray(matrix), axis=axis)
    assert result.names == x.names
    wanted = np.moveaxis(np.tensordot(matrix, np.asarray(x), (1, place)), 0, place)
    np.testing.assert_allclose(np.asarray(result), wanted)
    gradient = tb.grad(lambda x: tb.sum(tb.linalg.apply_matrix(x, tb.asarray(matrix), axis=axis)))(x)
    assert gradient.names == x.names


def test_wrong_matrices() -> None:
    x = tb.ones((2, 3), names=("a", "b"))
    text = r"apply_matrix: expected a matrix with 3 columns for axis 1 of f32\[a: 2\]\[b: 3\], got matrix=f32"
    for shape in ((3,), (3, 2), (1, 3, 3)):
        with pytest.raises(ShapeError, match=text):
            tb.linalg.apply_matrix(x, tb.ones(shape), axis="b")
