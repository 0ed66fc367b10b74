"""Ops along an axis of more elements than drawn calls have: libraries take other ways for many."""

from __future__ import annotations

import math
import os

import pytest

import tensorbackend as tb
from tensorbackend.errors import TensorBackendError
from tensorbackend.opspec import OPS
from tensorbackend.testing import Invocation, judge, names
from tensorbackend.testing.bounds import bound_of
from tensorbackend.testing.contract import outcome


def _along_an_axis(name: str) -> bool:
    """Whether an op takes one tensor and an axis, and may do without other options."""
    spec = OPS.get(name)
    if spec is None:
        return False
    needed = [each.name for each in spec.signature.parameters.values() if each.default is each.empty]
    return needed in (["x"], ["x", "axis"]) and "axis" in spec.signature.parameters


ALONG = [name for name in names() if _along_an_axis(name)]
SHAPE = 4, 1100
BACKENDS = os.environ.get("TENSORBACKEND_BACKENDS", "numpy,jax").split(",")


def drawn(dtype: str, tame: bool = False) -> tb.Tensor:
    """Numbers of moderate size; with NaN, infinities and zeros of both signs in rows of their own unless tame."""
    rows = [[math.sin(row * SHAPE[1] + column) / 4 - 1 for column in range(SHAPE[1])] for row in range(SHAPE[0])]
    if tame:
        return tb.tensor(rows, dtype=dtype, names=("row", "column"), backend="binary")
    rows[0][500], rows[1][7], rows[1][1000] = math.nan, math.inf, -math.inf
    rows[2][3], rows[2][900], rows[3][3] = -0.0, 0.0, -0.0
    return tb.tensor(rows, dtype=dtype, names=("row", "column"), backend="binary")


@pytest.mark.parametrize("name", ALONG)
@pytest.mark.parametrize("backend", BACKENDS)
def test_an_axis_of_many_elements(backend: str, name: str) -> None:
    call = Invocation(name, (drawn("f32", bound_of(name).tame),), {"axis": "column"})
    results = outcome(call.on("template"))
    if isinstance(results, TensorBackendError) or len(results) < SHAPE[1]:  # one for each element takes long to compile
        judge(call, backend)


@pytest.mark.parametrize("name", ["window_max", "window_min"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_windows_over_many_elements(backend: str, name: str) -> None:
    for dtype in ("f32", "bf16"):
        x = tb.rename(drawn(dtype), None, None)
        judge(Invocation(name, (x, (1, 4)), {"strides": (1, 4)}), backend)
        judge(Invocation(name, (x, (1, 2)), {"strides": (1, 2), "padding": [(0, 0), (4, 0)]}), backend)
