"""Adafactor's state: rows and columns of matrices, under their names."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError


def test_a_state_has_rows_and_columns_under_their_names() -> None:
    steps = tb.optimize.adafactor(0.1, least=4)
    x: dict[str, Any] = {"m": tb.ones((4, 2, 5), names=("a", "b", "c")), "v": tb.ones(5, dtype="f16"), "name": "layer"}
    first, state = steps.init(x)[0], None
    assert (first.rows["m"].names, first.rows["m"].shape) == (("a", "b"), (4, 2))
    assert (first.columns["m"].names, first.columns["m"].shape) == (("b", "c"), (2, 5))
    assert (first.whole["m"].shape, first.whole["v"].shape, first.rows["v"].shape) == ((), (5,), ())
    assert first.whole["v"].dtype is tb.float32
    updates, state = tb.jit(steps.update)(x, steps.init(x), x)
    assert (updates["m"].names, updates["v"].dtype, updates["name"]) == (("a", "b", "c"), tb.float16, "layer")
    assert [leaf.template for leaf in tb.tree_leaves(state[0].rows["m"])] == [first.rows["m"].template]


def test_a_matrix_of_one_row_and_one_column_as_factors_is_exact() -> None:
    """The mean squares of an outer product are the product of its factors, so each element is scaled to its sign."""
    gradient = tb.asarray(numpy.outer([1.0, -2.0, 3.0], [4.0, 5.0]), dtype="f64")
    steps = tb.optimize.adafactor(None, least=2, relative=False, clip=None)
    updates, _ = steps.update(gradient, steps.init(gradient), gradient)
    assert numpy.allclose(numpy.asarray(updates), -numpy.sign(numpy.asarray(gradient)))


def test_a_limit_is_checked() -> None:
    with pytest.raises(ArgumentError, match=r"adafactor: expected a maximum above 0, or None, got clip=0\.0"):
        tb.optimize.adafactor(clip=0.0)
