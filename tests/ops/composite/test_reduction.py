"""Reductions along axes and equality up to a tolerance, by example on each backend, with NumPy as an oracle."""

import math
from typing import Any, cast

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, DTypeError, ShapeError, TensorBackendError
from tensorbackend.ops.composite.sorting.order_statistics import METHODS

from ...mistakes import error_text, every_mistake

BACKENDS = ["binary", "numpy"]
INF, NAN = math.inf, math.nan


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def check_same(actual: tb.Tensor, reference: Any, tolerance: float = 1e-6) -> None:
    np.testing.assert_allclose(np.asarray(actual), reference, rtol=tolerance, atol=1e-7)
    assert actual.shape == np.shape(reference)


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 2), -1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_summaries_are_numpys(backend: str, axis: Any, keepdims: bool) -> None:
    values = np.random.default_rng(0).normal(size=(3, 4, 6)).astype("float32")
    x, options = tb.asarray(values, backend=backend), cast(Any, {"axis": axis, "keepdims": keepdims})
    check_same(tb.std(x, **options, correction=1), np.std(values, **options, ddof=1))
    check_same(tb.median(x, **options), np.median(values, **options))
    check_same(tb.logsumexp(x, **options), np.log(np.sum(np.exp(values), **options)), 1e-5)


def test_too_small_a_sample_has_no_variance(backend: str) -> None:
    for count, correction in ((0, 0), (1, 1), (2, 3)):
        x = tb.ones(count, backend=backend)
        assert str(tb.var(x, correction=correction).item()) == "nan"
        assert str(tb.std(x, correction=correction).item()) == "nan"


def test_logsumexp_of_infinities_and_none(backend: str) -> None:
    x = tb.tensor([[INF, 0.0], [-INF, -INF], [-INF, 1.0], [NAN, INF]], backend=backend)
    assert str(tb.logsumexp(x, axis=1).tolist()) == "[inf, -inf, 1.0, nan]"
    assert tb.logsumexp(tb.zeros((2, 0), backend=backend), axis=1).tolist() == [-INF, -INF]


@pytest.mark.filterwarnings("ignore:.*(empty slice|invalid value)")
def test_the_mean_median_and_quantiles_of_nothing_are_nan(backend: str) -> None:
    for shape, axis in (((2, 0), 1), ((0,), None), ((2, 0, 3), (0, 1)), ((0, 0), None), ((0, 2), 1)):
        for dtype in ("float32", "float16", "int64"):
            values = np.zeros(shape, dtype)
            x = tb.asarray(values, names=tuple("abc"[: len(shape)]), backend=backend)
            wanted = np.median(values, axis=axis)
            both = np.stack([wanted, wanted])
            for mine, right in (
                (tb.median(x, axis=axis), wanted),
                (tb.mean(x, axis=axis), np.mean(values, axis=axis)),
                (tb.quantile(x, 0.3, axis=axis), wanted),
                (tb.percentile(x, (0, 100), axis=axis), both),
            ):
                np.testing.assert_array_equal(np.asarray(mine), right)
                assert mine.dtype is (tb.float32 if dtype == "int64" else x.dtype)


def test_median_at_the_edges(backend: str) -> None:
    greatest = tb.finfo("float32").max
    x = tb.tensor([[greatest, greatest], [INF, INF], [-INF, INF], [NAN, 1.0]], backend=backend)
    assert str(tb.median(x, axis=1).tolist()) == f"[{greatest}, inf, nan, nan]"
    named = tb.zeros((2, 3, 4), names=("a", "b", "c"), backend=backend)
    assert tb.median(named, axis=("a", "c")).names == ("b",)
    assert tb.median(named, axis="b", keepdims=True).template == tb.Template((2, 1, 4), "f32", ("a", "b", "c"))
    with pytest.raises(DTypeError, match="real or bool"):
        tb.median(tb.zeros(2, dtype="complex64", backend=backend))


def test_closeness_is_numpys(backend: str) -> None:
    left, right = np.array([1, INF, INF, NAN, 1e30, 0.0, 1.0]), np.array([1.00001, INF, -INF, NAN, INF, -0.0, 1.1])
    for options in ({}, {"equal_nan": True}, {"rtol": 0.2}, {"atol": 0.0, "rtol": 0.0}):
        x1, x2 = (tb.asarray(array, backend=backend) for array in (left, right))
        assert tb.isclose(x1, x2, **options).tolist() == np.isclose(left, right, **options).tolist()


def test_closeness_of_integers_is_exact(backend: str) -> None:
    x = tb.tensor([2**24 + 1, 255], backend=backend)
    assert tb.isclose(x, tb.tensor([2**24, 255], backend=backend), rtol=0, atol=0).tolist() == [False, True]
    small = tb.tensor([0, 255], dtype="uint8", backend=backend)
    assert tb.isclose(small, small[::-1], atol=1.0).tolist() == [False, False]
    assert tb.all_close(x, x).item() is True
    assert tb.all_close(tb.zeros(0, backend=backend), 1.0).item() is True


# Order statistics


@pytest.mark.parametrize("method", METHODS)
def test_quantiles_are_numpys(backend: str, method: str) -> None:
    for count in (1, 2, 5, 8):
        values = np.random.default_rng(count).normal(size=(2, count)).astype("float32")
        x = tb.asarray(values, backend=backend)
        q = (0.0, 0.1, 0.25, 0.3, 0.5, 0.625, 0.9, 1.0)
        # In float64: in float32, rounding of q changes the result of NumPy's discrete methods.
        reference = np.quantile(values.astype("float64"), q, axis=1, method=method)  # type: ignore[call-overload]
        check_same(tb.quantile(x, q, axis=1, method=method), reference)
    check_same(tb.quantile(x, 0.5, method=method), np.quantile(values.astype("float64"), 0.5, method=method))  # type: ignore[call-overload]


def test_quantiles_at_the_edges(backend: str) -> None:
    x = tb.tensor([[INF, 1.0, INF], [NAN, 1.0, 2.0], [-INF, 1.0, 3.0]], names=("row", "n"), backend=backend)
    assert str(tb.quantile(x, (0.25, 0.75), axis="n").tolist()) == "[[inf, nan, -inf], [inf, nan, 2.0]]"
    assert tb.quantile(x, (0.25, 0.75), axis="n").names == (None, "row")
    assert tb.quantile(x, 0.5, keepdims=True).template == tb.Template((1, 1), "f32", ("row", "n"))
    assert tb.percentile(tb.arange(11, backend=backend), (10, 35)).tolist() == [1.0, 3.5]


def test_modes(backend: str) -> None:
    x = tb.tensor([[2, 1, 2, 1], [3, 3, 3, 0], [5, 4, 3, 2]], names=("row", "n"), backend=backend)
    assert tb.mode(x, axis="n").tolist() == [1, 3, 2]
    assert tb.mode(x).item() == 3
    assert tb.mode(x, keepdims=True).template == tb.Template((1, 1), "int64", ("row", "n"))
    assert tb.mode(x, axis=0, keepdims=True).template == tb.Template((1, 4), "int64", ("row", "n"))
    assert str(tb.mode(tb.tensor([NAN, NAN, 1.0], backend=backend)).item()) == "1.0"


# Weights, covariances, differences


def test_weighted_mean_is_numpys(backend: str) -> None:
    values = np.random.default_rng(3).normal(size=(3, 4)).astype("float32")
    weights = np.abs(values) + 1
    x = tb.asarray(values, names=("a", "b"), backend=backend)
    for axis in (None, 0, 1):
        check_same(tb.weighted_mean(x, weights, axis=axis), np.average(values, axis, weights))
    check_same(tb.weighted_mean(x, weights[0], axis=1), np.average(values, 1, weights[0]))
    check_same(
        tb.weighted_mean(x, tb.asarray(weights[:, 0], names=("a",)), axis="a"), np.average(values, 0, weights[:, 0])
    )
    assert tb.weighted_mean(x, weights, axis="b", keepdims=True).template == tb.Template((3, 1), "f32", ("a", "b"))
    with pytest.raises(ShapeError, match="weights that broadcast"):
        tb.weighted_mean(x[0], weights)


def test_covariance_is_numpys(backend: str) -> None:
    values = np.random.default_rng(4).normal(size=(5, 3)).astype("float32")
    x = tb.asarray(values, names=("n", "d"), backend=backend)
    check_same(tb.covariance(x, correction=1), np.cov(values, rowvar=False), 1e-5)
    check_same(tb.covariance(x, mean=np.zeros(3, "float32")), values.T @ values / 5, 1e-5)
    mixed = values + 1j * values[::-1]
    check_same(tb.covariance(tb.asarray(mixed, backend=backend)), np.cov(mixed, rowvar=False, bias=True), 1e-5)
    assert tb.covariance(tb.zeros((2, 5, 3), names=("b", "n", "d"))).template == tb.Template(
        (2, 3, 3), "f32", ("b", None, None)
    )
    assert str(tb.covariance(tb.ones((1, 1), backend=backend), correction=1).tolist()) == "[[nan]]"


def test_differences_are_numpys(backend: str) -> None:
    for kind in ("int64", "uint8", "float32", "complex64"):
        values = np.random.default_rng(5).integers(0, 9, size=(3, 4)).astype(kind)
        x = tb.asarray(values, names=("a", "b"), backend=backend)
        for n in range(5):
            for axis in (0, -1):
                assert tb.diff(x, axis=axis, n=n).tolist() == np.diff(values, n, axis).tolist()
        assert (
            tb.diff(x, axis="b", prepend=x[:, :1], append=x).tolist()
            == np.diff(values, prepend=values[:, :1], append=values).tolist()
        )
        assert (
            tb.diff(x, axis="a", prepend=2, append=x[0, 0]).tolist()
            == np.diff(values, axis=0, prepend=values.dtype.type(2), append=values[0, 0]).tolist()
        )
        assert tb.diff(x, prepend=2).dtype == kind
    assert tb.diff(x, axis="a").names == ("a", "b")


# Matrices, grids, padding


@pytest.mark.parametrize("k", range(-4, 5))
def test_triangles_and_diagonals_are_numpys(backend: str, k: int) -> None:
    values = np.arange(1, 13).reshape(3, 4)
    x = tb.asarray(values, names=("row", "column"), backend=backend)
    assert tb.tril(x, k=k).tolist() == np.tril(values, k).tolist()
    assert tb.triu(x, k=k).tolist() == np.triu(values, k).tolist()
    assert tb.tri(3, 4, k=k, backend=backend).tolist() == np.tri(3, 4, k).tolist()
    matrices = tb.make_diagonal(x, offset=k)
    assert matrices.names == ("row", "column", None)
    assert matrices.tolist() == [np.diag(row, k).tolist() for row in values]
    assert tb.take_diagonal(matrices, offset=k).tolist() == values.tolist()
    if -3 <= k <= 4:
        diagonal = tb.take_diagonal(x, offset=k)
        assert diagonal.names == ("row",)
        assert diagonal.tolist() == np.diagonal(values, k).tolist()
        assert tb.put_diagonal(x, diagonal, offset=k).tolist() == values.tolist()
        blank = tb.put_diagonal(x, tb.zeros_like(diagonal), offset=k)
        assert blank.tolist() == (values * (np.diag(np.ones(9), k)[:3, :4] == 0)).tolist()


def test_grids_are_numpys(backend: str) -> None:
    arrays = [np.arange(2), np.arange(3.0).astype("float32"), np.arange(4) > 1]
    tensors = [tb.asarray(array, names=(name,), backend=backend) for array, name in zip(arrays, "xyz", strict=True)]
    for indexing, names in (("xy", ("y", "x", "z")), ("ij", ("x", "y", "z"))):
        grids = tb.meshgrid(*tensors, indexing=indexing)
        reference_grids = np.meshgrid(*arrays, indexing=indexing)  # type: ignore[call-overload]
        assert [grid.tolist() for grid in grids] == [grid.tolist() for grid in reference_grids]
        assert [grid.names for grid in grids] == [names] * 3
    assert tb.meshgrid(tensors[0])[0].tolist() == [0, 1]


@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric", "wrap"])
def test_padding_is_numpys(backend: str, mode: Any) -> None:
    for shape in ((3, 2), (1, 4)):
        values = np.arange(shape[0] * shape[1]).reshape(shape)
        x = tb.asarray(values, names=("a", "b"), backend=backend)
        for padding in (((0, 0), (1, 2)), ((5, 0), (0, 7))):
            padded = tb.pad(x, padding, mode=mode)
            assert padded.tolist() == np.pad(values, padding, mode=mode).tolist()
            assert padded.names == ("a", "b")
        assert tb.pad(x, {"b": (1, 0)}, mode=mode).shape == (shape[0], shape[1] + 1)


MISTAKES: list[tuple[Any, type[TensorBackendError], str]] = [
    (lambda x: tb.quantile(x, 1.5), ArgumentError, "each from 0 to 1, got q=1.5"),
    (lambda x: tb.percentile(x, 150), ArgumentError, "each from 0 to 100, got q=150"),
    (lambda x: tb.quantile(x, 0.5, method="cubic"), ArgumentError, "method to be one of inverted_cdf"),
    (lambda x: tb.mode(x[:0]), ShapeError, "at least one element"),
    (lambda x: tb.covariance(x[0]), ShapeError, "observations as rows"),
    (lambda x: tb.covariance(x, mean=np.ones(2, "float32")), ShapeError, "sizes that are equal or 1"),
    (lambda x: tb.diff(x, n=-1), ArgumentError, "n to be at least 0"),
    (lambda x: tb.diff(x > 0), DTypeError, "numeric"),
    (lambda x: tb.tril(x[0]), ShapeError, "at least two axes"),
    (lambda x: tb.take_diagonal(x, offset=4), ArgumentError, "an offset from -2 to 3"),
    (lambda x: tb.put_diagonal(x, x[0]), ShapeError, r"a diagonal of shape \(2,\)"),
    (lambda x: tb.put_diagonal(x, 0.0), ShapeError, r"got diagonal=f32; write tb.full\(\(2,\), value, dtype=x.dtype\)"),
    (lambda x: tb.meshgrid(x), ShapeError, "tensors of one axis"),
    (lambda x: tb.meshgrid(x[0], indexing="ji"), ArgumentError, "indexing to be 'xy' or 'ij'"),
    (lambda x: tb.pad(x, ((1, 0), (0, 0)), mode="mirror"), ArgumentError, "mode to be 'constant', 'edge'"),
    (lambda x: tb.pad(x, ((-1, 0), (0, 0)), mode="edge"), ArgumentError, "of at least 0 with mode='edge'"),
    (lambda x: tb.reflect(x[:0], ((1, 0), (0, 0))), ShapeError, "an axis with elements"),
    (lambda x: tb.slice_along_axis(x, 0, 4), ShapeError, "within the 3 entries of axis 1"),
    (lambda x: tb.slice_along_axis(x, x[0], 1), ShapeError, "a start without axes, of an integer dtype"),
]


@every_mistake(MISTAKES)
def test_mistakes(mistake: Any, kind: type[TensorBackendError], text: str) -> None:
    assert error_text(mistake, kind, text)


def test_slices_along_an_axis(backend: str) -> None:
    x = tb.iota((2, 5), names=("a", "b"), backend=backend)
    for start, expected_row in ((-3, [0, 2]), (1, [1, 3]), (7, [2, 4])):
        assert tb.slice_along_axis(x, start, 2, axis="b", stride=2)[0].tolist() == expected_row
        for dtype in ("int8", "int64"):
            moved = tb.slice_along_axis(x, tb.tensor(start, dtype=dtype, backend=backend), 2, axis="b", stride=2)
            assert moved[0].tolist() == expected_row
            assert moved.names == ("a", "b")
    assert tb.slice_along_axis(x, tb.tensor(255, dtype="uint8"), 0, axis=0).shape == (0, 5)


@pytest.mark.parametrize("backend", BACKENDS)
def test_running_sums_of_nothing(backend: str) -> None:
    for shape, expected_sums in (((0, 0), []), ((2, 0), [[0], [0]]), ((0, 2), [])):
        x = tb.zeros(shape, dtype="s32", backend=backend)
        assert tb.cumulative_sum(x, axis=1, include_initial=True).tolist() == expected_sums


@pytest.mark.parametrize("reverse", [False, True])
def test_the_initial_number_changes_no_running_result(backend: str, reverse: bool) -> None:
    z = tb.asarray([complex(0, INF), 2.0, -0.0], backend=backend)
    for function, first in ((tb.cumulative_prod, 1), (tb.cumulative_sum, 0)):
        alone = function(z, reverse=reverse).tolist()
        expected = [*alone, complex(first)] if reverse else [complex(first), *alone]
        assert str(function(z, reverse=reverse, include_initial=True).tolist()) == str(expected)


def test_weights_with_names_meet_the_axes_of_their_names() -> None:
    x = tb.asarray([[[1.0, 2.0], [3.0, 5.0]]], names=("time", "lat", "lon"))
    weights = tb.asarray([1.0, 3.0], names=("lat",))
    assert tb.weighted_mean(x, weights, axis=("lat", "lon")).tolist() == [3.375]
    both = tb.asarray([[1.0, 3.0], [1.0, 3.0]], names=("lon", "lat"))
    assert tb.weighted_mean(x, both, axis=("lat", "lon")).tolist() == [3.375]
    assert tb.weighted_mean(x, weights, axis="lat").names == ("time", "lon")
