"""Devices of the stand-in, their streams and their memory pool, and the settings that tests change."""

from __future__ import annotations

import threading
from types import SimpleNamespace

_state = threading.local()
settings = SimpleNamespace(raises=False, geev=True, broken=False, devices=1, synchronized=0, pool=0, kernels=0)


def current_device() -> int:
    return getattr(_state, "device", 0)


class Device:
    """A CUDA device, current inside `with`."""

    def __init__(self, number: int) -> None:
        if number >= settings.devices:
            raise RuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        self.id = number

    def __enter__(self) -> Device:
        _state.stack = [*getattr(_state, "stack", []), current_device()]
        _state.device = self.id
        return self

    def __exit__(self, *error: object) -> None:
        *_state.stack, _state.device = _state.stack


class Pool:
    """The memory pool. It counts the bytes of all arrays that were made since it was last freed."""

    def total_bytes(self) -> int:
        return int(settings.pool)

    def free_all_blocks(self) -> None:
        settings.pool = 0


class Stream:
    def synchronize(self) -> None:
        settings.synchronized += 1
