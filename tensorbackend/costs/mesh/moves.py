"""Moves of values between layouts: devices slice, exchange, gather and combine parts."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Final, NamedTuple, TypeAlias

from ...expr.node import Line, Node, Value
from ...mesh import Layout
from ...template import Template
from ..flops import Work
from .collectives import Collective, Kind

Axes: TypeAlias = tuple[tuple[str, ...], ...]
"""The mesh axes over which each axis of a tensor is divided."""

_MOVES: Final = Work(shares=(None,), strided=(False,))


class Part(NamedTuple):
    """A value on each device."""

    value: Value
    """The part, a value of the device's graph."""
    whole: Template
    axes: Axes


def whole(template: Template) -> Axes:
    """The axes of a tensor that is whole on each device: none is divided."""
    return ((),) * template.ndim


class Moves:
    """The nodes and collectives by which one device moves values."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.works: dict[Node, Work] = {}
        self.collectives: list[Collective] = []
        self.moved: dict[tuple[Value, Axes], Part] = {}

    def parts(self, axes: Iterable[str]) -> int:
        """The number of parts into which mesh axes together divide a tensor."""
        sizes = self.layout.mesh.sizes
        return prod(sizes[axis] for axis in axes)

    def part(self, whole: Template, axes: Axes) -> Template:
        """The part of a tensor that a device holds."""
        if not any(axes):
            return whole
        return whole.replace(
            shape=tuple([n // self.parts(mesh_axes) for n, mesh_axes in zip(whole.shape, axes, strict=True)])
        )

    def add_part(self, op: str, whole: Template, axes: Axes, inputs: tuple[Value, ...], line: Line | None) -> Part:
        """Adds a node that moves data but computes nothing; returns the part of a value that it makes."""
        template = self.part(whole, axes)
        node = Node(op, template, inputs, line=line)
        moved = sum(value.template.nbytes for value in inputs)
        self.works[node] = _MOVES._replace(read=moved, written=template.nbytes if inputs else 0)
        return Part(Value(node), whole, axes)

    def together(self, kind: Kind, axes: tuple[str, ...], nbytes: int, node: Node) -> None:
        """Adds a collective, unless it has only one device or no bytes."""
        devices = self.parts(axes)
        if devices > 1 and nbytes:
            self.collectives.append(Collective(kind, axes, devices, nbytes, 1, node.op, node.line))

    def combine_partial(self, part: Part, over: tuple[str, ...], target: Axes, node: Node) -> Part:
        """Combines the partial values of devices along mesh axes: by a reduce-scatter over those that divide the
        target, by an all-reduce over the others."""
        scattered = [tuple([axis for axis in mesh_axes if axis in over]) for mesh_axes in target]
        left = tuple([axis for axis in over if not any(axis in mesh_axes for mesh_axes in scattered)])
        nbytes = part.value.template.nbytes
        if any(scattered):
            axes = tuple([axis for axis in over if axis not in left])
            self.together("reduce-scatter", axes, nbytes, node)
            layout = tuple([
                (
                    *[axis for axis in to if axis in source_axes or axis in more],
                    *[axis for axis in source_axes if axis not in to],
                )
                for source_axes, more, to in zip(part.axes, scattered, target, strict=True)
            ])  # fmt: skip
            part = self.add_part("reduce-scatter", part.whole, layout, (part.value,), node.line)
            nbytes = part.value.template.nbytes
        if left:
            self.together("all-reduce", left, nbytes, node)
            part = self.add_part("all-reduce", part.whole, part.axes, (part.value,), node.line)
        return part

    def laid(self, part: Part, axes: Axes, node: Node) -> Part:
        """Divides a value over other mesh axes, once for all nodes that need it in this way."""
        if part.axes == axes:
            return part
        moved_part = self.moved.get((part.value, axes))
        if moved_part is None:
            moved_part = self.moved[part.value, axes] = self.brought(part, axes, node)
        return moved_part

    def brought(self, part: Part, axes: Axes, node: Node) -> Part:
        """Slices a value over new mesh axes, exchanges parts where a mesh axis moves to another axis of the value, and
        gathers over the mesh axes that no longer divide it."""
        before = {axis for mesh_axes in part.axes for axis in mesh_axes}
        after = {axis for mesh_axes in axes for axis in mesh_axes}
        sliced = tuple([
            (*source_axes, *[a for a in to if a not in before]) for source_axes, to in zip(part.axes, axes, strict=True)
        ])  # fmt: skip
        if sliced != part.axes:
            part = self.add_part("slice", part.whole, sliced, (part.value,), node.line)
        gone = tuple([axis for mesh_axes in part.axes for axis in mesh_axes if axis not in after])
        places = {axis: place for place, mesh_axes in enumerate(axes) for axis in mesh_axes}
        crossing = tuple([
            axis
            for place, mesh_axes in enumerate(part.axes)
            for axis in mesh_axes
            if axis in after and places[axis] != place
        ])  # fmt: skip
        if crossing:
            self.together("all-to-all", crossing, part.value.template.nbytes, node)
            layout = tuple([
                (*[axis for axis in source_axes if axis not in crossing], *[axis for axis in to if axis in crossing])
                for source_axes, to in zip(part.axes, axes, strict=True)
            ])  # fmt: skip
            part = self.add_part("all-to-all", part.whole, layout, (part.value,), node.line)
        if gone:
            value = part.value
            part = self.add_part("all-gather", part.whole, axes, (value,), node.line)
            self.together("all-gather", gone, part.value.template.nbytes, node)
        return part._replace(axes=axes)
