"""The sparse matrix of a linear function, found by tracing it once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, overload

import numpy

from ..declarations.argument_errors import check_arguments_early
from ..errors import ArgumentError, DTypeError, expected
from ..expr.evaluate import evaluate
from ..expr.graph import Graph
from ..expr.node import Node, Value
from ..expr.simplify import expanded
from ..expr.trace import trace_leaves
from ..ops.creation.filled import ones, zeros
from ..ops.creation.values import asarray
from ..ops.elementwise.basic import astype
from ..protocol import BackendLike
from ..rules.template_text import parse_template
from ..select import get_backend, move
from ..template import Template
from ..tensor import Tensor
from .host import to_host_arrays
from .linear import Linear, home, identity
from .linear_rules import ADDING, RULES, Call, NotLinear
from .matrix import CSR, MatrixNames


@overload
def from_function(
    function: Callable[[Tensor], Tensor],
    template: Template | Tensor | str,
    /,
    *,
    affine: Literal[False] = False,
    backend: BackendLike = None,
) -> CSR: ...
@overload
def from_function(
    function: Callable[[Tensor], Tensor],
    template: Template | Tensor | str,
    /,
    *,
    affine: Literal[True],
    backend: BackendLike = None,
) -> tuple[CSR, Tensor]: ...
@check_arguments_early
def from_function(
    function: Callable[[Tensor], Tensor],
    template: Template | Tensor | str,
    /,
    *,
    affine: bool = False,
    backend: BackendLike = None,
) -> CSR | tuple[CSR, Tensor]:
    """The sparse matrix of a linear function, such as a stencil, found by tracing the function once.

    Each op of the trace says which elements of its operands each element of its result is a sum of, and with which
    factors. So the cost depends on the number of stored entries, and there is no call for each column.

    Parameters
    ----------
    function : function of a tensor
        Returns a tensor. It may use constants: coefficients, masks, index tensors. Within a trace, coefficients and
        masks may depend on arguments of that trace, and the gradient flows to them; index tensors may not.
    template : Template, Tensor or str
        The template of the argument: a floating or complex dtype and a shape, such as `"f64[96, 96]"`.
    affine : bool, default False
        Whether the function may add a constant, which is then returned too.
    backend : Backend, type or str, optional
        The backend of the matrix, by default the default backend.

    Returns
    -------
    CSR
        Shape (elements of the result, elements of the argument), both in row-major order, with each place stored once.
        Its product with the flattened argument is the flattened result of the function. If both have one axis, and
        their names differ, the matrix has these names.
    Tensor
        Only with `affine`: the function's result for an argument of zeros.

    Raises
    ------
    ArgumentError
        For a function that is not linear, or that calls an op whose matrix is not known (control flow, Fourier
        transforms); the message names the op and the line that called it. Without `affine`, for a function that adds a
        constant.
    DTypeError
        For an argument that is neither floating nor complex.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> def second_difference(x):
    ...     return tb.roll(x, 1) - 2 * x + tb.roll(x, -1)
    >>> a = tb.sparse.from_function(second_difference, "f32[4]")
    >>> a, a.to_dense()[0].tolist()
    (csr f32[4][4] numpy, 12 stored, [-2.0, 1.0, 0.0, 1.0])
    """
    parsed = parse_template(template) if isinstance(template, str) else template
    argument = parsed.template if isinstance(parsed, Tensor) else parsed
    if not argument.dtype.is_inexact:
        raise DTypeError(expected("a floating or complex argument of a linear function", template=argument))
    graph = trace_leaves(lambda leaves: function(leaves[0]), [argument], ["x"])
    if graph.out_tree.kind is not None:
        raise ArgumentError(expected("a function that returns one tensor", results=len(graph.outputs)))
    graph = expanded(graph, lambda node: node.op in RULES)
    linear, adds = _propagate(graph, argument)
    offset = None
    if affine or adds:
        nothing = zeros(argument.shape, dtype=argument.dtype, names=argument.names, backend=backend)
        offset = evaluate(graph, [nothing])[0]
    if adds and not affine:
        read = None if offset is None else to_host_arrays(offset)
        if read is None or read[0].any():
            raise ArgumentError(expected("a linear function", "pass affine=True for a function that adds a constant"))
    matrix = _matrix(linear, graph.results[0], argument, backend)
    return (matrix, offset) if affine and offset is not None else matrix


def _matrix(linear: Linear, result: Template, argument: Template, backend: BackendLike) -> CSR:
    """The matrix of a linear value; its places are int32 if that suffices."""
    if linear.entries is None:
        values = ones(len(linear.rows), dtype=result.dtype, backend=backend)
    else:
        values = astype(linear.entries, result.dtype)
        if home() is not None and values.backend.name == home():
            values = move(values, get_backend(backend))
    pointers = numpy.zeros(linear.size + 1, "int64")
    numpy.cumsum(numpy.bincount(linear.rows, minlength=linear.size), out=pointers[1:])
    small = "int32" if max(linear.size, argument.size, len(linear.rows)) < 2**31 else "int64"
    first, second = (asarray(part.astype(small), backend=backend) for part in (pointers, linear.columns))
    one = result.ndim == argument.ndim == 1 and result.names != argument.names
    names: MatrixNames = (result.names[0], argument.names[0]) if one else (None, None)
    return CSR(values, first, second, (linear.size, argument.size), names)


def _propagate(graph: Graph, argument: Template) -> tuple[Linear, bool]:
    """The result as sums of elements of the argument, and whether it may include an added constant."""
    (parameter,), (output,) = graph.parameters, graph.outputs
    dependent: set[Node] = {parameter.node}
    chain: list[Node] = []
    for node in graph.nodes[1:]:
        if any(value.node in dependent for value in node.operands):
            dependent.add(node)
            chain.append(node)
    if output.node not in dependent:
        nothing = numpy.zeros(0, "int64")
        return Linear(output.template.size, nothing, nothing, None), True
    constant_values = dict.fromkeys(value for node in chain for value in node.operands if value.node not in dependent)
    evaluated = evaluate(Graph([], list(constant_values)), []) if constant_values else []
    constants = dict(zip(constant_values, map(_move_to_host, evaluated), strict=True))
    known: dict[Value, Linear] = {parameter: identity(argument.size)}
    adds = False
    for node in chain:
        operands = tuple(known[value] if value in known else constants[value] for value in node.operands)
        call = Call(node, operands, argument.size)
        try:
            if node.op not in RULES or len(node.outs) != 1:
                raise NotLinear
            known[Value(node)] = RULES[node.op](call)
        except NotLinear:
            place = "" if node.line is None else f", called at {node.line.file}:{node.line.number}"
            remedy = f"it may only move and add elements, and scale them by constants{place}"
            raise ArgumentError(expected("a function that is linear in its argument", remedy, op=node.op)) from None
        adds = adds or any(_adds(call, position) for position in ADDING.get(node.op, ()))
    return known[output], adds


def _move_to_host(constant: Tensor) -> Tensor:
    """A constant, moved to the host unless it is a value of a trace around this one."""
    read = to_host_arrays(constant)
    return constant if read is None else asarray(read[0], backend=home())


def _adds(call: Call, position: int) -> bool:
    """Whether an operand is a constant that is not known to be 0."""
    if position >= len(call.operands):
        return False
    operand = call.operands[position]
    if isinstance(operand, Linear):
        return False
    read = to_host_arrays(operand)
    return read is None or bool(read[0].any())
