"""Fusion of chains of elementwise ops into one function of arrays.

The function is one kernel where the module can compile one; elsewhere it runs in blocks. A chain is a set of nodes of
one shape with one result; no node outside the chain needs its other values. It becomes one node of the graph, `fuse`.
Its function is Python source with a line for each op, in which a value that is no longer needed lends its memory to the
next by `out=`. So it calls what the backend's callbacks call, on the same elements, and the results are bit-identical.

Views and writes lose the changes of shape next to them (`merge_views`): indexing by ints is recorded as a slice and the
removal of its axes of size 1, and a write as the addition of these and a write of the block. In a program each pair is
one key of the module: `x[2:, 3]`, `x[2, 3] = y`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final

from ...annotations import Ints
from ...declarations.op_specs import CALLBACKS
from ...dtypes import bfloat16
from ...expr.evaluate import Compiled, Program
from ...expr.graph import Graph, map_subgraphs, rebuilt, subgraphs
from ...expr.node import CAPTURED, PARAMETER, Node, Value
from ...expr.simplify import expanded, remove_names, rewritten, simplified
from ...expr.source import function_of
from ...interchange import numpy_dtype
from ...protocol import Kernel, own_method
from ...protocol.owners import is_spare
from ...select.threads import parallel_for, threads
from ...template import Shape, Template
from .base import BLOCK, Array, ArrayBase, flagless_kernel, owns_memory
from .chain_source import ChainSource, function_of_node

FUSED_BLOCK: Final = 16 * BLOCK
"""The number of elements of a block: a few float32 arrays of this size fit into a second-level cache."""

LENT_BYTES: Final = 1 << 16
"""The bytes of a result from which on it is worth a look whether it can be written over an operand."""

FILE: Final = "<fused>"
"""The name in tracebacks of generated functions."""


def compile_graph(graph: Graph, backend: ArrayBase, donated: Sequence[int] = ()) -> Kernel:
    """The kernel of a graph, which is simplified and whose chains of elementwise ops are fused."""
    return Program(prepare(graph, backend, donated), backend, entered_once=True, donated=donated).kernel


def prepare(graph: Graph, backend: ArrayBase, donated: Sequence[int] = ()) -> Graph:
    """The graph, simplified and fused; the subgraphs of its nodes as well."""
    graph = expanded(graph, lambda node: own_method(backend, node.op) is not None)
    graph = rewritten(remove_names(simplified(graph, backend)), lambda node: _prepare_node(node, backend))
    if donated:
        from ...costs.rematerialization import rematerialized

        graph = rematerialized(graph, donated)
    return fuse(merge_views(graph, backend), backend)


def _prepare_node(node: Node, backend: ArrayBase) -> Sequence[Value]:
    """The results of a node, after its subgraphs were prepared."""
    if not subgraphs(node):
        return node.values
    options = map_subgraphs(node, lambda graph: prepare(graph, backend))
    return node.remade(node.inputs, options).values


def fusable(node: Node, backend: ArrayBase) -> bool:
    """Whether a node computes each element from one element of each input, by functions that the backend can fuse."""
    callback = CALLBACKS.get(node.op)
    # For arrays without axes NumPy returns numbers, whose memory cannot be lent.
    if callback is None or not callback.elementwise or node.op == "bitcast" or not node.outs[0].shape:
        return False
    values = (Value(node), *node.operands)
    if any(value.template.dtype.is_narrow for value in values):
        return False
    if backend.fuse is None:
        return True
    known = all(value.template.dtype is not bfloat16 for value in values)
    return known and function_of_node(node, backend)[1]


def fuse(graph: Graph, backend: ArrayBase) -> Graph:
    """The graph with each chain as one node."""
    sinks = _sinks(graph, backend)
    members: dict[Node, list[Node]] = {}
    for node in graph.nodes:
        if node in sinks:
            members.setdefault(sinks[node], []).append(node)
    chains = {sink: nodes for sink, nodes in members.items() if len(nodes) > 1 or _saves_memory(sink, backend)}
    inside = {node for nodes in chains.values() for node in nodes}
    replacements: dict[Value, Value] = {}

    def exchange(value: Value) -> Value:
        return replacements.get(value, value)

    for node in graph.nodes[len(graph.parameters) :]:
        if node in chains:
            chain = Chain(chains[node], backend)
            inputs = tuple(map(exchange, chain.inputs))
            op, options = node.op, node.options
            if len(chains[node]) > 1:
                op, options = "fused", {"ops": tuple(member.op for member in chains[node])}
            merged = Node(op, node.out, inputs, options, default=chain, line=node.line)
            replacements[Value(node)] = Value(merged)
        elif node not in inside and replacements and node.op != CAPTURED:  # nodes are made again to keep their order
            replacements.update(zip(node.values, node.remade(node.map_inputs(exchange)).values, strict=True))
    outputs = [exchange(value) for value in graph.outputs]
    return rebuilt(graph, outputs)


def _saves_memory(node: Node, backend: ArrayBase) -> bool:
    """Whether a single node is worth a chain, as its result may be written over an operand."""
    (out,) = node.outs
    alike = any(value.template.dtype is out.dtype and value.template.shape == out.shape for value in node.operands)
    return backend.fuse is None and alike and out.nbytes >= LENT_BYTES and function_of_node(node, backend)[1]


def _sinks(graph: Graph, backend: ArrayBase) -> dict[Node, Node]:
    """The last node of the chain of each fusable node.

    A node joins the chain of the nodes that use it, if these are all in one chain of the same shape and the node is no
    result of the graph. Every path out of a chain passes through its last node, so chains cannot wait for each other.
    """
    users: dict[Node, list[Node]] = {}
    for node in graph.nodes:
        for value in node.operands:
            users.setdefault(value.node, []).append(node)
    results = {value.node for value in graph.outputs}
    sinks: dict[Node, Node] = {}
    for node in reversed(graph.nodes):
        if fusable(node, backend):
            of_users = {sinks.get(user) for user in users.get(node, ())}
            (sink,) = of_users if len(of_users) == 1 else (None,)
            joins = sink is not None and node not in results and node.outs[0].shape == sink.outs[0].shape
            sinks[node] = sink if joins and sink is not None else node
    return sinks


class Chain(Compiled):
    """The nodes of a chain, compiled for a backend on an array module."""

    def __init__(self, nodes: Sequence[Node], backend: ArrayBase) -> None:
        inside = {Value(node) for node in nodes}
        outside = dict.fromkeys(v for node in nodes for v in node.operands if v not in inside)
        self._numbers = [
            value
            for value in outside
            if not value.node.inputs and not value.template.shape and value.node.op != PARAMETER
        ]
        self.inputs = tuple(value for value in outside if value not in self._numbers)
        self.nodes = tuple(nodes)
        self._backend = backend
        self._kernels: dict[frozenset[int], Kernel] = {}
        self.kernel = self._kernel(frozenset())

    def overwriting(self, spare: Sequence[int], *, entered: bool) -> Kernel | None:
        """A kernel that computes in the memory of inputs at some positions, where nothing else refers to them."""
        (out,) = self.nodes[-1].outs
        dtypes = {node.outs[0].dtype for node in self.nodes}
        places = [
            place
            for place in spare
            if (template := self.inputs[place].template).shape == out.shape and template.dtype in dtypes
        ]
        if self._backend.fuse is not None or not places or out.nbytes < LENT_BYTES:
            return None
        names = [f"x{place}" for place in range(len(self.inputs))]
        lent = ", ".join(f"is_spare({names[place]}) and owns_memory({names[place]})" for place in places)

        kernels: dict[tuple[bool, ...], Kernel] = {}

        def chosen(*flags: bool) -> Kernel:
            kernel = kernels.get(flags)
            if kernel is None:
                kernel = self._kernel(frozenset(place for place, flag in zip(places, flags, strict=True) if flag))
                kernels[flags] = kernel = kernel if entered else self._backend.enter(kernel)
            return kernel

        source = f"def overwriting({', '.join(names)}):\n    return chosen({lent})({', '.join(names)})"
        namespace = {"chosen": chosen, "is_spare": is_spare, "owns_memory": owns_memory}
        return function_of(source, FILE, "overwriting", namespace)

    def _kernel(self, lent: frozenset[int]) -> Kernel:
        """The kernel that may write to the inputs at some positions; each is made once."""
        kernel = self._kernels.get(lent)
        if kernel is None:
            kernel = self._kernels[lent] = self._compiled([self.inputs[place] for place in sorted(lent)])
        return kernel

    def _compiled(self, lent: Sequence[Value]) -> Kernel:
        backend, (out,) = self._backend, self.nodes[-1].outs
        shapes = [value.template.shape for value in self.inputs]
        rows, inner, layouts = _layout(out.shape, shapes)
        in_blocks = len(self.nodes) > 1 and out.size > 2 * FUSED_BLOCK and rows > 1 and backend.fuse is None
        source = ChainSource(self.nodes, self.inputs, self._numbers, backend, lent, in_blocks=in_blocks)
        if not in_blocks:
            return source.function(out.shape)
        target = next((place for place, value in enumerate(self.inputs) if value is source.target), None)
        cuts = [_Cut(out, (rows, *inner), layouts)]
        if rows > out.shape[0] > 1:
            cuts.append(_Cut(out, out.shape, [_padded(shape, len(out.shape)) for shape in shapes]))
        return _blocked_kernel(backend, source, out, cuts, target)


class _Cut:
    """How arrays are cut into blocks of rows: the shape of the result as rows, and that of each input."""

    def __init__(self, out: Template, shape: Ints, layouts: Sequence[Ints]) -> None:
        self.shape, self.layouts = shape, layouts
        self.height = max(1, FUSED_BLOCK * shape[0] // out.size)
        self.blocks = -(-shape[0] // self.height)


def _blocked_kernel(
    backend: ArrayBase, source: ChainSource, out: Template, cuts: Sequence[_Cut], target: int | None
) -> Kernel:
    """The kernel of a chain that runs over blocks of rows, shared among threads.

    The first cut merges leading axes to rows. The last one does not, for views whose axes merge only by a copy.
    The result is written to the input at the position `target`, if there is one. Each thread has memory for the values
    of one block, all of it allocated before any thread begins: so a call takes as much memory each time.
    """
    empty, dtype = backend.xp.empty, numpy_dtype(out.dtype)
    function, dtypes = source.function(out.shape), list(map(numpy_dtype, source.scratch))

    def compute(
        result: Array, views: Sequence[Array], spaces: list[list[Array]], height: int, start: int, end: int
    ) -> None:
        space = spaces.pop()
        for low in range(start, end, height):
            part = slice(low, min(low + height, end))
            block = result[part]
            arrays = space if len(block) == height else [array[: len(block)] for array in space]
            elements = function(
                *[view[part] if view.ndim and len(view) > 1 else view for view in views], block.shape, block, arrays
            )
            if elements is not block:
                block[...] = elements

    entered = backend.enter(compute)

    def kernel(*arrays: Array) -> Array:
        result = empty(out.shape, dtype) if target is None else arrays[target]
        cut = cuts[0] if all(x.flags.c_contiguous for x in arrays) else cuts[-1]
        whole = result.reshape(cut.shape)
        views = [x.reshape(layout) for x, layout in zip(arrays, cut.layouts, strict=True)]
        block, height = (cut.height, *cut.shape[1:]), cut.height
        spaces = [[empty(block, kind) for kind in dtypes] for _ in range(min(threads(), cut.blocks))]
        parallel_for(cut.shape[0], height, lambda start, end: entered(whole, views, spaces, height, start, end))
        return result

    return kernel


def _layout(shape: Shape, inputs: Sequence[Shape]) -> tuple[int, Shape, list[Shape]]:
    """How arrays are cut into rows: the number of rows, the shape of a row, and the shape of each input.

    The leading axes that every input has in full or not at all are merged into one. A result (8, 128, 64) with inputs
    (64,) and (8, 128, 1) has 1024 rows of shape (64,), and the inputs become (1, 64) and (1024, 1).
    """
    padded = [_padded(input_shape, len(shape)) for input_shape in inputs]
    split = len(shape)
    while not all(sizes[:split] in (shape[:split], (1,) * split, ()) for sizes in padded):
        split -= 1
    rows = prod(shape[:split])
    return rows, shape[split:], [(prod(sizes[:split]), *sizes[split:]) if sizes else () for sizes in padded]


def _padded(shape: Shape, rank: int) -> Shape:
    """A shape with axes of size 1 in front; a number has no axes, since kernels may have been planned for that."""
    return (1,) * (rank - len(shape)) + shape if shape else ()


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
