"""Functions that a graph calls: `host_call` for a result, `debug_callback` and `debug_print` for their effects."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, overload

from ..declarations.argument_errors import check_arguments_early
from ..dtypes import DType
from ..errors import ArgumentError, DTypeError, OperandError, ShapeError, expected
from ..ops.creation.filled import asarray, full
from ..ops.elementwise.basic import astype
from ..rules.template_text import parse_template
from ..scopes import in_own_context
from ..select import common_backend, default_backend, get_backend, move
from ..template import Template
from ..tensor import Tensor
from .arguments import as_tensors, split
from .control import call, name_errors
from .effects import record_call
from .expr_backend import ExprBackend, current, outside_traces, value_of
from .node import HOOK, HOST
from .trees import flatten, leaves_like, paths, unflatten


@check_arguments_early
def debug_callback(function: Callable[..., object], /, *arguments: Any, **keywords: Any) -> None:
    """Call a function with the data of tensors, also inside `jit`, `grad`, `vmap` and loops.

    A traced function runs once, before there is data. A call by `debug_callback` becomes part of the graph and is made
    whenever the graph runs, in program order. Outside a trace the function is called immediately.

    Parameters
    ----------
    function
        Called with the arguments, for its side effects: it may print, write to a file, or look for NaN and raise. Its
        result is ignored. It may keep its tensors.
    *arguments, **keywords
        Tensors, nested in lists, tuples, dicts and dataclasses, and any other values. The function gets tensors with
        data and without a gradient; tensors on JAX are moved to NumPy. For tensors without data, as in a dry run, the
        function is not called.

    Raises
    ------
    OperandError
        At the end of the trace of a function that does not return a tensor, as a graph holds only what its results
        need.

    Notes
    -----
    Inside `vmap` the function is called for each example if one of the tensors depends on the example, otherwise
    once. A branch of a `cond` that is not taken makes no calls. If a gradient recomputes values, in a `checkpoint`, a
    loop or a branch, the function is called again. Code compiled by JAX calls the function from a separate thread,
    while the caller continues: wait with `x.block_until_ready()` on a result.

    Examples
    --------
    >>> seen = []
    >>> @tb.jit
    ... def step(x):
    ...     y = x * 2
    ...     tb.debug_callback(lambda y: seen.append(y.tolist()), y)
    ...     return tb.sum(y)
    >>> step(tb.ones(2)).item(), step(tb.zeros(2)).item()
    (4.0, 0.0)
    >>> seen
    [[2.0, 2.0], [0.0, 0.0]]
    """
    with name_errors("debug_callback"):
        leaves, tree = flatten((arguments, keywords))
        tensors, fill = split(as_tensors(leaves))
        templates = [x.template for x in tensors]

        def run(*tensors: Tensor) -> None:
            given = (Tensor(template, x.backend, x.data) for template, x in zip(templates, tensors, strict=True))
            positional, named_ones = unflatten(tree, fill(given))
            function(*positional, **named_ones)

        scope = current()
        if scope is not None:
            record_call(scope, run, [value_of(x) for x in tensors])
            return
        backend = common_backend(tensors)
        token = full((), False, dtype="bool", backend=backend)
        operands = tuple(move(x, backend) for x in tensors)
    call(HOOK, backend, (token.template,), ((token,), operands), {"function": run})


@check_arguments_early
def debug_print(text: str, /, *arguments: Any, **keywords: Any) -> None:
    """Print a formatted text with the data of tensors, also inside `jit`, `grad`, `vmap` and loops.

    Parameters
    ----------
    text
        A format string, as for `str.format`: `"{} and {name}"`.
    *arguments, **keywords
        The values for the placeholders. A tensor without axes is formatted as its number, and one with axes as printed.

    See Also
    --------
    debug_callback : Calls any function; describes when.

    Examples
    --------
    >>> @tb.jit
    ... def loss(x):
    ...     total = tb.sum(x * x)
    ...     tb.debug_print("total {:.1f} of {n} elements", total, n=x.size)
    ...     return total
    >>> gradient = tb.grad(loss)(tb.asarray([1.0, 2.0]))
    total 5.0 of 2 elements
    """

    def show(*arguments: Any, **keywords: Any) -> None:
        message = text.format(
            *map(_unwrap_scalar, arguments), **{name: _unwrap_scalar(x) for name, x in keywords.items()}
        )
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        print(message.encode(encoding, "backslashreplace").decode(encoding), flush=True)  # a console may lack a letter

    debug_callback(show, *arguments, **keywords)


def _unwrap_scalar(value: Any) -> Any:
    """The number of a tensor without axes; any other value itself."""
    return value.item() if isinstance(value, Tensor) and not value.shape else value


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
        tensors, fill = split(as_tensors(leaves))

        @in_own_context
        def run(host_tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
            positional, by_name = unflatten(tree, fill(x.__array__() for x in host_tensors))
            with outside_traces(), default_backend("numpy"):
                result = function(*positional, **by_name)
                with name_errors(HOST):
                    result_leaves = leaves_like(out_tree, result, "result", "to be nested like the templates")
                    names = paths(out_tree, "result")
                    return tuple(_fit(x, like, path) for x, like, path in zip(result_leaves, out, names, strict=True))

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
