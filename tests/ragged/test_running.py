"""Running sums, sorting and the k largest elements of each example alone, by NumPy; values equal those that pad."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend import ragged as tr
from tensorbackend.testing import profile

EXTREME: dict[str, list[Any]] = {
    "float32": [math.nan, math.inf, -math.inf, 0.0, 1.0, -2.0],
    "int8": [-128, 127, 0, 1, -1],
    "uint8": [0, 255, 1],
    "bool": [False, True],
}
"""Elements of each dtype, with the numbers that fill the padding before a sort."""


class Drawn:
    """Examples of different lengths, as arrays, and as a tensor with anything in its padding."""

    def __init__(self, data: st.DataObject, dtypes: Iterable[str] = EXTREME) -> None:
        dtype = data.draw(st.sampled_from(sorted(dtypes)))
        element = st.sampled_from(EXTREME[dtype])
        rows = data.draw(st.lists(st.lists(element, max_size=5), min_size=1, max_size=4))
        width = max(map(len, rows)) + data.draw(st.integers(0, 2))
        padding = data.draw(element)
        whole = numpy.asarray([row + [padding] * (width - len(row)) for row in rows], dtype).reshape(len(rows), width)
        self.rows = [numpy.asarray(row, dtype) for row in rows]
        self.width = width
        self.x = tr.with_lengths(tb.asarray(whole, names=("batch", "time")), time=[len(row) for row in rows])


def examples(x: Any) -> list[Any]:
    return [numpy.asarray(row) for row in tr.to_list(x)]


def check(found: Any, expected: list[Any]) -> None:
    """Assert that the examples are equal, zeros of both signs and NaN too."""
    for one, other in zip(examples(found), expected, strict=True):
        numpy.testing.assert_array_equal(one, other)


def order(row: Any, descending: bool) -> Any:
    """The stable order of a row, by Python's sort: NaN is last, or first in descending order."""
    known: list[tuple[int, float]] = [
        (math.isnan(value), 0.0 if math.isnan(value) else value) for value in row.astype("float64").tolist()
    ]
    if descending:
        known = [(-nan, -value) for nan, value in known]
    return numpy.asarray(sorted(range(len(row)), key=lambda at: known[at]), "int64")


@pytest.mark.parametrize("descending", [False, True])
def test_a_sort_is_that_of_each_example(descending: bool) -> None:
    @profile(40)
    @given(st.data())
    def agrees(data: st.DataObject) -> None:
        drawn = Drawn(data)
        orders = [order(row, descending) for row in drawn.rows]
        check(tr.argsort(drawn.x, axis="time", descending=descending), orders)
        check(
            tr.sort(drawn.x, axis="time", descending=descending),
            [row[places] for row, places in zip(drawn.rows, orders, strict=True)],
        )

    agrees()


@profile(40)
@given(st.data())
def test_the_greatest_are_those_of_each_example(data: st.DataObject) -> None:
    drawn = Drawn(data)
    k = data.draw(st.integers(0, drawn.width))
    best = tr.top_k(drawn.x, k, axis="time")
    orders = [order(row, True)[:k] for row in drawn.rows]
    check(best.indices, orders)
    check(best.values, [row[places] for row, places in zip(drawn.rows, orders, strict=True)])


RUNNING: dict[str, Any] = {
    "cumulative_sum": numpy.cumsum,
    "cumulative_prod": numpy.cumprod,
    "cumulative_max": numpy.maximum.accumulate,
    "cumulative_min": numpy.minimum.accumulate,
}


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", sorted(RUNNING))
def test_running_results_are_those_of_each_example(name: str, reverse: bool) -> None:
    turn = slice(None, None, -1 if reverse else 1)

    @profile(40)
    @given(st.data())
    def agrees(data: st.DataObject) -> None:
        drawn = Drawn(data, EXTREME if name in ("cumulative_sum", "cumulative_prod") else {*EXTREME} - {"bool"})
        with numpy.errstate(all="ignore"):
            check(
                getattr(tr, name)(drawn.x, axis="time", reverse=reverse),
                [RUNNING[name](row[turn])[turn] for row in drawn.rows],
            )

    agrees()


@pytest.mark.parametrize("backend", ["binary", "jax", "numpy"])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", ["cumulative_max", "cumulative_min"])
def test_gradients_of_running_extremes_are_those_of_each_example(name: str, reverse: bool, backend: str) -> None:
    infinite = -math.inf if name == "cumulative_max" else math.inf

    @profile(12)
    @given(st.data())
    def agrees(data: st.DataObject) -> None:
        dtype = data.draw(st.sampled_from(["float16", "float32", "float64"]))
        element = st.sampled_from([infinite, -infinite, 0.0, 1.0, float(tb.finfo(tb.float16).max)])
        rows = data.draw(st.lists(st.lists(element, max_size=5), min_size=1, max_size=4))
        whole = numpy.asarray([row + [3.0] * (6 - len(row)) for row in rows])
        lengths = tb.asarray([len(row) for row in rows], names=("batch",), backend=backend)

        def total(values: tb.Tensor) -> tb.Tensor:
            x = tr.with_lengths(values, time=lengths)
            return tb.sum(getattr(tr, name)(x, axis="time", reverse=reverse).filled(0))

        def alone(values: tb.Tensor) -> tb.Tensor:
            return tb.sum(getattr(tb, name)(values, axis=0, reverse=reverse))

        values = tb.asarray(whole, dtype=dtype, names=("batch", "time"), backend=backend)
        for row, entries in zip(rows, numpy.asarray(tb.grad(total)(values)), strict=True):
            assert not entries[len(row) :].any()
            if row:
                expected = tb.grad(alone)(tb.asarray(row, dtype=dtype, backend=backend))
                numpy.testing.assert_array_equal(entries[: len(row)], numpy.asarray(expected))

    agrees()


def test_gradients_of_running_extremes_along_the_batch_skip_the_padding() -> None:
    values = tb.asarray([[1.0, 5.0], [-math.inf, -math.inf], [2.0, -math.inf]], names=("batch", "time"))

    def total(values: tb.Tensor) -> tb.Tensor:
        x = tr.with_lengths(values, time=[1, 2, 2])
        return tb.sum(tr.cumulative_max(x, axis="batch").filled(0)[:, 1])

    assert tb.grad(total)(values).tolist() == [[0.0, 0.0], [0.0, 1.5], [0.0, 0.5]]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", ["time", "batch"])
def test_gradients_of_running_products_are_those_of_each_example(axis: str, reverse: bool) -> None:
    """No infinity among the elements is multiplied by the cotangents of the padding, which are 0."""

    @profile(40)
    @given(st.data())
    def agrees(data: st.DataObject) -> None:
        element = st.sampled_from([math.inf, -math.inf, 0.0, 1.0, -2.0])
        rows = data.draw(st.lists(st.lists(element, max_size=4), min_size=1, max_size=4))
        width = max(map(len, rows)) + 1
        padding = data.draw(element)
        values = numpy.asarray([row + [padding] * (width - len(row)) for row in rows])
        lengths = tb.asarray([len(row) for row in rows], names=("batch",))

        def total(values: tb.Tensor) -> tb.Tensor:
            x = tr.with_lengths(values, time=lengths)
            return tb.sum(tr.cumulative_prod(x, axis=axis, reverse=reverse).filled(0))

        found = numpy.asarray(tb.grad(total)(tb.asarray(values, names=("batch", "time"))))
        inside = numpy.arange(width) < numpy.asarray(lengths)[:, None]
        assert not found[~inside].any()
        lines = zip(*((x.T if axis == "batch" else x) for x in (values, found, inside)), strict=True)
        for line, slopes, chosen in lines:
            alone = tb.grad(lambda x: tb.sum(tb.cumulative_prod(x, axis=0, reverse=reverse)))(tb.asarray(line[chosen]))
            numpy.testing.assert_array_equal(slopes[chosen], numpy.asarray(alone))

    agrees()


@pytest.mark.parametrize("backend", ["binary", "jax", "numpy"])
def test_padding_changes_neither_infinities_nor_zeros(backend: str) -> None:
    products = tr.with_lengths(
        tb.asarray([[complex(math.inf, 3), 1], [2, complex(0, math.inf)]], names=("batch", "time"), backend=backend),
        time=[1, 2],
    )
    for axis, place in (("time", (0, 0)), ("batch", (1, 1))):
        found = numpy.asarray(tr.cumulative_prod(products, axis=axis, reverse=axis == "time").values)[place]
        assert found == complex(math.inf, 3) if axis == "time" else found == complex(0, math.inf)
    zeros = tr.with_lengths(
        tb.asarray([[-0.0, 1.0], [-0.0, -0.0]], names=("batch", "time"), backend=backend), time=[1, 2]
    )
    found = numpy.asarray(tr.cumulative_sum(zeros, axis="time", reverse=True).filled(-0.0))
    assert numpy.signbit(found).all()
