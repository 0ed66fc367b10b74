"""A function of tensors as an ONNX model."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import onnx
import tensorbackend as tb
from onnx import ModelProto, TensorProto, helper, numpy_helper
from tensorbackend.errors import ArgumentError, expected
from tensorbackend.expr.graph import Graph

from ..dtypes import ELEMENT_TYPES, part_dtype
from ..operators.registry import NEWEST
from . import contraction, control, elementwise, indexing, pairs, parts, reduction  # noqa: F401 # they declare ops
from . import places as places
from . import shape as shapes  # noqa: F401
from .opening import Source, Written, opened, samples
from .writer import Name, Shared, Writer, array_of

OLDEST, DEFAULT = 18, 22
"""The oldest opset that is written, and the default."""

LARGE = 10**9
"""The number of bytes of parameters above which they go to a file next to the model."""


def export(
    function: Callable[..., Any],
    *templates: Any,
    path: str | os.PathLike[str] | None = None,
    parameters: Any = None,
    opset: int = DEFAULT,
    open: Sequence[str] = (),
) -> ModelProto:
    """Write a function of tensors as an ONNX model.

    The function is traced, so that the model has what it computes for these templates. Softmax, layer normalisation,
    gelu and the like become ONNX's own operators. Complex inputs, outputs and parameters are pairs of real and
    imaginary parts along a last axis, as in ONNX's operator `DFT`: no operator of ONNX computes with complex numbers.

    Parameters
    ----------
    function
        A function of tensors, nested in any way, that `tb.trace` takes.
    *templates
        The templates of its arguments, or text such as `"f32[batch=8, 3]"`; names of axes become names of sizes.
    path
        Where the model is saved. Parameters of more than a gigabyte go to a file of the same name with `.data`.
    parameters
        Tensors, nested in any way, that the function takes first; they become initialisers.
    opset
        The version of ONNX's operators, from 18 on.
    open
        Names of axes whose sizes the model leaves open. The function is traced at three sizes of them, and what differs
        is computed in the model.

    Returns
    -------
    onnx.ModelProto
        The model.

    Raises
    ------
    UnsupportedOp
        For an op that ONNX lacks, with the user's line; and for an open axis at whose sizes the ops differ.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> model = export(lambda x: tb.exp(x) + 1, "f32[batch=2, 3]", open=("batch",))
    >>> [node.op_type for node in model.graph.node]
    ['Exp', 'Add', 'Identity']
    """
    if not OLDEST <= opset <= NEWEST:
        raise ArgumentError(expected(f"an opset from {OLDEST} to {NEWEST}", opset=opset))
    leaves: list[tb.Tensor] = []

    def collected(leaf: tb.Tensor) -> tb.Template:
        leaves.append(leaf)
        return leaf.template

    first: tuple[Any, ...] = ()
    if parameters is not None:
        first = (tb.tree_map(collected, parameters),)
    traces: list[Written] = []
    graphs: list[Graph] = []
    for sizes in samples(open) if open else [{}]:
        resized = tb.tree_map(lambda template, sizes=sizes: _resized(template, sizes), list(_read(templates)))
        graphs.append(tb.trace(function)(*first, *resized))
        traces.append(_written(graphs[-1], opset, len(leaves), sizes))
    model = _model(graphs, traces, leaves, opset)
    if path is not None:
        save(model, path)
    return model


def export_graph(graph: Graph, *, opset: int = DEFAULT) -> tuple[ModelProto, frozenset[str]]:
    """A graph as a model, and the ops of it that were written as their parts.

    Raises
    ------
    UnsupportedOp
        For an op that ONNX lacks.
    """
    written = _written(graph, opset, 0, {})
    return _model([graph], [written], [], opset), frozenset(written.writer.shared.apart)


def save(model: ModelProto, path: str | os.PathLike[str]) -> None:
    """Save a model, with its parameters in a file next to it where they are large."""
    large = sum(len(tensor.raw_data) for tensor in model.graph.initializer) > LARGE
    place = os.fspath(path)
    if large:
        onnx.save_model(model, place, save_as_external_data=True, location=f"{os.path.basename(place)}.data")
    else:
        onnx.save_model(model, place)


def _same(x: Any) -> Any:
    return x


def _read(templates: Sequence[Any]) -> list[Any]:
    """Templates; those passed as text are parsed, and tensors are replaced by their templates."""

    def template(leaf: Any) -> Any:
        if isinstance(leaf, tb.Tensor):
            return leaf.template
        return tb.trace(_same)(leaf).results[0] if isinstance(leaf, str) else leaf

    leaves = (str, tb.Template)
    return [template(part) if isinstance(part, leaves) else tb.tree_map(template, part) for part in templates]


def _resized(template: Any, sizes: Mapping[str, int]) -> Any:
    """A template with other sizes of named axes."""
    if not isinstance(template, tb.Template):
        return template
    shape = [sizes.get(name or "", size) for name, size in zip(template.names, template.shape, strict=True)]
    return tb.Template(shape, template.dtype, template.names)


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


def _written(graph: Graph, opset: int, parameters: int, sizes: Mapping[str, int]) -> Written:
    """The nodes for a traced function."""
    names = input_names(graph, parameters)
    writer = Writer(Shared(opset))
    outputs = writer.graph(graph.nodes, graph.outputs, dict(zip(graph.parameters, names, strict=True)))
    writer.where = "the results"
    for name, result in zip(outputs, output_names(graph, names), strict=True):
        writer.nodes.append(helper.make_node("Identity", [name], [result], result))
    return Written(writer, names, sizes)


def output_names(graph: Graph, taken: Sequence[Name]) -> list[Name]:
    """Names for the results of a graph that no argument has."""
    word = "output"
    while any(name.startswith(word) for name in taken):
        word = f"{word}_"
    count = len(graph.outputs)
    return [word] if count == 1 else [f"{word}_{place}" for place in range(count)]


def _model(graphs: Sequence[Graph], traces: Sequence[Written], leaves: Sequence[tb.Tensor], opset: int) -> ModelProto:
    first, count = graphs[0], len(leaves)
    names = traces[0].names
    sources: dict[str, Source] = {}
    for name, parameter in list(zip(names, first.parameters, strict=True))[count:]:
        for axis, axis_name in enumerate(parameter.template.names):
            if axis_name in traces[0].sizes:
                sources.setdefault(str(axis_name), Source(name, axis))
    missing = [name for name in traces[0].sizes if name not in sources]
    if missing:
        raise ArgumentError(expected("open axes that inputs have", open=missing))
    nodes, constants = opened(traces, sources)
    initialisers = [_initialiser(name, leaf) for name, leaf in zip(names, leaves, strict=False)]
    inputs = [_value(name, [graph.parameters[place].template for graph in graphs], traces)
              for place, name in enumerate(names) if place >= count]  # fmt: skip
    outputs = [
        _value(name, [graph.outputs[place].template for graph in graphs], traces)
        for place, name in enumerate(output_names(first, names))
    ]
    graph = helper.make_graph(nodes, "graph", inputs, outputs, [*initialisers, *constants])
    ir_version = 10 if opset <= 22 else 11 if opset <= 23 else 12
    imports = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=imports, producer_name="tensorbackend", ir_version=ir_version)


def _initialiser(name: Name, leaf: tb.Tensor) -> TensorProto:
    return numpy_helper.from_array(array_of(leaf), name)


def _value(name: Name, templates: Sequence[tb.Template], traces: Sequence[Written]) -> Any:
    """An input or output; a size that differs among the traces is open, under the name of its axis."""
    shape: list[int | str | None] = []
    for axis, sizes in enumerate(zip(*(template.shape for template in templates), strict=True)):
        own = templates[0].names[axis]
        same = [
            key for key in traces[0].sizes if all(trace.sizes[key] == n for trace, n in zip(traces, sizes, strict=True))
        ]
        shape.append(sizes[0] if len(set(sizes)) == 1 else same[0] if same else own)
    dtype = templates[0].dtype
    pair = [2] if dtype.kind == "complex" else []
    return helper.make_tensor_value_info(name, ELEMENT_TYPES[part_dtype(dtype)], [*shape, *pair])
