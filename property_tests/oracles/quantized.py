"""Oracles of quantised tensors: NumPy in float64 on the numbers and scales that are stored."""

from __future__ import annotations

from typing import Any

import numpy
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.protocol import Backend
from tensorbackend.testing.strategies import Draw

from .table import Recorder, law

SMALL = st.integers(-64, 64).map(lambda number: number / 16)


def _matrix(draw: Draw, rows: int, columns: int) -> Any:
    count = rows * columns
    return numpy.array(draw(st.lists(SMALL, min_size=count, max_size=count)), numpy.float32).reshape(rows, columns)


def _options(draw: Draw) -> tuple[str, dict[str, Any]]:
    """A dtype and the options that it takes, for a matrix of 32 rows."""
    name = draw(st.sampled_from(["int8", "int4", "uint4", "float8_e4m3fn", "mxfp4", "nvfp4"]))
    if name in ("mxfp4", "nvfp4"):
        return name, {"axis": 0}
    options: dict[str, Any] = {"symmetric": name != "uint4"}
    options["scale_dtype"] = draw(st.sampled_from([None, "float32"]))
    if draw(st.booleans()):
        options |= {"axis": draw(st.sampled_from([0, "row"])), "block": draw(st.sampled_from([None, 4, 16]))}
    return name, options


def _steps(q: Any, shape: tuple[int, ...]) -> Any:
    """The scale of each element, as float64."""
    scales = numpy.asarray(q.scales).astype(numpy.float64)
    factor = 1.0 if q.factor is None else float(q.factor)
    return numpy.broadcast_to(numpy.repeat(scales, shape[0] // scales.shape[0], 0), shape) * factor


def _check(x: Any, q: Any, dense: Any) -> None:
    """Each element must be as near as its scale and dtype allow."""
    step, apart = _steps(q, x.shape), numpy.abs(dense - x)
    if q.dtype.kind == "float":
        limits = tb.finfo(q.dtype)
        half = numpy.maximum(numpy.abs(x) * limits.eps / 2, step * limits.smallest_normal)
        beyond = numpy.maximum(numpy.abs(x) - step * limits.max, 0)  # as scales are powers of two, or rounded
        assert numpy.all(apart <= numpy.maximum(half * 1.001, beyond + half) + 1e-6)
    else:
        assert numpy.all(apart <= step * 0.5001 + 1e-6)


@law("quantize", by="NumPy")
def quantize(draw: Draw, run: Recorder, backend: Backend) -> None:
    x, (dtype, options) = _matrix(draw, 32, 3), _options(draw)
    q = run(tb.asarray(x, names=("row", "column"), backend=backend), dtype, **options)
    numbers = numpy.asarray(tb.dequantize(q)).astype(numpy.float64)
    assert (q.shape, q.names) == ((32, 3), ("row", "column"))
    _check(x, q, numbers)


@law("dequantize", by="NumPy")
def dequantize(draw: Draw, run: Recorder, backend: Backend) -> None:
    x = _matrix(draw, 8, 2)
    q = tb.quantize(tb.asarray(x, backend=backend), "int8", axis=0)
    dtype = draw(st.sampled_from([None, "float64"]))
    wanted = numpy.asarray(q.values).astype(numpy.float64) * numpy.asarray(q.scales)
    out = run(q, dtype)
    assert out.dtype.name == (dtype or "float32")
    numpy.testing.assert_allclose(numpy.asarray(out), wanted, rtol=1e-6)


@law("round_quantized", by="NumPy")
def round_quantized(draw: Draw, run: Recorder, backend: Backend) -> None:
    x, (dtype, options) = _matrix(draw, 32, 3), _options(draw)
    given = tb.asarray(x, names=("row", "column"), backend=backend)
    out, q = run(given, dtype, **options), tb.quantize(given, dtype, **options)
    assert out.template is given.template
    _check(x, q, numpy.asarray(out).astype(numpy.float64))


@law("quantized_dot", by="NumPy")
def quantized_dot(draw: Draw, run: Recorder, backend: Backend) -> None:
    w, x = _matrix(draw, 32, 3), _matrix(draw, 2, 32)
    q = tb.quantize(tb.asarray(w, backend=backend), draw(st.sampled_from(["int8", "int4", "mxfp4"])), axis=0)
    dense = numpy.asarray(tb.dequantize(q)).astype(numpy.float64)
    if draw(st.booleans()):
        out = run(tb.asarray(x, backend=backend), q)
    else:
        out = run(tb.asarray(x.T, backend=backend), q, axis=0)
    numpy.testing.assert_allclose(numpy.asarray(out), x.astype(numpy.float64) @ dense, atol=1e-3)
