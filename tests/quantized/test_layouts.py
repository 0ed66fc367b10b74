"""Layouts of quantised matrices in files, packed and dequantised by hand in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import FileError

RNG = np.random.default_rng(0)
OUT, IN, GROUP = 16, 64, 32

Parts = dict[str, Any]


def in_words(codes: Any, bits: int, order: list[int] | None = None) -> Any:
    """Return codes packed into int32 along the last axis; `order` says which code is in which place."""
    each = 32 // bits
    padded = np.pad(codes.astype(np.uint32), [(0, 0), (0, -codes.shape[1] % each)])
    apart = padded.reshape(len(codes), -1, each)[:, :, order or list(range(each))]
    return np.bitwise_or.reduce(apart << np.arange(0, 32, bits, dtype=np.uint32), -1).view(np.int32)


def in_bytes(codes: Any) -> Any:
    return (codes[..., 0::2] | codes[..., 1::2] << 4).astype(np.uint8)


def wide(rows: Any) -> Any:
    """Return the entry of each group for each of its columns."""
    return np.repeat(rows.astype(np.float32), IN // rows.shape[1], 1)


def scales(*shape: int, dtype: Any = np.float16) -> Any:
    return RNG.uniform(0.5, 2, shape).astype(dtype)


def packed(bits: int, *, points: bool, groups: int) -> tuple[Parts, Any]:
    half = 1 << bits - 1
    numbers, scale = RNG.integers(-half, half, (OUT, IN)), scales(OUT, groups, dtype=ml_dtypes.bfloat16)
    parts = {
        "weight_packed": in_words(numbers + half, bits),
        "weight_scale": scale,
        "weight_shape": np.array([OUT, IN]),
    }
    zero = np.zeros((OUT, groups), int)
    if points:
        zero = RNG.integers(-half, half, (OUT, groups))
        parts["weight_zero_point"] = np.ascontiguousarray(in_words((zero + half).T, bits).T)
    return parts, (numbers - wide(zero)) * wide(scale)


def columns(bits: int, *, awq: bool = False, stored_less: int = 1) -> tuple[Parts, Any]:
    codes, groups = RNG.integers(0, 1 << bits, (OUT, IN)), IN // GROUP
    zero, scale = RNG.integers(0, 1 << bits, (OUT, groups)), scales(OUT, groups)
    zero[0, 0] = 0  # which GPTQ's first version stores as the largest code
    wanted = (codes - wide(zero)) * wide(scale)
    parts = {"scales": np.ascontiguousarray(scale.T)}
    if awq:
        order = [0, 2, 4, 6, 1, 3, 5, 7]
        return parts | {"qweight": in_words(codes.T, 4, order), "qzeros": in_words(zero.T, 4, order)}, wanted
    less = (zero - stored_less) % (1 << bits)
    qweight = np.ascontiguousarray(in_words(codes, bits).T)
    index = (np.arange(IN) // GROUP).astype(np.int32)
    return parts | {"qweight": qweight, "qzeros": in_words(less.T, bits), "g_idx": index}, wanted


def float8(name: str, scale: Any, spread: Any, dtype: Any = ml_dtypes.float8_e4m3fn) -> tuple[Parts, Any]:
    numbers = RNG.uniform(-4, 4, (OUT, IN)).astype(dtype)
    return {"weight": numbers, name: scale}, numbers.astype(np.float32) * spread(scale.astype(np.float32))


def int8(*, points: bool) -> tuple[Parts, Any]:
    numbers, scale = RNG.integers(-128, 128, (OUT, IN)), scales(OUT, 1, dtype=np.float32)
    zero = RNG.integers(-128, 128, (OUT, 1)) * points
    parts = {"weight": numbers.astype(np.int8), "weight_scale": scale}
    if points:
        parts["weight_zero_point"] = zero.astype(np.int8)
    return parts, (numbers - wide(zero)) * wide(scale)


def float4(name: str, block: int, factor: tuple[str, float] | None) -> tuple[Parts, Any]:
    codes = RNG.integers(0, 16, (OUT, IN)).astype(np.uint8)
    numbers = codes.view(ml_dtypes.float4_e2m1fn).astype(np.float32)
    if factor is None:
        exponents = RNG.integers(120, 134, (OUT, IN // block)).astype(np.uint8)
        return {name: in_bytes(codes), "weight_scale": exponents}, numbers * wide(2.0 ** (exponents.astype(int) - 127))
    scale = scales(OUT, IN // block, dtype=ml_dtypes.float8_e4m3fn)
    parts = {name: in_bytes(codes), "weight_scale": scale, factor[0]: np.array([factor[1]], np.float32)}
    more = factor[1] if factor[0] == "weight_scale_2" else 1 / factor[1]
    return parts, numbers * wide(scale) * np.float32(more)


LAYOUTS: dict[str, Callable[[], tuple[Parts, Any]]] = {
    "packed int4": lambda: packed(4, points=False, groups=2),
    "packed int4 of outputs": lambda: packed(4, points=False, groups=1),
    "packed int4 with zero points": lambda: packed(4, points=True, groups=2),
    "packed int8 with zero points": lambda: packed(8, points=True, groups=2),
    "packed int2": lambda: packed(2, points=False, groups=2),
    "gptq": lambda: columns(4),
    "gptq of 8 bits": lambda: columns(8),
    "gptq of 2 bits": lambda: columns(2),
    "awq": lambda: columns(4, awq=True),
    "int8": lambda: int8(points=False),
    "int8 with zero points": lambda: int8(points=True),
    "fp8 of the tensor": lambda: float8("weight_scale", scales(dtype=np.float32), lambda s: s),
    "fp8 of outputs": lambda: float8("weight_scale", scales(OUT, dtype=np.float32), lambda s: s[:, None]),
    "fp8 e5m2": lambda: float8("weight_scale", scales(OUT, 1), lambda s: s, ml_dtypes.float8_e5m2),
    "mxfp8": lambda: float8(
        "weight_scale",
        RNG.integers(120, 134, (OUT, 2)).astype(np.uint8),
        lambda s: np.repeat(2 ** (s - 127), 32, 1),
    ),
    "mxfp4": lambda: float4("weight_packed", 32, None),
    "nvfp4": lambda: float4("weight_packed", 16, ("weight_global_scale", 48.0)),
    "nvfp4 of another program": lambda: float4("weight", 16, ("weight_scale_2", 0.375)),
}


def load(folder: Path, parts: Parts, backend: str = "numpy") -> Any:
    tb.save(folder / "model.safetensors", {f"up.{name}": tb.asarray(part) for name, part in parts.items()})
    return tb.load_quantized(folder / "model.safetensors", backend)


@pytest.mark.parametrize("backend", ["numpy", "binary"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_matrices_have_the_values_of_the_layout(layout: str, backend: str, tmp_path: Path) -> None:
    parts, wanted = LAYOUTS[layout]()
    found = load(tmp_path, parts, backend)
    assert list(found) == ["up.weight"]
    q = found["up.weight"]
    assert (q.shape, q.axis, q.backend.name) == ((OUT, IN), 1, backend)
    dense = np.asarray(tb.dequantize(q))
    if q.factor is None:
        assert np.array_equal(dense, wanted.astype(np.float32))
    else:
        assert np.allclose(dense, wanted, rtol=1e-6)
    x = RNG.standard_normal((2, IN)).astype(np.float32)
    out = tb.quantized_dot(tb.asarray(x, backend=backend), q)
    assert np.allclose(np.asarray(out), x @ wanted.T, rtol=1e-4, atol=1e-2 * np.abs(wanted).max())


@pytest.mark.parametrize("layout", LAYOUTS)
def test_templates_have_the_same_parts(layout: str, tmp_path: Path) -> None:
    q = load(tmp_path, LAYOUTS[layout]()[0])["up.weight"]
    planned = tb.load_quantized(tmp_path, "template")["up.weight"]
    assert (repr(planned).replace("template", "numpy"), planned.nbytes) == (repr(q), q.nbytes)
    assert [x.template for x in tb.tree_leaves(planned)] == [x.template for x in tb.tree_leaves(q)]


def test_bytes_are_those_of_the_file(tmp_path: Path) -> None:
    parts, _ = packed(4, points=False, groups=2)
    q = load(tmp_path, parts)["up.weight"]
    assert q.nbytes == parts["weight_packed"].nbytes + parts["weight_scale"].nbytes
    assert all(np.asarray(x).flags.c_contiguous for x in tb.tree_leaves(q))


@pytest.mark.parametrize("name", ["weight_scale_inv", "weight_scale"])
def test_blocks_of_rows_and_columns(name: str, tmp_path: Path) -> None:
    numbers = RNG.uniform(-4, 4, (200, 256)).astype(ml_dtypes.float8_e4m3fn)  # the last block has 72 rows
    scale = scales(2, 2, dtype=np.float32)
    q = load(tmp_path, {"weight": numbers, name: scale})["up.weight"]
    wanted = numbers.astype(np.float32) * np.kron(scale, np.ones((128, 128), np.float32))[:200]
    assert q.block == 128
    assert np.array_equal(np.asarray(tb.dequantize(q)), wanted)


@pytest.mark.parametrize("dot", ["_", "."])
def test_blocks_of_experts(dot: str, tmp_path: Path) -> None:
    codes = RNG.integers(0, 16, (3, 4, 2, 32)).astype(np.uint8)  # experts, outputs, blocks
    exponents = RNG.integers(120, 134, (3, 4, 2)).astype(np.uint8)
    q = load(tmp_path, {f"experts{dot}blocks": in_bytes(codes), f"experts{dot}scales": exponents})["up.experts"]
    numbers = codes.view(ml_dtypes.float4_e2m1fn).astype(np.float32)
    wanted = (numbers * 2.0 ** (exponents.astype(np.float32)[..., None] - 127)).reshape(3, 4, 64)
    assert (q.axis, q.block) == (2, 32)
    assert np.array_equal(np.asarray(tb.dequantize(q)), wanted.astype(np.float32))
    x = RNG.standard_normal(64).astype(np.float32)
    assert np.allclose(np.asarray(tb.quantized_dot(tb.asarray(x), q)), wanted @ x, rtol=1e-4, atol=1.0)


def test_padding_is_cut_off(tmp_path: Path) -> None:
    numbers = RNG.integers(-8, 8, (3, 10))
    parts = {
        "weight_packed": in_words(numbers + 8, 4),
        "weight_scale": scales(3, 1),
        "weight_shape": np.array([3, 10], np.int32),
    }
    q = load(tmp_path, parts)["up.weight"]
    assert np.array_equal(np.asarray(tb.dequantize(q)), numbers * parts["weight_scale"].astype(np.float32))


def change(layout: str, **changed: Any) -> Parts:
    """Return the parts of a layout with some of them changed, or without those that are `None`."""
    parts = LAYOUTS[layout]()[0] | changed
    return {name: part for name, part in parts.items() if part is not None}


BACKWARDS = (np.arange(IN)[::-1] // GROUP).astype(np.int32)
REFUSED = {
    "order of groups": (change("gptq", g_idx=BACKWARDS), "without desc_act, got .*part='g_idx'"),
    "order of columns": (change("packed int4", weight_g_idx=BACKWARDS), "part='weight_g_idx'"),
    "6 bits": (change("gptq", qzeros=np.zeros((2, 3), np.int32)), "part='qzeros'"),
    "no shape": (change("packed int4", weight_shape=None), "a tensor weight_shape, got .*name='up.weight_packed'"),
    "another shape": (change("packed int4", weight_shape=np.array([OUT, 100])), r"\[16, 100\].*part='weight_packed'"),
    "a negative shape": (change("packed int4", weight_shape=np.array([OUT, -IN])), "part='weight_packed'"),
    "three sizes": (change("packed int4", weight_shape=np.array([1, OUT, IN])), "part='weight_packed'"),
    "no scales": (change("gptq", scales=None), "a tensor scales, got .*name='up.qweight'"),
    "scales of integers": (change("int8", weight_scale=np.ones(OUT, np.int32)), "scales of floats.*'weight_scale'"),
    "scales of 7 outputs": (change("int8", weight_scale=scales(7)), "a scale for .*of 16 by 64.*part='weight_scale'"),
    "groups of unequal sizes": (change("packed int4", weight_scale=scales(OUT, 3)), "part='weight_scale'"),
    "scales of nothing": (change("int8", weight_scale=scales(OUT, 0)), "part='weight_scale'"),
    "zero points of floats": (change("int8 with zero points", weight_zero_point=scales(OUT, 1)), "weight_zero_point"),
    "zero points of groups": (
        change("packed int4 with zero points", weight_zero_point=np.zeros((2, 3), np.int32)), "weight_zero_point",
    ),
    "zero points of float8": (
        change("fp8 e5m2", weight_zero_point=np.zeros((OUT, 1), np.int8)), "zero points only for integers",
    ),
    "both scales": (change("fp8 e5m2", weight_scale_inv=scales(OUT, 1)), "part='weight_scale_inv'"),
    "a matrix of floats": (change("int8", weight=scales(OUT, IN)), "a matrix of int8 or float8.*part='weight'"),
    "an empty matrix": (change("int8", weight=np.zeros((OUT, 0), np.int8)), "part='weight'"),
    "words of 16 bits": (change("gptq", qweight=np.zeros((8, OUT), np.int16)), "a matrix of int32.*part='qweight'"),
    "rows of outputs": (change("gptq", qweight=np.zeros((OUT, IN // 8), np.int32)[:, :5]), "part='qweight'"),
    "float4 with floats": (change("mxfp4", weight_scale=scales(OUT, 2)), "part='weight_scale'"),
    "two factors": (change("nvfp4", weight_global_scale=np.ones(2, np.float32)), "part='weight_global_scale'"),
    "float4 with zero points": (
        change("mxfp4", weight_zero_point=np.zeros((OUT, 2), np.int8)), "without weight_zero_point",
    ),
    "int4 with a factor": (
        change("packed int4", weight_global_scale=np.ones(1, np.float32)), "without weight_global_scale",
    ),
    "float8 with two scales": (change("fp8 e5m2", weight_scale_2=np.ones(1, np.float32)), "without weight_scale_2"),
    "6 bits with exponents": (
        change("mxfp4", weight_packed=np.zeros((OUT, 48), np.uint8)), "groups of 32 numbers of 4 bits",
    ),
    "short blocks": (
        {"w_blocks": np.zeros((2, 2, 8), np.uint8), "w_scales": np.zeros((2, 2), np.uint8)}, "part='blocks'",
    ),
    "fewer scales than blocks": (
        {"w_blocks": np.zeros((2, 2, 16), np.uint8), "w_scales": np.zeros((2, 1), np.uint8)}, "part='scales'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_other_layouts_are_refused_by_name(case: str, tmp_path: Path) -> None:
    parts, message = REFUSED[case]
    with pytest.raises(FileError, match=f"^load_quantized: expected .*{message}"):
        load(tmp_path, parts)
