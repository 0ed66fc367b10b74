"""Reductions that leave NaN out: results on three backends, names, gradients, `jit` and `vmap`."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError

NAMES = ["nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd", "nanmedian", "nanquantile"]
DATA = np.array([[1.5, np.nan, -2.0, 4.0], [np.nan] * 4, [0.5, 3.0, np.nan, np.nan]])


def _ours(name: str) -> Any:
    return (lambda x, **options: tb.nanquantile(x, 0.3, **options)) if name == "nanquantile" else getattr(tb, name)


def _numpys(name: str, axis: int | None, data: Any = DATA) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rows that are all NaN
        return np.nanquantile(data, 0.3, axis=axis) if name == "nanquantile" else getattr(np, name)(data, axis=axis)


@pytest.mark.parametrize("backend", ["binary", "numpy"])
@pytest.mark.parametrize("name", NAMES)
def test_results_are_numpys(name: str, backend: str) -> None:
    x = tb.asarray(DATA, names=("row", "n"), backend=backend)
    for axis in (None, 0, 1):
        np.testing.assert_allclose(np.asarray(_ours(name)(x, axis=axis)), _numpys(name, axis))
    assert _ours(name)(x, axis="n").names == ("row",)
    assert _ours(name)(x, axis="n", keepdims=True).names == ("row", "n")


@pytest.mark.parametrize("name", NAMES)
def test_no_gradient_flows_to_nan_or_is_nan(name: str) -> None:
    x = tb.asarray(DATA[[0, 2]])
    with tb.precision(64):
        gradient = np.asarray(tb.grad(lambda x: tb.sum(_ours(name)(x, axis=1)))(x))
    known = ~np.isnan(DATA[[0, 2]])
    assert (gradient[~known] == 0).all()
    for row, column in zip(*np.nonzero(known), strict=True):
        ends = []
        for step in (1e-6, -1e-6):
            moved = DATA[[0, 2]].copy()
            moved[row, column] += step
            ends.append(_numpys(name, 1, moved).sum())
        assert gradient[row, column] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-6)
    everything = np.asarray(tb.grad(lambda x: tb.nansum(_ours(name)(x, axis=1)))(tb.asarray(DATA)))
    assert np.isfinite(everything).all()


@pytest.mark.parametrize("name", NAMES)
def test_compiled_and_batched(name: str) -> None:
    x = tb.asarray(DATA)
    np.testing.assert_allclose(np.asarray(tb.jit(_ours(name))(x)), _numpys(name, None))
    np.testing.assert_allclose(np.asarray(tb.vmap(_ours(name))(x)), _numpys(name, 1))


@pytest.mark.parametrize("name", NAMES)
def test_integers_have_no_nan(name: str) -> None:
    data = np.array([[3, 1, 2], [5, 5, 0]])
    assert np.asarray(_ours(name)(tb.asarray(data), axis=1)) == pytest.approx(_numpys(name, 1, data))


def test_keywords_of_numpy() -> None:
    """xarray passes them to the functions of a namespace that have NumPy's names."""
    data = DATA[::2]
    x = tb.asarray(data)
    found = tb.nanmean(x, dtype=None), tb.nanmean(x, axis=1, dtype="f64"), tb.nanstd(x, ddof=1), tb.nanvar(x, ddof=0)
    wanted = np.nanmean(data), np.nanmean(data, axis=1), np.nanstd(data, ddof=1), np.nanvar(data)
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-6)
    with pytest.raises(ArgumentError, match="nanstd: expected correction or ddof, got"):
        tb.nanstd(x, correction=1.0, ddof=0)


def test_several_quantiles_and_infinite_neighbours() -> None:
    x = tb.asarray(DATA, names=("row", "n"))
    several = tb.nanquantile(x, tb.asarray([0.0, 0.5, 1.0], names=("share",)), axis="n")
    assert several.names == ("share", "row")
    np.testing.assert_allclose(np.asarray(several)[:, [0, 2]], np.nanquantile(DATA[[0, 2]], [0, 0.5, 1], axis=1))
    np.testing.assert_array_equal(tb.nanpercentile(x, 50, axis="n"), several[1])
    edge = tb.asarray([1.0, np.inf, np.nan, -np.inf])
    assert tb.nanquantile(edge, (0, 0.5, 1)).tolist() == [-np.inf, 1.0, np.inf]
    with pytest.raises(ArgumentError, match="nanquantile: expected q to be one number or several, each from 0 to 1"):
        tb.nanquantile(x, 1.5)


@pytest.mark.parametrize("q", [0.0, 0.1, 0.25, 0.375, 0.5, 0.6, 0.9, 1.0])
def test_without_nan_values_and_gradients_are_those_of_quantile(q: float) -> None:
    """Also at equal elements, which share the gradient, and next to infinity."""
    x = tb.asarray([2.0, 2.0, 5.0, 2.0, np.inf], dtype="f64")
    ours = tb.value_and_grad(lambda x: tb.nanquantile(x, q))(x)
    theirs = tb.value_and_grad(lambda x: tb.quantile(x, q))(x)
    assert [part.tolist() for part in ours] == [part.tolist() for part in theirs]


# Means with weights, of windows and of segments: each next to `nanmean` of the elements that belong together

WEIGHTS = np.array([0.5, 1.0, 2.0, 0.25])
SEGMENTS = np.array([1, 0, 1, 3])


def _members(name: str, row: Any) -> list[tuple[Any, Any]]:
    """The elements of each result of a row, and their weights."""
    ones = np.ones(4)
    if name == "weighted_nanmean":
        return [(row, WEIGHTS)]
    if name == "window_nanmean":
        return [(row[max(0, at - 1) : at + 2], ones[max(0, at - 1) : at + 2]) for at in range(4)]
    places = [[at for at, segment in enumerate(SEGMENTS) if segment == number] for number in range(4)]
    return [(row[some], ones[some]) for some in places]


def _mean_of(name: str, data: Any) -> Any:
    out = np.full((len(data), len(_members(name, data[0]))), np.nan)
    for at, row in enumerate(data):
        for number, (elements, weights) in enumerate(_members(name, row)):
            known = ~np.isnan(elements)
            if known.any():
                out[at, number] = np.average(elements[known], weights=weights[known])
    return out[:, 0] if name == "weighted_nanmean" else out


MEANS: dict[str, Any] = {
    "weighted_nanmean": lambda x: tb.weighted_nanmean(x, tb.asarray(WEIGHTS), axis="n"),
    "window_nanmean": lambda x: tb.window_nanmean(x, {"n": 3}, padding="same"),
    "segment_nanmean": lambda x: tb.segment_nanmean(x, SEGMENTS, size=4, axis="n", name="n"),
}


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
@pytest.mark.parametrize("name", MEANS)
def test_means_of_what_belongs_together(name: str, backend: str, whole: Any) -> None:
    x = tb.asarray(DATA, names=("row", "n"), backend=backend)
    found = whole(MEANS[name])(x)
    assert found.names == ("row", "n")[: found.ndim]
    np.testing.assert_allclose(np.asarray(found), _mean_of(name, DATA))


@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize("name", MEANS)
def test_gradients_of_means(name: str, backend: str, whole: Any) -> None:
    x = tb.asarray(DATA, names=("row", "n"), backend=backend)
    found = np.asarray(whole(tb.grad(lambda x: tb.nansum(MEANS[name](x) ** 2)))(x))
    assert (found[np.isnan(DATA)] == 0).all()
    for place in np.argwhere(~np.isnan(DATA)):
        ends = []
        for step in (1e-6, -1e-6):
            moved = DATA.copy()
            moved[tuple(place)] += step
            ends.append(np.nansum(_mean_of(name, moved) ** 2))
        assert found[tuple(place)] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6, abs=1e-6)


def test_weights_of_elements_that_are_nan_are_not_read() -> None:
    x, weights = tb.asarray([[1.0, np.nan], [np.nan, np.nan]]), tb.asarray([2.0, np.inf])
    assert tb.weighted_nanmean(x, weights, axis=1).tolist() == pytest.approx([1.0, np.nan], nan_ok=True)
    slopes = tb.grad(lambda weights: tb.nansum(tb.weighted_nanmean(x, weights, axis=1)))(tb.asarray([2.0, 1.0]))
    assert slopes.tolist() == [0.0, 0.0]


def test_a_window_without_nan_has_the_mean_of_window_mean() -> None:
    x = tb.asarray(np.random.default_rng(0).normal(size=(3, 9)))
    for padding in ("same", "valid", ((0, 0), (2, 3))):
        options: dict[str, Any] = {"strides": (1, 2), "padding": padding, "dilations": (1, 2)}
        found = tb.window_nanmean(x, (1, 3), **options)
        wanted = tb.window_mean(x, (1, 3), include_padding=False, **options)
        np.testing.assert_allclose(np.asarray(found), np.asarray(wanted))
