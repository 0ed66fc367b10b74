"""A composite's default implementation as a program of kernels, for `dispatch.composites.programs`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

from ..dtypes import uncast
from ..errors import TemplateDataError
from ..protocol import Backend, Kernel, own_method
from ..protocol.callbacks import CompositeCall
from ..scopes import in_own_context
from ..select import default_backend
from ..template import Template
from ..tensor import Tensor
from .effects import order_effects
from .evaluate import Program, standalone_kernel
from .expr_backend import expr_tensor, record_block, value_of
from .graph import Graph
from .node import CAPTURED, PARAMETER, RENAMED, Node, Value, flat, map_each
from .simplify import expanded, remove_names, simplified


def program_of(backend: Backend, default: Callable[..., Any], call: CompositeCall) -> Kernel | None:
    """The kernel of a default implementation on a backend, for a call with templates in place of tensors.

    Returns `None` for a default that reads data. Composites in the default for which the backend has no method are
    replaced by their parts. The program keeps the current values of whatever the default reads besides its arguments.
    """
    try:
        graph = expanded(_trace(backend, default, call), lambda node: own_method(backend, node.op) is not None)
    except TemplateDataError:
        return None
    graph = remove_names(simplified(graph, backend))
    return _kernel_of_one(graph, backend, call) or _composite_kernel(
        Program(graph, backend, entered_once=True).kernel, call
    )


def _kernel_of_one(graph: Graph, backend: Backend, call: CompositeCall) -> Kernel | None:
    """The kernel of a graph that is one op of all its parameters, in their order; `None` for any other graph."""
    if len(graph.nodes) != len(graph.parameters) + 1:
        return None
    node = graph.nodes[-1]
    if node.op in (CAPTURED, RENAMED) or node.operands != graph.parameters or graph.outputs != node.values:
        return None
    if node.templates != tuple(call.inputs) or node.out != call.out:
        return None  # a sequence in place of operands, names of axes, or a named tuple
    return standalone_kernel(node, backend)


def record_program(
    backend: Backend, default: Callable[..., Any], call: CompositeCall, whole: Callable[[Node], bool]
) -> Kernel | None:
    """The kernel of a default implementation on a backend that records the same ops as the default would.

    `whole` says which composites remain one op. Returns `None` for a default that reads data.
    """
    try:
        graph = expanded(_trace(backend.beneath, default, call), whole)  # type: ignore[arg-type] # every Core is a Backend
    except TemplateDataError:
        return None
    kernel = Program(remove_names(graph), backend).kernel
    return _composite_kernel(kernel, call)


def _composite_kernel(kernel: Kernel, call: CompositeCall) -> Kernel:
    """A program's kernel in the form of a composite's: it takes sequences of payloads, and may return one payload."""
    several, single = not isinstance(call.out, Template), [isinstance(operand, Template) for operand in call.inputs]
    if all(single):
        return kernel if several else lambda *payloads: kernel(*payloads)[0]

    def flattened(*payloads: Any) -> Any:
        parts = ((payload,) if one else payload or () for payload, one in zip(payloads, single, strict=True))
        results = kernel(*chain.from_iterable(parts))
        return results if several else results[0]

    return flattened


@in_own_context
def _trace(backend: Backend, default: Callable[..., Any], call: CompositeCall) -> Graph:
    """The graph of a default implementation. Its parameters are the tensors of the call, with sequences flattened."""
    with default_backend(backend), uncast(), record_block() as scope:
        parameters = [Value(Node(PARAMETER, template)) for template in flat(call.inputs, Template)]
        given = map(expr_tensor, parameters)
        result = default(call.out, map_each(lambda template: next(given), call.inputs, Template), call.options)
        results = (result,) if isinstance(result, Tensor) else tuple(result)
        return Graph(parameters, order_effects(scope, [value_of(x) for x in results]))
