"""The code that hints name, with the result of the other library's call on tensors of several axes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

import tensorbackend as tb

X = np.asarray([[1.0, 5.0, -2.0], [4.0, 0.5, 8.0], [2.0, 7.0, 3.0], [9.0, -1.0, 6.0]])
Y = np.asarray([[2.0, 1.0, 0.0], [3.0, -4.0, 5.0], [1.0, 2.5, 2.0], [0.5, 1.0, 7.0]])
HOLES = np.asarray([[np.nan, 5.0, -2.0], [4.0, np.nan, np.nan], [np.nan, 7.0, 3.0], [9.0, -1.0, 6.0]])
SERIES = np.asarray([1.0, np.nan, 2.0, 6.0])
PLACES = np.asarray([0.0, 1.0, 3.0, 4.0])
LABELS = np.asarray([30.0, 10.0, 40.0, 20.0])
SEGMENTS = np.asarray([0, 1, 1, 0])
ROWS = np.asarray([2, 0, 2])
COLUMNS: Any = np.asarray([[2], [0], [0], [1]])
TABLE = ("time", "station")


def filled_forward(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Each column with NaN replaced by the last number before it, in a loop."""
    x = x.copy()
    for i in range(1, len(x)):
        x[i] = np.where(np.isnan(x[i]), x[i - 1], x[i])
    return x


def added(x: np.ndarray[Any, Any], key: Any, values: Any, ufunc: Any = np.add) -> np.ndarray[Any, Any]:
    """x after NumPy's unbuffered operation at a key."""
    x = x.copy()
    ufunc.at(x, key, values)
    return x


def put(x: np.ndarray[Any, Any], key: Any, values: Any) -> np.ndarray[Any, Any]:
    x = x.copy()
    x[key] = values
    return x


def of_columns(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The correlation of each column of x with that of y."""
    return np.asarray([np.corrcoef(a, b)[0, 1] for a, b in zip(x.T, y.T, strict=True)])


def standardised(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.asarray((x - x.mean(axis=0)) / x.std(axis=0))


def weighted_exponentially(x: np.ndarray[Any, Any], alpha: float) -> np.ndarray[Any, Any]:
    """The mean of pandas' ewm with adjust=False."""
    means = [x[0]]
    for value in x[1:]:
        means.append((1 - alpha) * means[-1] + alpha * value)
    return np.asarray(means)


PUT_ALONG = X.copy()
np.put_along_axis(PUT_ALONG, COLUMNS, 7.0, axis=1)
MEANS = np.stack([X[segment == SEGMENTS].mean(axis=0) for segment in (0, 1)])
DISTANCES = np.sqrt(((X[:, None] - Y[None]) ** 2).sum(axis=-1))
LAGGED = np.corrcoef(X[1:, 0], X[:-1, 0])[0, 1]
QUARTILES = np.quantile(X[SEGMENTS == 1], 0.25, axis=0)
AVERAGE = np.average(X, axis=0, weights=LABELS)
OF_SQUARES = "tb.weighted_mean(tb.square(x - tb.weighted_mean(x, weights, axis=0, keepdims=True)), weights, axis=0)"
RESIDUALS = LABELS - np.polyval(np.polyfit(PLACES, LABELS, 1), PLACES)
WHOLE = X[1:]
GAPS = np.vstack([[[np.nan, 5.0, -2.0]], WHOLE])
WINDOWS = sliding_window_view(X, 2, axis=0)

CASES: list[tuple[str, str, dict[str, Any], Any]] = [
    # xarray and pandas
    ("coarsen", "tb.window_mean(x, {'time': 2}, strides={'time': 2})", {}, X.reshape(2, 2, 3).mean(axis=1)),
    ("resample", "tb.window_mean(x, {'time': 2}, strides={'time': 2})", {}, X.reshape(2, 2, 3).mean(axis=1)),
    ("resample", "tb.segment_mean(x, segments, size=2, axis=0)", {}, MEANS),
    ("rolling", "tb.window_mean(x, {'time': 2})", {}, WINDOWS.mean(axis=-1)),
    ("rolling", "tb.unfold(x, {'time': 2})", {}, WINDOWS),
    ("rolling_mean", "tb.window_mean(x, {'time': 2})", {}, WINDOWS.mean(axis=-1)),
    ("rolling_sum", "tb.window_sum(x, {'time': 2})", {}, WINDOWS.sum(axis=-1)),
    ("moving_average", "tb.window_mean(x, {'time': 2})", {}, WINDOWS.mean(axis=-1)),
    ("dropna", "x[tb.all(~tb.isnan(x), axis='station')]", {"x": HOLES}, HOLES[~np.isnan(HOLES).any(axis=1)]),
    ("dropna", "x[~tb.isnan(x)]", {"x": HOLES}, HOLES[~np.isnan(HOLES)]),
    ("dropna", "tb.compress(mask, x, axis=0)", {"mask": LABELS > 15}, X[LABELS > 15]),
    ("fillna", "tb.where(tb.isnan(x), value, x)", {"x": HOLES, "value": 7.0}, np.nan_to_num(HOLES, nan=7.0)),
    ("count", "tb.sum(~tb.isnan(x), axis=0)", {"x": HOLES}, (~np.isnan(HOLES)).sum(axis=0)),
    (
        "interpolate_na",
        "tb.interp(places, places[~tb.isnan(x)], x[~tb.isnan(x)])",
        {"x": SERIES},
        [1.0, 4 / 3, 2.0, 6.0],
    ),
    ("shift", "tb.pad(x, {'time': (1, -1)}, value=tb.nan)", {}, np.vstack([np.full((1, 3), np.nan), X[:-1]])),
    ("shift", "tb.roll(x, 1, axis=0)", {}, np.roll(X, 1, axis=0)),
    ("rank", "tb.argsort(tb.argsort(x, axis=0), axis=0) + 1", {}, X.argsort(axis=0).argsort(axis=0) + 1),
    ("groupby", "tb.segment_sum(x, segments, size=2, axis=0)", {}, added(np.zeros((2, 3)), SEGMENTS, X)),
    (
        "groupby_bins",
        "tb.segment_mean(x, tb.digitize(labels, edges), size=2, axis=0)",
        {},
        [X[[1, 3]].mean(0), X[[0, 2]].mean(0)],
    ),
    ("idxmax", "labels[tb.argmax(x, axis=0)]", {}, LABELS[X.argmax(axis=0)]),
    ("idxmin", "labels[tb.argmin(x, axis=0)]", {}, LABELS[X.argmin(axis=0)]),
    ("sortby", "tb.take(x, tb.argsort(labels), axis=0)", {}, X[LABELS.argsort()]),
    ("pct_change", "x[1:] / x[:-1] - 1", {}, X[1:] / X[:-1] - 1),
    ("differentiate", "tb.sample_gradient(x, places, axis=0)", {}, np.gradient(X, PLACES, axis=0)),
    ("differentiate", "tb.sample_gradient(x, dx=spacing, axis=0)", {}, np.gradient(X, 0.5, axis=0)),
    ("Tensor.integrate", "tb.trapezoid(x, places, axis=0)", {}, np.trapezoid(X, PLACES, axis=0)),
    (
        "cumulative_integrate",
        "tb.cumulative_sum((x[1:] + x[:-1]) / 2, axis=0) * dx",
        {},
        np.cumsum((X[1:] + X[:-1]) / 4, axis=0),
    ),
    ("weighted", "tb.weighted_mean(x, weights, axis=0)", {}, np.average(X, axis=0, weights=LABELS)),
    (
        "corr",
        "tb.correlation(tb.stack([x, y], axis=1))[0, 1]",
        {"x": X[:, 0], "y": Y[:, 0]},
        np.corrcoef(X[:, 0], Y[:, 0])[0, 1],
    ),
    (
        "corr",
        "tb.vmap(lambda a, b: tb.correlation(tb.stack([a, b], axis=1))[0, 1], 'station')(x, y)",
        {},
        of_columns(X, Y),
    ),
    ("corr", "tb.correlation(x)", {}, np.corrcoef(X, rowvar=False)),
    ("cov", "tb.covariance(x, correction=1)", {}, np.cov(X, rowvar=False)),
    (
        "cov",
        "tb.covariance(tb.stack([x, y], axis=1), correction=1)[0, 1]",
        {"x": X[:, 0], "y": Y[:, 0]},
        np.cov(X[:, 0], Y[:, 0])[0, 1],
    ),
    (
        "apply_ufunc",
        "tb.vmap(function, 'station', out_axes=-1)(x)",
        {"function": tb.cumulative_sum},
        np.cumsum(X, axis=0),
    ),
    ("apply", "tb.vmap(function, in_axes=1, out_axes=-1)(x)", {"function": tb.cumulative_sum}, np.cumsum(X, axis=0)),
    ("apply", "tb.map(x, function=tb.square)", {}, X * X),
    ("autocorr", "tb.correlation(tb.stack([x[lag:], x[:-lag]], axis=1))[0, 1]", {"x": X[:, 0], "lag": 1}, LAGGED),
    (
        "ewm",
        "tb.scan(lambda mean, value: 2 * ((1 - alpha) * mean + alpha * value,), x[0], x)[1]",
        {"alpha": 0.25},
        weighted_exponentially(X, 0.25),
    ),
    ("segment_median", "tb.median(x[segments == k], axis=0)", {"k": 1}, np.median(X[SEGMENTS == 1], axis=0)),
    ("segment_quantile", "tb.quantile(x[segments == k], q, axis=0)", {"k": 1, "q": 0.25}, QUARTILES),
    ("weighted_std", f"tb.sqrt({OF_SQUARES})", {}, np.sqrt(np.average((X - AVERAGE) ** 2, axis=0, weights=LABELS))),
    ("weighted_var", OF_SQUARES, {}, np.average((X - AVERAGE) ** 2, axis=0, weights=LABELS)),
    (
        "weighted_sum",
        "tb.dot(x, weights, contract='lat')",
        {"x": "x.rename('lat', 'station')", "weights": "weights.rename('lat')"},
        LABELS @ X,
    ),
    ("Tensor.sem", "tb.std(x, axis=0, correction=1) / n**0.5", {"n": 4}, X.std(axis=0, ddof=1) / 2),
    ("nancount", "tb.sum(~tb.isnan(x), axis=0)", {"x": HOLES}, (~np.isnan(HOLES)).sum(axis=0)),
    # NumPy and SciPy
    ("detrend", "y - tb.polyval(tb.polyfit(x, y, 1), x)", {"x": PLACES, "y": LABELS}, RESIDUALS),
    ("linregress", "tb.polyfit(x, y, 1)", {"x": PLACES, "y": LABELS}, np.polyfit(PLACES, LABELS, 1)),
    ("lfilter", "tb.convolve(x, b)[: x.size]", {"x": PLACES, "b": [2.0, -1.0]}, 2 * PLACES - [0, *PLACES[:-1]]),
    ("zscore", "(x - tb.mean(x, axis=0, keepdims=True)) / tb.std(x, axis=0, keepdims=True)", {}, standardised(X)),
    ("nancov", "tb.covariance(x[tb.all(~tb.isnan(x), axis=1)], correction=1)", {"x": GAPS}, np.cov(WHOLE.T)),
    ("nancorrcoef", "tb.correlation(x[tb.all(~tb.isnan(x), axis=1)])", {"x": GAPS}, np.corrcoef(WHOLE.T)),
    (
        "periodogram",
        "tb.abs(tb.fft.rfft(x - tb.mean(x))) ** 2 / (n * fs)",
        {"x": LABELS, "fs": 2.0},
        np.abs(np.fft.rfft(LABELS - LABELS.mean())) ** 2 / 8,
    ),
    ("sliding_window_view", "tb.unfold(x, {0: 2})", {}, WINDOWS),
    ("sliding_window_view", "tb.unfold(x, sizes)", {}, sliding_window_view(X, (2, 2))),
    ("lib", "tb.unfold(x, {0: 2})", {}, WINDOWS),
    ("as_strided", "tb.unfold(x, {0: 2})", {}, WINDOWS),
    ("windows", "tb.unfold(x, {0: 2})", {}, WINDOWS),
    ("windows", "tb.window_sum(x, {0: 2})", {}, WINDOWS.sum(axis=-1)),
    ("window_median", "tb.median(tb.unfold(x, {0: 2}), axis=-1)", {}, np.median(WINDOWS, axis=-1)),
    ("window_std", "tb.std(tb.unfold(x, {0: 2}), axis=-1)", {}, WINDOWS.std(axis=-1)),
    ("window_var", "tb.var(tb.unfold(x, {0: 2}), axis=-1)", {}, WINDOWS.var(axis=-1)),
    ("cdist", "tb.linalg.vector_norm(x[:, None] - y, axis=-1)", {"y": "y.rename(None, None)"}, DISTANCES),
    ("cdist", "tb.linalg.vector_norm(x[:, None] - y, axis=-1)", {"y": "y.rename(time='other')"}, DISTANCES),
    ("spatial", "tb.linalg.vector_norm(x[:, None] - y, axis=-1)", {"y": "y.rename(time='other')"}, DISTANCES),
    (
        "pdist",
        "tb.linalg.vector_norm(x[:, None] - x.rename(None, None), axis=-1)",
        {},
        np.sqrt(((X[:, None] - X) ** 2).sum(-1)),
    ),
    (
        "cumulative_trapezoid",
        "tb.cumulative_sum((y[..., 1:] + y[..., :-1]) / 2, axis=-1) * dx",
        {},
        np.cumsum((Y[:, 1:] + Y[:, :-1]) / 4, axis=-1),
    ),
    (
        "apply_along_axis",
        "tb.vmap(function, in_axes=1, out_axes=-1)(x)",
        {"function": tb.cumulative_sum},
        np.apply_along_axis(np.cumsum, 0, X),
    ),
    (
        "apply_along_axis",
        "tb.vmap(function, in_axes=1, out_axes=-1)(x)",
        {"function": tb.sum},
        np.apply_along_axis(np.sum, 0, X),
    ),
    ("vectorize", "tb.map(x, function=tb.square)", {}, X * X),
    ("corrcoef", "tb.correlation(x)", {}, np.corrcoef(X, rowvar=False)),
    (
        "corrcoef",
        "tb.correlation(tb.stack([x, y], axis=1))",
        {"x": X[:, 0], "y": Y[:, 0]},
        np.corrcoef(X[:, 0], Y[:, 0]),
    ),
    (
        "put_along_axis",
        "tb.put_at(x, (tb.arange(n)[:, None], indices), values)",
        {"indices": COLUMNS, "values": 7.0},
        PUT_ALONG,
    ),
    ("vander", "x[:, None] ** tb.arange(n - 1, -1, -1)", {"x": PLACES, "n": 3}, np.vander(PLACES, 3)),
    ("flatnonzero", "tb.nonzero(tb.reshape(x, -1))[0]", {"x": X > 2}, np.flatnonzero(X > 2)),
    ("ediff1d", "tb.diff(tb.reshape(x, -1))", {}, np.ediff1d(X)),
    ("heaviside", "tb.where(x == 0, h0, tb.where(x > 0, 1.0, 0.0))", {"x": Y, "h0": 0.5}, np.heaviside(Y, 0.5)),
    ("inner", "x @ y.mT", {"y": "y.rename(time='other')"}, np.inner(X, Y)),
    (
        "vdot",
        "tb.vecdot(tb.reshape(x, -1), tb.reshape(y, -1))",
        {"x": X + 1j * Y, "y": Y - 2j * X},
        np.vdot(X + 1j * Y, Y - 2j * X),
    ),
    ("hstack", "tb.concatenate(tensors, axis=1)", {}, np.hstack([X, Y])),
    ("vstack", "tb.concatenate(tensors, axis=0)", {}, np.vstack([X, Y])),
    ("vstack", "tb.stack(tensors)", {"tensors": "[x[:, 0], y[:, 0]]"}, np.vstack([X[:, 0], Y[:, 0]])),
    ("dstack", "tb.stack(tensors, axis=2)", {}, np.dstack([X, Y])),
    ("column_stack", "tb.concatenate(tensors, axis=1)", {}, np.column_stack([X, Y])),
    (
        "column_stack",
        "tb.stack(tensors, axis=1)",
        {"tensors": "[x[:, 0], y[:, 0]]"},
        np.column_stack([X[:, 0], Y[:, 0]]),
    ),
    ("rot90", "tb.flip(tb.matrix_transpose(x), axis=0)", {}, np.rot90(X)),
    ("ptp", "tb.max(x) - tb.min(x)", {}, np.ptp(X)),
    ("msort", "tb.sort(x, axis=0)", {}, np.sort(X, axis=0)),
    ("nanargmax", "tb.argmax(tb.where(tb.isnan(x), -tb.inf, x), axis=0)", {"x": HOLES}, np.nanargmax(HOLES, axis=0)),
    ("nanargmin", "tb.argmin(tb.where(tb.isnan(x), tb.inf, x), axis=0)", {"x": HOLES}, np.nanargmin(HOLES, axis=0)),
    ("nancumsum", "tb.cumulative_sum(tb.where(tb.isnan(x), 0, x), axis=0)", {"x": HOLES}, np.nancumsum(HOLES, axis=0)),
    (
        "nancumprod",
        "tb.cumulative_prod(tb.where(tb.isnan(x), 1, x), axis=0)",
        {"x": HOLES},
        np.nancumprod(HOLES, axis=0),
    ),
    (
        "skew",
        "tb.mean(((x - tb.mean(x, axis=0, keepdims=True)) / tb.std(x, axis=0, keepdims=True)) ** 3, axis=0)",
        {},
        (standardised(X) ** 3).mean(axis=0),
    ),
    (
        "kurtosis",
        "tb.mean(((x - tb.mean(x, axis=0, keepdims=True)) / tb.std(x, axis=0, keepdims=True)) ** 4, axis=0) - 3",
        {},
        (standardised(X) ** 4).mean(axis=0) - 3,
    ),
    ("tril_indices", "tb.nonzero(tb.tri(n))", {"n": 3}, np.stack(np.tril_indices(3))),
    ("triu_indices", "tb.nonzero(tb.triu(tb.ones((n, n))))", {"n": 3}, np.stack(np.triu_indices(3))),
    ("add_at", "tb.indexed_add(x, indices[:, None], updates)", {}, added(X, ROWS, Y[:3])),
    (
        "add_at",
        "tb.indexed_add(x, tb.stack(indices, axis=-1), updates)",
        {"indices": "[indices, indices]", "updates": LABELS[:3]},
        added(X, (ROWS, ROWS), LABELS[:3]),
    ),
    ("linalg.issymmetric", "tb.all_close(x, x.mT.rename(*x.names))", {"x": "tb.eye(2, names=('a', 'b'))"}, True),
    (
        "linalg.ishermitian",
        "tb.all_close(x, tb.linalg.adjoint(x).rename(*x.names))",
        {"x": "tb.asarray([[1, 2j], [2j, 1]], names=('a', 'b'))"},
        False,
    ),
    # JAX and PyTorch
    ("at", "tb.put_at(x, key, value)", {"key": ROWS, "value": 7.0}, put(X, ROWS, 7.0)),
    ("at", "tb.indexed_add(x, i[:, None], updates)", {"i": ROWS}, added(X, ROWS, Y[:3])),
    ("index_add", "tb.indexed_add(x, indices[:, None], updates)", {}, added(X, ROWS, Y[:3])),
    ("index_copy", "tb.put_at(x, indices, updates)", {"indices": ROWS[:2], "updates": Y[:2]}, put(X, ROWS[:2], Y[:2])),
    ("index_fill", "tb.put_at(x, indices, value)", {"value": 7.0}, put(X, ROWS, 7.0)),
    (
        "index_put",
        "tb.indexed_add(x, tb.stack(indices, axis=-1), values)",
        {"indices": "[indices, indices]", "values": LABELS[:3]},
        added(X, (ROWS, ROWS), LABELS[:3]),
    ),
    (
        "scatter",
        "tb.put_at(x, (tb.arange(n)[:, None], indices), values)",
        {"indices": COLUMNS, "values": 7.0},
        PUT_ALONG,
    ),
    (
        "scatter_add",
        "tb.add_along_axis(x, indices, values, axis=0)",
        {"indices": [[3, 3, 0]], "values": [[1.0, 2.0, 3.0]]},
        added(X, ([3, 3, 0], [0, 1, 2]), [1.0, 2.0, 3.0]),
    ),
    ("scatter_add", "tb.indexed_add(x, indices[:, None], updates)", {}, added(X, ROWS, Y[:3])),
    (
        "scatter_reduce",
        "tb.indexed_max(x, tb.stack(tb.broadcast_arrays(tb.arange(n)[:, None], indices), axis=-1), values)",
        {"indices": COLUMNS, "values": np.full((4, 1), 7.0)},
        added(X, (np.arange(4)[:, None], COLUMNS), 7.0, np.maximum),
    ),
    ("Tensor.unfold", "tb.unfold(x, {0: 2}, strides={0: step})", {"step": 2}, WINDOWS[::2]),
    ("kthvalue", "tb.sort(x)[..., k - 1]", {"k": 2}, np.sort(X)[:, 1]),
    ("bucketize", "tb.searchsorted(edges, x)", {"x": X, "edges": [2.0, 7.0]}, np.searchsorted([2.0, 7.0], X)),
    ("std_mean", "tb.std(x, correction=1)", {}, X.std(ddof=1)),
    ("var_mean", "tb.var(x, correction=1)", {}, X.var(ddof=1)),
    (
        "nn.cosine_similarity",
        "tb.vecdot(x, y) / tb.sqrt(tb.vecdot(x, x) * tb.vecdot(y, y))",
        {},
        (X * Y).sum(-1) / np.sqrt((X * X).sum(-1) * (Y * Y).sum(-1)),
    ),
    # Code of several lines elsewhere
    (
        "ffill",
        "tb.take_along_axis(x, tb.cumulative_max(tb.where(tb.isnan(x), 0, tb.iota(x.shape, axis=0, "
        "names=x.names, like=x)), axis=0), axis=0)",
        {"x": HOLES},
        filled_forward(HOLES),
    ),
    (
        "bfill",
        "tb.flip(tb.take_along_axis(y, tb.cumulative_max(tb.where(tb.isnan(y), 0, tb.iota(y.shape, axis=0, "
        "names=y.names, like=y)), axis=0), axis=0), axis=0)",
        {"x": HOLES, "y": "tb.flip(x, axis=0)"},
        filled_forward(HOLES[::-1])[::-1],
    ),
    (
        "segment_var",
        "tb.segment_mean(tb.square(x - tb.take(means, segments, axis=0)), segments, size=2)",
        {"means": MEANS},
        [X[s == SEGMENTS].var(axis=0) for s in (0, 1)],
    ),
]
