"""Views and writes of programs without the changes of shape next to them.

Indexing by ints is recorded as a slice and the removal of its axes of size 1, and a write as the addition of these
and a write of the block. In a program each pair is one key of the module: `x[2:, 3]`, `x[2, 3] = y`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...expr.evaluate import Compiled
from ...expr.graph import Graph, rebuilt
from ...expr.node import CAPTURED, Node, Value
from ...protocol import Kernel
from ...protocol.owners import is_spare
from .base import Array, ArrayBase, flagless_kernel, owns_memory


class Merged(Compiled):
    """Two nodes that are one key of the module."""

    def __init__(self, nodes: Sequence[Node], inputs: tuple[Value, ...], kernel: Kernel, spare: Kernel | None) -> None:
        self.nodes, self.inputs, self.kernel, self._spare = tuple(nodes), inputs, kernel, spare

    def overwriting(self, spare: Sequence[int], *, entered: bool) -> Kernel | None:
        """The kernel that writes to its first input, if that may be spare."""
        return self._spare if 0 in spare else None


def merge_views(graph: Graph, backend: ArrayBase) -> Graph:
    """The graph with each such pair as one node."""
    uses: dict[Value, int] = {}
    for value in (*graph.outputs, *[value for node in graph.nodes for value in node.operands]):
        uses[value] = uses.get(value, 0) + 1
    replacements: dict[Value, Value] = {}

    def exchange(value: Value) -> Value:
        return replacements.get(value, value)

    for node in graph.nodes[len(graph.parameters) :]:
        merged = _merged(node, uses, backend)
        if merged is not None:
            options = {"ops": tuple(member.op for member in merged.nodes)}
            made = Node("fused", node.out, tuple(map(exchange, merged.inputs)), options, default=merged, line=node.line)
            replacements[Value(node)] = Value(made)
        elif replacements and node.op != CAPTURED:  # nodes are made again to keep their order
            replacements.update(zip(node.values, node.remade(node.map_inputs(exchange)).values, strict=True))
    return rebuilt(graph, [exchange(value) for value in graph.outputs])


def _merged(node: Node, uses: dict[Value, int], backend: ArrayBase) -> Merged | None:
    """A node and the one before it, which nothing else uses, as one; `None` for any other node."""
    if node.op == "squeeze" and uses[node.operands[0]] == 1 and node.operands[0].node.op == "slice":
        cut = node.operands[0].node
        return Merged((cut, node), cut.operands, _reading(cut.options, node.options["axes"]), None)
    if node.op != "put_slice" or backend.fuse is not None:
        return None
    x, update = node.operands
    if uses[update] != 1 or update.node.op != "reshape":
        return None
    (part,) = update.node.operands
    dropped = _dropped(update.template.shape, part.template.shape)
    if dropped is None:
        return None
    key = _key(node.options["starts"], update.template.shape, (1,) * len(update.template.shape), dropped)
    return Merged((update.node, node), (x, part), *_writing(key))


def _reading(options: Any, dropped: Any) -> Kernel:
    key = _key(options["starts"], options["lengths"], options["strides"], dropped)

    return flagless_kernel(lambda values: values[key])


def _writing(key: tuple[Any, ...]) -> tuple[Kernel, Kernel]:
    """The kernels that write to a copy, and to the array itself if nothing else refers to it."""

    def put(values: Array, part: Array) -> Array:
        result = values.copy()
        result[key] = part
        return result

    def put_in_place(values: Array, part: Array) -> Array:
        result = values if is_spare(values) and owns_memory(values) else values.copy()
        result[key] = part
        return result

    return put, put_in_place


def _key(starts: Any, lengths: Any, strides: Any, dropped: Sequence[int]) -> tuple[Any, ...]:
    """The key of a block, with an int for each axis that is dropped."""
    parts = [
        start if axis in dropped else slice(start, start + length * stride, stride)
        for axis, (start, length, stride) in enumerate(zip(starts, lengths, strides, strict=True))
    ]
    return (*parts, ...)  # an array in place of a number


def _dropped(block: Sequence[int], shape: Sequence[int]) -> list[int] | None:
    """The axes of size 1 that a block has in addition to a shape; `None` if it differs otherwise."""
    axes, rest = [], list(shape)
    for axis, size in enumerate(block):
        if rest and rest[0] == size:
            rest.pop(0)
        elif size == 1:
            axes.append(axis)
        else:
            return None
    return None if rest else axes
