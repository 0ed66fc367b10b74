"""When kernels begin and end, in all threads, while the block of a profile runs: as spans, with theoretical costs."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from operator import attrgetter
from threading import get_ident
from time import perf_counter_ns as now
from types import CodeType, FrameType
from typing import Any, Final, NamedTuple
from weakref import ref

from ...caching import module_lock
from ...dispatch.watching import Subject, is_watching, unwatch, watch
from ...errors import TensorBackendError
from ...expr.evaluate import Compiled
from ...expr.graph import Graph
from ...expr.node import PARAMETER, Line, Node, Value, current_scope, is_users
from ...protocol import Backend, Kernel
from ...protocol.core import Core
from ...template import Template
from ...tensor import Tensor
from ..estimate import Estimator
from ..flops import Work, total

ELSEWHERE: Final = 0
"""The thread of spans that a user measured elsewhere: one of its own, so that no other spans are put inside them."""

NOWHERE: Final = Line("", 0, "")
"""The line of nodes that only represent a call, for its cost."""


class Span(NamedTuple):
    """One run of an op or of a part of one, or an entry of the user."""

    name: str
    """The public op, the callback of a node of a program, or the user's text."""
    backend: str | None
    """The name of the backend that computed; `None` for a user's own entry."""
    device: Backend | None
    """The backend that computed; `None` for a user's own entry."""
    line: Line | None
    """The user's line of the call, or of the traced op."""
    start: int
    """Nanoseconds of the clock of `time.perf_counter`."""
    end: int
    thread: int
    out: Any
    """The template of the result, a tuple of them, or `None` where it is not known."""
    work: Work | None
    """The cost of the span on paper, `None` where that is not known."""
    inside: list[Span]
    """The spans that ran in this one, in order."""

    @property
    def seconds(self) -> float:
        """Its duration, including everything that ran inside."""
        return (self.end - self.start) / 1e9

    @property
    def own(self) -> float:
        """Its duration, without what ran inside."""
        return self.seconds - sum(span.seconds for span in self.inside)

    @property
    def is_mark(self) -> bool:
        """Whether it is a user's mark: a text at a point in time."""
        return self.backend is None and self.start == self.end


class Costs:
    """Computes the theoretical costs of kernels, once for each subject."""

    def __init__(self) -> None:
        self._estimators: dict[Backend | None, Estimator] = {}
        self._known: dict[int, tuple[Any, Work | None]] = {}

    def of(self, what: Subject | Node, backend: Backend) -> Work | None:
        """The work of a kernel; `None` if it is not known, for example if it depends on data."""
        known = self._known.get(id(what))
        if known is None:
            # `what` is kept too, so that nothing else gets its id.
            known = self._known[id(what)] = what, self._compute_work(what, backend)
        return known[1]

    def _compute_work(self, what: Subject | Node, backend: Backend) -> Work | None:
        estimator = self._estimators.get(backend)
        if estimator is None:
            estimator = self._estimators[backend] = Estimator(backend)
        try:
            if isinstance(what, Node):
                return estimator.work(what)
            if isinstance(what.parts, Graph):
                return total(estimator.works(what.parts))
            return None if what.out is None else estimator.work(_node(what))
        except TensorBackendError:  # an op without a rule, a default that looks at data
            return None


def _name(node: Node) -> str:
    """The callback of a node. For a fused node, the callbacks of its parts follow in brackets."""
    if not isinstance(node.default, Compiled):
        return node.op
    ops = dict.fromkeys(part.op for part in node.default.nodes if part.op != "constant")
    return f"{node.op}({', '.join(ops)})"


def _node(subject: Subject) -> Node:
    """A call as a node, with the templates of its operands."""
    return Node(
        subject.callback,
        subject.out,
        tuple(map(_value, subject.inputs)),
        subject.options,
        default=subject.parts,
        line=NOWHERE,
    )


def _value(operand: Any) -> Any:
    if isinstance(operand, Template):
        return Value(Node(PARAMETER, operand, line=NOWHERE))
    return None if operand is None else tuple(map(_value, operand))


def spans_of(events: Iterable[tuple[Any, ...]], costs: Costs) -> list[Span]:
    """Converts events to spans in the order of their starts; each is nested in the enclosing one of its thread."""
    outermost: list[Span] = []
    open_spans: dict[int, list[Span]] = {}
    for event in sorted((Event(*fields) for fields in events), key=lambda event: (event.start, -event.end)):
        around = open_spans.setdefault(event.thread, [])
        while around and (around[-1].end < event.end or around[-1].end <= event.start):
            around.pop()
        span = _span(event, costs)
        (around[-1].inside if around else outermost).append(span)
        if not span.is_mark:
            around.append(span)
    return outermost


def _span(event: Event, costs: Costs) -> Span:
    when = event.start, event.end, event.thread
    what: Any = event.what
    if isinstance(what, str):
        return Span(what, None, None, event.line, *when, None, None, [])
    backend: Any
    if isinstance(what, Subject):
        backend, name, out = what.backend.beneath, what.name, what.out
    else:
        what, backend = what
        name, out = _name(what), what.out
    return Span(name, backend.name, backend, event.line, *when, out, costs.of(what, backend), [])


def outermost_calls(spans: Iterable[Span]) -> Iterator[Span]:
    """The calls of ops that are not inside another call."""
    for span in spans:
        if span.backend is not None:
            yield span
        else:
            yield from outermost_calls(span.inside)


def all_spans(spans: Iterable[Span]) -> Iterator[Span]:
    """The spans, each followed by those inside it."""
    for span in spans:
        yield span
        yield from all_spans(span.inside)


class Event(NamedTuple):
    """One run of a kernel, or an entry of the user."""

    what: Subject | tuple[Node, Backend] | str
    """What ran: an op, or a node of a program with the backend that runs it; for a user's entry its text."""
    code: CodeType | None
    """The code of the user's function that called; `None` for a part of a program."""
    number: int
    """The number of the line in that function."""
    start: int
    """Nanoseconds of the clock of `time.perf_counter`."""
    end: int
    thread: int
    scope: str = ""
    """The names of the `name_scope` blocks around the call."""

    @property
    def line(self) -> Line | None:
        """The user's line of the call, or of the traced op."""
        if self.code is not None:
            return Line(self.code.co_filename, self.number, self.code.co_name, self.scope)
        return None if isinstance(self.what, Subject | str) else self.what[0].line


_WAITS: Final = attrgetter("wait")


class Recording:
    """The recording of a profile, without a strong reference to the profile."""

    def __init__(self, profile: object, wait: bool) -> None:
        self.profile: Final = ref(profile)
        self.wait: Final = wait
        """Whether the profile waits for results."""


class Recorder:
    """Records the events for all profiles whose blocks run. There is one instance, `recorder`."""

    def __init__(self) -> None:
        self.events: list[tuple[Any, ...]] = []
        """The fields of each `Event`, in a plain tuple, which is made in a third of the time."""
        self.running: dict[Recording, int] = {}
        """For each profile whose block runs, the number of events at its beginning."""
        self.waiting = False
        """Whether one of those profiles waits for results."""

    def begin(self, recording: Recording) -> None:
        """Starts recording for one more profile."""
        with _lock:
            if not self.running:
                self.events = []
            self.running[recording] = len(self.events)
            self.waiting = any(map(_WAITS, self.running))
            if not is_watching(self.watch_kernel):
                watch(self.watch_kernel)

    def end(self, recording: Recording) -> list[tuple[Any, ...]]:
        """Stops recording for one profile, and returns the fields of its events; none if it has ended before."""
        with _lock:
            first = self.running.get(recording)
            if first is None:
                return []
            events = self.events[first:]
            if len(self.running) == 1:
                if is_watching(self.watch_kernel):  # no interrupt came as the profile began
                    unwatch(self.watch_kernel)
                self.events = []
            # It is the last step, so that an interrupted end can be repeated.
            del self.running[recording]
            self.waiting = any(map(_WAITS, self.running))
            return events

    def add(self, text: str, caller: tuple[CodeType | None, int], start: int, end: int, thread: int) -> None:
        """Adds an event of the user."""
        self.events.append((text, *caller, start, end, thread))

    def watch_kernel(self, kernel: Kernel, subject: Subject | None) -> Kernel:
        """A kernel that adds an event after each run; the kernel itself if its backend only records or plans."""
        if subject is not None and subject.backend.dispatch_priority > 1 and subject.backend.beneath is subject.backend:
            return kernel
        add, caller = self.events.append, self.caller

        def run(*payloads: Any) -> Any:
            start = now()
            result = kernel(*payloads)
            if self.waiting:
                wait_for(subject, result)
            end = now()
            code, number = caller(sys._getframe(1))
            add((subject, code, number, start, end, get_ident(), current_scope.get()))
            return result

        def run_in_program(*payloads: Any) -> Any:
            start = now()
            result = kernel(*payloads)
            end = now()
            frame = sys._getframe(1)
            program = frame.f_globals
            add(((program["nodes"][frame.f_lineno], program["backend"]), None, 0, start, end, get_ident()))
            return result

        return run if subject is not None else run_in_program

    def caller(self, frame: FrameType | None) -> tuple[CodeType | None, int]:
        """The innermost function of the user among the callers, and the number of its current line."""
        while frame is not None:
            code = frame.f_code
            if is_users(code.co_filename):
                return code, frame.f_lineno
            frame = frame.f_back
        return None, 0


def wait_for(subject: Subject | None, result: Any) -> None:
    """Waits until the payloads of a kernel are computed, on a backend that computes later."""
    if subject is None or subject.out is None or not is_asynchronous(subject.backend):
        return
    backend = subject.backend
    outs = (subject.out,) if isinstance(subject.out, Template) else subject.out
    payloads = (result,) if isinstance(subject.out, Template) else result
    for out, payload in zip(outs, payloads, strict=True):
        backend.block_until_ready(Tensor(out, backend, payload))


def is_asynchronous(backend: Backend) -> bool:
    """Whether a backend may return a result before it is computed."""
    return type(backend).block_until_ready is not Core.block_until_ready


recorder: Final = Recorder()

# Held while a profile begins or ends.
_lock = module_lock(__name__)
