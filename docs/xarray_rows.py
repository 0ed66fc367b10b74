"""The counterparts of xarray's functions here: the rows of coming-from-xarray.md, which `rows.py` makes."""

INTRODUCTION = """\
A dimension of xarray is the name of an axis here. The names are checked as in xarray, on every backend and inside
`jit`, `grad` and `vmap`. The differences are:

- Operators pair axes by position and check their names; axes are never reordered silently. `tb.aligned` brings the axes
  of tensors into the same order; operators then compute what xarray computes by name.
- There are no coordinates, attributes or datasets. A tensor has names and numbers, and functions of containers take a
  dictionary of tensors. Keep an index next to the tensor, and find positions with `tb.searchsorted`.
- An axis may have no name (`None`).
- `xarray.DataArray(x, dims=x.names)` wraps a tensor, and computes with it by the Array API
  ([interoperability](interoperability.md)); `tb.asarray(array)` goes back, with the dims as names."""

NAMES = """\
import tensorbackend as tb

x = tb.asarray([[3.0, 1.0, 2.0], [0.5, 4.0, 0.25]], names=("station", "time"))
y = tb.asarray([[1.0, 2.0], [2.0, 1.0], [0.5, 4.0]], names=("time", "station"))
scale = tb.asarray([1.0, 2.0], names=("station",))
hours = tb.asarray([0.0, 6.0, 12.0], names=("time",))
groups = tb.asarray([0, 1, 0])
place = tb.iota(x.shape, axis=1)


def correlate(a, b):
    return tb.correlation(tb.stack([a, b], axis=1))[0, 1]
"""

ROWS = """
xr.DataArray(values, dims=("station", "time")) | tb.asarray([[1.0, 2.0]], names=("station", "time")) |
da.dims | x.names |
da.sizes | dict(zip(x.names, x.shape, strict=True)) |
da.values | x.tolist(), x.data | `numpy.asarray(x)` where the data is in host memory
da.rename(time="step") | x.rename(time="step") |
da.isel(time=0) | x.isel(time=0) | also slices, lists and tensors
da.isel(time=[0, 2], station=[1, 0]) | x.isel(time=[0, 2], station=[1, 0]) | each axis is indexed separately
da.sel(time=6.0) | x.isel(time=tb.searchsorted(hours, tb.asarray(6.0))) | there are no labels
da.where(da > 1) | tb.where(x > 1, x, tb.nan) |
da.fillna(0) | tb.where(tb.isnan(x), 0, x) |
da.mean("time", skipna=True) | tb.nanmean(x, axis="time") | likewise `nansum`, `nanstd`, ...; `tb.mean` keeps NaN
da.mean("time") | tb.mean(x, axis="time") | or `x.mean("time")`
da.sum(["station", "time"]) | tb.sum(x, axis=("station", "time")) |
da.weighted(w).mean("station") | tb.weighted_mean(x, tb.aligned(x, scale)[1], axis="station") |
da.quantile(0.5, dim="time") | tb.quantile(x, 0.5, axis="time") |
da.cumsum("time") | tb.cumulative_sum(x, axis="time") |
da.diff("time") | tb.diff(x, axis="time") |
da.argmax("time") | tb.argmax(x, axis="time") |
da.sortby | tb.sort(x, axis="time") | by another array: `tb.take(x, tb.argsort(hours), axis="time")`
da * scale | tb.multiply(*tb.aligned(x, scale)) | by name; `x * scale` pairs axes by position, and here is an error
da1 + da2 | x + y.align_as(x) | axes in another order
xr.broadcast(a, b) | tb.aligned(scale, hours, outer=True) |
xr.dot(a, b, dim="time") | tb.dot(x, y, contract="time") | `station`, which both have, is a batch axis
da.dot(weights) | tb.dot(x, hours, contract="time") |
da.transpose("time", "station") | x.align_to("time", "station") |
da.expand_dims("run") | tb.expand_dims(x, 0, name="run") |
da.squeeze("run") | tb.squeeze(tb.expand_dims(x, 0, name="run"), "run") |
da.stack(z=("station", "time")) | tb.merge_axes(x, ("station", "time"), name="z") |
da.unstack("z") | tb.split_axis(tb.reshape(x, 6).rename("z"), "z", {"station": 2, "time": 3}) |
xr.concat([a, b], dim="time") | tb.concatenate([x, x], axis="time") |
xr.concat([a, b], dim="run") | tb.stack([x, x], name="run") | a new axis
da.roll(time=1) | tb.roll(x, 1, axis="time") |
da.pad(time=(1, 0)) | tb.pad(x, {"time": (1, 0)}) |
da.dropna("time") | tb.compress(tb.all(~tb.isnan(x), axis="station"), x, axis="time") | or `x[~tb.isnan(x)]`
da.ffill("time") | tb.take_along_axis(x, tb.cumulative_max(tb.where(tb.isnan(x), 0, place), axis=1), axis=1) |
da.shift(time=1) | tb.pad(x, {"time": (1, -1)}, value=tb.nan) |
da.rolling(time=2).mean() | tb.window_mean(x, {"time": 2}) | without the entries that have no full window
da.coarsen(time=3).mean() | tb.window_mean(x, {"time": 3}, strides={"time": 3}) |
da.groupby(groups).sum() | tb.segment_sum(x, groups, axis="time", size=2, name="group") | also `segment_mean`
da.interp(time=labels) | tb.interp(tb.asarray(3.0), hours, x.isel(station=0)) | of one series
da.interp(time=points) | tb.grid_sample(x, tb.asarray([[0.5]]), axes="time") | takes positions instead of labels
xr.apply_ufunc(f, da, input_core_dims=[["time"]]) | tb.vmap(tb.logsumexp, in_axes="station")(x) |
da.astype("float64") | x.astype("f64") |
xr.corr(a, b) | tb.correlation(tb.stack([x[0], x[1]], axis=1))[0, 1] | of two series; `tb.covariance` likewise
xr.corr(a, b, dim="time") | tb.vmap(correlate, in_axes="station")(x, y) | `in_axes=("station", None)` for one series b
da.polyfit("time", 1) | tb.polyfit(hours, x.isel(station=0), 1) | the highest power first
xr.Dataset | {"rain": x, "sun": x} | any function of `tb` that takes containers of tensors takes this dictionary
da.to_netcdf | | `tb.save("a.safetensors", {"rain": x})` keeps names and dtypes
da.chunk | | [tensorbackend-dask](../plugins/tensorbackend-dask/README.md) cuts tensors into blocks by axis name
da.plot | | pass `numpy.asarray(x)` to a plotting library
"""
