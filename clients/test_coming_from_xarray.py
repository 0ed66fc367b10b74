"""Each row of docs/coming-from-xarray.md next to xarray, on data with NaN and without."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

import tensorbackend as tb

TABLE = runpy.run_path(str(Path(__file__).parents[1] / "docs" / "rows.py"))["read"]("xarray")
ROWS = [row for row in TABLE.rows if row.code and row.name != "xr.Dataset"]


def _assert_same(ours: Any, theirs: Any, context: str) -> None:
    """Check values, and the names of axes in any order, as xarray's groups come last and ours stay in place."""
    if isinstance(theirs, xarray.DataArray):
        dims = [name for name in theirs.dims if name in ours.names] if isinstance(ours, tb.Tensor) else []
        if None not in ours.names and len(dims) == ours.ndim:
            theirs = theirs.transpose(*ours.names)
    if isinstance(theirs, (tuple, list)) and not isinstance(ours, tb.Tensor):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            _assert_same(one, other, context)
    elif isinstance(theirs, (tuple, str)) or hasattr(theirs, "keys"):
        assert ours == (dict(theirs) if hasattr(theirs, "keys") else theirs)
    else:
        assert np.shape(ours) == np.shape(theirs), context
        np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=2e-5, atol=2e-5, err_msg=context)


def _spaces(names: str, x: tb.Tensor | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """The names in which the two columns of a row run, of the page's data or of another x."""
    ours: dict[str, Any] = {}
    exec(names, ours)
    if x is not None:
        ours["x"] = x
    theirs = {name: ours[name] for name in ("x", "y", "scale", "hours", "groups")}
    exec(TABLE.theirs, theirs)
    return ours, theirs


def _check(row: Any, names: str, x: tb.Tensor | None = None) -> None:
    ours, theirs = _spaces(names, x)
    _assert_same(eval(row.code, ours), eval(row.name, theirs), f"{row.name} of {theirs['x']}")


@pytest.mark.client("xarray")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_rows_of_the_page(row: Any) -> None:
    """Each row of [coming from xarray](coming-from-xarray.md) has xarray's results, on data with NaN and without."""
    assert "tb.nan" in TABLE.names.partition("y =")[0]
    _check(row, TABLE.names)
    _check(row, re.sub(r"tb\.nan(?=[,\]])", "7.0", TABLE.names, count=1))
    random = np.random.default_rng(0)
    for missing in (0, 1, 2, 3, 4):
        for _ in range(3):
            data = random.normal(size=(2, 4)).round(2)
            places = random.permutation(8)[:missing]
            data.reshape(-1)[places] = np.nan
            # xarray refuses to find the largest of no number, and a line through one point is one of many.
            data[:, 1:3] = np.where((~np.isnan(data)).sum(axis=1, keepdims=True) < 2, (0.5, -1.5), data[:, 1:3])
            _check(row, TABLE.names, tb.asarray(data.astype("f4"), names=("station", "time")))
