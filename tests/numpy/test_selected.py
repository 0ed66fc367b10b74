"""Masks in traces: writes to the elements at a mask, and updates of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy as np
from tensorbackend.errors import TemplateDataError


def plus(x: Any) -> None:
    x[x > 1] += 1


def all_operators(x: Any) -> None:
    mask = x > 1
    x[mask] -= 0.5
    x[mask] *= 2
    x[mask] /= 3
    x[mask] **= 2
    x[mask] = 1 - -x[mask] % 2 + abs(x[mask]) // 0.5


def of_another(x: Any) -> None:
    y, mask = x * 2, (x > 1) & (x < 4)
    x[mask] = y[mask] - x[mask]


def twice_computed(x: Any) -> None:
    x[x > 1] = x[x > 1] * 3


def row(x: Any) -> None:
    last = x[-1]
    last[last > 1] = 0


def row_plus(x: Any) -> None:
    last = x[-1]
    last[last > 1] += 1


def element(x: Any) -> None:
    x[-1, x[-1] > 1] = 5.0


def column(x: Any) -> None:
    x[:, x[0] > 0] = 7.0


def rows(x: Any) -> None:
    x[x[:, 0] > 1] = numpy.arange(3.0)


def some_rows(x: Any) -> None:
    x[x[:, 0] > 1] *= 2


def slices(x: Any) -> None:
    x[:, 1:][x[:, 1:] > 2] = -1


def steps(x: Any) -> None:
    x[::2, x[0] > 0] = 2.0


def whole_numbers(x: Any) -> None:
    counts = x.astype(int)
    counts[counts > 2] += 3
    x[...] = counts


PROGRAMS: list[Callable[[Any], None]] = [
    plus, all_operators, of_another, twice_computed, row, row_plus, element, column, rows, some_rows, slices, steps,
    whole_numbers,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_with_masks_give_numpys_arrays(program: Callable[[Any], None]) -> None:
    for seed in range(5):
        words = numpy.random.default_rng(seed).integers(-1, 6, (3, 3)).astype(float)
        expected = words.copy()
        program(expected)

        def returns(x: Any) -> Any:
            program(x)
            return x

        for wrap in (tb.jit, lambda f: lambda x: tb.vmap(f)(x[None])[0]):
            numpy.testing.assert_array_equal(numpy.asarray(wrap(returns)(np.array(words))), expected)
        slopes = numpy.asarray(tb.grad(lambda x: np.sum(returns(x * 1.0)))(np.array(words)))
        assert slopes.shape == words.shape


def test_other_uses_of_elements_at_a_mask_are_refused() -> None:
    uses: list[Callable[[Any], Any]] = [
        lambda x: np.sum(x[x > 1]),
        lambda x: x[x > 1].sum(),
        lambda x: x[x > 1] > 2,
        lambda x: x[x > 1] + np.arange(3.0),
        lambda x: x[x > 1] + x[x > 2],
        lambda x: len(x[x > 1]),
        lambda x: x.__setitem__(x > 2, x[x > 1]),
        lambda x: np.concatenate([x[x > 1], x]),
    ]
    for use in uses:
        with pytest.raises(TemplateDataError, match="expected a mask with data"):
            tb.jit(use)(np.arange(4.0))


def test_the_positive_of_selected_elements_is_these() -> None:
    def written(x: np.ndarray) -> np.ndarray:
        x[x > 1] = +x[x > 1] * 2
        return x

    assert tb.jit(written)(np.arange(4.0)).tolist() == [0.0, 1.0, 4.0, 6.0]
