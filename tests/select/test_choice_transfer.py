"""Transfers of tensors between backends: by DLPack or as bytes, what they share, and that names and bits stay."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.dtypes import ALL_DTYPES, DType, as_dtype, bfloat16, float32
from tensorbackend.errors import BackendError, DeallocatedError, TemplateDataError
from tensorbackend.interchange import HOST, numpy_dtype
from tensorbackend.protocol import Backend
from tensorbackend.template import Template

BACKENDS = ("binary", "numpy", "jax")


class Memory:
    """An array of a made-up library: bytes in the memory of a device, which only DLPack shares."""

    def __init__(self, data: np.ndarray[Any, Any], device: tuple[int, int], strided: bool = False) -> None:
        self.data, self.device, self.strided = data, device, strided

    def __dlpack__(self, *, stream: Any = None, copy: bool | None = None, **options: Any) -> Any:
        if self.strided:
            raise BufferError("strides that DLPack consumers do not take")
        if self.device == (1, 0):
            return self.data.__dlpack__(copy=copy, **options)
        return Memory(self.data.copy(), self.device) if copy else self

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device


class OnDevice(Backend):
    """A backend of the library of `Memory`. It records every crossing of host memory."""

    crossings: ClassVar[list[str]] = []
    dlpack_dtypes = frozenset(ALL_DTYPES) - {bfloat16}

    @property
    def device(self) -> str:  # type: ignore[override] # from the options
        return str(self.options["device"])

    @classmethod
    def init(cls, **options: object) -> dict[str, str]:
        return {"device": str(options.get("device", "cuda:0"))}

    def from_binary(self, out: Template, /, *, data: bytes) -> Memory:
        self.crossings.append(f"to {self.name}")
        array = np.frombuffer(data, numpy_dtype(out.dtype)).reshape(out.shape)
        return Memory(array, self.dlpack_device())

    def to_binary(self, x: tb.Tensor, limit: int, /) -> bytes:
        self.crossings.append(f"from {self.name}")
        data: bytes = x.data.data.tobytes()
        return data[: limit * x.dtype.itemsize]

    def to_dlpack(self, x: tb.Tensor, /, **options: Any) -> Any:
        return x.data.__dlpack__(**options)

    def from_dlpack(self, array: Any, /, *, copy: bool | None) -> tuple[Template, Memory]:
        on_host = self.device == "cpu"
        memory = Memory(np.from_dlpack(array, copy=copy), (1, 0)) if on_host else array.__dlpack__(copy=copy)
        return Template(memory.data.shape, as_dtype(memory.data.dtype), None), memory


class Left(OnDevice):
    name = "left"


class Right(OnDevice):
    name = "right"


@pytest.fixture(autouse=True)
def _forget_crossings() -> Iterator[None]:
    OnDevice.crossings.clear()
    yield
    OnDevice.crossings.clear()


@pytest.mark.parametrize("source", BACKENDS)
@pytest.mark.parametrize("target", [*BACKENDS, Left(), Left(device="cpu")], ids=str)
@pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)
def test_bits_and_names_are_kept(source: str, target: Any, dtype: DType) -> None:
    x = tb.astype(tb.tensor([[0, 1, 2], [3, 4, 5]], names=("row", None), backend=source), dtype)
    data, template = x.to_binary(), x.template
    for moved in (x.backend_copy(target), x.backend_copy(target).backend_copy(source), x.backend_transfer(target)):
        assert moved.template is template
        assert moved.to_binary() == data
        assert moved.backend.violation(template, moved.data) is None


def test_devices_exchange_without_a_byte_through_the_host() -> None:
    x = tb.tensor([1.0, 2.0], names=("n",), backend=Left)
    OnDevice.crossings.clear()
    moved = x.backend_transfer(Right)
    assert (moved.backend, moved.template, OnDevice.crossings) == (Right(), Template((2,), "f32", ("n",)), [])
    assert np.shares_memory(moved.data.data, moved.backend_transfer(Left).data.data)


@pytest.mark.parametrize(
    ("source", "target", "dtype"),
    [
        (Left(), Right(device="cuda:1"), float32),  # another device
        (Left(), Right(), bfloat16),  # a dtype that their DLPack does not have
    ],
)
def test_bytes_where_dlpack_does_not_go(source: Backend, target: Backend, dtype: DType) -> None:
    x = tb.tensor([1.0, 2.0], dtype=dtype, backend=source)
    OnDevice.crossings.clear()
    assert x.backend_transfer(target).tolist() == [1.0, 2.0]
    assert OnDevice.crossings[:2] == ["from left", "to right"]


def test_bytes_where_the_library_refuses_the_memory() -> None:
    x = tb.tensor([1.0, 2.0], backend=Left)
    x.data.strided = True
    assert x.backend_transfer(Right).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("target", ["numpy", Left(device="cpu")], ids=str)
def test_a_copy_shares_nothing_and_a_transfer_what_it_can(target: Any) -> None:
    array = np.arange(4.0)
    x = tb.asarray(array)

    def memory(x: tb.Tensor) -> np.ndarray[Any, Any]:
        elements: np.ndarray[Any, Any] = x.data.data if isinstance(x.data, Memory) else x.data
        return elements

    copied = x.backend_copy(target)
    assert not np.shares_memory(memory(copied), array)
    assert not np.shares_memory(memory(copied.backend_copy("numpy")), memory(copied))
    assert np.shares_memory(memory(x.backend_transfer(target)), array)


def sharing() -> list[Backend]:
    """Return the installed backends whose data is in host memory that DLPack shares."""
    backends: list[Backend] = []
    for name in tb.backends():
        try:
            backend = tb.get_backend(name)
        except BackendError:  # its library is not installed
            continue
        if backend.dlpack_dtypes and backend.dlpack_device() == HOST:
            backends.append(backend)
    return backends


@pytest.mark.parametrize("backend", sharing(), ids=lambda backend: backend.name)
def test_large_memory_goes_there_and_back_without_a_copy(backend: Backend) -> None:
    x = tb.tensor(np.ones((100, 400), np.float32), names=("row", None))
    start, template = np.asarray(x).ctypes.data, x.template
    there = x.backend_transfer(backend)
    assert np.asarray(there).ctypes.data == start
    back = there.backend_transfer("numpy")
    assert (np.asarray(back).ctypes.data, back.template) == (start, template)
    assert np.asarray(back.backend_copy(backend)).ctypes.data != start


def test_a_transfer_gives_the_source_up() -> None:
    x = tb.tensor([1.0], backend=Left)
    moved = x.backend_transfer("numpy")
    with pytest.raises(DeallocatedError):
        _ = x.data
    assert moved.backend_transfer("numpy") is moved


def test_a_template_takes_any_tensor_and_gives_none() -> None:
    assert tb.tensor([1.0], backend=Left).backend_copy("template").data is None
    assert OnDevice.crossings == ["to left"]
    with pytest.raises(TemplateDataError):
        tb.template((1,), "f32").backend_copy("numpy")


def test_waiting_gives_the_tensor() -> None:
    x = tb.tensor([1.0])
    assert x.block_until_ready() is x


def test_only_tensors_on_cuda_devices_have_the_cuda_array_interface() -> None:
    class Shown(Left):
        name = "shown"

        def cuda_array_interface(self, x: tb.Tensor, /) -> dict[str, Any]:
            return {"version": 3, "shape": x.shape}

    assert tb.tensor([1.0], backend=Shown).__cuda_array_interface__ == {"version": 3, "shape": (1,)}
    for backend in (*BACKENDS, "template", Left()):
        assert not hasattr(tb.zeros(1).backend_copy(backend), "__cuda_array_interface__")
