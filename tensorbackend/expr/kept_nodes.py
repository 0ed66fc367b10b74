"""Recalled nodes, with which repeating a trace costs about a microsecond per op.

A trace that *recalls* (`Recall`) records an op on the node that was made when the op was first recorded from the same
values. Its parameters are nodes by position and template, and the tensors with data that it captures are nodes by the
order of their first use, so that equal computations have the same nodes, by which their program is found. Nodes hold
no data: a trace holds the tensors that it has captured.

Within a trace each call of an op has its own node, as in any other trace. A value carries the mark of its trace: a
value of another trace, or one that cannot be recalled, leads to new nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from ..caching.memos import BoundedMemo
from ..caching.option_keys import ATOMS, NUMBERS, option_key
from ..dtypes.defaults import product_precision
from ..protocol import Backend, Kernel, Payload
from ..rules.plan import Out
from ..template import Template
from ..tensor import Tensor, blank_tensor
from .node import CAPTURED, PARAMETER, RENAMED, Default, Node, Value, flat, map_each, serials
from .scopes import CapturedNode, Mark, Scope, scope_variable

NODES: Final[BoundedMemo[Node]] = BoundedMemo("nodes of eager gradients", 1 << 15)
"""The nodes by plan and inputs."""

_plans: Final[BoundedMemo[Plan]] = BoundedMemo("recorded ops of eager gradients", 1 << 13)

_new: Final = tuple.__new__
"""Makes a value in half the time of its class's own constructor."""

_PLAIN: Final = ATOMS | NUMBERS
"""Classes of options that hold no tensors, as a function of the user's may."""


class Plan:
    """A node without its inputs. Plans are compared by identity, which hashes fastest."""

    __slots__ = ("default", "once", "op", "options", "out", "templates")

    def __init__(
        self, op: str, out: Out, options: Mapping[str, object], default: Default | None, templates: Any
    ) -> None:
        self.op, self.out, self.options, self.default = op, out, options, default
        self.templates = templates
        """The templates under which a composite sees its inputs; `None` for a primitive, which sees no names."""
        self.once = op == "constant" and out.shape == ()  # type: ignore[union-attr] # a constant has one template


class Recall(Scope):
    """The state of a trace that recalls nodes. It is the outermost trace of its thread."""

    mark: Mark

    def __init__(self, home: Backend, holder: Backend, default: Backend) -> None:
        super().__init__(holder, default)
        self.home = home
        """The backend of the arguments."""
        self.mark = Mark(0, self.start)
        self.marks = [self.mark]
        self.made: dict[Node, int] = {}
        """The nodes in the order of the program, each with a number that rises with time as serial numbers do."""
        self.lifted: dict[Any, tuple[Value, Tensor]] = {}
        """The tensors that the trace has captured, in the order of their first use."""
        self._again: dict[Any, int] = {}

    def parameter(self, template: Template) -> Value:
        """The next parameter."""
        key = PARAMETER, len(self.made), template
        node = NODES.get(key)
        return self._make_value(NODES.keep(key, Node(PARAMETER, template)) if node is None else node)

    def lift(self, x: Tensor) -> Value | None:
        """The value of a tensor with data; `None` for a tensor of a backend that records or has no data."""
        key = id(x.data), x.template, x.backend
        known = self.lifted.get(key)
        if known is not None:
            return known[0]
        if x.backend is not self.home and x.backend.dispatch_priority:
            return None
        place = CAPTURED, len(self.lifted), x.template, x.backend
        node = NODES.get(place)
        value = self._make_value(NODES.keep(place, CapturedNode(x.template)) if node is None else node)
        # Another tensor, as an assignment may change the first; it keeps the payload alive, and so its id unique.
        held = blank_tensor()
        held.template, held.backend, held.data = x.template, x.backend, x.data
        self.lifted[key] = value, held
        return value

    def _make_value(self, node: Node) -> Value:
        self.made[node] = next(serials)
        value: tuple[Any, Any] = node, self.mark
        return _new(Value, value)

    def holds(self, value: Value) -> bool:
        """Whether a value is one of a recalled node in this trace."""
        index = value.index
        return index < len(self.marks) and self.marks[index] is index

    def tensor_of(self, node: CapturedNode) -> Tensor | None:
        """The tensor that a node represents in this trace."""
        return next((tensor for value, tensor in self.lifted.values() if value.node is node), None)

    def results(self, node: Node, single: bool) -> Payload:
        """The values of a node in this trace."""
        if single:
            value: tuple[Any, Any] = node, self.mark
            return _new(Value, value)
        while len(self.marks) < len(node.out):  # type: ignore[arg-type] # not a single template
            self.marks.append(Mark(len(self.marks), self.start))
        return tuple([Value(node, mark) for mark in self.marks[: len(node.out)]])  # type: ignore[arg-type]

    def record(self, plan: Plan, inputs: Sequence[Any]) -> Payload:
        """The values of an op in this trace; its inputs must be values that the trace `holds`."""
        key: tuple[Any, ...] = (plan, *map(_key_part, inputs))
        node = NODES.get(key)
        if node is not None and node in self.made and not plan.once:  # as each call has a node of its own
            count = self._again[key] = self._again.get(key, 0) + 1
            key = count, *key
            node = NODES.get(key)
        if node is None:
            bare = map_each(lambda value: Value(value[0], int(value[1])), inputs, Value)  # without the trace's mark
            node = NODES.keep(key, Node(plan.op, plan.out, bare, plan.options, default=plan.default))
        if node not in self.made:
            self.made[node] = next(serials)
        return self.results(node, isinstance(plan.out, Template))


def _key_part(operand: Any) -> Any:
    """The part of a key for an input: a node represents its only or first result, as that is the fastest key."""
    if operand.__class__ is Value:
        return operand if operand[1] else operand[0]
    return operand if operand is None else tuple(operand)


def _is_plain(value: object) -> bool:
    kind = value.__class__
    return kind in _PLAIN or ((kind is tuple or kind is list) and all(map(_is_plain, cast(Iterable[object], value))))


def plan_of(
    op: str, out: Out, options: Mapping[str, object], default: Default | None = None, templates: Any = None
) -> Plan | None:
    """The plan of an op, `None` if its options cannot be a key or may hold data."""
    if not all(map(_is_plain, options.values())):
        return None
    try:
        key = (
            op, out, default, templates, product_precision(),
            *[(name, value.__class__, option_key(value)) for name, value in options.items()],
        )  # fmt: skip
        return _plans.get(key) or _plans.keep(key, Plan(op, out, options, default, templates))
    except (KeyError, TypeError):
        return None


def recalling_kernel(
    op: str,
    out: Out,
    inputs: Sequence[Any],
    options: Mapping[str, object],
    other: Kernel,
    default: Default | None = None,
) -> Kernel:
    """The kernel of an op on ExprBackend, for templates in place of tensors: it recalls nodes in a trace that recalls.

    `other` is the kernel for other traces. A composite has its `default`.
    """
    plan = plan_of(op, out, options, default, None if default is None else tuple(inputs))
    if plan is None:
        return other
    get, find, new, count = scope_variable.get, NODES.get, _new, len(inputs)

    def record_call(*payloads: Any) -> Payload:
        scope = get()
        if scope is None or scope.mark is None:
            return other(*payloads)
        assert isinstance(scope, Recall)  # as it has a mark
        values = payloads if plan.templates is None else tuple(map(_input_under, plan.templates, payloads))
        return scope.record(plan, values) if all(map(scope.holds, flat(values, Value))) else other(*payloads)

    # The quick forms do what `record_call` does for an op that the trace records for the first time.
    if not isinstance(out, Template) or not all(isinstance(x, Template) for x in inputs) or count not in (1, 2):
        return record_call

    def recall_unary(x: Value) -> Payload:
        scope = get()
        if scope is not None and x[1] is scope.mark:
            node = find((plan, x[0]))
            if node is not None and node not in scope.made:  # type: ignore[attr-defined] # it is a `Recall`
                scope.made[node] = next(serials)  # type: ignore[attr-defined]
                value: tuple[Any, Any] = node, scope.mark
                return new(Value, value)
        return record_call(x)

    def recall_binary(x1: Value, x2: Value) -> Payload:
        scope = get()
        if scope is not None and x1[1] is scope.mark and x2[1] is scope.mark:
            node = find((plan, x1[0], x2[0]))
            if node is not None and node not in scope.made:  # type: ignore[attr-defined] # it is a `Recall`
                scope.made[node] = next(serials)  # type: ignore[attr-defined]
                value: tuple[Any, Any] = node, scope.mark
                return new(Value, value)
        return record_call(x1, x2)

    return recall_unary if count == 1 else recall_binary


def rename_value(template: Template, value: Value) -> Value:
    """The value of a node that renames the axes of a value like a template."""
    scope = scope_variable.get()
    if scope is not None and scope.mark is not None and scope.holds(value):  # type: ignore[attr-defined] # a `Recall`
        plan = plan_of(RENAMED, template, {})
        assert plan is not None  # without options
        result: Value = scope.record(plan, (value,))  # type: ignore[attr-defined]
        return result
    return Value(Node(RENAMED, template, (value,)))


def value_under(template: Template, value: Value) -> Value:
    """A value with the axis names of a template."""
    return value if value.template is template else rename_value(template, value)


def _input_under(templates: Any, payload: Any) -> Any:
    """An input as a composite sees it, under the names of its template."""
    if isinstance(templates, Template):
        return value_under(templates, payload)
    return templates and tuple(map(value_under, templates, payload))
