"""`add_along_axis`: adds updates at indices that differ for each position on the other axes."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import DTypeError, IndexRangeError, NamesError, ShapeError

BACKENDS = ("binary", "numpy", "jax")
RNG = np.random.default_rng(3)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("backend", BACKENDS)
def test_it_is_addition_at_index_vectors(backend: str, axis: int) -> None:
    shape = [3, 4, 5]
    shape[axis] = 7
    x, updates = RNG.integers(-9, 9, (3, 4, 5)), RNG.integers(-9, 9, shape)
    indices = RNG.integers(0, (3, 4, 5)[axis], shape)
    reference = x.copy()
    for place in np.ndindex(*shape):
        target = [*place]
        target[axis] = int(indices[place])
        reference[tuple(target)] += updates[place]
    with tb.default_backend(backend):
        sums = tb.add_along_axis(tb.asarray(x), tb.asarray(indices), tb.asarray(updates), axis=axis)
    assert sums.tolist() == reference.tolist()


@pytest.mark.parametrize("backend", BACKENDS)
def test_modes_say_what_lies_outside_does(backend: str) -> None:
    with tb.default_backend(backend):
        x, ones = tb.zeros((2, 3)), tb.ones((2, 2))
        indices = tb.asarray([[2, 5], [0, 0]])
        assert tb.add_along_axis(x, indices, ones, mode="clip").tolist() == [[0, 0, 2], [2, 0, 0]]
        assert tb.add_along_axis(x, indices, ones, mode="fill").tolist() == [[0, 0, 1], [2, 0, 0]]
        beyond = tb.asarray([[2, 2**64 - 1], [0, 0]], dtype="uint64")
        assert tb.add_along_axis(x, beyond, ones, mode="fill").tolist() == [[0, 0, 1], [2, 0, 0]]
        with pytest.raises(IndexRangeError, match="an index from 0 to 2, got index=5"):
            tb.add_along_axis(x, indices, ones)
        nothing = tb.add_along_axis(tb.zeros((2, 0)), indices, ones, mode="fill")
        assert nothing.shape == (2, 0)
        with pytest.raises(IndexRangeError):
            tb.add_along_axis(tb.zeros((2, 0)), indices, ones)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["u8", "s64", "u64"])
def test_an_error_has_the_index_that_was_given(backend: str, dtype: str) -> None:
    with tb.default_backend(backend):
        x, indices = tb.tensor([0], dtype="s8"), tb.tensor([2], dtype=dtype)
        with pytest.raises(IndexRangeError, match="got index=2;"):
            tb.add_along_axis(x, indices, x, axis=0)


def test_names_and_dtypes_are_those_of_both() -> None:
    x = tb.zeros((2, 3), dtype="int32", names=("row", "column"))
    indices, updates = tb.asarray([[0, 0], [1, 2]]), tb.ones((2, 2), names=("row", "column"))
    sums = tb.add_along_axis(x, indices, updates, axis="column")
    assert (sums.names, sums.dtype, sums.tolist()) == (x.names, tb.float32, [[2, 0, 0], [0, 1, 1]])
    with pytest.raises(NamesError):
        tb.add_along_axis(x, indices, updates.rename("column", "row"), axis="column")


def test_what_does_not_fit_is_refused() -> None:
    x, indices = tb.zeros((2, 3)), tb.asarray([[0, 0], [1, 2]])
    with pytest.raises(ShapeError, match=r"updates of shape \(2, 2\).*broadcast_to"):
        tb.add_along_axis(x, indices, tb.ones((2, 1)))
    with pytest.raises(ShapeError, match="indices with the sizes of"):
        tb.add_along_axis(x, indices[:1], tb.ones((1, 2)))
    with pytest.raises(DTypeError):
        tb.add_along_axis(x, tb.zeros((2, 2)), tb.ones((2, 2)))
    with pytest.raises(DTypeError):
        tb.add_along_axis(x > 0, indices, indices > 0)


DIVIDED = """
import os

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
import jax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import tensorbackend as tb

rows = NamedSharding(Mesh(jax.devices(), ("data",)), PartitionSpec("data"))
backend = tb.get_backend("jax")


def loss(x, indices):
    return tb.sum(tb.take_along_axis(tb.log_softmax(x, axis=-1), indices, axis=-1, mode="clip"))


def gradient(x, indices):
    arguments = tb.Tensor(tb.Template(x.shape, "f32"), backend, x), tb.Tensor(
        tb.Template(indices.shape, "s64"), backend, indices
    )
    return tb.grad(loss)(*arguments).data


arguments = jax.ShapeDtypeStruct((16, 8, 100), "float32"), jax.ShapeDtypeStruct((16, 8, 1), "int64")
compiled = jax.jit(gradient, in_shardings=(rows, rows)).lower(*arguments).compile()
text = compiled.as_text()
assert compiled.output_shardings.is_equivalent_to(rows, 3)
assert "f32[2,8,100]" in text  # what one device of eight holds
for collective in ("all-reduce", "all-gather", "all-to-all", "reduce-scatter", "collective-permute"):
    assert collective + "(" not in text, collective

with tb.default_backend("jax"):
    x, ones, places = tb.zeros((2, 3)), tb.ones((2, 2)), tb.asarray([[2, 5], [0, 0]])
    assert tb.add_along_axis(x, places, ones, mode="clip").tolist() == [[0, 0, 2], [2, 0, 0]]
    assert tb.add_along_axis(x, places, ones, mode="fill").tolist() == [[0, 0, 1], [2, 0, 0]]
    assert tb.add_along_axis(x, tb.asarray([[1, 7, 0]]), tb.ones((1, 3)), axis=0, mode="fill").tolist() == [
        [0, 0, 1],
        [1, 0, 0],
    ]
"""


def test_a_gradient_stays_divided_among_devices() -> None:
    subprocess.run([sys.executable, "-c", DIVIDED], check=True)
