"""The values that an assignment writes: the last for a place, rounded and checked as by `put_at`; none if it is bad."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.backends.numpy_backend import NumpyBackend
from tensorbackend.errors import (
    ContractError,
    DTypeError,
    IndexRangeError,
    NamesError,
    OutOfRangeError,
    ShapeError,
    TensorBackendError,
)
from tensorbackend.ops.indexing import assignment
from tensorbackend.protocol.indexing import Write

BACKENDS = ["binary", "numpy", "jax"]
DATA = np.arange(12, dtype="float32").reshape(3, 4) + 1


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_last_of_several_values_for_one_place_stays(backend: str) -> None:
    """In row-major order, whatever the memory layout of the indices and the values."""
    indices, values = np.array([[0, 0, 1], [1, 0, 0]]), np.arange(6).reshape(2, 3)
    turns: list[Callable[[Any], Any]] = [lambda a: a, np.transpose, lambda a: a[::-1], lambda a: a[:, ::-1]]
    for turn, flip in product(turns, repeat=2):
        if turn(indices).shape != flip(values).shape:
            continue
        reference = [0, 0]
        for index, value in zip(turn(indices).reshape(-1), flip(values).reshape(-1), strict=True):
            reference[index] = int(value)
        x, table = tb.zeros(2, dtype="int64", backend=backend), tb.zeros((2, 2), dtype="int64", backend=backend)
        key = tb.asarray(turn(indices), backend=backend)
        for _ in range(2):
            x[key] = tb.asarray(flip(values), backend=backend)
            table[key, key] = tb.asarray(flip(values), backend=backend)
            assert x.tolist() == reference
            assert [table.tolist()[0][0], table.tolist()[1][1]] == reference


WRONG: list[tuple[Any, Any, type[TensorBackendError]]] = [
    (3, 1.0, IndexRangeError),
    (-4, 1.0, IndexRangeError),
    ((0, 4), 1.0, IndexRangeError),
    ((0, 0, 0), 1.0, IndexRangeError),
    ([0, 3], 1.0, IndexRangeError),
    ([0, -4], 1.0, IndexRangeError),
    (np.array([0, 2**63], "uint64"), 1.0, IndexRangeError),
    ([True, False], 1.0, IndexRangeError),
    (0, 1e39, OutOfRangeError),
    (0, 10**400, OutOfRangeError),
    (0, 1j, DTypeError),
    (0, [1.0, 2.0], ShapeError),
    (0, np.ones((1, 1, 4), "float32"), ShapeError),
    (slice(0, 2), np.ones((3, 4), "float32"), ShapeError),
    ([0, 1], np.ones((3, 4), "float32"), ShapeError),
    (DATA > 5, np.ones(3, "float32"), ShapeError),
    (0, tb.ones(4, names=("n",)), NamesError),
]


@pytest.mark.parametrize(("key", "value", "error"), WRONG)
def test_wrong_assignments_change_nothing(key: Any, value: Any, error: type[TensorBackendError]) -> None:
    for backend in ("numpy", "binary"):
        x = tb.tensor(DATA, names=("row", "column"), backend=backend) * 1
        right = {IndexRangeError: (0, value), OutOfRangeError: (key, 1.0)}.get(error, (key, 0.0))
        texts = set()
        for _ in range(2):
            x[right[0]] = right[1] if not isinstance(right[1], complex) else 1.0
            before = np.array(x)
            with pytest.raises(error) as told:
                x[key] = value
            assert np.array_equal(x, before)
            with pytest.raises(error) as put:
                tb.put_at(x, key, value)
            assert type(told.value.__context__) is type(put.value.__context__)
            texts |= {str(raised.value).removeprefix("put_at").removeprefix("setitem") for raised in (told, put)}
        assert len(texts) == 1


def test_numbers_are_rounded_and_checked_as_put_at_does() -> None:
    whole = [0, 1, -1, 255, 256, 2**31, 2**53 + 1, 2**63, 2**64, True, False, np.int8(3)]
    floats = [-0.0, 0.1, 65504.0, 65519.9, 65520.0, 3.5e38, 1e-50, math.inf, -math.inf, math.nan, np.float64(0.1)]
    for dtype, key in product(tb.dtypes.ALL_DTYPES, [1, slice(0, 2), (...,)]):
        x = tb.zeros(3, dtype=dtype)
        for number in [*whole, *floats, 1j, 1 + 0j] * 2:
            wanted = outcome(lambda: tb.put_at(x, key, number).to_binary())  # noqa: B023 # called at once

            def assign() -> bytes:
                with np.errstate(all="raise"):
                    x[key] = number  # noqa: B023
                return x.to_binary()  # noqa: B023

            assert outcome(assign) == wanted


def outcome(function: Callable[[], bytes]) -> bytes | str:
    """The bytes that a function returns, or the text of its error."""
    try:
        return function()
    except TensorBackendError as error:
        return str(error)


@pytest.mark.parametrize("backend", ["binary", "numpy"])
def test_an_assignment_casts_no_operands(backend: str) -> None:
    x = tb.zeros(3, backend=backend)
    with tb.precision(64, cast=True):
        for key in (0, [1], x == 0):
            x[key] = 2.0
            x[key] = tb.asarray(3.0, backend=backend)
    assert backend == "binary" or x.data.dtype == np.float32
    assert x.tolist() == [3.0] * 3


def test_checked_mode_compares_with_put_at(monkeypatch: pytest.MonkeyPatch) -> None:
    class Careless(NumpyBackend):
        name = "careless"

        def assignment(self, x: tb.Template, structure: tuple[Any, ...], value: tb.Template | type, /) -> Write | None:
            def write(x: tb.Tensor, key: Any, value: Any) -> None:
                x.data = x.data + 1

            return write

    monkeypatch.setattr(assignment, "CHECKED", True)
    x = tb.zeros(3, backend=Careless())
    x[0] = 1.0
    with pytest.raises(ContractError, match="to write what put_at returns"):
        x[0] = 2.0
