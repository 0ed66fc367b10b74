"""Oracles of quantised tensors: NumPy in float64 on the numbers and scales that are stored."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

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


@law("load_gguf", by="brute force")
def load_gguf(draw: Draw, run: Recorder, backend: Backend) -> None:
    codes = numpy.array(draw(st.lists(st.integers(0, 15), min_size=32, max_size=32)), numpy.uint8)
    scale = numpy.array([draw(st.sampled_from([0.5, 1.0, 3.0]))], numpy.float16)
    data = numpy.concatenate([scale.view(numpy.uint8), codes[:16] | codes[16:] << 4])
    kind = SimpleNamespace(name="Q4_0")
    tensor = SimpleNamespace(name="w", tensor_type=kind, shape=[32, 1], data=data[None])
    reader = SimpleNamespace(GGUFReader=lambda path: SimpleNamespace(tensors=[tensor]))
    with patch.dict(sys.modules, {"gguf": reader}):
        q = run(__file__, backend)["w"]
    wanted = (codes.astype(numpy.float64) - 8) * scale
    assert numpy.asarray(tb.dequantize(q)).tolist() == [wanted.tolist()]


@law("load_quantized", by="brute force")
def load_quantized(draw: Draw, run: Recorder, backend: Backend) -> None:
    """Sixteen columns of codes of 4 bits, packed as compressed-tensors or GPTQ do, or one to a byte."""
    height, columns, layout = draw(st.integers(1, 3)) * 8, 16, draw(st.sampled_from(["packed", "columns", "bytes"]))
    codes = numpy.array(draw(st.lists(st.integers(0, 15), min_size=16, max_size=16)) * height).reshape(height, columns)
    codes = (codes + numpy.arange(height)[:, None]) % 16
    scales = numpy.array(draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=height, max_size=height)))
    zero = draw(st.integers(0, 15))
    hexadecimal = [["".join(f"{code:x}" for code in row[7::-1]) for row in (line, line[8:])] for line in codes.tolist()]
    words = numpy.array([[int(digits, 16) for digits in row] for row in hexadecimal], numpy.uint32)
    if layout == "packed":
        zero = 8
        parts = {"weight_packed": words.view(numpy.int32), "weight_shape": numpy.array(codes.shape)}
        parts["weight_scale"] = scales.astype(numpy.float16)[:, None]
    elif layout == "columns":
        points = numpy.full((1, height // 8), 0x11111111 * ((zero - 1) % 16), numpy.uint32)
        parts = {"qweight": words.view(numpy.int32).T, "qzeros": points.view(numpy.int32)}
        parts["scales"] = scales.astype(numpy.float16)[None]
    else:
        parts = {"weight": codes.astype(numpy.int8), "weight_scale": scales.astype(numpy.float32)}
        parts["weight_zero_point"] = numpy.full(height, zero, numpy.int8)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        tb.save(path, {f"up.{name}": tb.asarray(part, backend="numpy") for name, part in parts.items()})
        q = run(path, backend)["up.weight"]
    assert q.backend.name == backend.name
    assert numpy.asarray(tb.dequantize(q)).tolist() == ((codes - zero) * scales[:, None]).tolist()
