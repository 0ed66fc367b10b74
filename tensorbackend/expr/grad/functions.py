"""Gradients of functions: `grad`, `value_and_grad` and `vjp`.

A function is traced with the templates of its arguments to a graph. The graph of its gradient is derived, and runs on
the arguments: on any backend, and also inside another trace. Arguments are nested tensors (lists, tuples,
dicts, dataclasses), and gradients have their tree, shapes, dtypes and names. The other arguments, and the variables
that the function closes over, are constants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial, wraps
from typing import Any, Final, Literal, TypeVar, TypeVarTuple, overload

from ...caching.memos import BoundedMemo
from ...declarations.argument_errors import check_arguments, check_arguments_early
from ...dtypes import defaults
from ...errors import DTypeError, OperandError, ShapeError, TemplateDataError, expected
from ...errors.remedies import of_no_real_number
from ...errors.tracebacks import name_in_errors
from ...ops.creation.filled import ones
from ...select import common_backend
from ...template import Template
from ...tensor import Tensor
from ..closures import close
from ..evaluate import evaluate
from ..graph import Graph
from ..node import HOOK
from ..recomputation import selection
from ..trace import trace_leaves
from ..tree_containers import Tree
from ..trees import is_static, paths, unflatten
from . import rules as rules
from .calls import Argnums, Call, Gradient, Held, ValueAndGradient, fit_nested
from .custom import trace_pullbacks
from .eager_traces import RecalledCall, tree_of
from .eager_transforms import Linear, Memory, SplitPrograms, differentiate, later, split_program
from .engine import differentiate_graph, linearize_graph, rename_to_template
from .gradient_programs import GRADIENT_PROGRAMS, GradientProgram, tensor_of
from .parts import select_parts
from .registry import clear_with_rules

R = TypeVar("R")
Primals = TypeVarTuple("Primals")


@overload
def grad(function: Callable[..., Any], argnums: Literal[0] = 0, has_aux: Literal[False] = False) -> Gradient: ...
@overload
def grad(function: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]: ...
@check_arguments_early
def grad(function: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Make a function that computes the gradient of a function with a scalar result.

    A gradient has the tree, shapes, dtypes and names of its argument; for several `argnums` the result is a tuple of
    gradients. With `has_aux` the function returns (result, anything), and the gradient is returned as (gradient,
    anything). The gradient of a complex argument x + iy is df/dx - i df/dy. Raises `ShapeError` or `DTypeError` for a
    result that is not a real scalar, `DTypeError` for an argument that is neither floating nor complex, and
    `GradientError` if the function uses an op that has no gradient. An argument that is a Python float becomes a
    float32 tensor; pass `tb.asarray(0.1, dtype="f64")` to differentiate in float64.

    Parameters
    ----------
    function
        A function of tensors, nested in lists, tuples, dicts and dataclasses.
    argnums : int or sequence of int, default 0
        The positions of the arguments to differentiate with respect to.
    has_aux : bool, default False
        Whether the function returns (result, anything), the second of which is returned as well.

    Returns
    -------
    Callable
        A function of the same arguments that returns the gradient.

    Examples
    --------
    >>> x = tb.tensor([1.0, 2.0], names=("n",))
    >>> tb.grad(lambda x: tb.sum(x * x))(x)
    f32[n: 2] numpy [2.0, 4.0]
    """
    both = value_and_grad(function, argnums, has_aux)

    @wraps(function)
    def gradient(*arguments: Any, **keywords: Any) -> Any:
        value, gradients = both(*arguments, **keywords)
        return (gradients, value[1]) if has_aux else gradients

    return name_in_errors(gradient, "grad")


@overload
def value_and_grad(
    function: Callable[..., Any], argnums: Literal[0] = 0, has_aux: Literal[False] = False
) -> ValueAndGradient: ...
@overload
def value_and_grad(
    function: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., tuple[Any, Any]]: ...
@check_arguments_early
def value_and_grad(function: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Make a function that computes the result and the gradient of a function with a scalar result.

    Parameters
    ----------
    function, argnums, has_aux
        As for `grad`.

    Returns
    -------
    Callable
        A function of the same arguments that returns the pair (result of the function, gradient).

    Examples
    --------
    >>> value, gradient = tb.value_and_grad(lambda x: x * x)(3.0)
    >>> value.item(), gradient.item()
    (9.0, 6.0)
    """

    memory = Memory()

    def from_record(record: RecalledCall, key: Any) -> Callable[[], Any]:
        program = GRADIENT_PROGRAMS.get((key, has_aux))
        if program is None:
            return _prepare(record.call(), has_aux, record, (key, has_aux))
        payloads = record.payloads(program.places, program.extra[0])
        return partial(_run_program, program, payloads, [x.template for x in record.leaves], record.tree)

    def from_trace(call: Call) -> Callable[[], Any]:
        return _prepare(call, has_aux)

    @wraps(function)
    def both(*arguments: Any, **keywords: Any) -> Any:
        chosen = selection.get()
        if chosen is None:
            return differentiate(function, argnums, arguments, keywords, from_record, from_trace, memory)
        before = len(chosen.calls)

        def from_parts(call: Call) -> Callable[[], Any]:
            if len(chosen.calls) == before:  # the function called none that is wrapped in `checkpoint`
                call = call._replace(graph=select_parts(call.graph, chosen))
            return _prepare(call, has_aux)

        def from_record_of_parts(record: RecalledCall, key: Any) -> Callable[[], Any]:
            return from_parts(record.call()) if len(chosen.calls) == before else from_record(record, key)

        return differentiate(function, argnums, arguments, keywords, from_record_of_parts, from_parts, memory)

    return name_in_errors(both, "value_and_grad")


def gradient_call(call: Call) -> Call:
    """The function of a call replaced by its gradient, which has `None` in place of integers."""
    call = call._replace(
        held={i: Held(x.leaf, x.gradient if is_static(x.gradient) else None) for i, x in call.held.items()}
    )
    graph = trace_leaves(
        lambda leaves: _prepare(call._replace(leaves=leaves), False)()[1], call.leaves, call.graph.names
    )
    return call._replace(graph=graph, out_tree=graph.out_tree)


def _prepare(
    call: Call, has_aux: bool, record: RecalledCall | None = None, key: Any = None
) -> Callable[[], tuple[Any, Any]]:
    """A function that computes the result and the gradient of a traced function, without the trace.

    For a recalled trace, how they are computed is kept.
    """
    graph, call = call.graph, call._replace(graph=Graph([], []))
    trees, templates = _scalar_result(graph, has_aux), graph.results
    whole, constants = _add_gradient(graph)
    one = ones((), dtype=templates[0].dtype, backend=call.leaves[0].backend if call.leaves else None)
    if record is not None and not whole.captured:
        places = record.places(constants)
        if places is not None:
            GRADIENT_PROGRAMS.keep(key, GradientProgram(whole, record.scope.home, places, ((one,), trees, templates)))

    def compute() -> tuple[Any, Any]:
        outputs = evaluate(whole, [*constants, *call.leaves, one])
        return _value(outputs, trees, templates), call.nested(outputs[len(templates) :])

    return compute


def _run_program(
    program: GradientProgram, payloads: Sequence[Any], arguments: Sequence[Template], tree: Tree
) -> tuple[Any, Any]:
    """The result and the gradient of a function that recorded the same nodes before."""
    _, trees, templates = program.extra
    results, home = program(payloads), program.home
    count = len(templates)
    outputs = [tensor_of(template, home, data) for template, data in zip(templates, results, strict=False)]
    gradients = [tensor_of(template, home, results[count + place]) for place, template in enumerate(arguments)]
    nested = tuple(gradients) if tree is tree_of(len(gradients)) else unflatten(tree, gradients)
    return _value(outputs, trees, templates), nested


def _value(outputs: Sequence[Tensor], trees: tuple[Tree, Tree | None], templates: Sequence[Template]) -> Any:
    tree, aux_tree = trees
    value = outputs[0] if tree.kind is None else unflatten(tree, outputs[:1])
    if aux_tree is None:
        return value
    return value, unflatten(aux_tree, outputs[1 : len(templates)])


def _add_gradient(graph: Graph) -> tuple[Graph, list[Tensor]]:
    """The graph with the cotangents of all parameters as further results, and the tensors for its first parameters.

    If the graph equals an earlier one (compared without captured data), the gradient of that one is reused, with the
    program that runs it. A graph with debug callbacks is not compared, because the functions that it calls belong to
    its trace.
    """
    if not any(node.op == HOOK for node in graph.nodes):
        (closed,), constants = close([trace_pullbacks(graph)])
        # The default of a composite may read captured data, which is not in a closed graph: that one is not used then.
        with suppress(TemplateDataError):
            key = closed, len(constants), defaults.current_precision()
            return _known.get(key) or _known.keep(key, _differentiate(closed, len(constants))), constants
    return _differentiate(graph, 0), []


_known: Final[BoundedMemo[Graph]] = clear_with_rules(BoundedMemo("graphs of gradients", 512))
"""The gradients of graphs that are closed. A graph is found again because equal closed graphs are one object."""


def _differentiate(graph: Graph, first: int) -> Graph:
    """The graph of the results and of the cotangents of the parameters from position `first` on."""
    return differentiate_graph(graph, range(first, len(graph.parameters)), [0])


def _scalar_result(graph: Graph, has_aux: bool) -> tuple[Tree, Tree | None]:
    """The trees of the result and of the auxiliary results, `None` if there are none; raises unless the result is a
    real scalar: a tensor, or an instance of a registered class that holds one."""
    tree = graph.out_tree
    aux = None
    if has_aux:
        if tree.kind is None or not issubclass(tree.kind, (tuple, list)) or len(tree.children) != 2:
            raise OperandError(expected("a function that returns (result, anything) for has_aux"))
        tree, aux = tree.children
    if not tree.is_tensor:
        remedy = "use has_aux=True for (result, anything), or vjp() for several results"
        raise OperandError(expected("a function that returns one tensor", remedy, returned=paths(tree, "result")))
    result = graph.results[0]
    if result.shape:
        raise ShapeError(expected("a scalar result for a gradient", "take its sum(), or use jacobian()", result=result))
    if not result.dtype.is_floating:
        remedy = of_no_real_number(result.dtype.is_complex) + ", or use vjp()" * result.dtype.is_complex
        raise DTypeError(expected("a floating result for a gradient", remedy, result=result))
    return tree, aux


@overload
def vjp(function: Callable[[*Primals], R], *primals: *Primals) -> tuple[R, Callable[[R], tuple[*Primals]]]: ...
@overload
def vjp(function: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]: ...
@check_arguments  # type: ignore[misc] # any number of primals
def vjp(function: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """Compute the result of a function, and a function from cotangents of the result to cotangents of the arguments.

    The second takes a cotangent nested like the result, and returns a tuple with a cotangent for each argument. It can
    be called any number of times, and does not compute the function again. It ignores cotangents of integer and bool
    results.

    Parameters
    ----------
    function
        A function of tensors, nested in lists, tuples, dicts and dataclasses.
    *primals
        Its arguments: floating or complex tensors, or numbers.

    Returns
    -------
    tuple
        The result, and the function of cotangents.

    Examples
    --------
    >>> y, back = tb.vjp(tb.sin, tb.asarray([0.0, 1.0]))
    >>> back(tb.asarray([1.0, 0.0]))[0].tolist()
    [1.0, 0.0]
    """
    return differentiate(
        function, range(len(primals)), primals, {}, later(_recall_result_and_pull), later(_result_and_pull)
    )


def _result_and_pull(call: Call) -> tuple[Any, Callable[..., Any]]:
    """The result of a function, and its function of cotangents."""
    forward, backward = linearize_graph(call.graph, range(len(call.leaves)))
    outputs, count = evaluate(forward, call.leaves), len(call.graph.outputs)
    return _make_pull(outputs[:count], Linear(backward, outputs[count:]), call.out_tree, call.leaves, call.filled)


def _recall_result_and_pull(record: RecalledCall, key: Any) -> tuple[Any, Callable[..., Any]]:
    """The same, for a function that recorded nodes that are recalled."""
    tree = record.tree
    results, linear = split_program(
        "vjp", key, record, lambda graph, positions: SplitPrograms(*linearize_graph(graph, positions))
    )
    return _make_pull(results, linear, record.out_tree, record.leaves, lambda cotangents: unflatten(tree, cotangents))


def _make_pull(
    results: Sequence[Tensor],
    linear: Linear,
    out_tree: Tree,
    leaves: Sequence[Tensor],
    nested: Callable[[list[Tensor]], Any],
) -> tuple[Any, Callable[..., Any]]:
    templates = [x.template for x in results]
    primal_templates = [x.template for x in leaves]
    home = common_backend([*leaves, *linear.residuals])

    def pull(cotangent: Any) -> Any:
        """The cotangents of the arguments, from a cotangent of the result."""
        cotangents = fit_nested(cotangent, "a cotangent", (out_tree, "result", templates), home)
        seeds = [x for x, template in zip(cotangents, templates, strict=True) if template.dtype.is_inexact]
        return nested(list(map(rename_to_template, linear(seeds), primal_templates)))

    return unflatten(out_tree, results), pull
