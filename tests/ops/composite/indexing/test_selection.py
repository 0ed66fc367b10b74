"""Selecting and repeating entries, with a result size that is given in advance and without one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tensorbackend as tb

BACKENDS = ["binary", "numpy", "jax"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_repeats_to_a_size(backend: str, whole: Callable[..., Any]) -> None:
    x = tb.asarray([[1, 2, 3], [4, 5, 6]], names=("row", "column"), backend=backend)
    counts = tb.asarray([2, 0, 1], backend=backend)
    rows: Any = {3: [1, 1, 3], 5: [1, 1, 3, 3, 3], 2: [1, 1], 0: []}
    repeat = whole(lambda x, counts: [tb.repeat(x, counts, axis="column", size=size) for size in rows])
    for repeated, row in zip(repeat(x, counts), rows.values(), strict=True):
        assert repeated.tolist()[0] == row
        assert repeated.names == ("row", "column")
    assert tb.repeat(x[0], 2, size=4).tolist() == [1, 1, 2, 2]


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_compiled_repeats_know_their_shape(backend: str) -> None:
    rows = tb.asarray([0, 2, 3, 3, 6], backend=backend)  # the starts of the rows of a CSR matrix
    numbers = tb.jit(lambda rows: tb.repeat(tb.arange(4), tb.diff(rows), size=6))(rows)
    assert numbers.tolist() == [0, 0, 1, 3, 3, 3]


def test_repeats_that_do_not_fit() -> None:
    x = tb.asarray([1, 2, 3])
    with pytest.raises(tb.errors.ShapeError, match="one integer, or 3, as repeats"):
        tb.repeat(x, [1, 2], size=3)
    with pytest.raises(tb.errors.ShapeError, match=r"at least one entry along axis 0 of .* to repeat up to the size"):
        tb.repeat(x[:0], tb.asarray([], dtype="int64"), size=2)
    with pytest.raises(tb.errors.ArgumentError, match="an int of at least 0 as size"):
        tb.repeat(x, [1, 2, 3], size=-1)


@pytest.mark.parametrize("backend", BACKENDS)
def test_compress_is_numpys_and_knows_a_size(backend: str) -> None:
    values = numpy.arange(24.0).reshape(2, 3, 4)
    x = tb.asarray(values, names=("a", "b", "c"), backend=backend)
    holds = tb.asarray([True, False, True], names=("b",), backend=backend)
    assert tb.compress(holds, x, axis="b").tolist() == values.compress([True, False, True], axis=1).tolist()
    wide = tb.jit(lambda holds, x: tb.compress(holds, x, axis="b", size=3, fill_value=-1))(holds, x)
    assert wide.names == ("a", "b", "c")
    assert [row[0] for row in wide.tolist()[0]] == [0, 8, -1]


def test_a_condition_for_each_entry() -> None:
    x = tb.zeros((2, 3), names=("row", "column"))
    with pytest.raises(tb.errors.ShapeError, match="expected a condition for each of the 3 entries"):
        tb.compress(tb.asarray([True]), x, axis="column")
    with pytest.raises(tb.errors.NamesError):
        tb.compress(tb.asarray([True, True], names=("column",)), x, axis="row")


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("transform", ["none", "transpose"])
def test_a_unit_diagonal_is_not_read(lower: bool, transform: str) -> None:
    drawn = numpy.random.default_rng(0).standard_normal((2, 4, 4))
    numpy.einsum("...ii->...i", drawn)[:] = 0  # a zero diagonal, which would raise if it were read
    ones = (numpy.tril if lower else numpy.triu)(drawn) + numpy.eye(4)
    b = tb.asarray(numpy.ones((2, 4, 3)))
    options = {"lower": lower, "transform": transform}
    solution = tb.linalg.triangular_solve(tb.asarray(drawn), b, unit_diagonal=True, **options)  # type: ignore[arg-type]
    reference = tb.linalg.triangular_solve(tb.asarray(ones), b, **options)  # type: ignore[arg-type]
    assert solution.tolist() == reference.tolist()


def test_a_fill_value_of_bools_is_a_number() -> None:
    x = tb.asarray([True, False])
    assert tb.compress(x, x, size=3, fill_value=1).tolist() == [True, True, True]
    with pytest.raises(tb.errors.TensorBackendError, match=r"fill_value|number"):
        tb.compress(x, x, size=3, fill_value=object())  # type: ignore[arg-type] # which is the point
