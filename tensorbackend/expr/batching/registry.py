"""The batching rule of an op: how it runs on operands that have one more axis, in front.

A rule is declared under the name of the op's callback:

    @rule("concatenate")
    def _concatenate(call: Call) -> Results:
        return call.record([call.whole(call.inputs[0])], options={"axis": call.options["axis"] + 1})

It returns the results with the new axis in front, or `None` to use the general methods of `engine`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from ...ops.shape import broadcast_to, reshape
from ...protocol.planned import payloads_of
from ...registration import Registry
from ...rules.plan import NO_OPTIONS, Out
from ...template import Template, intern_template
from ...tensor import Tensor
from ..expr_backend import wrap_results
from ..node import Node, flat


class Operand(NamedTuple):
    """A value of a graph that runs on a batch."""

    x: Tensor
    mapped: bool
    """Whether x has the new axis, in front; otherwise x is the same for all examples."""


Inputs: TypeAlias = "Operand | tuple[Operand, ...] | None"
Results: TypeAlias = "Tensor | tuple[Tensor, ...] | None"


class Call:
    """A node to be run on a batch."""

    def __init__(self, node: Node, inputs: Sequence[Inputs], size: int) -> None:
        self.node, self.inputs, self.size = node, tuple(inputs), size

    @property
    def options(self) -> Mapping[str, Any]:
        """The options of the node."""
        return self.node.options

    @property
    def operands(self) -> list[Operand]:
        """The inputs in a flat list, without `None`."""
        return flat(self.inputs, Operand)

    def whole(self, operand: Any) -> Any:
        """The tensor of an operand with the new axis, repeated along it if it had none; a tuple for a sequence."""
        if operand is None:
            return None
        if not isinstance(operand, Operand):
            return tuple(map(self.whole, operand))
        return whole(operand, self.size)

    def aligned(self, operand: Any, rank: int) -> Any:
        """The tensor of an operand that broadcasts with others of up to `rank` axes besides the new one."""
        if operand is None:
            return None
        if not isinstance(operand, Operand):
            return tuple(self.aligned(member, rank) for member in operand)
        x, missing = operand.x, rank + 1 - operand.x.ndim
        if not operand.mapped or not missing:
            return x
        return reshape(x, (x.shape[0], *(1,) * missing, *x.shape[1:]), names=(None,) * (missing + 1) + x.names[1:])

    def record(
        self, inputs: Sequence[Any], out: Out | None = None, options: Mapping[str, object] = NO_OPTIONS
    ) -> Tensor | tuple[Tensor, ...]:
        """Record the op on `inputs`, with its options changed by `options`.

        Its results have the new axis in front, unless `out` specifies their templates.
        """
        node = self.node
        if out is None:
            outs = tuple(batch_template(template, self.size) for template in node.outs)
            out = outs[0] if isinstance(node.out, Template) else outs
        return wrap_results(Node(node.op, out, payloads_of(inputs), {**node.options, **options}, default=node.default))

    def tensor(
        self, inputs: Sequence[Any], out: Template | None = None, options: Mapping[str, object] = NO_OPTIONS
    ) -> Tensor:
        """`record` of an op with one result."""
        result = self.record(inputs, out, options)
        assert isinstance(result, Tensor)  # by the op's template
        return result


def whole(operand: Operand, size: int) -> Tensor:
    """The tensor of an operand with the new axis, repeated along it if it is the same for all examples."""
    x = operand.x
    return x if operand.mapped else broadcast_to(x, (size, *x.shape))


def batch_template(template: Template, size: int) -> Template:
    """A template with one more axis, in front."""
    return intern_template((size, *template.shape), template.dtype, (None, *template.names))


Rule: TypeAlias = Callable[[Call], Results]
rules: Registry[Rule] = Registry("the batching of")
"""The rules by the names of callbacks."""

rule = rules.of
"""Declares the rule of the ops with these callbacks."""
