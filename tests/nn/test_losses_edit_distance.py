"""Edit distances against the textbook's dynamic programming table."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import DTypeError, NamesError, ShapeError


def by_hand(a: list[int], b: list[int]) -> int:
    table = np.zeros((len(a) + 1, len(b) + 1), int)
    table[:, 0], table[0] = range(len(a) + 1), range(len(b) + 1)
    for i, first in enumerate(a):
        for j, second in enumerate(b):
            table[i + 1, j + 1] = min(table[i, j + 1] + 1, table[i + 1, j] + 1, table[i, j] + (first != second))
    return int(table[-1, -1])


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_distances_are_those_of_the_table(backend: str) -> None:
    generator = np.random.default_rng(0)
    x, y = generator.integers(0, 3, (6, 7)), generator.integers(0, 3, (6, 5))
    first, second = [7, 0, 3, 5, 1, 7], [5, 4, 0, 5, 5, 1]
    distances = tb.nn.edit_distance(
        tb.asarray(x, names=("batch", "hypothesis"), backend=backend),
        tb.asarray(y, backend=backend),
        hypothesis_lengths=tb.asarray(first, backend=backend),
        reference_lengths=tb.asarray(second, backend=backend),
    )
    assert distances.names == ("batch",)
    reference = [by_hand(list(a[:n]), list(b[:m])) for a, b, n, m in zip(x, y, first, second, strict=True)]
    assert distances.tolist() == reference


def test_batch_axes_broadcast_and_empty_sequences_count() -> None:
    words = tb.asarray([[1, 2, 3], [1, 1, 1]], names=("batch", "position"))
    assert tb.nn.edit_distance(words, tb.asarray([1, 3])).tolist() == [1, 2]
    assert tb.nn.edit_distance(words, words).tolist() == [0, 0]
    assert tb.nn.edit_distance(words, tb.zeros((0,), dtype="s64")).tolist() == [3, 3]
    assert tb.nn.edit_distance(tb.zeros((0,), dtype="s64"), words).tolist() == [3, 3]
    assert tb.nn.edit_distance(tb.template((2, 3), "s64"), tb.template((4,), "s64")).shape == (2,)
    assert tb.jit(tb.nn.edit_distance)(words, words[::-1]).tolist() == [2, 2]


WRONG: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: tb.nn.edit_distance(tb.ones(3), tb.iota(3)), DTypeError, "edit_distance: expected integers with an axis"),
    (lambda: tb.nn.edit_distance(1, tb.iota(3)), ShapeError, "edit_distance: expected integers with an axis"),
    (lambda: tb.nn.edit_distance(tb.iota((2, 3)), tb.iota((4, 3))), ShapeError, "edit_distance: expected sizes"),
    (
        lambda: tb.nn.edit_distance(tb.iota((2, 3), names=("a", None)), tb.iota((2, 3), names=("b", None))),
        NamesError,
        "edit_distance: expected the same name or None",
    ),
    (
        lambda: tb.nn.edit_distance(tb.iota((2, 3)), tb.iota(3), hypothesis_lengths=tb.ones(2)),
        DTypeError,
        "edit_distance: expected lengths of an integer dtype",
    ),
]


@pytest.mark.parametrize(("wrong", "error", "text"), WRONG)
def test_what_does_not_fit(wrong: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        wrong()
