"""Running a graph on a backend: a program of kernels on payloads, each value freed after its last use.

A program is straight-line source, one line for each node:

    def run(p0, p1):
        t0 = k0(p0, p1)
        t1 = k1(t0)
        t0 = k2(t0, t1)
        del t1
        return (t0, )

Its lines name numbered kernels, so that graphs of the same structure share their compiled code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import get_ident
from typing import Any, Final, TypeAlias, cast

from ..dispatch import explain
from ..dispatch.kernels import composite_kernel, implementation, primitive_kernel, raw_kernel, wrap
from ..dispatch.narrow import composite_method
from ..dispatch.watching import is_program
from ..dtypes.defaults import product_precision, with_products
from ..errors import ContractError, OutOfMemoryError, TensorBackendError
from ..protocol import Backend, Kernel, Payload
from ..protocol.exhaustion import out_of_memory
from ..protocol.planned import is_planned, payloads_of
from ..scopes import around_calls
from ..select import common_backend, move
from ..template import Template
from ..tensor import Tensor, public_op, rename_like
from .expr_backend import ExprBackend
from .graph import Graph, held_by, rebuilt, remake
from .kept_nodes import value_under
from .node import CUSTOM, PROGRAM, RENAMED, Node, Value, is_sized
from .source import function_of

KEPT_BYTES: Final = 1 << 16
"""A constant of more bytes is computed again in each run, rather than kept with the program."""

Result: TypeAlias = Tensor | tuple[Tensor, ...]


class Compiled:
    """A default implementation that a compiler made for one backend: a kernel that takes the inputs' payloads."""

    kernel: Kernel
    """Takes the payloads of the inputs, and returns the payload of the result."""

    inputs: tuple[Value, ...]
    """The values that the kernel takes, as the nodes know them."""
    nodes: tuple[Node, ...]
    """The nodes that it represents."""

    def __call__(self, out: Any, inputs: Sequence[Tensor], options: Mapping[str, object]) -> Result:
        """The result for inputs, as any default implementation returns it."""
        return cast(Result, wrap(out, inputs[0].backend, self.kernel(*[x.data for x in inputs])))

    def overwriting(self, spare: Sequence[int], *, entered: bool) -> Kernel | None:
        """A kernel that may write to the payloads at some positions, which nothing needs later; `None` for none.

        It writes only where `is_spare` says that nothing else refers to the payload. It is called directly, so that
        nothing else does, and enters the backend by itself unless the program around it has.
        """
        return None


def evaluate(graph: Graph, arguments: Sequence[Any], backend: Backend | None = None) -> list[Tensor]:
    """The results of a graph for tensors in place of its parameters, on `backend`, by default that of the tensors.

    Raises `ShapeError` for a tensor with another shape or dtype than its parameter.
    """
    tensors = [x if isinstance(x, Tensor) else public_op("asarray")(x) for x in arguments]
    graph.check(tensors)
    if backend is None:
        backend = common_backend([*tensors, *held_by(graph)])
    if isinstance(backend, ExprBackend):
        return _record(graph, tensors, backend)
    return program(graph, backend)(tensors)


def _record(graph: Graph, tensors: Sequence[Tensor], backend: ExprBackend) -> list[Tensor]:
    """Records the nodes of a graph in the trace around it, each with its own source line; returns the results."""
    exchanged: dict[Value, Value] = {}
    for value, x in zip(graph.parameters, tensors, strict=True):
        # With the parameter's axis names, as the options of nodes may name axes.
        exchanged[value] = value_under(value.template, move(x, backend).data)
    for node, x in zip(graph.captured, held_by(graph), strict=True):
        exchanged[Value(node)] = move(x, backend).data
    remake(graph.nodes[len(graph.parameters) :], exchanged)
    return [Tensor(value.template, backend, exchanged[value]) for value in graph.outputs]


def inline_custom_gradients(graph: Graph) -> Graph:
    """A graph to be run: each node with a gradient of its own is replaced by the nodes of its function."""
    if not any(node.op == CUSTOM for node in graph.nodes):
        return graph
    return rebuilt(graph, _inline(graph, graph.parameters))


def _inline(graph: Graph, values: Sequence[Value]) -> list[Value]:
    """The results of an opened graph, with `values` in place of its parameters."""
    exchanged = dict(zip(graph.parameters, values, strict=True))
    for node in graph.nodes[len(graph.parameters) :]:
        if node.op == CUSTOM:
            results = _inline(cast(Graph, node.options["forward"]), [exchanged[value] for value in node.operands])
            exchanged.update(zip(node.values, results, strict=True))
        else:
            remake([node], exchanged)
    return [exchanged[value] for value in graph.outputs]


op_by_op: Final[dict[int, list[Any]]] = {}
"""The threads in which loops and branches run op by op, so that the kernel of each op is called from Python: each with
those who ask for it, if any."""


def runs_op_by_op(backend: Backend) -> bool:
    """Whether the loops and branches of a backend that computes run op by op in this thread."""
    return (
        bool(op_by_op and op_by_op.get(get_ident())) and backend.dispatch_priority <= 1 and backend.beneath is backend
    )


def program(graph: Graph, backend: Backend, *, entered_once: bool = False, carried: range | None = None) -> Program:
    """The program of a graph on a backend, which is made once and kept with the graph."""
    entered_once = entered_once and not runs_op_by_op(backend)
    key = backend, entered_once, None if carried is None else (carried.start, carried.stop)
    cached_program = graph.programs.get(key)
    if cached_program is None:
        made = Program(graph, backend, entered_once=entered_once, carried=carried)
        cached_program = graph.programs[key] = made
    return cast(Program, cached_program)


class Program:
    """The nodes of a graph as kernels of a backend, called with tensors that have the templates of the parameters.

    With `entered_once`, `Backend.enter` is called once for the whole program rather than for each kernel, if every
    callback is planned. A plain callback may run the user's functions, which must run outside what `enter` adds.

    The parameters in `carried` are passed in one list, in place of the first of them, and the program removes them
    from it: so it has the only references to them, and kernels may write to them.
    """

    def __init__(
        self,
        graph: Graph,
        backend: Backend,
        *,
        entered_once: bool = False,
        carried: range | None = None,
        donated: Sequence[int] = (),
    ) -> None:
        self.backend, self.results = backend, graph.results
        if backend.beneath is backend:  # a backend that records, as a tape does, keeps gradients
            graph = inline_custom_gradients(graph)
        kernels = _raw(graph, backend) if entered_once else None
        writer = _Writer(graph, backend, kernels, carried, donated)
        run = function_of("\n".join(writer.lines), PROGRAM, "run", writer.namespace)
        is_program(run)
        self.kernel: Kernel = run if kernels is None else backend.enter(run)
        """Takes the payloads of the parameters, and returns a tuple of the payloads of the results."""

    def __call__(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        backend = self.backend
        payloads = self.on_payloads([x.data if x.backend is backend else move(x, backend).data for x in tensors])
        return [Tensor(template, backend, data) for template, data in zip(self.results, payloads, strict=True)]

    def on_payloads(self, payloads: Sequence[Payload]) -> tuple[Payload, ...]:
        """The payloads of the results for those of the parameters."""
        try:
            if around_calls:
                return cast(tuple[Payload, ...], around_calls[-1](False, self.kernel, *payloads))
            results: tuple[Payload, ...] = self.kernel(*payloads)
        except Exception as error:  # each error of a kernel gets a note with the op and its line
            note(error, self.backend)
            raise
        return results


def note(error: Exception, backend: Backend) -> None:
    """Adds a note to an error that a program's kernel raised: the op of the node, and the user's line that made it.

    Raises what `explain` raises in place of the error.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != PROGRAM:
        trace = trace.tb_next
    node = None if trace is None else trace.tb_frame.f_globals["nodes"].get(trace.tb_lineno)
    if node is None:  # a library compiled the whole program
        if backend.exhausted(error) and not isinstance(error, TensorBackendError):
            raise out_of_memory(error) from error
        return
    place = None if node.line is None else f"in {node.op}, traced at {node.line.file}:{node.line.number}"
    if place is not None and node.line.scope:
        place += f" ({node.line.scope})"
    if isinstance(error, TensorBackendError) and place is not None:
        error.add_note(place)
    try:
        explain(error, node.op, backend)
    except (ContractError, OutOfMemoryError) as told:
        if place is not None:
            told.add_note(place)
        raise


def _raw(graph: Graph, backend: Backend) -> dict[Node, Kernel] | None:
    """The kernel of each node as its planned callback returned it; `None` if any node has no planned callback."""
    kernels: dict[Node, Kernel] = {}
    for node in graph.nodes[len(graph.parameters) :]:
        if node.tensor is not None or node.op == RENAMED:
            continue
        if isinstance(node.default, Compiled):
            kernels[node] = node.default.kernel
            continue
        with with_products(node.products):
            kernel = _raw_kernel(node, backend)
        if kernel is None:
            return None
        kernels[node] = kernel
    return kernels


def _raw_kernel(node: Node, backend: Backend) -> Kernel | None:
    """The kernel of a node as its planned callback returns it; `None` if it has no planned callback."""
    inputs = node.templates
    if node.default is None:
        callback = implementation(backend, node.op, node.out, inputs)
    else:
        method = composite_method(backend, node.op, node.out, inputs, node.options)
        if method is None:
            return None
        callback = method
    if not is_planned(callback):
        return None
    return raw_kernel(backend, node.op, callback, node.out, inputs, node.options)


def standalone_kernel(node: Node, backend: Backend) -> Kernel:
    """The kernel of a node, entered by the backend, so that it can be called separately."""
    if isinstance(node.default, Compiled):
        return backend.enter(node.default.kernel)
    inputs = node.templates
    with with_products(node.products):
        if node.default is None:
            return primitive_kernel(backend, node.op, node.out, inputs, node.options)
        kernel = composite_kernel(backend, node.op, node.out, inputs, node.options, node.default)
    products = node.products

    def composite(*payloads: Payload) -> Payload:
        if product_precision() == products:
            return kernel(*payloads)
        with with_products(products):  # the default may run only now
            return kernel(*payloads)

    return kernel if composite_method(backend, node.op, node.out, inputs, node.options) is not None else composite


def compute_node(node: Node, backend: Backend, inputs: Sequence[Any]) -> Result:
    """Computes a node on a backend, with tensors in place of its inputs."""
    if node.tensor is not None:
        return move(node.tensor, backend)
    if node.op == RENAMED:
        (x,) = inputs
        return rename_like(x, node.outs[0])
    return cast(Result, wrap(node.out, backend, standalone_kernel(node, backend)(*payloads_of(inputs))))


class _Writer:
    """Writes the source of a program, with the given kernels, or else with kernels that the backend has entered."""

    def __init__(
        self,
        graph: Graph,
        backend: Backend,
        kernels: Mapping[Node, Kernel] | None,
        carried: range | None = None,
        donated: Sequence[int] = (),
    ) -> None:
        self.backend, self.kernels = backend, kernels
        self.nodes: dict[int, Node] = {}
        """The node of each line that calls a kernel, by the line's number."""
        self.namespace: dict[str, Any] = {"backend": backend, "nodes": self.nodes}
        """The kernels and constants by their names in the source, and facts that `note` and the profiler read."""
        self._numbers: dict[tuple[str, int], str] = {}
        self._spare: list[str] = []
        self._variables = 0
        self._names = {value: f"p{number}" for number, value in enumerate(graph.parameters)}
        names = list(self._names.values())
        if carried is not None:
            names[carried.start : carried.stop] = ["carried"]
        if donated:
            names = [*(name for number, name in enumerate(names) if number not in donated), "donated"]
        self.lines = [f"def run({', '.join(names)}):"]
        for source, numbers in (("carried", carried or ()), ("donated", donated)):
            for number in reversed(numbers):
                self._names[graph.parameters[number]] = name = f"t{self._variables}"
                self._variables += 1
                self.lines.append(f"    {name} = {source}.pop()")
        ends = last_uses(graph)
        for node in graph.nodes[len(graph.parameters) :]:
            self._write(node, ends[node])
        self.lines.append(f"    return ({''.join(f'{self._names[value]}, ' for value in graph.outputs)})")

    def _write(self, node: Node, ends: Sequence[Value]) -> None:
        if node.op == RENAMED and self.backend.placement(node.out) is None:
            self._names[Value(node)] = self._names[node.operands[0]]
            return
        if node.tensor is not None:
            self._names[Value(node)] = self._bound("c", move(node.tensor, self.backend).data)
            return
        kernel = self._overwriting_kernel(node, ends) or self._kernel(node)
        if not node.inputs and not is_sized(node) and sum(out.nbytes for out in node.outs) <= KEPT_BYTES:
            result = kernel() if self.kernels is None else self.backend.enter(kernel)()
            payloads = (result,) if isinstance(node.out, Template) else result
            for value, payload in zip(node.values, payloads, strict=True):
                self._names[value] = self._bound("c", self.backend.kept(payload))
            return
        inputs = ", ".join(_argument_source(names) for names in node.map_inputs(self._names.__getitem__))
        # A result may take the variable of an input that no later line needs: `t0 = k0(t0)`.
        freed = {name for value in ends if value.node is not node and (name := self._names[value])[0] == "t"}
        self._spare += sorted(freed)
        targets = ", ".join(self._target(value, ends) for value in node.values)
        comma = "" if isinstance(node.out, Template) else ","
        self.lines.append(f"    {targets}{comma} = {self._bound('k', kernel)}({inputs})")
        self.nodes[len(self.lines)] = node
        left = freed.intersection(self._spare)
        if left:
            self.lines.append(f"    del {', '.join(sorted(left))}")

    def _kernel(self, node: Node) -> Kernel:
        """The kernel of a node."""
        if node.op == RENAMED:
            return lambda data: self.backend.laid(data, node.out)
        return standalone_kernel(node, self.backend) if self.kernels is None else self.kernels[node]

    def _overwriting_kernel(self, node: Node, ends: Sequence[Value]) -> Kernel | None:
        """A kernel that may write into operands that the program owns and does not need later.

        A callback's kernel writes into the first one, a compiled kernel into any.
        """
        if isinstance(node.default, Compiled):
            names = [self._names[value] for value in node.operands]
            ended = {self._names[value] for value in ends}
            spare = [
                place for place, name in enumerate(names) if name[0] == "t" and name in ended and names.count(name) == 1
            ]
            return node.default.overwriting(spare, entered=self.kernels is not None) if spare else None
        first = node.inputs[0] if node.inputs else None
        if not isinstance(first, Value) or first not in ends or node.default is not None:
            return None
        name = self._names[first]
        if name[0] != "t" or [self._names[value] for value in node.operands].count(name) > 1:
            return None
        kernel = self.backend.overwriting(node.op, node.out, node.templates, node.options)
        return self.backend.enter(kernel) if kernel is not None and self.kernels is None else kernel

    def _target(self, value: Value, ends: Sequence[Value]) -> str:
        """A variable for a value; `_` for every value that is not used."""
        if value in ends:
            return "_"
        if self._spare:
            name = self._spare.pop()
        else:
            name, self._variables = f"t{self._variables}", self._variables + 1
        self._names[value] = name
        return name

    def _bound(self, letter: str, value: Any) -> str:
        """The name of a kernel or constant; all uses of one object share a name."""
        key = letter, id(value)
        if key not in self._numbers:
            name = self._numbers[key] = f"{letter}{len(self._numbers)}"
            self.namespace[name] = value
        return self._numbers[key]


def _argument_source(names: Any) -> str:
    """The argument of a kernel for the name of an input, for the names of a sequence, or for an omitted input."""
    if names is None or isinstance(names, str):
        return str(names)
    return f"[{', '.join(names)}]"


def last_uses(graph: Graph) -> dict[Node, list[Value]]:
    """For each node, the values that no later node needs, including the node's own unused results.

    A value and its renamed versions count as one value, which ends with the last use of any of them.
    """
    same: dict[Value, Value] = {}
    for node in graph.nodes:
        if node.op == RENAMED:
            (operand,) = node.operands
            same[Value(node)] = same.get(operand, operand)
    seen = {same.get(value, value) for value in graph.outputs}
    ends_by_node: dict[Node, list[Value]] = {}
    for node in reversed(graph.nodes):
        ends: list[Value] = []
        for value in (*node.values, *node.operands) if node.op != RENAMED else ():
            if same.get(value, value) not in seen:
                seen.add(same.get(value, value))
                ends.append(value)
        ends_by_node[node] = ends
    return ends_by_node
