"""Gradients of control flow: each is control flow too, so that it has a gradient.

The gradient of a scan runs it forward once more, keeping the values that the gradient of each step needs, and then
iterates backwards over them. Values that do not change from step to step are kept once, and entries of `xs` are not
copied. A `while_loop` with a limit is differentiated as a scan of `limit` steps, in which the steps after its end do
nothing. One without a limit has tangents alone, which the loop carries along.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from ...mesh import Mesh, Sharding
from ...ops.creation.filled import full
from ...ops.elementwise.binary import add, divide, logical_and
from ...scopes import in_own_context
from ...tensor import Tensor
from ..collectives import collective
from ..control import call, call_checkpoint, call_cond, call_scan
from ..evaluate import evaluate
from ..expr_backend import ExprBackend
from ..graph import Graph, dependents
from ..mesh_variation import NOWHERE, level_graph, loop_variation, results_of, trace_on_mesh, varies_of
from ..shards import Axes, call_shard_map, mesh_axes_of
from ..simplify import results
from ..trace import trace_leaves
from .carried import (
    Arrived,
    Needed,
    Tensors,
    arrived_cotangents,
    cotangent_of,
    entry,
    gradient_flows,
    live_positions,
    numbered,
    scatter,
    true_positions,
    variations,
)
from .engine import cut_graph, differentiate_graph, gradients_graph, linearize_graph
from .registry import Cotangents, NoGradient, not_differentiable, rule
from .unlimited_loops import back_through_unlimited


@rule("checkpoint", selective=True)
def _checkpoint(
    cotangents: Arrived, outs: Tensors, operands: Tensors, *, needed: tuple[Needed], body: Graph
) -> Cotangents:
    """Computes the body again, together with its gradient: only the operands and the results are kept."""
    body = level_graph(body, variations(operands))
    needed_positions, (chosen, seeds) = true_positions(needed[0]), arrived_cotangents(cotangents)
    count = len(body.outputs)
    whole = differentiate_graph(body, needed_positions, chosen)
    back = results(whole, range(count, count + len(needed_positions)))
    back, places = cut_graph(back, whole.outputs[:count])
    kept = [outs[place] for place in places]
    return (scatter(len(operands), needed_positions, call_checkpoint(back, (*operands, *seeds, *kept))),)


@rule("shard_map", selective=True)
@in_own_context
def _shard_map(
    cotangents: Arrived,
    outs: Tensors,
    operands: Tensors,
    *,
    needed: tuple[Needed],
    body: Graph,
    mesh: Mesh,
    inside: tuple[Axes, ...],
    outside: tuple[Axes, ...],
) -> Cotangents:
    """Each device computes its own gradient, and sums over devices are propagated in reverse.

    The cotangent of a result of which each device has its own copy is divided equally among them.
    """
    needed_positions, (chosen, seeds) = true_positions(needed[0]), arrived_cotangents(cotangents)
    operand_count = len(operands)
    with trace_on_mesh(mesh):
        varying = [NOWHERE.widened(mesh_axes_of(axes)) for axes in inside]
        varies = results_of(body, varying)
        back = gradients_graph(level_graph(body, varying), needed_positions, chosen)

        def backward(parts: list[Tensor]) -> list[Tensor]:
            shares = [
                divide(
                    seed, prod(mesh.sizes[axis] for axis in varies[place].over.difference(mesh_axes_of(outside[place])))
                )
                for place, seed in zip(chosen, parts[operand_count:], strict=True)
            ]
            return evaluate(back, [*parts[:operand_count], *shares], ExprBackend())

        templates = [*body.templates, *(body.results[place] for place in chosen)]
        graph = trace_leaves(backward, templates, [*body.names, *("cotangent" for _ in chosen)])
    axes = [*inside, *(outside[place] for place in chosen)]
    shardings = [Sharding(mesh, operands[place].template, inside[place]) for place in needed_positions]
    gradients = call_shard_map(mesh, graph, (*operands, *seeds), axes, shardings)
    return (scatter(operand_count, needed_positions, gradients),)


@rule("collective", selective=True)
def _collective(
    cotangents: Arrived,
    outs: Tensors,
    operands: Tensors,
    *,
    needed: tuple[Needed],
    kind: str,
    axes: tuple[str, ...],
    axis: int,
    other: int,
) -> Cotangents:
    """Sends the cotangents back between devices, in reverse of the values.

    The cotangent of a sum is that of each of its terms. A value that is the same on several devices counts as several
    terms.
    """
    (cotangent,) = cotangents
    if kind not in _BACK:
        reason = f"the {kind} over devices has no gradient: gather the values and reduce them, or use a sum"
        return (tuple([NoGradient(reason) for _ in operands]),)
    if cotangent is None:
        return (None,)
    (x,) = operands
    if kind in ("sum", "vary"):  # the engine makes the cotangent vary as x does
        same = tuple([name for name in axes if kind == "sum" and name not in varies_of(x).over])
        return ((collective("sum", cotangent, x.template, same) if same else cotangent,),)
    first, second = (other, axis) if kind == "exchange" else (axis, other)
    return ((collective(_BACK[kind], cotangent, x.template, axes, first, second),),)


_BACK = {"sum": "vary", "vary": "sum", "gather": "scatter", "scatter": "gather", "exchange": "exchange"}
"""For each kind of collective that has a gradient, the kind that takes the cotangent back."""


@rule("debug_callback")
def _debug_callback(
    cotangents: Arrived, outs: Tensors, carried: Tensors, operands: Tensors, *, function: Callable[..., object] | None
) -> Cotangents:
    """Make each cotangent depend on the calls that its value needed, so that a gradient alone also makes the calls."""
    if function is not None:  # its carried value is a token, and nothing flows to the operands
        return None, None
    handed = [
        None
        if x is None
        else call("debug_callback", ExprBackend(), (x.template,), ((x,), operands), {"function": None})[0]
        for x in cotangents
    ]
    return tuple(handed), None


not_differentiable(
    "host_call",
    reason="a function of NumPy arrays cannot be differentiated: define its gradient with custom_gradient()",
)


@rule("cond", selective=True)
def _cond(
    cotangents: Arrived,
    outs: Tensors,
    predicate: Tensor,
    operands: Tensors,
    *,
    needed: tuple[bool, Needed],
    true_branch: Graph,
    false_branch: Graph,
) -> Cotangents:
    needed_positions, (chosen, seeds) = true_positions(needed[1]), arrived_cotangents(cotangents)
    # Devices that take different branches cannot combine values in them.
    varying = [varies_of(predicate).union(x) for x in variations(operands)]
    true_back, false_back = (
        gradients_graph(level_graph(branch, varying), needed_positions, chosen)
        for branch in (true_branch, false_branch)
    )
    gradients = call_cond([predicate], (*operands, *seeds), true_back, false_back)
    return None, scatter(len(operands), needed_positions, gradients)


@rule("scan", selective=True)
def _scan(
    cotangents: Arrived,
    outs: Tensors,
    constants: Tensors,
    initial: Tensors,
    xs: Tensors,
    *,
    needed: tuple[Needed, Needed, Needed],
    body: Graph,
    length: int,
    reverse: bool,
) -> Cotangents:
    fixed, count = len(constants), len(initial)
    ends = fixed + count
    spread = variations([*constants, *initial, *xs])
    spread[fixed:ends] = loop_variation(body, spread, fixed, count)
    body = level_graph(body, spread)
    changing = gradient_flows(body, needed, fixed, count)
    live = live_positions(body, changing, [x is not None for x in cotangents], fixed)
    # Cotangents come in for these results of a step, and go out for these parameters.
    of_rows, row_cotangents = arrived_cotangents(cotangents[count:])
    stacked = [count + position for position in of_rows]
    held, entries = true_positions(needed[0]), true_positions(needed[2])
    needed_positions = [*held, *(fixed + position for position in live), *(ends + position for position in entries)]
    forward, backward = linearize_graph(body, needed_positions, [*live, *stacked])

    kept = forward.outputs[len(body.outputs) :]
    varying = dependents(forward.nodes, [value.node for value in forward.parameters[fixed:]])
    once = [value for value in kept if value.node not in varying]
    entry_positions = {value: position for position, value in enumerate(forward.parameters[ends:])}
    every = [value for value in kept if value.node in varying and value not in entry_positions]

    first = Graph(forward.parameters, [*forward.outputs[:count], *every], names=body.names)
    rows = call_scan(first, constants, initial, xs, length=length, reverse=reverse)[count:]
    singles = evaluate(Graph(forward.parameters[:fixed], once), constants, ExprBackend())
    read = [value for value in kept if value in entry_positions]
    places = {value: place for place, value in enumerate([*once, *read, *every])}
    order = [places[value] for value in kept]
    seen, sums, taken = len(once), len(held), len(live)

    def back(parameters: list[Tensor]) -> list[Tensor]:
        """One step back, from the values kept once, the carried cotangents, the sums so far, and the step's entries."""
        constant, carried = parameters[:seen], parameters[seen : seen + taken]
        totals, rest = parameters[seen + taken : seen + taken + sums], parameters[seen + taken + sums :]
        known, arriving = [*constant, *rest[: len(kept) - seen]], rest[len(kept) - seen :]
        step_gradients = evaluate(backward, [*(known[place] for place in order), *carried, *arriving], ExprBackend())
        totals = [add(total, x) for total, x in zip(totals, step_gradients[:sums], strict=True)]
        return [*step_gradients[sums : sums + taken], *totals, *step_gradients[sums + taken :]]

    start = [cotangent_of(cotangents[position], initial[position]) for position in live]
    start += [cotangent_of(None, constants[position]) for position in held]
    along = [*(xs[entry_positions[value]] for value in read), *rows, *row_cotangents]
    templates = [*(x.template for x in (*singles, *start)), *map(entry, along)]
    step = trace_leaves(back, templates, numbered(kept=seen, cotangent=taken, sum=sums, entry=len(along)))
    gradients = call_scan(step, singles, start, along, length=length, reverse=not reverse)
    return (
        scatter(fixed, held, gradients[taken : taken + sums]),
        scatter(count, live, gradients[:taken]),
        scatter(len(xs), entries, gradients[taken + sums :]),
    )


@rule("while_loop", selective=True)
def _while_loop(
    cotangents: Arrived,
    outs: Tensors,
    constants: Tensors,
    initial: Tensors,
    *,
    needed: tuple[Needed, Needed],
    condition: Graph,
    body: Graph,
    limit: int | None,
) -> Cotangents:
    if limit is None:
        return back_through_unlimited(cotangents, constants, initial, needed, condition, body)
    fixed = len(constants)

    def step(parameters: list[Tensor]) -> list[Tensor]:
        held, goes_on, carried = parameters[:fixed], parameters[fixed], parameters[fixed + 1 :]
        holds = evaluate(condition, [*held, *carried], ExprBackend())[0]
        goes_on = logical_and(goes_on, holds)
        stays = Graph(body.parameters, body.parameters[fixed:], names=body.names)
        return [goes_on, *call_cond([goes_on], (*held, *carried), body, stays)]

    on = full((), True)
    templates = [x.template for x in (*constants, on, *initial)]
    steps = trace_leaves(step, templates, [*numbered(constants=fixed), "goes_on", *body.names[fixed:]])
    gradients = _scan(
        (None, *cotangents),
        (on, *outs),
        constants,
        (on, *initial),
        (),
        needed=(needed[0], (False, *needed[1]), ()),
        body=steps,
        length=limit,
        reverse=False,
    )
    carried = gradients[1]
    assert isinstance(carried, tuple)  # as the rule of scan returns it
    return gradients[0], carried[1:]
