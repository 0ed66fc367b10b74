"""The parts of an Array API namespace that are not functions: constants, the standard's version, inspection."""

from __future__ import annotations

from math import e as e
from math import inf as inf
from math import nan as nan
from math import pi as pi
from typing import Final

from .dtypes import ALL_DTYPES, DType, bfloat16, default_dtype, float16
from .ops.inspection import isdtype
from .select import devices, get_backend
from .template import MAX_AXES
from .tensor import Device

__array_api_version__: Final = "2025.12"

newaxis: Final = None

STANDARD: Final = tuple(dtype for dtype in ALL_DTYPES if dtype not in (float16, bfloat16))
"""The dtypes that the standard has."""


class NamespaceInfo:
    """The capabilities of the default backend, by the standard's inspection interface."""

    def capabilities(self) -> dict[str, bool | int]:
        """Whether boolean masks and data-dependent shapes are supported, and the largest number of axes."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": MAX_AXES}

    def default_device(self) -> Device:
        """The device of new tensors."""
        return Device(get_backend().device, get_backend())

    def devices(self) -> tuple[str, ...]:
        """The devices of the default backend."""
        return devices()

    def default_dtypes(self, *, device: str | None = None) -> dict[str, DType]:
        """The dtypes of new tensors, and of indices."""
        get_backend(device=device)
        return {
            "real floating": default_dtype("float"),
            "complex floating": default_dtype("complex"),
            "integral": default_dtype("int"),
            "indexing": default_dtype("int"),
        }

    def dtypes(self, *, device: str | None = None, kind: str | tuple[str, ...] | None = None) -> dict[str, DType]:
        """The standard's dtypes by name that the default backend holds: all, or those of a kind known to `isdtype`."""
        held = get_backend(device=device).dtypes
        return {dtype.name: dtype for dtype in STANDARD if dtype in held and (kind is None or isdtype(dtype, kind))}


def __array_namespace_info__() -> NamespaceInfo:
    """The standard's inspection interface.

    >>> import tensorbackend as tb
    >>> tb.__array_namespace_info__().default_dtypes()["real floating"]
    float32
    """
    return NamespaceInfo()
