"""Warm keys with indices at the ends of their axis, and JAX's own gradient of functions that index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.errors import IndexRangeError
from tensorbackend.testing import profile

SIZE = 3
BESIDE = st.sampled_from([-SIZE - 1, -SIZE, -1, 0, SIZE - 1, SIZE, SIZE + 1])
"""Indices of which a third is just outside of an axis."""

READ: dict[str, Callable[[Any, Any], Any]] = {
    "x[i]": lambda x, i: x[i],
    "x[:, i]": lambda x, i: x[:, i],
    "take": lambda x, i: tb.take(x, i, axis=1) if isinstance(x, tb.Tensor) else x[:, i],
    "take_along_axis": lambda x, i: (
        tb.take_along_axis(x, tb.broadcast_to(i, (SIZE, 2)), axis=1)
        if isinstance(x, tb.Tensor)
        else numpy.take_along_axis(x, numpy.broadcast_to(i, (SIZE, 2)), axis=1)
    ),
}


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8"])
@pytest.mark.parametrize("name", sorted(READ))
def test_a_warm_call_refuses_an_index_equal_to_the_size(name: str, dtype: str) -> None:
    """Each key comes after others of its structure, so that the call is warm."""
    array = numpy.arange(SIZE * SIZE, dtype="float32").reshape(SIZE, SIZE)
    x, read = tb.asarray(array, backend="jax"), READ[name]
    read(x, tb.asarray([0, 1], dtype=dtype, backend="jax"))

    @profile(30)
    @given(st.lists(BESIDE if dtype != "uint8" else st.sampled_from([0, SIZE - 1, SIZE, 255]), min_size=2, max_size=2))
    def agrees(indices: list[int]) -> None:
        places = tb.asarray(indices, dtype=dtype, backend="jax")
        if all(-SIZE <= index < SIZE for index in indices):
            numpy.testing.assert_array_equal(numpy.asarray(read(x, places)), read(array, numpy.asarray(indices)))
        else:
            with pytest.raises(IndexRangeError):
                read(x, places)

    agrees()


@pytest.mark.parametrize("function", [tb.indexed_max, tb.indexed_min])
@pytest.mark.parametrize("updates", [[5.0, 7.0, 7.0, 1.0], [0.0, -0.0, 3.0, 3.0]])
def test_jax_differentiates_extremes_at_indices(function: Callable[..., tb.Tensor], updates: list[float]) -> None:

    x, updates_of_x = (tb.tensor(row, dtype="f64", backend="jax") for row in ([1.0, 5.0, 0.0, 3.0], updates))
    places, weights = tb.tensor([[1], [1], [3], [0]], backend="jax"), tb.tensor([1.0, 2.0, 3.0, 4.0], backend="jax")

    def loss(x: tb.Tensor, updates: tb.Tensor) -> tb.Tensor:
        return tb.sum(function(x, places, updates) * weights)

    theirs: Any = jax.grad(lambda *operands: loss(*operands).data, argnums=(0, 1))(x, updates_of_x)
    ours = tb.grad(loss, argnums=(0, 1))(x, updates_of_x)
    assert [part.tolist() for part in theirs] == [part.tolist() for part in ours]


def test_jax_differentiates_the_greatest_of_segments() -> None:

    x = tb.tensor([2.0, 2.0, 1.0, -1.0], backend="jax")
    segments = tb.tensor([0, 0, 0, 1], backend="jax")
    slopes = jax.grad(lambda x: tb.sum(tb.segment_max(x, segments, size=3)[:2]).data)(x)
    assert slopes.tolist() == [1.0, 0.0, 0.0, 1.0]


OUTSIDE = tb.asarray(numpy.array([7]), backend="jax")

READS_AND_WRITES: dict[str, Callable[[tb.Tensor, tb.Tensor], tb.Tensor]] = {
    "take": tb.take,
    "take_along_axis": tb.take_along_axis,
    "one index": lambda x, at: x[at],
    "two indices": lambda x, at: tb.stack([x, x, x])[at, at],
    "put_at": lambda x, at: tb.put_at(x, at, 1.0),
}


@pytest.mark.parametrize("name", READS_AND_WRITES)
def test_a_constant_index_out_of_range_is_an_error_in_code_that_jax_compiles(name: str) -> None:
    function = READS_AND_WRITES[name]

    def compiled(values: Any, at: tb.Tensor) -> Any:
        return jax.jit(lambda traced: function(tb.asarray(traced), at).data)(values)

    values = jnp.arange(3.0)
    with pytest.raises(IndexRangeError, match="expected an index from -3 to 2, got index=7"):
        compiled(values, OUTSIDE)
    last = tb.asarray(numpy.array([-1]), backend="jax")
    numpy.testing.assert_array_equal(
        compiled(values, last), numpy.asarray(function(tb.asarray(values, backend="jax"), last))
    )
    with pytest.raises(IndexRangeError, match="got index=-4"):
        compiled(values, tb.asarray(numpy.array([-4]), backend="jax"))


def test_slices_have_numpys_elements() -> None:
    """Of any step, also where a step passes the end of its axis at once."""
    array = numpy.arange(30.0).reshape(5, 6)
    x = tb.asarray(array, backend="jax")
    slices = st.builds(slice, st.integers(0, 4), st.integers(1, 6), st.sampled_from([1, 2, 3, 7]))

    @profile(8)
    @given(slices, slices)
    def agrees(rows: slice, columns: slice) -> None:
        numpy.testing.assert_array_equal(numpy.asarray(x[rows, columns]), array[rows, columns])

    agrees()
