"""Axis names: axes named like parameters, name conflicts in products, and names that ops which move elements keep."""

from collections.abc import Callable
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, NamesError, ShapeError


def ones(**sizes: int) -> tb.Tensor:
    """Return ones with these axes."""
    return tb.ones(tuple(sizes.values()), names=tuple(sizes))


@pytest.mark.parametrize("name", ["x", "self", "names", "keys", "renamed", "expectation", "remedy", "key"])
def test_an_axis_may_have_any_name(name: str) -> None:
    x = tb.zeros((2, 3), names=(name, "other"))
    assert x.isel(**{name: 0}).names == tb.isel(x, **{name: 0}).names == ("other",)
    assert x.rename(**{name: "a"}).names == tb.rename(x, **{name: "a"}).names == ("a", "other")
    with pytest.raises(ShapeError, match=f"{name}="):
        x.isel(**{name: None}, other=[0])


MIX_UPS: list[tuple[Callable[[], Any], str]] = [
    (lambda: ones(row=2, feature=3) @ ones(unit=3, out=4), r"left=f32\[row: 2\]\[feature: 3\], right=f32\[unit: 3\]"),
    (lambda: ones(a=3) @ ones(b=3), "matmul: expected the same name or None for matching axes"),
    (lambda: ones(n=2, a=3, k=4) @ ones(m=2, k=4, b=5), r"left=f32\[n: 2\]\[a: 3\]\[k: 4\], right=f32\[m: 2\]"),
    (lambda: tb.vecdot(ones(a=3), ones(b=3)), "vecdot: "),
    (lambda: tb.vecdot(ones(n=2, a=3), ones(m=2, a=3)), r"left=f32\[n: 2\]\[a: 3\], right=f32\[m: 2\]\[a: 3\]"),
    (lambda: tb.tensordot(ones(a=2, b=3), ones(c=3, d=4), axes=1), "tensordot: "),
    (lambda: tb.einsum("nk,km->nm", ones(n=2, a=3), ones(b=3, m=4)), "einsum: "),
    (lambda: tb.einsum("row feature, feature unit -> row unit", ones(n=2, feature=3), ones(feature=3, unit=4)), "row"),
    (lambda: tb.conv(ones(n=1, time=2, c=5), ones(out=1, c=2, time=3)), "conv: "),
    (lambda: tb.linalg.solve(ones(a=2, n=2, m=2), ones(b=2, n=2, k=3)), r"left=f32\[a: 2\]\[n: 2\]\[m: 2\], right="),
]


@pytest.mark.parametrize(("product", "text"), MIX_UPS)
def test_products_refuse_axes_of_two_names(product: Callable[[], Any], text: str) -> None:
    with pytest.raises(NamesError, match=text):
        product()


def test_errors_show_the_operands_as_they_came() -> None:
    with pytest.raises(ShapeError, match=r"left=f32\[2\]\[3\]\[3\], right=f32\[4\]\[3\]\[1\]"):
        tb.linalg.solve(tb.ones((2, 3, 3)), tb.ones((4, 3, 1)))
    with pytest.raises(ShapeError, match=r"left=f32\[2\]\[3\]\[3\], right=f32\[4\]\[3\]\[1\]"):
        tb.matmul(tb.ones((2, 3, 3)), tb.ones((4, 3, 1)))


def test_products_pair_axes_that_are_given_whatever_their_names() -> None:
    x, y = ones(n=2, a=3), ones(b=3, m=4)
    assert tb.dot(x, y, contract=(["a"], ["b"])).names == ("n", "m")
    assert tb.tensordot(x, y, axes=([1], [0])).names == ("n", "m")
    assert (x @ y.rename(None, "m")).names == ("n", "m")
    assert tb.einsum("ii->i", ones(n=2, m=2)).names == ("n",)


def test_einsum_with_an_ellipsis() -> None:
    a, b = tb.iota((5, 2, 3), dtype="f32"), tb.iota((3, 4), dtype="f32")
    reference = (a @ b).tolist()
    assert tb.einsum("...nk,km->...nm", a, b).tolist() == tb.einsum("...ik,kj", a, b).tolist() == reference
    stacked = tb.einsum("...nk,...km->...nm", a[:, None], tb.stack([b, b]))
    assert stacked.tolist() == (a[:, None] @ tb.stack([b, b])).tolist()
    assert tb.einsum("...->...", a).tolist() == a.tolist()
    assert tb.einsum("...i->...", ones(batch=2, k=3)).names == ("batch",)
    assert tb.einsum("...,...->...", tb.ones((1, 3)), tb.ones((2, 1))).shape == (2, 3)
    with pytest.raises(ShapeError, match=r"einsum: expected sizes that broadcast in \.\.\."):
        tb.einsum("...k,...k->...", tb.ones((2, 3)), tb.ones((4, 3)))
    with pytest.raises(ArgumentError, match=r"einsum: expected \.\.\. in the result"):
        tb.einsum("...k->k", a)
    with pytest.raises(ArgumentError, match="einsum: expected at most 2 letters and one"):
        tb.einsum("...ijk->i", b)


def test_einsum_with_names() -> None:
    x, weight = tb.ones((2, 5, 3)), ones(feature=3, unit=4)
    result = tb.einsum("batch time feature, feature unit -> batch unit time", x, weight)
    assert result.template == tb.Template((2, 4, 5), "f32", ("batch", "unit", "time"))
    assert tb.einsum("... feature, feature unit -> ... unit", x, weight).names == (None, None, "unit")
    assert tb.einsum("row row -> row", tb.ones((3, 3))).template == tb.Template((3,), "f32", ("row",))
    assert tb.einsum("n k, k m -> n m", tb.ones((2, 3)), tb.ones((3, 4))).names == (None, None)


@pytest.mark.parametrize("indices", [[1, 0], tb.asarray([1, 0]), tb.asarray([1, 0], names=("pick",))])
def test_take_names_as_indexing_does(indices: Any) -> None:
    x = ones(row=2, column=3)
    assert tb.take(x, indices, axis="column").names == x[:, indices].names
    assert tb.take(x, tb.zeros((2, 2), dtype="s64"), axis="column").names == ("row", None, None)


RESHAPES: list[tuple[tuple[int, ...], tuple[int, ...], tuple[str | None, ...]]] = [
    ((2, 3, 4), (6, 4), (None, "c")),
    ((2, 3, 4), (2, 12), ("a", None)),
    ((2, 3, 4), (2, 3, 2, 2), ("a", "b", None, None)),
    ((2, 3, 4), (-1,), (None,)),
    ((6,), (-1,), ("a",)),
    ((2, 3, 4), (3, 2, 4), (None, None, "c")),
    ((2, 1, 3), (2, 1, 3), ("a", "b", "c")),
    ((2, 1, 3), (2, 3), ("a", "c")),
    ((2, 3), (2, 1, 3), ("a", None, "b")),
    ((2, 1, 3), (2, 1, 1, 3), ("a", None, None, "c")),
    ((1, 1, 6), (1, 1, 2, 3), ("a", "b", None, None)),
    ((1, 1, 6), (1, 6), (None, "c")),
    ((0, 3), (0, 3), ("a", "b")),
    ((0, 3), (3, 0), (None, None)),
]


@pytest.mark.parametrize(("before", "after", "names"), RESHAPES)
def test_reshape_keeps_the_names_of_axes_that_it_does_not_touch(
    before: tuple[int, ...], after: tuple[int, ...], names: tuple[str | None, ...]
) -> None:
    x = tb.zeros(before, names=("a", "b", "c")[: len(before)])
    assert tb.reshape(x, after).names == names
    assert set(tb.reshape(x, after, names=(None,) * len(after)).names) <= {None}


def test_diagonals_have_the_rows_name() -> None:
    x = ones(batch=2, row=3, column=3)
    assert tb.take_diagonal(x).names == tb.linalg.diagonal(x).names == ("batch", "row")
    assert tb.take_diagonal(tb.make_diagonal(ones(n=3))).names == ("n",)


def test_put_slice_merges_names() -> None:
    x = tb.zeros((2, 3), names=("row", None))
    assert tb.put_slice(x, ones(row=1, column=2), starts=(0, 0)).names == ("row", "column")
    with pytest.raises(NamesError, match="put_slice: expected the same name or None"):
        tb.put_slice(x, ones(line=1, column=2), starts=(0, 0))
    x[:1, :2] = ones(row=1, column=2)
    assert x.names == ("row", None)
