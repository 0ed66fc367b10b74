"""Updates that are combined with the elements at their places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.errors import NamesError

BACKENDS = ["binary", "numpy", "jax"]


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


@pytest.mark.parametrize("op", [tb.indexed_max, tb.indexed_min, tb.indexed_prod, tb.indexed_add, tb.indexed_put])
def test_a_python_number_as_update_keeps_the_dtype(op: Callable[..., tb.Tensor]) -> None:
    x, places = tb.asarray([1, 5, 3], dtype="int8"), tb.asarray([[0], [1], [0]])
    found = op(x, places, 2)
    assert found.template == x.template
    assert found.tolist() == op(x, places, tb.full(3, 2, dtype="int8")).tolist()
    assert op(x, places, 2.5).dtype == tb.float32
    assert tb.jit(lambda x: op(x, places, 2))(x).tolist() == found.tolist()


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
