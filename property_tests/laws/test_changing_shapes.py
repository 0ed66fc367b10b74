"""Shapes that change from call to call: what is remembered of one shape never shows in another.

Calls of each op at several shapes of one kind are compared with plans for each shape alone, and with BinaryBackend.
Programs of changing shapes are compared with NumPy.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from hypothesis import assume, given, seed, settings
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.backends.numpy_backend import NumpyBackend
from tensorbackend.declarations.op_specs import OPS
from tensorbackend.dispatch import watching
from tensorbackend.dtypes import ALL_DTYPES
from tensorbackend.errors import TensorBackendError, UnsupportedOp
from tensorbackend.protocol import kernel_of, planned
from tensorbackend.template import Template
from tensorbackend.tensor import Tensor
from tensorbackend.testing import Disagreement, Invocation, calls, check, names, profile
from tensorbackend.testing.changing import changing, check_changing, resize

BACKENDS = os.environ.get("TENSORBACKEND_BACKENDS", "numpy,jax").split(",")
# XLA compiles each op for each shape. So by default JAX has its calls in property_tests/test_ops.py alone.
PLANNED = BACKENDS if "TENSORBACKEND_EXAMPLES" in os.environ else [name for name in BACKENDS if name != "jax"]


def drawn_calls(name: str, count: int = 5) -> st.SearchStrategy[list[Invocation]]:
    """Calls of an op that differ in their sizes alone, with tensors of any dtype."""
    return st.sampled_from(ALL_DTYPES).flatmap(lambda dtype: changing(name, dtype, count=count))


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("backend", [*PLANNED, "binary", "template", "graphs on numpy"])
def test_a_call_after_others_of_its_kind_is_as_planned_alone(backend: str, name: str) -> None:
    @seed(crc32(name.encode()))  # else all ops would have the same dtypes
    @settings(profile(2))
    @given(drawn_calls(name))
    def agree(calls: list[Invocation]) -> None:
        check_changing(calls, backend.rpartition(" ")[2], traced=" " in backend)
        if backend not in ("template", "binary") and " " not in backend:
            as_on_binary(calls[-1], backend)  # whose elements suit the op, such as a matrix of full rank

    agree()


def as_on_binary(call: Invocation, backend: str) -> None:
    """Compares a call with BinaryBackend, which may lack an op or hold other dtypes."""
    try:
        check(call, backend)
    except UnsupportedOp:
        assert backend not in ("numpy", "binary")


LONG = (260, 300, 515, 770)
"""Sizes from which on sums are made of partial sums, and rows are computed in blocks."""

REDUCTIONS = [name for name in names() if name in OPS and any(x.meaning.startswith("ax") for x in OPS[name].parameters)]


def turned(x: tb.Tensor) -> tb.Tensor:
    """Return the tensor with its elements in column-major order."""
    return Tensor(x.template, x.backend, np.copy(x.data, order="F"))


def cut(x: tb.Tensor) -> tb.Tensor:
    """Return the tensor as a part of a larger one."""
    return Tensor(x.template, x.backend, np.stack([x.data, x.data], -1)[..., 0])


@pytest.mark.parametrize("name", REDUCTIONS)
def test_long_axes_and_strides_are_as_planned_alone(name: str) -> None:
    """Kernels that choose by strides and many terms as they run keep nothing for other shapes."""

    @seed(crc32(name.encode()))
    @settings(profile(3))
    @given(st.sampled_from([tb.float32, tb.float64]).flatmap(lambda dtype: calls(name, dtype)), st.data())
    def agree(call: Invocation, data: st.DataObject) -> None:
        shapes = [x.shape for x in call.tensors]
        sizes = sorted({size for shape in shapes for size in shape if size > 1})
        assume(sizes)
        long = data.draw(st.sampled_from(sizes))
        assume(max(shape.count(long) for shape in shapes) == 1)  # else there would be too many elements
        others = {size: data.draw(st.integers(1, 3)) for size in sizes}
        layout = data.draw(st.sampled_from([turned, cut]))
        check_changing([resize(call, {**others, long: size}) for size in LONG], "numpy", layout=layout)

    agree()


# The tests can fail: backends whose kernels serve a kind but hold a size of its first shape


class Remembers(NumpyBackend):
    """A backend whose kernels of some callbacks serve all shapes of a kind, as planned for the first of them."""

    name = "remembers"

    def setup(self) -> None:
        super().setup()
        self.plans: dict[Any, Any] = {}

    @property
    def memos(self) -> list[dict[Any, Any]]:
        return [self.plans, self.kernels]

    def exchange(self, change: Any) -> None:
        pass  # nothing watches here

    def of_kind(self, callback: str, out: Template, x: Template, plan: Any, options: Any) -> Any:
        key = callback, out.dtype, x.dtype, len(x.shape), repr(options)
        return self.plans.setdefault(key, plan)

    @planned
    def sum(self, out: Template, x: Template, /, **options: Any) -> Any:
        plan = kernel_of(super().sum, out, x, **options)
        size = x.size
        return self.of_kind("sum", out, x, lambda x: plan(x) if x.size >= size else plan(x) + x.dtype.type(1), options)

    @planned
    def reshape(self, out: Template, x: Template, /, **options: Any) -> Any:
        return self.of_kind("reshape", out, x, kernel_of(super().reshape, out, x, **options), options)


@pytest.fixture
def remembers() -> Iterator[Remembers]:
    """The backend, whose memory is dropped with all other plans."""
    backend = Remembers()
    watching.holds_kernels(backend)
    yield backend
    watching._places.remove(backend)


@pytest.mark.parametrize("name", ["sum", "reshape"])
def test_a_plan_that_holds_a_size_is_caught(name: str, remembers: Remembers) -> None:
    @settings(profile(60), database=None)
    @given(drawn_calls(name))
    def agree(calls: list[Invocation]) -> None:
        check_changing(calls, remembers)

    with pytest.raises(Disagreement, match=r"as by a plan for these shapes alone|where 0 are allowed|expected"):
        agree()


def test_calls_of_a_kind_have_other_sizes_and_equal_names() -> None:
    x = tb.tensor([[1, 2, 3]], names=("row", "column"), backend="binary")
    call = resize(Invocation("sum", (x,), {"axis": "column"}), {3: 5, 1: 2})
    assert call.tensors[0].tolist() == [[1, 2, 3, 1, 2], [3, 1, 2, 3, 1]]
    assert call.tensors[0].names == ("row", "column")
    assert resize(call, {2: 0}).tensors[0].shape == (0, 5)


# Programs of changing shapes

ON = ["numpy", "binary", "jax"]
RANDOM = np.random.default_rng(0)
LENGTHS = [5, 3, 1, 7, 0, 2, 7, 4, 1, 6, 0]
"""Lengths of texts: each kind of change, one and zero among others, and lengths that come again."""


def check_close(result: tb.Tensor, expected: Any) -> None:
    """Compares a result with NumPy's, in float64."""
    array = np.asarray(result)
    assert array.shape == np.shape(expected)
    np.testing.assert_allclose(array, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("backend", ON)
def test_texts_of_varying_lengths(backend: str) -> None:
    weights, words = RANDOM.standard_normal((4, 3)), RANDOM.standard_normal((7, 4))
    ours = tb.asarray(weights, names=("feature", "unit"), backend=backend)
    for length in LENGTHS:
        text = words[:length]
        x = tb.asarray(text, names=("time", "feature"), backend=backend)
        hidden, by_hand = tb.tanh(x @ ours), np.tanh(text @ weights)
        check_close(hidden, by_hand)
        assert hidden.names == ("time", "unit")
        check_close(tb.sum(hidden, axis="time"), by_hand.sum(0))
        check_close(tb.cumulative_sum(hidden, axis="time"), by_hand.cumsum(0))
        check_close(tb.softmax(hidden, axis="unit"), np.exp(by_hand) / np.exp(by_hand).sum(1, keepdims=True))
        check_close(tb.concatenate([hidden, hidden[:1]], axis="time"), np.concatenate([by_hand, by_hand[:1]]))
        check_close(tb.where(hidden > 0, hidden, -1.0), np.where(by_hand > 0, by_hand, -1.0))
        check_close(tb.flip(hidden, axis="time"), by_hand[::-1])
        check_close(
            hidden * tb.arange(length, dtype="float64", backend=backend)[:, None], by_hand * np.arange(length)[:, None]
        )
        if length:
            check_close(tb.max(hidden, axis="time"), by_hand.max(0))
            check_close(tb.mean(hidden, axis="time"), by_hand.mean(0))
        else:
            with pytest.raises(TensorBackendError, match=r"^max: "):
                tb.max(hidden, axis="time")


@pytest.mark.parametrize("backend", ON)
@pytest.mark.parametrize("size", [1, 3, 4])
def test_the_last_batch_is_smaller(backend: str, size: int) -> None:
    data, weights = RANDOM.standard_normal((10, 3)), RANDOM.standard_normal((3, 2))
    ours, w = (tb.asarray(array, backend=backend) for array in (data, weights))
    batch_loss = tb.jit(lambda w, x: tb.mean(tb.square(x @ w)))
    slopes, expected_slopes = [], []
    for start in range(0, 10, size):
        batch, by_hand = ours[start : start + size], data[start : start + size]
        value, slope = tb.value_and_grad(lambda w, x: tb.mean(tb.square(x @ w)))(w, batch)
        check_close(value, np.mean(np.square(by_hand @ weights)))
        check_close(batch_loss(w, batch), np.mean(np.square(by_hand @ weights)))
        check_close(slope, 2 * by_hand.T @ (by_hand @ weights) / (2 * len(by_hand)))
        slopes.append(slope)
        expected_slopes.append(np.asarray(slope))
    check_close(tb.mean(tb.stack(slopes), axis=0), np.mean(expected_slopes, axis=0))


@pytest.mark.parametrize("backend", ON)
def test_sums_over_a_growing_part(backend: str) -> None:
    text, values = RANDOM.standard_normal(9), RANDOM.standard_normal(9)
    x, v = tb.asarray(text, backend=backend), tb.asarray(values, backend=backend)
    for k in [*range(10), 4, 0, 9]:
        check_close(tb.sum(x[:k] * v[:k]), np.sum(text[:k] * values[:k]))
        check_close(x[:k] @ v[:k], text[:k] @ values[:k])
        check_close(tb.outer(x[:k], v[k:]), np.outer(text[:k], values[k:]))


@pytest.mark.parametrize("backend", ON)
def test_a_growing_buffer(backend: str) -> None:
    buffer, by_hand = tb.zeros((0, 2), dtype="float64", backend=backend), np.zeros((0, 2))
    for step in range(8):
        row = np.asarray([[step, step / 3]])
        buffer, by_hand = tb.concatenate([buffer, tb.asarray(row, backend=backend)]), np.concatenate([by_hand, row])
        check_close(buffer, by_hand)
        check_close(tb.reshape(buffer, (-1,)), by_hand.reshape(-1))
        check_close(tb.reshape(buffer, (2, step + 1)), by_hand.reshape(2, step + 1))
        check_close(tb.broadcast_to(buffer, (3, step + 1, 2)), np.broadcast_to(by_hand, (3, step + 1, 2)))
        check_close(tb.pad(buffer, ((step, 0), (0, 0))), np.pad(by_hand, ((step, 0), (0, 0))))
        check_close(buffer.T, by_hand.T)


@pytest.mark.parametrize("backend", ON)
def test_attention_over_the_words_so_far(backend: str) -> None:
    words, query = RANDOM.standard_normal((6, 4)), RANDOM.standard_normal(4)
    ours, q = tb.asarray(words, backend=backend), tb.asarray(query, backend=backend)
    for k in range(1, 7):
        exponentials = np.exp(words[:k] @ query / 2)
        check_close(tb.softmax(ours[:k] @ q / 2, axis=0) @ ours[:k], exponentials / exponentials.sum() @ words[:k])


@pytest.mark.parametrize("backend", ON)
@pytest.mark.parametrize("order", [(5, 1, 0), (1, 5, 0), (0, 1, 5, 2), (3, 4, 6, 1, 0, 7)])
def test_batches_of_one_and_none_beside_others(backend: str, order: tuple[int, ...]) -> None:
    """A size of 1 broadcasts, and a sum over no elements is 0, whatever sizes the op had before."""
    row = RANDOM.standard_normal((1, 3))
    r = tb.asarray(row, backend=backend)
    for size in order:
        array = RANDOM.standard_normal((size, 3))
        x = tb.asarray(array, backend=backend)
        check_close(x + r, array + row)
        check_close(x + x, array + array)
        check_close(tb.sum(x, axis=0), array.sum(0))
        check_close(tb.prod(x), array.prod())
        check_close(tb.logsumexp(x, axis=1), np.log(np.exp(array).sum(1)))
        check_close(tb.var(x, axis=1), array.var(1))
        check_close(tb.einsum("ij,kj->ik", x, r), array @ row.T)
        check_close(tb.stack([x, x]), np.stack([array, array]))
        check_close(tb.sort(x, axis=0), np.sort(array, axis=0))
        assert tb.astype(x, "int32").tolist() == array.astype(np.int32).tolist()
        assert tb.any(x > 9).item() is False


@pytest.mark.parametrize("sizes", [[4, 3, 2, 1, 0], [0, 1, 2, 3, 4], [2, 2, 3, 3, 1, 1]])
def test_a_wrong_shape_is_refused_as_the_first_time(sizes: list[int]) -> None:
    """The error of a shape that does not fit is the same after calls of its kind that fit."""
    texts = []
    for warm in (False, True):
        watching.forget()
        if warm:
            for size in sizes:
                x = tb.ones((size, 3))
                _ = x + x, x @ tb.ones((3, size)), tb.concatenate([x, x], axis=1), tb.reshape(x, (3, size))
        wrong = tb.ones((6, 3))
        told = []
        for call in (
            lambda wrong: wrong + tb.ones((5, 3)),
            lambda wrong: wrong @ tb.ones((4, 6)),
            lambda wrong: tb.concatenate([wrong, tb.ones((7, 3))], axis=1),
            lambda wrong: tb.reshape(wrong, (3, 5)),
        ):
            with pytest.raises(TensorBackendError) as caught:
                call(wrong)
            told.append((type(caught.value), str(caught.value)))
        texts.append(told)
    assert texts[0] == texts[1]
