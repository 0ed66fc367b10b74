"""The eager form of a gradient: a tape records computations on watched tensors, and `gradient` goes back through it.

A tensor on a tape has data, which a function may read: branches and loops of Python work as they do without a gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import cache
from types import MappingProxyType
from typing import Any, TypeVar, cast
from weakref import ref

from ...blocks import block
from ...dispatch import implementation, perform
from ...dispatch.kernels import composite_kernel, of_plain, primitive_kernel, templates_of
from ...dispatch.watching import is_watching
from ...entry import entry
from ...errors import ArgumentError, BackendError, DTypeError, ShapeError, expected
from ...ops.composite.elementwise.gradients import stop_gradient
from ...ops.creation.filled import full
from ...opspec import CALLBACKS
from ...protocol import Backend, Kernel, Payload, own_method
from ...protocol.core import CompositeCall
from ...rules.plan import Out
from ...select import get_backend, move
from ...template import Template
from ...tensor import Tensor, bind, blank_tensor, relabelled
from ..composite_programs import recorded_program
from ..evaluate import evaluate
from ..graph import Graph
from ..node import CAPTURED, PARAMETER, RENAMED, Default, Node, Value, here, next_serial, serials
from ..recall import plan_of
from ..record import ExprBackend, captured, expr_tensor
from ..trees import Tree, flatten, paths, unflatten
from . import rules as rules
from .engine import has_cotangents, inexact, pulled_back
from .recipes import tensor_of
from .recorded import Left, Recorded, recalled_gradient, recorded
from .registry import gradient_of

Nested = TypeVar("Nested")


class Tape:
    """Records ops on the tensors that it watches, as long as its block runs.

    The record lives as long as a tensor that was computed in it, so any number of gradients can be computed from it.
    """

    __slots__ = ("__weakref__", "_began", "_pauses", "serial")

    def __init__(self) -> None:
        self._began = False
        self._pauses = 0
        self.serial = next_serial()
        """A number that is higher than the numbers of earlier tapes."""

    def __enter__(self) -> Tape:
        if _recording() is not None:
            remedy = "for a second derivative, compute the first gradient() inside the block"
            raise BackendError(expected("no tape inside the block of another tape", remedy))
        if self._began:
            raise BackendError(expected("one block for each tape", "make another with tb.tape()"))
        self._began = True
        _open.set(ref(self))
        return self

    def __exit__(self, *error: object) -> None:
        if _recording() is self:
            _open.set(None)

    @property
    def is_paused(self) -> bool:
        """Whether a block of `paused` runs, in which the tape records nothing."""
        return self._pauses > 0

    def follows(self, x: Tensor) -> bool:
        """Whether the tape recorded a tensor: it watches it, or computed it from what it watches.

        Examples
        --------
        >>> import tensorbackend as tb
        >>> with tb.tape() as tape:
        ...     x = tape.watch(tb.asarray(3.0))
        ...     [tape.follows(tensor) for tensor in (x, x * x, x.detach(), tb.asarray(1.0))]
        [True, True, False, False]
        """
        return isinstance(x.backend, TapeBackend) and cast(Recorded, x.data.node).tape is self

    @block
    def paused(self) -> Iterator[None]:
        """Pause the tape in a `with` block inside its own: values that are computed there are constants to the tape.

        Raises `BackendError` outside the block of the tape.

        Examples
        --------
        >>> import tensorbackend as tb
        >>> with tb.tape() as tape:
        ...     x = tape.watch(tb.asarray(3.0))
        ...     with tape.paused():
        ...         weight = x * x
        ...     y = weight * x
        >>> tb.gradient(y, x).item()
        9.0
        """
        if _recording() is not self:
            raise BackendError(expected("a tape to be paused inside its block", "write: with tb.tape() as tape: ..."))
        before, pauses = _open.get(), self._pauses
        try:
            _open.set(None)
            self._pauses = pauses + 1
            yield
        finally:
            self._pauses = pauses
            _open.set(before)

    def watch(self, x: Nested) -> Nested:
        """Return nested tensors as tensors that the tape follows, so that `gradient` can differentiate by them.

        Raises `DTypeError` for a tensor that is neither floating nor complex, `BackendError` in a traced function.
        """
        leaves, tree = flatten(x)
        watched: Nested = unflatten(tree, [self._watched(x, place, tree) for place, x in enumerate(leaves)])
        return watched

    def _watched(self, x: Any, place: int, tree: Tree) -> Tensor:
        if not isinstance(x, Tensor) or not x.dtype.is_inexact or isinstance(x.backend, ExprBackend):
            path = paths(tree, "x")[place]
        if not isinstance(x, Tensor) or not x.dtype.is_inexact:
            shown = x.template if isinstance(x, Tensor) else x
            raise DTypeError(expected(f"{path} to be a floating or complex tensor to be watched", given=shown))
        if isinstance(x.backend, ExprBackend):
            raise BackendError(expected(f"{path} to have data to be watched", "use grad() in a traced function"))
        held = with_data(x)
        node = recorded(self, (held,), PARAMETER, x.template)
        return tensor_of(x.template, _on_tape(held.backend), Value(node))


_open: ContextVar[ref[Tape] | None] = ContextVar("tensorbackend_tape", default=None)
# A weak reference: if an interrupt hits just as the block of a tape begins, `__exit__` never runs. The tape then ends
# as soon as nothing refers to it.


def _recording() -> Tape | None:
    """The tape whose block runs in this thread and is not paused, `None` if there is none."""
    held = _open.get()
    return None if held is None else held()


def current_tape() -> Tape | None:
    """The tape whose block runs in this thread, or `None` if there is none or it is paused.

    Returns
    -------
    Tape or None
        The tape, or `None`.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> with tb.tape() as tape:
    ...     tb.current_tape() is tape
    True
    """
    return _recording()


def tape() -> Tape:
    """Record a `with` block, so that results can be differentiated with respect to watched tensors.

    A gradient that is computed inside the block is recorded too, so that it has a gradient itself. A gradient that is
    computed after the block has the backend of the watched tensors. Values that an earlier tape recorded are constants
    to a later tape.

    Returns
    -------
    Tape
        The tape, to be entered by `with`.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> with tb.tape() as tape:
    ...     x = tape.watch(tb.tensor([1.0, -2.0], names=("n",)))
    ...     y = tb.sum(x * x) if x[0] > 0 else tb.sum(x)
    >>> tb.gradient(y, x)
    f32[n: 2] numpy
    [2.0, -4.0]
    """
    return Tape()


@entry
def gradient(y: Tensor, x: Nested) -> Nested:
    """The gradient of a scalar on a tape with respect to tensors on the same tape, nested in any way.

    It is zero for tensors that y does not depend on. Raises `ArgumentError` for tensors that no tape recorded, or
    different tapes, and for a y that was computed after the block of the tape; `ShapeError` or `DTypeError` for a y
    that is not a real scalar; and `GradientError` where an op without a gradient lies between x and y.

    Parameters
    ----------
    y : Tensor
        A floating tensor without axes that a tape recorded.
    x
        Tensors that the tape watches or recorded, nested in any way.

    Returns
    -------
    Any
        The gradient with respect to each tensor of x, with its shape, dtype and names, nested as x.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> with tb.tape() as tape:
    ...     x, y = tape.watch((tb.asarray(3.0), tb.asarray(2.0)))
    ...     z = x * x * y
    >>> [gradient.item() for gradient in tb.gradient(z, [x, y])]
    [12.0, 9.0]
    """
    leaves, tree = flatten(x)
    for place, tensor in enumerate([y, *leaves]):
        if not isinstance(tensor, Tensor) or not isinstance(tensor.backend, TapeBackend):
            path = ["y", *paths(tree, "x")][place]
            remedy = "watch the arguments: with tb.tape() as tape: x = tape.watch(x)"
            raise ArgumentError(expected(f"{path} as a tensor that a tape recorded", remedy, given=tensor))
    if y.shape:
        raise ShapeError(expected("a scalar for a gradient", "take its sum()", y=y.template))
    if not y.dtype.is_floating:
        raise DTypeError(expected("a floating y for a gradient", "take its real() or abs()", y=y.template))
    of_y = cast(Recorded, y.data.node)
    if of_y.tape is None or any(leaf.data.node.tape is not of_y.tape for leaf in leaves):
        for tensor, path in zip(leaves, paths(tree, "x"), strict=True):
            _check_recorded(y, tensor, path)
    current = _recording()
    again = None if current is not None or is_watching() else recalled_gradient(y.data, leaves)
    if again is not None:
        return unflatten(tree, again)  # type: ignore[no-any-return] # nested as x
    taken: dict[Value, Tensor] = {}

    def known(value: Value) -> Tensor:
        """A value as a constant of the graph; on the tape while that records, so that the gradient is recorded too."""
        constant = taken.get(value)
        if constant is None:
            node = cast(Recorded, value.node)
            held = node.results[value.index]
            if node.tape is not None and node.tape is current:
                held = Tensor(value.template, TapeBackend(on=held.backend), value)
            constant = taken[value] = expr_tensor(captured(held))
        return constant

    seed = full((), 1, dtype=y.dtype, backend=ExprBackend())
    cotangents = pulled_back([y.data], [seed], [leaf.data for leaf in leaves], known)
    backend = with_data(y).backend
    graph = Graph((), [cotangent.data for cotangent in cotangents])
    gradients = evaluate(graph, (), backend if current is None else TapeBackend(on=backend))
    nested: Nested = unflatten(
        tree, (x.rename(*like.names) if x.ndim else x for x, like in zip(gradients, leaves, strict=True))
    )
    return nested


def _check_recorded(y: Tensor, x: Tensor, path: str) -> None:
    """Raises `ArgumentError` unless the tape that recorded x also recorded y, or y is constant to that tape."""
    node, source = cast(Recorded, y.data.node), cast(Recorded, x.data.node)
    if source.tape is None:
        remedy = "watch it in the block: x = tape.watch(x)"
        raise ArgumentError(expected(f"{path} as a tensor that a tape recorded", remedy, given=x.template))
    left = node.left
    if left is not None and left.tape.serial >= source.tape.serial:
        place = "" if left.line is None else f", {left.line.file}:{left.line.number}"
        remedy = f"move its computation into the block{place}"
        raise ArgumentError(expected("a y that was computed in the block of the tape", remedy, y=y.template))
    if node.tape not in (None, source.tape):
        remedy = "watch it with the tape that recorded y"
        raise ArgumentError(expected(f"{path} and y recorded by one tape", remedy, given=x.template))


@cache
def _on_tape(on: Backend) -> TapeBackend:
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
        """Takes over the dtypes and the device of the computing backend."""
        on = self.options["on"]
        assert isinstance(on, Backend)  # by `init`
        self.on, self.dtypes, self.device = on, on.dtypes, on.device

    def optional(
        self, name: str, args: CompositeCall, default_impl: Callable[..., Tensor | tuple[Tensor, ...]]
    ) -> Tensor | tuple[Tensor, ...]:
        """Runs a composite as one node, or as its parts where it is recorded and has no gradient rule of its own."""
        if any(map(_is_followed, _flat(args.inputs))) and gradient_of(name) is None:
            return default_impl(*args)
        data = self.recorded(name, args.out, args.inputs, args.options, default_impl)
        if isinstance(args.out, Template):
            return Tensor(args.out, self, data)
        return tuple(Tensor(out, self, value) for out, value in zip(args.out, data, strict=True))

    def compile_composite(
        self, call: CompositeCall, default_impl: Callable[..., Tensor | tuple[Tensor, ...]], otherwise: Kernel, /
    ) -> Kernel | None:
        """A kernel that records a composite with a gradient rule of its own as one node."""
        spec = getattr(getattr(default_impl, "__self__", None), "spec", None)
        if spec is None:
            return None
        if gradient_of(spec.callback) is None:
            return _by_parts(self, call, default_impl, otherwise)
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
        held = tuple(_each(with_data, operand) for operand in inputs)
        method = own_method(self.on, name) if default else implementation(self.on, name, out, templates_of(held))
        returned = perform(self.on, name, CompositeCall(out, held, options), method, default)
        results = (returned,) if isinstance(returned, Tensor) else tuple(returned)
        return self.entered(name, out, inputs, options, default, results)

    def entered(
        self,
        name: str,
        out: Out,
        inputs: tuple[Any, ...],
        options: Mapping[str, object],
        default: Default | None,
        results: tuple[Tensor, ...],
    ) -> Payload:
        """Records an op with its results if an operand is followed by the open tape."""
        if not any(map(_is_followed, _flat(inputs))):
            left = _left(inputs)
            constants = tuple(_constant(x, left) for x in results)
            return constants[0] if isinstance(out, Template) else constants
        values = tuple(_each(_value, operand) for operand in inputs)
        node = Recorded(_recording(), results, name, out, values, options, default=default)
        return Value(node) if isinstance(out, Template) else node.values

    @property
    def beneath(self) -> Backend:
        """The backend that computes."""
        return self.on

    # Data

    def from_backend(self, x: Tensor, /, *, copy: bool) -> Payload:
        """Makes a constant on the backend that computes."""
        held = with_data(x)
        if copy:
            held = Tensor(x.template, self.on, self.on.from_backend(held, copy=True))
        return _constant(move(held, self.on))

    def from_binary(self, out: Template, /, *, data: bytes) -> Payload:
        """Makes a constant on the backend that computes."""
        return _constant(Tensor(out, self.on, self.on.from_binary(out, data=data)))

    def to_binary(self, x: Tensor, limit: int, /) -> bytes:
        """Asks the backend that computes."""
        return self.on.to_binary(with_data(x), limit)

    def to_numpy(self, x: Tensor, dtype: Any, copy: bool | None, /) -> Any:
        """Asks the backend that computes."""
        return self.on.to_numpy(with_data(x), dtype, copy)

    def to_dlpack(self, x: Tensor, /, **options: Any) -> Any:
        """Asks the backend that computes."""
        return self.on.to_dlpack(with_data(x), **options)

    def dlpack_device(self) -> tuple[int, int]:
        """Asks the backend that computes."""
        return self.on.dlpack_device()

    def to_batched(self, x: Tensor, size: int, /) -> Iterator[Payload]:
        """Yields the batches as constants."""
        batches = self.on.to_batched(with_data(x), size)
        for start, data in zip(range(0, x.shape[0], size), batches, strict=True):
            template = x.template.replace(shape=(min(size, x.shape[0] - start), *x.shape[1:]))
            yield _constant(Tensor(template, self.on, data))

    def is_concrete(self, x: Tensor, /) -> bool:
        """Asks the backend that computes."""
        return self.on.is_concrete(with_data(x))

    def block_until_ready(self, x: Tensor, /) -> None:
        """Waits for the backend that computes."""
        self.on.block_until_ready(with_data(x))

    def inspect(self, x: Tensor, /, *, limit: int = 100) -> str:
        """Shows a tensor as the backend that computes shows it."""
        return self.on.inspect(Tensor(x.template, self.on, with_data(x).data), limit=limit)


def _recorder(name: str) -> Callable[..., Payload]:
    def record(self: TapeBackend, out: Out, /, *inputs: Any, **options: object) -> Payload:
        return self.recorded(name, out, inputs, options)

    def kernel(self: TapeBackend, out: Out, inputs: Sequence[Any], options: Mapping[str, Any]) -> Kernel:
        below = primitive_kernel(self.on, name, out, inputs, options)
        general = of_plain(
            self, lambda *arguments: self.recorded(name, arguments[0], arguments[1:], options), out, inputs, {}
        )
        return _recording_kernel(self, name, CompositeCall(out, tuple(inputs), options), below, general)

    record.__name__, record.__doc__ = name, f"A node {name}, run at once."
    record.__kernel__ = kernel  # type: ignore[attr-defined] # read by `dispatch.kernels`
    return record


def _by_parts(backend: TapeBackend, call: CompositeCall, default: Callable[..., Any], otherwise: Kernel) -> Kernel:
    """The kernel of a composite without a gradient rule, which records its parts, later by a program."""
    met, program = False, None

    def record(*payloads: Any) -> Payload:
        nonlocal met, program
        tape = _recording()
        if tape is None or not any(cast(Recorded, value.node).tape is tape for value in _values(payloads)):
            return otherwise(*payloads)
        if not met:
            met = True
            return otherwise(*payloads)
        if program is None:
            program = recorded_program(backend, default, call, _has_rule) or otherwise
        return program(*payloads)

    return record


def _has_rule(node: Node) -> bool:
    return gradient_of(node.op) is not None


def _values(payloads: Any) -> Iterator[Value]:
    """The values among the payloads of a call, with sequences flattened."""
    for payload in payloads:
        if isinstance(payload, Value):
            yield payload
        elif payload is not None:
            yield from payload


def _recording_kernel(
    backend: TapeBackend,
    name: str,
    call: CompositeCall,
    below: Kernel,
    general: Kernel,
    default: Default | None = None,
) -> Kernel:
    """The kernel of an op of tensors, for templates in place of tensors: it runs `below`, and records that.

    `general` does the same where an operand is a sequence or was recorded by another tape, and where nothing is
    recorded.
    """
    out, options, on = call.out, call.options, backend.on
    if not isinstance(out, Template) or not all(isinstance(x, Template) for x in call.inputs) or on.lays_by_name:
        return general
    plan, get, new = plan_of(name, out, options, default, call.inputs), _open.get, tuple.__new__
    blank = object.__new__

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
        # As `recorded` and `tensor_of` do, without their calls.
        result = blank_tensor()
        result.template, result.backend, result.data = out, on, below(*datas)
        node = blank(Recorded)
        node.op, node.out, node.inputs, node.operands, node.options = name, out, payloads, payloads, options
        node.default, node.tensor, node.line, node.serial = default, None, here(), next(serials)
        node.tape, node.results, node.left, node.plan = tape, (result,), None, plan
        value: tuple[Any, Any] = node, 0
        return new(Value, value)

    return record


for _callback in CALLBACKS.values():
    if not _callback.optional:
        setattr(TapeBackend, _callback.name, _recorder(_callback.name))


def _each(function: Callable[[Tensor], Any], operand: Tensor | tuple[Tensor, ...] | None) -> Any:
    if operand is None:
        return None
    return tuple(map(function, operand)) if isinstance(operand, tuple) else function(operand)


def _flat(inputs: tuple[Any, ...]) -> list[Tensor]:
    """The tensors among the inputs, in a flat list."""
    return [x for entry in inputs if entry is not None for x in (entry if isinstance(entry, tuple) else (entry,))]


def with_data(x: Tensor) -> Tensor:
    """The tensor with data that a tensor on a tape stands for; any other tensor itself."""
    if not isinstance(x.backend, TapeBackend):
        return x
    value: Value = x.data
    held = cast(Recorded, value.node).results[value.index]
    return held if held.template is x.template else relabelled(held, x.template)


@bind
def off_tape(x: Tensor) -> Tensor:
    """The result of `x.detach()` once this module is imported: off the tape for a tensor on one."""
    held = with_data(x)
    return stop_gradient(x) if held is x else relabelled(held, x.template)


def recorder_of(x: Tensor) -> Backend:
    """The backend for ops on the data of a tensor: a TapeBackend while a tape records, else the data's own backend."""
    held = with_data(x)
    return held.backend if _recording() is None else TapeBackend(on=held.backend)


def again(x: Tensor) -> Tensor:
    """The same tensor under a new node of the tape that records now, if that has recorded it."""
    if not _is_followed(x):
        return x
    value = cast(TapeBackend, x.backend).entered(RENAMED, x.template, (x,), {}, None, (with_data(x),))
    return Tensor(x.template, x.backend, value)


def recorded_before(results: Sequence[Tensor], known: Sequence[Tensor], start: int) -> list[Tensor]:
    """The tensors recorded before a serial number from which results were computed, other than from `known`.

    Only ways along which a gradient flows count.
    """
    found: dict[Value, Tensor] = {}
    seen = {x.data for x in known if _is_followed(x)}
    waiting: list[Value] = [x.data for x in results if _is_followed(x)]
    while waiting:
        value = waiting.pop()
        node = cast(Recorded, value.node)
        if value in seen or node.tape is None or not inexact(value):
            continue
        seen.add(value)
        if node.serial < start:
            found[value] = Tensor(value.template, TapeBackend(on=node.results[value.index].backend), value)
        elif has_cotangents(node):
            waiting += node.operands
    return list(found.values())


def _constant(x: Tensor, left: Left | None = None) -> Value:
    return Value(recorded(None, (x,), CAPTURED, x.template, tensor=x, left=left))


def _left(inputs: tuple[Any, ...]) -> Left | None:
    """Where an op computes from values of a tape whose block does not run here; `None` if there are no such values."""
    latest: Left | None = None
    for x in _flat(inputs):
        if isinstance(x.backend, TapeBackend):
            node = cast(Recorded, x.data.node)
            left = node.left
            if node.tape is not None and not node.tape.is_paused:
                left = Left(node.tape, here())
            if left is not None and (latest is None or left.tape.serial > latest.tape.serial):
                latest = left
    return latest


def _is_followed(x: Tensor) -> bool:
    """Whether the tape that records now has recorded a tensor."""
    if not isinstance(x.backend, TapeBackend):
        return False
    recorded = cast(Recorded, x.data.node).tape
    return recorded is not None and recorded is _recording()


def _value(x: Tensor) -> Value:
    """The value of a tensor; a constant unless the tape that records now follows it."""
    return x.data if _is_followed(x) else _constant(with_data(x))
