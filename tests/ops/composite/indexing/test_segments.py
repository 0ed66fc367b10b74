"""Reductions of entries with equal segments, compared with Python loops, and their gradients."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tensorbackend as tb

BACKENDS = ["binary", "numpy", "jax"]
SEGMENTS = [2, 0, 2, 3, 0, 2]
SIZE = 5

OF_NUMBERS: dict[Callable[..., tb.Tensor], Callable[[list[float]], float]] = {
    tb.segment_sum: sum,
    tb.segment_prod: math.prod,
    tb.segment_max: lambda numbers: max(numbers, default=-math.inf),
    tb.segment_min: lambda numbers: min(numbers, default=math.inf),
    tb.segment_mean: lambda numbers: sum(numbers) / len(numbers) if numbers else math.nan,
    tb.segment_nanmean: lambda numbers: sum(numbers) / len(numbers) if numbers else math.nan,
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


def test_vmap_and_jit() -> None:
    x, segments = tb.asarray([[1.0, 2.0, 4.0], [3.0, 0.0, 1.0]]), tb.asarray([[1, 0, 1], [0, 0, 1]])

    def greatest(x: tb.Tensor, segments: tb.Tensor) -> tb.Tensor:
        return tb.segment_max(x, segments, size=2, mode="clip")

    maxima = tb.jit(tb.vmap(greatest))(x, segments)
    assert isinstance(maxima, tb.Tensor)
    assert maxima.tolist() == [[2.0, 4.0], [3.0, 1.0]]


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


def test_events_are_counted_by_segment() -> None:
    events, segments = tb.asarray([True, True, False, False]), tb.asarray([0, 0, 1, 0])
    counts = tb.segment_sum(events, segments, size=2)
    assert (counts.dtype, counts.tolist()) == (tb.int64, [2, 0])
    assert tb.segment_prod(events, segments, size=2).tolist() == [0, 0]
