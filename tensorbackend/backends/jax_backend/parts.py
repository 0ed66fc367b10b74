"""The parts of an array on several devices, read on the host."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from ..array_module.base import Array

if TYPE_CHECKING:
    import numpy


def axes_of(data: Array, mesh: Any) -> tuple[tuple[str, ...], ...]:
    """The axes of a JAX mesh over which each axis of an array is divided."""
    spec = getattr(data.sharding, "spec", None)
    if spec is None or data.sharding.mesh != mesh:
        return _find_axes(data, mesh)
    entries: list[Any] = [*spec, *[None] * (data.ndim - len(spec))]
    return tuple([() if entry is None else (entry,) if isinstance(entry, str) else tuple(entry) for entry in entries])


def _find_axes(data: Array, mesh: Any) -> tuple[tuple[str, ...], ...]:
    """`axes_of` for an array with another mesh or another kind of sharding, derived from where its parts begin."""
    if data.sharding.device_set != set(mesh.devices.flat):
        return tuple([()] * data.ndim)
    begins = {
        device: tuple([part.start or 0 for part in index])
        for device, index in data.sharding.devices_indices_map(data.shape).items()
    }
    first = begins[mesh.devices.flat[0]]
    mesh_axes: list[tuple[str, ...]] = [()] * data.ndim
    for place, name in enumerate(mesh.axis_names):
        if mesh.devices.shape[place] > 1:
            step = [0] * mesh.devices.ndim
            step[place] = 1
            there = begins[mesh.devices[tuple(step)]]
            mesh_axes = [axes + (name,) * (a != b) for axes, a, b in zip(mesh_axes, first, there, strict=True)]
    return tuple(mesh_axes)


def leading_elements(data: Array, limit: int) -> numpy.ndarray[Any, Any]:
    """The first `limit` elements of an array in row-major order; only the parts that hold them are read."""
    import numpy

    row = prod(data.shape[1:])
    if (
        not data.shape
        or not isinstance(getattr(data, "addressable_shards", None), list)
        or limit >= data.size
        or not row
    ):
        return numpy.asarray(data).reshape(-1)[:limit]
    rows = -(-limit // row)
    elements = numpy.empty((rows, *data.shape[1:]), data.dtype)
    for (along, *others), part in parts(data):
        begin, end, _ = along.indices(data.shape[0])
        if begin < rows:
            elements[(slice(begin, min(end, rows)), *others)] = numpy.asarray(part[: rows - begin])
    return elements.reshape(-1)[:limit]


def elements_at(data: Array, positions: Sequence[Sequence[int]]) -> numpy.ndarray[Any, Any]:
    """The elements at ascending positions along each axis; only the parts that hold them are read."""
    import numpy

    if not data.shape or not isinstance(getattr(data, "addressable_shards", None), list):
        return _host_part(numpy.asarray(data), positions)
    elements = numpy.empty([*map(len, positions)], data.dtype)
    for index, part in parts(data):
        inside = [
            [place for place, position in enumerate(axis_positions) if span.start <= position < span.stop]
            for axis_positions, span in zip(positions, _spans(index, data.shape), strict=True)
        ]
        if all(inside):
            begins = (span.start for span in _spans(index, data.shape))
            there = [
                [axis_positions[place] - begin for place in places]
                for axis_positions, places, begin in zip(positions, inside, begins, strict=True)
            ]
            elements[numpy.ix_(*map(_indices, inside))] = _take_elements(part, there)
    return elements


def _take_elements(part: Array, positions: Sequence[Sequence[int]]) -> numpy.ndarray[Any, Any]:
    """Elements of an array on one device: the host reads its own memory, another device sends the elements."""
    import numpy

    if next(iter(part.devices())).platform != "cpu":
        for axis, axis_positions in enumerate(positions):
            part = part.take(numpy.asarray(axis_positions), axis=axis)
        return numpy.asarray(part)
    return _host_part(numpy.asarray(part), positions)


def _host_part(array: numpy.ndarray[Any, Any], positions: Sequence[Sequence[int]]) -> numpy.ndarray[Any, Any]:
    import numpy

    return numpy.asarray(array[numpy.ix_(*map(_indices, positions))])


def _indices(positions: Sequence[int]) -> numpy.ndarray[Any, Any]:
    import numpy

    return numpy.asarray(positions, numpy.int64)


def _spans(index: Sequence[slice], shape: Sequence[int]) -> Iterator[range]:
    return (range(*span.indices(size)) for span, size in zip(index, shape, strict=True))


def parts(data: Array) -> Iterator[tuple[tuple[slice, ...], Array]]:
    """Yields each part that this process holds, replicas only once: its slices of the whole array, and its data."""
    seen = set()
    for shard in data.addressable_shards:
        key = tuple([(part.start, part.stop) for part in shard.index])
        if key not in seen:
            seen.add(key)
            yield shard.index, shard.data
