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


class Draws:
    """Data for tests: numbers in shapes, the same in each run."""

    def __init__(self) -> None:
        self.rng = numpy.random.default_rng(0)

    def floats(self, *shape: int) -> Any:
        """Normally distributed numbers."""
        return self.rng.standard_normal(shape).astype("f")

    def codes(self, *shape: int, dtype: str = "B") -> Any:
        """Integers so small that the 16-bit sums of some processors do not overflow in onnxruntime."""
        return self.rng.integers(0 if dtype == "B" else -60, 60, shape).astype(dtype)

    def scale(self, *shape: int) -> Any:
        """Scales of quantised numbers."""
        return self.rng.uniform(0.01, 0.05, shape).astype("f")


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
    operator: str, *inputs: Any, results: str = "f", unused: int = 0, **attributes: Any
) -> tuple[ModelProto, list[Any]]:
    """A model of one node of com.microsoft, and its inputs.

    Inputs that are not given are `None`. The first results, whose dtypes are letters, are outputs, and others unused.
    """
    given = {f"x{place}": x for place, x in enumerate(inputs) if x is not None}
    names = [f"x{place}" if x is not None else "" for place, x in enumerate(inputs)]
    outputs = [value(f"y{place}", NAMES[letter], None) for place, letter in enumerate(results)]
    made = [*(output.name for output in outputs), *(f"unused{place}" for place in range(unused))]
    node = helper.make_node(operator, names, made, "node", domain="com.microsoft", **attributes)
    declared = [value(name, NAMES[x.dtype.char], x.shape) for name, x in given.items()]
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
