"""Linear functions of vectors: their representation, application, and transposes; preconditioners.

A vector is along the last axis; all axes before it are batch axes. A linear function has two halves: a *form*, which
is hashable, and the tensors that it needs. A solver is compiled for forms and takes the tensors as arguments, so that
it can be reused for another matrix of the same structure, and another function with the same trace. A preconditioner is
an approximate inverse of a matrix, chosen by name or passed by the user.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, Final, NamedTuple, Protocol

from ..dispatch.operands import nameless
from ..errors import ArgumentError, OperandError, ShapeError, expected
from ..expr.closures import close
from ..expr.evaluate import evaluate
from ..expr.grad.functions import vjp
from ..expr.graph import Graph
from ..expr.trace import trace_leaves
from ..expr.tree_containers import Tree
from ..expr.trees import flatten, unflatten
from ..ops.composite.contraction import matmul
from ..ops.composite.linalg.matrices import diagonal as dense_diagonal
from ..ops.creation.filled import zeros
from ..ops.elementwise.basic import astype, where
from ..ops.shape import matrix_transpose, reshape
from ..sparse import SparseMatrix, diagonal, from_dense, ilu0, matvec
from ..template import Names, Template
from ..tensor import Tensor

Tensors = Sequence[Tensor]


def flat_vector(x: Tensor) -> Tensor:
    """The elements in one vector without a name."""
    return reshape(nameless(x), (-1,))


def split_vector(vector: Tensor, templates: Iterable[Template], names: Names = ()) -> list[Tensor]:
    """The elements along the last axis of a tensor as tensors of some shapes and names, behind its other axes.

    These have `names`, except for those that a template has too.
    """
    parts, place, front = [], 0, vector.shape[:-1]
    for x in templates:
        own = (*(name if name not in x.names else None for name in names), *x.names)
        parts.append(reshape(vector[..., place : place + x.size], (*front, *x.shape), names=own))
        place += x.size
    return parts


class Form(Protocol):
    """The computation of a linear function from its tensors and a vector; it is hashable."""

    @property
    def axes(self) -> int:
        """The number of last axes of the floating parts that hold the elements of one matrix; 0 if none do."""

    def __call__(self, parts: Tensors, x: Tensor, /) -> Tensor:
        """The function applied to x of shape (..., columns)."""

    def apply_transpose(self, parts: Tensors, y: Tensor, /) -> Tensor:
        """The transpose (not conjugated) applied to y of shape (..., rows)."""


class Linear(NamedTuple):
    """A linear function of vectors."""

    form: Form
    parts: tuple[Tensor, ...]

    def __call__(self, x: Tensor) -> Tensor:
        """The function applied to x."""
        return self.form(self.parts, x)

    @property
    def T(self) -> Linear:
        """The transpose."""
        form = self.form
        return Linear(form.form if isinstance(form, TransposedForm) else TransposedForm(form), self.parts)


@dataclass(frozen=True)
class TransposedForm:
    """The transpose of another form."""

    form: Form

    @property
    def axes(self) -> int:
        """Those of the other form."""
        return self.form.axes

    def __call__(self, parts: Tensors, x: Tensor, /) -> Tensor:
        """The transpose of the other form applied to x."""
        return self.form.apply_transpose(parts, x)

    def apply_transpose(self, parts: Tensors, y: Tensor, /) -> Tensor:
        """The other form applied to y."""
        return self.form(parts, y)


@dataclass(frozen=True)
class Dense:
    """A matrix of shape (..., rows, columns)."""

    axes: ClassVar[int] = 2

    def __call__(self, parts: Tensors, x: Tensor, /) -> Tensor:
        """The matrix times each vector."""
        (matrix,) = parts
        return _product(matrix, x)

    def apply_transpose(self, parts: Tensors, y: Tensor, /) -> Tensor:
        """The transposed matrix times each vector."""
        (matrix,) = parts
        return _product(matrix_transpose(matrix), y)


def _product(matrix: Tensor, x: Tensor) -> Tensor:
    if x.ndim == 1 and matrix.ndim == 2:
        return matmul(matrix, x)
    if matrix.ndim == 2:
        return matmul(x, matrix_transpose(matrix))
    return matmul(matrix, x[..., None])[..., 0]


@dataclass(frozen=True)
class Sparse:
    """A sparse matrix, or a batch of them."""

    axes: ClassVar[int] = 1

    tree: Tree

    def __call__(self, parts: Tensors, x: Tensor, /) -> Tensor:
        """The matrix times each vector."""
        return matvec(unflatten(self.tree, parts), x)

    def apply_transpose(self, parts: Tensors, y: Tensor, /) -> Tensor:
        """The transposed matrix times each vector."""
        return matvec(unflatten(self.tree, parts).mT, y)


@dataclass(frozen=True)
class Diagonal:
    """A diagonal matrix: multiplies each element by its own number."""

    axes: ClassVar[int] = 1

    def __call__(self, parts: Tensors, x: Tensor, /) -> Tensor:
        """The product."""
        return parts[0] * x

    apply_transpose = __call__


@dataclass(frozen=True)
class Factors:
    """Incomplete factors of a matrix; the function solves with them."""

    axes: ClassVar[int] = 0

    tree: Tree

    def __call__(self, parts: Tensors, x: Tensor, /) -> Tensor:
        """The solution for x."""
        return _apply_to_columns(unflatten(self.tree, parts).solve, x)

    def apply_transpose(self, parts: Tensors, y: Tensor, /) -> Tensor:
        """The solution for y with the transposed factors."""
        return transpose_by_vjp(self, parts, y, y.shape[-1])


def _apply_to_columns(solve: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Applies a function that takes the columns of a matrix to vectors along the last axis."""
    return solve(x) if x.ndim == 1 else solve(x[..., None])[..., 0]


@dataclass(frozen=True)
class TracedForm:
    """The user's function, as a graph that takes the tensors that it closes over and then the vectors."""

    axes: ClassVar[int] = 0

    graph: Graph
    rows: int
    columns: int

    def __call__(self, parts: Tensors, x: Tensor, /) -> Tensor:
        """Calls the function."""
        template = self.graph.templates[-1]
        vectors = Tensor(template, x.backend, reshape(x, template.shape).data)
        (product,) = evaluate(self.graph, [*parts, vectors])
        return reshape(product.rename(*(None,) * product.ndim), (*x.shape[:-1], self.rows))

    def apply_transpose(self, parts: Tensors, y: Tensor, /) -> Tensor:
        """The transpose: the vector-Jacobian product, as this function is linear."""
        return transpose_by_vjp(self, parts, y, self.columns)


def transpose_by_vjp(form: Form, parts: Tensors, y: Tensor, columns: int) -> Tensor:
    """The transpose of a linear function, computed by reverse differentiation."""
    at = zeros((*y.shape[:-1], columns), dtype=y.dtype, backend=y.backend)
    cotangent: Tensor = vjp(lambda x: form(parts, x), at)[1](y)[0]
    return cotangent


# From the user's arguments


def linear(operator: Any, vectors: Template, count: int, name: str) -> Linear:
    """A matrix or a function as a linear function of vectors like `vectors`, whose last `count` axes are one vector.

    Raises `OperandError` for anything else, `ShapeError` for a function that does not return vectors.
    """
    if isinstance(operator, SparseMatrix):
        leaves, tree = flatten(operator.rename(*(None,) * operator.ndim) if any(operator.names) else operator)
        return Linear(Sparse(tree), tuple(leaves))
    if isinstance(operator, Tensor):
        if operator.ndim < 2:
            raise ShapeError(expected(f"{name} as a matrix", "give it at least two axes", **{name: operator.template}))
        return Linear(Dense(), (nameless(operator),))
    if not callable(operator):
        expectation = f"{name} as a tensor, a matrix of tb.sparse or a linear function"
        raise OperandError(expected(expectation, **{name: operator}))
    graph = trace_leaves(lambda x: operator(*x), [vectors], ["x"])
    if len(graph.results) != 1 or graph.out_tree.kind is not None:
        raise OperandError(expected(f"{name} to return one tensor", given=vectors, returned=graph.results))
    (result,) = graph.results
    batch = vectors.shape[: vectors.ndim - count]
    if result.shape[: len(batch)] != batch or result.ndim <= len(batch):
        if not batch:
            raise ShapeError(expected(f"{name} to return a vector", given=vectors, returned=result))
        remedy = "pass as vector_axes= how many of the last axes form one vector"
        raise ShapeError(expected(f"{name} to keep the axes before a vector, {batch}", remedy, returned=result))
    if result.dtype is not vectors.dtype:
        remedy = "cast b with astype()"
        raise OperandError(expected(f"{name} to keep the dtype of vectors, {vectors.dtype}", remedy, returned=result))
    (closed,), constants = close([graph])
    form = TracedForm(closed, prod(result.shape[len(batch) :]), prod(vectors.shape[len(batch) :]))
    return Linear(form, tuple(constants))


def cast_linear(function: Linear, dtype: Any) -> Linear:
    """The function with its matrix in another dtype; a traced function is unchanged."""
    if isinstance(function.form, TracedForm):
        return function
    values, *places = function.parts
    if values.dtype is dtype:
        return function
    return Linear(function.form, (astype(values, dtype), *places))


def shape_of(function: Linear) -> tuple[tuple[int, ...], int, int]:
    """The batch shape of the matrices, and their numbers of rows and columns."""
    form = function.form
    if isinstance(form, TracedForm):
        return (), form.rows, form.columns
    matrix = function.parts[0] if isinstance(form, Dense) else unflatten(_tree(form), function.parts)
    *batch, rows, columns = matrix.shape
    return tuple(batch), rows, columns


def _tree(form: Any) -> Tree:
    return form.tree  # type: ignore[no-any-return] # of a form with a matrix


WORDS: Final = ("jacobi", "ilu")


def preconditioner(choice: Any, matrix: Linear, vectors: Template, count: int) -> Linear | None:
    """The linear function that a preconditioner applies to residuals like `vectors`; `None` if there is none.

    Raises `ArgumentError` for an unknown name, and for a name if A is a function, whose entries are not known.
    """
    if choice is None:
        return None
    if not isinstance(choice, str):
        return linear(choice, vectors, count, "preconditioner")
    if choice not in WORDS:
        expectation = (
            f"a preconditioner of {', '.join(map(repr, WORDS))}, or a function or matrix that approximates the inverse"
        )
        raise ArgumentError(expected(expectation, preconditioner=choice))
    form = matrix.form
    if isinstance(form, TracedForm):
        remedy = "find its matrix with tb.sparse.from_function(), or pass a function that approximates the inverse"
        raise ArgumentError(expected("a matrix for a preconditioner by name", remedy, preconditioner=choice))
    a: Any = unflatten(form.tree, matrix.parts) if isinstance(form, Sparse) else matrix.parts[0]
    if choice == "jacobi":
        entries = diagonal(a) if isinstance(form, Sparse) else dense_diagonal(a)
        return Linear(Diagonal(), (where(entries == 0, 1, 1 / where(entries == 0, 1, entries)),))
    leaves, tree = flatten(ilu0(a if isinstance(form, Sparse) else from_dense(a)))
    return Linear(Factors(tree), tuple(leaves))
