"""Data on their way to the devices of a mesh and back, between processes too, and shown as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from ...display import ends, show, show_elements
from ...dtypes import Scalar
from ...dtypes.packing import unpack
from ...interchange import read_only
from ...mesh import spread
from ...protocol import Payload
from ...template import Template
from ...tensor import Tensor
from ..array_module.base import Array
from .backend import JaxBackend, library
from .base import template_of
from .mesh_layout import JaxMeshLayout, partition_entry
from .parts import elements_at, leading_elements, parts

if TYPE_CHECKING:
    import numpy


class JaxMeshTransport(JaxMeshLayout):
    """How a `JaxMesh` takes data from elsewhere, and hands out its own."""

    def from_numpy(self, out: Template, array: numpy.ndarray[Any, Any], /, *, copy: bool) -> Payload:
        """A NumPy array on the devices of the mesh, each of which gets its part."""
        self.check_width(out)
        return self.put_divided(array.copy() if copy else array, self.whole(out))

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
        sharding = self.sharding_of_parts([*map(partition_entry, axes)])
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
        data = self.put_divided(x.data, self.whole(x.template))
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
