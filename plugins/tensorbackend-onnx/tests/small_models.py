"""Small models for tests, written with ONNX's own helper."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy
import onnx
import onnxruntime
import tensorbackend as tb
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from tensorbackend_onnx import load

OPSET = 22
"""One that all versions of onnxruntime know that the plugin allows."""


def value(name: str, dtype: str, shape: Sequence[int | str | None] | None) -> ValueInfoProto:
    """An input or output such as `value("x", "float", ("batch", 3))`."""
    return helper.make_tensor_value_info(name, getattr(TensorProto, dtype.upper()), shape)


def model(
    nodes: Sequence[NodeProto],
    inputs: Sequence[ValueInfoProto],
    outputs: Sequence[ValueInfoProto],
    initialisers: Mapping[str, Any] | None = None,
    *,
    opset: int = OPSET,
    domains: Sequence[tuple[str, int]] = (),
    functions: Sequence[Any] = (),
) -> ModelProto:
    """A model of nodes in order."""
    tensors = [numpy_helper.from_array(numpy.asarray(x), name) for name, x in (initialisers or {}).items()]
    graph: GraphProto = helper.make_graph(list(nodes), "graph", list(inputs), list(outputs), tensors)
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(*domain) for domain in domains)]
    return helper.make_model(graph, opset_imports=imports, functions=list(functions), ir_version=10)


def by_onnxruntime(proto: ModelProto, *inputs: Any) -> list[Any]:
    """What onnxruntime computes for a model: the other implementation by which ours is judged."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1  # some quantised operators quantise the examples of each thread by themselves
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    named = {declared.name: x for declared, x in zip(session.get_inputs(), inputs, strict=True)}
    results: list[Any] = session.run(None, named)
    return results


NAMES = {"f": "float", "i": "int32", "l": "int64", "b": "int8", "B": "uint8", "?": "bool"}
"""ONNX's names of NumPy's dtypes."""


def single(
    operator: str, inputs: Mapping[str, Any], results: Sequence[str], dtypes: Sequence[str], **attributes: Any
) -> tuple[ModelProto, list[Any]]:
    """A model of one node of com.microsoft, and its inputs.

    Inputs that are not given are `None`; the first results, for which there are dtypes, are outputs.
    """
    names = ["" if x is None else name for name, x in inputs.items()]
    given = {name: x for name, x in inputs.items() if x is not None}
    node = helper.make_node(operator, names, results, "node", domain="com.microsoft", **attributes)
    declared = [value(name, NAMES[x.dtype.char], x.shape) for name, x in given.items()]
    outputs = [value(name, dtype, None) for name, dtype in zip(results, dtypes, strict=False)]
    return model([node], declared, outputs, domains=[("com.microsoft", 1)]), list(given.values())


def paired(x: Any) -> Any:
    """Data as models have it: complex numbers are pairs along a last axis."""
    array = numpy.asarray(x)
    return numpy.stack([array.real, array.imag], axis=-1) if array.dtype.kind == "c" else array


def leaves(value: Any) -> list[Any]:
    found: list[Any] = []
    tb.tree_map(lambda x: found.append(x), value)
    return found


def check_model(
    proto: Any, function: Callable[..., Any], arrays: Sequence[Any], names: Sequence[Any] = (), parameters: Any = None
) -> None:
    """Compare a model by two runtimes with the function that it was made from."""
    onnx.checker.check_model(proto, full_check=True)
    tensors = [tb.asarray(x, names=names[place] if names else None) for place, x in enumerate(arrays)]
    right = leaves(function(*([] if parameters is None else [parameters]), *tensors))
    imported = load(proto)(*map(paired, arrays))
    for results in (
        by_onnxruntime(proto, *map(paired, arrays)),
        imported if isinstance(imported, tuple) else (imported,),
    ):
        assert len(results) == len(right)
        for result, expected in zip(results, right, strict=True):
            wanted = paired(expected)
            assert numpy.asarray(result).dtype == wanted.dtype
            near = 1e-5 * max(1.0, float(numpy.abs(wanted).max(initial=0)))
            numpy.testing.assert_allclose(numpy.asarray(result), wanted, rtol=0, atol=near)
