"""Spans of time, nested in one another, and their theoretical costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from ...dispatch.watching import Subject
from ...errors import TensorBackendError
from ...protocol import Backend
from ...template import Template
from ..cost.estimate import Estimator
from ..cost.work import Work, total
from ..evaluate import Compiled
from ..graph import Graph
from ..node import PARAMETER, Line, Node, Value
from .events import Event

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
