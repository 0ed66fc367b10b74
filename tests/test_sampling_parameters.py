"""The dtype, the shape and the names that parameters give a sample."""

from __future__ import annotations

import pytest

import tensorbackend as tb
from tensorbackend.errors import DTypeError, NamesError
from tensorbackend.sampling import floating_kind, spread_parameters


def test_a_floating_parameter_gives_its_dtype() -> None:
    half, whole = tb.ones(2, dtype="f16"), tb.ones(2, dtype="s64")
    assert floating_kind(None, 1.0, half) is tb.float16
    assert floating_kind(None, whole, 2) is tb.float32
    assert floating_kind("f64", half) is tb.float64
    with pytest.raises(DTypeError, match="take its real"):
        floating_kind(None, tb.ones(2, dtype="c64"))


def test_parameters_broadcast_by_name_and_to_a_shape() -> None:
    key = tb.random.key(0)
    row, column = tb.ones((1, 3), names=("a", "b")), tb.full((2, 1), 2.0, names=("a", "b"))
    made, (first, second) = spread_parameters(key, None, tb.float32, row, column)
    assert made.names == (None,)
    assert first.template is second.template
    assert (first.shape, first.names) == ((2, 3), ("a", "b"))
    (wide,) = spread_parameters(key, (4, 2, 3), tb.float64, row)[1]
    assert (wide.shape, wide.names, wide.dtype) == ((4, 2, 3), (None, "a", "b"), tb.float64)
    with pytest.raises(NamesError):
        spread_parameters(key, None, tb.float32, row, tb.ones((1, 3), names=("c", "b")))
