"""Devices: strings of their names, with facts about each."""

from __future__ import annotations

import copy
import inspect
import os
import pickle
from collections.abc import Callable

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.protocol.devices import DeviceFacts, host_facts, kind_of_device


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax", "template"])
def test_a_device_is_its_name(backend: str) -> None:
    devices = tb.devices(backend)
    assert devices == tb.get_backend(backend).devices()
    device = devices[0]
    assert tb.zeros(2, backend=backend, device=device).device == device
    assert (device.backend, device.name) == (tb.get_backend(backend), str(device))
    assert type(device.name) is str
    assert hash(device) == hash(str(device))
    for other in (pickle.loads(pickle.dumps(device)), copy.copy(device)):
        assert (other, other.kind, other.memory) == (device, device.kind, device.memory)


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_the_host_is_known(backend: str) -> None:
    device = tb.devices(backend, kind="cpu")[0]
    assert device.kind == "cpu"
    assert device.processors == os.cpu_count()
    assert device.memory is not None
    assert device.memory > 1 << 28
    assert device.description
    assert all(gpu.kind == "gpu" for gpu in tb.devices(backend, kind="gpu"))


def test_kinds_follow_from_names() -> None:
    assert [*map(kind_of_device, ("cpu", "cpu:1", "cuda:0", "rocm:2", "tpu:3", "npu"))] == [
        "cpu", "cpu", "gpu", "gpu", "tpu", "npu",
    ]  # fmt: skip
    backend = tb.get_backend("numpy")
    assert backend.device_facts("cuda:0") == DeviceFacts("gpu", None, None, "")
    assert backend.device_facts("cpu") is host_facts()


def _makers() -> list[str]:
    """The public functions that make a tensor on a device."""
    functions = ((name, getattr(tb, name)) for name in dir(tb) if name[0] != "_")
    return [name for name, function in functions if callable(function) and "device" in _parameters(function)]


def _parameters(function: object) -> set[str]:
    try:
        return {*inspect.signature(function).parameters}  # type: ignore[arg-type] # callable
    except (TypeError, ValueError):
        return set()


CALLS: dict[str, Callable[..., tb.Tensor]] = {
    "arange": lambda x, **at: tb.arange(3, **at),
    "asarray": lambda x, **at: tb.asarray([1.0, 2.0], **at),
    "empty": lambda x, **at: tb.empty(2, **at),
    "empty_like": lambda x, **at: tb.empty_like(x, **at),
    "eye": lambda x, **at: tb.eye(2, **at),
    "fftfreq": lambda x, **at: tb.fft.fftfreq(4, **at),
    "from_dlpack": lambda x, **at: tb.from_dlpack(numpy.ones(2), **at),
    "full": lambda x, **at: tb.full(2, 1.5, **at),
    "full_like": lambda x, **at: tb.full_like(x, 1.5, **at),
    "geomspace": lambda x, **at: tb.geomspace(1.0, 8.0, 4, **at),
    "iota": lambda x, **at: tb.iota(3, **at),
    "linspace": lambda x, **at: tb.linspace(0.0, 1.0, 3, **at),
    "logspace": lambda x, **at: tb.logspace(0.0, 1.0, 3, **at),
    "ones": lambda x, **at: tb.ones(2, **at),
    "ones_like": lambda x, **at: tb.ones_like(x, **at),
    "tensor": lambda x, **at: tb.tensor([1.0, 2.0], **at),
    "zeros": lambda x, **at: tb.zeros(2, **at),
    "zeros_like": lambda x, **at: tb.zeros_like(x, **at),
}


def test_each_function_that_takes_a_device_is_called() -> None:
    others = {"astype", "get_backend"}  # the first refuses it, the second returns no tensor
    assert [name for name in _makers() if name not in CALLS and name not in others] == []


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("backend", ["binary", "jax"])
def test_the_device_of_a_tensor_is_on_its_backend(name: str, backend: str) -> None:
    x, home = tb.asarray([1.0, 2.0], backend=backend), tb.get_backend(backend)
    here = tb.ones(2)

    def beside(x: tb.Tensor) -> tb.Tensor:
        return tb.sum(x) + tb.sum(CALLS[name](x, device=x.device))

    assert CALLS[name](here, device=x.device).backend is home
    assert CALLS[name](here, device=tb.devices(home)[0]).backend is home
    assert CALLS[name](x, device=here.device).backend is here.backend
    for function in (beside, tb.jit(beside), tb.grad(beside), lambda x: tb.vmap(beside)(tb.stack([x, x]))):
        assert function(x).backend is home


def test_a_tensor_moves_to_the_device_of_another() -> None:
    x, y = tb.asarray([1.0, 2.0], backend="binary"), tb.asarray([1.0, 2.0], backend="jax")
    assert x.to_device(y.device).backend is y.backend
    assert y.to_device(x.device).backend is x.backend
    assert x.to_device(x.device) is x
    assert tb.asarray(y.data, device=x.device).backend is x.backend
    assert tb.get_backend(device=y.device) is y.backend
    with pytest.raises(tb.errors.ArgumentError, match="a device of the backend 'numpy'"):
        tb.zeros(2, backend="numpy", device=y.device)


def test_a_tensor_on_a_tape_stays_there() -> None:
    """The device of what a tape records is that of the backend that computes, and to move there changes nothing."""
    slope = tb.grad(lambda x: tb.sum(x.to_device(x.device) ** 2))(tb.asarray([1.0, 2.0], backend="binary"))
    assert slope.tolist() == [2.0, 4.0]
    with tb.tape() as tape:
        x = tape.watch(tb.asarray(3.0, backend="binary"))
        y = x.to_device(x.device) * tb.ones_like(x, device=x.device)
    assert tb.gradient(y, x).backend.name == "binary"
