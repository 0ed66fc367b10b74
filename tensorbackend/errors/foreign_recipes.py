"""Functions and methods of other libraries that are several calls, or calls with options, here: see `foreign_names`.

`tests/errors/test_foreign_recipes.py` runs the code on tensors of several axes, next to the other libraries' results.
"""

from __future__ import annotations

from typing import Final

_NAN_IN_WINDOWS = ", or tb.window_nanmean, which leaves NaN out"

RECIPES: Final = {
    **dict.fromkeys(
        ("add_at", "at_add", "max_at", "min_at", "multiply_at", "scatter_max", "scatter_min", "scatter_mul"),
        "tb.indexed_add(x, indices[:, None], updates) for a vector of indices along the first axis, or "
        "tb.indexed_add(x, tb.stack(indices, axis=-1), updates) for one vector for each axis; tb.indexed_max, "
        "tb.indexed_min and tb.indexed_prod likewise",
    ),
    "apply": "tb.map(x, function=...) for each element, or tb.vmap(function, in_axes=1, out_axes=-1)(x) for each "
    "column",
    "apply_along_axis": "tb.vmap(function, in_axes=1, out_axes=-1)(x) for axis 0 of a matrix, as vmap() maps over "
    "the other axis",
    "apply_ufunc": "function(x), or tb.vmap(function, 'station', out_axes=-1)(x) for each entry of an axis that is "
    "no core dimension",
    "as_strided": "tb.unfold(x, {0: size}) for windows along an axis",
    "at": "x[key] = value, or tb.put_at(x, key, value) for a new tensor; for .at[i].add(), where indices may be "
    "equal, tb.indexed_add(x, i[:, None], updates) with a vector i, tb.indexed_max, tb.indexed_min and "
    "tb.indexed_prod",
    **dict.fromkeys(
        ("autocorr", "acf"),
        "tb.correlation(tb.stack([x[lag:], x[:-lag]], axis=1))[0, 1] for a series, with a lag above 0",
    ),
    "bfill": "tb.flip(tb.take_along_axis(y, tb.cumulative_max(tb.where(tb.isnan(y), 0, tb.iota(y.shape, axis=0, "
    "names=y.names)), axis=0), axis=0), axis=0), with y = tb.flip(x, axis=0)",
    "cdist": "tb.linalg.vector_norm(x[:, None] - y, axis=-1); write y.rename(point='other') where x and y have the "
    "same names",
    "coarsen": f"tb.window_mean(x, {{'time': 12}}, strides={{'time': 12}}){_NAN_IN_WINDOWS}",
    "corr": "tb.correlation(tb.stack([x, y], axis=1))[0, 1] for two series, tb.correlation(x) for the columns of a "
    "matrix, and tb.vmap(lambda a, b: tb.correlation(tb.stack([a, b], axis=1))[0, 1], 'station')(x, y) for each "
    "entry of an axis, with ('station', None) for one series y",
    "corrcoef": "tb.correlation(x), with a variable a column; tb.correlation(tb.stack([x, y], axis=1)) for two series",
    "cov": "tb.covariance(x, correction=1), with a variable a column; tb.covariance(tb.stack([x, y], axis=1), "
    "correction=1)[0, 1] for two series",
    **dict.fromkeys(
        ("cumtrapz", "cumulative_trapezoid"),
        "tb.cumulative_sum((y[..., 1:] + y[..., :-1]) / 2, axis=-1) * dx",
    ),
    "cumulative_integrate": "tb.cumulative_sum((x[1:] + x[:-1]) / 2, axis=0) * dx, and a 0 in front",
    "detrend": "y - tb.polyval(tb.polyfit(x, y, 1), x), with x = tb.arange(y.shape[0]) * 1.0, for the columns of y too",
    "differentiate": "tb.sample_gradient(x, places, axis=...), or tb.sample_gradient(x, dx=spacing, axis=...)",
    "dropna": "x[tb.all(~tb.isnan(x), axis='station')] for the entries of the first axis without NaN, "
    "tb.compress(mask, x, axis=...) for those of another, x[~tb.isnan(x)] for the elements",
    "ewm": "tb.scan(lambda mean, value: 2 * ((1 - alpha) * mean + alpha * value,), x[0], x)[1] for the mean along the "
    "first axis, as with adjust=False",
    "ffill": "tb.take_along_axis(x, tb.cumulative_max(tb.where(tb.isnan(x), 0, tb.iota(x.shape, axis=0, "
    "names=x.names)), axis=0), axis=0)",
    "from_array": "tb.asarray(array)",
    "from_cupy": "tb.asarray(array)",
    "from_jax": "tb.asarray(array)",
    "from_tensor": "tb.asarray(array)",
    "from_arrays": "tb.stack([tb.asarray(array) for array in arrays])",
    "from_dataframe": "tb.asarray(frame.to_numpy(), names=('row', 'column'))",
    "from_pandas": "tb.asarray(frame.to_numpy(), names=('row', 'column'))",
    "from_polars": "tb.asarray(frame.to_numpy(), names=('row', 'column'))",
    "from_list": "tb.asarray(values), or tb.ragged.from_list(tensors, axis=...) for tensors of several lengths",
    "from_series": "tb.asarray(series.to_numpy())",
    "from_tensorflow": "tb.from_dlpack(tensor), or tb.asarray(tensor)",
    "from_torch": "tb.asarray(tensor), or tb.from_dlpack(tensor)",
    "from_xarray": "tb.asarray(array), which keeps its dims as names",
    **dict.fromkeys(
        ("frompyfunc", "vectorize"),
        "tb.map(x, function=...) for each element, or tb.vmap(function) for each entry of an axis",
    ),
    "groupby": "tb.segment_sum(x, segments, size=..., axis=...), tb.segment_mean, tb.segment_nanmean, which leaves NaN "
    "out, and the like",
    "groupby_bins": "tb.segment_mean(x, tb.digitize(labels, edges), size=..., axis=...), or tb.segment_nanmean, which "
    "leaves NaN out",
    "idxmax": "labels[tb.argmax(x, axis=...)]",
    "idxmin": "labels[tb.argmin(x, axis=...)]",
    "index_add": "tb.indexed_add(x, indices[:, None], updates)",
    "index_add_": "tb.indexed_add(x, indices[:, None], updates), a new tensor",
    "index_copy": "tb.put_at(x, indices, updates)",
    "index_fill": "tb.put_at(x, indices, value)",
    "index_put": "tb.put_at(x, key, values), or x[key] = values; tb.indexed_add(x, tb.stack(indices, axis=-1), "
    "values) to add",
    "index_put_": "x[key] = values, or x[...] = tb.indexed_add(x, tb.stack(indices, axis=-1), values) to add",
    "interpolate_na": "tb.interp(places, places[~tb.isnan(x)], x[~tb.isnan(x)]) for a series x",
    "kurtosis": "tb.mean(((x - tb.mean(x, axis=..., keepdims=True)) / tb.std(x, axis=..., keepdims=True)) ** 4, "
    "axis=...) - 3",
    **dict.fromkeys(
        ("lib", "sliding_window_view"),
        "tb.unfold(x, {0: size}) for windows along an axis, tb.unfold(x, sizes) along all",
    ),
    "lfilter": "tb.convolve(x, b)[: x.size] for a series and a = 1, or tb.scan(step, state, x) for feedback",
    "linregress": "tb.polyfit(x, y, 1), the slope and the intercept",
    "map_blocks": "function(x), as a tensor has no blocks",
    "moving_average": "tb.window_mean(x, {'time': 12}) of a series, or tb.optimize.moving_average(decay)",
    "nancov": "tb.covariance(x[tb.all(~tb.isnan(x), axis=1)], correction=1) of the rows without NaN",
    **dict.fromkeys(
        ("nancorr", "nancorrcoef"), "tb.correlation(x[tb.all(~tb.isnan(x), axis=1)]) of the rows without NaN"
    ),
    "nlargest": "tb.top_k(x, k, axis=...)",
    **dict.fromkeys(
        ("pairwise_distances", "pdist"),
        "tb.linalg.vector_norm(x[:, None] - x.rename(None, None), axis=-1) for a matrix of distances",
    ),
    "pca": "tb.linalg.svd(x - tb.mean(x, axis=0), full_matrices=False).Vh, whose rows are the components",
    "pct_change": "x[1:] / x[:-1] - 1",
    **dict.fromkeys(
        ("put_along_axis", "scatter"),
        "tb.put_at(x, (tb.arange(n)[:, None], indices), values) along axis 1 of n rows",
    ),
    "periodogram": "tb.abs(tb.fft.rfft(x - tb.mean(x))) ** 2 / (n * fs), twice that for all but the "
    "frequencies 0 and fs / 2",
    "rank": "tb.argsort(tb.argsort(x, axis=...), axis=...) + 1",
    "resample": "tb.window_mean(x, {'time': 12}, strides={'time': 12}), or tb.segment_mean(x, segments, size=..., "
    "axis=...); tb.window_nanmean and tb.segment_nanmean leave NaN out",
    "rolling": "tb.window_mean(x, {'time': 12}), or tb.unfold(x, {'time': 12}), whose last axis is the window",
    "rolling_mean": f"tb.window_mean(x, {{'time': 12}}){_NAN_IN_WINDOWS}",
    "rolling_sum": "tb.window_sum(x, {'time': 12})",
    "scatter_": "x[key] = values, or tb.put_at(x, (tb.arange(n)[:, None], indices), values) for a new tensor, along "
    "axis 1",
    "scatter_add": "tb.add_along_axis(x, indices, values, axis=...), or tb.indexed_add(x, indices[:, None], updates) "
    "for entries of the first axis",
    "scatter_reduce": "tb.indexed_max(x, tb.stack(tb.broadcast_arrays(tb.arange(n)[:, None], indices), axis=-1), "
    "values) along axis 1 of n rows, tb.indexed_add and the like",
    "segment_median": "tb.median(x[segments == k], axis=0) for each segment k",
    "segment_quantile": "tb.quantile(x[segments == k], q, axis=0) for each segment k",
    "segment_std": "tb.sqrt(variance), with the variance tb.segment_mean(tb.square(x - tb.take(means, segments, "
    "axis=0)), segments, size=...) and means = tb.segment_mean(x, segments, size=...)",
    "segment_var": "tb.segment_mean(tb.square(x - tb.take(means, segments, axis=0)), segments, size=...), with means "
    "= tb.segment_mean(x, segments, size=...)",
    "shift": "tb.pad(x, {'time': (1, -1)}, value=tb.nan), or tb.roll(x, 1, axis=...) to move the last entry to the "
    "front",
    "skew": "tb.mean(((x - tb.mean(x, axis=..., keepdims=True)) / tb.std(x, axis=..., keepdims=True)) ** 3, axis=...)",
    "sortby": "tb.take(x, tb.argsort(labels), axis=...)",
    "spatial": "tb.linalg.vector_norm(x[:, None] - y, axis=-1) for distances; write y.rename(point='other') where x "
    "and y have the same names",
    "vander": "x[:, None] ** tb.arange(n - 1, -1, -1)",
    "weighted_std": "tb.sqrt(tb.weighted_mean(tb.square(x - tb.weighted_mean(x, weights, axis=..., keepdims=True)), "
    "weights, axis=...))",
    "weighted_sum": "tb.dot(x, weights, contract='lat') over an axis of both, by its name",
    "weighted_var": "tb.weighted_mean(tb.square(x - tb.weighted_mean(x, weights, axis=..., keepdims=True)), weights, "
    "axis=...)",
    "welch": "tb.abs(tb.fft.rfft(parts)) ** 2, with parts = tb.unfold(x, {0: size}) times a window "
    "such as tb.nn.hann(size)",
    "window_median": "tb.median(tb.unfold(x, {0: size}), axis=-1)",
    "window_std": "tb.std(tb.unfold(x, {0: size}), axis=-1)",
    "window_var": "tb.var(tb.unfold(x, {0: size}), axis=-1)",
    "windows": "tb.unfold(x, {0: size}) for the windows of a tensor, or tb.window_sum(x, {0: size}) and the like",
    "zscore": "(x - tb.mean(x, axis=..., keepdims=True)) / tb.std(x, axis=..., keepdims=True)",
}
"""What to write instead of them, whether they are looked for in `tb` or among the attributes of a tensor."""
