"""The backend of tensors on a tape: it computes on the backend below, and records what a tape follows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, cast

from ...declarations.op_specs import CALLBACKS
from ...dispatch import implementation, perform
from ...dispatch.kernels import composite_kernel, plain_kernel, primitive_kernel
from ...dispatch.narrow import composite_method
from ...dtypes.defaults import product_precision
from ...errors import BackendError, expected
from ...ops.composite.elementwise.functions import stop_gradient
from ...protocol import Backend, Kernel, Payload
from ...protocol.callbacks import CompositeCall, Default
from ...protocol.planned import templates_of
from ...rules.plan import Out
from ...select import get_backend, move
from ...template import Template
from ...tensor import Tensor, bind, blank_tensor, rename_like
from ..composite_programs import record_program
from ..kept_nodes import plan_of
from ..node import CAPTURED, RENAMED, Value, flat, here, map_each, serials, spec_of_default
from .engine import has_cotangents, inexact
from .registry import gradient_of
from .tape_nodes import TapeNode, UnrecordedUse, active_tape, make_node, open_tape


@cache
def tape_backend_on(on: Backend) -> TapeBackend:
    return TapeBackend(on=on)


class TapeBackend(Backend):
    """Tensors whose data is on another backend, with the nodes that computed them."""

    name = "tape"
    dispatch_priority = 2
    writable_payloads = False

    on: Backend
    """The backend that computes."""

    @classmethod
    def init(cls, **options: object) -> Mapping[str, Hashable]:
        """The backend that computes, as `on`."""
        return {"on": get_backend(options["on"])}  # type: ignore[arg-type] # what `get_backend` takes

    def setup(self) -> None:
        """Copies the dtypes and the device of the computing backend."""
        on = self.options["on"]
        assert isinstance(on, Backend)  # by `init`
        self.on, self.dtypes, self.device = on, on.dtypes, on.device

    def optional(self, name: str, args: CompositeCall, default_impl: Default) -> Tensor | tuple[Tensor, ...]:
        """Runs a composite as one node, or as its parts if it is recorded and has no gradient rule of its own."""
        if any(map(_follows, flat(args.inputs, Tensor))) and gradient_of(name) is None:
            return default_impl(*args)
        data = self.recorded(name, args.out, args.inputs, args.options, default_impl)
        if isinstance(args.out, Template):
            return Tensor(args.out, self, data)
        return tuple(Tensor(out, self, value) for out, value in zip(args.out, data, strict=True))

    def compile_composite(self, call: CompositeCall, default_impl: Default, otherwise: Kernel, /) -> Kernel | None:
        """A kernel that records a composite with a gradient rule of its own as one node."""
        spec = spec_of_default(default_impl)
        if spec is None:
            return None
        if gradient_of(spec.callback) is None:
            return _kernel_by_parts(self, call, default_impl, otherwise)
        below = composite_kernel(self.on, spec.callback, call.out, call.inputs, call.options, default_impl)
        return _recording_kernel(self, spec.callback, call, below, otherwise, default_impl)

    def recorded(
        self,
        name: str,
        out: Out,
        inputs: tuple[Any, ...],
        options: Mapping[str, object] = MappingProxyType({}),
        default: Default | None = None,
    ) -> Payload:
        """Runs an op, and records it if an operand is followed by the open tape."""
        held = map_each(underlying_tensor, inputs, Tensor)
        templates = templates_of(held)
        method = (
            composite_method(self.on, name, out, templates, options)
            if default
            else implementation(self.on, name, out, templates)
        )
        returned = perform(self.on, name, CompositeCall(out, held, options), method, default)
        results = (returned,) if isinstance(returned, Tensor) else tuple(returned)
        return self.record_results(name, out, inputs, options, default, results)

    def record_results(
        self,
        name: str,
        out: Out,
        inputs: tuple[Any, ...],
        options: Mapping[str, object],
        default: Default | None,
        results: tuple[Tensor, ...],
    ) -> Payload:
        """Records an op with its results if an operand is followed by the open tape."""
        if not any(map(_follows, flat(inputs, Tensor))):
            left = _left(inputs)
            constants = tuple(_constant(x, left) for x in results)
            return constants[0] if isinstance(out, Template) else constants
        values = map_each(_value, inputs, Tensor)
        node = make_node(active_tape(), results, name, out, values, options, default, line=here())
        return Value(node) if isinstance(out, Template) else node.values

    @property
    def beneath(self) -> Backend:
        """The backend that computes."""
        return self.on

    # Data

    def from_backend(self, x: Tensor, /, *, copy: bool) -> Payload:
        """Makes a constant on the backend that computes."""
        held = underlying_tensor(x)
        if copy:
            held = Tensor(x.template, self.on, self.on.from_backend(held, copy=True))
        return _constant(move(held, self.on))

    def from_binary(self, out: Template, /, *, data: bytes) -> Payload:
        """Makes a constant on the backend that computes."""
        return _constant(Tensor(out, self.on, self.on.from_binary(out, data=data)))

    def to_binary(self, x: Tensor, limit: int, /) -> bytes:
        """Calls the backend that computes."""
        return self.on.to_binary(underlying_tensor(x), limit)

    def to_numpy(self, x: Tensor, dtype: Any, copy: bool | None, /) -> Any:
        """Calls the backend that computes; an error while the tape records, as in PyTorch."""
        return self.on.to_numpy(_handed_out(x), dtype, copy)

    def to_dlpack(self, x: Tensor, /, **options: Any) -> Any:
        """Likewise."""
        return self.on.to_dlpack(_handed_out(x), **options)

    def dlpack_device(self) -> tuple[int, int]:
        """Calls the backend that computes."""
        return self.on.dlpack_device()

    def to_batched(self, x: Tensor, size: int, /) -> Iterator[Payload]:
        """Yields the batches as constants."""
        batches = self.on.to_batched(underlying_tensor(x), size)
        for start, data in zip(range(0, x.shape[0], size), batches, strict=True):
            template = x.template.replace(shape=(min(size, x.shape[0] - start), *x.shape[1:]))
            yield _constant(Tensor(template, self.on, data))

    def is_concrete(self, x: Tensor, /) -> bool:
        """Calls the backend that computes."""
        return self.on.is_concrete(underlying_tensor(x))

    def block_until_ready(self, x: Tensor, /) -> None:
        """Waits for the backend that computes."""
        self.on.block_until_ready(underlying_tensor(x))

    def inspect(self, x: Tensor, /, *, limit: int = 100) -> str:
        """Shows a tensor as the backend that computes shows it."""
        return self.on.inspect(Tensor(x.template, self.on, underlying_tensor(x).data), limit=limit)


def _recorder(name: str) -> Callable[..., Payload]:
    def record(self: TapeBackend, out: Out, /, *inputs: Any, **options: object) -> Payload:
        return self.recorded(name, out, inputs, options)

    def kernel(self: TapeBackend, out: Out, inputs: Sequence[Any], options: Mapping[str, Any]) -> Kernel:
        below = primitive_kernel(self.on, name, out, inputs, options)
        general = plain_kernel(
            self, lambda *arguments: self.recorded(name, arguments[0], arguments[1:], options), out, inputs, {}
        )
        return _recording_kernel(self, name, CompositeCall(out, tuple(inputs), options), below, general)

    record.__name__, record.__doc__ = name, f"A node {name}, run at once."
    record.__kernel__ = kernel  # type: ignore[attr-defined] # read by `dispatch.kernels`
    return record


def _kernel_by_parts(
    backend: TapeBackend, call: CompositeCall, default: Callable[..., Any], otherwise: Kernel
) -> Kernel:
    """The kernel of a composite without a gradient rule, which records its parts, later by a program."""
    met, program = False, None

    def record(*payloads: Any) -> Payload:
        nonlocal met, program
        tape = active_tape()
        if tape is None or not any(cast(TapeNode, value.node).tape is tape for value in flat(payloads, Value)):
            return otherwise(*payloads)
        if not met:
            met = True
            return otherwise(*payloads)
        if program is None:
            program = record_program(backend, default, call, lambda node: gradient_of(node.op) is not None) or otherwise
        return program(*payloads)

    return record


def _recording_kernel(
    backend: TapeBackend, name: str, call: CompositeCall, below: Kernel, general: Kernel, default: Default | None = None
) -> Kernel:
    """The kernel of an op of tensors, for templates in place of tensors: it runs `below`, and records that.

    `general` does the same where an operand is a sequence or was recorded by another tape, and where nothing is
    recorded.
    """
    out, options, on = call.out, call.options, backend.on
    if not isinstance(out, Template) or not all(isinstance(x, Template) for x in call.inputs) or on.lays_by_name:
        return general
    plan, get, new = plan_of(name, out, options, default, call.inputs), open_tape.get, tuple.__new__
    blank, products = object.__new__, product_precision()

    def record(*payloads: Any) -> Payload:
        held = get()
        tape = None if held is None else held()
        followed, datas = False, []
        for operand, index in payloads:
            datas.append(operand.results[index].data)
            if operand.tape is tape:
                followed = True
            elif operand.tape is not None:
                return general(*payloads)
        if tape is None or not followed:
            return general(*payloads)
        # As `make_node` and `tensor_of` do, without their calls.
        result = blank_tensor()
        result.template, result.backend, result.data = out, on, below(*datas)
        node = blank(TapeNode)
        node.op, node.out, node.inputs, node.operands, node.options = name, out, payloads, payloads, options
        node.default, node.tensor, node.line, node.serial = default, None, here(), next(serials)
        node.tape, node.results, node.left, node.plan = tape, (result,), None, plan
        node.products = products
        value: tuple[Any, Any] = node, 0
        return new(Value, value)

    return record


for _callback in CALLBACKS.values():
    if not _callback.optional:
        setattr(TapeBackend, _callback.name, _recorder(_callback.name))


def underlying_tensor(x: Tensor) -> Tensor:
    """The tensor with data of a tensor on a tape; any other tensor itself."""
    if not isinstance(x.backend, TapeBackend):
        return x
    value: Value = x.data
    held = cast(TapeNode, value.node).results[value.index]
    return held if held.template is x.template else rename_like(held, x.template)


def _handed_out(x: Tensor) -> Tensor:
    """The tensor with data, for another library. Raises `BackendError` while the tape that follows x records.

    What that library computes would be a constant for the tape, and a gradient would be wrong without a word.
    """
    if _follows(x):
        remedy = "take its gradient as a constant by x.detach(), or compute it by ops"
        raise BackendError(expected("no other library to read what a tape follows", remedy, x=x.template))
    return underlying_tensor(x)


@bind
def off_tape(x: Tensor) -> Tensor:
    """The result of `x.detach()` once this module is imported: off the tape for a tensor on one."""
    held = underlying_tensor(x)
    return stop_gradient(x) if held is x else rename_like(held, x.template)


def recorder_of(x: Tensor) -> Backend:
    """The backend for ops on the data of a tensor: a TapeBackend while a tape records, else the data's own backend."""
    held = underlying_tensor(x)
    return held.backend if active_tape() is None else TapeBackend(on=held.backend)


def again(x: Tensor) -> Tensor:
    """The same tensor under a new node of the tape that records now, if that has recorded it."""
    if not _follows(x):
        return x
    value = cast(TapeBackend, x.backend).record_results(RENAMED, x.template, (x,), {}, None, (underlying_tensor(x),))
    return Tensor(x.template, x.backend, value)


def earlier_values(results: Sequence[Tensor], known: Sequence[Tensor], start: int) -> list[Tensor]:
    """The tensors recorded before a serial number from which results were computed, other than from `known`.

    Only paths along which a gradient flows count.
    """
    found: dict[Value, Tensor] = {}
    seen = {x.data for x in known if _follows(x)}
    waiting: list[Value] = [x.data for x in results if _follows(x)]
    while waiting:
        value = waiting.pop()
        node = cast(TapeNode, value.node)
        if value in seen or node.tape is None or not inexact(value):
            continue
        seen.add(value)
        if node.serial < start:
            found[value] = Tensor(value.template, TapeBackend(on=node.results[value.index].backend), value)
        elif has_cotangents(node):
            waiting += node.operands
    return list(found.values())


def separate(x: Tensor) -> Tensor:
    """A separate tensor with the data of another, which a later assignment to that one does not change."""
    return Tensor(x.template, x.backend, x.data)


def _constant(x: Tensor, left: UnrecordedUse | None = None) -> Value:
    x = separate(x)
    return Value(make_node(None, (x,), CAPTURED, x.template, tensor=x, left=left))


def _left(inputs: tuple[Any, ...]) -> UnrecordedUse | None:
    """Where an op uses values of a tape whose block is not active here; `None` if there are no such values."""
    latest: UnrecordedUse | None = None
    for x in flat(inputs, Tensor):
        if isinstance(x.backend, TapeBackend):
            node = cast(TapeNode, x.data.node)
            left = node.left
            if node.tape is not None and not node.tape.is_paused:
                left = UnrecordedUse(node.tape, here())
            if left is not None and (latest is None or left.tape.serial > latest.tape.serial):
                latest = left
    return latest


def _follows(x: Tensor) -> bool:
    """Whether the tape that records now has recorded a tensor."""
    if not isinstance(x.backend, TapeBackend):
        return False
    recorded = cast(TapeNode, x.data.node).tape
    return recorded is not None and recorded is active_tape()


def _value(x: Tensor) -> Value:
    """The value of a tensor; a constant unless the tape that records now follows it."""
    return x.data if _follows(x) else _constant(underlying_tensor(x))
