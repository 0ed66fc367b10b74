"""The Array API's functions for dtypes, and functions that iterate over a tensor in batches or show it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import index
from typing import Any, Literal

from ..declarations.argument_errors import check_arguments, check_arguments_early
from ..display import ends, heading, table, terminal_width
from ..display.heat_map import HeatMap
from ..dtypes import DType, DTypeLike, Scalar, as_dtype, float32, float64, promote_types, scalar_kind
from ..errors import ArgumentError, DTypeError, OperandError, ShapeError, expected
from ..rules import broadcasting
from ..rules.plan import choice
from ..template import Template, weak_template
from ..tensor import Tensor, bind, public_op
from .creation.values import asarray, operand_tensors
from .indexing.slices import slice_basic
from .shape import concatenate

_KINDS = {
    "bool": ("bool",),
    "signed integer": ("int",),
    "unsigned integer": ("uint",),
    "integral": ("int", "uint"),
    "real floating": ("float",),
    "complex floating": ("complex",),
    "numeric": ("int", "uint", "float", "complex"),
}

Leftover = Literal["keep", "discard", "repeat"]


def _as_template(value: Tensor | DTypeLike | Scalar) -> Template:
    if isinstance(value, Tensor):
        return value.template
    kind = scalar_kind(value)
    return Template((), value) if kind is None else weak_template(kind)  # type: ignore[arg-type] # or as_dtype raises


@check_arguments
def result_type(*arrays_and_dtypes: Tensor | DTypeLike | Scalar) -> DType:
    """Return the dtype to which tensors, dtypes and Python numbers are promoted; Python numbers are weak.

    Raises `DTypeError` if there is no common dtype.

    >>> tb.result_type(tb.int8, tb.asarray([1], dtype="u8"), 2)
    int16
    """
    if not arrays_and_dtypes:
        raise OperandError(expected("at least one tensor, dtype or Python number"))
    return broadcasting.result_type([_as_template(value) for value in arrays_and_dtypes])


def wide_operands(values: Sequence[Any], accept: str, least: DType) -> tuple[DType, list[Tensor]]:
    """The floating dtype of a result, and operands in it or in `least`, if that is wider.

    A Python number takes the dtype of the tensors, and is not rounded to the default dtype first.
    """
    given = _with_numbers(values)
    dtype = broadcasting.to_floating(broadcasting.check_dtype(result_type(*[kind for kind, _ in given]), accept))
    return dtype, _in_dtype(given, promote_types(dtype, least))


def common_operands(*values: Any) -> list[Tensor]:
    """Operands in their common dtype; a Python number takes the dtype of the tensors, if its kind fits."""
    given = _with_numbers(values)
    return _in_dtype(given, result_type(*[kind for kind, _ in given]))


def _with_numbers(values: Sequence[Any]) -> list[tuple[Any, Tensor]]:
    """Each operand as it decides about the dtype, a tensor or a Python number, and as a tensor."""
    tensors = operand_tensors(*values)
    return [(x if scalar_kind(value) is None else value, x) for value, x in zip(values, tensors, strict=True)]


def _in_dtype(given: Sequence[tuple[Any, Tensor]], dtype: DType) -> list[Tensor]:
    return [x.astype(dtype) if kind is x else asarray(kind, dtype=dtype, like=x) for kind, x in given]


@check_arguments
def can_cast(from_: Tensor | DTypeLike, to: DTypeLike, /) -> bool:
    """Return whether a dtype, or the dtype of a tensor, promotes to another dtype.

    >>> tb.can_cast("int8", "int16"), tb.can_cast("int16", "int8"), tb.can_cast("float32", "int64")
    (True, False, False)
    """
    source = from_.dtype if isinstance(from_, Tensor) else as_dtype(from_)
    target = as_dtype(to)
    try:
        return promote_types(source, target) is target
    except DTypeError:
        return False


@check_arguments
def isdtype(dtype: DTypeLike, kind: DTypeLike | str | tuple[DTypeLike | str, ...]) -> bool:
    """Return whether a dtype equals another one or belongs to a kind such as `"real floating"`, or to one of several.

    The kinds are bool, signed integer, unsigned integer, integral, real floating, complex floating and numeric.

    >>> tb.isdtype(tb.int8, "integral"), tb.isdtype(tb.int8, (tb.int16, "bool"))
    (True, False)
    """
    resolved_dtype = as_dtype(dtype)
    if isinstance(kind, tuple):
        return any(isdtype(resolved_dtype, alternative) for alternative in kind)
    if isinstance(kind, str) and kind in _KINDS:
        return resolved_dtype.kind in _KINDS[kind]
    return resolved_dtype is as_dtype(kind)


@check_arguments_early
def to_batched(x: Tensor, size: int, /, *, leftover: Leftover = "keep") -> Iterator[Tensor]:
    """Iterate over batches of `size` consecutive entries along the first axis, each with its own memory.

    The remainder at the end is kept as a shorter batch, discarded, or filled up with entries from the start
    (`"repeat"`). Raises `ShapeError` for a tensor without axes, and `ArgumentError` for a size below 1 or too few
    entries to repeat from; both are raised by the call, before the first batch is requested.

    >>> [batch.tolist() for batch in tb.to_batched(tb.iota(5), 2)]
    [[0, 1], [2, 3], [4]]
    >>> [batch.tolist() for batch in tb.to_batched(tb.iota(5), 2, leftover="repeat")]
    [[0, 1], [2, 3], [4, 0]]
    """
    _ = x.data  # of a deallocated tensor it is an error, which the call raises
    if not x.ndim:
        raise ShapeError(expected("a tensor with a first axis to cut into batches", tensor=x.template))
    if index(size) < 1:
        raise ArgumentError(expected("a batch size of at least 1", size=size))
    choice(("keep", "discard", "repeat"), leftover=leftover)
    if leftover == "repeat" and x.shape[0] and x.shape[0] < size:
        remedy = "choose a smaller size"
        raise ArgumentError(expected(f"at least {size} entries to repeat from", remedy, tensor=x.template))
    return _batches(x, index(size), leftover)


def _batches(x: Tensor, size: int, leftover: Leftover) -> Iterator[Tensor]:
    for payload, start in zip(x.backend.to_batched(x, size), range(0, x.shape[0], size), strict=True):
        count = min(size, x.shape[0] - start)
        batch = Tensor(x.template.replace(shape=(count, *x.shape[1:])), x.backend, payload)
        if count == size or leftover == "keep":
            yield batch
        elif leftover == "repeat":
            yield concatenate([batch, slice_basic(x, slice(0, size - count))], axis=0)


@check_arguments
def inspect(x: Tensor, /, *, limit: int = 100) -> str:
    """Return a tensor as text. At most `limit` elements are read and shown, those at the ends of each axis.

    >>> print(tb.inspect(tb.iota((1000, 8), names=("row", "column")), limit=16))
    s64[row: 1000][column: 8] numpy
    [[   0,    1, ...,    6,    7],
     [   8,    9, ...,   14,   15],
     ...,
     [7984, 7985, ..., 7990, 7991],
     [7992, 7993, ..., 7998, 7999]]
    """
    if index(limit) < 0:
        raise ArgumentError(expected("a limit of at least 0", limit=limit))
    return x.backend.inspect(x, limit=limit)


@bind
def notebook(x: Tensor, /) -> str:
    """Return a tensor as HTML: the template, the backend, and the ends of the rows and columns of its first matrix."""
    head, _, elements = x.backend.inspect(x, limit=0).partition("\n")
    if not elements or not x.size:  # without data, or without elements
        return heading(head)
    x = x.detach()
    others = x.shape[:-2]
    head += "".join(f", first of {size}" for size in others if size > 1)
    absent = (1,) * (2 - x.ndim)
    matrix = Template((*absent, *x.shape[-2:]), x.dtype, (*(None for _ in absent), *x.names[-2:]))
    positions = ends(matrix.shape)
    cells = iter(x.backend.elements_at(x, [*([0] for _ in others), *positions[len(absent) :]]))
    return table(head, matrix, positions, [[next(cells) for _ in positions[1]] for _ in positions[0]])


@check_arguments
def show(x: Tensor, /, *, size: tuple[int, int] | None = None) -> HeatMap:
    """Return a tensor as a heat map, which is displayed at a prompt and in a notebook; in a script, print it.

    A tensor of one axis is a row of cells, one of two axes is rows and columns of cells. Of a tensor with more axes,
    the first matrix is shown; index the tensor to see another. Where there are more rows or columns than cells, a cell
    is the mean of a block, computed on the tensor's backend. Complex numbers are shown by their absolute value. The
    scale ranges from the smallest to the largest finite number of the cells; NaN and infinities are marked, and so is a
    block that contains one.

    Parameters
    ----------
    x : Tensor
        The tensor to show.
    size : tuple of two ints, optional
        The maximum number of rows and columns of cells. By default 40 rows, and as many columns as a line of the
        terminal has characters, up to 80.

    Returns
    -------
    HeatMap
        An object that is displayed as coloured half blocks on a terminal, as characters elsewhere or where `NO_COLOR`
        is set, and as a drawing in notebooks.

    Raises
    ------
    ArgumentError
        For a size below 1.

    Examples
    --------
    >>> tb.show(tb.eye(5, names=("row", "column")), size=(5, 5))
    f32[row: 5][column: 5] numpy
    @@
      @@
        @@
          @@
            @@
    0 " .:-=+*#%@" 1
    """
    rows, columns = size or (40, min(terminal_width(), 80))
    if min(index(rows), index(columns)) < 1:
        raise ArgumentError(expected("at least one row and one column of cells", size=size))
    head, _, elements = x.backend.inspect(x, limit=0).partition("\n")
    if not elements or not x.size:  # without data, or without elements
        return HeatMap(head, [])
    x = x.detach()
    while x.ndim > 2:
        head, x = f"{head}, first of {x.shape[0]}" if x.shape[0] > 1 else head, x[0]
    x = x.rename(*[None] * x.ndim).reshape((*(1,) * (2 - x.ndim), *x.shape))
    lengths = [-(-count // most) for count, most in zip(x.shape, (rows, columns), strict=True)]
    x = public_op("abs")(x) if x.dtype.is_complex else x
    x = x if x.dtype in (float32, float64) else x.astype(float32)
    for axis, length in enumerate(lengths):
        x = _means(x, axis, length)
    if max(lengths) > 1:
        head = f"{head}, each cell the mean of {' x '.join(map(str, lengths))}"
    return HeatMap(head, x.tolist())


def _means(x: Tensor, axis: int, length: int) -> Tensor:
    """The means of blocks of `length` entries along an axis, the last of which may be shorter."""
    if length == 1:
        return x
    before, size, after = (slice(None),) * axis, x.shape[axis], x.shape[axis + 1 :]
    whole = size - size % length
    means = x[(*before, slice(whole))].reshape((*x.shape[:axis], whole // length, length, *after)).mean(axis + 1)
    if whole == size:
        return means
    return concatenate([means, x[(*before, slice(whole, None))].mean(axis, keepdims=True)], axis=axis)
