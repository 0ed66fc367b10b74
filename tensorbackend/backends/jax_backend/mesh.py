"""JAX on a mesh of devices: each result is laid out by the names of its axes.

XLA's partitioner does the work. A kernel whose result has axis names ends in a sharding constraint, inside compiled
graphs as well as in kernels that are called one by one. So, whatever XLA does on the way, the result is laid out as its
template says. XLA decides how an axis without a name is divided. Creation ops make each part on its device, and each
device gets only its part of an array from the host.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ...errors import ArgumentError, BackendError, expected
from ...expr.closures import close
from ...expr.donation import in_order
from ...expr.evaluate import Program, evaluate
from ...interchange import dlpack_device, payload_dtype
from ...mesh import Mesh
from ...protocol import Kernel, Payload, planned
from ...protocol.callbacks import CompositeCall, Default
from ...protocol.devices import DeviceFacts
from ...select import move
from ...template import Template
from ...tensor import Tensor
from ..array_module.base import Array
from .backend import JaxBackend, name_of
from .base import CheckingKernel
from .mesh_layout import LayoutKernel, device_grid, partition_entry, unchanged
from .mesh_transport import JaxMeshTransport
from .parts import axes_of

if TYPE_CHECKING:
    from ...expr.graph import Graph


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


class JaxMesh(JaxMeshTransport):
    """JAX on the devices of a mesh, with rules that map axis names to axes of the mesh."""

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
        self, out: tuple[Template, ...], operands: Sequence[Template], /, *, body: Graph, mesh: Mesh,
        inside: tuple[Any, ...], outside: tuple[Any, ...],
    ) -> Kernel:  # fmt: skip
        """A kernel in which each device runs a graph on its parts of the operands.

        Inside the graph these parts are payloads of a `JaxBackend` on one device.
        """
        grid = device_grid(self.jax, mesh)
        if mesh.sizes != self.layout.mesh.sizes or list(grid.flat) != list(self.mesh.devices.flat):
            expectation = f"shard_map over the mesh of its arguments, {self.layout.mesh!r}"
            raise ArgumentError(expected(expectation, "move the arguments first", mesh=mesh))
        backend = JaxBackend()

        def run(*arrays: Array) -> tuple[Array, ...]:
            tensors = [Tensor(x, backend, data) for x, data in zip(body.templates, arrays, strict=True)]
            return tuple([x.data for x in evaluate(body, tensors, backend)])

        specs = [
            tuple([self.sharding_of_parts([*map(partition_entry, axes)]).spec for axes in several])
            for several in (inside, outside)
        ]
        mapped = self.jax.shard_map(run, mesh=self.mesh, in_specs=specs[0], out_specs=specs[1], check_vma=False)
        return lambda arrays: mapped(*arrays)

    def kept(self, data: Payload, /) -> Payload:
        """An array that JAX can hold as a constant: gathered whole if other processes have parts of it."""
        if data.is_fully_addressable or data.is_fully_replicated:
            return data
        return self.jax.jit(unchanged, out_shardings=self.committed)(data)

    def indexing(self, x: Template, structure: tuple[Any, ...], /) -> Kernel | None:
        """`None`: a kernel for a whole key does not know the axis names by which its result is laid out."""
        return None

    def graph_text(self, graph: Graph, /) -> str:
        """The program that JAX hands to XLA, in StableHLO, with the shardings of its arguments."""
        shapes = [
            self.jax.ShapeDtypeStruct(x.shape, payload_dtype(x.dtype), sharding=self.whole(x)) for x in graph.templates
        ]
        return str(self.jax.jit(self.program(graph)).lower(*shapes).as_text())

    def violation(self, out: Template, data: Payload, /) -> str | None:
        """The mistake in a payload's type, shape, dtype or layout; `None` if there is none."""
        mistake = super().violation(out, data)
        if mistake is not None or self.traced(data):
            return mistake
        if data.sharding.device_set != self.members:
            return f"an array on {data.sharding}"
        if not self.lies_as_named(data, out):
            return f"an array laid out as {axes_of(data, self.mesh)}"
        return None


JaxBackend.on_mesh = JaxMesh
