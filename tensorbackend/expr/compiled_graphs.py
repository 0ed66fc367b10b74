"""Graphs as `jit` runs them: compiled by their backend, or node by node by its kernels; and their text."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from ..dispatch.watching import Change, Subject, is_program
from ..errors import ContractError, expected
from ..protocol import Backend, Kernel
from ..tensor import Tensor
from . import compute_again
from .donation import give_up, in_order, updates_early
from .evaluate import Program, note
from .graph import Graph
from .simplify import simplified
from .tree_containers import LEAF
from .trees import unflatten
from .warm_calls import WarmCall, unwritten

_DATA = attrgetter("data")


def kernel_of_graph(graph: Graph, backend: Backend) -> Kernel:
    """The kernel that runs a simplified graph node by node, by the kernels of a backend's callbacks.

    `tb.jit` takes it where a backend compiles nothing. A backend's `compile_graph` may hand it to a compiler that
    traces functions of the library's arrays.

    Parameters
    ----------
    graph : Graph
        A graph of `tb.trace`.
    backend : Backend
        The backend on which it runs.

    Returns
    -------
    callable
        A function of the payloads of the graph's parameters, which returns a tuple of the payloads of its results.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> from tensorbackend.extending import kernel_of_graph
    >>> graph = tb.trace(lambda x: x + x)(tb.template((2,), "f32"))
    >>> x = tb.tensor([1.0, 2.0], backend="numpy")
    >>> kernel_of_graph(graph, x.backend)(x.data)[0].tolist()
    [2.0, 4.0]
    """
    return Program(simplified(graph, backend), backend).kernel


class Compiled:
    """A function compiled for some templates and options."""

    __slots__ = (
        *("__weakref__", "backend", "calls", "donated", "graph"),
        *("kernel", "name", "out_tree", "results", "warm", "written"),
    )

    def __init__(self, graph: Graph, backend: Backend, name: str, donated: Sequence[int] = ()) -> None:
        self.backend, self.results, self.out_tree = backend, graph.results, graph.out_tree
        self.graph, self.name, self.donated, self.written = graph, name, donated, graph.written
        graph = updates_early(graph, donated)
        compiled: Any = backend.compile_graph(graph, **({"donated": donated} if donated and backend.donates else {}))
        if not (compiled is None or callable(compiled)) or isinstance(compiled, Graph):
            duty = f"compile_graph of the backend {backend.name!r} to return a function of payloads, or None"
            remedy = "return kernel_of_graph(graph, self) of tensorbackend.extending"
            raise ContractError(expected(duty, remedy, returned=type(compiled)))
        if compiled is not None and donated and not backend.donates:
            whole = compiled
            compiled = lambda *payloads: whole(*in_order(payloads, donated))  # noqa: E731
        # If the backend compiles nothing, the simplified graph is run node by node.
        self.kernel: Kernel = compiled or Program(_spared(graph, backend, donated), backend, donated=donated).kernel
        """Takes the payloads of the tensors among the arguments, and returns a tuple of the payloads of the results."""
        self.calls = 0
        """How often it was found in the cache."""
        self.warm: WarmCall = unwritten
        """The code of its calls, written when it is first found in the cache."""
        is_program(self)

    def exchange(self, change: Change) -> None:
        """Replaces the kernel by what `change` returns for it."""
        self.kernel = change(self.kernel, Subject(self.name, "jit", self.backend, self.results, parts=self.graph))

    def __call__(self, tensors: Sequence[Tensor]) -> Any:
        """The result for tensors on the backend, nested like the function's result."""
        backend = self.backend
        try:
            payloads = self.kernel(*(give_up(tensors, self.donated) if self.donated else map(_DATA, tensors)))
        except Exception as error:  # each error of a kernel gets a note with the op and its line
            note(error, backend)
            raise
        if self.out_tree is LEAF:
            return Tensor(self.results[0], backend, payloads[0])
        tensors = [Tensor(template, backend, data) for template, data in zip(self.results, payloads, strict=True)]
        return unflatten(self.out_tree, tensors)


def _spared(graph: Graph, backend: Backend, donated: Sequence[int]) -> Graph:
    """The simplified graph, for donated parameters with cheap values computed again."""
    graph = simplified(graph, backend)
    return compute_again.call(graph, donated) if donated else graph


class Lowered:
    """A compiled program of `jit` for some arguments, as a graph and as text.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> lowered = tb.jit(lambda x: tb.exp(x) * 2).lower(tb.template((3,), "f32"))
    >>> [node.op for node in lowered.graph.nodes], "fused" in lowered.as_text()
    (['parameter', 'exp', 'constant', 'multiply'], True)
    """

    def __init__(self, graph: Graph, backend: Backend) -> None:
        self.graph = graph
        """The graph as it was traced."""
        self.backend = backend
        """The backend for which it would be compiled: that of the tensors, or the default one for templates alone."""

    def as_text(self) -> str:
        """The text of the program that the backend compiles: on JAX StableHLO, elsewhere the rewritten graph."""
        return self.backend.graph_text(self.graph) or repr(simplified(self.graph, self.backend))

    def __repr__(self) -> str:
        return f"<lowered for {self.backend!r}>\n{self.graph!r}"
