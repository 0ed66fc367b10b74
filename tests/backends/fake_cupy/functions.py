"""Functions of the stand-in that are not elementwise, with the options of CuPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .arrays import quietly, unwrap, wrap
from .ufuncs import DTYPES

# With the options that CuPy's versions take besides the arrays
FUNCTIONS = {
    "all": "axis keepdims", "any": "axis keepdims", "max": "axis keepdims", "min": "axis keepdims",
    "sum": "axis dtype keepdims", "prod": "axis dtype keepdims", "cumsum": "axis dtype", "cumprod": "axis dtype",
    "cumulative_sum": "axis dtype include_initial", "argmax": "axis", "argmin": "axis", "sort": "axis kind",
    "argsort": "axis kind", "argwhere": "", "flatnonzero": "", "nonzero": "", "arange": "dtype",
    "ascontiguousarray": "", "broadcast_arrays": "", "broadcast_to": "", "clip": "", "concatenate": "axis",
    "count_nonzero": "",
    "diagonal": "axis1 axis2", "diff": "axis", "empty": "", "empty_like": "", "expand_dims": "", "eye": "k dtype",
    "flip": "", "ix_": "", "matmul": "", "moveaxis": "", "ones": "", "ones_like": "",
    "searchsorted": "side", "stack": "axis", "swapaxes": "",
    "take": "axis", "take_along_axis": "axis", "tril": "", "triu": "",
    "unique": "", "vdot": "", "zeros": "",
}  # fmt: skip


def function(name: str, options: str, place: Any = np) -> Callable[..., Any]:
    allowed = set(options.split())

    @quietly
    def call(*arguments: Any, **keywords: Any) -> Any:
        if "out" in keywords and name == "matmul":
            keywords["out"]._a[...] = np.matmul(*map(unwrap, arguments))
            return keywords["out"]
        if not set(keywords) <= allowed:
            raise TypeError(f"cupy.{name} has no options {set(keywords) - allowed}")
        if name in ("sort", "argsort"):
            assert keywords.get("kind", "stable") == "stable"
            keywords["kind"] = "stable"
        if name in ("empty", "empty_like"):  # on a GPU this memory is not initialised
            memory = getattr(place, name)(*map(unwrap, arguments), **keywords)
            memory[...] = 1
            return wrap(memory)
        result = getattr(place, name)(*map(unwrap, arguments), **keywords)
        if name in ("argmax", "argmin"):
            result = _last_missing(unwrap(arguments[0]), result, **keywords)
        if name == "cumprod" and result.dtype.kind == "c":
            result = _from_the_right(unwrap(arguments[0]), result, **keywords)
        if name in ("tril", "triu") and not result.size and result.dtype == DTYPES["E"]:
            result = result.astype(np.float32)
        return wrap(result)

    return call


def _last_missing(values: Any, positions: Any, axis: Any = None) -> Any:
    """Return the positions of extremes, but the position of the last NaN where there are NaNs."""
    if values.dtype.kind != "f" or not np.isnan(values).any():
        return positions
    missing = np.isnan(values).reshape(-1) if axis is None else np.isnan(values)
    along = 0 if axis is None else axis
    last = missing.shape[along] - 1 - np.argmax(np.flip(missing, along), axis=along)
    return np.where(missing.any(axis=along), last, positions)


def _from_the_right(values: Any, products: Any, axis: int, dtype: Any = None) -> Any:
    """Return running products of complex numbers, multiplied in another order if any of them is not finite."""
    if np.isfinite(products).all():
        return products
    rows, product_rows = np.moveaxis(values.astype(products.dtype), axis, 0), np.moveaxis(products, axis, 0)
    for stop in range(1, len(rows)):
        product = rows[stop]
        for row in rows[:stop][::-1]:
            product = row * product
        product_rows[stop] = product
    return products
