"""Sums of many terms: rounding errors must not add up, along any axis, and however many terms are added at one place.

A million equal float32 numbers that are added one by one are off by per cent.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.declarations.op_specs import OPS
from tensorbackend.testing import Invocation, judge, names
from tensorbackend.testing.calls import bound_of
from tensorbackend.testing.source import public

BACKENDS = os.environ.get("TENSORBACKEND_BACKENDS", "numpy,jax").split(",")

MANY = 3000
"""So many terms that float32 sums one by one miss every bound, and few enough for the reference."""

MOST = 120_000
"""The number of terms of sums whose value is known otherwise."""

TENTH = float(np.float32(0.1))

ULP = float(np.finfo("float32").eps)


def drawn(*shape: int) -> tb.Tensor:
    """Return numbers whose rounding errors add up, and whose variance is not 0 along any axis."""
    return tb.asarray(np.resize(np.asarray([0.1, 0.1, 0.3, 0.1, 0.3], "float32"), shape), backend="binary")


def _parameters(name: str) -> list[inspect.Parameter]:
    function = OPS[name].signature if name in OPS else inspect.signature(public(name))
    return list(function.parameters.values())


def reductions(name: str) -> Iterator[Invocation]:
    """Yield calls of an op of one or two tensors along an axis, for axes at each place."""
    parameters = _parameters(name)
    needed = [parameter.name for parameter in parameters if parameter.default is parameter.empty]
    several = needed in (["x1", "x2"], ["x", "weights"])
    if "axis" not in [parameter.name for parameter in parameters] or not (several or needed == ["x"]):
        return
    for shape, axis in (((MANY, 2), 0), ((2, MANY, 3), 1), ((MANY // 20, 2, 20), (0, 2))):
        x = drawn(*shape)
        call = Invocation(name, (x, x) if several else (x,), {"axis": axis})
        if isinstance(axis, int) or name in SEVERAL_AXES:
            yield call


SEVERAL_AXES = [
    name
    for name in names()
    if name in OPS and any("Axes" in str(parameter.annotation) for parameter in _parameters(name))
]


def scatters(name: str) -> Iterator[Invocation]:
    """Yield calls of an op that adds many updates at one place."""
    parameters = [parameter.name for parameter in _parameters(name)]
    zeros = tb.zeros(MANY, dtype="int64", backend="binary")
    if "segments" in parameters:
        yield Invocation(name, (drawn(MANY, 2), zeros), {"size": 2})
        yield Invocation(name, (drawn(2, MANY), zeros), {"size": 1, "axis": 1})
    elif parameters[:3] == ["x", "indices", "updates"] and "axis" in parameters:
        indices = tb.broadcast_to(tb.reshape(zeros, (MANY, 1)), (MANY, 2))
        yield Invocation(name, (drawn(3, 2), indices, drawn(MANY, 2)), {"axis": 0})
    elif parameters[:3] == ["x", "indices", "updates"]:
        yield Invocation(name, (drawn(3, 2), tb.reshape(zeros, (MANY, 1)), drawn(MANY, 2)), {"mode": "error"})
    elif name == "bincount":
        yield Invocation(name, (zeros,), {"weights": drawn(MANY), "size": 2})
    elif "weights" in parameters and "bins" in parameters:
        yield Invocation(name, (drawn(MANY),), {"weights": drawn(MANY), "bins": 2, "range": (0.0, 1.0)})


def _sums(name: str) -> bool:
    """Return whether an op has a bound for its sums, as an op has that adds; not for those of a Fourier transform."""
    bound = bound_of(name)
    return (
        bound.ulps > 0 and bound.scale != "norm" and any(True for calls in (reductions, scatters) for _ in calls(name))
    )


ADDING = [name for name in names() if _sums(name)]


def test_the_ops_that_add_are_found() -> None:
    assert {
        "sum", "mean", "var", "std", "vector_norm", "cumulative_sum", "logsumexp", "softmax", "weighted_mean", "vecdot",
        "segment_sum", "segment_mean", "bincount", "histogram", "indexed_add", "indexed_mean", "add_along_axis",
    } <= set(ADDING)  # fmt: skip
    assert {"sum", "mean", "var", "vector_norm", "logsumexp"} <= set(SEVERAL_AXES)


@pytest.mark.parametrize("name", ADDING)
@pytest.mark.parametrize("backend", BACKENDS)
def test_many_terms(backend: str, name: str) -> None:
    for calls in (reductions, scatters):
        for call in calls(name):
            assert not judge(call, backend).refused


def _drift(sums: Any, wanted: float) -> float:
    """Return how far sums are from a number, in roundings of float32."""
    return float(np.max(np.abs(np.asarray(sums).astype("complex128") - wanted))) / abs(wanted) / ULP


def large(backend: str, *shape: int, number: complex = 0.1) -> tb.Tensor:
    dtype = "complex64" if isinstance(number, complex) else "float32"
    return tb.asarray(np.full(shape, number, dtype), backend=backend)


SUMS: dict[str, Callable[[tb.Tensor, tb.Tensor, tb.Tensor], tb.Tensor]] = {
    "the first axis": lambda rows, wide, zeros: tb.sum(rows, axis=0),
    "the last axis of a transposed tensor": lambda rows, wide, zeros: tb.sum(tb.matrix_transpose(rows), axis=1),
    "the first axis of a reversed tensor": lambda rows, wide, zeros: tb.sum(tb.flip(rows), axis=0),
    "the first axis, with many columns": lambda rows, wide, zeros: 10 * tb.sum(wide, axis=0),
    "a broadcast axis": lambda rows, wide, zeros: tb.sum(tb.broadcast_to(rows[:1], rows.shape), axis=0),
    "all axes": lambda rows, wide, zeros: tb.sum(rows[:, :1] + 0),
    "a mean": lambda rows, wide, zeros: MOST * tb.mean(rows, axis=0),
    "running sums": lambda rows, wide, zeros: tb.cumulative_sum(rows, axis=0)[-1],
    "running sums of rows": lambda rows, wide, zeros: tb.cumulative_sum(tb.matrix_transpose(rows), axis=1)[:, -1],
    "a product of vectors": lambda rows, wide, zeros: tb.vecdot(tb.ones_like(rows), rows, axis=0),
    "einsum": lambda rows, wide, zeros: tb.einsum("ib,ib->b", rows, tb.ones_like(rows)),
    "segments": lambda rows, wide, zeros: tb.segment_sum(rows, zeros, size=1),
    "the gradient of a broadcast operand":
        lambda rows, wide, zeros: tb.grad(lambda x: tb.sum(tb.real(x * rows)))(tb.ones_like(rows[0])),
    "the gradient of entries that were taken often":
        lambda rows, wide, zeros: tb.grad(lambda x: tb.sum(tb.real(tb.take(x, zeros, axis=0) * rows)))(
            tb.ones_like(rows[:1])
        ),
}  # fmt: skip


@pytest.mark.parametrize("what", SUMS)
@pytest.mark.parametrize("number", [0.1, 1 / 3, 0.1 + 0.1j], ids=["tenth", "third", "complex"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_the_drift_of_a_sum(backend: str, number: complex, what: str) -> None:
    rows, wide = large(backend, MOST, 2, number=number), large(backend, MOST // 10, 20, number=number)
    sums = SUMS[what](rows, wide, tb.zeros(MOST, dtype="int64", backend=backend))
    element = complex(np.complex64(number)) if isinstance(number, complex) else float(np.float32(number))
    if "gradient" in what and isinstance(number, complex):
        sums = tb.conj(sums) if abs(np.asarray(sums).imag + MOST * element.imag).max() < MOST * 0.01 else sums
    wanted = MOST * element
    assert float(np.max(np.abs(np.asarray(sums).astype("complex128") - wanted))) < 64 * ULP * abs(wanted)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_drift_of_weights(backend: str) -> None:
    weights, zeros = large(backend, MOST), tb.zeros(MOST, dtype="int64", backend=backend)
    assert _drift(tb.bincount(zeros, weights=weights, size=1), MOST * TENTH) < 64
    assert _drift(tb.histogram(weights, bins=1, range=(0, 1), weights=weights).counts, MOST * TENTH) < 64
    assert _drift(tb.linalg.vector_norm(tb.reshape(weights, (MOST // 2, 2)), axis=0), (MOST / 2) ** 0.5 * TENTH) < 64
    everything = tb.reshape(weights, (30, 50, 20, 4))
    assert _drift(tb.mean(everything, axis=(0, 1, 2)), TENTH) < 64
    assert _drift(tb.mean(everything, axis=(0, 2)), TENTH) < 64
    assert float(tb.max(tb.var(tb.reshape(weights, (MOST // 2, 2)), axis=0))) < (64 * ULP) ** 2
