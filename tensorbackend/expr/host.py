"""`host_call`: a function of NumPy arrays, called from inside a graph for its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload

from ..declarations.argument_errors import check_arguments_early
from ..dtypes import DType
from ..errors import ArgumentError, DTypeError, OperandError, ShapeError, expected
from ..ops.creation.filled import asarray
from ..ops.elementwise.basic import astype
from ..rules.template_text import parse_template
from ..scopes import in_own_context
from ..select import common_backend, default_backend, get_backend, move
from ..template import Template
from ..tensor import Tensor
from .arguments import as_tensors
from .control import call, name_errors
from .expr_backend import ExprBackend, current, outside_traces
from .node import HOST
from .trees import flatten, leaves_like, paths, unflatten


@overload
def host_call(
    function: Callable[..., Any], templates: Template | str | Tensor, /, *arguments: Any, **keywords: Any
) -> Tensor: ...
@overload
def host_call(function: Callable[..., Any], templates: Any, /, *arguments: Any, **keywords: Any) -> Any: ...
@check_arguments_early
def host_call(function: Callable[..., Any], templates: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """Call a function of NumPy arrays and use its result, also inside `jit`, `vmap` and loops.

    Outside a trace the function is called immediately. In a traced function the call is one node of the graph, and is
    made whenever the graph runs; on JAX, the compiled code calls back to the host.

    Parameters
    ----------
    function
        Takes the arguments, with a read-only NumPy array in place of each tensor, and returns arrays or numbers nested
        as `templates`. Its result must depend on its arguments alone: equal calls may be made once, and a call whose
        result is not used is not made.
    templates
        The templates of the result, nested in any way: templates, texts such as `"f32[batch=32, 10]"`, or tensors with
        these templates. The function's result must have these shapes. It is cast within the kind of its dtype, such as
        float64 to float32.
    *arguments, **keywords
        Tensors, nested in lists, tuples, dicts and dataclasses, and any other values.

    Returns
    -------
    Any
        Tensors of these templates, on the arguments' backend. For arguments without data, as in a dry run, the function
        is not called.

    Raises
    ------
    ShapeError, DTypeError, ArgumentError
        If the function's result does not match the templates.
    GradientError
        For a gradient through the call, unless `custom_gradient` defines one.

    Notes
    -----
    Inside `vmap` the function is called for each example. On JAX the function must not call JAX.

    Examples
    --------
    >>> import numpy
    >>> import tensorbackend as tb
    >>> @tb.jit
    ... def middle(x):
    ...     return tb.host_call(numpy.median, "f32", x) * 2
    >>> middle(tb.asarray([5.0, 1.0, 2.0])).item()
    4.0
    """
    with name_errors(HOST):
        template_leaves, out_tree = flatten(templates)
        out = tuple(
            _template(leaf, path) for leaf, path in zip(template_leaves, paths(out_tree, "templates"), strict=True)
        )
        leaves, tree = flatten((arguments, keywords))
        leaves = as_tensors(leaves)
        # The node keeps the tensors, so the function must not.
        rest = [None if isinstance(leaf, Tensor) else leaf for leaf in leaves]
        places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]

        @in_own_context
        def run(host_tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
            filled = list(rest)
            for place, x in zip(places, host_tensors, strict=True):
                filled[place] = x.__array__()
            positional, by_name = unflatten(tree, filled)
            with outside_traces(), default_backend("numpy"):
                result = function(*positional, **by_name)
                with name_errors(HOST):
                    result_leaves = leaves_like(out_tree, result, "result", "to be nested like the templates")
                    names = paths(out_tree, "result")
                    return tuple(_fit(x, like, path) for x, like, path in zip(result_leaves, out, names, strict=True))

        tensors = [leaves[place] for place in places]
        backend = ExprBackend() if current() is not None else common_backend(tensors)
        operands = tuple(move(x, backend) for x in tensors)
    return unflatten(out_tree, call(HOST, backend, out, (operands,), {"function": run}))


def _template(value: Any, path: str) -> Template:
    if isinstance(value, Template):
        return value
    if isinstance(value, Tensor):
        return value.template
    if isinstance(value, str):
        return parse_template(value)
    if isinstance(value, DType):
        return Template((), value)
    raise ArgumentError(expected(f"{path} as a template, its text or a tensor like it", given=value))


_KINDS = ("is_integer", "is_floating", "is_complex")


def _fit(value: Any, like: Template, path: str) -> Tensor:
    """The result of a function as a tensor with a template; raises an error if the result does not match."""
    host = get_backend("numpy")
    try:
        x = move(value, host) if isinstance(value, Tensor) else asarray(value, backend=host)
    except (TypeError, ValueError) as error:
        raise OperandError(expected(f"{path} as an array like {like!r}", returned=value)) from error
    if x.shape != like.shape:
        raise ShapeError(expected(f"{path} like {like!r}", "reshape it in the function", returned=x.template))
    if x.dtype is not like.dtype and not any(getattr(x.dtype, kind) and getattr(like.dtype, kind) for kind in _KINDS):
        raise DTypeError(expected(f"{path} like {like!r}", "cast it in the function", returned=x.template))
    return Tensor(like, host, astype(x, like.dtype).data)
