"""Tangents through a `while_loop` without a limit, which carries them along.

The cotangents of such a loop would need unlimited memory, but `jvp` needs only their transpose, which is a loop that
runs the iterations once more and carries the tangents too.
"""

from __future__ import annotations

from typing import Never

from ...errors import GradientError, expected
from ...tensor import Tensor
from ..closures import close
from ..control import call
from ..evaluate import evaluate
from ..expr_backend import ExprBackend, expr_tensor, value_of
from ..graph import Graph
from ..mesh_variation import level_graph, loop_variation
from ..node import Node
from ..simplify import results
from ..trace import trace_leaves
from .carried import (
    Arrived,
    Needed,
    Tensors,
    cotangent_of,
    gradient_flows,
    numbered,
    scatter,
    true_positions,
    variations,
)
from .engine import inexact, push_graph, rename_to_template, transposed_again
from .registry import Cotangents, NoGradient, rule

UNKNOWN_LENGTH = (
    "the gradient of a loop of unknown length would need unlimited memory: "
    "give while_loop() a limit, or fori_loop() ints as bounds, or compute tangents by jvp() or jacfwd()"
)

_BACK_THROUGH = "while_loop_back"
"""The op of a node that stands for the cotangents of a loop without a limit. They are never computed: the transpose of
the gradient, which is what `jvp` runs, has the loop of tangents in its place."""


def back_through_unlimited(
    cotangents: Arrived,
    constants: Tensors,
    initial: Tensors,
    needed: tuple[Needed, Needed],
    condition: Graph,
    body: Graph,
) -> Cotangents:
    """The cotangents of a loop without a limit, if only their transpose is needed."""
    if not transposed_again.get():
        return tuple((NoGradient(UNKNOWN_LENGTH),) * len(operands) for operands in (constants, initial))
    held, started = map(true_positions, needed)
    arrived = {position: x for position, x in enumerate(cotangents) if x is not None}
    node = Node(
        _BACK_THROUGH,
        (*(constants[position].template for position in held), *(initial[position].template for position in started)),
        tuple(tuple(map(value_of, tensors)) for tensors in (constants, initial, arrived.values())),
        {"condition": condition, "body": body, "chosen": needed, "arrived": tuple(arrived)},
        default=_refuse,
    )
    gradients = tuple(map(expr_tensor, node.values))
    return (
        scatter(len(constants), held, gradients[: len(held)]),
        scatter(len(initial), started, gradients[len(held) :]),
    )


def _refuse(*_: object, **__: object) -> Never:
    raise GradientError(expected("a loop with a limit", UNKNOWN_LENGTH, op="while_loop"))


@rule(_BACK_THROUGH)
def _tangents_through_unlimited(
    tangents: Arrived,
    outs: Tensors,
    constants: Tensors,
    initial: Tensors,
    seeds: Tensors,
    *,
    condition: Graph,
    body: Graph,
    chosen: tuple[Needed, Needed],
    arrived: tuple[int, ...],
) -> Cotangents:
    """The tangents of a loop's results, from those of its operands: the loop carries them, and runs once more."""
    fixed, count = len(constants), len(initial)
    spread = variations([*constants, *initial])
    spread[fixed:] = loop_variation(body, spread, fixed, count, condition)
    body = level_graph(body, spread)
    held, started = map(true_positions, chosen)
    moving = true_positions(gradient_flows(body, (*chosen, ()), fixed, count))
    forward, linear = push_graph(body, [*held, *(fixed + position for position in moving)])
    inexact_results = [position for position, value in enumerate(body.outputs) if inexact(value)]
    linear = results(linear, [inexact_results.index(position) for position in moving])
    ends = fixed + len(held) + count

    def ask(parameters: list[Tensor]) -> list[Tensor]:
        return evaluate(condition, [*parameters[:fixed], *parameters[fixed + len(held) : ends]], ExprBackend())

    def step(parameters: list[Tensor]) -> list[Tensor]:
        unused = [cotangent_of(None, initial[position]) for position in inexact_results]
        operands = [*parameters[:fixed], *parameters[fixed + len(held) : ends]]
        computed = evaluate(forward, [*operands, *unused], ExprBackend())
        moved = [*parameters[fixed : fixed + len(held)], *parameters[ends:]]
        pushed = evaluate(linear, [*computed[count:], *moved], ExprBackend())
        renamed = (
            rename_to_template(x, initial[position].template) for x, position in zip(pushed, moving, strict=True)
        )
        return [*computed[:count], *renamed]

    given = dict(zip([*((0, i) for i in held), *((1, i) for i in started)], tangents, strict=True))
    fixed_tangents = [cotangent_of(given[0, position], constants[position]) for position in held]
    start = [cotangent_of(given.get((1, position)), initial[position]) for position in moving]
    templates = [x.template for x in (*constants, *fixed_tangents, *initial, *start)]
    names = [
        *body.names[:fixed],
        *numbered(constant_tangent=len(held)),
        *body.names[fixed:],
        *(f"tangent of {body.names[fixed + position]}" for position in moving),
    ]
    graphs, more = close([trace_leaves(part, templates, names) for part in (ask, step)])
    inputs = (*more, *constants, *fixed_tangents), (*initial, *start)
    options = {"condition": graphs[0], "body": graphs[1], "limit": None}
    ended = call("while_loop", ExprBackend(), graphs[1].results, inputs, options)
    through = dict(zip(moving, ended[count:], strict=True))
    return None, None, tuple(through.get(i, cotangent_of(None, initial[i])) for i in arrived)
