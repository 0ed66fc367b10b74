"""`debug_nans`: finds the op that computes the first NaN or infinity.

A watched kernel (`dispatch.watching`) looks at the results of each op, and at its operands only where a result is not
finite. So the op is found wherever it runs: eagerly, in a program of a graph, in a gradient, in a loop. Where one
kernel computes a whole graph, as on JAX, the graph runs again op by op.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ContextDecorator
from threading import get_ident
from typing import Any, Final, NamedTuple, Self

from ..caching.locks import module_lock
from ..declarations.argument_errors import check_arguments
from ..dispatch.watching import Subject, unwatch, watch
from ..errors import NonFiniteError
from ..protocol import Backend, Kernel
from ..protocol.callbacks import CompositeCall
from ..protocol.planned import payloads_of
from ..select import default_backend
from ..template import Template
from ..tensor import Tensor
from .evaluate import Compiled, Program, compute_node, op_by_op
from .graph import Graph
from .node import PROGRAM, Line, Node, Value, here
from .subgraphs import subgraphs


class _Search(NamedTuple):
    """What a block looks for."""

    infinities: bool
    operands: bool


_searches: Final[dict[int, _Search]] = {}
"""What the innermost block of each thread looks for. It is not a context variable, because backends enter programs in
contexts of their own."""
_running: Final[list[object]] = []

# Held while a block begins or ends.
_lock = module_lock(__name__)


@check_arguments
def debug_nans(*, infinities: bool = True, operands: bool = False) -> DebugNans:
    """Raise an error at the op that computes the first NaN or infinity from finite operands.

    Inside the `with` block the results of each op are looked at: of eager calls, of compiled functions, which run op
    by op once a result is not finite, and of gradients, whose ops have the lines of the ops that they differentiate.
    That takes several times as long as without. Outside the block it costs nothing.

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
    >>> import tensorbackend as tb
    >>> with tb.debug_nans():
    ...     tb.log(tb.asarray([1.0, -1.0], names=("batch",)))
    Traceback (most recent call last):
    tensorbackend.errors.NonFiniteError: log of f32[batch: 2]: expected finite results, got NaN in 1 of 2 elements, \
first at batch=1 from -1.0; ...
    """
    return DebugNans(_Search(infinities, operands))


class DebugNans(ContextDecorator):
    """The result of `debug_nans`."""

    def __init__(self, search: _Search) -> None:
        self._kind: Final = search
        self._before: _Search | None = None

    def _recreate_cm(self) -> Self:
        return type(self)(self._kind)

    def __enter__(self) -> Self:
        self._before = _searches.get(get_ident())
        with _lock:
            _running.append(self)
            if len(_running) == 1:
                watch(watch_kernel, inner=True)
        _searches[get_ident()] = self._kind
        op_by_op.add(get_ident())
        return self

    def __exit__(self, *error: object) -> None:
        if self._before is None:
            _searches.pop(get_ident(), None)
            op_by_op.discard(get_ident())
        else:
            _searches[get_ident()] = self._before
        with _lock:
            _running.remove(self)
            if not _running:
                unwatch(watch_kernel)


def watch_kernel(kernel: Kernel, subject: Subject | None) -> Kernel:
    """A kernel that looks at its results; the kernel itself if its backend has no data or only records."""
    if subject is not None and (subject.out is None or not _computes(subject.backend)):
        return kernel

    def run(*payloads: Any) -> Any:
        search = _searches.get(get_ident())
        if search is None:
            return kernel(*payloads)
        call = _call_of(subject)
        if call is None:
            return kernel(*payloads)
        before = call.unfinite(payloads, search)
        if before is not None and search.operands:
            raise call.error(*before, "operand", payloads)
        try:
            result = kernel(*payloads)
        except NonFiniteError as error:
            raise call.outermost(error) from None
        found = None if before is not None and _is_nan(before) else _first(call.results(result), search)
        if found is None or (before is not None and not _is_nan(found)):
            return result
        call.look_inside(payloads)
        raise call.error(*found, "result", payloads)

    return run


def _computes(backend: Backend) -> bool:
    return not backend.template_only and backend.dispatch_priority <= 1 and backend.beneath is backend


class _Call:
    """One run of a kernel."""

    def __init__(self, name: str, out: Any, inputs: Sequence[Any], backend: Backend, line: Line | None) -> None:
        self.name, self.out, self.inputs, self.backend, self.line = name, out, inputs, backend, line

    def operands(self, payloads: Sequence[Any]) -> Iterator[tuple[str, Tensor]]:
        """The tensors of a call, with the numbers of their parameters."""
        for number, (template, payload) in enumerate(zip(self.inputs, payloads, strict=False)):
            for x in _tensors(template, payload, self.backend):
                yield f"operand {number + 1}", x

    def results(self, result: Any) -> Iterator[tuple[str, Tensor]]:
        """The tensors of a result."""
        for x in _tensors(self.out, result, self.backend):
            yield "result", x

    def unfinite(self, payloads: Sequence[Any], search: _Search) -> _Found | None:
        """The first operand with an element that is not finite."""
        return _first(self.operands(payloads), search)

    def outermost(self, error: NonFiniteError) -> NonFiniteError:
        """An error of a part, as this call's."""
        return error

    def look_inside(self, payloads: Sequence[Any]) -> None:
        """Runs the parts of the call, whose own kernels may raise the error."""

    def error(self, x: Tensor, array: Any, wrong: Any, which: str, payloads: Sequence[Any]) -> NonFiniteError:
        """The error for elements that are not finite."""
        import numpy

        first = tuple(int(i) for i in numpy.unravel_index(int(wrong.argmax()), wrong.shape))
        what = "NaN" if bool(numpy.isnan(array[first])) else "an infinity"
        place = ", ".join(f"{name}={i}" if name else str(i) for name, i in zip(x.names, first, strict=True))
        text = f"expected finite {'results' if which == 'result' else 'operands'}, got {what}"
        if wrong.ndim:
            text += f" in {int(wrong.sum())} of {wrong.size} elements, first at {place}"
        sources = [
            str(_array(operand)[first if operand.shape == x.shape else ()])
            for _, operand in self.operands(payloads)
            if operand.backend.is_concrete(operand) and operand.shape in (x.shape, ())
        ]
        if which == "result" and sources:
            text += f" from {' and '.join(sources)}"
        error = NonFiniteError(f"{text}; {self.line}" if self.line is not None else text)
        error.line, error.inputs = self.line, tuple(operand.template for _, operand in self.operands(payloads))
        error.operation = None
        error.met(self.name, error.inputs)
        return error


class _EagerCall(_Call):
    """A call of an op, or of a compiled function."""

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject.name, subject.out, subject.inputs, subject.backend, here())
        self.subject = subject
        if isinstance(subject.parts, Graph):
            self.inputs = [value.template for value in subject.parts.parameters]

    def outermost(self, error: NonFiniteError) -> NonFiniteError:
        # The program of a composite was traced at another call, whose line its ops have.
        composite = self.subject.parts is not None and not isinstance(self.subject.parts, Graph)
        return _move_error(error, self) if composite else error

    def look_inside(self, payloads: Sequence[Any]) -> None:
        parts = self.subject.parts
        if isinstance(parts, Graph):
            if not any(isinstance(payload, list) for payload in payloads):  # donated ones are gone
                Program(parts, self.backend).kernel(*payloads)
        elif parts is not None:
            _run_default(parts, self, payloads, self.subject.options)


class _NodeCall(_Call):
    """A line of a program."""

    def __init__(self, node: Node, backend: Backend) -> None:
        super().__init__(node.op, node.out, node.map_inputs(_template), backend, node.line)
        self.node = node

    def outermost(self, error: NonFiniteError) -> NonFiniteError:
        whole = self.node.default is not None and not any(subgraphs(self.node))
        return _move_error(error, self) if whole else error

    def look_inside(self, payloads: Sequence[Any]) -> None:
        default = self.node.default
        if isinstance(default, Compiled):
            _run_nodes(default, self, payloads)
        elif default is not None:
            _run_default(default, self, payloads, self.node.options)


class _Found(NamedTuple):
    """A tensor that is not finite, its array, and where."""

    x: Tensor
    array: Any
    wrong: Any


def _call_of(subject: Subject | None) -> _Call | None:
    """The call that runs: of a kernel in a program, by the line of the program."""
    if subject is not None:
        return _EagerCall(subject)
    import sys

    frame = sys._getframe(2)
    program = frame.f_globals
    if frame.f_code.co_filename != PROGRAM or not _computes(program["backend"]):
        return None
    node = program["nodes"].get(frame.f_lineno)
    return None if node is None else _NodeCall(node, program["backend"])


def _template(value: Any) -> Template:
    return value.template  # type: ignore[no-any-return] # of a `Value`


def _tensors(template: Any, payload: Any, backend: Backend) -> Iterator[Tensor]:
    """The floating and complex tensors among payloads, nested like their templates."""
    if isinstance(template, Template):
        if template.dtype.is_inexact:
            yield Tensor(template, backend, payload)
    elif template is not None:
        for inner, part in zip(template, payload, strict=True):
            yield from _tensors(inner, part, backend)


def _array(x: Tensor) -> Any:
    """A tensor as an array of NumPy, whose functions need no kernel of ours."""
    return x.backend.to_numpy(x, None, None)


def _first(tensors: Iterable[tuple[str, Tensor]], search: _Search) -> _Found | None:
    """The first tensor with an element that is not finite."""
    import numpy

    for _, x in tensors:
        if not x.backend.is_concrete(x):  # a library traces it
            continue
        array = _array(x)
        wrong = ~numpy.isfinite(array) if search.infinities else numpy.isnan(array)
        if wrong.any():
            return _Found(x, array, wrong)
    return None


def _is_nan(found: _Found) -> bool:
    import numpy

    return bool(numpy.isnan(found.array).any())


def _move_error(error: NonFiniteError, call: _Call) -> NonFiniteError:
    """The error of a part of a composite, as the composite's at its own line."""
    inner = str(error).partition(" of ")[0]
    message = error.message.rpartition("; ")[0] if error.line is not None else error.message
    moved = NonFiniteError(f"{message}, in {inner}{f'; {call.line}' if call.line is not None else ''}")
    moved.line, moved.inputs, moved.operation = call.line, tuple(_flat(call.inputs)), None
    moved.met(call.name, moved.inputs)
    return moved


def _flat(templates: Iterable[Any]) -> Iterator[Template]:
    for template in templates:
        if isinstance(template, Template):
            yield template
        elif template is not None:
            yield from _flat(template)


def _nest_tensors(template: Any, payload: Any, backend: Backend) -> Any:
    if isinstance(template, Template):
        return Tensor(template, backend, payload)
    return (
        None
        if template is None
        else tuple(_nest_tensors(*pair, backend) for pair in zip(template, payload, strict=True))
    )


def _run_default(default: Any, call: _Call, payloads: Sequence[Any], options: Any) -> None:
    """Runs a composite's default op by op."""
    inputs = tuple(_nest_tensors(*pair, call.backend) for pair in zip(call.inputs, payloads, strict=True))
    try:
        with default_backend(call.backend):
            default(*CompositeCall(call.out, inputs, options))
    except NonFiniteError as error:
        raise call.outermost(error) from None


def _run_nodes(compiled: Compiled, call: _Call, payloads: Sequence[Any]) -> None:
    """Runs the nodes that one kernel computes, one after another."""
    search = _searches.get(get_ident())
    if search is None:
        return
    held: dict[Value, Any] = dict(zip(compiled.inputs, payloads, strict=True))

    def tensor(value: Value) -> Tensor:
        if value not in held:  # a number
            held[value] = compute_node(value.node, call.backend, ()).data  # type: ignore[union-attr] # one result
        return Tensor(value.template, call.backend, held[value])

    for node in compiled.nodes:
        inputs = node.map_inputs(tensor)
        part = _NodeCall(node, call.backend)
        result = compute_node(node, call.backend, inputs)
        held[Value(node)] = result.data  # type: ignore[union-attr] # one result
        found = _first([("result", result)], search)  # type: ignore[list-item] # one result
        if found is not None:
            raise part.error(*found, "result", payloads_of(inputs))
