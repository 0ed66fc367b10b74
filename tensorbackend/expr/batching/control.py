"""Batching of control flow, and of functions with their own gradients: their graphs become graphs of a batch.

Carried values get the new axis only if they depend on the example, so that a counter remains one number. If examples
take different paths, all paths are computed and each example gets its own result: `cond` computes both branches, and a
`while_loop` runs as many iterations as the example that needs most. For paths that an example does not take, its
operands are replaced by safe ones (`examples`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from ...ops.composite.elementwise.functions import logical_not
from ...ops.composite.shape.arranging import stack
from ...ops.creation.filled import zeros
from ...ops.elementwise.basic import where
from ...ops.elementwise.binary import logical_and
from ...ops.indexing.slices import slice_basic
from ...ops.reduction import any as any_
from ...ops.reduction import sum as sum_
from ...ops.shape import permute_dims
from ...scopes import in_own_context
from ...template import Template, intern_template
from ...tensor import Tensor
from ..grad.custom import Pullback, custom_gradient
from ..graph import Graph
from ..mesh_variation import trace_on_mesh
from ..node import Value
from ..trace import trace_leaves
from ..while_loops import chosen, fill_from_active, spread
from .engine import evaluate_batch
from .registry import Call, Operand, Results, batch_template, rule, whole

Flags = list[bool]


def _operands(tensors: Sequence[Tensor], flags: Sequence[bool]) -> list[Operand]:
    return [Operand(x, flag) for x, flag in zip(tensors, flags, strict=True)]


def _templates(templates: Sequence[Template], flags: Sequence[bool], size: int) -> list[Template]:
    pairs = zip(templates, flags, strict=True)
    return [batch_template(template, size) if flag else template for template, flag in pairs]


def _batch_graph(graph: Graph, flags: Sequence[bool], required: Sequence[bool], size: int) -> tuple[Graph, Flags]:
    """Trace a graph for a batch; also return for each result whether it has the new axis.

    The parameters flagged in `flags` have the new axis. The results flagged in `required` have it even if they are the
    same for all examples.
    """
    result_flags: Flags = []

    def function(tensors: list[Any]) -> tuple[Tensor, ...]:
        results = evaluate_batch(graph, _operands(tensors, flags), size)
        result_flags.extend(result.mapped or flag for result, flag in zip(results, required, strict=True))
        return tuple(whole(result, size) if flag else result.x for result, flag in zip(results, required, strict=True))

    batch_graph = trace_leaves(function, _templates(graph.templates, flags, size), graph.names)
    return batch_graph, result_flags


def _batch_body(body: Graph, constants: Flags, carried: Flags, entries: Flags, size: int) -> tuple[Graph, Flags]:
    """Trace the body of a loop for a batch; also return for each result whether it has the new axis.

    A carried value that the body returns with the new axis is passed to it with that axis too.
    """
    further = [False] * (len(body.outputs) - len(carried))
    while True:
        batch_body, result_flags = _batch_graph(body, constants + carried + entries, carried + further, size)
        if result_flags[: len(carried)] == carried:
            return batch_body, result_flags
        carried = result_flags[: len(carried)]


def _flags(operands: Any) -> Flags:
    return [operand.mapped for operand in operands]


def _carry(call: Call, operands: Any, flags: Flags) -> tuple[Tensor, ...]:
    return tuple(call.whole(operand) if flag else operand.x for operand, flag in zip(operands, flags, strict=True))


def _add_batch_axis(call: Call, results: Any, flags: Flags) -> tuple[Tensor, ...]:
    """The results, all with the new axis, which those flagged in `flags` have already."""
    return tuple(whole(Operand(x, flag), call.size) for x, flag in zip(results, flags, strict=True))


def _record(call: Call, inputs: list[Any], options: dict[str, Any], flags: Flags) -> Results:
    """Record the op, whose results flagged in `flags` have the new axis; returns all with it."""
    outs = tuple(_templates(call.node.outs, flags, call.size))
    return _add_batch_axis(call, call.record(inputs, outs, options), flags)


def _select_examples(condition: Tensor, one: Tensor, other: Tensor) -> Tensor:
    """For each example, `one` where the condition is true, else `other`."""
    return where(spread(condition, one, (0,)), one, other)


def _safe(taken: Tensor, operands: Sequence[Operand], branch: Graph) -> list[Operand]:
    """The operands of a branch, for examples of which some take it."""
    read = {*branch.outputs}.union(*(node.operands for node in branch.nodes))

    def safe(parameter: Value, operand: Operand) -> Operand:
        if parameter not in read:
            return operand
        if operand.mapped:
            return Operand(fill_from_active(taken, operand.x, (0,)), True)
        return Operand(_stop_unused_gradient(operand.x, taken), False) if operand.x.dtype.is_inexact else operand

    return [safe(*pair) for pair in zip(branch.parameters, operands, strict=True)]


@custom_gradient
def _stop_unused_gradient(x: Tensor, taken: Tensor) -> tuple[Tensor, Callable[[Tensor], tuple[Tensor, None]]]:
    """x, whose gradient is 0 if no example takes the branch: then none has safe operands."""
    return x, lambda cotangent: (where(any_(taken), cotangent, 0), None)


@rule("checkpoint")
def _checkpoint(call: Call) -> Results:
    (operands,) = call.inputs
    flags = _flags(operands)
    body, result_flags = _batch_graph(call.options["body"], flags, [False] * len(call.node.outs), call.size)
    return _record(call, [_carry(call, operands, flags)], {"body": body}, result_flags)


@rule("shard_map")
@in_own_context
def _shard_map(call: Call) -> Results:
    """The new axis is not divided over devices."""
    (operands,) = call.inputs
    flags, options = _flags(operands), dict(call.options)
    every = [True] * len(call.node.outs)
    with trace_on_mesh(options["mesh"]):
        options["body"], result_flags = _batch_graph(options["body"], flags, every, call.size)
    for name, mapped in (("inside", flags), ("outside", every)):
        pairs = zip(options[name], mapped, strict=True)
        options[name] = tuple([((), *axes) if flag else axes for axes, flag in pairs])
    return _record(call, [_carry(call, operands, flags)], options, result_flags)


@rule("collective")
def _collective(call: Call) -> Results:
    """The same collective, with its axes shifted by one, as the new axis is in front."""
    (operands,) = call.inputs
    flags, options = _flags(operands), dict(call.options)
    if any(flags):
        options |= {"axis": options["axis"] + 1, "other": options["other"] + 1}
    return _record(call, [_carry(call, operands, flags)], options, [any(flags)])


@rule("debug_callback")
def _debug_callback(call: Call) -> Results:
    """One call for each example, in their order, if an operand depends on the example; else a single call."""
    carried, operands = call.inputs
    flags, function = _flags(carried), call.options["function"]
    held = tuple(operand.x for operand in carried)  # type: ignore[union-attr] # by the protocol
    outs = tuple(x.template for x in held)
    if function is None or not any(_flags(operands)):
        held = call.record([held, tuple(operand.x for operand in operands)], outs)  # type: ignore[assignment,union-attr]
    else:
        for place in range(call.size):
            example = tuple(slice_basic(operand.x, (place,)) if operand.mapped else operand.x for operand in operands)  # type: ignore[union-attr]
            held = call.record([held, example], outs)  # type: ignore[assignment] # several results
    return _add_batch_axis(call, held, flags)


@rule("host_call")
def _host_call(call: Call) -> Results:
    """One call, of a function that calls the original function for each example."""
    (operands,) = call.inputs
    flags, function, size, outs = _flags(operands), call.options["function"], call.size, call.node.outs

    def call_each(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
        rows = [
            function([slice_basic(x, (place,)) if mapped else x for x, mapped in zip(tensors, flags, strict=True)])
            for place in range(size)
        ]
        if not rows:
            return tuple(zeros((0, *out.shape), dtype=out.dtype, backend="numpy") for out in outs)
        return tuple(stack(column) for column in zip(*rows, strict=True))

    held = tuple(operand.x for operand in operands)  # type: ignore[union-attr] # by the protocol
    return call.record([held], options={"function": call_each})


@rule("cond")
def _cond(call: Call) -> Results:
    predicate, operands = call.inputs
    assert isinstance(predicate, Operand)  # by the protocol
    branches = (call.options["true_branch"], call.options["false_branch"])
    if predicate.mapped:
        taken = predicate.x, logical_not(predicate.x)
        one, other = (
            [whole(result, call.size) for result in evaluate_batch(branch, _safe(by, operands, branch), call.size)]  # type: ignore[arg-type] # by the protocol
            for branch, by in zip(branches, taken, strict=True)
        )
        return tuple(_select_examples(predicate.x, a, b) for a, b in zip(one, other, strict=True))
    flags, everything = _flags(operands), [True] * len(call.node.outs)
    graphs = [_batch_graph(branch, flags, everything, call.size)[0] for branch in branches]
    inputs = [predicate.x, _carry(call, operands, flags)]
    return call.record(inputs, options={"true_branch": graphs[0], "false_branch": graphs[1]})


@rule("scan")
def _scan(call: Call) -> Results:
    constants, initial, xs = call.inputs
    flags = _flags(constants), _flags(initial), _flags(xs)
    body, result_flags = _batch_body(call.options["body"], *flags, call.size)
    count = len(flags[1])
    # The entries of a scan are along the first axis, where the examples are: these are moved to the second.
    entries = [_swap_first_axes(operand.x) if operand.mapped else operand.x for operand in xs]  # type: ignore[union-attr] # by the protocol
    carried = result_flags[:count]
    outs = _templates(call.node.outs[:count], carried, call.size)
    for template, mapped in zip(call.node.outs[count:], result_flags[count:], strict=True):
        length, *rest = template.shape
        outs.append(
            intern_template((length, call.size, *rest), template.dtype, _second(template)) if mapped else template
        )
    inputs = [_carry(call, constants, flags[0]), _carry(call, initial, carried), tuple(entries)]
    results = call.record(inputs, tuple(outs), {"body": body})
    assert isinstance(results, tuple)  # by the protocol
    stacked = [
        _swap_first_axes(x) if mapped else x for x, mapped in zip(results[count:], result_flags[count:], strict=True)
    ]
    return _add_batch_axis(call, [*results[:count], *stacked], result_flags)


def _second(template: Template) -> tuple[str | None, ...]:
    """The names of a template after the axis of the examples is inserted as its second axis."""
    return (template.names[0], None, *template.names[1:])


def _swap_first_axes(x: Tensor) -> Tensor:
    """The first two axes exchanged."""
    return permute_dims(x, (1, 0, *range(2, x.ndim)))


@rule("while_loop")
def _while_loop(call: Call) -> Results:
    constants, initial = call.inputs
    condition, body = call.options["condition"], call.options["body"]
    fixed, carried = _flags(constants), _flags(initial)
    _, settled = _batch_body(body, fixed, carried, [], call.size)
    asked, (apart,) = _batch_graph(condition, fixed + settled, [False], call.size)
    if apart:
        return _apart(call)
    batch_body, _ = _batch_body(body, fixed, settled, [], call.size)
    inputs = [_carry(call, constants, fixed), _carry(call, initial, settled)]
    return _record(call, inputs, {"condition": asked, "body": batch_body}, settled)


def _apart(call: Call) -> Results:
    """A loop with different numbers of iterations for the examples: the values of those that have ended are kept.

    In the iterations after its end, an example gets its initial values. One without any iteration gets those of one
    with iterations.
    """
    condition, body, size = call.options["condition"], call.options["body"], call.size
    (constants, initial), count = call.inputs, len(call.node.outs)
    assert isinstance(constants, tuple)  # by the protocol
    start = call.whole(initial)
    begun = whole(evaluate_batch(condition, [*constants, *(Operand(x, True) for x in start)], size)[0], size)
    held = tuple(fill_from_active(begun, x, (0,)) if mapped else x for x, mapped in constants)  # type: ignore[misc]
    fixed, safe = _flags(constants), tuple(fill_from_active(begun, x, (0,)) for x in start)
    flags = fixed + [True] * count

    def is_active(tensors: list[Any]) -> Tensor:
        operands = _operands([*tensors[: len(fixed)], *tensors[-count:]], flags)
        return logical_and(tensors[len(fixed)], whole(evaluate_batch(condition, operands, size)[0], size))

    def iteration(tensors: list[Any]) -> tuple[Tensor, ...]:
        on, before, safe = is_active(tensors), tensors[-count:], tensors[len(fixed) + 1 : -count]
        entered = [chosen(on, x, other, (0,)) for x, other in zip(before, safe, strict=True)]
        results = evaluate_batch(body, _operands([*tensors[: len(fixed)], *entered], flags), size)
        return tuple(_select_examples(on, whole(result, size), x) for result, x in zip(results, before, strict=True))

    inputs = [(*held, begun, *safe), start]
    templates = [x.template for x in (*held, begun, *safe, *start)]
    names = [*body.names[: len(fixed)], "begun", *(f"safe {name}" for name in body.names[len(fixed) :]),
             *body.names[len(fixed) :]]  # fmt: skip
    options = {
        "condition": trace_leaves(lambda tensors: any_(is_active(tensors)), templates, names),
        "body": trace_leaves(iteration, templates, names),
    }
    return _record(call, inputs, options, [True] * count)


@rule("custom_gradient")
def _custom_gradient(call: Call) -> Results:
    """The cotangent of an operand that all examples share is the sum of the cotangents of the examples."""
    (operands,) = call.inputs
    flags, everything = _flags(operands), [True] * len(call.node.outs)
    forward, _ = _batch_graph(call.options["forward"], flags, everything, call.size)
    pullback: Pullback = call.options["pullback"]
    taken = flags + everything

    @cache
    def batch_pullback() -> Graph:
        graph = pullback.graph
        argument_flags = flags[len(flags) - len(graph.outputs) :]  # the operands before the arguments are constants

        def pull(tensors: list[Any]) -> tuple[Tensor, ...]:
            results = evaluate_batch(graph, _operands(tensors, taken), call.size)
            wide = [whole(result, call.size) for result in results]
            return tuple(x if mapped else sum_(x, axis=0) for x, mapped in zip(wide, argument_flags, strict=True))

        return trace_leaves(pull, _templates(graph.templates, taken, call.size), graph.names)

    options = {"forward": forward, "pullback": Pullback(batch_pullback)}
    return call.record([_carry(call, operands, flags)], options=options)
