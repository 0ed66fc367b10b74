"""Windows by example, against their definition, and at edge cases; errors are the same on every backend."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import (
    ArgumentError,
    AxisError,
    DTypeError,
    NamesError,
    OperandError,
    ShapeError,
    TensorBackendError,
)

BACKENDS = ["binary", "numpy"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def members(shape: Any, place: Any, window: Any, strides: Any, padding: Any, dilations: Any) -> list[Any]:
    """The definition: return the indices of a window's elements that are inside the tensor."""
    indices = []
    for offset in itertools.product(*map(range, window)):
        index = tuple(
            p * s + o * d - low for p, s, o, d, (low, _) in zip(place, strides, offset, dilations, padding, strict=True)
        )
        if all(0 <= coordinate < size for coordinate, size in zip(index, shape, strict=True)):
            indices.append(index)
    return indices


def places(shape: Any, window: Any, strides: Any, padding: Any, dilations: Any) -> tuple[int, ...]:
    """Count one by one how many windows fit along each axis."""
    counts = []
    for size, w, s, (low, high), d in zip(shape, window, strides, padding, dilations, strict=True):
        starts = [start for start in range(0, low + size + high, s) if start + (w - 1) * d < low + size + high]
        counts.append(len(starts))
    return tuple(counts)


GEOMETRIES: list[tuple[Any, ...]] = [
    ((5,), (2,), (1,), ((0, 0),), (1,)),
    ((5,), (3,), (2,), ((2, 1),), (1,)),
    ((9,), (3,), (2,), ((0, 0),), (3,)),
    ((7,), (2,), (3,), ((-2, 4),), (2,)),
    ((4, 5), (2, 3), (1, 1), ((0, 0), (1, 1)), (1, 1)),
    ((4, 5), (2, 2), (2, 2), ((1, 0), (0, 1)), (2, 1)),
    ((3, 4, 2), (1, 3, 1), (1, 2, 1), ((0, 0), (2, 2), (0, 0)), (1, 1, 1)),
    ((2, 3, 12), (2, 2, 4), (1, 1, 3), ((0, 0), (0, 1), (3, 0)), (1, 2, 2)),
    ((3,), (5,), (1,), ((0, 0),), (1,)),
    ((3,), (1,), (1,), ((2, 2),), (1,)),
    ((0, 3), (1, 2), (1, 1), ((0, 0), (0, 0)), (1, 1)),
    ((0,), (2,), (1,), ((2, 1),), (1,)),
    ((1, 1), (1, 1), (4, 4), ((0, 0), (0, 0)), (9, 9)),
    ((), (), (), (), ()),
    ((40,), (35,), (1,), ((1, 1),), (1,)),
    ((20, 3, 2), (2, 1, 1), (1, 1, 1), ((0, 0), (0, 0), (0, 0)), (1, 1, 1)),
]
OPS: list[tuple[Callable[..., tb.Tensor], Callable[[list[Any]], Any]]] = [
    (tb.window_sum, sum),
    (tb.window_prod, math.prod),
    (tb.window_max, lambda values: max(values, default=-128)),
    (tb.window_min, lambda values: min(values, default=127)),
]


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
@pytest.mark.parametrize(("op", "fold"), OPS, ids=["sum", "prod", "max", "min"])
def test_the_definition(backend: str, op: Any, fold: Any, geometry: Any) -> None:
    shape, window, strides, padding, dilations = geometry
    data = (np.arange(math.prod(shape)) * 37 % 11 - 5).astype(np.int8).reshape(shape)
    x = tb.tensor(data, backend=backend)
    result = op(x, window, strides=strides, padding=padding, dilations=dilations)
    reference = np.zeros(places(shape, window, strides, padding, dilations), np.int64)
    for place in np.ndindex(reference.shape):
        indices = members(shape, place, window, strides, padding, dilations)
        reference[place] = (fold([int(data[index]) for index in indices]) + 128) % 256 - 128  # wraps around as int8
    assert result.dtype is tb.int8
    assert result.shape == reference.shape
    assert result.tolist() == reference.tolist()


@pytest.mark.parametrize("geometry", [geometry for geometry in GEOMETRIES if set(geometry[4]) <= {1}], ids=str)
@pytest.mark.parametrize("greatest", [True, False])
def test_the_definition_of_scatter(backend: str, geometry: Any, greatest: bool) -> None:
    shape, window, strides, padding, dilations = geometry
    data = (np.arange(math.prod(shape)) * 37 % 5).reshape(shape)
    shape_out = places(shape, window, strides, padding, dilations)
    source = np.arange(math.prod(shape_out)).reshape(shape_out) + 1
    reference = np.full(shape, 7, np.int64)
    for place in np.ndindex(shape_out):
        indices = members(shape, place, window, strides, padding, dilations)
        if indices:  # the first of equal elements
            chosen = (max if greatest else min)(indices, key=lambda index: data[index])
            reference[chosen] += source[place]
    op = tb.window_scatter_max if greatest else tb.window_scatter_min
    x, y = tb.tensor(data, backend=backend), tb.tensor(source, backend=backend)
    assert op(x, y, 7, window, strides=strides, padding=padding).tolist() == reference.tolist()


def test_same_is_xlas(backend: str) -> None:
    """As in XLA, the output size is ceil(size / stride), and an odd element of padding goes at the end."""
    x = tb.tensor([1, 2, 3, 4, 5], backend=backend)
    assert tb.window_sum(x, 2, padding="same").tolist() == [3, 5, 7, 9, 5]
    assert tb.window_sum(x, 4, padding="same").tolist() == [6, 10, 14, 12, 9]
    assert tb.window_sum(x, 3, strides=2, padding="same").tolist() == [3, 9, 9]
    assert tb.window_sum(x, 1, strides=2, padding="same").tolist() == [1, 3, 5]
    # The padding is 1 before and 2 after.
    assert tb.window_sum(x, 2, dilations=3, padding="same").tolist() == [0 + 3, 1 + 4, 2 + 5, 3, 4]
    assert tb.window_sum(tb.zeros(0, backend=backend), 3, padding="same").shape == (0,)


def test_options_by_name(backend: str) -> None:
    x = tb.tensor(np.arange(24).reshape(2, 12), names=("batch", "time"), backend=backend)
    by_position = tb.window_max(x, (1, 3), strides=(1, 2), padding=((0, 0), (1, 2)), dilations=(1, 2))
    named = tb.window_max(
        x, {"time": 3}, strides={"time": 2}, padding={"time": (1, 2)}, dilations={"time": 2}
    )  # fmt: skip
    assert named.tolist() == by_position.tolist()
    assert named.template is by_position.template is tb.Template((2, 6), "int64", ("batch", "time"))
    assert (
        tb.window_max(x, {-1: 3}, strides={1: 2}, padding={"time": (1, 2)}, dilations={-1: 2}).tolist()
        == by_position.tolist()
    )
    assert tb.window_mean(x, {"time": 2}, strides={"time": 2}).names == ("batch", "time")
    dry = tb.window_max(tb.template((2, 12), "int64", ("batch", "time")), {"time": 3}, padding="same")
    assert dry.template is x.template


@pytest.mark.parametrize("dtype", FLOATS)
def test_extremes_of_floats(backend: str, dtype: str) -> None:
    x = tb.tensor([0.0, -0.0, -0.0, math.nan, -1.0, math.inf, -math.inf], dtype=dtype, backend=backend)
    greatest, least = (op(x, 2).tolist() for op in (tb.window_max, tb.window_min))
    assert [str(value) for value in greatest] == ["0.0", "-0.0", "nan", "nan", "inf", "inf"]
    assert [str(value) for value in least] == ["-0.0", "-0.0", "nan", "nan", "-1.0", "-inf"]
    nothing = tb.tensor([2.0], dtype=dtype, backend=backend)
    assert tb.window_max(nothing, 1, padding=[(1, 0)]).tolist() == [-math.inf, 2.0]
    assert tb.window_min(nothing, 1, padding=[(1, 0)]).tolist() == [math.inf, 2.0]
    assert math.isnan(float(tb.window_max(tb.tensor([-math.nan, 1.0], dtype=dtype, backend=backend), 2)))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_wrap_and_pad_with_limits(backend: str, dtype: str) -> None:
    limits = tb.iinfo(dtype)
    x = tb.tensor([limits.max, 1, limits.min], dtype=dtype, backend=backend)
    assert tb.window_sum(x, 2).tolist() == [limits.min, limits.min + 1]
    assert tb.window_max(x, 1, padding=[(1, 0)]).tolist() == [limits.min, limits.max, 1, limits.min]
    assert tb.window_min(x, 1, padding=[(0, 1)]).tolist() == [limits.max, 1, limits.min, limits.max]


def test_narrow_floats_are_rounded_once(backend: str) -> None:
    ones = tb.full(2049, 1.0, dtype="float16", backend=backend)
    assert tb.window_sum(ones, 2049).item() == 2048.0
    assert tb.window_sum(tb.full(300, 1.0, dtype="bfloat16", backend=backend), 300).item() == 300.0
    small = tb.tensor([2048.0, 1.0, 1.0, 1.0, 1.0], dtype="float16", backend=backend)
    assert tb.window_sum(small, 5).item() == 2052.0
    large = tb.full(4, 60000.0, dtype="float16", backend=backend)
    assert tb.window_mean(large, 4).item() == 60000.0
    assert tb.window_sum(large, 2).tolist() == [math.inf] * 3


def test_complex_numbers(backend: str) -> None:
    x = tb.tensor([1 + 2j, 3 - 1j, -2j], backend=backend)
    assert tb.window_sum(x, 2).tolist() == [4 + 1j, 3 - 3j]
    assert tb.window_prod(x, 2).tolist() == [(1 + 2j) * (3 - 1j), (3 - 1j) * -2j]
    assert tb.window_mean(x, 2).dtype is tb.complex64


def test_window_mean(backend: str) -> None:
    x = tb.tensor([1, 3, 5], backend=backend)
    assert tb.window_mean(x, 2).tolist() == [2.0, 4.0]
    assert tb.window_mean(x, 2).dtype is tb.float32
    assert tb.window_mean(x > 2, 2).tolist() == [0.5, 1.0]
    assert tb.window_mean(x, 2, padding=[(1, 1)]).tolist() == [0.5, 2.0, 4.0, 2.5]
    assert tb.window_mean(x, 2, padding=[(1, 1)], include_padding=False).tolist() == [1.0, 2.0, 4.0, 5.0]
    alone = tb.window_mean(x, 1, padding=[(1, 0)], include_padding=False).tolist()
    assert math.isnan(alone[0])
    assert alone[1:] == [1.0, 3.0, 5.0]
    with tb.precision(64):
        assert tb.window_mean(x, 2).dtype is tb.float64


def test_scatter_keeps_x_for_the_choice(backend: str) -> None:
    """x may have another dtype than the values that are added; x chooses the element without being rounded to it."""
    x = tb.tensor([2**60, 2**60 + 1], names=("n",), backend=backend)
    source = tb.tensor([1.5], dtype="float32", backend=backend)
    result = tb.window_scatter_max(x, source, 0, 2)
    assert result.tolist() == [0.0, 1.5]
    assert result.template is tb.Template((2,), "float32", ("n",))
    nan = tb.tensor([1.0, math.nan, math.nan, -math.inf], backend=backend)
    one = tb.tensor([1.0], backend=backend)
    assert tb.window_scatter_max(nan, one, 0.0, 4).tolist() == [0.0, 1.0, 0.0, 0.0]
    assert tb.window_scatter_min(nan, one, 0.0, 4).tolist() == [0.0, 1.0, 0.0, 0.0]
    zeros = tb.tensor([-0.0, 0.0], backend=backend)
    assert tb.window_scatter_max(zeros, one, 0.0, 2).tolist() == [1.0, 0.0]
    assert tb.window_scatter_max(zeros, tb.tensor([1j], backend=backend), 1.0, 2).tolist() == [1 + 1j, 1 + 0j]


def test_inputs_are_not_changed(backend: str) -> None:
    data = np.arange(6.0)
    x, kept = tb.asarray(data).backend_copy(backend), data.copy()
    source = tb.ones(5, dtype="float64", backend=backend)
    initial = tb.tensor(0.0, dtype="float64", backend=backend)
    tb.window_scatter_max(x, source, initial, 2)
    tb.window_sum(x, 1)
    assert x.tolist() == kept.tolist()
    assert initial.item() == 0.0


def test_window_reduce(backend: str) -> None:
    x = tb.tensor([[1, 2, 3], [4, 5, 6]], names=("row", "column"), backend=backend)
    digits = tb.window_reduce(x, 0, (2, 2), function=lambda a, b: a * 10 + b)
    assert digits.tolist() == [[1245, 2356]]
    assert digits.names == ("row", "column")
    # The function does not get the padding.
    assert tb.window_reduce(x, 0, {"column": 2}, function=lambda a, b: a * 10 + b, padding="same").tolist() == [
        [12, 23, 3],
        [45, 56, 6],
    ]
    assert tb.window_reduce(x, 9, 1, function=tb.add, padding=[(0, 0), (1, 0)]).tolist() == [
        [9, 10, 11, 12],
        [9, 13, 14, 15],
    ]
    wide = tb.window_reduce(x, 0, (1, 3), function=lambda a, b: a + b / 2)
    assert (wide.tolist(), wide.dtype) == ([[3.0], [7.5]], tb.float32)


MISTAKES: list[tuple[type[TensorBackendError], str, Callable[[tb.Tensor], object]]] = [
    (ArgumentError, r"window_sum: expected integers from 1 .* as window, got window=0", lambda x: tb.window_sum(x, 0)),
    (ArgumentError, r"integers from 1 to .* as window, got window=True", lambda x: tb.window_sum(x, True)),
    (ArgumentError, r"integers from 1 to .* as strides, got strides=-1", lambda x: tb.window_max(x, 2, strides=-1)),
    (ArgumentError, r"integers from 1 to .* as dilations, got", lambda x: tb.window_max(x, 2, dilations=(1, 1.5))),  # type: ignore[arg-type]
    (ArgumentError, r"2 numbers in window, one for each axis, got window=\(2,\)", lambda x: tb.window_min(x, (2,))),
    (ArgumentError, r'"valid", "same" or 2 pairs', lambda x: tb.window_min(x, 2, padding="full")),  # type: ignore[arg-type]
    (ArgumentError, r'"valid", "same" or 2 pairs', lambda x: tb.window_min(x, 2, padding=((0, 0),))),
    (ArgumentError, r'"valid", "same" or 2 pairs', lambda x: tb.window_min(x, 2, padding=1)),  # type: ignore[arg-type]
    (ArgumentError, r"\(low, high\) of integers", lambda x: tb.window_min(x, 2, padding=((0, 0, 0), (1, 1)))),
    (ArgumentError, r"\(low, high\) of integers", lambda x: tb.window_min(x, 2, padding=(1, 1))),  # type: ignore[arg-type]
    (ShapeError, r"leaves no negative size", lambda x: tb.window_min(x, 2, padding=((-2, -2), (0, 0)))),
    (AxisError, r"window_sum: expected an axis name of .*, got axis='time'", lambda x: tb.window_sum(x, {"time": 2})),
    (AxisError, r"each axis of .* once in window", lambda x: tb.window_sum(x, {"a": 2, 0: 1})),
    (DTypeError, r"window_sum: expected a numeric dtype", lambda x: tb.window_sum(x > 0, 2)),
    (DTypeError, r"window_max: expected a real dtype", lambda x: tb.window_max(x * 1j, 2)),
    (ArgumentError, r"window_(sum|mean): expected integers .* as window", lambda x: tb.window_mean(x, {"a": 0})),
    (ShapeError, r"a source of shape \(1, 2\), an", lambda x: tb.window_scatter_max(x, tb.ones_like(x), 0, (2, 2))),
    (ShapeError, r"an initial value without axes", lambda x: tb.window_scatter_min(x, x, tb.ones_like(x), 1)),
    (NamesError, r"the same name or None", lambda x: tb.window_scatter_min(x, x.rename("c", "d"), 0, 1)),
    (DTypeError, r"a real dtype", lambda x: tb.window_scatter_max(x * 1j, x, 0, 1)),
    (ShapeError, r"an initial value without axes", lambda x: tb.window_reduce(x, tb.ones_like(x), 1, function=tb.add)),
    (ShapeError, r"returns a tensor without axes", lambda x: tb.reduce(x, 0, function=lambda a, b: tb.expand_dims(a))),
    (OperandError, r"map: expected a function that returns a tensor", lambda x: tb.map(x, function=lambda e: 1)),  # type: ignore[arg-type,return-value]
    (DTypeError, r"bitwise_and: expected an integer or bool", lambda x: tb.map(x, function=lambda e: e & e)),
    (DTypeError, r"an initial value that fits int64", lambda x: tb.reduce(
        x, tb.ones_like(tb.sum(x)), function=lambda a, b: tb.astype(a, "int64"))),
    (DTypeError, r"a number that int64 holds", lambda x: tb.reduce(
        x, 0.5, function=lambda a, b: tb.astype(a, "int64"))),
    (DTypeError, r"returns the dtype of its first argument", lambda x: tb.reduce(
        x, 0, function=lambda a, b: tb.astype(a, "int32" if a.dtype is tb.int64 else "int64"))),
]  # fmt: skip


@pytest.mark.parametrize(("error", "text", "call"), MISTAKES, ids=[text[:40] for _, text, _ in MISTAKES])
def test_mistakes(error: Any, text: str, call: Callable[[tb.Tensor], object]) -> None:
    texts = set()
    for backend_name in (*BACKENDS, "template"):
        x = tb.ones((2, 3), names=("a", "b"), backend=backend_name)
        with tb.default_backend(backend_name), pytest.raises(error, match=text) as caught:
            call(x)
        texts.add(str(caught.value))
    assert len(texts) == 1


def test_reduce(backend: str) -> None:
    x = tb.tensor(np.arange(24).reshape(2, 3, 4), names=("a", "b", "c"), backend=backend)

    def digits(total: tb.Tensor, element: tb.Tensor) -> tb.Tensor:
        return total * 3 + element

    for axis in (None, 0, "b", -1, ("a", "c"), (1, 0), ()):
        result = tb.reduce(x, 1, function=digits, axis=axis)
        kept = tb.reduce(x, 1, function=digits, axis=axis, keepdims=True)
        assert result.template is tb.sum(x, axis=axis).template
        assert kept.template is tb.sum(x, axis=axis, keepdims=True).template
        assert kept.to_binary() == result.to_binary()
    # Row-major order: the elements 0..3 give ((((1 * 3 + 0) * 3 + 1) * 3 + 2) * 3 + 3).
    assert tb.reduce(x[0, 0], 1, function=digits).item() == 81 + 0 + 9 + 6 + 3
    assert tb.reduce(tb.zeros((0, 2), backend=backend), 5, function=tb.add, axis=0).tolist() == [5.0, 5.0]
    assert tb.reduce(tb.zeros((2, 0), backend=backend), 5, function=tb.add, axis=0).shape == (0,)
    assert tb.reduce(tb.zeros((), backend=backend), 5, function=tb.add).item() == 5.0


def test_dtypes_of_folds(backend: str) -> None:
    x = tb.tensor([-1.5, 2.5], backend=backend)
    some = tb.reduce(x, False, function=lambda so_far, element: tb.logical_or(so_far, element > 2))
    assert (some.item(), some.dtype.name) == (True, "bool")
    count = tb.reduce(x, tb.tensor(0, dtype="int8", backend=backend), function=lambda n, element: n + 1)
    assert (count.item(), count.dtype) == (2, tb.int8)
    small = tb.tensor([100, 100], dtype="int8", backend=backend)
    assert (tb.reduce(small, 0, function=tb.add).item()) == -56
    half = tb.tensor([2048.0, 1.0, 1.0], dtype="float16", backend=backend)
    assert tb.reduce(half, 0, function=tb.add).item() == 2048.0  # each addition rounds


def test_map(backend: str) -> None:
    x = tb.tensor([[1, -2], [3, 4]], names=("a", "b"), backend=backend)
    result = tb.map(x, function=lambda element: tb.where(element > 0, element / 2, 0))
    assert result.tolist() == [[0.5, 0.0], [1.5, 2.0]]
    assert result.template is tb.Template((2, 2), "float32", ("a", "b"))
    assert tb.map(x, function=lambda element: element * 100, dtype="int8").tolist() == [[100, 56], [44, -112]]
    assert tb.map(tb.zeros((0, 3), backend=backend), function=tb.exp).shape == (0, 3)
    assert tb.map(tb.tensor(2.0, backend=backend), function=tb.negative).item() == -2.0
    assert tb.map(tb.template((2, 3), "bool", ("n", None)), function=tb.logical_not).names == ("n", None)


def test_functions_hold_on_to_tensors_of_other_backends() -> None:
    """Results of the function move to the backend of the call, which is the default backend inside the function."""
    held = tb.tensor(10, backend="numpy")
    x = tb.tensor([1, 2], backend="binary")
    mapped = tb.map(x, function=lambda element: element + held)
    assert (mapped.tolist(), mapped.backend.name) == ([11, 12], "binary")
    folded = tb.reduce(x, 0, function=lambda total, element: total + element * held)
    assert (folded.item(), folded.backend.name) == (30, "binary")
    windows = tb.window_reduce(x, 0, 2, function=lambda total, element: total + element + held)
    assert (windows.tolist(), windows.backend.name) == ([23], "binary")
    seen: set[str] = set()

    def record(element: tb.Tensor) -> tb.Tensor:
        seen.add(tb.zeros(()).backend.name)
        return element

    tb.map(x, function=record)
    assert seen == {"template", "binary"}  # the dry run, then the call


def test_a_dry_run_calls_a_function_once() -> None:
    calls = []

    def counted(element: tb.Tensor) -> tb.Tensor:
        calls.append(element)
        return element

    tb.map(tb.template((1000, 1000), "f32"), function=counted)
    assert len(calls) == 1


POOLS: dict[str, Any] = {
    **{name: getattr(tb, name) for name in dir(tb) if name.startswith("window_") and name.split("_")[1] in (
        "argmax", "argmin", "max", "mean", "min", "prod", "sum")},
    **{name: getattr(tb.nn, name) for name in ("max_pool", "mean_pool")},
}  # fmt: skip


@pytest.mark.parametrize("name", POOLS)
def test_one_stride_is_for_the_axes_with_windows(name: str) -> None:
    pool = POOLS[name]
    x = tb.reshape(tb.arange(24.0), (4, 6), names=("time", "place"))
    for window in ({"place": 3}, {-1: 3}):
        expected = pool(x, window, strides={"place": 2}, padding="same")
        assert pool(x, window, strides=2, padding="same").template == expected.template
        assert pool(x, window, strides=2, padding="same").tolist() == expected.tolist()
    assert pool(x, 2, strides=2).shape == pool(x, {"time": 2, "place": 2}, strides=2).shape == (2, 3)
    assert pool(x, (1, 2), strides=2).shape == (2, 3)


@pytest.mark.parametrize(("shape", "window"), [((512, 8), (1, 16)), ((512, 8), (2, 9)), ((64, 64), (65, 1))])
@pytest.mark.parametrize("op", [tb.window_max, tb.window_min, tb.window_sum, tb.window_prod])
def test_a_window_fits_nowhere(backend: str, op: Any, shape: tuple[int, int], window: tuple[int, int]) -> None:
    """NumPy looks for zeros of either sign in results that are large, in other ways than in small ones."""
    x = tb.ones(shape, dtype="f32", backend=backend)
    assert op(x, window).shape == tuple(max(0, size - width + 1) for size, width in zip(shape, window, strict=True))
