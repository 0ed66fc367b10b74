"""Loops that end separately for each example: `scan` along an axis with lengths, and `unroll`."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

import tensorbackend as tb
from tensorbackend import ragged as tr
from tensorbackend.errors import AxisError, DTypeError, NamesError, OperandError

X = tr.from_list([[1.0, 2.0, 3.0], [4.0]])
START = tb.zeros(2, names=("batch",))


def test_scan_ends_with_each_example() -> None:
    last, before = tr.scan(lambda carry, x: (carry * 2 + x, carry), START, X, axis="time")
    assert last.tolist() == [11.0, 4.0]
    assert [row.tolist() for row in tr.to_list(before)] == [[0.0, 1.0, 4.0], [0.0]]


def test_scan_from_the_ends() -> None:
    last, _ = tr.scan(lambda carry, x: (carry * 2 + x, None), START, X, axis="time", reverse=True)
    assert last.tolist() == [17.0, 4.0]


def test_scan_carries_what_all_share_and_takes_several() -> None:
    carry, ys = tr.scan(
        lambda carry, xs: ((carry[0] + xs[0] * xs[1], carry[1] + 1), {"product": xs[0] * xs[1]}),
        (START, tb.asarray(0)),
        [X, X + 1],
        axis="time",
    )
    assert carry[0].tolist() == [20.0, 20.0]
    assert carry[1].item() == 3
    assert tr.to_list(ys["product"])[0].tolist() == [2.0, 6.0, 12.0]


class Pair(NamedTuple):
    product: Any
    total: Any


@pytest.mark.parametrize("kind", [list, tuple, Pair, dict])
def test_scan_stacks_each_kind_of_result(kind: Any) -> None:
    def step(carry: tb.Tensor, x: tb.Tensor) -> tuple[tb.Tensor, Any]:
        parts = (x * 2, x + 1)
        return carry, kind(*parts) if kind is Pair else kind(zip("ab", parts, strict=True)) if kind is dict else kind(
            parts
        )

    _, ys = tr.scan(step, START, X, axis="time")
    assert type(ys) is kind
    first, second = ys.values() if kind is dict else ys
    assert [row.tolist() for row in tr.to_list(first)] == [[2.0, 4.0, 6.0], [8.0]]
    assert [row.tolist() for row in tr.to_list(second)] == [[2.0, 3.0, 4.0], [5.0]]


def test_scan_gives_entries_their_own_lengths() -> None:
    values = tb.reshape(tb.iota(8, dtype="f32"), (2, 2, 2), names=("batch", "word", "letter"))
    x = tr.with_lengths(values, word=[2, 1], letter=[[2, 1], [1, 0]])
    total, sums = tr.scan(lambda carry, word: (carry + tr.sum(word, axis="letter"), word * 2), START, x, axis="word")
    assert total.tolist() == [3.0, 4.0]
    assert [[word.tolist() for word in words] for words in tr.to_list(sums)] == [[[0.0, 2.0], [4.0]], [[8.0]]]


def test_the_gradient_of_a_scan_knows_no_padding() -> None:
    def loss(values: tb.Tensor) -> tb.Tensor:
        step = lambda carry, x: (carry + tb.log(x), None)  # noqa: E731
        last, _ = tr.scan(step, START, tr.with_lengths(values, **X.lengths), axis="time")
        return tb.sum(last)

    slope = tb.grad(loss)(tb.asarray([[1.0, 2.0, 4.0], [4.0, 0.0, tb.nan]], names=("batch", "time")))
    assert isinstance(slope, tb.Tensor)
    assert slope.tolist() == [[1.0, 0.5, 0.25], [0.25, 0.0, 0.0]]


@pytest.mark.parametrize("pole", [0.0, 1.0, -1.0])
def test_the_function_of_a_scan_gets_no_number_that_is_not_in_the_example(pole: float) -> None:
    """Padding may not be where a function has a pole: its slope there would be NaN in the gradient of a parameter."""

    def loss(pole: tb.Tensor) -> tb.Tensor:
        last, _ = tr.scan(lambda carry, x: (carry + tb.log(x - pole), None), START, X + 1, axis="time")
        return tb.sum(last)

    slope = tb.grad(loss)(tb.asarray(pole))
    assert isinstance(slope, tb.Tensor)
    assert slope.item() == pytest.approx(sum(-1 / (x - pole) for x in (2.0, 3.0, 4.0, 5.0)))


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_unroll_stops_with_the_last_example(backend: str) -> None:
    start = tb.asarray([3, 0, 1], names=("batch",), backend=backend)

    def count(carry: Any) -> Any:
        left, iterations = carry
        return (left - 1, iterations + 1), {"left": left}, left <= 0

    unrolled = tr.unroll(count, (start, 0), limit=9)
    assert unrolled.outputs["left"].shape == (9, 3)
    assert unrolled.outputs["left"].lengths["time"].tolist() == [4, 1, 2]
    assert [row.tolist() for row in tr.to_list(unrolled.outputs["left"])] == [[3, 2, 1, 0], [0], [1, 0]]
    assert unrolled.carry[0].tolist() == [-1, -1, -1]
    assert unrolled.carry[1].item() == 4  # all examples share it; no iteration runs after the last example ends


def test_unroll_ends_at_its_limit() -> None:
    unrolled = tr.unroll(lambda n: (n + 1, n, n < 0), tb.asarray(0), limit=3)
    assert tr.to_list(unrolled.outputs).tolist() == [0, 1, 2]
    assert tr.unroll(lambda n: (n + 1, n, n < 0), tb.asarray(0), limit=0).outputs.lengths["time"].item() == 0


def test_unroll_is_compiled_and_has_a_gradient() -> None:
    def total(x: tb.Tensor) -> tb.Tensor:
        outputs = tr.unroll(lambda y: (y * x, y * x, y * x > 10), x, limit=6).outputs
        return tb.sum(tr.sum(outputs, axis="time"))

    x = tb.asarray([2.0, 4.0], names=("batch",))
    assert tb.jit(total)(x).item() == 4 + 8 + 16 + 16
    slope = tb.grad(total)(x)
    assert isinstance(slope, tb.Tensor)
    assert slope.tolist() == [4 + 12 + 32, 8.0]


def test_mistakes_in_loops() -> None:
    with pytest.raises(AxisError, match="an axis with lengths"):
        tr.scan(lambda carry, x: (carry, x), START, X, axis="batch")
    with pytest.raises(AxisError, match="results with the axes"):
        tr.scan(lambda carry, x: (carry, tb.sum(x)), START, X, axis="time")
    with pytest.raises(OperandError, match="a pair"):
        tr.scan(lambda carry, x: carry, START, X, axis="time")
    with pytest.raises(OperandError, match=r"\(carry, y, ends\)"):
        tr.unroll(lambda n: (n, n), tb.asarray(0), limit=3)
    with pytest.raises(DTypeError, match="ends of dtype bool"):
        tr.unroll(lambda n: (n, n, n), tb.asarray(0), limit=3)
    with pytest.raises(NamesError, match="ends over axes with names"):
        tr.unroll(lambda n: (n, n, n > 0), tb.asarray([0]), limit=3)
    with pytest.raises(AxisError, match="a y with the axes"):
        tr.unroll(lambda n: (n, tb.sum(n), n > 0), START, limit=3)
