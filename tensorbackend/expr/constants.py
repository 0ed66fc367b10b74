"""The data of values that a traced function computes from constants alone."""

from __future__ import annotations

from ..select import call_with_default, common_backend, get_backend
from ..tensor import Tensor
from .evaluate import evaluate
from .expr_backend import ExprBackend, current, depends_on_argument, leak_error, no_data_error, reader, tensor_of
from .graph import Graph, reachable
from .node import Value
from .scopes import CapturedNode


@reader.supply
def compute_constant(x: Tensor) -> Tensor:
    """Computes a tensor of a trace that depends on no argument; returns the tensor with its data.

    Raises `TemplateDataError` for a tensor that depends on an argument, or `BackendError` outside all traces.
    """
    scope = current()
    if depends_on_argument(x.data):
        raise leak_error(x.data) if scope is None else no_data_error(x)
    default = get_backend("numpy") if scope is None else scope.default
    lifted = {node: tensor_of(node) for node in reachable([x.data]) if isinstance(node, CapturedNode)}
    graph = Graph([Value(node) for node in lifted], [x.data])
    tensors = [tensor for tensor in lifted.values() if tensor is not None]  # all of them, by `depends_on_argument`
    held = tensors + [node.tensor for node in graph.captured if node.tensor is not None]
    deciding = [
        tensor for tensor in held if tensor.backend.dispatch_priority and not isinstance(tensor.backend, ExprBackend)
    ]
    (result,) = call_with_default(default, evaluate, graph, tensors, common_backend(deciding) if deciding else default)
    return result
