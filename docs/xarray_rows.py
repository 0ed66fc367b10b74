"""The counterparts of xarray's functions here: the rows of coming-from-xarray.md, which `rows.py` makes."""

INTRODUCTION = """\
A dimension of xarray is the name of an axis here. The names are checked as in xarray, on every backend and inside
`jit`, `grad` and `vmap`.

**xarray leaves NaN out by default, as with `skipna=True`. Functions of tensors keep it: the rows below use `tb.nanmean`
and the like where xarray skips. `tb.mean` is `da.mean(skipna=False)`.**

The differences are:

- Operators pair axes by position and check their names; axes are never reordered silently. `tb.aligned` brings the axes
  of tensors into the same order; operators then compute what xarray computes by name.
- There are no coordinates, attributes or datasets. A tensor has names and numbers, and functions of containers take a
  dictionary of tensors. Keep an index next to the tensor, and find positions with `tb.searchsorted`.
- An axis may have no name (`None`).
- `tensorbackend.xarray.from_tensor(x)` is a `DataArray` of a tensor, and `tb.asarray(array)` goes back, with
  the dims as names.

This page is for programs that use tensors. A program can also keep xarray: transforms take and return its objects
([xarray with gradients](xarray.md))."""

NAMES = """\
import tensorbackend as tb

x = tb.asarray([[3.0, 1.0, tb.nan, 2.0], [0.5, 4.0, 0.25, -1.0]], names=("station", "time"))
y = tb.asarray([[1.0, 2.0], [2.0, 1.0], [0.5, 4.0], [3.0, 0.0]], names=("time", "station"))
scale = tb.asarray([1.0, 2.0], names=("station",))
hours = tb.asarray([0.0, 6.0, 12.0, 18.0], names=("time",))
groups = tb.asarray([0, 1, 0, 0])
place = tb.iota(x.shape, axis=1)


def correlate(a, b, axis):  # of the entries that both have
    both = ~tb.isnan(a + b)
    a, b = tb.where(both, a, tb.nan), tb.where(both, b, tb.nan)
    products = tb.multiply(a - tb.nanmean(a, axis=axis, keepdims=True), b - tb.nanmean(b, axis=axis, keepdims=True))
    return tb.nanmean(products, axis=axis) / (tb.nanstd(a, axis=axis) * tb.nanstd(b, axis=axis))


def segment_nanmax(a, segments, **options):
    largest = tb.segment_max(tb.where(tb.isnan(a), -tb.inf, a), segments, **options)
    return tb.where(largest == -tb.inf, tb.nan, largest)


def line(series):  # through the entries that a series has
    known = ~tb.isnan(series)
    return tb.polyfit(hours, tb.where(known, series, 0), 1, weights=known)
"""

THEIRS = """\
import numpy as np
import xarray as xr

dims = ("station", "time")
da = xr.DataArray(np.asarray(x), dims=dims, coords={"time": np.asarray(hours)}, name="rain")
db = xr.DataArray(np.asarray(y), dims=("time", "station"), coords={"time": np.asarray(hours)})
scale = xr.DataArray(np.asarray(scale), dims="station")
weights = xr.DataArray(np.asarray(hours), dims="time", coords={"time": np.asarray(hours)})
groups = xr.DataArray(np.asarray(groups), dims="time", coords={"time": np.asarray(hours)}, name="group")
run = da.expand_dims("run")
flat = da.stack(z=dims)
series = da.isel(station=1)


def logsumexp(array):
    return np.log(np.exp(array).sum(axis=-1))
"""
"""What a test runs before the names of the rows, which are xarray's code, to compare both columns."""

ROWS = """
xr.DataArray([[1.0, 2.0]], dims=("station", "time")) | tb.asarray([[1.0, 2.0]], names=("station", "time")) |
da.dims | x.names |
da.sizes | dict(zip(x.names, x.shape, strict=True)) |
da.values | x.tolist() | `numpy.asarray(x)` where the data is in host memory
da.rename(time="step") | x.rename(time="step") |
da.isel(time=0) | x.isel(time=0) | also slices, lists and tensors
da.isel(time=[0, 2], station=[1, 0]) | x.isel(time=[0, 2], station=[1, 0]) | each axis is indexed separately
da.sel(time=6.0) | x.isel(time=tb.searchsorted(hours, tb.asarray(6.0))) | there are no labels
da.where(da > 1) | tb.where(x > 1, x, tb.nan) |
da.fillna(0) | tb.where(tb.isnan(x), 0, x) |
da.mean("time") | tb.nanmean(x, axis="time") | likewise `nanmax`, `nanmin`, `nanprod`
da.mean("time", skipna=False) | tb.mean(x, axis="time") | or `x.mean("time")`: NaN where an element is NaN
da.std("time") | tb.nanstd(x, axis="time") | likewise `nanvar`; `correction=1` for `ddof=1`
da.median("time") | tb.nanmedian(x, axis="time") |
da.sum(["station", "time"]) | tb.nansum(x, axis=("station", "time")) |
da.sum("time", min_count=1) | tb.where(tb.all(tb.isnan(x), axis="time"), tb.nan, tb.nansum(x, axis="time")) |
da.count("time") | tb.sum(~tb.isnan(x), axis="time") |
da.weighted(scale).mean("station") | tb.weighted_nanmean(x, scale, axis="station") |
    `tb.weighted_mean` keeps NaN
da.weighted(scale).sum("station") | tb.dot(tb.where(tb.isnan(x), 0, x), scale, contract="station") |
da.quantile(0.5, dim="time") | tb.nanquantile(x, 0.5, axis="time") |
da.cumsum("time") | tb.cumulative_sum(tb.where(tb.isnan(x), 0, x), axis="time") | NaN counts as 0
da.cumprod("time") | tb.cumulative_prod(tb.where(tb.isnan(x), 1, x), axis="time") | NaN counts as 1
da.diff("time") | tb.diff(x, axis="time") |
da.argmax("time") | tb.argmax(tb.where(tb.isnan(x), -tb.inf, x), axis="time") | xarray has an error where all are NaN
da.argmin("time") | tb.argmin(tb.where(tb.isnan(x), tb.inf, x), axis="time") |
da.idxmax("time") | tb.take(hours, tb.argmax(tb.where(tb.isnan(x), -tb.inf, x), axis="time")) |
da.sortby("time", ascending=False) | tb.take(x, tb.argsort(hours, descending=True), axis="time") |
    by another array; `tb.sort(x, axis="time")` sorts each series
da * scale | tb.multiply(*tb.aligned(x, scale)) | by name; `x * scale` pairs axes by position, and here is an error
da + db | x + y.align_as(x) | axes in another order
xr.broadcast(scale, weights) | tb.broadcast_arrays(*tb.aligned(scale, hours, outer=True)) |
xr.dot(da, db, dim="time") | tb.dot(x, y, contract="time") |
    `station`, which both have, is a batch axis; NaN is kept in both libraries
da.dot(weights) | tb.dot(x, hours, contract="time") |
da.transpose("time", "station") | x.align_to("time", "station") |
da.expand_dims("run") | tb.expand_dims(x, 0, name="run") |
run.squeeze("run") | tb.squeeze(tb.expand_dims(x, 0, name="run"), "run") |
da.stack(z=("station", "time")) | tb.merge_axes(x, ("station", "time"), name="z") |
flat.unstack("z") | tb.split_axis(tb.reshape(x, 8).rename("z"), "z", {"station": 2, "time": 4}) |
xr.concat([da, da], dim="time") | tb.concatenate([x, x], axis="time") |
xr.concat([da, da], dim="run") | tb.stack([x, x], name="run") | a new axis
da.roll(time=1) | tb.roll(x, 1, axis="time") |
da.pad(time=(1, 0)) | tb.pad(x, {"time": (1, 0)}, value=tb.nan) | 0 without `value`
da.dropna("time") | tb.compress(tb.all(~tb.isnan(x), axis="station"), x, axis="time") | or `x[~tb.isnan(x)]`
da.ffill("time") | tb.take_along_axis(x, tb.cumulative_max(tb.where(tb.isnan(x), 0, place), axis=1), axis=1) |
da.shift(time=1) | tb.pad(x, {"time": (1, -1)}, value=tb.nan) |
da.rolling(time=2).mean() | tb.pad(tb.window_mean(x, {"time": 2}), {"time": (1, 0)}, value=tb.nan) |
    the padding is for the entries that have no full window; NaN is kept in both libraries
da.rolling(time=3, min_periods=1).mean() | tb.window_nanmean(x, {"time": 3}, padding={"time": (2, 0)}) |
da.rolling(time=3, center=True, min_periods=1).mean() | tb.window_nanmean(x, {"time": 3}, padding="same") |
da.rolling(time=2).construct("lag") | tb.unfold(tb.pad(x, {"time": (1, 0)}, value=tb.nan), {"time": 2}) |
da.coarsen(time=2).mean() | tb.window_nanmean(x, {"time": 2}, strides={"time": 2}) | `tb.window_mean` keeps NaN
da.coarsen(time=2).sum() | tb.window_sum(tb.where(tb.isnan(x), 0, x), {"time": 2}, strides={"time": 2}) |
da.groupby(groups).mean() | tb.segment_nanmean(x, groups, axis="time", size=2, name="group") |
    `tb.segment_mean` keeps NaN
da.groupby(groups).sum() | tb.segment_sum(tb.where(tb.isnan(x), 0, x), groups, axis="time", size=2, name="group") |
da.groupby(groups).max() | segment_nanmax(x, groups, axis="time", size=2, name="group") | `tb.segment_max` keeps NaN
series.interp(time=3.0) | tb.interp(tb.asarray(3.0), hours, x.isel(station=1)) | of one series
da.interp(time=[3.0, 9.0]) | tb.grid_sample(x, tb.asarray([[[0.5], [1.5]]]), axes="time") |
    takes positions instead of labels, for each station or, as here, for all
xr.apply_ufunc(logsumexp, da, input_core_dims=[["time"]]) | tb.vmap(tb.logsumexp, in_axes="station")(x) |
da.astype("float64") | x.astype("f64") |
xr.corr(da[0], da[1]) | correlate(x[0], x[1], axis="time") |
    without NaN `tb.correlation(tb.stack([a, b], axis=1))[0, 1]`
xr.corr(da, db, dim="time") | correlate(x, y.align_as(x), axis="time") |
series.polyfit("time", 1).polyfit_coefficients | line(x.isel(station=1)) | the highest power first
da.polyfit("time", 1).polyfit_coefficients | tb.vmap(line, in_axes="station", out_axes=1)(x) |
xr.Dataset | {"rain": x, "sun": x} | transforms and other functions of containers take this dictionary,
    [or the dataset itself](xarray.md)
da.to_netcdf | | `tb.save("a.safetensors", {"rain": x})` keeps names and dtypes
da.chunk | | [tensorbackend-dask](../plugins/tensorbackend-dask/README.md) cuts tensors into blocks by axis name
da.plot | | pass `numpy.asarray(x)` to a plotting library
"""
