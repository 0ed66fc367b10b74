"""`debug_nans`: finds the op that computes the first NaN or infinity.

A watched kernel (`dispatch.watching`) looks at the operands and the results of each op. So the op is found wherever it
runs: eagerly, in a program of a graph, in a gradient, in a loop. Where one kernel computes a whole graph, as on JAX,
the graph runs again op by op.

What an op computes on the way is judged by what comes of it. Inside a call of the user's, an op that is not finite
leaves an error with its result (`Trail`), ops that take the result pass the error on, and the call raises the
errors that its own results carry. So a bracket that begins at infinity, or a quotient that `where` leaves out, is no
fault.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import isfinite
from operator import call
from threading import get_ident
from typing import Any, Final, Self
from weakref import proxy

from ..caching import module_lock
from ..declarations.argument_errors import check_arguments
from ..dispatch.watching import Subject, is_watching, unwatch, watch
from ..errors import NonFiniteError, expected
from ..protocol import Backend, Kernel
from ..protocol.callbacks import CompositeCall
from ..protocol.planned import payloads_of
from ..scopes import FunctionDecorator, around_calls, no_end
from ..select import default_backend
from ..template import Template
from ..tensor import Tensor
from .evaluate import Compiled, Program, compute_node, op_by_op
from .graph import Graph, subgraphs
from .node import PROGRAM, Line, Node, Value, flat, here
from .nonfinite_values import Found, Search, Trail, array_of, find, tensors_of, unfinite
from .trees import flatten

_trails: Final[dict[int, Trail]] = {}
"""The trail of each thread that is in a block."""

# Held while a block begins or ends.
_lock = module_lock(__name__)


@check_arguments
def debug_nans(*, infinities: bool = True, operands: bool = False) -> DebugNans:
    """Raise an error at the op that computes the first NaN or infinity from finite operands.

    Inside the `with` block the results of each call are looked at: of eager calls, of compiled functions, and of
    gradients, whose ops have the lines of the ops that they differentiate. If one is not finite, the error names the op
    inside the call from which it came. A call with finite results is no error, whatever it computes on the way: a bound
    that begins at infinity, or a quotient that `where` leaves out. That takes several times as long as without. Outside
    the block it costs nothing.

    Parameters
    ----------
    infinities : bool, default True
        Whether infinities count as well. An infinity that an op takes is no error, so masks with `-inf` may be made.
    operands : bool, default False
        Whether an operand that is not finite is an error too, such as NaN in the data that a program reads.

    Returns
    -------
    DebugNans
        A `with` block, which is also a decorator.

    Raises
    ------
    NonFiniteError
        Inside the block: it names the op, its line, the templates of its operands, the place of the first such element
        by the names of axes, and the operands there.

    Examples
    --------
    >>> with tb.debug_nans():
    ...     tb.log(tb.asarray([1.0, -1.0], names=("batch",)))
    Traceback (most recent call last):
    tensorbackend.errors.NonFiniteError: log of f32[batch: 2]: expected finite results, got NaN in 1 of 2 elements, \
first at batch=1 from -1.0; ...
    """
    return DebugNans(Search(infinities, operands))


class _Open:
    """An open block, as one of `op_by_op` of its thread, the innermost last.

    It is not in a context variable, because backends enter programs in contexts of their own.
    """

    def __init__(self, search: Search) -> None:
        self.search: Final = search


class DebugNans(FunctionDecorator):
    """The result of `debug_nans`."""

    def __init__(self, search: Search) -> None:
        super().__init__()
        self._search: Final = search

    def __enter__(self) -> Self:
        self.check_ended()
        thread, opened = get_ident(), _Open(self._search)
        try:
            with _lock:
                if not is_watching(watch_kernel):
                    watch(watch_kernel, inner=True)
                if _whole_call not in around_calls:
                    around_calls.append(_whole_call)
                blocks = op_by_op.setdefault(thread, [])
                if not blocks:
                    _trails[thread] = Trail()
                blocks.append(opened)
                # It ends in C, in any order and any thread. What is interrupted after that, the next call makes up for.
                ends: list[Callable[[], object]] = [partial(blocks.remove, opened), _unwatch_ended]
                ends.append(partial(setattr, proxy(self), "close", no_end))
                self.close = partial(deque, map(call, ends), 0)
        except BaseException:  # an interrupt
            blocks = op_by_op.get(thread, [])
            if opened in blocks:
                blocks.remove(opened)
            self.close = no_end
            _unwatch_ended()
            raise
        return self


def _drop_ended() -> None:
    """Drops what ended threads had. It is a function of its own, as `tests/project/test_interrupted_loops.py` says."""
    for thread in [thread for thread, blocks in op_by_op.items() if not blocks]:
        del op_by_op[thread]
        _trails.pop(thread, None)


def _unwatch_ended() -> None:
    """Drops what threads without an open block had, and stops watching if there is no other."""
    with _lock:
        _drop_ended()
        if op_by_op:
            return
        if _whole_call in around_calls:
            around_calls.remove(_whole_call)
        if is_watching(watch_kernel):
            unwatch(watch_kernel)


def _search_here() -> Search | None:
    """What the innermost block of this thread looks for."""
    blocks = op_by_op.get(get_ident())
    if blocks:
        opened: _Open = blocks[-1]
        return opened.search
    if not any(op_by_op.values()):  # the last block was interrupted at its end
        _unwatch_ended()
    return None


def watch_kernel(kernel: Kernel, subject: Subject | None) -> Kernel:
    """A kernel that looks at its results; the kernel itself if its backend has no data or only records."""
    if subject is not None and subject.name == "setitem":
        return _watch_write(kernel)
    if subject is not None and (subject.out is subject.kinds is None or not _computes(subject.backend)):
        return kernel

    def run(*payloads: Any) -> Any:
        search = _search_here()
        call = None if search is None else _call_of(subject)
        if search is None or call is None:
            return kernel(*payloads)
        trail = _trails[get_ident()]
        before = list(unfinite(call.operands(payloads), search))
        if search.operands and not trail.library and not call.is_program:
            for found in before:
                if id(found.x.data) not in trail.carried:
                    raise call.error(found, "operand", payloads)
        seen = len(trail.errors)
        with trail.inside(call.is_composite):
            try:
                result = kernel(*payloads)
            except NonFiniteError as error:
                raise call.outermost(error) from None
            raised = call.judge(trail, seen, before, result, payloads, search)
            if trail.depth > 1:
                return result
        if raised is not None:
            raise raised
        return result

    return run


def _watch_write(write: Kernel) -> Kernel:
    """An assignment in one step that fails for what is not finite: the ops of `put_at`, which are watched, serve it."""

    def run(x: Tensor, key: Any, value: Any) -> None:
        search = _search_here()
        if search is not None:
            if isinstance(value, float | complex) and not isfinite(abs(value)):
                raise NonFiniteError(expected("a finite value", value=value))
            for _ in unfinite((each for each in (value, x) if isinstance(each, Tensor)), search):
                raise NonFiniteError(expected("finite elements", x=x.template))
        write(x, key, value)

    return run


def _whole_call(library: bool, function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """A call of a public function, or of a program, whose ops are judged by its results."""
    trail = None if _search_here() is None else _trails.get(get_ident())
    if trail is None:
        return function(*arguments, **keywords)
    with trail.inside(library):
        result = function(*arguments, **keywords)
        if trail.depth == 1 and trail.errors:
            for leaf in flatten(result)[0]:
                raised = trail.error_of(leaf.data if isinstance(leaf, Tensor) else leaf)
                if raised is not None:
                    raise raised
    return result


def _computes(backend: Backend) -> bool:
    return not backend.template_only and backend.dispatch_priority <= 1 and backend.beneath is backend


class _Call:
    """One run of a kernel."""

    def __init__(
        self,
        called: tuple[str, Any, Sequence[Any], Mapping[str, Any]],
        backend: Backend,
        line: Line | None,
        parts: Any,
        is_composite: bool,
    ) -> None:
        self.name, self.out, self.inputs, self.options = called
        self.backend, self.line, self.parts = backend, line, parts
        self.is_program = isinstance(parts, Graph)
        """Whether it runs a graph of the user's, node by node."""
        self.is_composite = is_composite
        """Whether it runs a function of the library that is written in ops."""

    def operands(self, payloads: Sequence[Any]) -> Iterator[Tensor]:
        """The floating and complex tensors of a call."""
        for template, payload in zip(self.inputs, payloads, strict=False):
            yield from tensors_of(template, payload, self.backend)

    def results(self, result: Any) -> Iterator[Tensor]:
        """The floating and complex tensors of a result."""
        return tensors_of(self.out, result, self.backend)

    def judge(
        self, trail: Trail, seen: int, before: Sequence[Found], result: Any, payloads: Sequence[Any], search: Search
    ) -> NonFiniteError | None:
        """The first error that a result carries, after each result that is not finite got its own."""
        first = None
        for x in self.results(result):
            found = find(x, search)
            if found is None:
                trail.carried.pop(id(x.data), None)
                continue
            # NaN that comes of infinities alone is the op's.
            sources = [source for source in before if source.is_nan or not found.is_nan]
            if sources:
                errors = (trail.error_of(source.x.data) for source in sources)
                error = next((error for error in errors if error is not None), None)
            else:
                error = self.own_error(trail, seen, found, payloads)
            trail.carry(x.data, error)
            first = first or error
        return first

    def own_error(self, trail: Trail, seen: int, found: Found, payloads: Sequence[Any]) -> NonFiniteError | None:
        """The error of a result that is not finite, of finite operands."""
        inside = id(found.x.data) in trail.carried
        error = trail.error_of(found.x.data)
        if error is None and not (inside and self.is_program) and not self.asks_for(found):
            if len(trail.errors) == seen:
                self.look_inside(payloads)
            # A kernel that stacks or loops makes new payloads; the first error inside is the best that is known.
            met = trail.errors[seen:]
            error = next((each for each in met if ("NaN" in each.message) == found.is_nan), next(iter(met), None))
            error = error or self.error(found, "result", payloads)
            trail.errors.append(error)
        return None if error is None else self.outermost(error)

    def asks_for(self, found: Found) -> bool:
        """Whether an option is what was found: `full` of infinity."""
        return any(isinstance(value, float) and not isfinite(value) for value in self.options.values())

    def outermost(self, error: NonFiniteError) -> NonFiniteError:
        """An error of a part, as this call's: the program of a composite was traced at another call, at its line."""
        if not self.is_composite:
            return error
        inner = str(error).partition(" of ")[0]
        message = error.message.rpartition("; ")[0] if error.line is not None else error.message
        moved = NonFiniteError(f"{message}, in {inner}{f'; {self.line}' if self.line is not None else ''}")
        moved.line, moved.inputs, moved.operation = self.line, tuple(flat(self.inputs, Template)), None
        moved.met(self.name, moved.inputs)
        return moved

    def look_inside(self, payloads: Sequence[Any]) -> None:
        """Runs the parts of the call, whose own kernels may raise the error."""
        if isinstance(self.parts, Graph):
            if not any(isinstance(payload, list) for payload in payloads):  # donated ones are gone
                Program(self.parts, self.backend).kernel(*payloads)
        elif isinstance(self.parts, Compiled):
            _run_nodes(self.parts, self, payloads)
        elif self.parts is not None:  # a default, op by op
            inputs = tuple(_nest_tensors(*pair, self.backend) for pair in zip(self.inputs, payloads, strict=True))
            with default_backend(self.backend):
                self.parts(*CompositeCall(self.out, inputs, self.options))

    def error(self, found: Found, which: str, payloads: Sequence[Any]) -> NonFiniteError:
        """The error for elements that are not finite."""
        import numpy

        x, array, wrong = found.x, found.array, found.wrong
        first = tuple(int(i) for i in numpy.unravel_index(int(wrong.argmax()), wrong.shape))
        what = "NaN" if bool(numpy.isnan(array[first])) else "an infinity"
        place = ", ".join(f"{name}={i}" if name else str(i) for name, i in zip(x.names, first, strict=True))
        text = f"expected finite {'results' if which == 'result' else 'operands'}, got {what}"
        if wrong.ndim:
            text += f" in {int(wrong.sum())} of {wrong.size} elements, first at {place}"
        sources = [
            str(array_of(operand)[first if operand.shape == x.shape else ()])
            for operand in self.operands(payloads)
            if operand.backend.is_concrete(operand) and operand.shape in (x.shape, ())
        ]
        if which == "result" and sources:
            text += f" from {' and '.join(sources)}"
        error = NonFiniteError(f"{text}; {self.line}" if self.line is not None else text)
        error.line, error.inputs = self.line, tuple(x.template for x in self.operands(payloads))
        error.operation = None
        error.met(self.name, error.inputs)
        return error


def _call_of_node(node: Node, backend: Backend) -> _Call:
    """A line of a program."""
    default = node.default
    is_composite = default is not None and not isinstance(default, Compiled) and not any(subgraphs(node))
    return _Call((node.op, node.out, node.templates, node.options), backend, node.line, default, is_composite)


def _call_of(subject: Subject | None) -> _Call | None:
    """The call that runs: of an op or a compiled function, or of a kernel in a program, by the line of the program."""
    if subject is not None:
        parts = subject.parts
        inputs, out = subject.kinds or (subject.inputs, subject.out)
        called = subject.name, out, parts.templates if isinstance(parts, Graph) else inputs, subject.options
        return _Call(called, subject.backend, here(), parts, parts is not None and not isinstance(parts, Graph))
    import sys

    frame = sys._getframe(2)
    program = frame.f_globals
    if frame.f_code.co_filename != PROGRAM or not _computes(program["backend"]):
        return None
    node = program["nodes"].get(frame.f_lineno)
    return None if node is None else _call_of_node(node, program["backend"])


def _nest_tensors(template: Any, payload: Any, backend: Backend) -> Any:
    if isinstance(template, Template):
        return Tensor(template, backend, payload)
    return template and tuple(_nest_tensors(*pair, backend) for pair in zip(template, payload, strict=True))


def _run_nodes(compiled: Compiled, call: _Call, payloads: Sequence[Any]) -> None:
    """Runs the nodes that one kernel computes, one after another."""
    search = _search_here()
    if search is None:
        return
    held: dict[Value, Any] = dict(zip(compiled.inputs, payloads, strict=True))

    def tensor(value: Value) -> Tensor:
        if value not in held:  # a number
            held[value] = compute_node(value.node, call.backend, ()).data  # type: ignore[union-attr] # one result
        return Tensor(value.template, call.backend, held[value])

    trail = _trails[get_ident()]
    for node in compiled.nodes:
        inputs = node.map_inputs(tensor)
        part, parts = _call_of_node(node, call.backend), payloads_of(inputs)
        result = compute_node(node, call.backend, inputs)
        held[Value(node)] = result.data  # type: ignore[union-attr] # one result
        before = list(unfinite(part.operands(parts), search))
        part.judge(trail, len(trail.errors), before, result.data, parts, search)  # type: ignore[union-attr] # likewise
