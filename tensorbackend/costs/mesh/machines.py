"""The limits of machines, from their vendors' data sheets, and the time of a device's program by a simple model.

    time = sum over ops of max(FLOPs / rate, bytes / bandwidth)  +  sum over collectives of bytes sent / link

The model has no overlap and no waiting: no device idles, kernels have no launch overhead, and messages have no latency.
All rates are those of the data sheets, which no program reaches, so times are lower bounds that compare layouts. Values
that pass only from elementwise ops to elementwise ops and reductions stay on the chip, as a compiler fuses these ops.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Final, NamedTuple

from ...declarations.op_specs import CALLBACKS, REACHES
from ...dtypes import DType, bfloat16, float16, float32, float64
from ...errors import ArgumentError, expected
from ...expr.graph import Graph
from ...expr.node import Node, Value
from ...mesh import Mesh
from ..flops import Work
from .collectives import Collective


class Machine(NamedTuple):
    """A kind of device, several of which make up a node. Rates are per second, for one device."""

    name: str
    products: Mapping[DType, float]
    """FLOPs of products of dense matrices on tensor cores, by dtype."""
    flops: float
    """FLOPs of all other ops, in float32."""
    memory: int
    """Bytes of a device's memory."""
    bandwidth: float
    """Bytes between memory and chip."""
    node: int
    """The number of devices in a node."""
    link: float
    """Bytes that a device sends inside its node, in one direction."""
    network: float
    """Bytes that a device sends to other nodes, in one direction."""
    source: str


_HOPPER: Final = {bfloat16: 989.4e12, float16: 989.4e12, float32: 494.7e12, float64: 66.9e12}
"""Half of the data sheets' figures with sparsity; float32 as TF32."""

MACHINES: Final = {
    machine.name: machine
    for machine in (
        Machine(
            "h100", _HOPPER, 66.9e12, 80 * 10**9, 3.35e12, 8, 450e9, 50e9,
            "NVIDIA H100 Tensor Core GPU data sheet, SXM; DGX H100: NVLink of 900 GB/s in both directions together, "
            "one ConnectX-7 of 400 Gb/s for each device",
        ),
        Machine(
            "h200", _HOPPER, 66.9e12, 141 * 10**9, 4.8e12, 8, 450e9, 50e9,
            "NVIDIA H200 Tensor Core GPU data sheet, SXM; DGX H200: NVLink of 900 GB/s in both directions together, "
            "one ConnectX-7 of 400 Gb/s for each device",
        ),
    )
}  # fmt: skip
"""The machines by name."""


class Time(NamedTuple):
    """Seconds of one run by the model of `machines`."""

    machine: str
    ops: float
    """Seconds of ops, each bound by FLOPs or by memory."""
    links: float
    """Seconds of collectives inside nodes."""
    network: float
    """Seconds of collectives among nodes."""

    @property
    def total(self) -> float:
        """Seconds of all three together."""
        return self.ops + self.links + self.network


def machine_of(name: str) -> Machine:
    """A machine by its name."""
    machine = MACHINES.get(name)
    if machine is None:
        raise ArgumentError(expected(f"a machine among {', '.join(MACHINES)}", machine=name))
    return machine


def time_of(
    machine: Machine, mesh: Mesh, graph: Graph, works: Sequence[Work], collectives: Sequence[Collective]
) -> Time:
    """The time of a device's graph and its collectives."""
    ops = sum(_seconds(machine, node, work) for node, work in zip(graph.nodes, _fuse(graph, works), strict=True))
    inside = across = 0.0
    for collective in collectives:
        if span(mesh, collective.axes) <= machine.node:
            inside += collective.sent / machine.link
        else:
            across += collective.sent / machine.network
    return Time(machine.name, ops, inside, across)


def span(mesh: Mesh, axes: Sequence[str]) -> int:
    """The number of consecutive devices, in row-major order, that contain a group of devices along mesh axes.

    >>> span(Mesh({"data": 4, "model": 2}), ["model"]), span(Mesh({"data": 4, "model": 2}), ["data"])
    (2, 8)
    """
    first = min(map(mesh.names.index, axes))
    return prod(mesh.shape[first:])


def _seconds(machine: Machine, node: Node, work: Work) -> float:
    family = getattr(CALLBACKS.get(node.op), "family", None)
    rate = machine.flops
    if family in ("contraction", "convolution"):
        rate = machine.products.get(node.outs[0].dtype, machine.flops)
    return max(work.flops / rate, (work.read + work.written) / machine.bandwidth)


def _fuse(graph: Graph, works: Sequence[Work]) -> list[Work]:
    """The works without the bytes of values that pass only from elementwise ops to such ops and to reductions."""
    readers: dict[Value, list[str]] = {}
    for node in graph.nodes:
        for value in node.operands:
            readers.setdefault(value, []).append(node.op)
    outputs = set(graph.outputs)

    def stays(value: Value) -> bool:
        fusible = REACHES.get(value.node.op) == "each" or not (value.node.operands or value.node.op not in CALLBACKS)
        if not fusible or value in outputs:
            return False
        return all(REACHES.get(op) in ("each", "reduced") for op in readers.get(value, ()))

    fused_works = []
    for node, work in zip(graph.nodes, works, strict=True):
        read = sum(value.template.nbytes for value in set(node.operands) if stays(value))
        written = sum(value.template.nbytes for value in node.values if stays(value))
        fused_works.append(work._replace(read=max(work.read - read, 0), written=max(work.written - written, 0)))
    return fused_works
