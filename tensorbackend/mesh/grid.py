"""A mesh: devices in a grid whose axes have names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from types import MappingProxyType
from typing import Any

from ..errors import ArgumentError, ArgumentKindError, expected
from ..template import as_int


class Mesh:
    """Devices in a grid whose axes have names; equal meshes compare equal and have equal hashes, also after pickling.

    A mesh holds the sizes of its axes and the numbers of its devices, not the devices. A backend looks up the devices
    when it is made, as in `tb.JaxBackend(mesh=mesh, layout={"batch": "data"})`.

    Parameters
    ----------
    axes : mapping of str to int, or jax.sharding.Mesh
        The size of each axis by its name, or a mesh of JAX, from which axes and devices are taken.
    devices : sequence of int, optional
        The numbers of the devices in row-major order, which are `device.id` in JAX. By default the first available
        devices.

    Raises
    ------
    ArgumentError
        For sizes below 1, and if `devices` are not as many different numbers as the mesh has devices.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> mesh = tb.Mesh({"data": 4, "model": 2})
    >>> mesh.sizes["data"], mesh.size, mesh == tb.Mesh({"data": 4, "model": 2})
    (4, 8, True)
    """

    __slots__ = ("_axes", "devices")

    _axes: tuple[tuple[str, int], ...]
    devices: tuple[int, ...] | None
    """The numbers of the devices in row-major order; `None` for the first ones that there are."""

    def __init__(self, axes: Mapping[str, int] | Any, devices: Sequence[int] | None = None) -> None:
        if not isinstance(axes, Mapping):
            axes, devices = _read_jax_mesh(axes, devices)
        checked_axes = tuple([(_check_name(name), _check_size(name, size)) for name, size in axes.items()])
        if not checked_axes:
            raise ArgumentError(expected("a mesh of at least one axis", axes=dict(axes)))
        object.__setattr__(self, "_axes", checked_axes)
        object.__setattr__(self, "devices", None if devices is None else _check_devices(devices, self.size))

    @property
    def sizes(self) -> Mapping[str, int]:
        """The size of each axis by its name, in order."""
        return MappingProxyType(dict(self._axes))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the axes."""
        return tuple([name for name, _ in self._axes])

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes."""
        return tuple([size for _, size in self._axes])

    @property
    def size(self) -> int:
        """The number of devices."""
        return prod(self.shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mesh) and (self._axes, self.devices) == (other._axes, other.devices)

    def __hash__(self) -> int:
        return hash((self._axes, self.devices))

    def __repr__(self) -> str:
        devices = "" if self.devices is None else f", devices={list(self.devices)}"
        return f"Mesh({dict(self._axes)!r}{devices})"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(expected("no assignment", "a mesh is immutable: make another one", attribute=name))

    def __reduce__(self) -> tuple[Any, ...]:
        return Mesh, (dict(self._axes), self.devices)


def _read_jax_mesh(mesh: Any, devices: Sequence[int] | None) -> tuple[Mapping[str, int], Sequence[int]]:
    """The axes of a mesh of JAX, and the numbers of its devices."""
    grid: Any = getattr(mesh, "devices", None)
    if isinstance(mesh, str | list | tuple) or not hasattr(mesh, "axis_names") or not hasattr(grid, "flat"):
        raise ArgumentKindError(expected("a dict of sizes by name, or a JAX mesh with devices", axes=mesh))
    if devices is not None:
        raise ArgumentError(expected("no devices together with a JAX mesh, which has its own", devices=devices))
    return dict(zip(mesh.axis_names, grid.shape, strict=True)), [device.id for device in grid.flat]


def _check_name(name: object) -> str:
    if not isinstance(name, str) or not name:
        raise ArgumentKindError(expected("each name of an axis to be a non-empty str", name=name))
    return name


def _check_size(name: str, size: object) -> int:
    integer_size = as_int(size)
    if integer_size is None or integer_size < 1:
        raise ArgumentError(expected(f"an int of at least 1 as the size of {name!r}", size=size))
    return integer_size


def _check_devices(devices: Sequence[int], size: int) -> tuple[int, ...]:
    numbers = [number for number in map(as_int, devices) if number is not None]
    if len(numbers) != len(devices):
        raise ArgumentKindError(expected("device numbers", "pass the id of each device", devices=devices))
    if len(numbers) != size or len(set(numbers)) != size:
        raise ArgumentError(expected(f"{size} different devices, as the sizes say", devices=numbers))
    return tuple(numbers)
