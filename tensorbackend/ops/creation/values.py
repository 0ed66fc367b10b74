"""Tensors of values: nested lists of numbers, arrays of other libraries, tensors, in any mixture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from itertools import chain
from typing import Any, Final, NamedTuple, Never

from ...caching.option_keys import NUMBERS
from ...declarations.argument_errors import check_arguments
from ...declarations.signature_errors import adapt
from ...docstrings import document
from ...dtypes import (
    DType,
    DTypeLike,
    Kind,
    Scalar,
    as_dtype,
    check_scalars,
    complex128,
    default_dtype,
    float64,
    holds_kind,
    scalar_kind,
)
from ...dtypes.packing import element_type, pack
from ...errors import ArgumentError, ExchangeError, OperandError, OutOfRangeError, ShapeError, expected
from ...errors.remedies import of_element
from ...protocol import Backend, BackendLike
from ...rules.broadcasting import result_type
from ...rules.plan import flag
from ...rules.shape import template_without_names
from ...select import (
    backend_at,
    check_dtype_support,
    creation_backend,
    get_backend,
    home_of,
    library_backend,
    move,
    with_numbers_moved,
)
from ...select.default import current
from ...template import MAX_AXES, NamesLike, Shape, Template, intern_template, is_deep, weak_template
from ...tensor import Like, Tensor, TensorLike, bind, blank_tensor, public_op, rename_like
from .foreign_arrays import data_of, dims_of, is_array, plain_array, shared_templates, tensor_by_dlpack, tensor_of_array


@check_arguments
def tensor(
    value: Any,
    dtype: DTypeLike | None = None,
    *,
    names: NamesLike = None,
    backend: BackendLike = None,
    device: str | None = None,
    like: Like = None,
) -> Tensor:
    """Make a tensor with a copy of values: an array, a tensor, or nested lists of numbers, arrays and tensors.

    By default the dtype is that of the value. Python numbers have the default dtype of their widest kind, or the dtype
    of 64 bits a part if a float exceeds that; next to arrays and tensors they are weak and take their dtype. A
    `dtype` casts as `astype` does, but Python numbers of a kind that it holds must be in its range. Raises
    `ShapeError` for ragged lists, `OutOfRangeError` for a number outside the dtype, and `OperandError` for values other
    than numbers and for a masked array, whose mask would be lost. A copy that is made in a trace, as in `jit`, belongs
    to the trace, so traced values can be assigned to its elements.

    >>> tb.tensor([[1, 2], [3, 4]], dtype="f32", names=("row", None))
    f32[row: 2][2] numpy
    [[1.0, 2.0],
     [3.0, 4.0]]
    """
    if like is not None:
        backend, device = creation_backend(backend, device, like), None
    return _from_value(value, dtype, names, backend, device, copy=True, stays=like is not None)


@bind
@document
def asarray(
    value: Any,
    /,
    dtype: DTypeLike | None = None,
    *surplus: Never,
    names: NamesLike = None,
    copy: bool | None = None,
    backend: BackendLike = None,
    device: str | None = None,
    like: Like = None,
    **unknown: Never,
) -> Tensor:
    """Convert values to a tensor, which shares the memory of a tensor or array if possible.

    An array of a library that has a backend stays there, on its device; NumPy's arrays, and those of a library without
    a backend, go to the default backend. In a traced function an array is a constant, which follows the operands next
    to it. `copy=True` never shares, and `copy=False` raises `ArgumentError` if a copy is needed. The axes of an array
    with `dims`, such as a `DataArray` of xarray, have these names, unless `names` are given.

    >>> tb.asarray([0.5, 1]).dtype
    float32
    """
    if surplus or unknown:
        adapt(asarray, (value, dtype, *surplus), unknown)
    if like is not None:
        backend, device = creation_backend(backend, device, like), None
    if dtype is None and names is None and device is None and (copy is None or copy is False):
        if value.__class__ is Tensor and backend is None:
            return value
        chosen = current() if backend is None else get_backend(backend)
        try:
            out, shared = shared_templates[value.__class__, value.dtype, value.shape, chosen]
        except (AttributeError, KeyError, TypeError, RuntimeError):  # a nested tensor of PyTorch has no shape
            pass  # so that no error below has this one as its context
        else:
            if shared or copy is None:
                made = blank_tensor()  # filled here, since `Tensor(...)` takes twice as long
                made.template = out
                made.backend = chosen
                made.data = value if shared else chosen.from_numpy(out, value, copy=False)
                return made
    return _from_value(value, dtype, names, backend, device, copy=copy, stays=like is not None)


def operand_tensor(value: TensorLike, *others: object) -> Tensor:
    """A value as a tensor; a number or array is moved to the backend of the tensors among the other operands."""
    if isinstance(value, Tensor):
        return value
    tensors = [operand for operand in others if isinstance(operand, Tensor)]
    return beside(value, home_of(tensors or [value]), next_to=_dtype_of_numbers(tensors))


def operand_tensors(*values: TensorLike) -> list[Tensor]:
    """Values as tensors; numbers and arrays are put on the backend of the tensors among them, else the default one.

    So are tensors without axes that follow tensors on another backend.
    """
    tensors = [value for value in values if isinstance(value, Tensor)]
    if len(tensors) == len(values):
        return with_numbers_moved(tensors)
    home, dtype = home_of(tensors or values), _dtype_of_numbers(tensors)
    return [value if isinstance(value, Tensor) else beside(value, home, next_to=dtype) for value in values]


def _dtype_of_numbers(tensors: Sequence[Tensor]) -> DType | None:
    return next((x.dtype for x in tensors if x.dtype in _DOUBLE), None)


def beside(value: Any, home: Backend, dtype: DType | None = None, *, next_to: DType | None = None) -> Tensor:
    """A value as a tensor on a backend; what a trace or a tape records stays there, alone or in a list.

    `next_to` is the dtype with which it will compute: next to doubles Python's floats and complex numbers are doubles
    too, as rounding them to the default dtype first would lose half of their digits.
    """
    return _from_value(value, dtype, None, home, None, None, stays=True, double=next_to in _DOUBLE)


@check_arguments
def from_dlpack(
    x: Any, /, *, copy: bool | None = None, backend: BackendLike = None, device: str | None = None
) -> Tensor:
    """Make a tensor from another library's array by DLPack. It shares the memory unless `copy` is true.

    The array must be on the backend's device, unless a `device` is given: then the other library copies it there.
    Raises `ExchangeError`, a `BufferError`, if the memory cannot be shared.

    >>> import numpy, tensorbackend as tb
    >>> tb.from_dlpack(numpy.asarray([1.5])).tolist()
    [1.5]
    """
    if isinstance(x, Tensor):
        return asarray(x, copy=copy, backend=backend, device=device)
    if not hasattr(x, "__dlpack__"):
        raise OperandError(expected("an array with __dlpack__", "use asarray()", x=x))
    copy = None if copy is None else flag(copy=copy)
    plain = plain_array(x, copy)
    chosen = backend_at(device, library_backend(plain)) if backend is None else get_backend(backend, device=device)
    try:
        return tensor_by_dlpack(plain, chosen, device, copy)
    except ExchangeError as error:
        raise ExchangeError(f"{error.message or error}; use asarray(), which may copy") from error


def _from_value(
    value: Any,
    dtype: DTypeLike | None,
    names: NamesLike,
    backend: BackendLike,
    device: str | None,
    copy: bool | None,
    *,
    stays: bool = False,
    double: bool = False,
) -> Tensor:
    """A tensor of a value on a backend; with `stays`, a tensor that a trace or a tape records stays there."""
    target_dtype = None if dtype is None else as_dtype(dtype)
    copy = None if copy is None else flag(copy=copy)
    value = _held(value)
    if isinstance(value, Tensor):
        if stays and device is None and value.backend.dispatch_priority > 1:
            backend = value.backend
        if backend is None:
            recorder = current()
            # A copy that is made in a trace belongs to it, so that traced values can be assigned to its elements.
            records = bool(copy) and value.backend.holds_data and not (recorder.holds_data or recorder.template_only)
            chosen = backend_at(device, recorder if records else value.backend)
        else:
            chosen = get_backend(backend, device=device)
        converted = move(value, chosen)
        if copy and converted is value:
            converted = Tensor(value.template, chosen, value.data)  # payloads never change
    elif value.__class__ is not list and is_array(value):
        data = data_of(value)
        if data is not None:  # it may be traced, or on a device, where a conversion through the host is none
            return _from_value(
                data, dtype, dims_of(value) if names is None else names, backend, device, copy, stays=stays
            )
        names = dims_of(value) if names is None else names
        converted = tensor_of_array(value, backend, device, copy, names)
    else:
        if copy is False:
            raise ArgumentError(expected("a tensor or an array to share", "leave copy out", value=value))
        converted = _from_lists(value, target_dtype, backend, device, names, stays, double)
    casts = target_dtype is not None and converted.dtype is not target_dtype
    if copy is False and (casts or (isinstance(value, Tensor) and converted is not value)):
        expectation = "a tensor or an array of the requested dtype and backend to share"
        raise ArgumentError(expected(expectation, "leave copy out", dtype=target_dtype))
    if casts:
        converted = public_op("astype")(converted, target_dtype)
    if names is not None:
        converted = rename_like(converted, Template(converted.shape, converted.dtype, names))
    return converted


# Lists

_WIDEST_FIRST: Final[tuple[Kind, ...]] = "complex", "float", "int", "bool"
_KINDS: Final = {number_class: kind for number_class in NUMBERS if (kind := scalar_kind(number_class())) is not None}
"""The kinds of Python's own numbers by class."""


_DOUBLE: Final = frozenset({float64, complex128})

_LISTS: Final = frozenset({list, tuple, range})
"""The usual classes of nested lists; subclasses of these are lists too."""

_MANY_LEVELS = 4
"""The number of nested levels at which to check for a list that contains itself."""


class _Numbers(NamedTuple):
    """Nested lists, flattened."""

    shape: Shape
    elements: Sequence[Scalar]
    kinds: Set[Kind]
    dtypes: Set[DType]
    """The dtypes of elements that were NumPy scalars."""


def _from_lists(
    value: Any,
    target_dtype: DType | None,
    backend: BackendLike,
    device: str | None,
    names: NamesLike,
    stays: bool,
    double: bool,
) -> Tensor:
    """A number or nested lists in the target dtype or, if its kind is too narrow to hold them, in their own dtype."""
    flattened = _flatten(value)
    if flattened is None:
        if is_deep(value):
            raise _too_deep(value)
        dtype = result_type([*_templates(value)]) if target_dtype is None else target_dtype
        stacked = _stack_lists(value, dtype, home_of(map(_held, _elements(value))))
        if backend is None and device is None:
            return stacked
        return _from_value(stacked, None, None, backend, device, None, stays=stays)
    shape, elements, kinds, dtypes = flattened
    widest, by_default = next((kind for kind in _WIDEST_FIRST if kind in kinds), None), False
    if target_dtype is not None and (widest is None or holds_kind(target_dtype, widest)):
        dtype = target_dtype
    elif dtypes:
        dtype = result_type(
            [weak_template(widest or "float"), *(intern_template((), element_dtype, ()) for element_dtype in dtypes)]
        )
    else:
        dtype, by_default = default_dtype(widest or "float"), True
        if double and dtype.is_inexact:
            dtype = _widest_of(dtype)
    chosen = get_backend(backend, device=device)
    try:
        check_scalars(elements, dtype)
    except OutOfRangeError:
        if not by_default or not dtype.is_inexact:
            raise
        dtype = _widest_of(dtype)
        check_scalars(elements, dtype)
    check_dtype_support(dtype, chosen)
    out = template_without_names(shape, dtype) if names is None else Template(shape, dtype, names)
    numbers = elements if len(kinds) == 1 and widest == dtype.kind else map(element_type(dtype), elements)
    return Tensor(out, chosen, chosen.from_binary(out, data=pack(numbers, dtype)))


def _widest_of(dtype: DType) -> DType:
    return complex128 if dtype.is_complex else float64


def _flatten(value: Any) -> _Numbers | None:
    """Shape and elements of nested lists or tuples; for `[[1, 2], [3, 4]]`, `(2, 2)` and `[1, 2, 3, 4]`.

    `None` where tensors, or arrays other than NumPy's without axes, are among the elements.
    """
    shape: list[int] = []
    level, classes = [value], {type(value)}
    while (
        level
        and not NUMBERS.issuperset(classes)
        and (
            _LISTS.issuperset(classes)
            or all(issubclass(element_class, list | tuple | range) for element_class in classes)
        )
    ):
        lengths = set(map(len, level))
        if len(lengths) > 1:
            raise ShapeError(expected("lists of equal length at each level", "pad them", lengths=sorted(lengths)))
        shape.append(lengths.pop())
        if len(shape) == _MANY_LEVELS and is_deep(value):
            raise _too_deep(value)
        level = list(chain.from_iterable(level))
        classes = set(map(type, level))
    if NUMBERS.issuperset(classes):
        return _Numbers(tuple(shape), level, {_KINDS[element_class] for element_class in classes}, frozenset())
    others = [(place, element) for place, element in enumerate(level) if scalar_kind(element) is None]
    if any(
        isinstance(element, Tensor) or (is_array(element) and not _is_numpys_number(element)) for _, element in others
    ):
        return None
    dtypes = set()
    for place, element in others:
        if isinstance(element, list | tuple | range):
            raise ShapeError(expected("lists nested to equal depth", element=element))
        if not is_array(element):
            remedy = of_element(element)
            raise OperandError(expected("Python numbers or nested lists of them", remedy, element=element))
        dtypes.add(as_dtype(element.dtype))
        level[place] = element.item()
    kinds = {kind for kind in map(scalar_kind, level) if kind is not None}
    return _Numbers(tuple(shape), level, kinds, dtypes)


def _too_deep(value: Any) -> ShapeError:
    return ShapeError(expected(f"lists nested at most {MAX_AXES} deep", value=value))


def _is_numpys_number(value: Any) -> bool:
    """Whether a value is a NumPy scalar, or a NumPy array without axes and without a mask."""
    return type(value).__module__ == "numpy" and getattr(value, "shape", None) == () and not hasattr(value, "mask")


def _templates(value: Any) -> Iterable[Template]:
    """Templates without axes for the numbers, arrays and tensors in nested lists, each dtype once."""
    if isinstance(value, list | tuple | range):
        return dict.fromkeys(chain.from_iterable(map(_templates, value)))
    kind = scalar_kind(value)
    if kind is not None:
        return (weak_template(kind),)
    dtype = value.dtype if isinstance(value, Tensor) else asarray(value).dtype
    return (intern_template((), dtype, ()),)


def _held(value: Any) -> Any:
    """The tensor of an array of the NumPy namespace; any other value unchanged."""
    return value.tensor if getattr(type(value), "holds_tensor", False) else value


def _elements(value: Any) -> Iterable[Any]:
    """The elements of nested lists."""
    return chain.from_iterable(map(_elements, value)) if isinstance(value, list | tuple) else (value,)


def _stack_lists(value: Any, dtype: DType, home: Backend) -> Tensor:
    """Nested lists with arrays or tensors among them as one tensor, on the backend of the tensors."""
    if {*map(type, value)} == {Tensor}:  # as is most common
        tensors: list[Any] = [*value]
        return public_op("stack")([x if x.dtype is dtype else asarray(x, dtype=dtype) for x in tensors])
    # Another library's array, or a list, is moved to the backend of the tensors next to it.
    parts = [
        element if is_array(element) else _stack_lists(element, dtype, home) if _flatten(element) is None else element
        for element in value
    ]
    return public_op("stack")([
        asarray(part, dtype=dtype) if isinstance(_held(part), Tensor) else asarray(part, dtype=dtype, backend=home)
        for part in parts
    ])  # fmt: skip
