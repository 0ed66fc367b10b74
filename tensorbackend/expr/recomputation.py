"""Which calls of checkpointed functions are computed again for a gradient, and which values they keep."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextvars import ContextVar
from typing import Final, Literal, NamedTuple, TypeAlias

from ..declarations.op_specs import OPS
from ..scopes import Block
from ..template import Template
from .graph import Graph
from .node import CAPTURED, PARAMETER, Value

Policy: TypeAlias = Literal["nothing", "products"] | Collection[str] | Callable[[str, Template], bool]
"""The values that a checkpoint keeps for the gradient; see `checkpoint`."""

PRODUCTS: Final = "contraction", "convolution"
"""The families of ops whose results cost the most operations to compute again."""


PART: Final = "part"
"""The name of a part of a graph in a program without checkpointed functions."""


class CheckpointedCall(NamedTuple):
    """A call of a checkpointed function, or a part of a gradient's graph."""

    name: str
    """The function's name, or `PART`."""
    body: Graph | None
    """What it computes; `None` for a call that is not recomputed, and where bodies are not kept."""


class Selection:
    """The calls that are recomputed, by their numbers in the order of the trace; `None` for all."""

    def __init__(self, chosen: Collection[int] | None = None, *, keeps_bodies: bool = True) -> None:
        self.chosen: Final = chosen
        self.keeps_bodies: Final = keeps_bodies
        """Whether calls have their bodies: not where they are run, as then a trace is freed before."""
        self.calls: Final[list[CheckpointedCall]] = []
        """The calls that were found."""

    def enter_call(self, name: str) -> int | None:
        """The number of the next call, `None` if it is not recomputed."""
        number = len(self.calls)
        self.calls.append(CheckpointedCall(name, None))
        return number if self.chosen is None or number in self.chosen else None

    def enter_body(self, number: int, body: Graph) -> None:
        """Keeps what a recomputed call computes."""
        if self.keeps_bodies:
            self.calls[number] = self.calls[number]._replace(body=body)


selection: Final[ContextVar[Selection | None]] = ContextVar("tensorbackend_selection", default=None)


def select_calls(chosen: Selection) -> Block[Selection]:
    """A block in which a selection applies to the calls of checkpointed functions."""
    return Block(chosen, [(selection, chosen)])


def values_to_keep(graph: Graph, policy: Policy) -> list[Value]:
    """The values of a graph that a policy keeps, without its parameters and results."""
    if policy == "nothing":
        return []
    if policy == "products":
        policy = _product_ops()
    results = set(graph.outputs)
    return [
        value
        for node in graph.nodes
        if node.op not in (PARAMETER, CAPTURED) and node.operands
        for value in node.values
        if value not in results and _is_kept(policy, node.op, value.template)
    ]


def _is_kept(policy: Policy, op: str, template: Template) -> bool:
    if callable(policy):
        return policy(op, template)
    return op in policy


def _product_ops() -> set[str]:
    """The callbacks and overrides of the ops that multiply matrices, as far as they are imported."""
    return {spec.callback for spec in OPS.imported.values() if spec.family in PRODUCTS}
