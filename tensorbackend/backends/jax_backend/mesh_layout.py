"""Where arrays lie on a mesh of JAX's devices: the sharding of each follows from the names of its axes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final

from ...caching.option_keys import remember
from ...errors import ArgumentError, expected
from ...mesh import Layout, Mesh, Sharding
from ...protocol import Kernel, Payload
from ...template import Template
from ...tensor import Tensor
from ..array_module.base import Array
from .backend import JaxBackend, library, name_of
from .parts import axes_of


class LayoutKernel:
    """A kernel with sharding constraints on its results."""

    __slots__ = ("__weakref__", "constrain", "kernel", "placement")  # JAX refers weakly to what it compiles

    def __init__(self, kernel: Kernel, placement: Any, constrain: Callable[[Array, Any], Array]) -> None:
        self.kernel: Final = kernel
        self.placement: Final = placement
        self.constrain: Final = constrain

    def __call__(self, *payloads: Payload) -> Payload:
        results = self.kernel(*payloads)
        if not isinstance(self.placement, tuple):
            return self.constrain(results, self.placement)
        pairs = zip(results, self.placement, strict=True)
        return tuple([result if place is None else self.constrain(result, place) for result, place in pairs])


class JaxMeshLayout(JaxBackend):
    """The mesh and the rules of a `JaxMesh`, and the layouts that follow from them."""

    lays_by_name = True

    @classmethod
    def init(cls, **options: object) -> Mapping[str, Hashable]:
        """The options of the instance: the mesh and the rules, checked against each other and against JAX's devices."""
        mesh: Any = options.pop("mesh", None)
        rules: Any = options.pop("layout", ())
        if options:
            expectation = "no options other than mesh and layout"
            raise ArgumentError(
                expected(expectation, "leave the others out: the mesh determines the devices", options=options)
            )
        mesh = mesh if isinstance(mesh, Mesh) else Mesh(mesh)
        layout = Layout(mesh, rules)
        device_grid(library("jax"), mesh)
        return {"mesh": mesh, "layout": layout.rules}

    def settle(self) -> None:
        """Finds the devices of the mesh. A payload without axis names is put whole on each of them."""
        mesh: Any = self.options["mesh"]
        rules: Any = self.options["layout"]
        self.layout = Layout(mesh, rules)
        grid = device_grid(self.jax, mesh)
        kinds = (self.jax.sharding.AxisType.Auto,) * grid.ndim
        self.mesh = self.jax.sharding.Mesh(grid, mesh.names, axis_types=kinds)
        self.members = frozenset(grid.flat)
        here = [device for device in grid.flat if device.process_index == self.jax.process_index()]
        if not here:
            remedy = "include a device of every process: each takes part in all computations on a mesh"
            raise ArgumentError(expected("a mesh with devices of this process", remedy, mesh=mesh))
        self.place = here[0]
        sizes = ",".join(f"{name}={size}" for name, size in mesh.sizes.items())
        self.device = f"{name_of(self.place).partition(':')[0]}:{sizes}"
        self.committed = self.sharding_of_parts([])
        self.known_shardings: dict[Any, Any] = {}

    def sharding_of_parts(self, parts: Sequence[Any]) -> Any:
        """The sharding of an array, from the mesh axes that divide each of its axes.

        Trailing axes that are not divided are left out, so that equal shardings are written in the same way.
        """
        last = max((place + 1 for place, part in enumerate(parts) if part is not None), default=0)
        return self.jax.sharding.NamedSharding(self.mesh, self.jax.sharding.PartitionSpec(*parts[:last]))

    def placement(self, out: Any, /) -> Hashable:
        """The sharding to which a payload of a template is constrained; `None` if no axis has a name."""
        if not isinstance(out, Template):
            several = tuple(map(self.placement, out))
            return several if any(place is not None for place in several) else None
        sharding: Hashable = self._find_shardings(out)[0]
        return sharding

    def whole(self, out: Template) -> Any:
        """The sharding of a new payload of a template: axes without a name are not divided."""
        return self._find_shardings(out)[1]

    def _find_shardings(self, out: Template) -> tuple[Any, Any]:
        """The shardings that `placement` and `whole` return for a template."""
        shardings: tuple[Any, Any] | None = self.known_shardings.get(out)
        if shardings is None:
            parts = [partition_entry(axes) for axes in self.layout.of(out).axes]
            free = self.jax.sharding.PartitionSpec.UNCONSTRAINED
            open_parts = [free if name is None else part for name, part in zip(out.names, parts, strict=True)]
            shardings = self.sharding_of_parts(open_parts) if any(out.names) else None, self.sharding_of_parts(parts)
            remember(self.known_shardings, out, shardings)
        return shardings

    def laid(self, data: Payload, out: Any, /) -> Payload:
        """A payload laid out as its axis names say, on the devices of the mesh even if no axis has a name."""
        if not isinstance(out, Template):
            return tuple(map(self.laid, data, out))
        placement = self.placement(out)
        if self.traced(data):
            return data if placement is None else self.lax.with_sharding_constraint(data, placement)
        if data.sharding.device_set != self.members:
            return self.put_divided(data, self.whole(out))
        if self.lies_as_named(data, out):
            return data
        return self.enter(LayoutKernel(unchanged, placement, self.lax.with_sharding_constraint))(data)

    def gather_axes(self, data: Array, axes: Sequence[int]) -> Array:
        """An array in a program of which each device holds these axes whole; XLA decides about the others."""
        if not axes:
            return data
        free = self.jax.sharding.PartitionSpec.UNCONSTRAINED
        parts = [None if axis in axes else free for axis in range(data.ndim)]
        whole = self.jax.sharding.NamedSharding(self.mesh, self.jax.sharding.PartitionSpec(*parts))
        return self.lax.with_sharding_constraint(data, whole)

    def lies_as_named(self, data: Array, out: Template) -> bool:
        """Whether the axes with names are divided as the rules say."""
        there, ruled_axes = axes_of(data, self.mesh), self.layout.of(out).axes
        triples = zip(out.names, there, ruled_axes, strict=True)
        return all(name is None or self._same(axes, to) for name, axes, to in triples)

    def _same(self, axes: tuple[str, ...], others: tuple[str, ...]) -> bool:
        """Whether two groups of mesh axes divide an axis equally; those of size 1 do not count, as JAX drops them."""
        sizes = self.mesh.shape
        return axes == others or [axis for axis in axes if sizes[axis] > 1] == [
            axis for axis in others if sizes[axis] > 1
        ]

    def put_divided(self, data: Any, sharding: Any) -> Array:
        """An array on the devices of the mesh, each of which gets only its part."""
        if sharding.is_fully_addressable:
            return self.jax.device_put(data, sharding)
        import numpy

        array = numpy.asarray(data)
        return self.jax.make_array_from_callback(array.shape, sharding, lambda part: array[part])

    def sharding(self, x: Tensor, /) -> Sharding:
        """The sharding of the payload; for a payload that JAX is tracing, the one that the rules say."""
        ruled = self.layout.of(x.template)
        if self.traced(x.data):
            return ruled
        pairs = zip(axes_of(x.data, self.mesh), ruled.axes, strict=True)
        return ruled._replace(axes=tuple([rule if self._same(axes, rule) else axes for axes, rule in pairs]))


def unchanged(data: Array) -> Array:
    """The array itself."""
    return data


def partition_entry(axes: tuple[str, ...]) -> Any:
    """The mesh axes that divide an axis, as an entry of JAX's `PartitionSpec`."""
    return None if not axes else axes[0] if len(axes) == 1 else axes


def device_grid(jax: Any, mesh: Mesh) -> Any:
    """The devices of a mesh as an array of its shape; raises `ArgumentError` if JAX does not have them."""
    import numpy

    there = {device.id: device for device in jax.devices()}
    if mesh.devices is None and mesh.size > len(there):
        remedy = "set XLA_FLAGS=--xla_force_host_platform_device_count=N for N virtual devices on the host"
        expectation = f"a mesh of at most {len(there)} devices, the number that JAX has"
        raise ArgumentError(expected(expectation, remedy, mesh=mesh))
    numbers = list(there)[: mesh.size] if mesh.devices is None else mesh.devices
    missing = [number for number in numbers if number not in there]
    if missing:
        remedy = f"the numbers are {', '.join(map(str, there))}"
        raise ArgumentError(expected("device numbers that JAX has", remedy, missing=missing))
    grid = numpy.empty(len(numbers), object)
    grid[:] = [there[number] for number in numbers]
    return grid.reshape(mesh.shape)
