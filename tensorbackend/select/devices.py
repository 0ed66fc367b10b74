"""The devices of backends."""

from __future__ import annotations

from ..declarations.argument_errors import check_arguments
from ..protocol import BackendLike
from ..tensor.devices import Device
from .default import get_backend


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
    >>> tb.devices("numpy")
    ('cpu',)
    >>> (device,) = tb.devices("numpy")
    >>> device.kind, device.processors > 0, tb.devices("numpy", kind="gpu")
    ('cpu', True, ())
    """
    chosen = get_backend(backend)
    all_devices = (Device(name, chosen) for name in chosen.devices())
    return tuple(device for device in all_devices if kind is None or device.kind == kind)
