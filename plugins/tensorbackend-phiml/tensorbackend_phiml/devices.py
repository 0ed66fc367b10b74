"""The devices of a backend, as PhiML describes them."""

from __future__ import annotations

import os
from typing import Any

import tensorbackend as tb
from phiml.backend import ComputeDevice

_KINDS = {"cuda": "GPU", "gpu": "GPU", "rocm": "GPU", "tpu": "TPU"}


def compute_devices(backend: Any, base: tb.Backend) -> list[Any]:
    """PhiML's record of each device. An unknown property is -1."""
    return [_compute_device(backend, base.name, device) for device in tb.devices(base)]


def _compute_device(backend: Any, name: str, device: str) -> Any:
    kind = _KINDS.get(device.partition(":")[0], "CPU")
    processors = (os.cpu_count() or -1) if kind == "CPU" else -1
    memory = _host_memory() if kind == "CPU" else -1
    # PhiML compares devices by their references, so the reference names the backend.
    return ComputeDevice(backend, kind, kind, memory, processors, f"{name} {device}", (name, device))


def _host_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # no POSIX system
        return -1
