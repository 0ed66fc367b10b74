"""`aligned`, `split_axis` and `merge_axes`."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import AxisError, NamesError, ShapeError


def counted(**sizes: int) -> tb.Tensor:
    return tb.iota(tuple(sizes.values()), names=tuple(sizes), dtype="f32")


def test_aligned_takes_the_order_of_the_tensor_that_has_all_names() -> None:
    scale, x, y = counted(feature=3), counted(batch=2, feature=3), counted(feature=3, batch=2)
    tensors = tb.aligned(scale, x, y, 2.0)
    assert [tensor.names for tensor in tensors] == [("batch", "feature")] * 3 + [()]
    assert [tensor.shape for tensor in tensors] == [(1, 3), (2, 3), (2, 3), ()]
    expected_sum = np.asarray(x) + np.asarray(y).T + np.asarray(scale) + 2
    assert tb.add(tensors[0] + tensors[1], tensors[2] + tensors[3]).tolist() == expected_sum.tolist()
    assert tb.where(*tb.aligned(scale > 0, x, y)).names == ("batch", "feature")


def test_aligned_makes_an_outer_product_only_when_asked() -> None:
    a, b = counted(a=2, shared=3), counted(shared=3, b=4)
    with pytest.raises(NamesError, match=r"aligned: expected a tensor with all names, .*; pass outer=True"):
        tb.aligned(a, b)
    first, second = tb.aligned(a, b, outer=True)
    assert (first * second).names == ("a", "shared", "b")
    gradient = tb.grad(lambda a: tb.sum(tb.multiply(*tb.aligned(a, b, outer=True))))(a)
    assert gradient.template is a.template


def test_aligned_of_sizes_and_names_that_do_not_fit() -> None:
    with pytest.raises(ShapeError, match=r"aligned: expected one size for the axis 'n', got sizes=\(2, 3\)"):
        tb.aligned(counted(n=2), counted(n=3))
    assert [x.shape for x in tb.aligned(counted(n=1), counted(n=3))] == [(1,), (3,)]
    with pytest.raises(NamesError, match="aligned: expected a name for every axis"):
        tb.aligned(counted(n=2), tb.ones(2))


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_axes_are_split_and_merged_by_name(backend: str) -> None:
    x = counted(batch=2, time=3, feature=8).backend_copy(backend)
    heads = tb.split_axis(x, "feature", {"head": 2, "unit": -1})
    assert heads.names == ("batch", "time", "head", "unit")
    assert np.array_equal(heads, np.asarray(x).reshape(2, 3, 2, 4))
    assert tb.merge_axes(heads, ("head", "unit"), name="feature").tolist() == x.tolist()
    rows = tb.merge_axes(heads, ("unit", "batch"), name="row")
    assert rows.names == ("time", "head", "row")
    assert np.array_equal(rows, np.asarray(heads).transpose(1, 2, 3, 0).reshape(3, 2, 8))
    assert tb.split_axis(x, 1, (3, 1)).names == ("batch", None, None, "feature")
    assert tb.split_axis(x, 1, (3, 1), names=("step", None)).names == ("batch", "step", None, "feature")
    assert tb.split_axis(tb.zeros((0, 4), backend=backend), 0, (0, 5)).shape == (0, 5, 4)


X = counted(batch=2, feature=6)
WRONG: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: tb.split_axis(X, "unit", (2, 3)), AxisError, "split_axis: expected an axis name"),
    (lambda: tb.split_axis(X, "feature", (4, -1)), ShapeError, "split_axis: expected sizes whose product is 6"),
    (lambda: tb.split_axis(X, "feature", (-1, -1)), ShapeError, "one of them may be -1"),
    (lambda: tb.split_axis(X, "feature", {"batch": 2, "n": 3}), NamesError, "each name once"),
    (lambda: tb.split_axis(X, "feature", {"a": 2, "n": 3}, names=("b", "c")), NamesError, "not in both"),
    (lambda: tb.split_axis(X, "feature", (2, 3), names=("a",)), NamesError, "split_axis: expected 2 names"),
    (lambda: tb.merge_axes(X, ("batch", "batch")), AxisError, "merge_axes: expected each axis"),
    (lambda: tb.merge_axes(X, ()), ShapeError, "merge_axes: expected at least one axis"),
    (lambda: tb.merge_axes(X, ("batch",), name="feature"), NamesError, "each name once"),
]


@pytest.mark.parametrize(("wrong", "error", "text"), WRONG)
def test_what_cannot_be_split_or_merged(wrong: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        wrong()
