"""Sparse matrices from dense tensors, from SciPy's and from linear functions, which are traced once; back to SciPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, overload

import numpy

from ..declarations.argument_errors import check_arguments, check_arguments_early
from ..dispatch.operands import nameless
from ..errors import ArgumentError, DTypeError, OperandError, ShapeError, TemplateDataError, expected
from ..expr.evaluate import evaluate
from ..expr.graph import Graph
from ..expr.node import Node, Value
from ..expr.simplify import expanded
from ..expr.trace import trace_leaves
from ..ops.composite.indexing.positions import nonzero
from ..ops.composite.linalg.sparse import Format
from ..ops.composite.reduction import count_nonzero
from ..ops.creation.filled import full, ones, zeros
from ..ops.creation.values import asarray
from ..ops.elementwise.basic import astype
from ..ops.indexing.taking import take_at
from ..ops.shape import reshape
from ..protocol import BackendLike
from ..rules.template_text import parse_template
from ..select import get_backend, move
from ..template import NamesLike, Template
from ..tensor import Tensor, TensorLike
from .construction import make_matrix
from .host import to_host_arrays, zero_beyond_count
from .linear import Linear, home, identity
from .linear_rules import ADDING, RULES, Call, NotLinear
from .matrix import CLASSES, COO, CSR, MatrixNames, SparseMatrix, bind


@check_arguments
def from_dense(x: TensorLike | Sequence[Any], /, *, format: Format = "csr", size: int | None = None) -> SparseMatrix:
    """Convert a dense tensor to a sparse matrix, which stores the nonzero elements.

    Parameters
    ----------
    x : Tensor
        Shape (..., rows, columns). In a batch, every matrix stores each place where at least one matrix is not 0.
    size : int, optional
        The number of stored entries. If given, no data is read, so that `jit` knows the shapes; the rest is zeros
        stored at the last place. By default the number of those places.

    Returns
    -------
    SparseMatrix
        A matrix with x's names. Its entries are sorted by row, or by column for `"csc"`.

    Raises
    ------
    ShapeError
        For fewer than two axes.
    DataError
        For more elements than `size`. In a trace, all stored values are then NaN, or the smallest integer.
    TemplateDataError
        For an x without data, if no `size` is given.

    Examples
    --------
    >>> a = tb.sparse.from_dense([[0.0, 2.0], [1.0, 0.0]])
    >>> a, a.indices.tolist(), a.pointers.tolist()
    (csr f32[2][2] numpy, 2 stored, [1, 0], [0, 1, 2])
    """
    dense = x if isinstance(x, Tensor) else asarray(x)
    if dense.ndim < 2:
        raise ShapeError(expected("a matrix", x=dense.template))
    if format == "csc":
        return from_dense(dense.mT, format="csr", size=size).T
    rows, columns = dense.shape[-2:]
    bare = nameless(dense)
    mask = reshape(bare != 0, (-1, rows * columns)) if bare.size else full((1, rows * columns), False, like=bare)
    (flat,) = nonzero(mask.any(axis=0), size=size, fill_value=max(rows * columns - 1, 0))
    values = take_at(reshape(bare, (*bare.shape[:-2], rows * columns)), flat, axis=-1, mode="clip")
    if size is not None:
        values = zero_beyond_count(values, count_nonzero(mask.any(axis=0)), size)
    dtype = "int32" if max(rows, columns) < 2**31 else "int64"
    places = [astype(coordinate, dtype) for coordinate in (flat // max(columns, 1), flat % max(columns, 1))]
    if dense.ndim > 2:
        values = values.rename(*dense.names[:-2], None)
    coordinate_form = COO(values, places[0], places[1], (rows, columns), (dense.names[-2], dense.names[-1]))
    return coordinate_form if format == "coo" else coordinate_form.to_csr()


@check_arguments
def from_scipy(matrix: Any, /, *, names: NamesLike = None, backend: BackendLike = None) -> SparseMatrix:
    """Convert a matrix of `scipy.sparse`.

    Parameters
    ----------
    matrix : scipy.sparse array or matrix
        A matrix in any of SciPy's formats. The memory is shared if the backend supports that.
    backend : backend, optional
        The backend of the matrix, by default the default backend.

    Returns
    -------
    SparseMatrix
        In the same format; in compressed rows if SciPy's format is not COO, CSR or CSC.

    Raises
    ------
    OperandError
        For anything but a matrix of `scipy.sparse`.

    Examples
    --------
    >>> import scipy.sparse, tensorbackend as tb
    >>> tb.sparse.from_scipy(scipy.sparse.csr_array([[0.0, 2.0], [1.0, 0.0]]))
    csr f64[2][2] numpy, 2 stored
    """
    if not (hasattr(matrix, "format") and hasattr(matrix, "tocsr")):
        raise OperandError(expected("a matrix of scipy.sparse", matrix=matrix))
    supported = matrix if matrix.format in CLASSES else matrix.tocsr()
    first, second = (
        (supported.row, supported.col) if supported.format == "coo" else (supported.indptr, supported.indices)
    )
    values, first, second = (asarray(part, backend=backend) for part in (supported.data, first, second))
    return make_matrix(supported.format, values, first, second, supported.shape, names)


@bind
@check_arguments
def to_scipy(matrix: SparseMatrix, /) -> Any:
    """Convert a matrix to an array of `scipy.sparse`.

    Parameters
    ----------
    matrix : SparseMatrix
        Of two axes, in any format.

    Returns
    -------
    scipy.sparse.coo_array, csr_array or csc_array
        An array in the matrix's format, without its names. The memory is shared if possible.

    Raises
    ------
    ShapeError
        For a batch of matrices, which SciPy does not have.
    TemplateDataError
        For a matrix without data.

    Examples
    --------
    >>> tb.sparse.eye(2).to_scipy().toarray().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    from scipy import sparse

    if matrix.ndim > 2:
        raise ShapeError(expected("one matrix, as SciPy has no batches", matrix=matrix.template))
    read = to_host_arrays(matrix.values, matrix.first, matrix.second)
    if read is None:
        raise TemplateDataError(expected("a matrix with data", matrix=matrix.template))
    values, first, second = read
    if matrix.format == "coo":
        return sparse.coo_array((values, (first, second)), shape=matrix.matrix_size)
    kind = sparse.csr_array if matrix.format == "csr" else sparse.csc_array
    return kind((values, second, first), shape=matrix.matrix_size)


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
