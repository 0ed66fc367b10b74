"""Sparse matrices: values at the stored places of a matrix, as trees of ordinary tensors.

A place is a row and a column. A matrix is three tensors (values, and places in two parts) and static facts: the numbers
of rows and columns, and their names. Values have shape (..., n): leading axes make a batch of matrices. Places have
shape (n,) if the whole batch shares them, otherwise the batch's axes in front. Several values at one place are added.

The methods call the functions of this package. Those functions register themselves with `bind`, because their modules
import the classes below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar, overload

from ..caching.option_keys import holds_entries, remember
from ..declarations.argument_errors import check_construction
from ..declarations.argument_kinds import fits
from ..dispatch.operands import nameless
from ..dtypes import DType
from ..errors import OperandError, expected
from ..errors.hints import rows
from ..expr.tree_containers import register_tree_node
from ..ops.composite.linalg.sparse import Format, places
from ..ops.creation.filled import rename
from ..protocol import Backend
from ..rules.broadcasting import broadcast
from ..select import get_backend
from ..template import Names, Shape, Template
from ..tensor import Tensor, TensorLike
from ..tensor.missing_names import explain_missing

Function = TypeVar("Function", bound=Callable[..., Any])
M = TypeVar("M", bound="SparseMatrix")

_functions: dict[str, Callable[..., Any]] = {}

Size = tuple[int, int]
MatrixNames = tuple[str | None, str | None]

NAMELESS: MatrixNames = (None, None)


def bind(function: Function) -> Function:
    """Registers a function of this package for the methods of `SparseMatrix`."""
    _functions[function.__name__] = function
    return function


class _OperandRemedies:
    """What an op of dense tensors advises where it gets a sparse matrix, by op; the hints are read when it is asked."""

    def __get__(self, matrix: object, owner: type) -> dict[str, str]:
        known = rows("results.SparseMatrix", "sparse_functions")
        otherwise = (
            "use `A @ x`, tb.solvers.solve(A, b).x or a function of tb.sparse, `A.like(function(A.values))` for a "
            "function of the stored values, or `A.to_dense()`"
        )
        return {name: f"write {text}" for name, text in known.items()} | {"": otherwise}


@explain_missing
@check_construction
class SparseMatrix:
    """A matrix, or a batch of matrices, that stores only some entries; the base of `COO`, `CSR` and `CSC`.

    `coo`, `csr` and `csc` construct a matrix and check its parts; `COO(...)` itself does not check the parts.

    Parameters
    ----------
    values : Tensor
        Shape (..., n): the stored entries. Entries at the same place are added. The last axis has no name.
    first, second : Tensor
        The places of the entries: rows and columns for `COO`, pointers and indices for `CSR` and `CSC`.
    matrix_size : tuple of two ints
        The numbers of rows and columns.
    matrix_names : tuple of two names
        The names of rows and columns.
    """

    __slots__ = ("__weakref__", "_template", "first", "matrix_names", "matrix_size", "second", "values")

    __array_ufunc__ = None  # NumPy's arrays leave the operators to this class
    __hash__ = None  # type: ignore[assignment] # as for tensors

    operand_remedies: ClassVar = _OperandRemedies()
    """What an op of dense tensors advises where it gets a sparse matrix."""

    format: ClassVar[Format]
    """How the places are stored."""

    values: Tensor
    first: Tensor
    second: Tensor
    matrix_size: Size
    matrix_names: MatrixNames

    def __init__(
        self, values: Tensor, first: Tensor, second: Tensor, matrix_size: Size, matrix_names: MatrixNames = NAMELESS
    ) -> None:
        self.values, self.first, self.second = values, first, second
        self.matrix_size, self.matrix_names = matrix_size, matrix_names
        self._template: tuple[Template, Template, Template, Template] | None = None

    # Shape, dtype and names

    @property
    def template(self) -> Template:
        """The template of the dense matrix: shape, dtype and names."""
        parts = self.values.template, self.first.template, self.second.template
        known = self._template
        if known is None or known[:3] != parts:
            known = self._template = *parts, _dense_template(parts, self.matrix_size, self.matrix_names)
        return known[3]

    @property
    def shape(self) -> Shape:
        """The sizes of the batch's axes, then the numbers of rows and columns."""
        return self.template.shape

    @property
    def names(self) -> Names:
        """Name or `None` of each axis."""
        return self.template.names

    @property
    def ndim(self) -> int:
        """Number of axes: those of the batch, and two."""
        return self.template.ndim

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self.values.template.dtype

    @property
    def backend(self) -> Backend:
        """The backend of the values."""
        return self.values.backend

    @property
    def nnz(self) -> int:
        """The number of stored entries of each matrix, including stored zeros and repeated places."""
        return self.values.template.shape[-1]

    @property
    def nbytes(self) -> int:
        """Size of values and places in bytes."""
        return self.values.nbytes + self.first.nbytes + self.second.nbytes

    @property
    def T(self) -> SparseMatrix:
        """The transpose, which shares its tensors."""
        return _transpose(self)

    @property
    def mT(self) -> SparseMatrix:
        """The transpose of each matrix of a batch."""
        return _transpose(self)

    def like(self: M, values: Tensor) -> M:
        """The matrix with other values at its places.

        >>> import tensorbackend as tb
        >>> a = tb.sparse.eye(2)
        >>> a.like(tb.asarray([3.0, 4.0])).to_dense().tolist()
        [[3.0, 0.0], [0.0, 4.0]]
        """
        return type(self)(values, self.first, self.second, self.matrix_size, self.matrix_names)

    def rename(self: M, /, *names: str | None, **renamed: str | None) -> M:
        """The matrix with other names: those of all axes by position (batch, rows, columns), or some by keyword.

        >>> import tensorbackend as tb
        >>> graph = tb.sparse.from_dense(tb.eye(2, names=("point", "other")))
        >>> (graph + graph.T.rename(point="other", other="point")).names
        ('point', 'other')
        """
        template = rename(Tensor(self.template, get_backend("template"), None), *names, **renamed).template
        values = self.values.rename(*_batch_names(self.values.template, template))
        first, second = (nameless(x) for x in (self.first, self.second))
        return type(self)(values, first, second, self.matrix_size, (template.names[-2], template.names[-1]))

    def __repr__(self) -> str:
        return f"{self.format} {self.template!r} {self.backend.name}, {self.nnz} stored"

    # Conversions

    def to_dense(self) -> Tensor:
        """The matrix as a dense tensor."""
        return _functions["to_dense"](self)  # type: ignore[no-any-return] # a tensor

    def to_coo(self) -> COO:
        """The matrix as `COO`: the row and the column of each value."""
        return _functions["to_coo"](self)  # type: ignore[no-any-return] # a matrix

    def to_csr(self) -> CSR:
        """The matrix as `CSR`: values sorted by row, then by column."""
        return _functions["to_csr"](self)  # type: ignore[no-any-return] # a matrix

    def to_csc(self) -> CSC:
        """The matrix as `CSC`: values sorted by column, then by row."""
        return _functions["to_csc"](self)  # type: ignore[no-any-return] # a matrix

    def to_scipy(self) -> Any:
        """The matrix as an array of `scipy.sparse`."""
        return _functions["to_scipy"](self)

    def diagonal(self) -> Tensor:
        """The diagonal as a dense tensor."""
        return _functions["diagonal"](self)  # type: ignore[no-any-return] # a tensor

    def sum(self, axis: Any = None) -> Tensor:
        """Sum over rows, columns or both."""
        return _functions["sum"](self, axis=axis)  # type: ignore[no-any-return] # a tensor

    def sum_duplicates(self, *, size: int | None = None) -> SparseMatrix:
        """The matrix with values at the same place added, sorted by row (`CSC`: by column)."""
        return _functions["sum_duplicates"](self, size=size)  # type: ignore[no-any-return] # a matrix

    def astype(self: M, dtype: Any) -> M:
        """The matrix with values of another dtype."""
        return _functions["astype"](self, dtype)  # type: ignore[no-any-return] # a matrix

    # Operators

    @overload
    def __matmul__(self, other: SparseMatrix) -> SparseMatrix: ...
    @overload
    def __matmul__(self, other: TensorLike | Sequence[Any]) -> Tensor: ...
    def __matmul__(self, other: Any) -> Any:
        return _functions["matmul"](self, other)

    def __rmatmul__(self, other: TensorLike) -> Tensor:
        product: Tensor = _functions["matmul"](other, self)
        return product

    def __add__(self, other: Any) -> Any:
        return _functions["add"](self, other)

    def __radd__(self, other: Any) -> Any:
        return _functions["add"](other, self)

    def __sub__(self, other: Any) -> Any:
        return _functions["subtract"](self, other)

    def __rsub__(self, other: Any) -> Any:
        return _functions["subtract"](other, self)

    def __mul__(self, other: Any) -> Any:
        return _functions["multiply"](self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return _functions["divide"](self, other)

    def __neg__(self: M) -> M:
        return self.like(-self.values)

    def __pos__(self: M) -> M:
        return self

    def __getitem__(self, key: Any) -> Any:
        return _functions["select"](self, key)


def _refuse(methods: Mapping[str, str], words: str, remedy: str) -> None:
    """Gives the class operators that are errors with a remedy, under the names of their ops; no type checker sees them.

    An object that is not an operand equals no matrix.
    """

    def refusal(op: str) -> Callable[..., Any]:
        def refuse(self: SparseMatrix, *operands: Any, **options: Any) -> Any:
            if op in ("equal", "not_equal") and not fits(operands[0], SparseMatrix | TensorLike):
                return NotImplemented
            remedies = {} if op else self.operand_remedies  # without an op, that of the call around it
            error = OperandError(expected(words, A=self.template), remedies=remedies | {"": remedy})
            raise error.named(op) if op else error

        return refuse

    for method, op in methods.items():
        setattr(SparseMatrix, f"__{method}__", refusal(op))


_COMPARED = {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}
_DENSE = {"mod": "remainder", "floordiv": "floor_divide", "and": "and", "or": "or", "xor": "xor"}
_DENSE |= {"rtruediv": "divide", "rmod": "remainder", "rfloordiv": "floor_divide", "rpow": "pow"}
_refuse(_COMPARED, "a dense tensor to compare", "compare A.to_dense(), or the stored A.values")
_refuse(_DENSE, "a dense tensor", "use A.to_dense(), or A.like(...) of the stored A.values")
_refuse({"abs": "abs"}, "a dense tensor", "write A.like(tb.abs(A.values)), or take abs() of A.to_dense()")
_refuse({"pow": "pow"}, "a dense tensor", "write A.like(A.values ** n), or A @ A for a product of matrices")
_refuse({"bool": "bool"}, "a tensor of one element as a condition", "ask for A.nnz, or compare A.to_dense()")
_refuse({"len": "len"}, "a dense tensor for len()", "use A.shape, or A.nnz for the number of stored entries")
_refuse({"array": ""}, "a dense tensor", "write A.to_dense(), or tb.sparse.to_scipy(A) for SciPy")
_refuse({"setitem": "setitem"}, "a dense tensor to assign to", "add a matrix of tb.sparse.coo(), as A never changes")


class COO(SparseMatrix):
    """The row and the column of each value, in any order."""

    __slots__ = ()
    format = "coo"

    @property
    def rows(self) -> Tensor:
        """The row of each value."""
        return self.first

    @property
    def columns(self) -> Tensor:
        """The column of each value."""
        return self.second


class Compressed(SparseMatrix):
    """The common base of `CSR` and `CSC`."""

    __slots__ = ()

    @property
    def pointers(self) -> Tensor:
        """Shape (..., rows + 1): row i has the values from `pointers[i]` to before `pointers[i + 1]`.

        A `CSC` has columns in place of rows.
        """
        return self.first

    @property
    def indices(self) -> Tensor:
        """The column of each value; for `CSC`, its row."""
        return self.second


class CSR(Compressed):
    """Compressed rows: where each row begins among the values, and the column of each value."""

    __slots__ = ()
    format = "csr"


class CSC(Compressed):
    """Compressed columns: where each column begins among the values, and the row of each value."""

    __slots__ = ()
    format = "csc"


CLASSES: dict[Format, type[SparseMatrix]] = {"coo": COO, "csr": CSR, "csc": CSC}


def _flatten(matrix: SparseMatrix) -> tuple[Iterable[Any], Any]:
    return (matrix.values, matrix.first, matrix.second), (matrix.matrix_size, matrix.matrix_names)


for _kind in CLASSES.values():
    register_tree_node(_kind, _flatten, lambda data, parts, kind=_kind: kind(*parts, *data))  # type: ignore[misc] # the class as a default


# Parts that functions on matrices share


def _transpose(matrix: SparseMatrix) -> SparseMatrix:
    """The transpose, with the same tensors: `COO` exchanges rows and columns, `CSR` becomes `CSC` and `CSC` `CSR`."""
    size, names = matrix.matrix_size[::-1], matrix.matrix_names[::-1]
    if isinstance(matrix, COO):
        return COO(matrix.values, matrix.second, matrix.first, size, names)
    kind = CSC if isinstance(matrix, CSR) else CSR
    return kind(matrix.values, matrix.first, matrix.second, size, names)


_templates: dict[Any, Template] = {}
holds_entries("templates of sparse matrices", _templates)


def _dense_template(parts: tuple[Template, Template, Template], size: Size, matrix_names: MatrixNames) -> Template:
    """The template of the dense matrix, from the templates of values, first and second."""
    key = parts, size, matrix_names
    template = _templates.get(key)
    if template is None:
        batches = [part.replace(shape=part.shape[:-1], names=part.names[:-1]) for part in parts]
        shape, names = broadcast(batches)
        template = Template((*shape, *size), parts[0].dtype, (*names, *matrix_names))
        remember(_templates, key, template)
    return template


def _batch_names(values: Template, matrix: Template) -> Names:
    """The names of the values' axes, from the names of the matrix's axes."""
    count = values.ndim - 1
    return (*matrix.names[matrix.ndim - 2 - count : matrix.ndim - 2], None)


def batch_of(matrix: SparseMatrix) -> Shape:
    """The sizes of the batch's axes."""
    return matrix.shape[:-2]


def shares_places(matrix: SparseMatrix) -> bool:
    """Whether all matrices of a batch have their values at the same places."""
    return matrix.first.template.ndim == matrix.second.template.ndim == 1


def entries(matrix: SparseMatrix) -> tuple[Tensor, Tensor]:
    """The row and the column of each value, of shape (n,) or with the batch's axes in front."""
    return places(matrix.first, matrix.second, matrix.format)
