"""ExprBackend: records each call as a node. Its callbacks are made from the list of callbacks in the protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import cache
from typing import Any, cast

from ..caching.option_keys import kind_of
from ..declarations.op_specs import CALLBACKS
from ..dtypes import STORED_DTYPES
from ..errors import BackendError, TemplateDataError, expected
from ..protocol import Backend, Kernel, Payload
from ..protocol.callbacks import CompositeCall, Default
from ..protocol.planned import payloads_of
from ..registration import SuppliedFunction
from ..rules.plan import Out
from ..scopes import Block
from ..select import call_with_default, common_backend, get_backend
from ..select.default import scoped_default
from ..sizes import is_symbolic
from ..template import Template
from ..tensor import Tensor
from .kept_nodes import Recall, recalling_kernel, value_under
from .node import CAPTURED, PARAMETER, Node, Value, map_each, spec_of_default
from .scopes import CapturedNode, Mark, Scope, TraceBlock, scope_variable
from .scopes import current as current
from .scopes import outside_traces as outside_traces

reader: SuppliedFunction[Callable[[Tensor], Tensor]] = SuppliedFunction(lambda x: x)
"""Computes the data of a constant; it runs graphs."""


class ExprBackend(Backend):
    """Tensors that are nodes of a graph; `trace` runs a function on them."""

    name = "expr"
    dispatch_priority = 3
    writable_payloads = False
    holds_data = False
    dtypes = STORED_DTYPES

    def optional(self, name: str, args: CompositeCall, default_impl: Default) -> Tensor | tuple[Tensor, ...]:
        """Records a composite as one node, which keeps the default implementation for code that needs its parts."""
        node = Node(name, args.out, map_each(value_of, args.inputs, Tensor), args.options, default=default_impl)
        if scope_variable.get() is None:
            check_leaks(node)
        return wrap_results(node)

    def compile_composite(self, call: CompositeCall, default_impl: Default, otherwise: Kernel, /) -> Kernel | None:
        """A kernel that recalls the node of a composite, in a trace that recalls nodes."""
        spec = spec_of_default(default_impl)
        if spec is None:  # not an op's
            return None
        return recalling_kernel(spec.callback, call.out, call.inputs, call.options, otherwise, default_impl)

    def from_backend(self, x: Tensor, /, *, copy: bool) -> Payload:
        """A node that holds a tensor with data; a trace makes only one node for each tensor."""
        scope = scope_variable.get()
        if scope is None:
            return capture(x)
        if scope.__class__ is Recall:
            value = scope.lift(x)
            if value is not None:
                return value
        key = (id(x.data), x.template, x.backend)
        value = scope.captured.get(key)
        if value is None:
            value = scope.captured[key] = capture(x)  # keeps the payload alive, and so its id unique
        return value

    def from_binary(self, out: Template, /, *, data: bytes) -> Payload:
        """A node that holds the elements, on the trace's backend for such data."""
        backend = get_backend(_holder())
        payload = call_with_default(backend, lambda: backend.from_binary(out, data=data))
        return capture(Tensor(out, backend, payload))

    def to_binary(self, x: Tensor, limit: int, /) -> bytes:
        """The elements of a value that depends on no argument; `TemplateDataError` for any other."""
        held = reader.call(x)
        if held is x:
            raise no_data_error(x)
        return held.backend.to_binary(held, limit)

    def is_concrete(self, x: Tensor, /) -> bool:
        """Whether a value depends on no argument, so that it is computed when its data is read."""
        return not depends_on_argument(x.data)

    def repeats_from(self) -> int | None:
        """The start of the innermost trace whose graph runs again."""
        scope = scope_variable.get()
        return None if scope is None else scope.repeated

    def to_batched(self, x: Tensor, size: int, /) -> Iterator[Payload]:
        """Raises `TemplateDataError`, as the batches are copies of data."""
        raise no_data_error(x)

    def inspect(self, x: Tensor, /, *, limit: int = 100) -> str:
        """The template and the op of the value."""
        return f"{x.template!r} {self.name} {x.data.node.op}"


def _number(out: Template, options: Mapping[str, Any]) -> Value:
    """One node for each number in a trace, however often the trace uses it."""
    scope = scope_variable.get()
    if scope is None or out.shape or is_symbolic(options["value"]):
        return Value(Node("constant", out, options=options))
    key = out, options["value"], kind_of(options["value"])
    constant = scope.numbers.get(key)
    if constant is None:
        constant = scope.numbers[key] = Value(Node("constant", out, options=options))
    return constant


def _anew(name: str, out: Out, inputs: Sequence[Any], options: Mapping[str, Any]) -> Payload:
    """The values of a new node."""
    if name == "constant":
        return _number(cast(Template, out), options)
    node = Node(name, out, tuple([tuple(x) if type(x) is list else x for x in inputs]), options)
    if scope_variable.get() is None:
        check_leaks(node)
    return Value(node) if isinstance(out, Template) else node.values


def _recorder(name: str) -> Callable[..., Payload]:
    def record(self: ExprBackend, out: Out, /, *inputs: Any, **options: object) -> Payload:
        return _anew(name, out, payloads_of(inputs), options)

    def kernel(self: ExprBackend, out: Out, inputs: Sequence[Any], options: Mapping[str, Any]) -> Kernel:
        return recalling_kernel(name, out, inputs, options, lambda *payloads: _anew(name, out, payloads, options))

    record.__name__, record.__doc__ = name, f"A node {name}."
    record.__kernel__ = kernel  # type: ignore[attr-defined] # read by `dispatch.kernels`
    return record


for _callback in CALLBACKS.values():
    if not _callback.optional:
        setattr(ExprBackend, _callback.name, _recorder(_callback.name))


def value_of(x: Tensor) -> Value:
    """The value of a tensor on ExprBackend, or of a tensor with data, under the tensor's names."""
    if not isinstance(x.backend, ExprBackend):
        return capture(x)
    return value_under(x.template, x.data)


def capture(x: Tensor) -> Value:
    """The value of a new node that holds a tensor with data. Later assignments to `x` do not change it."""
    return Value(Node(CAPTURED, x.template, tensor=Tensor(x.template, x.backend, x.data)))


def expr_tensor(value: Value) -> Tensor:
    """The tensor on ExprBackend with a value as payload."""
    return Tensor(value.template, _backend(), value)


@cache
def _backend() -> ExprBackend:
    return ExprBackend()


def home_of_call(tensors: Sequence[Tensor]) -> Backend:
    """The backend of the tensors of a call; in a trace ExprBackend, as a closed-over tensor may be its value."""
    backend = common_backend(tensors)
    return ExprBackend() if isinstance(get_backend(), ExprBackend) else backend


def wrap_results(node: Node) -> Tensor | tuple[Tensor, ...]:
    """A node's result as tensors on ExprBackend."""
    if isinstance(node.out, Template):
        return expr_tensor(Value(node))
    return tuple(map(expr_tensor, node.values))


# Errors


def no_data_error(x: Tensor) -> TemplateDataError:
    """The error for reading a value that depends on an argument of a trace."""
    remedy = (
        "use ops in place of float() and math, where() or tb.cond() for a choice, (a) & (b) for `a and b`, "
        "size= for a shape that depends on data, and tb.tape() for a gradient of what reads data"
    )
    return TemplateDataError(expected("no data to be read while a function is traced", remedy, tensor=x.template))


def leak_error(value: Value) -> BackendError:
    """The error for a value that is used after its trace, with the line that made it if the trace made its node."""
    recalled = isinstance(value.index, Mark) and value.node.serial < value.index.start
    line = None if recalled else value.node.line
    place = "" if line is None else f", which {line.file}:{line.number} made"
    remedy = f"return it from the traced function{place}"
    return BackendError(expected("a value of a trace that still runs", remedy, value=value.template))


def check_leaks(node: Node) -> None:
    """Raises `BackendError` for a node that is made after the end of the trace of one of its inputs."""
    for value in node.operands:
        if depends_on_argument(value):
            raise leak_error(value)


def tensor_of(node: CapturedNode) -> Tensor | None:
    """The tensor that a node represents in the traces that run; `None` in any other trace."""
    scope = scope_variable.get()
    return None if scope is None else scope.tensor_of(node)


def depends_on_argument(value: Value) -> bool:
    """Whether a value was computed from an argument of its trace, or of a trace around it."""
    seen: set[Node] = set()
    waiting = [value.node]
    while waiting:
        node = waiting.pop()
        if node.op == PARAMETER and (type(node) is not CapturedNode or tensor_of(node) is None):
            return True
        if node not in seen:
            seen.add(node)
            waiting += [source for source, _ in node.operands]
            if node.tensor is not None and isinstance(node.tensor.backend, ExprBackend):
                waiting.append(node.tensor.data.node)
    return False


# One trace


def _holder() -> Backend | str:
    """The backend for data that a traced function makes from Python numbers."""
    scope = scope_variable.get()
    return "numpy" if scope is None else scope.holder


def record_block(home: Backend | None = None) -> Block[Scope]:
    """A trace: inside the block, new tensors are made on ExprBackend.

    Data that is made inside the block is on `home`. By default that is BinaryBackend, from which data moves to the
    backend of other operands.
    """
    default, outer = get_backend(), scope_variable.get()
    if isinstance(default, ExprBackend):
        default = get_backend("numpy") if outer is None else outer.default
    holder = get_backend("binary") if home is None else home
    if isinstance(holder, ExprBackend):
        holder = default if outer is None else outer.holder
    scope = Scope(holder, default)
    scope.outer = outer
    scope.repeated = scope.start if _repeats.get() else None if outer is None else outer.repeated
    return TraceBlock(scope, [(scope_variable, scope), (_repeats, False), (scoped_default, get_backend(ExprBackend()))])


_repeats: ContextVar[bool] = ContextVar("tensorbackend_repeats", default=False)


def expect_repeats() -> Block[None]:
    """A block in which the next trace is that of a function whose graph runs again without Python."""
    return Block(None, [(_repeats, True)])
