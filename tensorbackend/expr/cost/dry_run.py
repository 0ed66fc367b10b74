"""`dry_run`: a function on templates, and what it would cost."""

from __future__ import annotations

import gc
import linecache
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from ...entry import checked
from ...errors import OperandError, TensorBackendError, expected
from ...select import get_backend
from ..graph import Graph
from ..node import Line, is_users
from ..simplify import common_subexpressions, constant_folding
from ..trace import trace
from .estimate import Estimator
from .memory import timeline
from .program import Program
from .report import DryRun


@checked
def dry_run(function: Callable[..., Any], *templates: Any, gradient: bool = False, **keywords: Any) -> DryRun:
    """Find out what a call would cost without data: errors in shapes, FLOPs, bytes moved, memory over time.

    Arguments are those of `trace`: templates, text such as `"f32[batch=32, feature=784]"`, or lists, tuples, dicts and
    dataclasses of them; tensors stand for their templates. With `gradient` it is `value_and_grad(function)` that is
    run. An error of tensorbackend has the user's line as a note. docs/dry-run.md says what is counted.

    Parameters
    ----------
    function
        A function of tensors and of anything else.
    *templates
        Its arguments, with templates for tensors.
    gradient : bool, default False
        Whether the gradient by the first argument is run too.
    **keywords
        Its keyword arguments.

    Returns
    -------
    DryRun
        The cost, with the template of the result.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> found = tb.dry_run(lambda x, w: tb.exp(x @ w), "f32[batch=32, k=784]", "f32[k=784, n=10]")
    >>> found.flops == 2 * 32 * 784 * 10, found.eager.transcendentals, found.peak.memory, found.fits("1MB")
    (True, 320, 134272, True)
    """
    name = getattr(function, "__qualname__", type(function).__name__)
    if gradient:
        from ..grad.functions import value_and_grad  # the rules of all ops, which not every dry run needs

        function = value_and_grad(function)
    with _uncollected():
        try:
            graph = trace(function)(*templates, **keywords)
        except TensorBackendError as error:
            line = user_line(error.__traceback__)
            if line is not None:
                error.add_note(f"at {line.file}:{line.number}: {source_of(line)}")
            raise
        return report(graph, name, gradient=gradient)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without looking for cycles: a long program makes many objects that live to the end, and looking takes a third
    of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def report(graph: Graph, name: str = "graph", *, gradient: bool = False) -> DryRun:
    """The costs of a graph, as it is and optimised."""
    shapes_only = get_backend("template")
    for node in graph.captured:
        if node.tensor is not None and node.tensor.backend is shapes_only:
            remedy = "pass it as an argument, in a list, tuple, dict or dataclass"
            raise OperandError(expected("no template tensor from outside the function", remedy, tensor=node.out))
    estimator = Estimator()
    # Folded on templates, so that no constant is computed; alike ones are found before, while they have data.
    optimised = constant_folding(common_subexpressions(graph), shapes_only)
    return DryRun(
        name,
        gradient,
        Program("eager", timeline(graph, estimator.works(graph)), graph.names),
        Program("optimised", timeline(optimised, estimator.works(optimised), reuse=True), graph.names),
    )


def user_line(traceback: TracebackType | None) -> Line | None:
    """The innermost line outside this package at which an error was raised."""
    found = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if is_users(code.co_filename):
            found = Line(code.co_filename, traceback.tb_lineno, code.co_name)
        traceback = traceback.tb_next
    return found


def source_of(line: Line) -> str:
    """The text of a line of a program, where it can be had."""
    return linecache.getline(line.file, line.number).strip()
