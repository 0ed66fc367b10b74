"""Reads and writes by index, with NumPy's indexing as an oracle: on each backend, with names, and in dry runs."""

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
from tensorbackend.dtypes import ALL_DTYPES, DType, float16, float32
from tensorbackend.errors import (
    DTypeError,
    IndexRangeError,
    NamesError,
    OutOfRangeError,
    ShapeError,
    TemplateDataError,
)
from tensorbackend.testing import assert_equal, profile

BACKENDS = ["binary", "numpy"]
DATA = np.arange(60).reshape(3, 4, 5)


@pytest.fixture(params=BACKENDS)
def x(request: pytest.FixtureRequest) -> tb.Tensor:
    return tb.tensor(DATA, names=("a", "b", "c"), backend=request.param)


# Random keys for a shape, and NumPy's result for each


@st.composite
def index_arrays(draw: st.DrawFn, size: int, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Draw an index array for an axis of this size, with negative indices too; its shape broadcasts to `shape`."""
    array_shape = tuple(draw(st.sampled_from([length, 1])) for length in shape[draw(st.integers(0, len(shape))) :])
    if not size:
        array_shape = (*array_shape[:-1], 0) if array_shape else (0,)
    count = math.prod(array_shape)
    numbers = st.integers(-size, max(size - 1, -size))
    values = draw(st.lists(numbers, min_size=count, max_size=count))
    return np.array(values, dtype=draw(st.sampled_from(["int64", "int8", "int32"]))).reshape(array_shape)


@st.composite
def keys(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Draw keys with every kind of part for a shape; their index arrays broadcast together."""
    parts: list[Any] = []
    common = tuple(draw(st.lists(st.integers(1, 3), max_size=2)))
    axis, masked = 0, False
    filled = draw(st.booleans())
    while axis < len(shape):
        kind = draw(st.sampled_from(["int", "slice", "slice", "array", "array", "mask", "new", "end"]))
        size = shape[axis]
        if kind == "new":
            parts.append(None)
        elif kind == "int" and size:
            parts.append(draw(st.integers(-size, size - 1)))
            axis += 1
        elif kind == "slice":
            ends = st.none() | st.integers(-size - 2, size + 2)
            parts.append(slice(draw(ends), draw(ends), draw(st.none() | st.sampled_from([1, 2, -1, -3]))))
            axis += 1
        elif kind == "array" and not masked:
            parts.append(draw(index_arrays(size, common)))
            axis += 1
        elif kind == "mask" and not masked and not any(isinstance(part, np.ndarray) for part in parts):
            width = draw(st.integers(0, len(shape) - axis))
            count = math.prod(shape[axis : axis + width])
            holds = draw(st.lists(st.booleans(), min_size=count, max_size=count))
            parts.append(np.array(holds, dtype=bool).reshape(shape[axis : axis + width]))
            axis, masked = axis + width, True
        elif kind == "end":
            break
    if filled:
        place = draw(st.integers(0, len(parts)))
        # Parts before ... index the first axes, parts after it the last. If axes are left over, ... must be at the end.
        parts.insert(len(parts) if axis < len(shape) else place, ...)
    return tuple(parts)


def as_tensors(key: tuple[Any, ...], backend: str) -> tuple[Any, ...]:
    return tuple(tb.asarray(part, backend=backend) if isinstance(part, np.ndarray) else part for part in key)


SHAPES = st.lists(st.integers(0, 4), max_size=3).map(tuple)


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


@pytest.mark.parametrize("backend", BACKENDS)
def test_writes_are_numpys(backend: str) -> None:
    @profile(30)
    @given(st.data())
    def agrees(data: st.DataObject) -> None:
        shape = data.draw(SHAPES)
        key = data.draw(keys(shape))
        values = np.arange(math.prod(shape)).reshape(shape)
        try:
            target = values[key].shape
        except IndexError:
            return
        update_shape = tuple(
            data.draw(st.sampled_from([size, 1])) for size in target[data.draw(st.integers(0, len(target))) :]
        )
        update = -1 - np.arange(math.prod(update_shape)).reshape(update_shape)
        x = tb.asarray(values, backend=backend)
        before, template = x[...], x.template
        x[as_tensors(key, backend)] = tb.asarray(update, backend=backend)
        reference = values.copy()
        reference[key] = update
        assert x.tolist() == reference.tolist()
        assert x.template is template
        assert before.tolist() == values.tolist()

    agrees()


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
    with pytest.raises(TemplateDataError, match=re.escape("; use where(), or x[nonzero(mask, size=n)]") + "$"):
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


# Writing


def test_what_was_made_before_keeps_its_value(x: tb.Tensor) -> None:
    same, row, positive = x[...], x[0], +x
    x[0, 1] = tb.asarray([1, 2, 3, 4, 5])
    assert x[0, 1].tolist() == [1, 2, 3, 4, 5]
    assert [tensor.tolist() for tensor in (same, row, positive)] == [DATA.tolist(), DATA[0].tolist(), DATA.tolist()]
    assert x.template == tb.Template((3, 4, 5), "int64", ("a", "b", "c"))


NOTHING_TO_DO: list[Any] = [
    lambda x: +x,
    lambda x: x[...],
    lambda x: x[:],
    lambda x: x.isel(),
    lambda x: x.rename(*x.names),
    lambda x: tb.astype(x, x.dtype),
    lambda x: tb.tensor(x),
    lambda x: tb.conj(x),
    lambda x: tb.clip(x),
    lambda x: tb.reshape(x, x.shape, names=x.names),
    lambda x: tb.roll(x, 0, axis=0),
    lambda x: tb.diff(x, n=0),
    lambda x: tb.pad(x, [(0, 0)] * 3, mode="edge"),
    lambda x: tb.moveaxis(x, 0, 0),
    lambda x: tb.concat([x]),
    lambda x: tb.put_at(x, [], 0),
]


@pytest.mark.parametrize("function", NOTHING_TO_DO)
def test_an_op_with_nothing_to_do_gives_a_tensor_of_its_own(x: tb.Tensor, function: Any) -> None:
    result = function(x)
    result[...] = 0
    assert x.tolist() == DATA.tolist()


def test_repeated_indices_keep_the_last(x: tb.Tensor) -> None:
    x[[0, 1, 0], 0, 0] = tb.asarray([7, 8, 9])
    assert x[:2, 0, 0].tolist() == [9, 8]


def test_a_mask_writes(x: tb.Tensor) -> None:
    x[x > 5] = -1
    assert x.tolist() == np.where(DATA > 5, -1, DATA).tolist()
    x[tb.asarray([True, False, True])] = tb.asarray([0, 1, 2, 3, 4])
    assert x[2].tolist() == [[0, 1, 2, 3, 4]] * 4
    x[tb.asarray(False)] = 9
    x[tb.zeros(3, dtype="bool")] = tb.zeros((0, 4, 5), dtype="int64")
    assert x[0].tolist() == [[0, 1, 2, 3, 4]] * 4
    mask = tb.asarray(DATA % 7 == 0)
    x[mask] = tb.arange(9)
    assert x[mask].tolist() == list(range(9))


def test_dtypes_and_names_of_a_value(x: tb.Tensor) -> None:
    small = tb.astype(x, "int8")
    small[0] = 1
    small[0] = [1, 2, 3, 4, 5]
    assert small[0, 0].tolist() == [1, 2, 3, 4, 5]
    with pytest.raises(OutOfRangeError, match="an integer from -128 to 127"):
        small[0] = 300
    with pytest.raises(DTypeError, match="a number that int8 holds"):
        small[0] = 1.5
    with pytest.raises(DTypeError, match="an update of a dtype that int8 holds, got dtype=int64"):
        small[0] = x[0]
    with pytest.raises(NamesError):
        x[0] = tb.zeros((4, 5), dtype="int64", names=("c", "b"))
    with pytest.raises(ShapeError):
        x[0] = tb.zeros((3, 5), dtype="int64")
    with pytest.raises(ShapeError, match=r"a value that broadcasts to shape \(5,\)"):
        x[0, 0] = tb.zeros((1, 1, 5), dtype="int64")
    wide = tb.astype(x, "float32")
    wide[0] = x[1]
    assert wide[0].tolist() == DATA[1].tolist()
    wide[0] = tb.full((), 0.1, dtype="float64", backend=x.backend)
    assert wide[0, 0, 0].tolist() == tb.asarray(0.1, dtype="float32").tolist()
    with pytest.raises(DTypeError, match="an update of a dtype that float32 holds, got dtype=complex64"):
        wide[0] = tb.astype(x[0], "complex64")
    number = tb.astype(x, "complex64")
    number[0] = tb.astype(x[1], "float64")
    number[1] = tb.astype(x[1], "complex128")
    assert number[0].tolist() == number[1].tolist() == DATA[1].tolist()


@pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)
def test_every_dtype(dtype: DType) -> None:
    for backend in BACKENDS:
        x = tb.astype(tb.tensor([1, 0, 2, 3], backend=backend), dtype)
        assert_equal(x[[2, 0]], tb.astype(tb.tensor([2, 1], backend=backend), dtype))
        x[1::2] = tb.astype(tb.tensor([1, 0], backend=backend), dtype)
        assert_equal(x, tb.astype(tb.tensor([1, 1, 2, 0], backend=backend), dtype))
        assert tb.count_nonzero(x).item() == 3


# Scatters


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("number", [2, tb.asarray(2, dtype="int8")])
def test_one_number_updates_every_entry(backend: str, number: Any) -> None:
    x = tb.asarray([[1, 2], [3, 4], [5, 6]], dtype="int8", names=("row", "column"), backend=backend)
    number = number.backend_copy(backend) if isinstance(number, tb.Tensor) else number
    indices = tb.asarray([[2], [0], [2]], backend=backend)
    for made, wanted in (
        (tb.indexed_add(x, indices, number), [[3, 4], [3, 4], [9, 10]]),
        (tb.indexed_put(x, indices, number), [[2, 2], [3, 4], [2, 2]]),
        (tb.jit(lambda x: tb.indexed_add(x, indices, number))(x), [[3, 4], [3, 4], [9, 10]]),
    ):
        assert made.template == x.template
        assert made.tolist() == wanted
    with pytest.raises(ShapeError, match=r"indexed_put: expected updates of shape \(3, 2\), got updates=s64\[2\]"):
        tb.indexed_put(x, indices, tb.asarray([1, 2], backend=backend))


@pytest.mark.parametrize("dtype", [float16, float32], ids=str)
def test_indexed_add_is_as_near_as_float32(dtype: DType) -> None:
    @profile(30)
    @given(st.lists(st.floats(0, 1, width=16), min_size=1, max_size=50))
    def agrees(numbers: list[float]) -> None:
        sums = []
        for backend in BACKENDS:
            x = tb.zeros(1, dtype=dtype, backend=backend)
            indices = tb.zeros((len(numbers), 1), dtype="int64", backend=backend)
            sums.append(tb.indexed_add(x, indices, tb.tensor(numbers, dtype=dtype, backend=backend)))
        # Each addition rounds once to float32. A result in float16 is rounded once more, at the end.
        assert_equal(sums[1], sums[0], ulps=1 if dtype is float16 else len(numbers))

    agrees()


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
