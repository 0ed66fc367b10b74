"""Narrow dtypes on PyTorch, by the measure of ml_dtypes and of the reference."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tensorbackend as tb
import torch
from hypothesis import given
from hypothesis import strategies as st
from tensorbackend.dtypes import NARROW_DTYPES, DType
from tensorbackend.testing import Invocation, calls, judge, names, profile, takes_narrow

each = pytest.mark.parametrize("dtype", NARROW_DTYPES, ids=str)


def numbers() -> dict[str, Any]:
    """All numbers of 8 and 16 bits."""
    words = np.arange(65536, dtype=np.uint16)
    with np.errstate(invalid="ignore"):
        found = {"f16": words.view(np.float16), "bf16": words.view(ml_dtypes.bfloat16)}
        found["f32"] = found["bf16"].astype(np.float32)
        found["f64"] = found["bf16"].astype(np.float64)
    for name in ("int8", "uint8", "int16", "uint16", "int32", "int64", "uint32"):
        least = 0 if name[0] == "u" else -(1 << 15)
        found[name] = np.arange(least, 1 << 15).astype(name)
    return found


@each
def test_all_casts(dtype: DType) -> None:
    for name, values in numbers().items():
        ours = np.asarray(tb.astype(tb.asarray(values, backend="torch"), dtype)).view(np.uint8)
        with np.errstate(all="ignore"):
            if dtype.kind == "float" or values.dtype.kind in "iu":
                theirs = values.astype(dtype.dtype).view(np.uint8)
            else:
                limits, wide = tb.iinfo(dtype), np.nan_to_num(values.astype(np.float64), posinf=99, neginf=-99)
                theirs = np.clip(wide, limits.min, limits.max).astype(np.int8).astype(dtype.dtype).view(np.uint8)
        assert np.array_equal(ours, theirs), name
    codes = np.arange(1 << dtype.bits, dtype=np.uint8).view(dtype.dtype)
    for target in (np.float16, ml_dtypes.bfloat16, np.float32, np.float64):
        ours = np.asarray(tb.astype(tb.asarray(codes, backend="torch"), np.dtype(target)))
        with np.errstate(over="ignore"):
            assert np.array_equal(ours.astype("f8"), codes.astype(target).astype("f8"), equal_nan=True), target


@pytest.mark.parametrize("op", [name for name in names() if takes_narrow(name)])
def test_ops_that_move_elements_agree_with_the_reference(op: str) -> None:
    @profile(6)
    @given(st.one_of([calls(op, dtype) for dtype in NARROW_DTYPES]))
    def agrees(call: Invocation) -> None:
        assert judge(call, "torch").ulps == 0

    agrees()


@pytest.mark.parametrize("dtype", [dtype for dtype in NARROW_DTYPES if hasattr(torch, dtype.name) and dtype.bits == 8])
@pytest.mark.parametrize("backend", ["binary", "numpy", "jax", "torch"])
def test_float8_of_pytorch(dtype: DType, backend: str) -> None:
    array = torch.tensor([1.0, 2.0, 0.5]).to(getattr(torch, dtype.name))
    x = tb.asarray(array, backend=backend)
    assert x.dtype is dtype
    assert x.tolist() == [1.0, 2.0, 0.5]
    if backend == "torch":
        assert x.data.data_ptr() == array.data_ptr()
        assert torch.equal(x.data.view(array.dtype).float(), array.float())
