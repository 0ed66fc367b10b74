"""Sorting, searching and sets: the laws of an order on each backend, NumPy as an oracle, edge cases and messages."""

from __future__ import annotations

import math
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import ALL_DTYPES, DType, finfo, iinfo
from tensorbackend.dtypes.packing import pack, unpack
from tensorbackend.errors import (
    ArgumentError,
    DataError,
    DTypeError,
    OutOfRangeError,
    ShapeError,
    TemplateDataError,
    TensorBackendError,
)
from tensorbackend.testing import assert_equal, profile

from ..mistakes import error_text, every_mistake

BACKENDS = ["binary", "numpy"]
REAL = [dtype for dtype in ALL_DTYPES if not dtype.is_complex]
NAN, INF = math.nan, math.inf


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def value(dtype: DType, choice: int, chance: Random) -> Any:
    """Return a Python number of a real dtype: one of a few numbers, so that there are ties, or a special one.

    The byte `choice` selects the number; where any integer will do, `chance` draws it.
    """
    if dtype.kind == "bool":
        return choice % 2 == 1
    kind, place = choice % 3, choice // 3
    if dtype.is_integer:
        limits = iinfo(dtype)
        return (place % 4, [limits.min, limits.max][place % 2], chance.randint(limits.min, limits.max))[kind]
    limit = finfo(dtype).max
    few = [0.0, -0.0, 1.0, -1.0, INF, -INF, NAN, limit, finfo(dtype).smallest_normal / 2]
    return few[place % len(few)] if kind else float(place % 7 - 3)


@st.composite
def lines(draw: st.DrawFn, dtype: DType) -> tb.Tensor:
    """Tensors with one axis on BinaryBackend, some of them empty."""
    chance = Random(draw(st.integers(0, 2**32 - 1)))
    elements = [value(dtype, choice, chance) for choice in draw(st.binary(max_size=40))]
    return tb.from_binary(pack(elements, dtype), tb.Template((len(elements),), dtype, ("n",)), "binary")


def numbers(x: tb.Tensor) -> list[Any]:
    return list(unpack(x.to_binary(), x.dtype))


def comes_first(a: Any, b: Any) -> bool:
    """Return whether a may come before b in ascending order; NaN is largest."""
    return bool(b != b or a <= b)


# Laws


@pytest.mark.parametrize("dtype", REAL, ids=str)
def test_an_order_is_an_order(backend: str, dtype: DType) -> None:
    @profile(15)
    @given(lines(dtype), st.booleans())
    def holds(drawn: tb.Tensor, descending: bool) -> None:
        x = drawn.backend_copy(backend)
        order = tb.argsort(x, descending=descending).tolist()
        assert sorted(order) == list(range(x.size))
        arranged = [numbers(x)[position] for position in order]
        assert_equal(tb.sort(x, descending=descending), tb.take(x, tb.argsort(x, descending=descending)).rename("n"))
        for (first, a), (second, b) in pairwise(zip(order, arranged, strict=True)):
            assert comes_first(b, a) if descending else comes_first(a, b)
            if a == b or (a != a and b != b):
                assert first < second

    holds()


@pytest.mark.parametrize("dtype", REAL, ids=str)
def test_a_place_keeps_a_tensor_sorted(backend: str, dtype: DType) -> None:
    @profile(15)
    @given(lines(dtype), lines(dtype), st.sampled_from(["left", "right"]))
    def holds(drawn: tb.Tensor, looked_for: tb.Tensor, side: Any) -> None:
        x, sought = tb.sort(drawn.backend_copy(backend)), looked_for.backend_copy(backend)
        elements = numbers(x)
        for value, place in zip(numbers(sought), tb.searchsorted(x, sought, side=side).tolist(), strict=True):
            before, after = elements[:place], elements[place:]
            if side == "left":
                assert not any(comes_first(value, element) for element in before)
                assert all(comes_first(value, element) for element in after)
            else:
                assert all(comes_first(element, value) for element in before)
                assert not any(comes_first(element, value) for element in after)

    holds()


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_unique_entries_are_numpys(backend: str, axis: int) -> None:
    all_dtypes = ("s64", "f32", "c64", "bool")
    for shape, dtypes in (
        ((7, 3), all_dtypes), ((2, 9), ("c64",)), ((5, 2, 2), ("f32", "bool")), ((4, 1), ("s64",)), ((1, 6), ("f32",)),
    ):  # fmt: skip
        array = np.random.default_rng(0).integers(0, 2, shape)
        reference = np.unique(array, axis=axis, return_index=True, return_inverse=True, return_counts=True)
        for dtype in dtypes:
            names = ("a", "b", "c")[: len(shape)]
            x = tb.astype(tb.asarray(array, names=names, backend=backend), dtype)
            unique = tb.unique_all(x, axis=names[axis])
            assert (
                tb.astype(tb.real(unique.values) if dtype == "c64" else unique.values, "s64").tolist()
                == reference[0].tolist()
            )
            assert unique.values.names == names
            assert [part.tolist() for part in unique[1:]] == [part.reshape(-1).tolist() for part in reference[1:]]
            assert unique.inverse_indices.names == (names[axis],)
            assert tb.unique_counts(x, axis=axis).counts.tolist() == unique.counts.tolist()
            assert tb.unique_inverse(x, axis=axis).inverse_indices.tolist() == unique.inverse_indices.tolist()
            assert_equal(tb.unique_values(x, axis=axis), unique.values)
            more = tb.jit(lambda x: tb.unique_all(x, axis=axis, size=12, fill_value=1))(x)
            assert more.counts.tolist() == unique.counts.tolist() + [0] * (12 - unique.counts.size)
            assert_equal(tb.take(more.values, tb.iota(unique.counts.size, backend=backend), axis=axis), unique.values)


def test_unique_entries_of_few_elements(backend: str) -> None:
    nan = float("nan")
    x = tb.asarray([[0.0, nan], [-0.0, 1.0], [0.0, 1.0], [0.0, nan]], backend=backend)
    values, indices, inverse, counts = tb.unique_all(x, axis=0)
    assert repr(values.tolist()) == "[[-0.0, 1.0], [0.0, nan], [0.0, nan]]"  # the first of equal rows, and each NaN row
    assert (indices.tolist(), inverse.tolist(), counts.tolist()) == ([1, 0, 3], [1, 0, 0, 2], [2, 1, 1])
    assert tb.unique_all(tb.zeros((3, 0), backend=backend), axis=0).counts.tolist() == [3]
    assert tb.unique_all(tb.zeros((0, 3), backend=backend), axis=0).values.shape == (0, 3)
    assert tb.unique_values(tb.zeros((0, 3), backend=backend), axis=0, size=2, fill_value=7).tolist() == [[7.0] * 3] * 2
    assert tb.unique_values(tb.template((4, 3), "f32", ("a", "b")), axis=1, size=2).template == tb.Template(
        (4, 2), "f32", ("a", "b")
    )


@pytest.mark.parametrize("dtype", REAL, ids=str)
def test_unique_values_rebuild_the_tensor(backend: str, dtype: DType) -> None:
    @profile(15)
    @given(lines(dtype))
    def holds(drawn: tb.Tensor) -> None:
        x = drawn.backend_copy(backend)
        values, indices, inverse, counts = tb.unique_all(x)
        elements = numbers(values)
        assert all(comes_first(a, b) and a != b for a, b in pairwise(elements))
        rebuilt = numbers(tb.take(values, inverse))
        assert all(a == b or (a != a and b != b) for a, b in zip(rebuilt, numbers(x), strict=True))
        assert_equal(tb.take(x.rename(None), indices), values)
        assert tb.sum(counts).item() == x.size
        assert inverse.template == tb.Template(x.shape, "int64", ("n",))
        # `indices` are the positions of the first of equal elements, computed here from `inverse` alone.
        assert indices.tolist() == [
            position
            for _, position in sorted(
                (place, position)
                for position, place in enumerate(inverse.tolist())
                if place not in inverse.tolist()[:position]
            )
        ]
        assert tb.unique_counts(x).counts.tolist() == counts.tolist()
        assert tb.unique_inverse(x).inverse_indices.tolist() == inverse.tolist()
        assert_equal(tb.unique_values(x), values)

    holds()


@pytest.mark.parametrize("dtype", REAL, ids=str)
def test_the_greatest_are_the_first_in_descending_order(backend: str, dtype: DType) -> None:
    @profile(15)
    @given(lines(dtype), st.data())
    def holds(drawn: tb.Tensor, data: st.DataObject) -> None:
        x = drawn.backend_copy(backend)
        k = data.draw(st.integers(0, x.size))
        greatest = tb.top_k(x, k)
        assert_equal(greatest.values, tb.sort(x, descending=True)[:k])
        assert_equal(greatest.indices, tb.argsort(x, descending=True)[:k])

    holds()


# NumPy as an oracle

KINDS = ["int64", "uint8", "float32", "float64", "bool"]


def drawn(kind: str, *shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(1).integers(0, 5 if kind != "bool" else 2, size=shape).astype(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_searches_are_numpys(backend: str, kind: str) -> None:
    array = drawn(kind, 3, 4, 2)
    x = tb.asarray(array, backend=backend)
    assert [indices.tolist() for indices in tb.nonzero(x)] == [indices.tolist() for indices in np.nonzero(array)]
    assert tb.argwhere(x).tolist() == np.argwhere(array).tolist()
    for axis in (None, 1, (0, 2)):
        assert np.array_equal(tb.count_nonzero(x, axis=axis), np.count_nonzero(array, axis=axis))
    assert tb.count_nonzero(x, axis=0, keepdims=True).shape == (1, 4, 2)
    line, sought = np.sort(drawn(kind, 9)), drawn(kind, 2, 3)
    for side in ("left", "right"):
        places = tb.searchsorted(tb.asarray(line, backend=backend), tb.asarray(sought, backend=backend), side=side)
        assert places.tolist() == np.searchsorted(line, sought, side=side).tolist()
    shuffled = drawn(kind, 9)
    order = np.argsort(shuffled, kind="stable")
    places = tb.searchsorted(*(tb.asarray(operand, backend=backend) for operand in (shuffled, sought)), sorter=order)
    assert places.tolist() == np.searchsorted(shuffled, sought, sorter=order).tolist()


@pytest.mark.parametrize("kind", [*KINDS, "complex64"])
def test_sets_are_numpys(backend: str, kind: str) -> None:
    array = drawn(kind, 4, 5)
    if kind == "complex64":
        array = array + 1j * array[::-1]
    x = tb.asarray(array, backend=backend)
    reference = np.unique_all(array)
    unique = tb.unique_all(x)
    for name in ("values", "inverse_indices", "counts", "indices"):
        assert getattr(unique, name).tolist() == getattr(reference, name).tolist()
    other = array[0, :2]
    for invert in (False, True):
        asked = tb.isin(x, tb.asarray(other, backend=backend), invert=invert)
        assert asked.tolist() == np.isin(array, other, invert=invert).tolist()


def test_counts_are_numpys(backend: str) -> None:
    array = drawn("int64", 20)
    x = tb.asarray(array, backend=backend)
    weights = np.linspace(0, 1, 20).astype("float32")
    assert tb.bincount(x).tolist() == np.bincount(array).tolist()
    assert tb.bincount(x, minlength=9).tolist() == np.bincount(array, minlength=9).tolist()
    np.testing.assert_allclose(tb.bincount(x, weights=weights).tolist(), np.bincount(array, weights=weights), 1e-6)
    real = np.random.default_rng(2).normal(size=50).astype("float32")
    y = tb.asarray(real, backend=backend)
    for options in ({}, {"bins": 3}, {"bins": 4, "range": (-1.0, 0.5)}, {"bins": [-2.0, 0.0, 0.25, 3.0]}):
        for density in (False, True):
            counts, edges = tb.histogram(y, density=density, **options)
            expected_counts, expected_edges = np.histogram(real, density=density, **options)
            np.testing.assert_allclose(counts.tolist(), expected_counts, 1e-5)
            np.testing.assert_allclose(edges.tolist(), expected_edges, 1e-6, 1e-6)
    assert tb.histogram(tb.ones(3, backend=backend), bins=2).edges.tolist() == [0.5, 1.0, 1.5]
    assert tb.histogram(tb.zeros(0, backend=backend), bins=2).counts.tolist() == [0, 0]
    assert tb.histogram(tb.asarray([0.0, 1.5], backend=backend), bins=range(3)).counts.tolist() == [1, 1]


# Edge cases, templates, messages


def test_a_size_gives_a_static_shape(backend: str) -> None:
    x = tb.asarray([3, 0, 3, 1], names=("n",), backend=backend)
    dry = tb.template((4,), "int64", ("n",))
    calls: list[Any] = [
        lambda tensor: tb.nonzero(tensor, size=2)[0],
        lambda tensor: tb.nonzero(tensor, size=5, fill_value=-1)[0],
        lambda tensor: tb.argwhere(tensor, size=5),
        lambda tensor: tb.unique_values(tensor, size=2),
        lambda tensor: tb.unique_counts(tensor, size=5)[1],
        lambda tensor: tb.unique_all(tensor, size=5)[1],
        lambda tensor: tb.unique_inverse(tensor, size=2)[1],
        lambda tensor: tb.bincount(tensor, size=3),
    ]
    results = [[0, 2], [0, 2, 3, -1, -1], [[0], [2], [3], [0], [0]], [0, 1], [1, 1, 2, 0, 0], [1, 3, 0, 0, 0],
               [2, 0, 2, 1], [1, 1, 0]]  # fmt: skip
    for function, result in zip(calls, results, strict=True):
        assert function(x).tolist() == result
        assert function(dry).template is function(x).template


@pytest.mark.parametrize("name", ["nonzero", "argwhere", "unique_all", "unique_counts", "unique_inverse",
                                  "unique_values", "bincount"])  # fmt: skip
def test_without_a_size_a_template_says_so(name: str) -> None:
    with pytest.raises(TemplateDataError, match=rf"{name}\(\) of a tensor with data.*pass a size"):
        getattr(tb, name)(tb.template((4,), "int64"))


def test_fill_values_are_checked(backend: str) -> None:
    with pytest.raises(OutOfRangeError):
        tb.unique_values(tb.asarray([1], dtype="uint8", backend=backend), size=2, fill_value=-1)
    x = tb.unique_values(tb.asarray([True], backend=backend), size=2)
    assert x.dtype.kind == "bool"
    assert x.tolist() == [True, False]


def test_nan_is_not_an_element(backend: str) -> None:
    x = tb.asarray([NAN, 1.0, NAN], backend=backend)
    assert str(tb.unique_counts(x)).count("nan") == 2
    assert tb.isin(x, x).tolist() == [False, True, False]
    assert tb.isin(x, tb.zeros(0, backend=backend), invert=True).tolist() == [True] * 3
    assert tb.searchsorted(tb.sort(x), tb.asarray([NAN, 2.0], backend=backend)).tolist() == [1, 1]


def test_empty_tensors(backend: str) -> None:
    x = tb.zeros((0, 3), backend=backend)
    assert [tensor.shape for tensor in tb.unique_all(x)] == [(0,), (0,), (0, 3), (0,)]
    assert tb.unique_all(x, size=2).values.tolist() == [0.0, 0.0]
    assert [indices.shape for indices in tb.nonzero(x)] == [(0,), (0,)]
    assert tb.searchsorted(tb.zeros(0, backend=backend), 1.0).item() == 0
    assert tb.top_k(x, 0).values.shape == (0, 0)
    assert tb.bincount(tb.zeros(0, dtype="int8", backend=backend)).shape == (0,)


def many(dtype: DType, shape: tuple[int, ...], few: bool) -> tb.Tensor:
    """Return random elements of a dtype: from a few values, with NaN and zeros of both signs, or with random bits."""
    generator = np.random.default_rng(0)
    data = generator.integers(0, 256, (math.prod(shape), dtype.itemsize), "uint8")
    if dtype.kind == "bool":
        data %= 2
    if few:
        some = [0, 1, 3] if dtype.kind in ("bool", "uint") else [0, 1, -2, 3]
        kinds = pack([NAN, -0.0, *map(float, some)] if dtype.is_floating else some, dtype)
        table = np.frombuffer(kinds, "uint8").reshape(-1, dtype.itemsize)
        data = table[generator.integers(0, len(table), len(data))]
    return tb.from_binary(data.tobytes(), tb.Template(shape, dtype), "binary")


@pytest.mark.parametrize("dtype", REAL, ids=str)
@pytest.mark.parametrize("shape", [(1500,), (3, 700), (700, 3)])
@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("descending", [False, True])
def test_many_elements_are_in_the_references_order(
    dtype: DType, shape: tuple[int, ...], few: bool, descending: bool
) -> None:
    x = many(dtype, shape, few)
    for axis in range(len(shape)):
        for op in (tb.sort, tb.argsort):
            expected = op(x, axis=axis, descending=descending)
            assert_equal(op(x.backend_copy("numpy"), axis=axis, descending=descending), expected)


def test_long_integers_leave_no_room_for_their_indices() -> None:
    x = tb.asarray([1 << 62, 5, -(1 << 63), 5] * 500)
    expected = tb.argsort(x.backend_copy("binary"))
    assert tb.argsort(x).tolist() == expected.tolist()


MIDDLE: Any = "middle"
MISTAKES: list[tuple[Any, type[TensorBackendError], str]] = [
    (lambda x: tb.sort(tb.astype(x, "complex64")), DTypeError, "real or bool"),
    (lambda x: tb.argsort(tb.astype(x, "complex64")), DTypeError, "real or bool"),
    (lambda x: tb.top_k(x, 4), ShapeError, r"a number k from 0 to 3 for axis 1 of f32\[2\]\[3\], got k=4"),
    (lambda x: tb.searchsorted(x, 1.0), ShapeError, "a tensor of one axis to search in"),
    (lambda x: tb.searchsorted(x[0], 1.0, side=MIDDLE), ArgumentError, "side to be 'left' or 'right'"),
    (lambda x: tb.nonzero(tb.sum(x)), ShapeError, "a tensor with axes"),
    (lambda x: tb.nonzero(x, size=-1), ArgumentError, "an int of at least 0 as size"),
    (lambda x: tb.bincount(x), DTypeError, "a tensor of an integer dtype to count"),
    (lambda x: tb.bincount(tb.astype(x, "int8")[0], weights=x), ShapeError, "a weight for each element"),
    (lambda x: tb.histogram(x, bins=0), ArgumentError, "at least one interval"),
    (lambda x: tb.histogram(x, range=(1.0, 1.0)), ArgumentError, "two finite numbers in ascending order"),
    (lambda x: tb.histogram(x, bins=[1.0]), ShapeError, "at least two edges"),
]


@every_mistake(MISTAKES)
def test_mistakes(mistake: Any, kind: type[TensorBackendError], text: str) -> None:
    assert error_text(mistake, kind, text)


def test_negative_numbers_are_not_counted(backend: str) -> None:
    x = tb.asarray([-1, 2], backend=backend)
    with pytest.raises(DataError, match="elements of at least 0, got element=-1"):
        tb.bincount(x)
    assert tb.bincount(x, size=3).tolist() == [0, 0, 1]


@pytest.mark.parametrize("backend", BACKENDS)
def test_several_nan_are_ties(backend: str) -> None:
    x = tb.tensor([[1.0, math.nan, 5.0, math.nan], [2.0, 2.0, 1.0, 1.0]], backend=backend)
    assert tb.argmax(x, axis=1).tolist() == [1, 0]
    assert tb.argmax(x, axis=1, tie_break="high").tolist() == [3, 1]
    assert tb.argmin(x, axis=1).tolist() == [1, 2]
    assert tb.argmin(x, axis=1, tie_break="high").tolist() == [3, 3]


def test_quantiles_have_the_name_of_their_probabilities() -> None:
    x = tb.asarray([[1.0, 2.0], [3.0, 4.0]], names=("draw", "unit"))
    levels = tb.asarray([0.0, 0.5, 1.0], names=("level",))
    assert tb.quantile(x, levels, axis="draw").names == ("level", "unit")
    assert tb.percentile(x, [25, 75], axis="draw").names == (None, "unit")
