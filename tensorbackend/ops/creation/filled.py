"""New tensors from numbers, from bytes, or by a rule.

They are created on `backend`, on the backend of the tensor `like`, or on the default backend. If `like` is on a tape,
the backend that computes is used; if it belongs to a traced function, the new tensor is part of that trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

from ...annotations import ShapeLike
from ...declarations.argument_errors import check_arguments
from ...dispatch import primitive
from ...dtypes import DTypeLike, Scalar, as_dtype, check_scalar, default_dtype, scalar_kind
from ...errors import ArgumentKindError, AxisError, NamesError, OperandError, ShapeError, expected
from ...protocol import BackendLike
from ...rules.axes import normalize_axis
from ...rules.plan import Plan
from ...select import backend_at, check_dtype_support, get_backend
from ...template import NamesLike, Template, as_names, as_shape, intern_template
from ...tensor import Like, Tensor, TensorLike, bind, public_op, rename_like
from ..elementwise.basic import astype
from .foreign_arrays import is_array
from .values import asarray as asarray
from .values import tensor as tensor


@primitive.calls("constant")
def _full(
    shape: ShapeLike,
    fill_value: Scalar,
    *,
    dtype: DTypeLike | None = None,
    names: NamesLike = None,
    backend: BackendLike = None,
    device: str | None = None,
    like: Like = None,
) -> Plan:
    kind = scalar_kind(fill_value)
    if kind is None:
        raise OperandError(expected("a number, or a tensor or an array without axes", fill_value=fill_value))
    return _fill(shape, fill_value, default_dtype(kind) if dtype is None else dtype, names)


@check_arguments
def full(
    shape: ShapeLike,
    fill_value: TensorLike,
    dtype: DTypeLike | None = None,
    *,
    names: NamesLike = None,
    backend: BackendLike = None,
    device: str | None = None,
    like: Like = None,
) -> Tensor:
    """Make a tensor filled with a value, by default in the default dtype of a Python number's kind.

    `fill_value` may also be a tensor or array without axes, whose value is cast; by default the result has its dtype,
    and the backend of a tensor. Raises `OutOfRangeError` for a Python number that the dtype cannot hold, `ShapeError`
    and `NamesError`.

    >>> tb.full((2,), 7, names=("n",))
    s64[n: 2] numpy [7, 7]
    """
    if not isinstance(fill_value, Tensor) and not is_array(fill_value):
        return _full(shape, fill_value, dtype=dtype, names=names, backend=backend, device=device, like=like)  # type: ignore[arg-type] # a number, or refused
    value = asarray(fill_value, dtype=dtype, backend=backend, device=device, like=like)
    if value.ndim:
        raise ShapeError(expected("a value without axes", "use broadcast_to()", fill_value=value.template))
    return public_op("broadcast_to")(value, as_shape(shape), names=names)


def _fill(shape: ShapeLike, value: Scalar, dtype: DTypeLike, names: NamesLike) -> Plan:
    out = Template(shape, dtype, names)  # type: ignore[arg-type] # or an int
    check_scalar(value, out.dtype)
    return Plan(out, (), {"value": value})


@primitive.calls("constant")
def zeros(
    shape: ShapeLike,
    dtype: DTypeLike | None = None,
    *,
    names: NamesLike = None,
    backend: BackendLike = None,
    device: str | None = None,
    like: Like = None,
) -> Plan:
    """Make a tensor of zeros, in the default floating dtype unless `dtype` is given.

    >>> tb.zeros(2).tolist()
    [0.0, 0.0]
    >>> tb.zeros(2, like=tb.ones(3, backend="binary")).backend
    BinaryBackend()
    """
    return _fill(shape, False, default_dtype("float") if dtype is None else dtype, names)


@primitive.calls("constant")
def ones(
    shape: ShapeLike,
    dtype: DTypeLike | None = None,
    *,
    names: NamesLike = None,
    backend: BackendLike = None,
    device: str | None = None,
    like: Like = None,
) -> Plan:
    """Make a tensor of ones, in the default floating dtype unless `dtype` is given.

    >>> tb.ones((1, 2), dtype="u8").tolist()
    [[1, 1]]
    """
    return _fill(shape, True, default_dtype("float") if dtype is None else dtype, names)


@primitive
def iota(
    shape: ShapeLike,
    *,
    axis: int | str | None = None,
    dtype: DTypeLike | None = None,
    names: NamesLike = None,
    backend: BackendLike = None,
    device: str | None = None,
    like: Like = None,
) -> Plan:
    """The index of each element along an axis, or in row-major order if `axis` is `None`.

    >>> tb.iota((2, 2)).tolist(), tb.iota((2, 2), axis=0).tolist()
    ([[0, 1], [2, 3]], [[0, 0], [1, 1]])
    """
    out = Template(shape, default_dtype("int") if dtype is None else dtype, names)  # type: ignore[arg-type] # or an int
    if isinstance(axis, str) and names is None:
        remedy = "pass names=, such as those of a tensor, x.names, or a position"
        raise AxisError(expected("the name of one of the axes", remedy, axis=axis, names=None))
    return Plan(out, (), {"axis": None if axis is None else normalize_axis(out, axis)})


@check_arguments
def empty(
    shape: ShapeLike,
    dtype: DTypeLike | None = None,
    *,
    names: NamesLike = None,
    backend: BackendLike = None,
    device: str | None = None,
    like: Like = None,
) -> Tensor:
    """Make a tensor with unspecified elements. They are zeros at present, so that all backends agree.

    >>> tb.empty((2, 0)).shape
    (2, 0)
    """
    return zeros(shape, dtype=dtype, names=names, backend=backend, device=device, like=like)


@primitive
def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    batch_shape: Sequence[int] = (),
    dtype: DTypeLike | None = None,
    names: NamesLike = None,
    backend: BackendLike = None,
    device: str | None = None,
    like: Like = None,
) -> Plan:
    """Ones on the k-th diagonal of a matrix (above the main one for positive k), zeros elsewhere.

    `batch_shape` repeats the matrix along leading axes; `names` name all axes.

    >>> tb.eye(2, 3, k=1).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    shape = (*as_shape(batch_shape), n_rows, n_rows if n_cols is None else n_cols)
    out = Template(shape, default_dtype("float") if dtype is None else dtype, names)
    return Plan(out, (), {"offset": index(k)})


def _fill_like(
    x: Tensor, value: TensorLike, dtype: DTypeLike | None, backend: BackendLike, device: str | None
) -> Tensor:
    kind = x.dtype if dtype is None else dtype
    if backend is None and isinstance(value, Tensor):
        return full(x.shape, value, dtype=kind, names=x.names, device=device, like=x)
    chosen, device = (backend_at(device, x.backend), None) if backend is None else (backend, device)
    return full(x.shape, value, dtype=kind, names=x.names, backend=chosen, device=device)


@bind
@check_arguments
def zeros_like(
    x: Tensor, /, dtype: DTypeLike | None = None, *, backend: BackendLike = None, device: str | None = None
) -> Tensor:
    """Make a tensor of zeros with the shape, dtype, names and backend of a tensor.

    >>> tb.zeros_like(tb.asarray([1, 2], names=("n",))).template
    s64[n: 2]
    """
    return _fill_like(x, False, dtype, backend, device)


@check_arguments
def ones_like(
    x: Tensor, /, dtype: DTypeLike | None = None, *, backend: BackendLike = None, device: str | None = None
) -> Tensor:
    """Make a tensor of ones with the shape, dtype, names and backend of a tensor.

    >>> tb.ones_like(tb.asarray([1, 2])).tolist()
    [1, 1]
    """
    return _fill_like(x, True, dtype, backend, device)


@check_arguments
def empty_like(
    x: Tensor, /, dtype: DTypeLike | None = None, *, backend: BackendLike = None, device: str | None = None
) -> Tensor:
    """Make a tensor with unspecified elements, and the shape, dtype, names and backend of another tensor.

    >>> tb.empty_like(tb.asarray([1.5])).dtype
    float32
    """
    return _fill_like(x, False, dtype, backend, device)


@check_arguments
def full_like(
    x: Tensor,
    /,
    fill_value: TensorLike,
    dtype: DTypeLike | None = None,
    *,
    backend: BackendLike = None,
    device: str | None = None,
) -> Tensor:
    """Make a tensor filled with a value, with the shape, dtype, names and backend of a tensor.

    >>> tb.full_like(tb.asarray([1, 2]), 7).tolist()
    [7, 7]
    """
    return _fill_like(x, fill_value, dtype, backend, device)


@bind
@check_arguments
def template(shape: Sequence[int], dtype: DTypeLike, names: NamesLike = None) -> Tensor:
    """Make a template tensor: shape, dtype and names without data, for dry runs.

    >>> tb.template((2, 3), "f32", ("batch", "feature"))
    f32[batch: 2][feature: 3] template
    """
    return Tensor(Template(shape, dtype, names), get_backend("template"), None)


@bind
@check_arguments
def from_binary(data: bytes, template: Template, backend: BackendLike = None) -> Tensor:
    """Make a tensor from the bytes of its elements, in row-major order and native byte order.

    Raises `ShapeError` unless there are exactly `template.dtype.itemsize` bytes for each element.

    >>> tb.from_binary(b"\\x01\\x02", tb.Template((2,), "u8")).tolist()
    [1, 2]
    """
    if not isinstance(template, Template):
        raise ArgumentKindError(expected("a Template", "take the tensor's .template", template=template))
    size = template.payload_nbytes
    if len(data) != size:
        raise ShapeError(expected(f"{size} bytes for {template!r}", "check shape and dtype", bytes=len(data)))
    chosen = get_backend(backend)
    check_dtype_support(template.dtype, chosen)
    return Tensor(template, chosen, chosen.from_binary(template, data=bytes(data)))


@bind
@check_arguments
def rename(x: Tensor, /, *names: str | None, **renamed: str | None) -> Tensor:
    """Change axis names: all of them by position, or some by keyword.

    Raises `NamesError`, or `AxisError` for a keyword that is not the name of an axis.

    >>> tb.rename(tb.zeros((2, 3), names=("row", "column")), row="a").names
    ('a', 'column')
    """
    changed: list[str | None] = list(names or x.names)
    if isinstance(given := renamed.get("names"), Sequence) and not isinstance(given, str):
        raise NamesError(expected("the names of all axes by position", "write rename(x, *names)", names=given))
    old, new = (*names, *renamed.values())[:2] if len(names) + len(renamed) == 2 else (None, None)
    if not {*renamed} <= {*x.names} or (len(names) == 2 != x.ndim):  # as in rename("new", axis="old")
        old, new = (old, new) if old in x.names else (new, old)
        if old in x.names and isinstance(new, str):
            raise NamesError(expected("new names by keyword", f"write rename({old}={new!r})", names=names, **renamed))
    for old, new in renamed.items():
        changed[normalize_axis(x.template, old)] = new
    out = intern_template(x.shape, x.dtype, as_names(changed, x.ndim))
    return rename_like(x, out)


@check_arguments
def tri(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: DTypeLike | None = None,
    names: NamesLike = None,
    backend: BackendLike = None,
    like: Like = None,
) -> Tensor:
    """Ones up to the k-th diagonal of a matrix (above the main one for positive k), zeros above it.

    >>> tb.tri(2, 3, k=1, dtype="int64").tolist()
    [[1, 1, 0], [1, 1, 1]]
    """
    columns = n_rows if n_cols is None else n_cols
    row = iota((index(n_rows), 1), backend=backend, like=like)
    column = iota((1, index(columns)), backend=backend, like=like)
    below = row + index(k) >= column
    triangle = astype(below, default_dtype("float") if dtype is None else as_dtype(dtype))
    return triangle if names is None else triangle.rename(*names)
