"""Transforms that cache the graphs that they derive, as programs, by the nodes that a function recorded.

The function runs at each call. If it recorded the same nodes before, its graph is not derived again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, ParamSpec, TypeAlias, TypeVar

from ...dispatch.watching import is_watching
from ...errors import TemplateDataError
from ...ops.creation.filled import zeros
from ...template import Template
from ...tensor import Tensor
from ..aliases import share_memory
from ..closures import close
from ..evaluate import evaluate
from ..graph import Graph
from ..node import HOOK, HOST
from ..trace import trace_leaves
from ..trees import unflatten
from .calls import Argnums, Call, trace_call
from .eager_traces import RecalledCall, recall_call
from .gradient_programs import GRADIENT_PROGRAMS, GradientProgram, tensor_of

P = ParamSpec("P")
R = TypeVar("R")

Key: TypeAlias = Any
"""What determines the programs of a function's transforms, as `Recalled.key` says."""

Transform: TypeAlias = Callable[[Call, Sequence[Tensor]], Any]
"""Takes a traced function and further tensors, such as tangents; computes nested tensors. It may be traced itself."""


class Memory:
    """Whether to look up what a function recorded: not once it made new nodes, as it will again."""

    def __init__(self) -> None:
        self.recalls = True


def differentiate(
    function: Callable[..., Any],
    argnums: Argnums,
    arguments: Sequence[Any],
    keywords: dict[str, Any],
    from_record: Callable[[RecalledCall, Key], Callable[[], R]],
    from_trace: Callable[[Call], Callable[[], R]],
    memory: Memory | None = None,
) -> R:
    """Apply a transform to a call of a function: `from_record` if its nodes are recalled, otherwise `from_trace`.

    Both return a function that computes the results. It is called when the trace is freed, unless it needs the trace.
    """
    recalls = (memory is None or memory.recalls) and not share_memory(arguments, keywords)
    record = recall_call(function, argnums, arguments, keywords) if recalls else None
    if record is None:
        return from_trace(trace_call(function, argnums, arguments, keywords))()
    calls_user = False
    try:
        key = record.key
        if key is not None:
            compute = from_record(record, key)
        else:
            if memory is not None:
                memory.recalls = False
            call = record.call()
            calls_user = any(node.op in (HOOK, HOST) for node in call.graph.nodes)
            compute = from_trace(call)
            del call
        record = None
        return compute()
    except Exception:  # whatever the user's function or a kernel raises; the trace below raises it again
        if calls_user:
            raise  # a function of the user's was called
    # Raises the error again, from nodes with the lines of this call rather than those of the call first traced.
    return from_trace(trace_call(function, argnums, arguments, keywords))()


def later(transform: Callable[P, R]) -> Callable[P, Callable[[], R]]:
    """A transform that needs the trace while it computes, as `differentiate` takes it."""
    return lambda *arguments, **keywords: partial(transform, *arguments, **keywords)


def run_transform(name: str, key: Key, record: RecalledCall, transform: Transform, more: Sequence[Tensor] = ()) -> Any:
    """The results of a transform, by one program of the function and all that the transform computes from it."""
    key = name, key, record.tree, *[x.template for x in more]
    held = [tensor for _, tensor in record.scope.lifted.values()]
    program = GRADIENT_PROGRAMS.get(key)
    if program is not None:
        whole: Graph = program.extra
        home = program.home
        if all(x.backend is home for x in more):
            payloads = program(record.payloads(program.places, more))
            outputs = [tensor_of(out, home, data) for out, data in zip(whole.results, payloads, strict=True)]
        else:
            outputs = evaluate(whole, [*held, *record.leaves, *more])
        return unflatten(whole.out_tree, outputs)
    start, stop, tensors = len(held), len(held) + len(record.leaves), [*held, *record.leaves, *more]

    def apply_transform(given: list[Tensor]) -> Any:
        return transform(record.call(given[:start], given[start:stop]), given[stop:])

    try:
        whole = trace_leaves(apply_transform, tensors, [""] * len(tensors))
    except TemplateDataError:  # the default of a composite reads captured data
        return transform(record.call(), more)
    if not whole.captured:
        GRADIENT_PROGRAMS.keep(key, GradientProgram(whole, record.scope.home, range(start), whole))
    return unflatten(whole.out_tree, evaluate(whole, tensors))


class Linear(NamedTuple):
    """A linear function of tensors: a graph that takes residuals first, with its program if that is cached."""

    graph: Graph
    residuals: Sequence[Tensor]
    program: GradientProgram | None = None

    def __call__(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """The results for tensors that have the shapes and dtypes of the graph's last parameters."""
        graph, residuals, program = self
        if program is not None and not is_watching():
            home = program.home
            if all(x.backend is home for x in tensors):
                with suppress(Exception):  # the graph raises it again, at the line of its node
                    results = program([x.data for x in (*residuals, *tensors)])
                    return [tensor_of(out, home, data) for out, data in zip(graph.results, results, strict=True)]
        return evaluate(graph, [*residuals, *tensors])


class SplitPrograms(NamedTuple):
    """What computes the results of a function and a linear function at these."""

    forward: Graph
    """Takes the parameters, then tensors for `unused`. Computes the results, then the residuals of `linear`."""
    linear: Graph
    unused: Sequence[Template] = ()
    """The templates of operands on which no result depends."""


def split_program(
    name: str, key: Key, record: RecalledCall, split: Callable[[Graph, Sequence[int]], SplitPrograms]
) -> tuple[list[Tensor], Linear]:
    """The results of a function and a linear function at these, as `split` derives them.

    `split` takes the function's graph and the positions of the parameters to differentiate by.
    """
    program = GRADIENT_PROGRAMS.get((name, key))
    home, count = record.scope.home, len(record.outputs)
    if program is not None:
        halves, second, unused = program.extra
        payloads = program(record.payloads(program.places, unused))
        outputs = [tensor_of(out, home, data) for out, data in zip(halves.forward.results, payloads, strict=True)]
        return outputs[:count], Linear(halves.linear, outputs[count:], second)
    call = record.call()
    (graph,), constants = close([call.graph])
    halves = split(graph, range(len(constants), len(graph.parameters)))
    unused = [zeros(x.shape, dtype=x.dtype, backend=home) for x in halves.unused]
    places, second = record.places(constants), None
    if places is not None and not halves.forward.captured and not halves.linear.captured:
        second = GradientProgram(halves.linear, home, None)
        GRADIENT_PROGRAMS.keep((name, key), GradientProgram(halves.forward, home, places, (halves, second, unused)))
    outputs = evaluate(halves.forward, [*constants, *call.leaves, *unused])
    return outputs[:count], Linear(halves.linear, outputs[count:], second)
