"""`jit`: a function traced once for the templates that it is called with, and compiled for their backend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar, cast

from ..dtypes import current_precision
from ..errors import ArgumentError, expected
from ..operands import kind_of
from ..protocol import Backend
from ..select import common_backend, move
from ..tensor import Tensor, late
from .evaluate import program
from .graph import Graph
from .simplify import simplified
from .trace import argument_names, trace_leaves
from .trees import LEAF, Tree, flatten, unflatten

P = ParamSpec("P")
R = TypeVar("R")


class Compiled(NamedTuple):
    """A function compiled for some templates and options."""

    run: Callable[[Sequence[Tensor]], Sequence[Tensor]]
    backend: Backend
    out_tree: Tree


def jit(function: Callable[P, R]) -> Callable[P, R]:
    """A function that is traced at its first call with such templates, and from then on runs compiled.

    Arguments may nest tensors as those of `trace` do. What is no tensor is an option: it must hash, and each value has
    a compilation of its own, so what changes from call to call is better a tensor. A tensor that the function holds on
    to keeps the value that it had at the trace. JAX compiles the whole by XLA; NumPy runs chains of elementwise ops a
    block at a time; other backends run the simplified graph. Under a trace, on templates or on a tape the function
    itself is called. Raises what `trace` raises, and `ArgumentError` for an option that does not hash.

    >>> import tensorbackend as tb
    >>> @tb.jit
    ... def scaled(x, power):
    ...     return tb.exp(-x * x) * 2 ** power
    >>> scaled(tb.zeros(2), 3).tolist()
    [8.0, 8.0]
    """
    quick: dict[Any, Compiled] = {}
    known: dict[Any, Compiled] = {}

    def general(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        leaves, tree = flatten((arguments, keywords))
        leaves = [leaf if not _foreign(leaf) else late("asarray")(leaf) for leaf in leaves]
        tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        backend = common_backend(tensors)
        if backend.dispatch_priority > 1:
            return function(*arguments, **keywords)
        options = tuple(None if isinstance(leaf, Tensor) else (leaf, kind_of(leaf)) for leaf in leaves)
        key = (tree, tuple(x.template for x in tensors), options, backend, current_precision())
        try:
            found = known.get(key)
        except TypeError:
            wanted, remedy = "options of a compiled function to hash", "pass tensors, numbers, texts or tuples"
            raise ArgumentError(expected(wanted, remedy, options=[each[0] for each in options if each])) from None
        if found is None:

            def flat(given: list[Any]) -> Any:
                positional, named = unflatten(tree, given)
                return function(*positional, **named)

            graph = trace_leaves(flat, leaves, argument_names(function, arguments, keywords))
            held = [node.tensor for node in graph.captured if node.tensor is not None]
            backend = common_backend([*tensors, *held]) if tensors or held else backend
            found = known[key] = Compiled(_compiled(graph, backend), backend, graph.out_tree)
            if not keywords and len(tensors) == len(arguments) == len(leaves):
                same = all(x.backend is backend for x in tensors)
                if same and tensors:
                    quick[backend, current_precision(), *(x.template for x in tensors)] = found
        return unflatten(found.out_tree, found.run([move(x, found.backend) for x in tensors]))

    @wraps(function)
    def jitted(*arguments: Any, **keywords: Any) -> Any:
        if not keywords and arguments:
            try:
                backend = arguments[0].backend
                found = quick[backend, current_precision(), *[x.template for x in arguments]]
                for x in arguments:
                    if x.backend is not backend:
                        raise LookupError
            except (LookupError, AttributeError, TypeError):
                pass  # so that no error below has this one as its context
            else:
                results = found.run(arguments)
                return results[0] if found.out_tree is LEAF else unflatten(found.out_tree, results)
        return general(arguments, keywords)

    return cast("Callable[P, R]", jitted)


def _compiled(graph: Graph, backend: Backend) -> Callable[[Sequence[Tensor]], Sequence[Tensor]]:
    """What the backend makes of a graph; the simplified graph, run node by node, where the backend compiles nothing."""
    made = backend.compile_graph(graph)
    return program(simplified(graph, backend), backend) if made is None else made


def _foreign(leaf: Any) -> bool:
    """Whether a leaf is another library's array."""
    return not isinstance(leaf, Tensor) and hasattr(leaf, "__array__") and hasattr(leaf, "dtype")
