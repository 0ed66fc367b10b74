"""Devices: strings of their names, with facts about each."""

from __future__ import annotations

import copy
import os
import pickle

import pytest

import tensorbackend as tb
from tensorbackend.protocol.devices import DeviceFacts, host_facts, kind_of_device
from tensorbackend.select.devices import Device


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
    assert Device("x:0", backend, DeviceFacts("x", 1, 2, "y")).description == "y"
