"""Matrices of derivatives: `jacobian` by rows, `jacfwd` by columns, `hessian`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Literal, Protocol, overload

from ...declarations.argument_errors import check_arguments_early
from ...errors import DTypeError, expected
from ...errors.tracebacks import name_in_errors
from ...ops.composite.shape.arranging import moveaxis
from ...ops.creation.filled import eye, zeros
from ...ops.shape import reshape
from ...select import common_backend
from ...template import Template
from ...tensor import Tensor
from ..evaluate import evaluate
from ..trees import unflatten
from ..vmap import vmap
from . import rules as rules
from .calls import Argnums, Call
from .eager_traces import RecalledCall
from .eager_transforms import Memory, differentiate, later, run_transform
from .engine import linearize_graph
from .forward import linearize_call
from .functions import gradient_call


class Jacobian(Protocol):
    """A function that returns derivatives by its first argument: a tensor if that is a tensor or a number."""

    @overload
    def __call__(self, argument: Tensor | complex, /, *others: Any, **keywords: Any) -> Tensor: ...
    @overload
    def __call__(self, *arguments: Any, **keywords: Any) -> Any: ...


@overload
def jacobian(function: Callable[..., Tensor], argnums: Literal[0] = 0) -> Jacobian: ...
@overload
def jacobian(function: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]: ...
@check_arguments_early
def jacobian(function: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """Make a function that computes the derivatives of each element of the result by each of the arguments.

    They are nested like the result and, for each tensor of the result, like the gradient that `grad` returns. Each has
    the axes of the result before the axes of the argument; if both have a name, the axis of the argument loses it.
    Raises what `grad` raises, except that the result need not be a scalar, and `DTypeError` for a complex result of a
    floating argument.

    Parameters
    ----------
    function, argnums
        As for `grad`.

    Returns
    -------
    Callable
        A function of the same arguments that returns the derivatives.

    Examples
    --------
    >>> tb.jacobian(lambda x: x * x)(tb.asarray([1.0, 2.0])).tolist()
    [[2.0, 0.0], [0.0, 4.0]]
    """

    return _derivatives("jacobian", function, argnums, _derivatives_by_rows)


def _derivatives(
    name: str, function: Callable[..., Any], argnums: Argnums, transform: Callable[[Call], Any]
) -> Callable[..., Any]:
    """The function of the arguments that applies a transform to a call of `function`."""
    memory = Memory()

    def apply_transform(call: Call, _: Sequence[Tensor]) -> Any:
        return transform(call)

    def again(record: RecalledCall, key: Any) -> Any:
        return run_transform(name, key, record, apply_transform)

    @wraps(function)
    def derivatives(*arguments: Any, **keywords: Any) -> Any:
        return differentiate(function, argnums, arguments, keywords, later(again), later(transform), memory)

    return name_in_errors(derivatives, name)


def _derivatives_by_rows(call: Call) -> Any:
    """The derivatives of the results of a call, a row for each element of a result."""
    graph, count = call.graph, len(call.graph.outputs)
    for template in graph.results:
        _check_jacobian(template, call.leaves)
    forward, backward = linearize_graph(graph, range(len(call.leaves)))
    residuals = evaluate(forward, call.leaves)[count:]
    backend = common_backend([*call.leaves, *residuals])
    blank = [zeros(template.shape, dtype=template.dtype, backend=backend) for template in graph.results]

    def block(position: int, result: Template) -> Any:
        """The derivatives of one tensor of the result, nested as the arguments are."""

        def pull(unit: Tensor) -> list[Tensor]:
            return evaluate(backward, [*residuals, *blank[:position], unit, *blank[position + 1 :]])

        if result.size:
            units = eye(result.size, dtype=result.dtype, backend=backend)
            derivative_rows = vmap(pull)(reshape(units, (result.size, *result.shape)))
        else:
            derivative_rows = [zeros((0, *x.shape), dtype=x.dtype, backend=backend) for x in call.leaves]
        blocks = (_block(rows, result, x.template) for rows, x in zip(derivative_rows, call.leaves, strict=True))
        return call.filled(list(blocks))

    return unflatten(call.out_tree, [block(position, result) for position, result in enumerate(graph.results)])


@overload
def jacfwd(function: Callable[..., Tensor], argnums: Literal[0] = 0) -> Jacobian: ...
@overload
def jacfwd(function: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]: ...
@check_arguments_early
def jacfwd(function: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """Make a function that computes the derivatives of `jacobian` in forward mode.

    It computes a column for each element of the arguments rather than a row for each element of the result, so it is
    faster than `jacobian` if the result has more elements than the arguments.

    Parameters
    ----------
    function
        A function of tensors. Its result is floating or complex tensors, nested in any way.
    argnums
        The position of the argument to differentiate with respect to, or several; by default the first.

    Returns
    -------
    Callable
        A function of the same arguments. It returns the derivatives nested like the result and, for each tensor of
        the result, like the arguments. Each has the axes of the result before the axes of the argument; if both have a
        name, the axis of the argument loses it.

    Raises
    ------
    DTypeError
        For an argument or a result that is neither floating nor complex, or a complex result of a floating argument.

    Examples
    --------
    >>> tb.jacfwd(lambda x: tb.stack([x[0] * x[1], x[0], x[1] ** 2]))(tb.asarray([2.0, 3.0])).tolist()
    [[3.0, 2.0], [1.0, 0.0], [0.0, 6.0]]
    """

    return _derivatives("jacfwd", function, argnums, _derivatives_by_columns)


def _derivatives_by_columns(call: Call) -> Any:
    """The derivatives of the results of a call, a column for each element of an argument."""
    for template in call.graph.results:
        _check_jacobian(template, call.leaves)
    backend = common_backend(call.leaves)
    push = linearize_call(call, backend).linear
    blank = [zeros(x.shape, dtype=x.dtype, backend=backend) for x in call.leaves]

    def columns(position: int) -> list[Tensor]:
        """The derivatives of all result tensors by one argument tensor; its elements run along the first axis."""
        x = call.leaves[position]
        if not x.size:
            return [zeros((0, *result.shape), dtype=result.dtype, backend=backend) for result in call.graph.results]
        units = reshape(eye(x.size, dtype=x.dtype, backend=backend), (x.size, *x.shape))
        return vmap(lambda unit: push([*blank[:position], unit, *blank[position + 1 :]]))(units)

    by_argument = [columns(position) for position in range(len(call.leaves))]
    blocks = [
        [
            _block(moveaxis(argument_columns[number], 0, -1), result, x.template)
            for argument_columns, x in zip(by_argument, call.leaves, strict=True)
        ]
        for number, result in enumerate(call.graph.results)
    ]
    return unflatten(call.out_tree, [call.filled(row) for row in blocks])


def _check_jacobian(result: Template, leaves: Sequence[Tensor]) -> None:
    if not result.dtype.is_inexact:
        remedy = "cast it with astype(), or leave it out"
        raise DTypeError(expected("a floating or complex result for a jacobian", remedy, result=result))
    if result.dtype.is_complex and not all(x.dtype.is_complex for x in leaves):
        remedy = "take its real() and imag(), or cast the argument"
        raise DTypeError(
            expected("a floating result for the jacobian with respect to a floating argument", remedy, result=result)
        )


def _block(rows: Tensor, result: Template, argument: Template) -> Tensor:
    """The derivatives of one tensor by another: `rows` with the axes of both, and their names."""
    names = (*result.names, *(None if name in result.names else name for name in argument.names))
    return reshape(rows, (*result.shape, *argument.shape), names=names)


@overload
def hessian(function: Callable[..., Tensor], argnums: Literal[0] = 0) -> Jacobian: ...
@overload
def hessian(function: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]: ...
@check_arguments_early
def hessian(function: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """Make a function that computes the second derivatives of a scalar function: the jacobian of its gradient.

    Parameters
    ----------
    function, argnums
        As for `jacobian`.

    Returns
    -------
    Callable
        A function of the same arguments that returns the second derivatives.

    Examples
    --------
    >>> tb.hessian(lambda x: tb.sum(x * x * x))(tb.asarray([1.0, 2.0])).tolist()
    [[6.0, 0.0], [0.0, 12.0]]
    """
    return _derivatives("hessian", function, argnums, lambda call: _derivatives_by_rows(gradient_call(call)))
