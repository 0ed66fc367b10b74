"""A program on named axes: standardise measurements over time, weight them by station, and compare the stations.

`x` has the axes time, station and channel. In NumPy, axes are positions that the reader has to count.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import tensorbackend as tb

from .measuring import Contender

PROGRAMS = {
    "standardise": "(x - mean(x, 0)) / std(x, 0)",
    "scale by station": "x * scale[:, None]",
    "weighted sum": "einsum('tsc,s->tc', x, scale)",
    "lagged product": "mean(x[1:] * x[:-1], 0)",
    "select": "x[3, :, 1]",
    "all of these": "mean(w[1:] * w[:-1], 0), w the weighted sum of the standardised x",
}
SIZES = {"small": (16, 4, 3), "large": (2000, 100, 5)}
AXES = ("time", "station", "channel")


def drawn(size: str) -> tuple[Any, Any]:
    """Return random measurements, and a random weight for each station."""
    random = np.random.default_rng(0)
    shape = SIZES[size]
    return random.standard_normal(shape).astype(np.float32), random.random(shape[1]).astype(np.float32)


def contenders(size: str) -> list[Contender]:
    """Return NumPy by position, and by name: ours, eager and compiled, xarray and PhiML."""
    x, scale = drawn(size)
    return [by_position(x, scale), *by_name(x, scale), by_xarray(x, scale), by_phiml(x, scale)]


def by_position(x: Any, scale: Any) -> Contender:
    def score() -> Any:
        standard = (x - np.mean(x, 0)) / np.std(x, 0)
        weighted = np.einsum("tsc,s->tc", standard, scale)
        return np.mean(weighted[1:] * weighted[:-1], 0)

    return Contender(
        "NumPy",
        {
            "standardise": lambda: (x - np.mean(x, 0)) / np.std(x, 0),
            "scale by station": lambda: x * scale[:, None],
            "weighted sum": lambda: np.einsum("tsc,s->tc", x, scale),
            "lagged product": lambda: np.mean(x[1:] * x[:-1], 0),
            "select": lambda: x[3, :, 1],
            "all of these": score,
        },
    )


def by_name(x: Any, scale: Any) -> list[Contender]:
    data, factors = tb.asarray(x, names=AXES, backend="numpy"), tb.asarray(scale, names=("station",), backend="numpy")

    def standardise(x: tb.Tensor) -> tb.Tensor:
        return (x - tb.mean(x, axis="time")) / tb.std(x, axis="time")

    def scaled(x: tb.Tensor, scale: tb.Tensor) -> tb.Tensor:
        return tb.multiply(*tb.aligned(x, scale))

    def weighted(x: tb.Tensor, scale: tb.Tensor) -> tb.Tensor:
        return tb.dot(x, scale, contract="station")

    def lagged(x: tb.Tensor) -> tb.Tensor:
        return tb.mean(x.isel(time=slice(1, None)) * x.isel(time=slice(None, -1)), axis="time")

    def select(x: tb.Tensor) -> tb.Tensor:
        return x.isel(time=3, channel=1)

    def score(x: tb.Tensor, scale: tb.Tensor) -> tb.Tensor:
        return lagged(weighted(standardise(x), scale))

    functions: list[Any] = [standardise, scaled, weighted, lagged, select, score]
    return [
        _ours("tensorbackend", data, factors, *functions),
        _ours("tensorbackend, jit", data, factors, *(tb.jit(function) for function in functions)),
    ]


def _ours(name: str, x: tb.Tensor, scale: tb.Tensor, *functions: Any) -> Contender:
    standardise, scaled, weighted, lagged, select, score = functions
    return Contender(
        name,
        {
            "standardise": lambda: standardise(x),
            "scale by station": lambda: scaled(x, scale),
            "weighted sum": lambda: weighted(x, scale),
            "lagged product": lambda: lagged(x),
            "select": lambda: select(x),
            "all of these": lambda: score(x, scale),
        },
    )


def by_xarray(x: Any, scale: Any) -> Contender:
    import xarray

    data, factors = xarray.DataArray(x, dims=AXES), xarray.DataArray(scale, dims=("station",))

    def lagged(x: Any) -> Any:
        return (x.isel(time=slice(1, None)) * x.isel(time=slice(None, -1))).mean("time")

    def standardise() -> Any:
        return (data - data.mean("time")) / data.std("time")

    return Contender(
        "xarray",
        {
            "standardise": standardise,
            "scale by station": lambda: data * factors,
            "weighted sum": lambda: xarray.dot(data, factors, dim="station"),
            "lagged product": lambda: lagged(data),
            "select": lambda: data.isel(time=3, channel=1),
            "all of these": lambda: lagged(xarray.dot(standardise(), factors, dim="station")),
        },
    )


def by_phiml(x: Any, scale: Any) -> Contender:
    from phiml import math
    from phiml.math import channel

    math.use("numpy")
    data, factors = math.wrap(x, channel(",".join(AXES))), math.wrap(scale, channel("station"))

    def lagged(x: Any) -> Any:
        return math.mean(x.time[1:] * x.time[:-1], "time")

    def standardise() -> Any:
        return (data - math.mean(data, "time")) / math.std(data, "time")

    return Contender(
        "PhiML",
        {
            "standardise": standardise,
            "scale by station": lambda: data * factors,
            "weighted sum": lambda: math.dot(data, "station", factors, "station"),
            "lagged product": lambda: lagged(data),
            "select": lambda: data[{"time": 3, "channel": 1}],
            "all of these": lambda: lagged(math.dot(standardise(), "station", factors, "station")),
        },
        read=lambda tensor: tensor.numpy([name for name in AXES if name in tensor.shape.names]),
        finish=lambda result: result.native(result.shape),
    )
