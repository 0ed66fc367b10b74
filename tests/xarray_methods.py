"""Smooth functions of xarray's objects, whose gradients are compared with differences.

Each takes an array of dims (station, time) without NaN and returns an object of xarray's, whose squares are added up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from tensorbackend.errors import TemplateDataError

HOURS = np.array([0.0, 6.0, 12.0, 18.0, 30.0, 36.0])
DAYS = pd.date_range("2026-01-01", periods=6, freq="18h")
GROUPS = xr.DataArray([0, 1, 0, 1, 1, 0], dims="time", name="group")
WEIGHTS = xr.DataArray([1.0, 2.0, 0.5], dims="station")
OTHER = xr.DataArray(np.linspace(0.5, 2.0, 18).reshape(3, 6) ** 2, dims=("station", "time"), coords={"time": HOURS})
RISE = xr.DataArray(np.linspace(0.1, 1.0, 6), dims="time", coords={"time": HOURS})


def example() -> xr.DataArray:
    """Numbers of which none is near another or near 0, so that extremes and quantiles are smooth there."""
    data = np.random.default_rng(0).permutation(18).reshape(3, 6) / 9 + 0.3
    return xr.DataArray(data, dims=("station", "time"), coords={"time": HOURS}, name="rain", attrs={"units": "mm"})


def _by_day(da: Any) -> Any:
    return da.assign_coords(time=DAYS)


def _dataset(da: Any) -> Any:
    return xr.Dataset({"a": da, "b": 2 * da.mean("time")})


METHODS: dict[str, Callable[[Any], Any]] = {
    # Reductions
    "mean": lambda da: da.mean("time"),
    "mean of all": lambda da: da.mean(),
    "mean, skipna=False": lambda da: da.mean("time", skipna=False),
    "sum": lambda da: da.sum("station"),
    "sum, min_count": lambda da: da.sum("station", min_count=1),
    "prod": lambda da: da.prod("time"),
    "std": lambda da: da.std("time"),
    "std, ddof": lambda da: da.std("time", ddof=1),
    "var": lambda da: da.var("time"),
    "max": lambda da: da.max("time"),
    "min": lambda da: da.min(),
    "median": lambda da: da.median("time"),
    "quantile": lambda da: da.quantile([0.1, 0.7], dim="time"),
    "reduce": lambda da: da.reduce(np.mean, dim="time"),
    "weighted mean": lambda da: da.weighted(WEIGHTS).mean("station"),
    "weighted sum": lambda da: da.weighted(WEIGHTS).sum("station"),
    "weighted std": lambda da: da.weighted(WEIGHTS).std("station"),
    "weighted var": lambda da: da.weighted(WEIGHTS).var("station"),
    "weighted sum_of_squares": lambda da: da.weighted(WEIGHTS).sum_of_squares("station"),
    "mean weighted by the data": lambda da: (OTHER.weighted(da).mean("station")),
    # Along a dim
    "cumsum": lambda da: da.cumsum("time"),
    "cumprod": lambda da: da.cumprod("time"),
    "diff": lambda da: da.diff("time"),
    "shift": lambda da: da.shift(time=1),
    "roll": lambda da: da.roll(time=2),
    "pad": lambda da: da.pad(time=(1, 2), mode="edge"),
    "pad with numbers": lambda da: da.pad(time=1, constant_values=3.0),
    "differentiate": lambda da: da.differentiate("time"),
    "integrate": lambda da: da.integrate("time"),
    "cumulative_integrate": lambda da: da.cumulative_integrate("time"),
    "interp": lambda da: da.interp(time=[3.0, 20.0]),
    "interp of a series": lambda da: da.isel(station=0).interp(time=3.0),
    "polyfit": lambda da: da.polyfit("time", 1, skipna=False).polyfit_coefficients,
    "polyval": lambda da: xr.polyval(RISE.time / 36, da.isel(time=slice(3)).rename(time="degree").drop_vars("degree")
                                     .assign_coords(degree=[0, 1, 2])),
    "ffill": lambda da: da.where(da > 0.9).ffill("time"),
    "bfill": lambda da: da.where(da > 0.9).bfill("time"),
    "interpolate_na": lambda da: da.where(abs(RISE - 0.46) > 0.01).interpolate_na("time"),
    # Windows and groups
    "rolling mean": lambda da: da.rolling(time=3).mean(),
    "rolling sum, min_periods": lambda da: da.rolling(time=3, min_periods=1).sum(),
    "rolling mean, center": lambda da: da.rolling(time=3, center=True).mean(),
    "rolling std": lambda da: da.rolling(time=3).std(),
    "rolling var": lambda da: da.rolling(time=3).var(),
    "rolling std, min_periods": lambda da: da.rolling(time=3).construct("lag").isel(time=slice(2, None)).std("lag"),
    "rolling max": lambda da: da.rolling(time=2).max(),
    "rolling construct": lambda da: da.rolling(time=2).construct("lag"),
    "rolling reduce": lambda da: da.rolling(time=2).reduce(np.sum),
    "cumulative": lambda da: da.cumulative("time").sum(),
    "coarsen mean": lambda da: da.coarsen(time=2).mean(),
    "coarsen sum": lambda da: da.coarsen(time=4, boundary="pad").sum(),
    "coarsen std": lambda da: da.coarsen(time=3).std(),
    "coarsen construct": lambda da: da.coarsen(time=3).construct(time=("block", "step")),
    "groupby mean": lambda da: da.groupby(GROUPS).mean(),
    "groupby sum": lambda da: da.groupby(GROUPS).sum(),
    "groupby std": lambda da: da.groupby(GROUPS).std(),
    "groupby map": lambda da: da.groupby(GROUPS).map(lambda group: group - group.mean("time")),
    "groupby arithmetic": lambda da: da.groupby(GROUPS) - da.groupby(GROUPS).mean(),
    "groupby_bins": lambda da: da.groupby_bins("time", [-1, 10, 40]).mean(),
    "resample": lambda da: _by_day(da).resample(time="1D").mean(),
    # Products
    "dot": lambda da: da.dot(RISE),
    "dot of two": lambda da: xr.dot(da, da, OTHER, dim="time"),
    "matmul": lambda da: da @ RISE,
    "cov": lambda da: xr.cov(da, OTHER, dim="time"),
    "corr": lambda da: xr.corr(da, OTHER, dim="time"),
    "cross": lambda da: xr.cross(da, OTHER, dim="station"),
    # Selection and shape
    "isel": lambda da: da.isel(time=[0, 3], station=slice(1, None)),
    "isel, pointwise": lambda da: da.isel(time=xr.DataArray([0, 3], dims="p"), station=xr.DataArray([2, 0], dims="p")),
    "sel": lambda da: da.sel(time=slice(6, 20)),
    "sel, nearest": lambda da: da.sel(time=[5.0, 29.0], method="nearest"),
    "reindex": lambda da: da.reindex(time=[0.0, 1.0, 12.0], fill_value=2.0),
    "where": lambda da: da.where(da > 1.0, -1.0),
    "xr.where": lambda da: xr.where(da > 1.0, da**2, 0.5),
    "fillna": lambda da: da.where(da > 1.0).fillna(da * 3),
    "clip": lambda da: da.clip(0.5, 1.45),
    "dropna": lambda da: da.where(RISE > 0.2, drop=True),
    "concat": lambda da: xr.concat([da, da**2], dim="time"),
    "merge": lambda da: xr.merge([da, (da**2).rename("b")]).to_dataarray(),
    "stack": lambda da: da.stack(z=("station", "time")),
    "unstack": lambda da: da.stack(z=("station", "time")).unstack("z"),
    "transpose": lambda da: da.transpose("time", "station"),
    "expand_dims": lambda da: da.expand_dims("run").squeeze("run"),
    "broadcast_like": lambda da: da.mean("time").broadcast_like(OTHER),
    "sortby": lambda da: da.sortby("time", ascending=False),
    "swap_dims": lambda da: da.assign_coords(step=("time", np.arange(6))).swap_dims(time="step"),
    "align": lambda da: xr.align(da, OTHER.isel(time=slice(2, None)))[0],
    "combine_first": lambda da: da.where(da > 1.0).combine_first(OTHER * da),
    # Arithmetic
    "arithmetic": lambda da: (2 - da) * OTHER / (1 + da) ** 2 - da.mean("station"),
    "power": lambda da: da**1.5 + 2.0**da,
    "numpy's functions": lambda da: np.exp(-da) + np.log(da) * np.sin(da) + np.sqrt(da) + np.tanh(da),
    "numpy's functions of two": lambda da: np.arctan2(da, OTHER) + np.hypot(da, OTHER) + np.maximum(da, OTHER),
    "apply_ufunc": lambda da: xr.apply_ufunc(lambda x: x - x.mean(-1, keepdims=True), da,
                                             input_core_dims=[["time"]], output_core_dims=[["time"]]),
    "map_dataset": lambda da: _dataset(da).map(lambda each: each**2).to_dataarray(),
    # Datasets
    "dataset mean": lambda da: _dataset(da).mean("station").to_dataarray(),
    "dataset arithmetic": lambda da: (_dataset(da) * 2 + OTHER).to_dataarray(),
    "dataset weighted": lambda da: _dataset(da).weighted(WEIGHTS).mean("station").to_dataarray(),
    "dataset groupby": lambda da: _dataset(da).groupby(GROUPS).mean().to_dataarray(),
    "dataset assign": lambda da: _dataset(da).assign(c=lambda ds: ds.a * ds.b).c,
}  # fmt: skip


EXCEPTIONS: dict[str, tuple[type[Exception] | None, str]] = {
    "mean weighted by the data": (
        TemplateDataError,
        "weights are refused if one of them is NaN, which takes their data",
    ),
    "interp": (TemplateDataError, "computed by NumPy or SciPy alone; tb.interp and tb.grid_sample have gradients"),
    "interp of a series": (TemplateDataError, "likewise"),
    "polyfit": (TemplateDataError, "looks at the rank of the matrix; tb.polyfit has a gradient"),
    "ffill": (TemplateDataError, "computed by bottleneck"),
    "bfill": (TemplateDataError, "computed by bottleneck"),
    "interpolate_na": (TemplateDataError, "computed by NumPy or SciPy alone"),
    "isel, pointwise": (TypeError, "xarray indexes no array of the Array API by arrays of places"),
    "rolling std": (None, "a window that is not full is filled with NaN, whose slope is NaN, also on JAX"),
    "rolling var": (None, "likewise"),
}
"""The methods whose gradients cannot be had by the error, or none if they are NaN, and the reason."""
