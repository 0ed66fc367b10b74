"""The kernels for other platforms, run on this machine's CPU."""

from __future__ import annotations

import pytest

import tensorbackend as tb
from tensorbackend.backends.jax_backend import JaxBackend
from tensorbackend.testing import check_pairs


class GpuKernels(JaxBackend):
    """JAX on this machine, with the kernels for a GPU."""

    @property
    def platform(self) -> str:
        return "gpu"


OPS = ["conv", "convolve", "correlate", "divide", "sqrt", "matmul", "sum", "cumulative_sum", "sparse_matvec", "svd"]


@pytest.mark.parametrize("op", OPS)
def test_kernels_of_a_gpu(op: str) -> None:
    dtypes = [tb.int32, tb.uint8, tb.float32, tb.complex64]
    pairs = list(check_pairs(GpuKernels(), [op], dtypes, examples=10))
    assert pairs
    assert not [(pair.dtype, pair.detail) for pair in pairs if pair.status == "fail"]


@pytest.mark.parametrize(("first", "between"), [("f64", "f32"), ("f32", "bf16"), ("c128", "c64"), ("i32", "f16")])
def test_casts_in_programs_round(first: str, between: str) -> None:
    x = tb.tensor([3.14159, 1e-3, 1234.5], dtype="f64", backend=GpuKernels()).astype(first)

    def cast_and_back(x: tb.Tensor) -> tb.Tensor:
        return tb.astype(tb.astype(x, between), "c128")

    assert (
        tb.jit(cast_and_back)(x).tolist()
        == cast_and_back(x).tolist()
        == cast_and_back(x.backend_copy("binary")).tolist()
    )
