"""`dry_run`: traces a function on templates, and reports what a call would cost."""

from __future__ import annotations

import gc
import linecache
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from ..declarations.argument_errors import check_arguments_early
from ..declarations.signature_errors import check_handed_on
from ..errors import ArgumentError, OperandError, TensorBackendError, expected
from ..expr.donation import check_donated, donatable, places_of
from ..expr.graph import Graph, held_by
from ..expr.node import Line, is_users
from ..expr.recomputation import Selection, select_calls
from ..expr.simplify import common_subexpressions, constant_folding
from ..expr.trace import trace
from ..mesh import Layout, Mesh
from ..select import get_backend
from . import parse_bytes
from .candidates import choose_recomputation
from .estimate import Estimator
from .memory import Timeline, timeline
from .mesh.divided import OnMesh
from .mesh.machines import Machine, machine_of
from .program import Program
from .rematerialization import rematerialized
from .report import DryRun


@check_arguments_early
def dry_run(
    function: Callable[..., Any],
    *templates: Any,
    gradient: bool = False,
    mesh: Mesh | None = None,
    layout: Mapping[str, Any] | None = None,
    machine: str = "h100",
    fits: int | str | None = None,
    donate: str | Sequence[str] = (),
    **keywords: Any,
) -> DryRun:
    """Compute the cost of a call without data: errors in shapes, FLOPs, bytes moved, memory over time.

    Arguments are those of `trace`: templates, text such as `"f32[batch=32, feature=784]"`, or lists, tuples, dicts and
    dataclasses of them; tensors are replaced by their templates. With `gradient`, `value_and_grad(function)` is run in
    place of the function. An error of tensorbackend has the user's line as a note. docs/dry-run.md defines the counts.
    With a mesh, `on_mesh` of the result says what each device needs and sends; no device is needed for that.

    Parameters
    ----------
    function
        A function of tensors and of anything else.
    *templates
        The function's arguments, with templates for tensors.
    gradient : bool, default False
        Whether the gradient with respect to the first argument is run too.
    mesh : Mesh, optional
        A mesh over which tensors are divided.
    layout : mapping of str to str, sequence of str or None, optional
        The rules that map named axes to mesh axes, as for `JaxBackend`; without rules each device holds whole
        tensors.
    machine : str, default "h100"
        The machine for which times are predicted: "h100" or "h200".
    fits : int or str, optional
        A limit of memory in bytes, or text such as `"80GB"`. The result's `recomputation` then says which calls of
        checkpointed functions to compute again for it, as `fit` does, and its costs are those of that choice.
    donate : str or sequence of str, optional
        The names of parameters that the caller gives up, as for `jit`: their tensors are freed at their last use, on
        each device of a mesh too. The report names others whose memory results could take.
    **keywords
        The function's keyword arguments.

    Returns
    -------
    DryRun
        The cost of the call.

    Raises
    ------
    ArgumentError
        For a rule with an axis that the mesh does not have, a layout without a mesh, and an unknown machine.

    Examples
    --------
    >>> report = tb.dry_run(lambda x, w: tb.exp(x @ w), "f32[batch=32, k=784]", "f32[k=784, n=10]")
    >>> report.flops == 2 * 32 * 784 * 10, report.eager.transcendentals, report.peak.memory, report.fits("1MB")
    (True, 320, 134272, True)

    On four devices, each with a part of the batch, the sum over the batch is an all-reduce of 3136 bytes:

    >>> mesh = tb.Mesh({"data": 4})
    >>> rules = {"batch": "data"}
    >>> report = tb.dry_run(lambda x: tb.sum(x, axis="batch"), "f32[batch=32, k=784]", mesh=mesh, layout=rules)
    >>> report.on_mesh.by_kind, report.on_mesh.parameters[0].sharding
    ({'all-reduce': 3136}, <f32[batch: 32 / data][k: 784] on Mesh({'data': 4})>)
    """
    if any(f"{base.__module__}.{base.__name__}" == "torch.nn.modules.module.Module" for base in type(function).__mro__):
        remedy = "tensorbackend_onnx.from_torch(module, *examples) makes one of a module of PyTorch"
        raise OperandError(expected("a function of tensors", remedy, function=type(function).__name__))
    check_handed_on(dry_run, function, keywords, templates)
    placed = target(mesh, layout, machine)
    name = getattr(function, "__qualname__", type(function).__name__)
    names, estimator = check_donated(function, donate), Estimator()

    def traced() -> tuple[Graph, OnMesh | None]:
        graph = trace_call(function, templates, keywords, gradient=gradient)
        return graph, placed and OnMesh(graph, *placed, donated=places_of(names, graph.names))

    def run() -> DryRun:
        graph, on_mesh = traced()
        return report(graph, name, gradient=gradient, on_mesh=on_mesh, donate=names)

    def program() -> Program:
        graph, on_mesh = traced()
        return eager_program(graph, estimator, names) if on_mesh is None else on_mesh.program

    with pause_collection():
        if fits is None:
            return run()
        limit = parse_bytes(fits) if isinstance(fits, str) else int(fits)
        recomputation = choose_recomputation(program, limit, sets_aside=True)
        with select_calls(Selection(recomputation.chosen)):
            chosen_run = run()
        chosen_run.recomputation = recomputation
        return chosen_run


def target(mesh: Mesh | None, layout: Any, machine: str) -> tuple[Layout, Machine] | None:
    """The layout and the machine of a dry run; `None` without a mesh."""
    if mesh is None:
        if layout is not None:
            raise ArgumentError(expected("a mesh together with a layout", "pass mesh=tb.Mesh(...)", layout=layout))
        return None
    return Layout(mesh, {} if layout is None else layout), machine_of(machine)


def trace_call(
    function: Callable[..., Any], templates: Sequence[Any], keywords: Mapping[str, Any], *, gradient: bool
) -> Graph:
    """The graph of a function or of its gradient; an error has the user's line as a note."""
    if gradient:
        from ..expr.grad.functions import value_and_grad  # the rules of all ops, which not every dry run needs

        function = value_and_grad(function)
    try:
        return trace(function)(*templates, **keywords)
    except TensorBackendError as error:
        line = user_line(error.__traceback__)
        if line is not None:
            error.add_note(f"at {line.file}:{line.number}: {source_of(line)}")
        raise


@contextmanager
def pause_collection() -> Iterator[None]:
    """Disables Python's garbage collection inside the block: a long program makes many objects that live to the end,
    and the search for cycles among them takes a third of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def report(
    graph: Graph,
    name: str = "graph",
    *,
    gradient: bool = False,
    on_mesh: OnMesh | None = None,
    donate: Sequence[str] = (),
) -> DryRun:
    """The costs of a graph, unoptimised and optimised, and on each device of a mesh, with some parameters donated.

    Cheap values are computed again for donated parameters if the default backend does that.
    """
    estimator, more = Estimator(), donatable(graph, donate)
    eager, optimised = eager_program(graph, estimator, donate), _rewritten(graph)
    with_more = optimised_timeline(optimised, estimator, [*donate, *more]).peak
    program = Program("optimised", optimised_timeline(optimised, estimator, donate), graph.names)
    return DryRun(name, gradient, eager, program, on_mesh, more, with_more)


def eager_program(graph: Graph, estimator: Estimator, donate: Sequence[str] = ()) -> Program:
    """The costs of a graph whose ops run as written."""
    _refuse_templates(graph)
    donated = places_of(donate, graph.names)
    return Program("eager", timeline(graph, estimator.works(graph), donated=donated), graph.names)


def optimised_program(graph: Graph, estimator: Estimator) -> Program:
    """The costs of a graph as a compiler rewrites it."""
    _refuse_templates(graph)
    return Program("optimised", optimised_timeline(_rewritten(graph), estimator, ()), graph.names)


def _rewritten(graph: Graph) -> Graph:
    # Constants are folded on templates, so that none is computed; equal ones are merged before, while they have data.
    return constant_folding(common_subexpressions(graph), get_backend("template"))


def optimised_timeline(graph: Graph, estimator: Estimator, donate: Sequence[str]) -> Timeline:
    """The memory of a rewritten graph, with cheap values computed again if the default backend does that."""
    places = places_of(donate, graph.names)
    spared = rematerialized(graph, places) if get_backend().rematerializes else graph
    return timeline(spared, estimator.works(spared), reuse=True, donated=places)


def _refuse_templates(graph: Graph) -> None:
    """Raises `OperandError` for a template tensor that a function keeps."""
    shapes_only = get_backend("template")
    for x in held_by(graph):
        if x.backend is shapes_only:
            remedy = "pass it as an argument, in a list, tuple, dict or dataclass"
            raise OperandError(expected("no template tensor from outside the function", remedy, tensor=x.template))


def user_line(traceback: TracebackType | None) -> Line | None:
    """The innermost line outside this package at which an error was raised."""
    line = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if is_users(code.co_filename):
            line = Line(code.co_filename, traceback.tb_lineno, code.co_name)
        traceback = traceback.tb_next
    return line


def source_of(line: Line) -> str:
    """The text of a line of a program; empty if the source is not found."""
    return linecache.getline(line.file, line.number).strip()
