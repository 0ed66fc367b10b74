"""Traced functions as models: names of inputs and outputs, initialisers, and what a model says of itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import tensorbackend as tb
from onnx import ModelProto, helper, numpy_helper, shape_inference
from tensorbackend.errors import UnsupportedOp, expected
from tensorbackend.expr.graph import Graph
from tensorbackend.sizes import is_size, source_of

from ..dtypes import ELEMENT_TYPES, part_dtype
from .guards import OpenTrace
from .size_nodes import SizeNodes, Source
from .writer import Name, Shared, Writer, array_of


class Written(NamedTuple):
    """A traced function whose nodes are written."""

    graph: Graph
    writer: Writer
    names: list[Name]
    """The names of the function's arguments."""
    leaves: Sequence[tb.Tensor]
    """The parameters, which come first among the arguments."""


def input_names(graph: Graph, parameters: int) -> list[Name]:
    """Names of values for the arguments of a traced function: `x['w'][0]` is `x.w.0`.

    Parameters, which come first, lose the name of their argument, unless they would be named like another argument.
    """
    plain = [re.sub(r"\[['\"]?([^\]'\"]*)['\"]?\]", r".\1", name) for name in graph.names]
    names = plain[parameters:]
    for name in reversed(plain[:parameters]):
        short = name.partition(".")[2]
        names.insert(0, short if short and short not in names else name)
    return [name if names.index(name) == place else f"{name}_{place}" for place, name in enumerate(names)]


def output_names(graph: Graph, taken: Sequence[Name]) -> list[Name]:
    """Names for the results of a graph that no argument has."""
    word = "output"
    while any(name.startswith(word) for name in taken):
        word = f"{word}_"
    count = len(graph.outputs)
    return [word] if count == 1 else [f"{word}_{place}" for place in range(count)]


def sources_of(graph: Graph, parameters: int, trace: OpenTrace) -> dict[str, Source]:
    """The input and the axis that has each open size, by the size's source."""
    sources: dict[str, Source] = {}
    for name, parameter in list(zip(input_names(graph, parameters), graph.parameters, strict=True))[parameters:]:
        for axis, size in enumerate(parameter.template.shape):
            if is_size(size):
                sources.setdefault(source_of(size), Source(name, axis))
    return sources


def written(
    graph: Graph,
    opset: int,
    leaves: Sequence[tb.Tensor] = (),
    trace: OpenTrace | None = None,
    *,
    strict: bool = False,
) -> Written:
    """Write the nodes of a traced function; `strict` as in `Shared`."""
    names = input_names(graph, len(leaves))
    sizes = None if trace is None else SizeNodes(sources_of(graph, len(leaves), trace), trace.functions)
    writer = Writer(Shared(opset, trace, sizes, strict=strict))
    outputs = writer.graph(graph.nodes, graph.outputs, dict(zip(graph.parameters, names, strict=True)))
    writer.at("the results")
    for name, result in zip(outputs, output_names(graph, names), strict=True):
        writer.nodes.append(helper.make_node("Identity", [name], [result], result))
    return Written(graph, writer, names, leaves)


def model_of(done: Written) -> ModelProto:
    """The model of a function whose nodes are written."""
    graph, writer, names, leaves = done
    shared, count = writer.shared, len(leaves)
    initialisers = [numpy_helper.from_array(array_of(leaf), name) for name, leaf in zip(names, leaves, strict=False)]
    constants = [numpy_helper.from_array(array, name) for name, array in shared.constants.items()]
    nodes, trace = list(writer.nodes), shared.trace
    if shared.sizes is not None:
        nodes = [*shared.sizes.nodes, *nodes]
        constants += shared.sizes.constants
    own = list(zip(names, graph.parameters, strict=True))[count:]
    inputs = [_value(name, parameter.template, trace) for name, parameter in own]
    results = zip(output_names(graph, names), graph.outputs, strict=True)
    outputs = [_value(name, output.template, trace) for name, output in results]
    _check_types(nodes, inputs, outputs, [*initialisers, *constants], shared)
    proto = helper.make_graph(nodes, "graph", inputs, outputs, [*initialisers, *constants])
    ir_version = 10 if shared.opset <= 22 else 11 if shared.opset <= 23 else 12
    imports = [helper.make_opsetid("", shared.opset)]
    return helper.make_model(proto, opset_imports=imports, producer_name="tensorbackend", ir_version=ir_version)


def _check_types(nodes: Any, inputs: Any, outputs: Any, initialisers: Any, shared: Shared) -> None:
    """Raise `UnsupportedOp` where an operator of ONNX has no such dtype, as `Conv` has no integers."""
    known = [helper.make_tensor_value_info(x.name, x.data_type, list(x.dims)) for x in initialisers]
    graph = helper.make_graph(nodes, "graph", [*inputs, *known], outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", shared.opset)])
    try:
        shape_inference.infer_shapes(model, check_type=True)
    except shape_inference.InferenceError as error:
        found = re.search(r"op_type:(\w+), node name: ([^)]*)\).*unsupported type: tensor\((\w+)\)", str(error))
        operator, name, dtype = found.groups() if found else ("an operator", "", str(error))
        where = shared.places.get(name, "the function")
        raise UnsupportedOp(
            expected(
                f"dtypes that ONNX's operators have, got {operator} of {dtype} at {where}", "cast it with astype()"
            )
        ) from None


def _value(name: Name, template: tb.Template, trace: OpenTrace | None) -> Any:
    """An input or output; an open size has the name of its axis."""
    known = {} if trace is None else {size.source: key for key, size in trace.names.items()}
    shape: list[int | str | None] = [
        known.get(source_of(size), own) if is_size(size) else size
        for size, own in zip(template.shape, template.names, strict=True)
    ]
    pair = [2] if template.dtype.kind == "complex" else []
    return helper.make_tensor_value_info(name, ELEMENT_TYPES[part_dtype(template.dtype)], [*shape, *pair])
