"""`trace`: runs a function on tensors of ExprBackend, and returns the recorded graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from ..declarations.argument_errors import check_arguments_early
from ..dtypes import as_dtype, scalar_kind
from ..errors import OperandError, expected
from ..errors.tracebacks import name_in_errors
from ..protocol import Backend
from ..rules.template_text import is_template, parse_template
from ..scopes import in_own_context
from ..select import call_with_default, common_backend, get_backend
from ..template import Template
from ..tensor import Tensor, public_op
from .effects import order_effects
from .evaluate import evaluate
from .expr_backend import (
    ExprBackend,
    current,
    depends_on_argument,
    expr_tensor,
    leak_error,
    no_data_error,
    reader,
    record_block,
    tensor_of,
    value_of,
)
from .graph import NO_OPTION, Graph, TracedCall, capture_outer, held_by, reachable
from .mesh_variation import Variation, parameter_options, varies_of
from .node import PARAMETER, Node, Value
from .scopes import CapturedNode, Scope
from .tree_containers import Tree
from .trees import flatten, keep_static, paths, unflatten


@check_arguments_early
def trace(function: Callable[..., Any]) -> Callable[..., Graph]:
    """Trace a function into a graph: call the result with templates or tensors.

    Arguments may nest tensors in lists, tuples, dicts and dataclasses. Texts such as `"f32[batch=32, 10]"` or `"f32"`
    are templates; other texts and values are passed to the function unchanged. Raises the function's own errors, and
    `TemplateDataError` if the function reads data that depend on an argument.

    Parameters
    ----------
    function
        A function of tensors and of anything else.

    Returns
    -------
    Callable
        A function of templates, texts for them or tensors in place of the arguments, which returns the `Graph`.

    Examples
    --------
    >>> graph = tb.trace(lambda x, y: x @ y)("f32[m=2, k=3]", "f32[k=3, n=4]")
    >>> graph.results
    (f32[m: 2][n: 4],)
    """

    @wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Graph:
        leaves, tree = flatten((arguments, keywords))
        parsed_leaves = [*map(_parse, leaves)]
        graph = trace_leaves(
            lambda traced_leaves: _apply(function, unflatten(tree, traced_leaves)),
            parsed_leaves,
            argument_names(function, arguments, keywords),
        )
        graph.call = TracedCall(tree, [leaf if _template_of(leaf) is None else NO_OPTION for leaf in parsed_leaves])
        return graph

    return name_in_errors(call, "trace")


def _parse(leaf: Any) -> Any:
    """A leaf, with a template in place of its text, or of JAX's description of an array."""
    if isinstance(leaf, str) and is_template(leaf):
        return parse_template(leaf)
    return Template(leaf.shape, as_dtype(leaf.dtype)) if type(leaf).__name__ == "ShapeDtypeStruct" else leaf


def _apply(function: Callable[..., Any], call: tuple[tuple[Any, ...], dict[str, Any]]) -> Any:
    arguments, keywords = call
    return function(*arguments, **keywords)


def argument_names(
    function: Callable[..., Any], arguments: Sequence[Any], keywords: dict[str, Any] | None = None
) -> list[str]:
    """The names of the leaves of arguments, which begin with the function's parameter names if these are known."""
    while hasattr(function, "__wrapped__"):  # to the function that a decorator, such as `grad`, wraps
        function = function.__wrapped__
    code = getattr(function, "__code__", None)
    known = code.co_varnames[: code.co_argcount] if code is not None else ()
    if known[:1] == ("self",) and hasattr(function, "__self__"):
        known = known[1:]
    roots = [known[i] if i < len(known) else f"arguments[{i}]" for i in range(len(arguments))]
    # The leaves of keywords come in the order of a dictionary's leaves, by sorted keys.
    pairs = [*zip(roots, arguments, strict=True), *sorted((keywords or {}).items())]
    return [path for root, argument in pairs for path in paths(flatten(argument)[1], root)]


@in_own_context
def trace_leaves(
    function: Callable[[list[Any]], Any],
    leaves: Sequence[Any],
    names: Sequence[str],
    home: Backend | None = None,
    varying: Sequence[Variation] | None = None,
) -> Graph:
    """The graph of a function of a flat list; the templates and tensors in the list become the parameters.

    Tensors that the function makes from data are on `home`. By default they follow the backend of the parameters.
    `varying` says for each leaf how it varies over a mesh; for a tensor that is already known.
    """
    templates = [_template_of(leaf) for leaf in leaves]
    if home is None and not any(template is not None for template in templates):
        home = get_backend()
    with record_block(home) as scope:
        given: Sequence[Variation | None] = varying or [varies_of(x) if isinstance(x, Tensor) else None for x in leaves]
        values = [
            None if template is None else Value(Node(PARAMETER, template, options=parameter_options(said)))
            for template, said in zip(templates, given, strict=True)
        ]
        given_leaves = [
            leaf if value is None else expr_tensor(value) for leaf, value in zip(leaves, values, strict=True)
        ]
        outputs, out_tree = outputs_of(function(given_leaves), scope)
    parameters = [value for value in values if value is not None]
    outputs, _ = capture_outer(parameters, outputs, scope.start)
    used = [name for name, value in zip(names, values, strict=True) if value is not None]
    return Graph(parameters, outputs, out_tree, used)


@in_own_context
def resume_trace(
    function: Callable[[list[Any]], Any],
    before: Scope,
    parameters: Sequence[Value],
    templates: Sequence[Template],
    names: Sequence[str],
) -> Graph:
    """The graph of a function that continues an earlier trace.

    The function may use the values of that trace. The graph takes the parameters of the earlier trace, then one
    parameter for each template.
    """
    with record_block(before.holder) as scope:
        more = [Value(Node(PARAMETER, template)) for template in templates]
        outputs, out_tree = outputs_of(function([expr_tensor(value) for value in more]), scope)
        every = [*parameters, *more]
        outputs, _ = capture_outer(every, outputs, before.start)
    return Graph(every, outputs, out_tree, names)


def outputs_of(result: Any, scope: Scope) -> tuple[list[Value], Tree]:
    """The values of nested results, one of which depends on the calls recorded in the trace, and their nesting.

    Texts, functions and other static leaves of a container are part of the nesting.
    """
    leaves, tree = keep_static(*flatten(result))
    values = [_output(leaf) for leaf in leaves]
    return order_effects(scope, values), tree


def _output(result: Any) -> Value:
    """The value of a result, which is a tensor or can be converted to one."""
    if isinstance(result, Tensor):
        return value_of(result)
    _check_result(result)
    return _output(public_op("asarray")(result))


def check_results(result: Any) -> None:
    """Raises `OperandError` unless all nested results of a function are tensors or can be converted to tensors."""
    for leaf in keep_static(*flatten(result))[0]:
        if not isinstance(leaf, Tensor):
            _check_result(leaf)


def _check_result(result: Any) -> None:
    if scalar_kind(result) is None and not hasattr(result, "__array__"):
        remedy = "return tensors, numbers, or lists, tuples, dicts and dataclasses of them"
        raise OperandError(expected("a function that returns tensors", remedy, result=result))


def _template_of(leaf: Any) -> Template | None:
    """The template of a tensor or array; `None` for a leaf that does not become a parameter."""
    if isinstance(leaf, Template):
        return leaf
    if isinstance(leaf, Tensor):
        return leaf.template
    if hasattr(leaf, "__array__") and hasattr(leaf, "dtype"):
        return Template(leaf.shape, as_dtype(leaf.dtype))
    return None


@reader.supply
def compute_constant(x: Tensor) -> Tensor:
    """Computes a tensor of a trace that depends on no argument; returns the tensor with its data.

    Raises `TemplateDataError` for a tensor that depends on an argument, or `BackendError` outside all traces.
    """
    scope = current()
    if depends_on_argument(x.data):
        raise leak_error(x.data) if scope is None else no_data_error(x)
    default = get_backend("numpy") if scope is None else scope.default
    lifted = {node: tensor_of(node) for node in reachable([x.data]) if isinstance(node, CapturedNode)}
    graph = Graph([Value(node) for node in lifted], [x.data])
    tensors = [tensor for tensor in lifted.values() if tensor is not None]  # all of them, by `depends_on_argument`
    deciding = [
        tensor
        for tensor in tensors + held_by(graph)
        if tensor.backend.dispatch_priority and not isinstance(tensor.backend, ExprBackend)
    ]
    (result,) = call_with_default(default, evaluate, graph, tensors, common_backend(deciding) if deciding else default)
    return result
