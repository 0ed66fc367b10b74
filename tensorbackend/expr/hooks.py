"""Side effects of a function, inside a graph and outside: `debug_print`, and `debug_callback` for any other effect."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ..declarations.argument_errors import check_arguments_early
from ..ops.creation.filled import full
from ..select import common_backend, move
from ..tensor import Tensor
from .arguments import as_tensors
from .control import call, name_errors
from .effects import record_call
from .expr_backend import current, value_of
from .node import HOOK
from .trees import flatten, unflatten


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
    >>> import tensorbackend as tb
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
        leaves = as_tensors(leaves)
        places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
        templates = [leaves[place].template for place in places]
        # The graph keeps the tensors, so the function must not.
        rest = [None if isinstance(leaf, Tensor) else leaf for leaf in leaves]

        def run(*tensors: Tensor) -> None:
            filled = list(rest)
            for place, template, x in zip(places, templates, tensors, strict=True):
                filled[place] = Tensor(template, x.backend, x.data)
            positional, named_ones = unflatten(tree, filled)
            function(*positional, **named_ones)

        tensors = [leaves[place] for place in places]
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
    >>> import tensorbackend as tb
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
