"""The devices of a backend under the names that RETURNN gives them, which are PyTorch's."""

from __future__ import annotations

import tensorbackend as tb


def device_name(backend: tb.Backend) -> str:
    """RETURNN's name for the device of a backend. All CPU devices have the name "cpu".

    >>> import tensorbackend as tb
    >>> device_name(tb.get_backend("numpy"))
    'cpu'
    """
    kind = backend.device.partition(":")[0]
    return "cpu" if kind == "cpu" else backend.device


def backend_at(backend: tb.Backend, device: str | None) -> tb.Backend:
    """The backend on one of RETURNN's devices.

    For "cpu", a backend without a CPU device, such as CuPy, is returned unchanged. Raises `ValueError` for other
    devices that the backend lacks.
    """
    if device is None or device == device_name(backend) or device == backend.device.partition(":")[0]:
        return backend
    kind = device.partition(":")[0]
    for candidate in tb.devices(backend):
        if candidate == device or (":" not in device and candidate.partition(":")[0] == kind):
            return tb.get_backend(backend.name, device=candidate)
    if kind == "cpu":
        return backend
    raise ValueError(f"expected a device of {backend.name}, which has {list(tb.devices(backend))}, got {device!r}")
