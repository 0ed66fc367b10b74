"""Calls of the user's functions from inside a graph, for their side effects or for their results.

A function's result is a value like any other. Side effects need more, as a graph holds only the nodes that its
results need. So each call returns a *token*, which the next call takes, and when a trace ends, one of its results takes
the last token. In this way rewrites, gradients and batches keep the calls, and their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any

from ..dtypes import bool_
from ..errors import BackendError, OperandError, expected
from ..ops.creation.filled import zeros
from ..protocol import Backend
from ..select import backend_copy, get_backend, move
from ..template import Template, intern_template
from ..tensor import Tensor
from .expr_backend import ExprBackend
from .node import HOOK, Node, Value
from .scopes import Scope


@cache
def _token() -> Template:
    return intern_template((), bool_, ())


def backend_of(inputs: Iterable[Iterable[Tensor]]) -> Backend:
    """The backend of the first tensor of a call; without any, the default backend."""
    first = next(chain.from_iterable(inputs), None)
    return get_backend() if first is None else first.backend


def run_hook(out: Any, inputs: tuple[Sequence[Tensor], Sequence[Tensor]], options: Mapping[str, Any]) -> Any:
    """Calls the function on copies of the operands, and returns the carried tensors unchanged.

    Calls nothing if there is no function, or if the tensors have no data. The function may keep its tensors, and a
    program may overwrite values that no later node needs; hence the copies.
    """
    carried, operands = inputs
    function: Callable[..., object] | None = options["function"]
    backend = carried[0].backend
    if function is not None and not backend.template_only and not isinstance(backend, ExprBackend):
        function(*[backend_copy(x, backend) for x in operands])
    return tuple(carried)


def run_host(out: Any, inputs: tuple[Sequence[Tensor]], options: Mapping[str, Any]) -> tuple[Tensor, ...]:
    """Calls a function of tensors on NumPy, and moves its results to the backend of its operands."""
    (operands,), backend, host = inputs, backend_of(inputs), get_backend("numpy")
    if isinstance(backend, ExprBackend):  # traced, as by a cost estimate: templates are enough
        return tuple(zeros(template.shape, dtype=template.dtype, names=template.names) for template in out)
    return tuple(move(x, backend) for x in options["function"]([move(x, host) for x in operands]))


def run_on_a_mesh(out: Any, inputs: tuple[Sequence[Tensor]], options: Mapping[str, Any]) -> tuple[Tensor, ...]:
    """Raises `BackendError`, as the backend has no mesh."""
    backend = backend_of(inputs)
    if isinstance(backend, ExprBackend):  # traced, as by a cost estimate: templates are enough
        return tuple(zeros(template.shape, dtype=template.dtype, names=template.names) for template in out)
    remedy = "move the arguments first: x.backend_transfer(tb.JaxBackend(mesh=mesh, layout=rules))"
    raise BackendError(expected("tensors on a mesh", remedy, backend=backend))


def record_call(scope: Scope, function: Callable[..., object], operands: Sequence[Value]) -> None:
    """Records a call of a function in a trace, after the calls already in the trace."""
    before = scope.token or Value(Node("constant", _token(), options={"value": False}))
    options = {"function": function}
    scope.token = Value(Node(HOOK, (_token(),), ((before,), tuple(operands)), options, default=run_hook))


def order_effects(scope: Scope, outputs: Sequence[Value]) -> list[Value]:
    """The results of a trace, one of which then depends on the calls that were recorded in it.

    That is the first floating or complex result, as a gradient flows through it, else the first result. Raises
    `OperandError` for a function with recorded calls but without a result.
    """
    if scope.token is None:
        return list(outputs)
    if not outputs:
        expectation = "a traced function that calls debug_print() or debug_callback() to return a tensor"
        raise OperandError(expected(expectation, "return what it prints", returned=None))
    inexact = [place for place, value in enumerate(outputs) if value.template.dtype.is_inexact]
    chosen = inexact[0] if inexact else 0
    value, results = outputs[chosen], list(outputs)
    inputs = (value,), (scope.token,)
    results[chosen] = Value(Node(HOOK, (value.template,), inputs, {"function": None}, default=run_hook))
    scope.token = None
    return results
