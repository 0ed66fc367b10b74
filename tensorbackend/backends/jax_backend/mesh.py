"""JAX on a mesh of devices: each result is laid out by the names of its axes.

XLA's partitioner does the work. A kernel whose result has axis names ends in a sharding constraint, inside compiled
graphs as well as in kernels that are called one by one. So, whatever XLA does on the way, the result is laid out as its
template says. XLA decides how an axis without a name is divided. Creation ops make each part on its device, and each
device gets only its part of an array from the host.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, Final

from ...caching.option_keys import remember
from ...display import ends, show, show_elements
from ...dtypes import Scalar
from ...dtypes.packing import unpack
from ...errors import ArgumentError, BackendError, expected
from ...expr.closures import close
from ...expr.donation import in_order
from ...expr.evaluate import Program, evaluate
from ...interchange import dlpack_device, payload_dtype, read_only
from ...mesh import Layout, Mesh, Sharding, spread
from ...protocol import Kernel, Payload, planned
from ...protocol.callbacks import CompositeCall, Default
from ...protocol.devices import DeviceFacts
from ...select import move
from ...template import Template
from ...tensor import Tensor
from ..array_module.base import Array
from .backend import JaxBackend, library, name_of
from .base import CheckingKernel, template_of
from .parts import axes_of, elements_at, leading_elements, parts

if TYPE_CHECKING:
    import numpy

    from ...expr.graph import Graph


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


class MeshFunction:
    """A function compiled by JAX, whose programs XLA divides over a mesh when it is first called with some arrays."""

    __slots__ = ("compiled", "failure")

    def __init__(self, compiled: Kernel, failure: type[Exception]) -> None:
        self.compiled: Final = compiled
        self.failure: Final = failure

    def __call__(self, *arrays: Array) -> Payload:
        """Calls the function; raises `BackendError` where XLA cannot divide its program."""
        try:
            return self.compiled(*arrays)
        except self.failure as error:
            text = str(error).partition("\n")[0]
            if not text.startswith("INTERNAL") and "hlo verifier" not in text:
                raise
            remedy = (
                "rename() the axes that the layout divides, so that they are whole, or move the tensors to one device "
                "with backend_transfer(tb.JaxBackend())"
            )
            raise BackendError(expected("a program that XLA can divide over the mesh", remedy, error=text)) from error


class JaxMesh(JaxBackend):
    """JAX on the devices of a mesh, with rules that map axis names to axes of the mesh."""

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
        _grid(library("jax"), mesh)
        return {"mesh": mesh, "layout": layout.rules}

    def settle(self) -> None:
        """Finds the devices of the mesh. A payload without axis names is put whole on each of them."""
        mesh: Any = self.options["mesh"]
        rules: Any = self.options["layout"]
        self.layout = Layout(mesh, rules)
        grid = _grid(self.jax, mesh)
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
        self.committed = self._sharding([])
        self.known_shardings: dict[Any, Any] = {}

    def __repr__(self) -> str:
        rules = {name: axes[0] if len(axes) == 1 else axes or None for name, axes in self.layout.rules}
        return f"JaxBackend(mesh={self.options['mesh']!r}, layout={rules!r})"

    def on_device(self, device: str) -> JaxBackend:
        """This instance for its own device name, the instance on a single device for another name."""
        return self if device == self.device else JaxBackend(device=device)

    def devices(self) -> tuple[str, ...]:
        """The name of the mesh as a whole, then the name of each device."""
        return (self.device, *super().devices())

    def device_facts(self, device: str, /) -> DeviceFacts:
        """The properties of a device; for the mesh as a whole, those of its first device in this process."""
        return super().device_facts(name_of(self.place) if device == self.device else device)

    def dlpack_device(self) -> tuple[int, int]:
        """The DLPack device of the mesh's first device in this process, though payloads are not shared with it."""
        return dlpack_device(name_of(self.place))

    # How payloads are laid out

    def _sharding(self, parts: Sequence[Any]) -> Any:
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
            parts = [_part(axes) for axes in self.layout.of(out).axes]
            free = self.jax.sharding.PartitionSpec.UNCONSTRAINED
            open_parts = [free if name is None else part for name, part in zip(out.names, parts, strict=True)]
            shardings = self._sharding(open_parts) if any(out.names) else None, self._sharding(parts)
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
            return self._divide(data, self.whole(out))
        if self._lies(data, out):
            return data
        return self.enter(LayoutKernel(_itself, placement, self.lax.with_sharding_constraint))(data)

    def gather_axes(self, data: Array, axes: Sequence[int]) -> Array:
        """An array in a program of which each device holds these axes whole; XLA decides about the others."""
        if not axes:
            return data
        free = self.jax.sharding.PartitionSpec.UNCONSTRAINED
        parts = [None if axis in axes else free for axis in range(data.ndim)]
        whole = self.jax.sharding.NamedSharding(self.mesh, self.jax.sharding.PartitionSpec(*parts))
        return self.lax.with_sharding_constraint(data, whole)

    def _lies(self, data: Array, out: Template) -> bool:
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

    def _divide(self, data: Any, sharding: Any) -> Array:
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

    # Kernels

    def settled(self, kernel: Kernel, out: Any, /) -> Kernel:
        """A kernel whose results are laid out by their axis names."""
        kernel = super().settled(kernel, out)
        if isinstance(kernel, CheckingKernel):
            looking = kernel.kernel
            return CheckingKernel(lambda *payloads: self.laid(looking(*payloads), out))
        placement = self.placement(out)
        return kernel if placement is None else LayoutKernel(kernel, placement, self.lax.with_sharding_constraint)

    def enter(self, kernel: Kernel, /) -> Kernel:
        """Compiles a kernel; without inputs it makes its result on the devices of the mesh."""
        if isinstance(kernel, CheckingKernel):
            return kernel.kernel
        # With unused inputs dropped, a result that depends on none would be made on JAX's default device.
        compiled = self._compile_function(kernel, keep_unused=True)
        if isinstance(kernel, LayoutKernel):
            return compiled
        creation = self._compile_function(kernel, out_shardings=self.committed)
        return lambda *arrays: compiled(*arrays) if arrays else self.make_on_device(creation)

    def _compile_function(self, function: Kernel, **options: Any) -> Kernel:
        """A function that JAX compiles for the devices of the mesh."""
        return MeshFunction(self.jax.jit(function, **options), self.jax.errors.JaxRuntimeError)

    def make_on_device(self, make: Callable[[], Any]) -> Any:
        """Calls a function without arguments, and puts its result on the devices of the mesh."""
        payload = self.lasting(make)
        return tuple(map(self._here, payload)) if isinstance(payload, tuple) else self._here(payload)

    def _here(self, array: Array) -> Array:
        """An array on the devices of the mesh."""
        if self.traced(array) or array.sharding.device_set == self.members:
            return array
        return self.jax.device_put(array, self.committed)

    def compile_composite(
        self, call: CompositeCall, default_impl: Default, otherwise: Kernel | None = None, /
    ) -> Kernel:
        """The compiled default, whose results are brought onto the mesh even if they depend on no input."""
        kernel = super().compile_composite(call, default_impl)
        return lambda *payloads: self.laid(kernel(*payloads), call.out)

    def _default_function(self, default_impl: Default, call: CompositeCall, *payloads: Payload) -> Payload:
        """A composite's default as a function of arrays; its results are laid out by their axis names."""
        return self.laid(super()._default_function(default_impl, call, *payloads), call.out)

    def compile_graph(self, graph: Graph, /, *, donated: Sequence[int] = ()) -> Kernel:
        """The whole graph compiled by XLA, with each result where its axis names say.

        This holds for a constant as well, which no kernel has laid out. Donated parameters are freed after the call.
        """
        # Captured tensors become arguments: as constants they would be whole on each device, and in each program.
        (graph,), captured = close([graph])
        held = [move(x, self).data for x in captured]
        compiled = self._compile_function(self.program(graph))
        if not graph.parameters:
            return lambda: self.make_on_device(compiled)
        kernel = partial(compiled, *held) if held else compiled
        return (lambda *payloads: kernel(*in_order(payloads, donated))) if donated else kernel

    def program(self, graph: Graph) -> Kernel:
        """A graph as a function of arrays, for JAX to transform."""
        # All results are constrained here: one may be a constant, which has values even while JAX traces.
        run, placements = Program(graph, self).kernel, tuple(map(self.placement, graph.results))
        return LayoutKernel(run, placements, self.lax.with_sharding_constraint)

    @planned
    def shard_map(
        self,
        out: tuple[Template, ...],
        operands: Sequence[Template],
        /,
        *,
        body: Graph,
        mesh: Mesh,
        inside: tuple[Any, ...],
        outside: tuple[Any, ...],
    ) -> Kernel:
        """A kernel in which each device runs a graph on its parts of the operands.

        Inside the graph these parts are payloads of a `JaxBackend` on one device.
        """
        grid = _grid(self.jax, mesh)
        if mesh.sizes != self.layout.mesh.sizes or list(grid.flat) != list(self.mesh.devices.flat):
            expectation = f"shard_map over the mesh of its arguments, {self.layout.mesh!r}"
            raise ArgumentError(expected(expectation, "move the arguments first", mesh=mesh))
        backend = JaxBackend()

        def run(*arrays: Array) -> tuple[Array, ...]:
            tensors = [Tensor(x, backend, data) for x, data in zip(body.templates, arrays, strict=True)]
            return tuple([x.data for x in evaluate(body, tensors, backend)])

        specs = [tuple([self._sharding([*map(_part, axes)]).spec for axes in several]) for several in (inside, outside)]
        mapped = self.jax.shard_map(run, mesh=self.mesh, in_specs=specs[0], out_specs=specs[1], check_vma=False)
        return lambda arrays: mapped(*arrays)

    def kept(self, data: Payload, /) -> Payload:
        """An array that JAX can hold as a constant: gathered whole if other processes have parts of it."""
        if data.is_fully_addressable or data.is_fully_replicated:
            return data
        return self.jax.jit(_itself, out_shardings=self.committed)(data)

    def indexing(self, x: Template, structure: tuple[Any, ...], /) -> Kernel | None:
        """`None`: a kernel for a whole key does not know the axis names by which its result is laid out."""
        return None

    def graph_text(self, graph: Graph, /) -> str:
        """The program that JAX hands to XLA, in StableHLO, with the shardings of its arguments."""
        shapes = [
            self.jax.ShapeDtypeStruct(x.shape, payload_dtype(x.dtype), sharding=self.whole(x)) for x in graph.templates
        ]
        return str(self.jax.jit(self.program(graph)).lower(*shapes).as_text())

    # Transport

    def from_numpy(self, out: Template, array: numpy.ndarray[Any, Any], /, *, copy: bool) -> Payload:
        """A NumPy array on the devices of the mesh, each of which gets its part."""
        self.check_width(out)
        return self._divide(array.copy() if copy else array, self.whole(out))

    def assemble(self, part: Template, local: numpy.ndarray[Any, Any]) -> Payload:
        """An array assembled from the parts of all processes.

        `local`, with the template `part`, is this process's run of entries along the axes that processes divide.
        """
        self.check_width(part)
        # How many times a process's part fits into the whole follows from an array with one entry for each device,
        # which the mesh can divide whatever the sizes are.
        sizes = self.layout.mesh.sizes
        axes = spread(self.layout, part).axes
        shape = [prod(sizes[name] for name in several) for several in axes]
        sharding = self._sharding([*map(_part, axes)])
        index = sharding.addressable_devices_indices_map(tuple(shape)).values()
        held = [len({slices[place].indices(size)[0] for slices in index}) for place, size in enumerate(shape)]
        whole = [size * total // count for size, total, count in zip(part.shape, shape, held, strict=True)]
        return self.jax.make_array_from_process_local_data(sharding, local, tuple(whole))

    def held(self, x: Tensor) -> list[tuple[tuple[int, ...], numpy.ndarray[Any, Any]]]:
        """The parts of a tensor that this process writes: where each begins, and its elements.

        One device alone writes a part of which there are replicas.
        """
        import numpy

        shards = [shard for shard in x.data.addressable_shards if shard.replica_id == 0]
        return [(tuple([part.start or 0 for part in shard.index]), numpy.asarray(shard.data)) for shard in shards]

    def read_in(self, out: Template, read: Callable[[tuple[slice, ...]], numpy.ndarray[Any, Any]]) -> Payload:
        """An array laid out by its axis names; `read` returns the part for each device of this process."""
        self.check_width(out)
        return self.jax.make_array_from_callback(out.shape, self.whole(out), read)

    def from_backend(self, x: Tensor, /, *, copy: bool) -> Payload:
        """The payload of a tensor of any backend, laid out by its axis names.

        A tensor of JAX does not pass through the host, unless other processes take part.
        """
        if not isinstance(x.backend, JaxBackend):
            return self.from_numpy(x.template, x.backend.to_numpy(x, None, None), copy=copy)
        if self.traced(x.data):
            return self.laid(x.data, x.template)
        data = self._divide(x.data, self.whole(x.template))
        return self.xp.array(data, copy=True) if copy else data

    def adopted(self, array: Any, /) -> tuple[Template, Payload] | None:
        """The template and payload of a `jax.Array` on the devices of the mesh.

        `None` for any other array, and for one that JAX is tracing.
        """
        if not isinstance(array, self.jax.Array) or self.traced(array) or array.sharding.device_set != self.members:
            return None
        return template_of(array), array

    def to_numpy(self, x: Tensor, dtype: Any, copy: bool | None, /) -> numpy.ndarray[Any, Any]:
        """The whole tensor as a NumPy array; if there are several processes, all of them must call this."""
        self.readable(x.data)
        return read_only(self.on_host(x.data), dtype, copy)

    def on_host(self, data: Array) -> numpy.ndarray[Any, Any]:
        """The whole of an array on the host, gathered if other processes have parts of it."""
        import numpy

        # Inside a callback of compiled code `data` is an array of one process, or of NumPy.
        if getattr(data, "is_fully_addressable", True) or data.is_fully_replicated:
            return numpy.asarray(data)
        gather = library("jax.experimental.multihost_utils").process_allgather
        return numpy.asarray(gather(data, tiled=True))

    def to_binary(self, x: Tensor, limit: int, /) -> bytes:
        """The first `limit` elements as bytes; only the parts that hold them are read."""
        self.readable(x.data)
        data = x.data if x.data.is_fully_addressable else self.on_host(x.data)
        return bytes(leading_elements(data, limit).tobytes())

    def to_batched(self, x: Tensor, size: int, /) -> Iterator[Payload]:
        """Consecutive runs of `size` entries along the first axis, each laid out by its axis names."""
        for data in super().to_batched(x, size):
            yield self.laid(data, x.template.replace(shape=tuple(data.shape)))

    def inspect(self, x: Tensor, /, *, limit: int = 100) -> str:
        """The tensor as text, with the mesh axes that divide its axes."""
        looks = str(self.sharding(x))
        if self.traced(x.data):
            return f"{looks} {self.name} (traced)"
        if not (x.data.is_fully_addressable or x.data.is_fully_replicated):
            return self._inspect_parts(x, looks, limit)
        positions = ends(x.shape, limit)
        return show(x.template, self.name, self.elements_at(x, positions) if limit else [], positions, looks)

    def elements_at(self, x: Tensor, positions: Sequence[Sequence[int]], /) -> Sequence[Scalar]:
        """The elements at the given positions along each axis; if other processes hold parts, all must call this."""
        self.readable(x.data)
        addressable = x.data.is_fully_addressable or x.data.is_fully_replicated
        return unpack(elements_at(x.data if addressable else self.on_host(x.data), positions).tobytes(), x.dtype)

    def _inspect_parts(self, x: Tensor, looks: str, limit: int) -> str:
        """The parts that this process holds, as text: showing a tensor must not involve other processes."""
        jax = self.jax
        lines = [f"{looks} {self.name}, parts of process {jax.process_index()} of {jax.process_count()}"]
        for index, part in parts(x.data):
            spans = [extent.indices(size)[:2] for extent, size in zip(index, x.shape, strict=True)]
            positions = ends(part.shape, limit)
            elements = unpack(elements_at(part, positions).tobytes(), x.dtype) if limit else []
            below = show_elements(x.template.replace(shape=tuple(part.shape)), elements, positions)
            lines += [f"[{', '.join(f'{begin}:{end}' for begin, end in spans)}]", below]
            limit -= len(elements)
            if limit <= 0:
                break
        return "\n".join(lines)

    def violation(self, out: Template, data: Payload, /) -> str | None:
        """The mistake in a payload's type, shape, dtype or layout; `None` if there is none."""
        mistake = super().violation(out, data)
        if mistake is not None or self.traced(data):
            return mistake
        if data.sharding.device_set != self.members:
            return f"an array on {data.sharding}"
        if not self._lies(data, out):
            return f"an array laid out as {axes_of(data, self.mesh)}"
        return None


JaxBackend.on_mesh = JaxMesh


def _itself(data: Array) -> Array:
    return data


def _part(axes: tuple[str, ...]) -> Any:
    """The mesh axes that divide an axis, as an entry of JAX's `PartitionSpec`."""
    return None if not axes else axes[0] if len(axes) == 1 else axes


def _grid(jax: Any, mesh: Mesh) -> Any:
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
