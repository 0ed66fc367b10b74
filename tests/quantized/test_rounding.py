"""What `quantize` stores, by NumPy and ml_dtypes, and what it refuses."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, DTypeError, ShapeError

RNG = np.random.default_rng(0)
WEIGHTS = RNG.standard_normal((64, 6)).astype(np.float32)


def by_groups(x: Any, block: int) -> Any:
    return x.reshape(x.shape[0] // block, block, *x.shape[1:])


@pytest.mark.parametrize("backend", ["numpy", "binary", "jax"])
@pytest.mark.parametrize(("dtype", "most"), [("int8", 127), ("int4", 7), ("int2", 1)])
def test_integers_with_a_scale_for_each_group(dtype: str, most: int, backend: str) -> None:
    q = tb.quantize(tb.asarray(WEIGHTS, backend=backend), dtype, axis=0, block=32)
    groups = by_groups(WEIGHTS, 32)
    scales = np.abs(groups).max(1, keepdims=True) / np.float32(most)
    wanted = np.rint(groups / scales) * scales
    assert np.allclose(np.asarray(q.scales), scales[:, 0], rtol=1e-6)
    assert np.allclose(np.asarray(tb.dequantize(q)), wanted.reshape(64, 6), atol=1e-6)
    assert np.all(np.abs(np.asarray(tb.dequantize(q)) - WEIGHTS) <= np.repeat(scales[:, 0], 32, 0) * 0.50001)


def test_zero_points_let_the_least_and_the_greatest_element_be_the_limits() -> None:
    x = np.abs(WEIGHTS) + 3
    q = tb.quantize(tb.asarray(x), "uint4", axis=0, block=16, symmetric=False)
    groups = by_groups(x, 16)
    step = groups.max(1) / 15  # from 0, which must stand for itself
    assert np.allclose(np.asarray(q.scales), step, rtol=1e-6)
    assert np.all(np.abs(np.asarray(tb.dequantize(q)) - x) <= np.repeat(step, 16, 0) * 0.50001)
    assert q.zeros is not None
    assert q.zeros.dtype is tb.uint8


@pytest.mark.parametrize(("name", "dtype", "top"), [
    ("mxfp8", ml_dtypes.float8_e4m3fn, 8), ("mxfp8_e5m2", ml_dtypes.float8_e5m2, 15),
    ("mxfp4", ml_dtypes.float4_e2m1fn, 2),
])  # fmt: skip
def test_microscaling_formats(name: str, dtype: Any, top: int) -> None:
    q = tb.quantize(tb.asarray(WEIGHTS), name, axis=0)
    groups = by_groups(WEIGHTS, 32).astype(np.float64)
    scales = 2.0 ** (np.floor(np.log2(np.abs(groups).max(1, keepdims=True))) - top)
    limit = float(ml_dtypes.finfo(dtype).max)  # type: ignore[no-untyped-call] # untyped in ml_dtypes
    wanted = np.clip(groups / scales, -limit, limit).astype(dtype).astype(np.float64) * scales
    assert q.scales.dtype is tb.float8_e8m0fnu
    assert np.array_equal(np.asarray(tb.dequantize(q)), wanted.reshape(64, 6))


def test_nvfp4() -> None:
    q = tb.quantize(tb.asarray(WEIGHTS), "nvfp4", axis=0)
    groups = by_groups(WEIGHTS, 16)
    factor = np.abs(WEIGHTS).max() / np.float32(6 * 448)
    scales = (np.abs(groups / factor).max(1, keepdims=True) / np.float32(6)).astype(ml_dtypes.float8_e4m3fn)
    numbers = np.clip(groups / factor / scales.astype(np.float32), -6, 6).astype(ml_dtypes.float4_e2m1fn)
    wanted = numbers.astype(np.float32) * scales.astype(np.float32) * factor
    assert np.allclose(np.asarray(tb.dequantize(q)), wanted.reshape(64, 6), rtol=1e-6)


def test_bytes_are_those_of_the_packed_numbers_and_their_scales() -> None:
    x = tb.asarray(WEIGHTS)
    assert tb.quantize(x, "int4", axis=0, block=32, scale_dtype="float16").nbytes == 64 * 6 // 2 + 2 * 6 * 2
    assert tb.quantize(x, "mxfp4").nbytes == 64 * 6 // 2 + 2 * 6
    assert tb.quantize(x, "int2", axis=0).nbytes == 64 * 6 // 4 + 6 * 4
    assert tb.quantize(x).nbytes == 64 * 6 + 4


def test_names_and_axes_come_back() -> None:
    x = tb.asarray(WEIGHTS.T, names=("out", "feature"), dtype="float16")
    q = tb.quantize(x, "int8", axis="feature", block=8)
    assert (q.shape, q.names, q.axis, q.block) == ((6, 64), ("out", "feature"), 1, 8)
    assert tb.dequantize(q).template is x.template
    assert tb.dequantize(q, "float32").dtype is tb.float32
    assert repr(q) == "Quantized(f16[out: 6][feature: 64] as int8, groups of 8 along feature, numpy)"


def test_a_quantised_tensor_is_a_tree() -> None:
    q = tb.quantize(tb.asarray(WEIGHTS), "mxfp8")
    moved = tb.backend_copy(q, "binary")
    assert moved.values.backend.name == "binary"
    assert tb.dequantize(moved).tolist() == tb.dequantize(q).tolist()
    traced = tb.jit(tb.dequantize)(q)
    assert traced.tolist() == tb.dequantize(q).tolist()


def test_zeros_and_scalars() -> None:
    assert tb.dequantize(tb.quantize(tb.zeros((4, 2)), "int4", axis=0)).tolist() == [[0.0, 0.0]] * 4
    assert tb.dequantize(tb.quantize(tb.zeros((32, 1)), "mxfp4")).tolist() == [[0.0]] * 32
    assert tb.dequantize(tb.quantize(tb.asarray(2.0), "int8")).item() == 2.0


def test_rounding_has_the_gradient_of_its_argument() -> None:
    x = tb.asarray(WEIGHTS)
    rounded = tb.round_quantized(x, "int4", axis=0, block=32)
    assert rounded.tolist() == tb.dequantize(tb.quantize(x, "int4", axis=0, block=32)).tolist()
    slope = tb.grad(lambda x: tb.sum(tb.round_quantized(x, "int4", axis=0) ** 2))(x)
    assert np.allclose(np.asarray(slope), 2 * np.asarray(tb.round_quantized(x, "int4", axis=0)))


@pytest.mark.parametrize(("arguments", "error", "text"), [
    ((tb.asarray([1]),), DTypeError, "a tensor of floats"),
    ((tb.ones(2), "float16"), DTypeError, "at most 8 bits"),
    ((tb.ones(2), "float8_e8m0fnu"), DTypeError, "at most 8 bits"),
    ((tb.ones(2), "uint8"), DTypeError, "symmetric=False"),
    ((tb.ones(3), "int4"), ShapeError, "2 elements to a byte"),
])  # fmt: skip
def test_what_cannot_be_quantised(arguments: tuple[Any, ...], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        tb.quantize(*arguments)


def test_options_that_do_not_fit() -> None:
    x = tb.asarray(WEIGHTS)
    with pytest.raises(ShapeError, match="48 elements a block"):
        tb.quantize(x, axis=0, block=48)
    with pytest.raises(ArgumentError, match="pass axis="):
        tb.quantize(x, block=32)
    with pytest.raises(ArgumentError, match="no block for the format 'mxfp4'"):
        tb.quantize(x, "mxfp4", block=16)
    with pytest.raises(DTypeError, match="an integer dtype for zero points"):
        tb.quantize(x, "float8_e5m2", symmetric=False)
    with pytest.raises(tb.errors.TensorBackendError, match="quantized_dot"):
        tb.exp(tb.quantize(x))  # type: ignore[arg-type] # on purpose
