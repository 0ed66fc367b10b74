"""Gradients of functions: `grad`, `value_and_grad`, `vjp`, `jvp`, `linearize`, `jacobian`, `jacfwd`, `hessian`.

A function is traced with its arguments' templates, the graph of its gradient is made, and that runs on the arguments:
on any backend, and in a trace around it too. Arguments are nested tensors (lists, tuples, dicts, dataclasses); what
comes back has their tree, shapes, dtypes and names. Other arguments and what the function closes over are constants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from operator import index
from typing import Any, NamedTuple

from ...errors import ArgumentError, DTypeError, OperandError, ShapeError, expected
from ...ops.composite.shaping import moveaxis
from ...ops.creation import asarray, eye, ones, zeros
from ...ops.shape import reshape
from ...protocol import Backend
from ...select import common_backend
from ...template import Template
from ...tensor import Tensor
from ..evaluate import evaluate
from ..graph import Graph
from ..simplify import results
from ..trace import argument_names, trace_leaves
from ..trees import Tree, flatten, paths, unflatten
from ..vmap import vmap
from .engine import differentiated, inexact, linearized

Argnums = int | Sequence[int]


class _Call(NamedTuple):
    """A function traced for a gradient with respect to some of its arguments."""

    graph: Graph
    leaves: list[Tensor]
    """The tensors of those arguments, which are the graph's parameters."""
    tree: Tree
    """How they are nested."""
    out_tree: Tree

    def nested(self, gradients: Sequence[Tensor]) -> Any:
        """Cotangents of the parameters in the arguments' tree and under their names."""
        return unflatten(self.tree, map(_named, gradients, (x.template for x in self.leaves)))


def _named(x: Tensor, template: Template) -> Tensor:
    return x.rename(*template.names) if template.ndim else x


def _traced(
    function: Callable[..., Any], argnums: Argnums, arguments: Sequence[Any], keywords: dict[str, Any]
) -> _Call:
    """The graph of a function whose parameters are the tensors of the arguments at `argnums`, the others constants.

    Raises `ArgumentError` for positions that are none, `DTypeError` for a tensor that is neither floating nor complex.
    """
    positions = _positions(argnums, len(arguments))
    chosen = arguments[positions] if isinstance(positions, int) else tuple(arguments[each] for each in positions)
    leaves, tree = flatten(chosen)
    every = argument_names(function, arguments)
    wanted = [positions] if isinstance(positions, int) else list(positions)
    starts = [len(flatten(arguments[:position])[0]) for position in range(len(arguments) + 1)]
    names = [name for each in wanted for name in every[starts[each] : starts[each + 1]]]
    home = common_backend([leaf for leaf in flatten((arguments, keywords))[0] if isinstance(leaf, Tensor)])
    tensors = [_tensor(leaf, name, home) for leaf, name in zip(leaves, names, strict=True)]

    def run(given: list[Any]) -> Any:
        found = unflatten(tree, given)
        filled = list(arguments)
        for position, argument in zip(wanted, [found] if isinstance(positions, int) else found, strict=True):
            filled[position] = argument
        return function(*filled, **keywords)

    graph = trace_leaves(run, tensors, names)
    return _Call(graph, tensors, tree, graph.out_tree)


def _positions(argnums: Argnums, count: int) -> int | tuple[int, ...]:
    several = tuple(argnums) if isinstance(argnums, Sequence) else (argnums,)
    for each in several:
        if not -count <= index(each) < count:
            raise ArgumentError(expected(f"argnums from 0 to {count - 1}", argnums=argnums))
    found = tuple(index(each) % count for each in several)
    if len(set(found)) != len(found):
        raise ArgumentError(expected("each of argnums once", argnums=argnums))
    return found if isinstance(argnums, Sequence) else found[0]


def _tensor(leaf: Any, name: str, home: Backend) -> Tensor:
    """An argument's leaf as a tensor with a gradient."""
    x = leaf if isinstance(leaf, Tensor) else asarray(leaf, backend=home)
    if not x.dtype.is_inexact:
        remedy = "cast it with astype(), or leave it out of argnums"
        raise DTypeError(expected(f"{name} to be floating or complex for a gradient", remedy, given=x.template))
    return x


def grad(function: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that gives the gradient of one with a scalar result, with respect to some arguments.

    A gradient has the tree, shapes, dtypes and names of its argument; several `argnums` give a tuple of them. With
    `has_aux` the function returns (result, anything), and the gradient comes with that: (gradient, anything). Of a
    complex argument the gradient is df/dx - i df/dy. Raises `ShapeError` or `DTypeError` for a result that is not a
    real scalar, `DTypeError` for an argument that is neither floating nor complex, and `GradientError` where the
    function uses an op that has no gradient.

    >>> import tensorbackend as tb
    >>> x = tb.tensor([1.0, 2.0], names=("n",))
    >>> tb.grad(lambda x: tb.sum(x * x))(x)
    f32[n: 2] numpy
    [2.0, 4.0]
    """
    both = value_and_grad(function, argnums, has_aux)

    @wraps(function)
    def gradient(*arguments: Any, **keywords: Any) -> Any:
        value, found = both(*arguments, **keywords)
        return (found, value[1]) if has_aux else found

    return gradient


def value_and_grad(function: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that gives what one with a scalar result gives, and its gradient as `grad` does.

    >>> import tensorbackend as tb
    >>> value, gradient = tb.value_and_grad(lambda x: x * x)(3.0)
    >>> value.item(), gradient.item()
    (9.0, 6.0)
    """

    @wraps(function)
    def both(*arguments: Any, **keywords: Any) -> Any:
        call = _traced(function, argnums, arguments, keywords)
        aux_tree = _scalar_result(call.graph, has_aux)
        whole = differentiated(call.graph, range(len(call.leaves)), [0])
        one = ones((), dtype=call.graph.results[0].dtype, backend=call.leaves[0].backend if call.leaves else None)
        found = evaluate(whole, [*call.leaves, one])
        count = len(call.graph.outputs)
        value = (found[0], unflatten(aux_tree, found[1:count])) if aux_tree is not None else found[0]
        return value, call.nested(found[count:])

    return both


def _scalar_result(graph: Graph, has_aux: bool) -> Tree | None:
    """The tree of what comes beside the result, `None` if nothing does; raises unless the result is a real scalar."""
    tree = graph.out_tree
    aux = None
    if has_aux:
        if tree.kind is None or not issubclass(tree.kind, (tuple, list)) or len(tree.children) != 2:
            raise OperandError(expected("a function that returns (result, anything) for has_aux"))
        tree, aux = tree.children
    if tree.kind is not None:
        remedy = "use has_aux=True for (result, anything), or vjp() for several results"
        raise OperandError(expected("a function that returns one tensor", remedy, returned=paths(tree, "result")))
    result = graph.results[0]
    if result.shape:
        raise ShapeError(expected("a scalar result for a gradient", "take its sum(), or use jacobian()", result=result))
    if not result.dtype.is_floating:
        remedy = "take its real() or abs(), or use vjp()"
        raise DTypeError(expected("a floating result for a gradient", remedy, result=result))
    return aux


def vjp(function: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The result of a function, and the function that takes cotangents of it to those of the arguments.

    That one takes a cotangent nested as the result is, and gives a tuple with one for each argument; it can be called
    often and computes the function no second time. What is given for results of integers or bools is not read.

    >>> import tensorbackend as tb
    >>> y, back = tb.vjp(tb.sin, tb.asarray([0.0, 1.0]))
    >>> back(tb.asarray([1.0, 0.0]))[0].tolist()
    [1.0, 0.0]
    """
    call = _traced(function, range(len(primals)), primals, {})
    forward, backward = linearized(call.graph, range(len(call.leaves)))
    count = len(call.graph.outputs)
    found = evaluate(forward, call.leaves)
    residuals = found[count:]

    def pull(cotangent: Any) -> Any:
        """The cotangents of the arguments from one of the result."""
        given = _like_results(call.graph, cotangent, "cotangent", common_backend([*call.leaves, *residuals]))
        seeds = [x for x, value in zip(given, call.graph.outputs, strict=True) if inexact(value)]
        return call.nested(evaluate(backward, [*residuals, *seeds]))

    return unflatten(call.out_tree, found[:count]), pull


def _like_results(graph: Graph, given: Any, name: str, home: Backend) -> list[Tensor]:
    leaves, tree = flatten(given)
    if tree != graph.out_tree:
        wanted = f"a {name} nested as the result: {', '.join(paths(graph.out_tree, 'result'))}"
        raise ArgumentError(expected(wanted, given=", ".join(paths(tree, name)) or given))
    return [
        _like(x, template, path, home)
        for x, template, path in zip(leaves, graph.results, paths(tree, name), strict=True)
    ]


def _like(given: Any, template: Template, name: str, home: Backend) -> Tensor:
    """A tangent or cotangent for a template: a tensor of its shape and dtype, an array, or a Python number."""
    x = given if isinstance(given, Tensor) else asarray(given, dtype=template.dtype, backend=home)
    if x.shape != template.shape or (x.dtype is not template.dtype and template.dtype.is_inexact):
        raise ShapeError(expected(f"{name} like {template!r}", "cast it with astype()", given=x.template))
    return x


def jvp(function: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """The result of a function, and the derivative of it along tangents, one for each argument.

    A result of integers or bools has a tangent of zeros.

    >>> import tensorbackend as tb
    >>> y, tangent = tb.jvp(lambda x: x * x, (tb.asarray(3.0),), (tb.asarray(1.0),))
    >>> y.item(), tangent.item()
    (9.0, 6.0)
    """
    call = _traced(function, range(len(primals)), primals, {})
    given = [x for x in (*call.leaves, *flatten(tuple(tangents))[0]) if isinstance(x, Tensor)]
    backend = common_backend(given)
    push = _pushed(call, backend)
    moved = push(_like_arguments(call, tangents, backend))
    return unflatten(call.out_tree, push.results), _tangents(call, moved, backend)


class _Push(NamedTuple):
    """A function at a point: its results there, and the linear function from tangents to theirs."""

    results: list[Tensor]
    residuals: list[Tensor]
    linear: Graph
    """Takes the residuals and a tangent for each parameter, gives one for each floating or complex result."""

    def __call__(self, tangents: Sequence[Tensor]) -> list[Tensor]:
        """The tangents of the floating and complex results."""
        return evaluate(self.linear, [*self.residuals, *tangents])


def _pushed(call: _Call, backend: Backend) -> _Push:
    """The linear function at the arguments of a call.

    The gradient of the cotangents of the arguments by those of the results, in which they are linear, is what takes
    tangents forward.
    """
    graph, count, inputs = call.graph, len(call.graph.outputs), len(call.leaves)
    back = differentiated(graph, range(inputs))
    seeds = back.templates[inputs:]
    forward, linear = linearized(back, range(inputs, inputs + len(seeds)), range(count, count + inputs))
    kept = [*range(count), *range(count + inputs, len(forward.outputs))]
    unused = [zeros(template.shape, dtype=template.dtype, backend=backend) for template in seeds]
    found = evaluate(results(forward, kept), [*call.leaves, *unused])
    return _Push(found[:count], found[count:], linear)


def _tangents(call: _Call, moved: Sequence[Tensor], backend: Backend) -> Any:
    """Tangents of floating and complex results nested as the results are, zeros for the others."""
    rest = iter(moved)
    outs = [
        _named(next(rest), template)
        if template.dtype.is_inexact
        else zeros(template.shape, dtype=template.dtype, names=template.names, backend=backend)
        for template in call.graph.results
    ]
    return unflatten(call.out_tree, outs)


def linearize(function: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The result of a function, and its derivative there as a function of tangents.

    What `jvp` gives in one call comes in two: the function is computed once, and its derivative along as many tangents
    as are asked for.

    Parameters
    ----------
    function
        A function of tensors, nested in any way.
    *primals
        Its arguments: floating or complex tensors, or numbers.

    Returns
    -------
    tuple
        The result, and a function that takes a tangent for each argument, nested as it is, and gives that of the result.
        A result of integers or bools has a tangent of zeros.

    Raises
    ------
    DTypeError
        For an argument that is neither floating nor complex.
    GradientError
        For an op that has no gradient.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> y, push = tb.linearize(lambda x: x * x, tb.asarray(3.0))
    >>> y.item(), push(tb.asarray(1.0)).item(), push(0.5).item()
    (9.0, 6.0, 3.0)
    """
    call = _traced(function, range(len(primals)), primals, {})
    backend = common_backend(call.leaves)
    push = _pushed(call, backend)

    def pushed(*tangents: Any) -> Any:
        """The tangent of the result from one for each argument."""
        return _tangents(call, push(_like_arguments(call, tangents, backend)), backend)

    return unflatten(call.out_tree, push.results), pushed


def _like_arguments(call: _Call, tangents: Sequence[Any], backend: Backend) -> list[Tensor]:
    """Tangents in a flat list; `ArgumentError` or `ShapeError` for those that are not as the arguments."""
    leaves, tree = flatten(tuple(tangents))
    if tree != call.tree:
        wanted = f"tangents nested as the arguments: {', '.join(paths(call.tree, 'arguments'))}"
        raise ArgumentError(expected(wanted, given=", ".join(paths(tree, "tangents"))))
    return [
        _like(x, primal.template, path, backend)
        for x, primal, path in zip(leaves, call.leaves, paths(tree, "tangents"), strict=True)
    ]


def jacobian(function: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """A function that gives the derivatives of each element of the result by each element of the arguments.

    For each tensor of the result, nested as it is, what `grad` would give; each with the result's axes before the
    argument's. Of a name that stands in both the argument's axis loses it. Raises what `grad` raises, but for a result
    that is no scalar, and `DTypeError` for a complex result of a floating argument.

    >>> import tensorbackend as tb
    >>> tb.jacobian(lambda x: x * x)(tb.asarray([1.0, 2.0])).tolist()
    [[2.0, 0.0], [0.0, 4.0]]
    """

    @wraps(function)
    def derivatives(*arguments: Any, **keywords: Any) -> Any:
        call = _traced(function, argnums, arguments, keywords)
        graph, count = call.graph, len(call.graph.outputs)
        for template in graph.results:
            _check_jacobian(template, call.leaves)
        forward, backward = linearized(graph, range(len(call.leaves)))
        residuals = evaluate(forward, call.leaves)[count:]
        backend = common_backend([*call.leaves, *residuals])
        blank = [zeros(each.shape, dtype=each.dtype, backend=backend) for each in graph.results]

        def block(position: int, result: Template) -> Any:
            """The derivatives of one tensor of the result, nested as the arguments are."""

            def pull(unit: Tensor) -> list[Tensor]:
                return evaluate(backward, [*residuals, *blank[:position], unit, *blank[position + 1 :]])

            if result.size:
                units = eye(result.size, dtype=result.dtype, backend=backend)
                found = vmap(pull)(reshape(units, (result.size, *result.shape)))
            else:
                found = [zeros((0, *x.shape), dtype=x.dtype, backend=backend) for x in call.leaves]
            blocks = (_block(rows, result, x.template) for rows, x in zip(found, call.leaves, strict=True))
            return unflatten(call.tree, blocks)

        return unflatten(call.out_tree, [block(*each) for each in enumerate(graph.results)])

    return derivatives


def jacfwd(function: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """What `jacobian` gives, computed forward: a column for each element of the arguments, rather than a row for each
    element of the result, so that it is the quicker where the result has more elements.

    Parameters
    ----------
    function
        A function of tensors, with a result of floating or complex ones nested in any way.
    argnums
        The arguments by position, one or several, default the first.

    Returns
    -------
    Callable
        A function that gives for each tensor of the result, nested as it is, the derivatives nested as the arguments
        are, each with the result's axes before the argument's. Of a name that stands in both the argument's axis loses
        it.

    Raises
    ------
    DTypeError
        For an argument or a result that is neither floating nor complex, or a complex result of a floating argument.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> tb.jacfwd(lambda x: tb.stack([x[0] * x[1], x[0], x[1] ** 2]))(tb.asarray([2.0, 3.0])).tolist()
    [[3.0, 2.0], [1.0, 0.0], [0.0, 6.0]]
    """

    @wraps(function)
    def derivatives(*arguments: Any, **keywords: Any) -> Any:
        call = _traced(function, argnums, arguments, keywords)
        for template in call.graph.results:
            _check_jacobian(template, call.leaves)
        backend = common_backend(call.leaves)
        push = _pushed(call, backend)
        blank = [zeros(x.shape, dtype=x.dtype, backend=backend) for x in call.leaves]

        def columns(position: int) -> list[Tensor]:
            """The derivatives of all tensors of the result by one tensor of the arguments, its elements in front."""
            x = call.leaves[position]
            if not x.size:
                return [zeros((0, *each.shape), dtype=each.dtype, backend=backend) for each in call.graph.results]
            units = reshape(eye(x.size, dtype=x.dtype, backend=backend), (x.size, *x.shape))
            found: list[Tensor] = vmap(lambda unit: push([*blank[:position], unit, *blank[position + 1 :]]))(units)
            return found

        by_argument = [columns(position) for position in range(len(call.leaves))]
        blocks = [
            [
                _block(moveaxis(found[number], 0, -1), result, x.template)
                for found, x in zip(by_argument, call.leaves, strict=True)
            ]
            for number, result in enumerate(call.graph.results)
        ]
        return unflatten(call.out_tree, [unflatten(call.tree, each) for each in blocks])

    return derivatives


def _check_jacobian(result: Template, leaves: Sequence[Tensor]) -> None:
    if not result.dtype.is_inexact:
        remedy = "cast it with astype(), or leave it out"
        raise DTypeError(expected("a floating or complex result for a jacobian", remedy, result=result))
    if result.dtype.is_complex and not all(x.dtype.is_complex for x in leaves):
        remedy = "take its real() and imag(), or cast the argument"
        raise DTypeError(expected("a floating result for the jacobian by a floating argument", remedy, result=result))


def _block(rows: Tensor, result: Template, argument: Template) -> Tensor:
    """The derivatives of one tensor by another from those of its elements."""
    names = (*result.names, *(None if name in result.names else name for name in argument.names))
    return reshape(rows, (*result.shape, *argument.shape), names=names)


def hessian(function: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """A function that gives the second derivatives of one with a scalar result: the jacobian of its gradient.

    >>> import tensorbackend as tb
    >>> tb.hessian(lambda x: tb.sum(x * x * x))(tb.asarray([1.0, 2.0])).tolist()
    [[6.0, 0.0], [0.0, 12.0]]
    """
    return jacobian(grad(function, argnums), argnums)
