"""Runs a graph on a batch: each node once, on operands with one more axis.

An op handles that axis in the first of these ways that is possible:

1. its rule (`registry`);
2. elementwise ops broadcast;
3. if only the first operand has axes, the options that name axes or have an entry for each axis are shifted;
4. a composite is replaced by its parts, which handle the axis in one of these ways;
5. the op runs for each example, and the results are stacked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from ...declarations.op_specs import CALLBACKS, OPS, Callback
from ...dtypes import uncast
from ...errors import ContractError, TensorBackendError, expected
from ...ops.creation.filled import zeros
from ...ops.indexing.slices import slice_basic
from ...ops.shape import concatenate, expand_dims
from ...scopes import in_own_context
from ...select import call_with_default, get_backend
from ...template import Template
from ...tensor import Tensor
from ..expr_backend import wrap_results
from ..graph import Graph, unknown
from ..node import RENAMED, Node, Value, in_place_of, map_each
from ..simplify import parts
from .registry import Call, Operand, Results, batch_template, rules

_FIRST: Final[Mapping[str, int]] = {"starts": 0, "strides": 1}
"""For each option with an entry for each axis, the entry that leaves the new axis unchanged."""

_NO_AXES: Final = {"keepdims", "descending", "tie_break", "mode", "full_matrices", "length", "norm", "function"}
"""Options of callbacks that have nothing to do with axes."""

_AXES: Final = frozenset({"axis", "axes", "sole axis"})
"""The meanings of options that are shifted where a composite is batched as a whole."""


@in_own_context
def evaluate_batch(graph: Graph, operands: Sequence[Operand], size: int) -> list[Operand]:
    """The results of a graph for `operands`, which have the new axis or not, as values of the current trace."""
    known: dict[Value, Operand] = dict(zip(graph.parameters, operands, strict=True))
    with uncast():
        _run(graph.nodes[len(graph.parameters) :], known, size)
    return [known[value] for value in graph.outputs]


def _run(nodes: Iterable[Node], known: dict[Value, Operand], size: int) -> None:
    """Runs nodes, each after its inputs, and stores their results in `known`."""
    for node in nodes:
        inputs = node.map_inputs(known.__getitem__)
        call = Call(node, inputs, size)
        mapped = any(operand.mapped for operand in call.operands)
        with in_place_of(node):
            if mapped:
                results = _batch_call(call)
            else:  # a node with inputs is made again, as one from before this trace is not part of it
                results = call.record(_tensors(inputs), node.out) if node.inputs else wrap_results(node)
            if results is None:
                values = parts(node)
                _run(unknown(values, known), known, size)
                known.update((node_value, known[value]) for node_value, value in zip(node.values, values, strict=True))
                continue
        for value, x in zip(node.values, results if isinstance(results, tuple) else (results,), strict=True):
            template = batch_template(value.template, size) if mapped else value.template
            if (x.shape, x.dtype) != (template.shape, template.dtype):
                expectation = f"the batching rule of {node.op} to return {template!r}"
                raise ContractError(expected(expectation, "fix the rule", given=x.template))
            known[value] = Operand(Tensor(template, x.backend, x.data), mapped)


def _tensors(inputs: Sequence[Any]) -> tuple[Any, ...]:
    return map_each(lambda operand: operand.x, inputs, Operand)


def _batch_call(call: Call) -> Results:
    """The results of a call on operands of which some are mapped; `None` for a composite whose parts are to run."""
    node = call.node
    declared = rules.get(node.op)
    results = declared(call) if declared is not None else None
    if results is not None:
        return results
    callback = CALLBACKS.get(node.op)
    if node.op == RENAMED or (callback is not None and callback.elementwise):
        rank = max(out.ndim for out in node.outs)
        return call.record([call.aligned(operand, rank) for operand in call.inputs])
    if node.default is not None:
        return _batch_composite(call)
    if callback is not None and _only_first(call):
        options = _shift_options(call)
        if options is not None:
            return call.record(_tensors(call.inputs), options=options)
    return one_by_one(call)


def runs_once(callback: Callback) -> bool:
    """Whether a primitive can take one more axis, rather than run once for each example."""
    if callback.name in rules or callback.elementwise or not callback.inputs:
        return True
    return all(name in ("axis", "axes", "lengths") or name in _FIRST or name in _NO_AXES for name in callback.options)


def _only_first(call: Call) -> bool:
    """Whether the first operand alone has the new axis, and the others, if any, have no axes."""
    first, *others = call.operands
    return first.mapped and not any(operand.mapped or operand.x.ndim for operand in others)


def _shift_options(call: Call) -> dict[str, object] | None:
    """The options of a callback for one more axis in front; `None` if it is not known how one of them changes."""
    changed: dict[str, object] = {}
    for name, value in call.options.items():
        if name == "axis" and isinstance(value, int):
            changed[name] = value + 1
        elif name == "axes":
            changed[name] = tuple(axis + 1 for axis in value)
        elif name == "lengths":
            changed[name] = (call.size, *value)
        elif name in _FIRST:
            changed[name] = (_FIRST[name], *value)
        elif name not in _NO_AXES:
            return None
    return changed


def _batch_composite(call: Call) -> Results:
    """Runs a composite of one operand with the options that name axes shifted, if a trial returns the right templates.

    Only composites of this distribution, which the property tests compare with a loop, run in this way. Others may
    use all axes together, such as `x / sum(x)`. Returns `None` if the parts are to run instead.
    """
    node, spec = call.node, _composites().get(call.node.op)
    if spec is None or len(call.inputs) != 1 or not isinstance(call.inputs[0], Operand):
        return None
    changed: dict[str, Any] = {}
    for parameter in spec.parameters:
        if parameter.role == "option":
            value: Any = node.options[parameter.name]
            if parameter.meaning in _AXES and value is not None:
                changed[parameter.name] = value + 1 if isinstance(value, int) else tuple(axis + 1 for axis in value)
            elif parameter.meaning != "dtype" and parameter.type not in (bool, float):
                return None
    shapes_only = get_backend("template")
    x = call.inputs[0].x
    try:
        trial = call_with_default(
            shapes_only,
            node.default,  # type: ignore[arg-type] # not None: it is a composite
            None,
            (Tensor(x.template, shapes_only, None),),
            {**node.options, **changed},
        )
    except TensorBackendError:
        return None
    results = trial if isinstance(trial, tuple) else (trial,)
    expected_templates = [batch_template(out, call.size) for out in node.outs]
    if [(x.shape, x.dtype) for x in results] != [(out.shape, out.dtype) for out in expected_templates]:
        return None
    return call.record([x], options=changed)


def _composites() -> Mapping[str, Any]:
    """The composites of this distribution by the names of their callbacks."""
    ours = __package__.partition(".")[0] + "."
    return {
        spec.callback: spec
        for spec in OPS.values()
        if spec.kind == "composite" and spec.function.__module__.startswith(ours)
    }


def one_by_one(call: Call) -> Results:
    """The results of a call for each example separately, stacked."""
    node = call.node
    rows: list[tuple[Tensor, ...]] = []
    for place in range(call.size):

        def example(operand: Operand, place: int = place) -> Tensor:
            return slice_basic(operand.x, (place,)) if operand.mapped else operand.x

        row = call.record(map_each(example, call.inputs, Operand), node.out)
        rows.append(row if isinstance(row, tuple) else (row,))
    results = []
    for number, out in enumerate(node.outs):
        if rows:
            results.append(concatenate([expand_dims(row[number]) for row in rows]))
        else:
            template = batch_template(out, 0)
            results.append(zeros(template.shape, dtype=template.dtype, names=template.names))
    return results[0] if isinstance(node.out, Template) else tuple(results)
