"""Fusion of chains of elementwise ops into one function of arrays.

The function is one kernel where the module can compile one; elsewhere it runs in blocks. A chain is a set of nodes of
one shape with one result; no node outside the chain needs its other values. It becomes one node of the graph, `fuse`.
Its function is Python source with a line for each op, in which a value that is no longer needed lends its memory to the
next by `out=`. So it calls what the backend's callbacks call, on the same elements, and the results are bit-identical.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Final, cast

from ...annotations import Ints
from ...declarations.op_specs import CALLBACKS
from ...dispatch import implementation
from ...dtypes import bfloat16
from ...expr.evaluate import Compiled, Program, compute_node
from ...expr.graph import Graph, rebuilt
from ...expr.node import CAPTURED, PARAMETER, Node, Value
from ...expr.simplify import expanded, remove_names, rewritten, simplified
from ...expr.subgraphs import map_subgraphs, subgraphs
from ...interchange import numpy_dtype
from ...protocol import Kernel, own_method
from ...protocol.planned import is_planned, kernel_of
from ...select.threads import parallel_for
from ...template import Shape, Template, intern_template
from ...tensor import Tensor
from .base import Array, ArrayBase

BLOCK: Final = 1 << 16
"""The number of elements of a block: a few float32 arrays of this size fit into a second-level cache."""


def compile_graph(graph: Graph, backend: ArrayBase, donated: Sequence[int] = ()) -> Kernel:
    """The kernel of a graph, which is simplified and whose chains of elementwise ops are fused."""
    return Program(prepare(graph, backend), backend, entered_once=True, donated=donated).kernel


def prepare(graph: Graph, backend: ArrayBase) -> Graph:
    """The graph, simplified and fused; the subgraphs of its nodes as well."""
    graph = expanded(graph, lambda node: own_method(backend, node.op) is not None)
    return fuse(rewritten(remove_names(simplified(graph, backend)), lambda node: _prepare_node(node, backend)), backend)


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
    return known and _function(node, backend)[1]


def fuse(graph: Graph, backend: ArrayBase) -> Graph:
    """The graph with each chain as one node."""
    sinks = _sinks(graph, backend)
    members: dict[Node, list[Node]] = {}
    for node in graph.nodes:
        if node in sinks:
            members.setdefault(sinks[node], []).append(node)
    chains = {sink: nodes for sink, nodes in members.items() if len(nodes) > 1}
    inside = {node for nodes in chains.values() for node in nodes}
    replacements: dict[Value, Value] = {}

    def exchange(value: Value) -> Value:
        return replacements.get(value, value)

    for node in graph.nodes[len(graph.parameters) :]:
        if node in chains:
            chain = Chain(chains[node], backend)
            inputs = tuple(map(exchange, chain.inputs))
            options = {"ops": tuple(member.op for member in chains[node])}
            merged = Node("fused", node.out, inputs, options, default=chain, line=node.line)
            replacements[Value(node)] = Value(merged)
        elif node not in inside and replacements and node.op != CAPTURED:  # nodes are made again to keep their order
            replacements.update(zip(node.values, node.remade(node.map_inputs(exchange)).values, strict=True))
    outputs = [exchange(value) for value in graph.outputs]
    return rebuilt(graph, outputs)


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
        numbers = [
            value
            for value in outside
            if not value.node.inputs and not value.template.shape and value.node.op != PARAMETER
        ]
        self.inputs = tuple(value for value in outside if value not in numbers)
        self.nodes = tuple(nodes)
        (out,) = nodes[-1].outs
        function = _compile_chain(nodes, self.inputs, numbers, backend, out.shape)
        rows, inner, layouts = _layout(out.shape, [value.template.shape for value in self.inputs])
        if out.size <= 2 * BLOCK or rows == 1 or backend.fuse is not None:
            self.kernel = function
        else:
            height = max(1, BLOCK * rows // out.size)
            self.kernel = _blocked_kernel(backend, function, out, height, (rows, *inner), layouts)


def _blocked_kernel(
    backend: ArrayBase, function: Callable[..., Array], out: Template, height: int, shape: Ints, layouts: Sequence[Ints]
) -> Kernel:
    """The kernel of a chain that runs over blocks of rows, shared among threads."""
    empty, dtype, rows = backend.xp.empty, numpy_dtype(out.dtype), shape[0]

    def compute(result: Array, views: Sequence[Array], start: int, end: int) -> None:
        for low in range(start, end, height):
            part = slice(low, min(low + height, end))
            block = result[part]
            elements = function(*[view[part] if len(view) > 1 else view for view in views], block.shape, block)
            if elements is not block:
                block[...] = elements

    entered = backend.enter(compute)

    def kernel(*arrays: Array) -> Array:
        result = empty(shape, dtype)
        views = [array.reshape(layout) for array, layout in zip(arrays, layouts, strict=True)]
        parallel_for(rows, height, lambda start, end: entered(result, views, start, end))
        return result.reshape(out.shape)

    return kernel


def _layout(
    shape: tuple[int, ...], inputs: Sequence[tuple[int, ...]]
) -> tuple[int, tuple[int, ...], list[tuple[int, ...]]]:
    """How arrays are cut into rows: the number of rows, the shape of a row, and the shape of each input.

    The leading axes that every input has in full or not at all are merged into one. A result (8, 128, 64) with inputs
    (64,) and (8, 128, 1) has 1024 rows of shape (64,), and the inputs become (1, 64) and (1024, 1).
    """
    padded = [(1,) * (len(shape) - len(input_shape)) + input_shape for input_shape in inputs]
    split = len(shape)
    while not all(sizes[:split] in (shape[:split], (1,) * split) for sizes in padded):
        split -= 1
    rows = prod(shape[:split])
    return rows, shape[split:], [(prod(sizes[:split]), *sizes[split:]) for sizes in padded]


def _compile_chain(
    nodes: Sequence[Node], inputs: Sequence[Value], numbers: Sequence[Value], backend: ArrayBase, shape: Shape
) -> Callable[..., Array]:
    """A function of arrays, of a block's shape, and of memory for its result; without these, of all of `shape`."""
    names = {value: f"x{number}" for number, value in enumerate(inputs)}
    last = {value: node for node in nodes for value in node.operands}
    functions: dict[str, Any] = {}
    for number, value in enumerate(numbers):
        names[value] = f"c{number}"
        constant = cast(Tensor, compute_node(value.node, backend, ()))
        functions[names[value]] = constant.data if backend.fuse is None else backend.to_numpy(constant, None, None)[()]
    calls, lends = [_function(node, backend) for node in nodes], backend.fuse is None
    # A function that is not plain may return its operand's memory, which must then not be written to.
    pairs = zip(nodes, calls, strict=True)
    shared = {value for node, (_, plain) in pairs if not plain for value in node.operands}
    memory_of: dict[str, Any] = {}  # the dtype of each variable whose memory the chain allocated
    spare: dict[Any, list[str]] = {}  # by dtype, those variables that no later line needs
    lines = [f"def chain({', '.join([*(names[value] for value in inputs), 'shape=None', 'out=None'])}):"]
    for number, (node, (function, plain)) in enumerate(zip(nodes, calls, strict=True)):
        functions[f"f{number}"] = function
        dtype, operands = node.outs[0].dtype, [names[value] for value in node.operands]
        for value in dict.fromkeys(node.operands):
            if last[value] is node and names[value] in memory_of and value not in shared:
                spare.setdefault(memory_of[names[value]], []).append(names[value])
        # For a single element NumPy takes twice as long to write the result to an operand.
        lent = plain and lends and node.outs[0].size > 1 and spare.get(dtype)
        memory = spare[dtype].pop() if lent else ""
        if node is nodes[-1]:
            target, memory = "out", f"{memory} if out is None else out" if memory else "out" if lends else ""
        else:
            target = memory or f"t{number}"
        names[Value(node)] = target
        if plain:
            memory_of[target] = dtype
            lines.append(f"    {target} = f{number}({', '.join([*operands, *([f'out={memory}'] if memory else [])])})")
        else:
            lines.append(f"    {target} = f{number}(shape, {', '.join(operands)})")
    exec("\n".join([*lines, "    return out"]), functions)  # the source is made here, of numbered names alone
    chain: Any = functions["chain"]
    chain.__defaults__ = shape, None
    if backend.fuse is None:
        return cast("Callable[..., Array]", chain)

    def fused_chain(*arrays: Array) -> Array:  # CuPy names the kernel after it
        return chain(*arrays, None)

    return backend.fuse(fused_chain)


def _function(node: Node, backend: ArrayBase) -> tuple[Callable[..., Array], bool]:
    """The function that computes a node from arrays, and whether it is a plain function of the module, which takes
    `out`."""
    (template,) = node.outs
    callback = implementation(backend, node.op, template, [value.template for value in node.operands])
    if is_planned(callback):
        templates = [value.template for value in node.operands]
        kernel = kernel_of(callback, template, *templates, **node.options)
        if isinstance(kernel, backend.xp.ufunc):
            return kernel, True
        if backend.fuse is None:  # a fused function must be made of elementwise functions alone
            return lambda shape, *arrays: kernel(*arrays), False
    dtypes = [value.template.dtype for value in node.operands]

    def call(shape: tuple[int, ...], *arrays: Array) -> Array:
        tensors = (
            Tensor(intern_template(array.shape, dtype, (None,) * array.ndim), backend, array)
            for array, dtype in zip(arrays, dtypes, strict=True)
        )
        return callback(intern_template(shape, template.dtype, (None,) * len(shape)), *tensors, **node.options)

    return call, False
