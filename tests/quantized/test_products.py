"""Products with quantised matrices, by NumPy on what they stand for; time and memory against the same by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import AxisError, ShapeError

from ..peak_memory import peak_memory

RNG = np.random.default_rng(0)
WEIGHTS = RNG.standard_normal((64, 6)).astype(np.float32)
ROWS = RNG.standard_normal((3, 64)).astype(np.float32)

WAYS: dict[str, dict[str, Any]] = {
    "int8": {}, "int4": {"axis": 0, "block": 32}, "int2": {"axis": 0, "block": 8}, "float8_e4m3fn": {"axis": 0},
    "mxfp8": {}, "mxfp4": {}, "nvfp4": {}, "uint4": {"axis": 0, "block": 16, "symmetric": False},
}  # fmt: skip


@pytest.mark.parametrize(
    ("dtype", "backend"),
    [*((dtype, "numpy") for dtype in WAYS), ("int4", "binary"), ("mxfp4", "binary"), ("mxfp4", "jax")],
)
def test_a_product_and_its_gradient(dtype: str, backend: str) -> None:
    q = tb.quantize(tb.asarray(WEIGHTS, backend=backend), dtype, **WAYS[dtype])
    x, dense = tb.asarray(ROWS, backend=backend), np.asarray(tb.dequantize(q))
    assert np.allclose(np.asarray(tb.quantized_dot(x, q)), ROWS @ dense, atol=1e-4)
    slope = tb.grad(lambda x: tb.sum(tb.quantized_dot(x, q) ** 2))(x)
    assert np.allclose(np.asarray(slope), 2 * (ROWS @ dense) @ dense.T, atol=1e-3)


def test_a_gradient_of_a_gradient() -> None:
    q = tb.quantize(tb.asarray(WEIGHTS), "int4", axis=0, block=32)
    x, dense = tb.asarray(ROWS[0]), np.asarray(tb.dequantize(q))
    found = tb.hessian(lambda x: tb.sum(tb.quantized_dot(x, q) ** 2))(x)
    assert np.allclose(np.asarray(found), 2 * dense @ dense.T, atol=1e-3)


def test_axes_are_found_by_name() -> None:
    w = tb.asarray(WEIGHTS.T, names=("out", "feature"))
    q = tb.quantize(w, "int8", axis="feature")
    x = tb.asarray(ROWS.T, names=("feature", "batch"))
    out = tb.quantized_dot(x, q)
    assert out.names == ("batch", "out")
    assert np.allclose(np.asarray(out), ROWS @ np.asarray(tb.dequantize(q)).T, atol=1e-4)
    assert tb.quantized_dot(x, q, axis=0).tolist() == out.tolist()
    stacked = tb.quantized_dot(tb.ones((2, 3, 64)), q)
    assert (stacked.shape, stacked.names) == ((2, 3, 6), (None, None, "out"))


def test_dtypes_of_sums_and_results() -> None:
    q = tb.quantize(tb.asarray(WEIGHTS), "int8", axis=0)
    dense = np.asarray(tb.dequantize(q)).astype(np.float64)
    out = tb.quantized_dot(tb.asarray(ROWS, dtype="float64"), q)
    assert out.dtype is tb.float64
    assert np.allclose(np.asarray(out), ROWS @ dense, atol=1e-12)
    assert tb.quantized_dot(tb.asarray(ROWS, dtype="float16"), q).dtype is tb.float16


def test_jit_vmap_and_dry_runs() -> None:
    q = tb.quantize(tb.asarray(WEIGHTS), "mxfp8")
    x = tb.asarray(ROWS)
    wanted = tb.quantized_dot(x, q).tolist()
    assert tb.jit(tb.quantized_dot)(x, q).tolist() == wanted
    assert np.allclose(np.asarray(tb.vmap(lambda row: tb.quantized_dot(row, q))(x)), wanted, atol=1e-5)
    assert tb.quantized_dot(tb.template((3, 64), "f32"), q).template.shape == (3, 6)


def test_many_runs_give_what_one_run_gives() -> None:
    wide = RNG.standard_normal((256, 1024)).astype(np.float32)  # a run has 128 rows
    q = tb.quantize(tb.asarray(wide), "int4", axis=0)  # and a block 256
    x = RNG.standard_normal((2, 256)).astype(np.float32)
    assert np.allclose(np.asarray(tb.quantized_dot(x, q)), x @ np.asarray(tb.dequantize(q)), atol=1e-3)


@pytest.mark.parametrize("backend", ["numpy", "binary", "jax"])
def test_few_rows_give_what_float64_gives(backend: str) -> None:
    """Products of few rows scale sums rather than numbers; drawn shapes, dtypes, groups and zero points."""
    draw = np.random.default_rng(1)
    for _ in range({"numpy": 100, "binary": 6, "jax": 3}[backend]):
        dtype = str(draw.choice(["int2", "uint2", "int4", "uint4", "int8", "uint8"]))
        count, width = 8 * int(draw.integers(1, 20)), int(draw.integers(1, 9 if backend == "binary" else 3000))
        blocks = [None, *(block for block in (4, 8, 16, 32) if count % block == 0)]
        options: dict[str, Any] = {
            "block": blocks[draw.integers(len(blocks))],
            "symmetric": dtype[0] != "u" and bool(draw.integers(2)),
        }
        x = (draw.standard_normal((int(draw.integers(1, 4)), count)) * 10.0 ** draw.integers(-20, 15)).astype("float32")
        w = draw.standard_normal((count, width)).astype("float32")
        q = tb.quantize(tb.asarray(abs(w) if dtype[0] == "u" else w, backend=backend), dtype, axis=0, **options)
        dense = np.asarray(tb.dequantize(q)).astype(np.float64)
        found, wanted = np.asarray(tb.quantized_dot(tb.asarray(x, backend=backend), q)), x.astype(np.float64) @ dense
        # Where a zero point is subtracted, the numbers are differences of larger ones.
        bound = (count + 8) * 2.0**-24 * (abs(x).astype(np.float64) @ abs(dense))
        assert (abs(found - wanted) <= bound + 1e-44).all(), (dtype, count, width, options, len(x))


@pytest.mark.parametrize(
    ("dtype", "block"), [("int2", 1), ("int2", 2), ("int2", 6), ("int4", 1), ("int4", 3), ("uint2", 3)]
)
def test_groups_may_end_within_a_byte(dtype: str, block: int) -> None:
    w, x = tb.asarray(abs(WEIGHTS[:24])), tb.asarray(ROWS[:, :24])
    q = tb.quantize(w, dtype, axis=0, block=block, symmetric=dtype[0] != "u")
    for rows in (x[:1], x, tb.concat([x] * 9)):
        assert tb.all_close(tb.quantized_dot(rows, q), rows @ tb.dequantize(q), atol=1e-5)


def test_the_matrix_is_never_there_as_a_whole() -> None:
    w = tb.asarray(RNG.standard_normal((2048, 2048)).astype(np.float32))
    q = tb.quantize(w, "int4", axis=0, block=32, scale_dtype="float16")
    x = tb.asarray(RNG.standard_normal((8, 2048)).astype(np.float32))
    for _ in range(3):  # the first calls plan
        out = tb.quantized_dot(x, q)
    peak = peak_memory(lambda: tb.quantized_dot(x, q))
    assert peak < 0.7 * (q.nbytes + out.nbytes)  # 1.4 MB, whatever the size; the matrix in float32 has 16.8 MB
    assert np.allclose(np.asarray(out), np.asarray(x) @ np.asarray(tb.dequantize(q)), atol=1e-2)


def test_sizes_and_axes_must_fit() -> None:
    q = tb.quantize(tb.asarray(WEIGHTS), "int8", axis=0)
    with pytest.raises(ShapeError, match="axes of equal sizes"):
        tb.quantized_dot(tb.ones((2, 6)), q)
    with pytest.raises(AxisError):
        tb.quantized_dot(tb.ones((2, 64)), q, axis="feature")


class WholeProducts(tb.NumpyBackend):
    """A backend with a product of its own for matrices of int4."""

    name = "whole_products"

    def quantized_product(self, x: tb.Tensor, q: tb.Quantized, /) -> Any:
        if q.dtype is not tb.int4:
            return None
        whole = tb.dequantize(q)
        return (x @ tb.reshape(whole, (whole.shape[0], -1))).data * 2.0  # so that a test can tell it


def test_a_backend_may_have_a_product_of_its_own() -> None:
    x, w = tb.backend_copy((tb.ones((2, 32)), tb.ones((32, 3))), WholeProducts)
    narrow, wide = (tb.quantize(w, dtype, axis=0) for dtype in ("int4", "int8"))
    assert tb.quantized_dot(x, narrow).tolist() == [[64.0] * 3] * 2
    assert tb.quantized_dot(x.astype("f16"), narrow).dtype is tb.float16
    assert tb.quantized_dot(x, wide).tolist() == [[32.0] * 3] * 2
