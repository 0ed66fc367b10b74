"""The devices of backends: their names, with what is known about each device."""

from __future__ import annotations

from typing import Any

from ..declarations.argument_errors import check_arguments
from ..protocol import Backend, BackendLike
from ..protocol.devices import DeviceFacts
from .default import get_backend


class Device(str):
    """The name of a device, for `device=` and `x.to_device`, with properties of the device.

    Attributes
    ----------
    backend : Backend
        The backend whose device it is.
    kind : str
        The kind of device: "cpu", "gpu", "tpu" or another.
    memory : int or None
        The memory in bytes, in total.
    processors : int or None
        The number of processors: logical ones of a host, multiprocessors of a GPU.
    description : str
        The vendor's name for it.
    """

    backend: Backend
    kind: str
    memory: int | None
    processors: int | None
    description: str

    def __new__(cls, name: str, backend: Backend, facts: DeviceFacts) -> Device:
        device = super().__new__(cls, name)
        device.backend = backend
        device.kind, device.memory, device.processors, device.description = facts
        return device

    @property
    def name(self) -> str:
        """The name as a plain string."""
        return str(self)

    def __str__(self) -> str:
        return self[:]

    def __reduce__(self) -> tuple[Any, ...]:
        return Device, (self[:], self.backend, DeviceFacts(self.kind, self.memory, self.processors, self.description))


@check_arguments
def devices(backend: BackendLike = None, *, kind: str | None = None) -> tuple[Device, ...]:
    """List the devices of a backend, for `device=` and `x.to_device`.

    Parameters
    ----------
    backend : Backend, str or type, optional
        The backend, by default the default one.
    kind : str, optional
        The kind of devices, such as "cpu" or "gpu"; all of them by default.

    Returns
    -------
    tuple of Device
        The names, as strings with the attributes of `Device`.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> tb.devices("numpy")
    ('cpu',)
    >>> (device,) = tb.devices("numpy")
    >>> device.kind, device.processors > 0, tb.devices("numpy", kind="gpu")
    ('cpu', True, ())
    """
    chosen = get_backend(backend)
    all_devices = (Device(name, chosen, chosen.device_facts(name)) for name in chosen.devices())
    return tuple(device for device in all_devices if kind is None or device.kind == kind)
