"""Reductions of entries with equal segments or positions, compared with Python loops, and their gradients."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import NamesError

BACKENDS = ["binary", "numpy", "jax"]
SEGMENTS = [2, 0, 2, 3, 0, 2]
SIZE = 5

OF_NUMBERS: dict[Callable[..., tb.Tensor], Callable[[list[float]], float]] = {
    tb.segment_sum: sum,
    tb.segment_prod: math.prod,
    tb.segment_max: lambda numbers: max(numbers, default=-math.inf),
    tb.segment_min: lambda numbers: min(numbers, default=math.inf),
    tb.segment_mean: lambda numbers: sum(numbers) / len(numbers) if numbers else math.nan,
    tb.segment_argmax: lambda numbers: numbers.index(max(numbers)) if numbers else -1,
    tb.segment_logsumexp: lambda numbers: math.log(sum(map(math.exp, numbers))) if numbers else -math.inf,
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", OF_NUMBERS, ids=lambda function: function.__name__)
def test_each_segment_is_reduced_by_itself(
    function: Callable[..., tb.Tensor], backend: str, whole: Callable[..., Any]
) -> None:
    values = numpy.random.default_rng(0).standard_normal((2, 6, 3))
    x = tb.asarray(values, names=("batch", "edge", "feature"), backend=backend)
    segments = tb.asarray(SEGMENTS, names=("edge",), backend=backend)
    reduced = whole(lambda x, segments: function(x, segments, size=SIZE, axis="edge"))(x, segments)
    assert reduced.names == ("batch", None, "feature")
    elements = reduced.tolist()
    for batch in range(2):
        for feature in range(3):
            for number in range(SIZE):
                where = [entry for entry, segment in enumerate(SEGMENTS) if segment == number]
                reference = OF_NUMBERS[function]([float(values[batch, entry, feature]) for entry in where])
                if function is tb.segment_argmax and where:
                    reference = where[int(reference)]
                assert elements[batch][number][feature] == pytest.approx(reference, nan_ok=True, rel=1e-12)


@pytest.mark.parametrize("dtype", ["bool", "u8", "s16", "f16", "bf16"])
def test_extremes_of_every_kind_of_dtype(dtype: str) -> None:
    x = tb.astype(tb.asarray([0, 1, 1, 0]), dtype)
    segments = tb.asarray([0, 0, 1, 2])
    assert tb.astype(tb.segment_max(x, segments, size=3), "s32").tolist() == [1, 1, 0]
    assert tb.astype(tb.segment_min(x, segments, size=3), "s32").tolist() == [0, 1, 0]
    assert tb.segment_max(x, segments, size=3).dtype is x.dtype


def test_nan_wins_and_of_equal_entries_the_first_is_found() -> None:
    x, segments = tb.asarray([1.0, math.nan, 3.0, 3.0]), tb.asarray([0, 0, 1, 1])
    for function in (tb.segment_max, tb.segment_min):
        assert math.isnan(function(x, segments, size=2)[0].item())  # type: ignore[arg-type]
    assert tb.segment_argmax(x, segments, size=2).tolist() == [1, 2]


def test_products_with_zeros_have_exact_gradients() -> None:
    x, segments = tb.asarray([3.0, 0.0, 4.0, 5.0, 0.0, 0.0]), tb.asarray([2, 0, 2, 0, 1, 1])
    gradient = tb.grad(lambda x: tb.sum(tb.segment_prod(x, segments, size=4)))(x)
    assert gradient.tolist() == [4.0, 5.0, 3.0, 0.0, 0.0, 0.0]
    products = tb.indexed_prod(tb.asarray([2, 3]), tb.asarray([[1], [1], [7]]), tb.asarray([5, 7, 11]), mode="fill")
    assert products.tolist() == [2, 105]


def test_segments_outside() -> None:
    x, segments = tb.asarray([1.0, 2.0, 4.0]), tb.asarray([-1, 0, 9])
    with pytest.raises(tb.errors.IndexRangeError):
        tb.segment_sum(x, segments, size=2)
    assert tb.segment_sum(x, segments, size=2, mode="clip").tolist() == [3.0, 4.0]
    assert tb.segment_sum(x, segments, size=2, mode="fill").tolist() == [2.0, 0.0]
    assert tb.segment_logsumexp(x, segments, size=2, mode="fill").tolist() == [2.0, -math.inf]


@pytest.mark.parametrize(
    ("segments", "error"),
    [
        (tb.asarray([0, 1]), tb.errors.ShapeError),
        (tb.asarray([0.0, 1.0, 2.0]), tb.errors.DTypeError),
        (tb.asarray([0, 1, 2], names=("node",)), tb.errors.NamesError),
    ],
)
def test_segments_that_do_not_fit(segments: tb.Tensor, error: type[Exception]) -> None:
    with pytest.raises(error, match="segment_max"):
        tb.segment_max(tb.asarray([1.0, 2.0, 3.0], names=("edge",)), segments, size=3)


def test_gradients() -> None:
    x, segments = tb.asarray([1.0, 2.0, 4.0, 5.0]), tb.asarray([2, 0, 2, 7])

    def gradient(function: Callable[..., tb.Tensor], scale: float = 1.0) -> object:
        def total(x: tb.Tensor) -> tb.Tensor:
            reduced = function(x * scale, segments, size=3, mode="fill")
            return tb.sum(tb.where(tb.isfinite(reduced), reduced, 0))

        return tb.grad(total)(x).tolist()

    assert gradient(tb.segment_max) == [0, 1, 1, 0]
    assert gradient(tb.segment_min) == [1, 1, 0, 0]
    assert gradient(tb.segment_mean) == [0.5, 1, 0.5, 0]
    assert gradient(tb.segment_logsumexp, 1000) == [0, 1000, 1000, 0]


def test_the_second_derivative_of_a_logarithm_of_nothing() -> None:
    def combined(points: list[tb.Tensor]) -> tb.Tensor:
        start, updates = points
        return tb.indexed_logsumexp(start, tb.zeros((0, 0), dtype="s8"), updates)

    def slope(points: list[tb.Tensor]) -> tb.Tensor:
        start, updates = tb.grad(combined)(points)
        return start + tb.sum(updates)

    points = [tb.asarray(0.5), tb.zeros((0,))]
    assert combined(points).item() == 0.5
    assert [x.tolist() for x in tb.grad(combined)(points)] == [1.0, []]
    assert [x.tolist() for x in tb.grad(slope)(points)] == [0.0, []]


def test_vmap_and_jit() -> None:
    x, segments = tb.asarray([[1.0, 2.0, 4.0], [3.0, 0.0, 1.0]]), tb.asarray([[1, 0, 1], [0, 0, 1]])

    def greatest(x: tb.Tensor, segments: tb.Tensor) -> tb.Tensor:
        return tb.segment_max(x, segments, size=2, mode="clip")

    maxima = tb.jit(tb.vmap(greatest))(x, segments)
    assert isinstance(maxima, tb.Tensor)
    assert maxima.tolist() == [[2.0, 4.0], [3.0, 1.0]]


# Combining with the values of a tensor


@pytest.mark.parametrize("backend", BACKENDS)
def test_updates_are_combined_with_what_is_there(backend: str, whole: Callable[..., Any]) -> None:
    x = tb.asarray([[1.0, 5.0], [2.0, 2.0], [0.0, 0.0]], names=("row", "column"), backend=backend)
    rows = tb.asarray([[0], [0], [1]], backend=backend)
    updates = tb.asarray([[4.0, 4.0], [0.0, 9.0], [1.0, 1.0]], backend=backend)

    @whole
    def combine(*args: Any) -> Any:
        return tb.indexed_max(*args), tb.indexed_min(*args), tb.indexed_mean(*args)

    greatest, least, mean = combine(x, rows, updates)
    assert greatest.tolist() == [[4, 9], [2, 2], [0, 0]]
    assert least.tolist() == [[0, 4], [1, 1], [0, 0]]
    assert mean.tolist() == [[pytest.approx(5 / 3), 6], [1.5, 1.5], [0, 0]]
    assert greatest.names == ("row", "column")
    assert tb.indexed_max(x, rows, 3.0).tolist() == [[3, 5], [3, 3], [0, 0]]


def test_updates_with_axes_of_other_names_are_refused() -> None:
    x = tb.zeros((3, 2), names=("row", "column"))
    with pytest.raises(NamesError):
        tb.indexed_max(x, tb.asarray([[0]]), tb.zeros((1, 2), names=(None, "row")))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_of_zeros_the_positive_one_is_greater_and_any_nan_is_one(
    dtype: str, backend: str, whole: Callable[..., Any]
) -> None:
    x = tb.asarray([-0.0, 0.0, 0.0, -0.0, -0.0, math.nan, 1.0, -math.nan], dtype=dtype, backend=backend)
    segments = tb.asarray([0, 0, 1, 1, 2, 3, 3, 4], backend=backend)

    @whole
    def extremes(x: tb.Tensor, segments: tb.Tensor) -> Any:
        greatest, least = tb.segment_max(x, segments, size=6), tb.segment_min(x, segments, size=6)
        return greatest, least, tb.indexed_max(x[:3], segments[:3, None], x[:3])

    greatest, least, combined = extremes(x, segments)
    assert repr(greatest.tolist()) == "[0.0, 0.0, -0.0, nan, nan, -inf]"
    assert repr(least.tolist()) == "[-0.0, -0.0, -0.0, nan, nan, inf]"
    assert repr(combined.tolist()) == "[0.0, 0.0, 0.0]"


@pytest.mark.parametrize("mode", ["clip", "fill"])
def test_backends_agree_on_many_entries(mode: Any) -> None:
    rng = numpy.random.default_rng(1)
    values, segments = rng.integers(-4, 4, (300, 3)).astype("float32") / 2, rng.integers(-2, 12, 300)
    extremes_by_backend = [
        [
            tb.segment_max(tb.asarray(values, backend=backend), at, size=10, mode=mode).tolist(),
            tb.indexed_min(
                tb.ones((10, 3), backend=backend), at[:, None], tb.asarray(values, backend=backend), mode=mode
            ).tolist(),
        ]
        for backend in BACKENDS
        for at in [tb.asarray(segments, backend=backend)]
    ]
    assert extremes_by_backend[0] == extremes_by_backend[1] == extremes_by_backend[2]
    batched = tb.indexed_max(tb.zeros((2, 4)), tb.asarray([[[1], [1]], [[0], [3]]]), tb.ones((2, 2)), batch=0)
    assert batched.tolist() == [[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 1.0]]


@pytest.mark.parametrize("name", [None, "node"])
def test_the_axis_of_segments_may_have_a_name(name: str | None) -> None:
    x = tb.ones((3, 2), names=("edge", "feature"))
    segments = tb.asarray([0, 1, 1])
    for reduction in (tb.segment_sum, tb.segment_prod, tb.segment_max, tb.segment_min, tb.segment_mean,
                      tb.segment_logsumexp, tb.segment_argmax):  # fmt: skip
        assert reduction(x, segments, size=2, axis="edge", name=name).names == (name, "feature")
        assert reduction(x.T, segments, size=2, axis="edge", name=name).names == ("feature", name)
    with pytest.raises(tb.errors.NamesError):
        tb.segment_sum(x, segments, size=2, axis="edge", name="feature")


@pytest.mark.parametrize("op", [tb.indexed_max, tb.indexed_min, tb.indexed_prod, tb.indexed_add, tb.indexed_put])
def test_a_python_number_as_update_keeps_the_dtype(op: Callable[..., tb.Tensor]) -> None:
    x, places = tb.asarray([1, 5, 3], dtype="int8"), tb.asarray([[0], [1], [0]])
    found = op(x, places, 2)
    assert found.template == x.template
    assert found.tolist() == op(x, places, tb.full(3, 2, dtype="int8")).tolist()
    assert op(x, places, 2.5).dtype == tb.float32
    assert tb.jit(lambda x: op(x, places, 2))(x).tolist() == found.tolist()


def test_events_are_counted_by_segment() -> None:
    events, segments = tb.asarray([True, True, False, False]), tb.asarray([0, 0, 1, 0])
    counts = tb.segment_sum(events, segments, size=2)
    assert (counts.dtype, counts.tolist()) == (tb.int64, [2, 0])
    assert tb.segment_prod(events, segments, size=2).tolist() == [0, 0]
