"""Arguments of a gradient of which parts have none."""

from __future__ import annotations

from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, DTypeError


def test_what_has_no_gradient_beside_what_has_one_is_0_or_kept() -> None:
    argument = {"x": tb.asarray([1.0, 2.0]), "count": 3, "flag": True, "places": tb.asarray([1, 0]), "word": "sum"}
    gradient: Any = tb.grad(lambda part: tb.sum(part["x"][part["places"]] ** 2) * part["count"])(argument)
    assert gradient["x"].tolist() == [6.0, 12.0]
    assert (gradient["count"], gradient["flag"], gradient["word"]) == (0, False, "sum")
    assert (gradient["places"].dtype, gradient["places"].tolist()) == (tb.int64, [0, 0])


@pytest.mark.parametrize("format", ["coo", "csr", "csc"])
def test_the_gradient_of_a_sparse_matrix_has_its_places(format: str) -> None:
    matrix = getattr(tb.sparse.from_dense([[0.0, 2.0], [3.0, 5.0]]), f"to_{format}")()
    gradient: Any = tb.grad(lambda a: tb.sum(a @ tb.asarray([1.0, 10.0])))(matrix)
    assert gradient.format == format
    assert gradient.to_dense().tolist() == [[0.0, 10.0], [1.0, 10.0]]
    both: Any = tb.grad(lambda a, b: tb.sum((a + b) @ tb.ones(2)), argnums=(1, 0))(matrix, matrix)
    assert [part.to_dense().tolist() for part in both] == [[[0.0, 1.0], [1.0, 1.0]]] * 2


def test_which_arguments_may_have_a_gradient() -> None:
    def product(x: Any, n: Any, y: Any) -> Any:
        return x * n * y

    two, three = tb.asarray(2.0), tb.asarray(3.0)
    by_last: Any = tb.grad(product, argnums=(-1, 0))(two, 5, three)
    assert [part.item() for part in by_last] == [10.0, 15.0]
    with pytest.raises(DTypeError, match="to be floating or complex for a gradient"):
        tb.grad(product, argnums=1)(two, 5, three)
    for argnums, text in ((3, "argnums from 0 to 2"), ((0, -3), "each of argnums once")):
        with pytest.raises(ArgumentError, match=f"expected {text}, got argnums="):
            tb.grad(product, argnums=argnums)(two, 5, three)
