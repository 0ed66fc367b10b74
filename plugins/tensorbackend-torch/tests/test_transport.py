"""Tests transport: which memory is shared or copied, and what is detached from a graph."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorbackend as tb
import torch
from tensorbackend.dtypes import ALL_DTYPES, DType, bfloat16
from tensorbackend.extending import numpy_dtype

from tensorbackend_torch import TorchBackend

every_dtype = pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)


def address(x: tb.Tensor) -> int:
    """The address of a tensor's payload."""
    data: torch.Tensor = x.data
    return data.data_ptr()


def counting(dtype: DType, shape: tuple[int, ...] = (2, 3)) -> tb.Tensor:
    """A tensor of small numbers."""
    return tb.astype(tb.iota(shape, backend="torch"), dtype)


@every_dtype
def test_numpy_and_back_share_memory(dtype: DType) -> None:
    x = counting(dtype)
    array = np.asarray(x)
    assert (array.shape, array.dtype) == ((2, 3), numpy_dtype(dtype))
    assert not array.flags.writeable
    assert array.__array_interface__["data"][0] == address(x)
    back = tb.asarray(array, backend="torch")
    assert back.template is x.template
    assert address(back) == address(x)
    assert back.to_binary() == x.to_binary()


def test_a_read_only_array_is_shared_without_a_warning() -> None:
    array = np.arange(3.0)
    array.flags.writeable = False
    assert address(tb.asarray(array, backend="torch")) == array.__array_interface__["data"][0]


@pytest.mark.parametrize("view", [np.flip, lambda array: array.T, lambda array: array[:, 1:2], lambda array: array[:0]])
def test_arrays_of_any_strides(view: Any) -> None:
    array = view(np.arange(6, dtype="float32").reshape(2, 3))
    assert tb.asarray(array, backend="torch").tolist() == array.tolist()
    assert tb.tensor(array, backend="torch").tolist() == array.tolist()


def test_an_array_within_records() -> None:
    records = np.zeros(2, [("a", "int8"), ("b", "float32")])
    records["b"] = [1.0, 2.0]
    assert tb.asarray(records["b"], backend="torch").tolist() == [1.0, 2.0]


def test_copies_are_not_aliased() -> None:
    source = np.array([1.0, 2.0])
    x = tb.tensor(source, backend="torch")
    moved = tb.asarray(source, backend="torch").backend_copy("torch")
    fresh = np.array(x)
    source[0] = fresh[0] = 9.0
    assert x.tolist() == moved.tolist() == [1.0, 2.0]


@every_dtype
def test_transfers(dtype: DType) -> None:
    for other in ("numpy", "binary"):
        x = counting(dtype)
        data, place = x.to_binary(), address(x)
        moved = x.backend_transfer(other)
        assert x.deallocated
        assert moved.to_binary() == data
        if other == "numpy":
            assert np.asarray(moved).__array_interface__["data"][0] == place
        back = moved.backend_transfer("torch")
        assert back.to_binary() == data
        if other == "numpy":
            assert address(back) == place


@every_dtype
def test_pytorch_s_own_tensors(dtype: DType) -> None:
    source = torch.arange(6).reshape(2, 3).to(getattr(torch, dtype.name))
    x = tb.asarray(source, backend="torch")
    assert (x.shape, x.dtype, address(x)) == ((2, 3), dtype, source.data_ptr())
    assert address(tb.from_dlpack(source, backend="torch")) == source.data_ptr()
    out = torch.utils.dlpack.from_dlpack(x)
    assert out.dtype is source.dtype
    assert torch.equal(out.to(torch.complex128), source.to(torch.complex128))


def test_a_plain_tensor_of_pytorch_s_is_a_payload() -> None:
    source = torch.tensor([1.0, 2.0])
    assert tb.asarray(source, backend="torch").data is source
    assert tb.asarray(source, backend="torch", copy=True).data is not source
    assert tb.asarray(source, backend="numpy").tolist() == [1.0, 2.0]


def test_what_requires_a_gradient_is_detached() -> None:
    weights = torch.ones(2, requires_grad=True)
    x = tb.from_dlpack(weights, backend="torch")
    assert not x.data.requires_grad
    assert address(x) == weights.data_ptr()
    with torch.enable_grad():
        assert not (x * x).data.requires_grad
    with torch.inference_mode():
        inner = x + 1
    assert (inner * x).tolist() == [2.0, 2.0]


def test_lazy_views_are_resolved() -> None:
    z = torch.tensor([1 + 2j])
    assert tb.from_dlpack(z.conj(), backend="torch").tolist() == [1 - 2j]
    assert tb.from_dlpack(z.conj().imag, backend="torch").tolist() == [-2.0]


class Legacy:
    """A producer that ignores what its consumer asks for, as before DLPack 1.0."""

    def __init__(self, x: tb.Tensor, copies: bool | None) -> None:
        self.x, self.copies = x, copies

    def __dlpack__(self, **options: Any) -> Any:
        return self.x.__dlpack__(copy=self.copies)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.x.__dlpack_device__()


@every_dtype
def test_capsules(dtype: DType) -> None:
    x = counting(dtype)
    assert x.__dlpack_device__() == (1, 0)
    for copies in (None, False, True):
        taken = torch.utils.dlpack.from_dlpack(Legacy(x, copies))
        assert (taken.data_ptr() == address(x)) is (copies is False)
        assert tb.from_dlpack(taken, backend="torch").to_binary() == x.to_binary()
    if dtype is not bfloat16:  # NumPy's DLPack has no bfloat16
        array = np.from_dlpack(x)  # a copy, to which NumPy may write
        assert array.tolist() == x.tolist()
        array[...] = 0
        assert array.tolist() != x.tolist()


@every_dtype
def test_pickles(dtype: DType) -> None:
    x = tb.astype(tb.tensor([[1, 0], [2, 3]], names=("row", None), backend="torch"), dtype)
    for copied in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert (copied.template, copied.backend) == (x.template, x.backend)
        assert copied.to_binary() == x.to_binary()


def test_the_first_elements_of_a_view() -> None:
    x = tb.permute_dims(tb.iota((2, 3), backend="torch"), (1, 0))
    assert np.frombuffer(x.to_binary(4), "int64").tolist() == [0, 3, 1, 4]
    assert x.to_binary(0) == b""


def test_bytes_are_copied() -> None:
    x = tb.from_binary(b"\x01\x02", tb.Template((2,), "uint8"), backend="torch")
    x.data[0] = 9  # what nobody should do must not change the bytes
    assert tb.from_binary(b"\x01\x02", x.template, backend="torch").tolist() == [1, 2]


def test_batches_are_copies() -> None:
    x = tb.iota((3, 2), backend="torch")
    first, _ = tb.to_batched(x, 2)
    assert address(first) != address(x)


def test_operands_of_other_backends() -> None:
    x = tb.tensor([1.0, 2.0], names=("n",), backend="torch")
    assert (x + tb.tensor([1.0, 1.0], backend="binary")).backend is TorchBackend()
    with tb.default_backend("torch"):
        left: Any = np.ones(2, np.float32)
        assert ((left + x).tolist(), (left + x).names) == ([2.0, 3.0], ("n",))


def test_a_checkpoint_with_a_scalar_is_read(tmp_path: Path) -> None:
    value = {"scale": tb.asarray(2.5, backend="torch"), "step": 3}
    tb.checkpoints.save(tmp_path / "saved", value)
    loaded = tb.checkpoints.load(tmp_path / "saved", like=value, backend="torch")
    assert (loaded["scale"].item(), loaded["scale"].backend.name, loaded["step"]) == (2.5, "torch", 3)
