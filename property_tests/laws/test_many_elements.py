"""Ops along a longer axis than random calls have: libraries use other algorithms for many elements."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.backends.numpy_backend import NumpyBackend
from tensorbackend.declarations.op_specs import OPS
from tensorbackend.protocol import Payload
from tensorbackend.testing import Invocation, judge, names
from tensorbackend.testing.bounds import bound_of
from tensorbackend.testing.contract import outcome

SHAPE = 4, 1100
BACKENDS = os.environ.get("TENSORBACKEND_BACKENDS", "numpy,jax").split(",")


def drawn(dtype: str, tame: bool = False) -> tb.Tensor:
    """Return numbers of moderate size; unless tame, with NaN, infinities and zeros of both signs in separate rows."""
    rows = [[math.sin(row * SHAPE[1] + column) / 4 - 1 for column in range(SHAPE[1])] for row in range(SHAPE[0])]
    if tame:
        return tb.tensor(rows, dtype=dtype, names=("row", "column"), backend="binary")
    rows[0][500], rows[1][7], rows[1][1000] = math.nan, math.inf, -math.inf
    rows[2][3], rows[2][900], rows[3][3] = -0.0, 0.0, -0.0
    return tb.tensor(rows, dtype=dtype, names=("row", "column"), backend="binary")


def _along_an_axis(name: str) -> bool:
    """Return whether an op needs only one tensor and an axis, and gives fewer results than elements."""
    spec = OPS.get(name)
    if spec is None or "axis" not in spec.signature.parameters:
        return False
    needed = [
        parameter.name for parameter in spec.signature.parameters.values() if parameter.default is parameter.empty
    ]
    if needed not in (["x"], ["x", "axis"]):
        return False
    results = outcome(along(name).on("template"))
    return isinstance(results, list) and len(results) < SHAPE[1]


def along(name: str) -> Invocation:
    """Return a call of an op along an axis of many elements."""
    return Invocation(name, (drawn("f32", bound_of(name).tame),), {"axis": "column"})


@pytest.mark.parametrize("name", [name for name in names() if _along_an_axis(name)])
@pytest.mark.parametrize("backend", BACKENDS)
def test_an_axis_of_many_elements(backend: str, name: str) -> None:
    assert not judge(along(name), backend).refused


@pytest.mark.parametrize("name", ["window_max", "window_min"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_windows_over_many_elements(backend: str, name: str) -> None:
    for dtype in ("f32", "bf16"):
        x = tb.rename(drawn(dtype), None, None)
        for options in (
            {"strides": (1, 4)},
            {"strides": (1, 2), "padding": [(0, 0), (4, 0)]},
        ):
            assert not judge(Invocation(name, (x, (1, 4)), options), backend).refused


def test_a_backend_that_ignores_nan_among_many_is_caught() -> None:
    class Ignoring(NumpyBackend):
        name = "ignoring"

        def reduce_max(self, out: tb.Template, x: tb.Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
            values = np.nan_to_num(x.data, nan=-np.inf) if x.size >= 1024 else x.data
            return np.max(values, axis=axes, keepdims=keepdims)

    with pytest.raises(AssertionError, match="nan"):
        judge(along("max"), Ignoring())
