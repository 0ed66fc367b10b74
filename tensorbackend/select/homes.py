"""Where the arrays of other libraries belong: on the backend of their library, on their device."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import OperandError
from ..interchange.arrays import to_plain_memory
from ..protocol import Backend
from ..tensor import Tensor
from .choice import common_backend
from .default import current
from .registry import owner

HOST_LIBRARY = "numpy"
"""The name of the backend whose arrays every other backend takes, and which therefore go to the default backend."""


def library_backend(array: Any) -> Backend | None:
    """The backend for the library of an array, on the device of the array.

    `None` for NumPy's arrays, for a library without a backend, and where new tensors have no data: in a trace, or with
    templates as the default backend.
    """
    kind = owner(array)
    if kind is None or kind.name == HOST_LIBRARY:
        return None
    default = current()
    return holder(array, kind) if default.holds_data and not default.template_only else None


def holder(array: Any, kind: type[Backend]) -> Backend:
    """The instance of a backend's class on the device of an array."""
    backend = kind()
    try:
        array = to_plain_memory(array)
    except OperandError:  # which whoever converts it raises
        return backend
    if backend.adopted(array) is None:
        for device in backend.devices():
            other: Any = backend.on_device(device)
            if other.adopted(array) is not None:
                return other  # type: ignore[no-any-return] # an instance of the class
    return backend


def apart(backend: Backend) -> Backend | None:
    """The backend that holds the data of another: `None` if it is the default one, or has no data as in a trace."""
    default = current()
    if backend is default:
        return None
    home: Any = backend.beneath
    return home if home is not default and home.holds_data and not home.template_only else None


def home_of(values: Iterable[Any]) -> Backend:
    """The backend on which a function of these values runs.

    It is that of the tensors among them, as arrays follow the tensors next to them; else that of the first array whose
    library has a backend; else the default backend.
    """
    leaves = list(values)
    tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
    if tensors:
        return common_backend(tensors)
    found = (library_backend(leaf) for leaf in leaves if hasattr(leaf, "__dlpack__"))
    return next((backend for backend in found if backend is not None), None) or current()
