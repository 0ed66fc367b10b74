"""`compare`: runs one program on two engines, and finds the first op whose results differ."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

from ...declarations.argument_errors import check_arguments_early
from ...declarations.signature_errors import check_handed_on
from ...errors import ArgumentError, expected
from ...protocol import Backend, BackendLike
from ...select import get_backend
from ...tensor import Tensor
from ..graph import Graph
from ..saved_graphs import save_graph
from .compiled import CompiledSide
from .lockstep import FoundDifference, Lockstep
from .recording import Recording, is_recording
from .result import Comparison, Difference
from .walk import Visit, computed, trace_for


@check_arguments_early
def compare(
    function: Callable[..., Any],
    /,
    *arguments: Any,
    backends: tuple[BackendLike | os.PathLike[str], BackendLike | os.PathLike[str]] = ("numpy", "jax"),
    jit: bool = False,
    gradient: bool = False,
    save: str | os.PathLike[str] | None = None,
    **keywords: Any,
) -> Comparison:
    """Run one program on two engines, and find the first op whose results differ by more than its stated accuracy.

    The function is traced once. Each op then runs on both engines with the same operands, those of the first engine, so
    that no error of an earlier op is taken for one of a later op. Branches and loops are followed inside. What an op
    states is what `tensorbackend check` tests; where a composite exceeds it, the accuracy of its parts is measured for
    these operands before it counts.

    With `jit` the second engine compiles the whole program. Its results may differ by what the accuracy of all ops
    explains: the first engine runs the program a few times with each result moved by that. If they differ by more, the
    program is cut to find the first op after which it is wrong.

    Parameters
    ----------
    function
        A function of tensors and of anything else, or a graph.
    *arguments
        Its arguments, with tensors.
    backends : pair of Backend, type, str or path, default ("numpy", "jax")
        The two engines, of which the first is believed. One of them may be a file of `record_run`.
    jit : bool, default False
        Whether the second engine compiles the program. The same backend twice compares its compiled and its eager run.
    gradient : bool, default False
        Whether `value_and_grad(function)` is run in place of the function.
    save : str or os.PathLike, optional
        Where to write the difference as a program, by `save_graph`: the op, or the few ops that are compiled together,
        with the values before them. No file is written if the engines agree.
    **keywords
        The function's keyword arguments.

    Returns
    -------
    Comparison
        What was found, with the op, its line, the operands' ranges and the two values; as text, a few lines.

    Raises
    ------
    ArgumentError
        For two recordings, a recording that is to be compiled, and a recording of another program.

    Examples
    --------
    >>> def scores(x):
    ...     return tb.log(tb.sum(tb.exp(x)))
    >>> x = tb.asarray([1.0, 2.0])
    >>> tb.compare(scores, x, backends=("binary", "numpy"))
    scores: binary and numpy agree in 3 calls of ops, each within its stated accuracy

    An engine whose exponential is wrong:

    >>> class Wrong(tb.NumpyBackend):
    ...     def exp(self, out, x):
    ...         return super().exp(out, x) * 1.001
    >>> found = tb.compare(scores, x, backends=("numpy", Wrong), gradient=True).difference
    >>> found.op, str(found.line).partition(":")[2], found.operands[0].high
    ('exp', '2', 2.0)

    See Also
    --------
    record_run : Records a run for an engine of another process.
    save_graph : Writes a program to a file.
    debug_nans : Finds the op that computes the first NaN.
    """
    check_handed_on(compare, function, keywords, arguments)
    recorded = [is_recording(engine) for engine in backends]
    if all(recorded) or (recorded[1] and jit):
        remedy = "give at least one backend, and compile that one"
        raise ArgumentError(expected("a recording and a backend", remedy, backends=backends, jit=jit))
    believed, other = reversed(backends) if recorded[1] else backends
    second = get_backend(cast("BackendLike", other))
    graph, tensors, function_name = trace_for(function, arguments, keywords, gradient=gradient, lift=jit)
    first, home, name = _first_engine(believed)
    others = second.name
    if others == name and type(second) is not type(home):  # a class of the user's with the name of its base
        name, others = type(home).__name__, type(second).__name__
    others = f"{others}, compiled" if jit else others
    if jit:
        side = CompiledSide(graph, tensors, home, first, second)
        difference, ops = side.find(), side.number
    else:
        difference, ops = _in_lockstep(graph, tensors, home, first, second, opens=not any(recorded))
    if difference is not None and save is not None:
        assert difference.graph is not None  # each has one
        save_graph(save, difference.graph)
    return Comparison(function_name, (name, others), ops, difference)


def _first_engine(engine: Any) -> tuple[Visit, Backend, str]:
    """What computes a node, where its tensors live, and its name."""
    if is_recording(engine):
        recording = Recording(os.fspath(engine))
        return recording, get_backend("numpy"), recording.engine
    backend = get_backend(engine)
    return partial(computed, backend), backend, backend.name


def _in_lockstep(
    graph: Graph, tensors: Sequence[Tensor], home: Backend, first: Visit, second: Backend, *, opens: bool
) -> tuple[Difference | None, int]:
    lockstep = Lockstep(home, first, second, opens=opens)
    try:
        lockstep.walk.run(graph, tensors)
    except FoundDifference as found:
        return found.difference, lockstep.number
    return None, lockstep.number
