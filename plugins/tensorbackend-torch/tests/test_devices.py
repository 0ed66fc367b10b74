"""Devices and options. Tests that need a GPU are skipped where PyTorch finds none."""

from __future__ import annotations

import pytest
import tensorbackend as tb
import torch
from tensorbackend.errors import ArgumentError

from tensorbackend_torch import TorchBackend

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch sees no GPU")


def test_options() -> None:
    assert TorchBackend() is TorchBackend(device="cpu") is tb.get_backend("torch")
    assert repr(TorchBackend()) == "TorchBackend(device='cpu')"
    assert TorchBackend.init(device="cuda") == {"device": "cuda:0"}
    assert TorchBackend().versions() == {"torch": str(torch.__version__)}
    with pytest.raises(ArgumentError, match="no options for the backend 'torch' except device"):
        TorchBackend(threads=2)


def test_devices() -> None:
    backend = tb.get_backend("torch")
    assert backend.devices()[0] == "cpu"
    assert len(backend.devices()) == 1 + torch.cuda.device_count()
    assert tb.get_backend("torch", device="cpu") is backend
    for missing in ("cuda:99", "tpu"):
        with pytest.raises(ArgumentError, match=f"of the backend 'torch', got device='{missing}'; the devices"):
            backend.on_device(missing)


@needs_gpu
def test_a_gpu() -> None:
    gpu = tb.get_backend("torch", device="cuda")
    x = tb.tensor([1.0, 2.0], names=("n",), backend=gpu)
    y = (x + x).block_until_ready()
    assert y.data.device == torch.device("cuda:0")
    assert y.__dlpack_device__() == (2, 0)
    assert y.__cuda_array_interface__["shape"] == (2,)
    assert y.to_device("cpu").backend is TorchBackend()
    assert y.backend_copy("numpy").tolist() == [2.0, 4.0]
    assert torch.utils.dlpack.from_dlpack(y).device == torch.device("cuda:0")


@needs_gpu
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64", "float16", "float32", "complex64"])
def test_products_on_a_gpu_are_the_reference_s(dtype: str) -> None:
    x = tb.astype(tb.reshape(tb.iota((12,), backend="binary") - 6, (3, 4)), dtype)
    y = x.backend_copy(TorchBackend(device="cuda"))
    assert tb.matmul(y, tb.matrix_transpose(y)).tolist() == tb.matmul(x, tb.matrix_transpose(x)).tolist()
