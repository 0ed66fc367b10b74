"""New tensors: from Python numbers, from foreign arrays, from bytes, by rule.

They are made on `backend`, by default the current default backend.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

from ..dispatch import primitive
from ..dtypes import DType, DTypeLike, Scalar, as_dtype, check_scalar, complex128, default_dtype, float64, scalar_kind
from ..elements import element_type, pack
from ..errors import OperandError, OutOfRangeError, ShapeError, expected
from ..interchange import HOST, OnDevice
from ..memo import remember
from ..protocol import Backend, BackendLike
from ..rules.axes import normalize_axis
from ..rules.plan import Plan
from ..select import check_held, get_backend, move
from ..select.default import current
from ..template import Shape, Template, as_names, as_shape, intern_template
from ..tensor import Tensor, bind


@primitive.calls("constant")
def full(
    shape: Sequence[int] | int,
    fill_value: Scalar,
    *,
    dtype: DTypeLike | None = None,
    names: Sequence[str | None] | None = None,
    backend: BackendLike = None,
    device: str | None = None,
) -> Plan:
    """A tensor with one value everywhere, in the dtype of the Python number's kind by default.

    Raises `OutOfRangeError` for a value that the dtype cannot hold, `ShapeError`, `NamesError`.

    >>> import tensorbackend as tb
    >>> tb.full((2,), 7, names=("n",))
    s64[n: 2] numpy
    [7, 7]
    """
    kind = scalar_kind(fill_value)
    if kind is None:
        raise OperandError(expected("a Python number", fill_value=fill_value))
    return _filled(shape, fill_value, default_dtype(kind) if dtype is None else dtype, names)


def _filled(shape: Sequence[int] | int, value: Scalar, dtype: DTypeLike, names: Sequence[str | None] | None) -> Plan:
    out = Template(shape, dtype, names)  # type: ignore[arg-type] # or an int
    check_scalar(value, out.dtype)
    return Plan(out, (), {"value": value})


@primitive.calls("constant")
def zeros(
    shape: Sequence[int] | int,
    *,
    dtype: DTypeLike | None = None,
    names: Sequence[str | None] | None = None,
    backend: BackendLike = None,
    device: str | None = None,
) -> Plan:
    """A tensor of zeros, of the default floating dtype.

    >>> import tensorbackend as tb
    >>> tb.zeros(2).tolist()
    [0.0, 0.0]
    """
    return _filled(shape, False, default_dtype("float") if dtype is None else dtype, names)


@primitive.calls("constant")
def ones(
    shape: Sequence[int] | int,
    *,
    dtype: DTypeLike | None = None,
    names: Sequence[str | None] | None = None,
    backend: BackendLike = None,
    device: str | None = None,
) -> Plan:
    """A tensor of ones, of the default floating dtype.

    >>> import tensorbackend as tb
    >>> tb.ones((1, 2), dtype="u8").tolist()
    [[1, 1]]
    """
    return _filled(shape, True, default_dtype("float") if dtype is None else dtype, names)


@primitive
def iota(
    shape: Sequence[int] | int,
    *,
    axis: int | str | None = None,
    dtype: DTypeLike | None = None,
    names: Sequence[str | None] | None = None,
    backend: BackendLike = None,
    device: str | None = None,
) -> Plan:
    """Each element's index along an axis, in the whole row-major order for `None`.

    >>> import tensorbackend as tb
    >>> tb.iota((2, 2)).tolist(), tb.iota((2, 2), axis=0).tolist()
    ([[0, 1], [2, 3]], [[0, 0], [1, 1]])
    """
    out = Template(shape, default_dtype("int") if dtype is None else dtype, names)  # type: ignore[arg-type] # or an int
    return Plan(out, (), {"axis": None if axis is None else normalize_axis(out, axis)})


def empty(
    shape: Sequence[int] | int,
    *,
    dtype: DTypeLike | None = None,
    names: Sequence[str | None] | None = None,
    backend: BackendLike = None,
    device: str | None = None,
) -> Tensor:
    """A tensor whose elements nobody should rely on; they are zeros, so that every backend gives the same.

    >>> import tensorbackend as tb
    >>> tb.empty((2, 0)).shape
    (2, 0)
    """
    return zeros(shape, dtype=dtype, names=names, backend=backend, device=device)


@primitive
def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    batch_shape: Sequence[int] = (),
    dtype: DTypeLike | None = None,
    names: Sequence[str | None] | None = None,
    backend: BackendLike = None,
    device: str | None = None,
) -> Plan:
    """Ones on the k-th diagonal of a matrix (above the main one for positive k), zeros elsewhere.

    `batch_shape` repeats it along leading axes; `names` are for all axes.

    >>> import tensorbackend as tb
    >>> tb.eye(2, 3, k=1).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    shape = (*as_shape(batch_shape), n_rows, n_rows if n_cols is None else n_cols)
    out = Template(shape, default_dtype("float") if dtype is None else dtype, names)
    return Plan(out, (), {"offset": index(k)})


def _like(x: Tensor, value: Scalar, dtype: DTypeLike | None, backend: BackendLike, device: str | None) -> Tensor:
    kind, chosen = x.dtype if dtype is None else dtype, x.backend if backend is None else backend
    return full(x.shape, value, dtype=kind, names=x.names, backend=chosen, device=device)


def zeros_like(
    x: Tensor, /, *, dtype: DTypeLike | None = None, backend: BackendLike = None, device: str | None = None
) -> Tensor:
    """Zeros with the shape, dtype, names and backend of a tensor.

    >>> import tensorbackend as tb
    >>> tb.zeros_like(tb.asarray([1, 2], names=("n",))).template
    s64[n: 2]
    """
    return _like(x, False, dtype, backend, device)


def ones_like(
    x: Tensor, /, *, dtype: DTypeLike | None = None, backend: BackendLike = None, device: str | None = None
) -> Tensor:
    """Ones with the shape, dtype, names and backend of a tensor.

    >>> import tensorbackend as tb
    >>> tb.ones_like(tb.asarray([1, 2])).tolist()
    [1, 1]
    """
    return _like(x, True, dtype, backend, device)


def empty_like(
    x: Tensor, /, *, dtype: DTypeLike | None = None, backend: BackendLike = None, device: str | None = None
) -> Tensor:
    """What `empty` gives, with the shape, dtype, names and backend of a tensor.

    >>> import tensorbackend as tb
    >>> tb.empty_like(tb.asarray([1.5])).dtype
    float32
    """
    return _like(x, False, dtype, backend, device)


def full_like(
    x: Tensor,
    /,
    fill_value: Scalar,
    *,
    dtype: DTypeLike | None = None,
    backend: BackendLike = None,
    device: str | None = None,
) -> Tensor:
    """One value everywhere, with the shape, dtype, names and backend of a tensor.

    >>> import tensorbackend as tb
    >>> tb.full_like(tb.asarray([1, 2]), 7).tolist()
    [7, 7]
    """
    return _like(x, fill_value, dtype, backend, device)


def template(shape: Sequence[int], dtype: DTypeLike, names: Sequence[str | None] | None = None) -> Tensor:
    """A template tensor: shape, dtype and names without data, for dry runs.

    >>> import tensorbackend as tb
    >>> tb.template((2, 3), "f32", ("batch", "feature"))
    f32[batch: 2][feature: 3] template
    """
    return Tensor(Template(shape, dtype, names), get_backend("template"), None)


@bind
def from_binary(data: bytes, template: Template, backend: BackendLike = None) -> Tensor:
    """A tensor from its elements' bytes: row-major, native byte order.

    Raises `ShapeError` unless there are exactly `template.nbytes` of them.

    >>> import tensorbackend as tb
    >>> tb.from_binary(b"\\x01\\x02", tb.Template((2,), "u8")).tolist()
    [1, 2]
    """
    if len(data) != template.nbytes:
        raise ShapeError(
            expected(f"{template.nbytes} bytes for {template!r}", "check shape and dtype", bytes=len(data))
        )
    chosen = get_backend(backend)
    check_held(template.dtype, chosen)
    return Tensor(template, chosen, chosen.from_binary(template, data=bytes(data)))


def tensor(
    value: Any,
    *,
    dtype: DTypeLike | None = None,
    names: Sequence[str | None] | None = None,
    backend: BackendLike = None,
    device: str | None = None,
) -> Tensor:
    """A tensor copied from nested lists of Python numbers, an array or a tensor.

    The dtype is by default the value's, of Python numbers the default of their widest kind, or that of 64 bits a part
    where a float is beyond it. Raises
    `ShapeError` for ragged lists, `OutOfRangeError` for a number outside the dtype, `OperandError` for
    what is no number.

    >>> import tensorbackend as tb
    >>> tb.tensor([[1, 2], [3, 4]], dtype="f32", names=("row", None))
    f32[row: 2][2] numpy
    [[1.0, 2.0],
     [3.0, 4.0]]
    """
    return _from_value(value, dtype, names, backend, device, copy=True)


@bind
def asarray(
    value: Any,
    /,
    *,
    dtype: DTypeLike | None = None,
    names: Sequence[str | None] | None = None,
    copy: bool | None = None,
    backend: BackendLike = None,
    device: str | None = None,
) -> Tensor:
    """A tensor of a value as `tensor` makes it, but sharing the memory of a tensor or array if it can.

    `copy=True` never shares, and `copy=False` raises `ValueError` where it would have to copy.

    >>> import tensorbackend as tb
    >>> tb.asarray([0.5, 1]).dtype
    float32
    """
    if dtype is None and names is None and device is None and not copy:
        if value.__class__ is Tensor and backend is None:
            return value
        chosen = current() if backend is None else get_backend(backend)
        try:
            out = _shared[value.__class__, value.dtype, value.shape, chosen]
        except (AttributeError, KeyError, TypeError):
            pass  # so that no error below has this one as its context
        else:
            return Tensor(out, chosen, chosen.from_numpy(out, value, copy=False))
    return _from_value(value, dtype, names, backend, device, copy=copy)


_shared: dict[Any, Template] = {}
"""For the types of NumPy arrays that came so far, their dtypes, shapes and backends: the template of the tensor."""


def from_dlpack(
    x: Any, /, *, copy: bool | None = None, backend: BackendLike = None, device: str | None = None
) -> Tensor:
    """A tensor of another library's array by DLPack, sharing its memory unless `copy` is true.

    It must be where the backend's data is, unless a `device` is asked for, to which the other library then copies.
    Raises `BufferError` where the memory cannot be had.

    >>> import numpy, tensorbackend as tb
    >>> tb.from_dlpack(numpy.asarray([1.5])).tolist()
    [1.5]
    """
    if isinstance(x, Tensor):
        return asarray(x, copy=copy, backend=backend, device=device)
    if not hasattr(x, "__dlpack__"):
        raise OperandError(expected("an array with __dlpack__", "use asarray()", x=x))
    return _from_dlpack(x, get_backend(backend, device=device), device, copy)


def _from_value(
    value: Any,
    dtype: DTypeLike | None,
    names: Sequence[str | None] | None,
    backend: BackendLike,
    device: str | None,
    copy: bool | None,
) -> Tensor:
    wanted = None if dtype is None else as_dtype(dtype)
    if isinstance(value, Tensor):
        chosen = get_backend(value.backend if backend is None else backend, device=device)
        made = move(value, chosen)
        if copy and made is value:
            made = Tensor(value.template, chosen, value.data)  # payloads never change
    elif scalar_kind(value) is None and (hasattr(value, "__array__") or hasattr(value, "__dlpack__")):
        made = _from_array(value, get_backend(backend, device=device), device, copy)
    else:
        if copy is False:
            raise ValueError(expected("a tensor or an array to share", "leave copy out", value=value))
        return _from_numbers(value, wanted, names, get_backend(backend, device=device))
    if wanted is not None and made.dtype is not wanted:
        from .conversion import astype

        made = astype(made, wanted)
    if copy is False and isinstance(value, Tensor) and made is not value:
        raise ValueError(expected("a tensor of that dtype and backend to share", "leave copy out", dtype=wanted))
    if names is not None:
        made = Tensor(Template(made.shape, made.dtype, names), made.backend, made.data)
    return made


def _from_array(value: Any, backend: Backend, device: str | None, copy: bool | None) -> Tensor:
    """Through NumPy, but by DLPack where the array is on the backend's own device, or NumPy cannot read it."""
    place = value.__dlpack_device__() if hasattr(value, "__dlpack_device__") else HOST
    if place == HOST or place != backend.dlpack_device():
        try:
            array = value.__array__()
        except (AttributeError, TypeError, RuntimeError):  # a dtype that NumPy lacks, part of a graph, on a device
            if not hasattr(value, "__dlpack__"):
                raise
        else:
            out = intern_template(array.shape, as_dtype(array.dtype), (None,) * array.ndim)
            check_held(out.dtype, backend)
            if array is value:
                remember(_shared, (array.__class__, array.dtype, array.shape, backend), out)
            return Tensor(out, backend, backend.from_numpy(out, array, copy=copy is True))
    return _from_dlpack(value, backend, device, copy)


def _from_dlpack(value: Any, backend: Backend, device: str | None, copy: bool | None) -> Tensor:
    """By DLPack, from another device if one was asked for."""
    asked = value if device is None else OnDevice(value, backend.dlpack_device())
    out, data = backend.from_dlpack(asked, copy=copy)
    return Tensor(out, backend, data)


def _from_numbers(value: Any, dtype: DType | None, names: Sequence[str | None] | None, backend: Any) -> Tensor:
    shape, numbers = _flatten(value)
    chosen = dtype or _dtype_of(numbers)
    for number in numbers:
        check_scalar(number, chosen)
    out = Template(shape, chosen, names)
    check_held(chosen, backend)
    return Tensor(out, backend, backend.from_binary(out, data=pack(map(element_type(chosen), numbers), chosen)))


def _dtype_of(numbers: Sequence[Any]) -> DType:
    """The default dtype of the widest kind among numbers; that of 64 bits a part where one is beyond it."""
    kinds = {scalar_kind(number) for number in numbers}
    widest = next((kind for kind in ("complex", "float", "int", "bool") if kind in kinds), "float")
    dtype = default_dtype(widest)  # type: ignore[arg-type] # one of the kinds listed
    if not dtype.is_inexact:
        return dtype
    try:
        for number in numbers:
            check_scalar(number, dtype)
    except OutOfRangeError:
        return complex128 if dtype.is_complex else float64
    return dtype


def _flatten(value: Any) -> tuple[Shape, list[Any]]:
    """Shape and elements of nested lists or tuples; `[[1, 2], [3, 4]]` gives `((2, 2), [1, 2, 3, 4])`."""
    shape: list[int] = []
    level = [value]
    while level and all(isinstance(each, list | tuple) for each in level):
        lengths = {len(each) for each in level}
        if len(lengths) > 1:
            raise ShapeError(expected("lists of one length on each level", "pad them", lengths=sorted(lengths)))
        shape.append(lengths.pop())
        level = [element for each in level for element in each]
    # A tensor without axes, as unstack() gives, is a number too.
    level = [each.item() if isinstance(each, Tensor) and not each.ndim else each for each in level]
    for element in level:
        if isinstance(element, list | tuple):
            raise ShapeError(expected("lists nested to one depth", element=element))
        if scalar_kind(element) is None:
            raise OperandError(expected("Python numbers or nested lists of them", element=element))
    return tuple(shape), level


@bind
def rename(x: Tensor, *names: str | None, **renamed: str | None) -> Tensor:
    """The tensor under other axis names: all of them by position, or some by keyword.

    Raises `NamesError` or, for a keyword that is no axis' name, `AxisError`.

    >>> import tensorbackend as tb
    >>> tb.rename(tb.zeros((2, 3), names=("row", "column")), row="a").names
    ('a', 'column')
    """
    changed: list[str | None] = list(names or x.names)
    for old, new in renamed.items():
        changed[normalize_axis(x.template, old)] = new
    return Tensor(intern_template(x.shape, x.dtype, as_names(changed, x.ndim)), x.backend, x.data)
