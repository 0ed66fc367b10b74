"""The data of values that a traced function computes from constants alone."""

from __future__ import annotations

from ..select import common_backend, get_backend, with_default
from ..tensor import Tensor
from .evaluate import evaluate
from .graph import Graph, reachable
from .node import Value
from .record import ExprBackend, current, depends_on_argument, leaked, reader, tensor_of, without_data
from .scopes import Lifted


@reader.supply
def computed(x: Tensor) -> Tensor:
    """Computes a tensor of a trace that depends on no argument; returns the tensor with its data.

    Raises `TemplateDataError` for a tensor that depends on an argument, or `BackendError` outside all traces.
    """
    scope = current()
    if depends_on_argument(x.data):
        raise leaked(x.data) if scope is None else without_data(x)
    default = get_backend("numpy") if scope is None else scope.default
    lifted = {node: tensor_of(node) for node in reachable([x.data]) if isinstance(node, Lifted)}
    graph = Graph([Value(node) for node in lifted], [x.data])
    tensors = [tensor for tensor in lifted.values() if tensor is not None]  # all of them, by `depends_on_argument`
    held = tensors + [node.tensor for node in graph.captured if node.tensor is not None]
    deciding = [
        tensor for tensor in held if tensor.backend.dispatch_priority and not isinstance(tensor.backend, ExprBackend)
    ]
    (result,) = with_default(default, evaluate, graph, tensors, common_backend(deciding) if deciding else default)
    return result
