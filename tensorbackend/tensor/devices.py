"""The device of a tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..protocol import Backend
    from . import Tensor


class Device(str):
    """The name of a device, for `device=` and `x.to_device`, that knows its backend.

    Attributes
    ----------
    backend : Backend
        The backend whose device it is.

    Examples
    --------
    What is made on the device of a tensor is next to it:

    >>> import tensorbackend as tb
    >>> x = tb.ones(2, backend="binary")
    >>> tb.zeros(3, device=x.device).backend
    BinaryBackend()
    """

    backend: Backend

    def __new__(cls, name: str, backend: Backend) -> Device:
        device = super().__new__(cls, name)
        device.backend = backend
        return device

    @property
    def name(self) -> str:
        """The name as a plain string."""
        return str(self)

    @property
    def kind(self) -> str:
        """The kind of device: "cpu", "gpu", "tpu" or another."""
        return self.backend.device_facts(self.name).kind

    @property
    def memory(self) -> int | None:
        """The total memory in bytes; `None` if it is not known."""
        return self.backend.device_facts(self.name).memory

    @property
    def processors(self) -> int | None:
        """The number of processors: logical ones of a host, multiprocessors of a GPU; `None` if it is not known."""
        return self.backend.device_facts(self.name).processors

    @property
    def description(self) -> str:
        """The vendor's name for it."""
        return self.backend.device_facts(self.name).description

    def __str__(self) -> str:
        return self[:]

    def __reduce__(self) -> tuple[Any, ...]:
        return Device, (self[:], self.backend)


def device_of(tensor: Tensor) -> Device:
    """The device of a tensor; where its backend only records, that of the backend that computes."""
    home: Any = tensor.backend.beneath
    return Device(home.device, home)
