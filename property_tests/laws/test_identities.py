"""Laws that hold for all data, on every backend, and that need no reference."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import ALL_DTYPES, DType, int64
from tensorbackend.dtypes.packing import unpack
from tensorbackend.testing import assert_equal, profile, tensors
from tensorbackend.testing.strategies import shapes

BACKENDS = os.environ.get("TENSORBACKEND_BACKENDS", "numpy").split(",")
on_each_backend = pytest.mark.parametrize("backend", ["binary", *BACKENDS])
ANY = st.sampled_from(ALL_DTYPES)
any_tensor = ANY.flatmap(tensors)
rowed = ANY.flatmap(lambda dtype: tensors(dtype, shapes(least=1)))
Law = Callable[[tb.Tensor], None]


def flattened_and_back(x: tb.Tensor) -> None:
    """Reshaping to one axis and back restores the tensor."""
    assert_equal(tb.reshape(tb.reshape(x, -1), x.shape, names=x.names), x)


def transposed_twice(x: tb.Tensor) -> None:
    """Reversing the order of axes twice restores the tensor."""
    order = tuple(reversed(range(x.ndim)))
    assert_equal(tb.permute_dims(tb.permute_dims(x, order), order), x)


def flipped_twice(x: tb.Tensor) -> None:
    """Flipping twice restores the tensor."""
    assert_equal(tb.flip(tb.flip(x)), x)


def rolled_back(x: tb.Tensor) -> None:
    """Rolling and rolling back restores the tensor."""
    assert_equal(tb.roll(tb.roll(x, 3), -3), x)


def copied_and_back(x: tb.Tensor) -> None:
    """Copying to another backend and back keeps every bit of every dtype, and so does pickling."""
    for other in ("binary", "numpy"):
        assert_equal(tb.backend_copy(tb.backend_copy(x, other), x.backend), x)
    restored = pickle.loads(pickle.dumps(x))
    assert restored.backend is x.backend
    assert_equal(restored, x)


def padded_and_cut(x: tb.Tensor) -> None:
    """Negative padding removes positive padding."""
    wide = tb.pad(x, [(2, 1)] * x.ndim)
    assert_equal(tb.pad(wide, [(-2, -1)] * x.ndim), x)


def selected(x: tb.Tensor) -> None:
    """Selecting between x and x gives x."""
    assert_equal(tb.where(tb.equal(x, x), x, x), x)


def unchanged_by_its_dtype(x: tb.Tensor) -> None:
    """A cast to the same dtype keeps every bit, except those of NaN."""
    assert_equal(tb.astype(x, x.dtype), x)


def shown(x: tb.Tensor) -> None:
    """The display begins with the template and the backend."""
    assert repr(x).startswith(f"{x.template!r} {x.backend.name}")


@on_each_backend
@pytest.mark.parametrize(
    "check_law",
    [flattened_and_back, transposed_twice, flipped_twice, rolled_back, copied_and_back, padded_and_cut, selected,
     unchanged_by_its_dtype, shown],
    ids=lambda check_law: check_law.__name__,
)  # fmt: skip
def test_law(check_law: Law, backend: str) -> None:
    @profile(30)
    @given(any_tensor)
    def holds(x: tb.Tensor) -> None:
        check_law(tb.backend_copy(x, backend))

    holds()


@on_each_backend
def test_parts_joined_are_the_whole(backend: str) -> None:
    @profile(30)
    @given(rowed, st.data())
    def holds(drawn: tb.Tensor, data: st.DataObject) -> None:
        x = tb.backend_copy(drawn, backend)
        axis = data.draw(st.integers(0, x.ndim - 1))
        cuts = sorted(data.draw(st.lists(st.integers(0, x.shape[axis]), max_size=3)))
        assert_equal(tb.concatenate(tb.split(x, cuts, axis=axis), axis=axis), x)
        assume(x.shape[axis])
        assert_equal(tb.stack(tb.unstack(x, axis=axis), axis=axis, name=x.names[axis]), x)

    holds()


@on_each_backend
def test_the_last_of_running_sums_is_the_sum(backend: str) -> None:
    @profile(30)
    @given(tensors(int64, shapes(least=1)), st.data())
    def holds(drawn: tb.Tensor, data: st.DataObject) -> None:
        x = tb.backend_copy(drawn, backend)
        axis = data.draw(st.integers(0, x.ndim - 1))
        running = tb.cumulative_sum(x, axis=axis, include_initial=True)
        assert_equal(tb.take(running, -1, axis=axis), tb.sum(x, axis=axis))

    holds()


@on_each_backend
def test_an_order_puts_in_order(backend: str) -> None:
    @profile(30)
    @given(st.sampled_from([d for d in ALL_DTYPES if not d.is_complex]), st.data(), st.booleans())
    def holds(dtype: DType, data: st.DataObject, descending: bool) -> None:
        x = tb.backend_copy(data.draw(tensors(dtype, shapes(least=1, most=1, largest=8))), backend)
        order = tb.argsort(x, descending=descending)
        assert sorted(unpack(order.to_binary(), order.dtype)) == list(range(x.size))
        assert_equal(tb.take(x, order, axis=0), tb.sort(x, descending=descending))
        # Zeros of both signs are equal, so either may come first; they are one ulp apart.
        assert_equal(tb.sort(tb.flip(tb.sort(x)), descending=descending), tb.sort(x, descending=descending), ulps=1)

    holds()


@on_each_backend
def test_einsum_is_matmul(backend: str) -> None:
    @profile(30)
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        n, k, m = (data.draw(st.integers(0, 4)) for _ in range(3))
        a, b = (
            tb.backend_copy(data.draw(tensors(int64, shape, names=(None, None))), backend) for shape in ((n, k), (k, m))
        )
        assert_equal(tb.einsum("nk,km->nm", a, b), tb.matmul(a, b))
        assert_equal(tb.tensordot(a, b, axes=1), tb.matmul(a, b))

    holds()
