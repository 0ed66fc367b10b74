"""`profile`: the time of a block by op, line and backend."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import get_ident
from time import perf_counter_ns as now
from types import CodeType
from typing import Any
from weakref import finalize

from ...declarations.argument_errors import check_arguments, check_arguments_early
from ...errors import ArgumentError, expected
from ...rules.plan import integer
from ...tensor.missing_names import explain_missing
from .. import show_seconds
from .limits import Limits, machine_limits
from .report import Branch, By, Row, plain_tree, rows_of, table, trace_of, tree_of
from .spans import ELSEWHERE, Costs, Recording, Span, all_spans, outermost_calls, recorder, spans_of

TOP = 20
"""The default number of rows in a table as text."""


@explain_missing
class Profile:
    """Result of `profile`: all kernels that ran while its block ran, in all threads."""

    def __init__(self, wait: bool, limits: Limits | Mapping[str, Limits] | None) -> None:
        self._limits = limits
        self._started = self._ended = 0
        self._recording = Recording(self, wait)
        # If an interrupt hits just as the block ends, nobody calls `_end`.
        self._abandoned = finalize(self, recorder.end, self._recording)
        self._abandoned.atexit = False
        self._events: list[tuple[Any, ...]] = []
        self._spans: list[Span] | None = None
        self.runs: tuple[float, ...] = ()
        """The seconds of each repetition of `profile_function`."""

    def _begin(self) -> None:
        recorder.begin(self._recording)
        self._started = now()

    def _end(self) -> None:
        self._ended = now()
        self._events = recorder.end(self._recording)
        self._abandoned.detach()

    @property
    def duration(self) -> float:
        """Seconds from the beginning of the block to its end, or until now."""
        return ((self._ended or now()) - self._started) / 1e9

    @property
    def spans(self) -> tuple[Span, ...]:
        """The outermost spans, each with those inside it; empty while the block runs.

        Examples
        --------
        >>> import tensorbackend as tb
        >>> with tb.profile() as p:
        ...     y = tb.sum(tb.ones(3) + 1)
        >>> [span.name for span in p.spans], p.spans[-1].backend
        (['ones', 'add', 'sum'], 'numpy')
        """
        if self._spans is None:
            spans = spans_of(self._events, Costs())
            if not self._ended:
                return ()
            self._spans = spans
        return tuple(self._spans)

    def add(self, text: str, seconds: float = 0.0) -> None:
        """Add an external measurement: a mark at this point in time, or a span that ends here.

        Parameters
        ----------
        text : str
            Its name.
        seconds : float, default 0
            Its duration; 0 for a mark.

        Raises
        ------
        ArgumentError
            After the end of the block, and for a time below 0 or one that is not finite.
        """
        self._require_running()
        if not 0 <= seconds < math.inf:
            raise ArgumentError(expected("a finite number of seconds of at least 0", seconds=seconds))
        end, caller = now(), recorder.caller(sys._getframe(1))
        thread = ELSEWHERE if seconds else get_ident()
        recorder.add(text, caller, end - round(seconds * 1e9), end, thread)

    def span(self, text: str) -> AbstractContextManager[None]:
        """Record a block as a span around everything that runs in it.

        Examples
        --------
        >>> import tensorbackend as tb
        >>> with tb.profile() as p, p.span("twice"):
        ...     y = tb.ones(3) * 2
        >>> [(span.name, [inner.name for inner in span.inside]) for span in p.spans]
        [('twice', ['ones', 'multiply'])]
        """
        self._require_running()
        return _block(text, recorder.caller(sys._getframe(1)))

    def _require_running(self) -> None:
        if self._ended:
            raise ArgumentError(expected("a profile whose block runs", "write: with tb.profile() as p: ..."))

    # Reports

    def _limits_of(self, span: Span) -> Limits | None:
        """The limits of a span's device: those that were passed to the profile, else measured ones."""
        if self._limits is not None:
            return self._limits if isinstance(self._limits, Limits) else self._limits.get(span.backend or "")
        if span.device is None or span.device.dispatch_priority > 1:  # it only records or plans what others compute
            return None
        return machine_limits(span.device)

    def rows(self, by: By = "op") -> list[Row]:
        """Sum the runs by op, by the user's line and op, or by backend, sorted by their own time in descending order.

        Parameters
        ----------
        by : {"op", "line", "backend"}, default "op"
            The property by which runs are grouped.

        Returns
        -------
        list of Row
            Calls, seconds with and without what ran inside, theoretical FLOPs and bytes as `tb.dry_run` counts them,
            and the fraction of the seconds that the work takes at the device's limits.
        """
        if by not in ("op", "line", "backend"):
            raise ArgumentError(expected("by to be 'op', 'line' or 'backend'", by=by))
        return rows_of(self.spans, by, self._limits_of)

    def text(self, by: By = "op", top: int = TOP) -> str:
        """The rows as a table."""
        return table(self.rows(by), top)

    def tree(self, min_seconds: float = 0.0) -> list[Branch]:
        """A branch for each of the user's lines, below it the ops that the line called, and below these their parts.

        Branches that took less than `min_seconds` in total are omitted.
        """
        return tree_of(self.spans, self._limits_of, min_seconds)

    def print(self, min_seconds: float = 0.0) -> None:
        """Print the tree, with rich if it is installed."""
        branches = self.tree(min_seconds)
        plain = "\n".join(filter(None, [self._summary(), plain_tree(branches)]))
        try:
            from rich.console import Console
            from rich.text import Text
            from rich.tree import Tree
        except ImportError:
            print(plain)
            return

        def grow(tree: Tree, branches: list[Branch]) -> Tree:
            for branch in branches:
                grow(tree.add(Text(branch.text)), branch.branches)  # `Text`, so that brackets are not markup
            return tree

        console, tree = Console(), grow(Tree(Text(self._summary())), branches)
        if console.measure(tree, options=console.options.update(max_width=10_000)).maximum > console.width:
            print(plain)  # rich would cut lines off
        else:
            console.print(tree)

    def __repr__(self) -> str:
        if not self._ended:
            return f"<profile that runs for {show_seconds(self.duration)}>"
        return "\n".join(filter(None, [self._summary(), plain_tree(self.tree())]))

    def _summary(self) -> str:
        calls = list(outermost_calls(self.spans))
        marks = ", ".join(span.name for span in all_spans(self.spans) if span.is_mark)
        told = f"{show_seconds(self.duration)}, of which {show_seconds(sum(call.seconds for call in calls))}"
        told += f" in {len(calls)} calls of ops"
        if self.runs:
            told += f"; {len(self.runs)} runs, the quickest {show_seconds(min(self.runs))}"
        return f"{told}; {marks}" if marks else told

    def save(self, path: str | Path) -> None:
        """Write a file of trace events, which https://ui.perfetto.dev and chrome://tracing open.

        Parameters
        ----------
        path : str or Path
            The file to write, such as `"trace.json"`.
        """
        content = trace_of(self.spans, self._started, self._limits_of)
        Path(path).write_text(json.dumps(content), encoding="utf-8")


@contextmanager
def _block(text: str, caller: tuple[CodeType | None, int]) -> Iterator[None]:
    """Records a block as a span of a user's line."""
    start = now()
    try:
        yield
    finally:
        recorder.add(text, caller, start, now(), get_ident())


@check_arguments
@contextmanager
def profile(*, wait: bool = False, limits: Limits | Mapping[str, Limits] | None = None) -> Iterator[Profile]:
    """Measure the time of a `with` block by op, backend and the user's line, in all threads.

    Each run of a kernel is a span. What runs inside it, such as the parts of a composite or the nodes of a function
    that `jit` compiled on NumPy, is a span inside that span. A program that a backend compiles as a whole, as JAX does,
    is one span. Profiles may be nested; each has everything that ran in its block. While no block runs, nothing
    is measured and calls have no overhead.

    Parameters
    ----------
    wait : bool, default False
        Whether each call waits until its result is computed, on a backend that computes asynchronously (JAX, CuPy).
        Without it, the time of such a call is that of its submission, and the time of the computation appears
        where something waits for the result.
    limits : Limits or mapping, optional
        The limits of the device, for all backends or by the names of backends; by default they are measured by
        `machine_limits` when a report needs them.

    Yields
    ------
    Profile
        The profile, which can be printed, summed by `rows()`, and saved.

    Examples
    --------
    >>> x = tb.ones((64, 64))
    >>> with tb.profile(limits=tb.Limits(flops=1e11, bandwidth=1e10)) as p:
    ...     y = tb.tanh(x @ x)
    >>> [(row.name, row.calls, row.flops) for row in sorted(p.rows())]
    [('matmul', 1, 524288), ('tanh', 1, 0)]

    See Also
    --------
    profile_function : Runs a function several times.
    dry_run : Computes a function's theoretical cost, without running it.
    """
    new_profile = Profile(bool(wait), limits)
    try:
        new_profile._begin()
        yield new_profile
    finally:
        new_profile._end()


@check_arguments_early
def profile_function(
    function: Callable[..., Any],
    *arguments: Any,
    warmup: int = 1,
    repeat: int = 1,
    wait: bool = True,
    limits: Limits | Mapping[str, Limits] | None = None,
) -> Profile:
    """Profile calls of a function, after some warm-up calls.

    Parameters
    ----------
    function : callable
        The function to call with the arguments; a lambda can pass keywords to another function.
    *arguments
        Its arguments.
    warmup : int, default 1
        The number of warm-up calls, during which plans are made and programs are compiled.
    repeat : int, default 1
        The number of measured calls, each of which is a span. `Profile.runs` has their seconds.
    wait : bool, default True
        Whether each op waits until its result is computed, as in `profile`.
    limits : Limits or mapping, optional
        The limits of the device, as in `profile`.

    Returns
    -------
    Profile
        The profile of the measured calls.

    Examples
    --------
    >>> p = tb.profile_function(tb.softmax, tb.ones((4, 4)), repeat=3)
    >>> [span.name for span in p.spans], len(p.runs)
    (['softmax', 'softmax', 'softmax'], 3)
    """
    for _ in range(integer(0, warmup=warmup)):
        function(*arguments)
    name = getattr(function, "__name__", type(function).__name__)
    runs = []
    with profile(wait=wait, limits=limits) as measurement:
        for _ in range(integer(1, repeat=repeat)):
            start = now()
            with measurement.span(name):
                function(*arguments)
            runs.append((now() - start) / 1e9)
    measurement.runs = tuple(runs)
    return measurement


@check_arguments
def current_profile() -> Profile | None:
    """Return the profile of the innermost active block of any thread; `None` if there is none.

    Returns
    -------
    Profile or None
        The profile.

    Examples
    --------
    >>> with tb.profile() as p:
    ...     tb.current_profile() is p
    True
    """
    profiles = [recording.profile() for recording in reversed(recorder.running.copy())]
    return next((each for each in profiles if isinstance(each, Profile)), None)
