"""Ops along a longer axis than random calls have: libraries use other algorithms for many elements."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.backends.numpy_backend import NumpyBackend
from tensorbackend.declarations.op_specs import OPS
from tensorbackend.errors import TensorBackendError
from tensorbackend.protocol import Payload
from tensorbackend.testing import Invocation, judge, names
from tensorbackend.testing.calls import bound_of
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


GRID = 200, 120
"""More elements than NumPy's kernels take in one block."""

PARTS: list[tuple[tuple[int, ...], ...]] = [
    (GRID, (120,), (120,)), ((120,), GRID, (200, 1)), ((200, 1), (120,), GRID), (GRID, (), (120,)),
    ((120,), (200, 1), ()),
]  # fmt: skip
"""The shapes of operands that are broadcast to `GRID`."""


def _operands(name: str, dtype: str, shapes: tuple[tuple[int, ...], ...]) -> list[tb.Tensor] | None:
    """Return operands of an op that computes each element from one of each operand; `None` for another op."""
    parameters = OPS[name].signature.parameters.values() if name in OPS else ()
    needed = [each.name for each in parameters if each.default is each.empty]
    if not 2 <= len(needed) <= 3:
        return None
    draw = np.random.default_rng(len(name))
    made = [draw.random(shape) * 3 + 0.5 for shape in shapes[: len(needed)]]
    operands = [
        tb.asarray(values > 2 if place == 0 and name in ("where", "select") else values.astype(dtype))
        for place, values in enumerate(made)
    ]
    try:
        found = getattr(tb, name)(*[tb.template(x.shape, x.dtype) for x in operands])
    except (TensorBackendError, AttributeError):
        return None
    return operands if isinstance(found, tb.Tensor) and found.shape == GRID else None


ELEMENTWISE = [name for name in names() if all(_operands(name, "f4", shapes) for shapes in PARTS)]


@pytest.mark.parametrize("dtype", ["f4", "i4", "?"])
@pytest.mark.parametrize("name", ELEMENTWISE)
@pytest.mark.parametrize("backend", BACKENDS)
def test_many_elements_of_broadcast_operands(backend: str, name: str, dtype: str) -> None:
    for shapes in PARTS:
        operands = _operands(name, dtype, shapes)
        if operands is None:
            continue
        given = [x.backend_copy(backend) for x in operands]
        whole = [tb.asarray(np.array(np.broadcast_to(np.asarray(x), GRID)), backend=backend) for x in operands]
        result, expected = (np.asarray(getattr(tb, name)(*each)) for each in (given, whole))
        np.testing.assert_allclose(result, expected, rtol=1e-5)


def test_the_ops_of_several_operands_are_found() -> None:
    assert {"add", "atan2", "clip", "divide", "maximum", "pow", "where"} <= {*ELEMENTWISE}


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
