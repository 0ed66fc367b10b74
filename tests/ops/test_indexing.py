"""Reads by index, with NumPy's indexing as an oracle: on each backend, with names, and in dry runs."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dispatch.watching import forget
from tensorbackend.errors import (
    DTypeError,
    IndexRangeError,
    NamesError,
    ShapeError,
    TemplateDataError,
)
from tensorbackend.testing import profile

from .indexing_cases import BACKENDS, DATA, SHAPES, as_tensors, keys


@pytest.mark.parametrize("backend", BACKENDS)
def test_reads_are_numpys(backend: str) -> None:
    @profile(30)
    @given(st.data())
    def agrees(data: st.DataObject) -> None:
        shape = data.draw(SHAPES)
        key = data.draw(keys(shape))
        values = np.arange(math.prod(shape)).reshape(shape)
        names = [f"axis{axis}" for axis in range(len(shape))]
        x = tb.asarray(values, names=names, backend=backend)
        tensor_key = as_tensors(key, backend)
        try:
            reference = values[key]
        except IndexError:  # the drawn indices do not broadcast
            with pytest.raises((IndexError, ValueError)):
                x[tensor_key]
            return
        # A dry run needs the data of masks, and no other.
        dry = tb.template(shape, "int64", names)[tensor_key].template
        for _ in range(3):  # a new structure of the key, then a known structure, then known sizes
            selected = x[tensor_key]
            assert selected.template is dry
            assert selected.shape == reference.shape
            assert selected.tolist() == reference.tolist()
        assert tb.getitem(x, key).template is dry

    agrees()


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_numbers_in_a_key_are_data(backend: str) -> None:
    x = tb.tensor(DATA, names=("a", "b", "c"), backend=backend)
    for place in (0, 2, -1, -3, 1):
        assert x[place].tolist() == DATA[place].tolist()
        assert x[np.int64(place), ..., 1:].tolist() == DATA[place, ..., 1:].tolist()
        assert x[place, place, place].tolist() == DATA[place, place, place]
    for part in (slice(1, None), slice(0, 2), slice(None, None, -1), slice(5, 9), slice(-1, None, -2)):
        assert x[part].tolist() == DATA[part].tolist()
        assert x[:, part, 0].shape == DATA[:, part, 0].shape
    for bound in (60, 30, -1, 7, 30):
        holds = bound < DATA
        assert x[tb.asarray(holds, backend=backend)].tolist() == DATA[holds].tolist()
        column = holds[:, 0, 0]
        assert x[tb.asarray(column, backend=backend), 1].tolist() == DATA[column, 1].tolist()
    for places in ([0, 1], [2, -1], [-3, 0]):
        at = tb.asarray(np.array(places), backend=backend)
        assert x[at].tolist() == DATA[places].tolist()
        assert x[:, at].tolist() == DATA[:, places].tolist()
        assert tb.take(x, at, axis="b").tolist() == DATA[:, places].tolist()


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_an_index_outside_is_the_same_error_however_often_a_key_was_read(backend: str) -> None:
    x = tb.tensor(DATA, names=("a", "b", "c"), backend=backend)

    def place(*numbers: int) -> tb.Tensor:
        return tb.tensor(np.array(numbers), backend=backend)

    for _ in range(3):
        assert x[1].shape == x[-3].shape == (4, 5)
        assert x[place(1, 0)].shape == tb.take(x, place(1, 0), axis=0).shape
        assert tb.take_along_axis(x, tb.tensor(DATA % 4, backend=backend), axis=1).shape == (3, 4, 5)
        with pytest.raises(IndexRangeError, match=r"from -3 to 2 for axis 0 of s64\[a: 3\].*index=3"):
            x[3]
        for numbers, outside in [((1, 5), 5), ((-4, 0), -4)]:
            with pytest.raises(IndexRangeError, match=f"an index from (0|-3) to 2, got index={outside};"):
                x[place(*numbers)]
            with pytest.raises(IndexRangeError, match=f"an index from (0|-3) to 2, got index={outside};"):
                tb.take(x, place(*numbers), axis=0)
        with pytest.raises(IndexRangeError, match=r"an index from -4 to 3, got index=4;"):
            tb.take_along_axis(x, tb.tensor(DATA % 5, backend=backend), axis=1)
        with pytest.raises(IndexRangeError, match=r"an index from -3 to 2, got index=18446744073709551615;"):
            x[tb.tensor([2**64 - 1], dtype="uint64", backend=backend)]
        with pytest.raises(tb.errors.ArgumentError, match="a step other than 0"):
            x[1::0]
        for part in (1.0, "a"):
            with pytest.raises(tb.errors.TensorBackendError):
                x[part]


def test_a_warm_read_enters_few_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["tensorbackend.ops.indexing.getitem"], "CHECKED", False)
    forget()  # kernels that are checked
    x = tb.tensor(DATA, backend="numpy")
    holds, places = x[:, 0, 0] > 5, tb.asarray([0, 2], backend="numpy")
    reads: list[tuple[Any, int]] = [(0, 1), (slice(1, None), 1), ((..., 1), 1), (holds, 1), (places, 2)]
    for key, most in reads:
        for _ in range(3):
            x[key]
        entered: list[str] = []

        def enter(frame: FrameType, event: str, _: object, entered: list[str] = entered) -> None:
            if event == "call":
                entered.append(frame.f_code.co_name)

        sys.setprofile(enter)
        x[key]
        sys.setprofile(None)
        assert len(entered) <= most, entered


def test_where_the_axes_of_index_tensors_go(x: tb.Tensor) -> None:
    """The axes of index tensors are at the first tensor's position if the tensors are adjacent, else at the front.

    An int counts as an index tensor, and an `...` separates index tensors even if it stands for no axes.
    """
    pair = tb.asarray([0, 1], names=("pick",))
    for key, expected_names in (
        ((slice(None), pair, pair), ("a", "pick")),
        ((pair, slice(None), pair), ("pick", "b")),
        ((0, slice(None), pair), ("pick", "b")),
        ((slice(None), 0, pair), ("a", "pick")),
        ((slice(None), pair, None, pair), ("pick", "a", None)),
        ((slice(None), pair, ..., pair), ("pick", "a")),
        ((None, pair), (None, "pick", "b", "c")),
    ):
        assert x[key].names == expected_names
        assert x[key].tolist() == DATA[tuple(np.array([0, 1]) if part is pair else part for part in key)].tolist()


def test_names_of_what_is_picked(x: tb.Tensor) -> None:
    assert x[:, [0, 1]].names == ("a", "b", "c")
    assert x[:, tb.asarray([[0, 1]])].names == ("a", None, None, "c")
    assert x[tb.asarray([True, False, True])].names == ("a", "b", "c")
    assert x[x > 3].names == (None,)
    assert x[:, [0, 1], [0, 1]].names == ("a", None)
    with pytest.raises(NamesError, match="each name once"):
        x[tb.asarray([0], names=("c",))]
    with pytest.raises(NamesError, match="the same name or None"):
        x[tb.asarray([True, False, True], names=("b",))]


def test_isel(x: tb.Tensor) -> None:
    picked = x.isel(c=[4, 0], a=slice(None, None, 2))
    assert picked.tolist() == DATA[::2][..., [4, 0]].tolist()
    assert picked.names == ("a", "b", "c")
    assert x.isel(a=[0, 2], b=tb.asarray([1, 3])).tolist() == DATA[np.ix_([0, 2], [1, 3])].tolist()
    assert x.isel(a=tb.asarray([True, False, True]), c=-1).template == tb.Template((2, 4), "int64", ("a", "b"))
    with pytest.raises(ShapeError, match=r"a list, mask or integer tensor of one axis, got b=s64\[1\]\[1\]"):
        x.isel(b=tb.asarray([[0]]))


def test_lists_and_numbers_of_other_libraries(x: tb.Tensor) -> None:
    assert x[[0, -1]].tolist() == DATA[[0, -1]].tolist()
    assert x[[]].shape == (0, 4, 5)
    assert x[[True, False, True]].tolist() == DATA[[True, False, True]].tolist()
    assert x[np.int64(1)].tolist() == DATA[1].tolist()
    assert x[np.array(1), np.array([0, 1])].tolist() == DATA[1, [0, 1]].tolist()
    assert x[tb.asarray(2)].template == tb.Template((4, 5), "int64", ("b", "c"))
    assert x[tb.asarray([255], dtype="uint8") - 254].tolist() == DATA[[1]].tolist()


def test_indices_outside(x: tb.Tensor) -> None:
    with pytest.raises(IndexRangeError, match=r"an index from -[23] to 2, got index=3"):
        x[tb.asarray([3])]
    with pytest.raises(IndexRangeError, match="an index from -4 to 3"):
        x[[0, 1], [0, -5]]
    with pytest.raises(IndexRangeError):
        x[tb.asarray([2**64 - 1], dtype="uint64"), [0]]
    with pytest.raises(IndexRangeError, match="an index from -3 to 2 for axis 0"):
        x[3, [0]]
    with pytest.raises(IndexRangeError):
        x[[3]] = 0
    with pytest.raises(IndexRangeError, match="indices of at most 3 axes"):
        x[[0], 0, 0, 0]
    with pytest.raises(IndexRangeError, match=re.escape("a mask of shape (3,), got mask=pred[4]")):
        x[tb.ones(4, dtype="bool")]
    with pytest.raises(DTypeError, match="indices of an integer dtype"):
        x[tb.asarray([0.0])]


def test_a_mask_needs_data() -> None:
    dry = tb.template((3, 4), "f32")
    with pytest.raises(
        TemplateDataError, match=re.escape("; use where(), x[nonzero(mask, size=n)], or tb.tape() for a gradient") + "$"
    ):
        dry[dry > 0]
    assert dry[tb.nonzero(dry > 0, size=5)].shape == (5,)
    (rows,) = tb.nonzero(tb.template((3,), "bool"), size=2)
    assert tb.take(dry, rows, axis=0).shape == (2, 4)
    # A mask may have data where x has none, and a write may need no data.
    assert dry[tb.asarray([True, False, True])].shape == (2, 4)
    dry[dry > 0] = 1.0
    assert dry.template == tb.Template((3, 4), "f32")
    with pytest.raises(TemplateDataError):
        dry[dry > 0] = tb.zeros(5)


@pytest.mark.parametrize("backend", BACKENDS)
def test_entries_along_an_axis_and_at_vectors_are_numpys_once_and_again(backend: str) -> None:
    x = tb.asarray(DATA, backend=backend)
    within, beyond = tb.asarray([2, -1, 0], backend=backend), tb.asarray([1, 7], backend=backend)
    listed: Any = [2, -1, 0]
    pairs = tb.asarray([[2, 3], [0, 1]], backend=backend)
    for _ in range(3):
        for axis in range(3):
            key: Any = (slice(None),) * axis
            assert np.array_equal(np.asarray(x[*key, within]), DATA[(*key, listed)])
            assert np.array_equal(np.asarray(tb.take(x, listed, axis=axis)), DATA[(*key, listed)])
            assert np.array_equal(np.asarray(x[1:, within]), DATA[1:, listed])
            with pytest.raises(IndexRangeError, match="index=7"):
                x[*key, beyond]
        assert np.array_equal(np.asarray(tb.gather(x, pairs)), DATA[[2, 0], [3, 1]])
        for wrong in ([[0, 1], [-1, 0]], [[0, 1], [1, 4]]):
            with pytest.raises(IndexRangeError):
                tb.gather(x, tb.asarray(wrong, backend=backend))
        with pytest.raises(IndexRangeError):
            tb.zeros((0, 3), backend=backend)[:, beyond]


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_an_index_beyond_any_axis_is_told_by_a_warm_call_too(backend: str) -> None:
    x = tb.asarray([1.0, 2.0], backend=backend)
    assert [x[1].item() for _ in range(3)] == [2.0] * 3
    for index in (2**63, -(2**63) - 1, 2**200):
        with pytest.raises(tb.errors.IndexRangeError, match=r"expected an index from -2 to 1 for axis 0"):
            x[index]
        with pytest.raises(tb.errors.IndexRangeError):
            x[index] = 1.0


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
@pytest.mark.parametrize("huge", [1 << 31, 1 << 62, (1 << 63) - 1, 1 << 63, 1 << 70, -(1 << 63), -(1 << 70)])
def test_huge_steps_and_bounds_of_slices(backend: str, huge: int) -> None:
    values = np.arange(6.0)
    x = tb.asarray(values, backend=backend)
    for key in (slice(None, None, huge), slice(1, None, huge), slice(None, huge), slice(huge, None), slice(4, 2, huge)):
        for _ in range(2):  # the second time by the warm call
            assert x[key].tolist() == values[key].tolist()
            assert x.reshape((2, 3))[:, key].tolist() == values.reshape(2, 3)[:, key].tolist()
        assert tb.jit(lambda x, key=key: x[key])(x).tolist() == values[key].tolist()
        counted = np.zeros(6)
        counted[key] = 1
        assert tb.grad(lambda x, key=key: tb.sum(x[key]))(x).tolist() == counted.tolist()
    if huge > 0:
        assert tb.slice_(x, starts=(1,), lengths=(1,), strides=(huge,)).tolist() == [1.0]
        assert tb.slice_(x, starts=(huge,), lengths=(0,), strides=(huge,)).tolist() == []


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
@profile(40)
@given(st.integers(1, 4), st.lists(st.integers(-6, 6), min_size=1, max_size=6))
def test_the_error_has_the_first_index_that_is_outside(backend: str, size: int, indices: list[int]) -> None:
    x, outside = tb.asarray(np.arange(size), backend=backend), [i for i in indices if not -size <= i < size]
    chosen = tb.asarray(indices, backend=backend)
    if outside:
        with pytest.raises(IndexRangeError, match=rf"index={outside[0]}\b"):
            tb.take(x, chosen)
    else:
        assert tb.take(x, chosen).tolist() == np.arange(size)[indices].tolist()


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("take", lambda x, i: tb.take(x, [i, i + 1])),  # type: ignore[arg-type] # lists work too
        ("getitem", lambda x, i: x[[i, i + 1]]),
        ("put_at", lambda x, i: tb.put_at(x, [i, i + 1], 0)),
        ("a written list", lambda x, i: tb.put_at(x, slice(0, 2), [i, i + 1])),
        ("repeat", lambda x, i: tb.repeat(x, [i, i, i, i], size=8)),
        ("add", lambda x, i: tb.take_along_axis(x, tb.asarray([i, i]), axis=0)),
    ],
)
@pytest.mark.parametrize("transform", [tb.jit, lambda f: lambda i: tb.vmap(f)(i[None])[0]])
def test_a_list_of_traced_tensors_indexes_a_tensor_of_outside(
    name: str, call: Callable[[tb.Tensor, tb.Tensor], tb.Tensor], transform: Callable[[Any], Any]
) -> None:
    x, i = tb.asarray([10, 20, 30, 40]), tb.asarray(2)
    assert transform(lambda i: call(x, i))(i).tolist() == call(x, i).tolist()
