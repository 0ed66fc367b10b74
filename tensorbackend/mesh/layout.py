"""A mesh, devices in a grid whose axes have names, and layouts, rules that say over which axes of a mesh the named axes
of tensors are divided.

    Mesh({"data": 4, "model": 2}), {"batch": "data", "hidden": "model"}
    f32[batch: 16][hidden: 6]   ->   f32[batch: 16 / data][hidden: 6 / model], f32[4][3] on each device

A rule takes effect only if it can be satisfied exactly. The rules are applied in order, and so are the mesh axes of a
rule. A mesh axis is skipped if an earlier rule has taken it, or if its size does not divide the axis of the tensor; the
notes of the `Sharding` say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from types import MappingProxyType
from typing import Any, NamedTuple

from ..errors import ArgumentError, ArgumentKindError, expected
from ..template import Shape, Template, as_int


class Sharding(NamedTuple):
    """How a tensor is laid out on a mesh.

    Attributes
    ----------
    mesh : Mesh
        The mesh.
    template : Template
        The template of the whole tensor.
    axes : tuple of tuple of str
        For each axis of the tensor, the mesh axes over which it is divided; none for an axis that is not divided.
    notes : tuple of str
        The rules that could not be satisfied, and why.
    """

    mesh: Mesh
    template: Template
    axes: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    @property
    def shard_shape(self) -> Shape:
        """The shape of the part that each device holds."""
        sizes = self.mesh.sizes
        parts = [prod(sizes[axis] for axis in axes) for axes in self.axes]
        return tuple([size // part for size, part in zip(self.template.shape, parts, strict=True)])

    @property
    def is_replicated(self) -> bool:
        """Whether each device holds the whole tensor."""
        return not any(self.axes)

    def __str__(self) -> str:
        parts = []
        for name, size, axes in zip(self.template.names, self.template.shape, self.axes, strict=True):
            text = f"{size}" if name is None else f"{name}: {size}"
            parts.append(f"[{text} / {' '.join(axes)}]" if axes else f"[{text}]")
        return self.template.dtype.alias + "".join(parts)

    def __repr__(self) -> str:
        notes = "".join(f"; {note}" for note in self.notes)
        return f"<{self} on {self.mesh!r}{notes}>"


class Layout:
    """Rules that map names of axes to axes of a mesh.

    Parameters
    ----------
    mesh : Mesh
        The mesh.
    rules : mapping of str to str, sequence of str or None
        For a name, the mesh axis or axes over which tensor axes of that name are divided. With `None` they are not
        divided, as without a rule.

    Raises
    ------
    ArgumentError
        For an axis that the mesh does not have, or that occurs twice in one rule.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> layout = Layout(tb.Mesh({"data": 4, "model": 2}), {"batch": "data", "hidden": "model"})
    >>> placed = layout.of(tb.Template((16, 6), "f32", ("batch", "hidden")))
    >>> str(placed), placed.shard_shape
    ('f32[batch: 16 / data][hidden: 6 / model]', (4, 3))
    >>> layout.of(tb.Template((6,), "f32", ("batch",)))
    <f32[batch: 6] on Mesh({'data': 4, 'model': 2}); batch is not divided over data: 4 does not divide 6>
    """

    def __init__(self, mesh: Mesh, rules: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> None:
        self.mesh = mesh
        if not isinstance(rules, Mapping | Sequence) or isinstance(rules, str):
            raise ArgumentKindError(expected("a dict from names of axes to axes of the mesh", layout=rules))
        pairs = rules.items() if isinstance(rules, Mapping) else rules
        self.rules = tuple([(_name(name), self._mesh_axes(name, rule)) for name, rule in pairs])
        """The rules in order, each as a name and its mesh axes."""

    def _mesh_axes(self, name: str, rule: Any) -> tuple[str, ...]:
        """The mesh axes of a rule, checked."""
        axes = () if rule is None else (rule,) if isinstance(rule, str) else rule
        if not isinstance(axes, Sequence) or not all(isinstance(axis, str) for axis in axes):
            raise ArgumentKindError(expected(f"one mesh axis, several or None for {name!r}", rule=rule))
        for axis in axes:
            if axis not in self.mesh.names:
                remedy = f"the axes of the mesh are {', '.join(self.mesh.names)}"
                raise ArgumentError(expected(f"an axis of the mesh for {name!r}", remedy, rule=rule))
        if len(set(axes)) < len(axes):
            raise ArgumentError(expected(f"each mesh axis once for {name!r}", rule=rule))
        return tuple(axes)

    def of(self, template: Template) -> Sharding:
        """The sharding of a tensor with this template. Axes without a name and empty tensors are not divided."""
        axes: list[tuple[str, ...]] = [()] * template.ndim
        notes: list[str] = []
        owners: dict[str, str] = {}
        sizes = self.mesh.sizes
        for name, rule_axes in self.rules:
            if name not in template.names or not template.size:
                continue
            place = template.names.index(name)
            left = template.shape[place]
            for axis in rule_axes:
                if axis in owners:
                    notes.append(f"{name} is not divided over {axis}: {owners[axis]} is")
                elif left % sizes[axis]:
                    notes.append(f"{name} is not divided over {axis}: {sizes[axis]} does not divide {left}")
                else:
                    left //= sizes[axis]
                    owners[axis] = name
                    axes[place] += (axis,)
        return Sharding(self.mesh, template, tuple(axes), tuple(notes))


def spread(layout: Layout, part: Template) -> Sharding:
    """The sharding of a tensor of which each device holds a part like `part`: each axis with a rule is divided."""
    axes: list[tuple[str, ...]] = [()] * part.ndim
    taken: set[str] = set()
    for name, rule_axes in layout.rules:
        if name in part.names:
            axes[part.names.index(name)] = tuple([axis for axis in rule_axes if axis not in taken])
            taken |= set(rule_axes)
    sizes = layout.mesh.sizes
    pairs = zip(part.shape, axes, strict=True)
    shape = tuple([size * prod(sizes[axis] for axis in mesh_axes) for size, mesh_axes in pairs])
    return Sharding(layout.mesh, part.replace(shape=shape), tuple(axes))


def _name(name: object) -> str:
    if not isinstance(name, str) or not name:
        raise ArgumentKindError(expected("names of axes in a layout", name=name))
    return name


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
