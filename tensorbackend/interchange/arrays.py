"""NumPy's view of dtypes and bytes; NumPy is imported when these functions are called, never before."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ..dtypes import DType, as_dtype, uint8
from ..dtypes.types import BY_NAME
from ..errors import ArgumentError, DTypeError, OperandError, expected
from ..template import Template

if TYPE_CHECKING:
    import numpy


@cache
def numpy_dtype(dtype: DType) -> numpy.dtype[Any]:
    """NumPy's dtype for one of ours; for bfloat16 it is that of ml_dtypes.

    Parameters
    ----------
    dtype : DType
        One of our dtypes.

    Returns
    -------
    numpy.dtype
        NumPy's dtype.

    Examples
    --------
    >>> from tensorbackend.dtypes import float32
    >>> numpy_dtype(float32)
    dtype('float32')
    """
    counterpart: numpy.dtype[Any] = dtype.dtype
    return counterpart


@cache
def payload_dtype(dtype: DType) -> numpy.dtype[Any]:
    """NumPy's dtype of the elements in a payload: uint8 for a narrow dtype, whose payloads hold codes.

    Parameters
    ----------
    dtype : DType
        As for `numpy_dtype`.

    Returns
    -------
    numpy.dtype
        The dtype of the array that a payload is.

    Examples
    --------
    >>> from tensorbackend.dtypes import float8_e5m2, float32
    >>> payload_dtype(float8_e5m2), payload_dtype(float32)
    (dtype('uint8'), dtype('float32'))
    """
    return numpy_dtype(uint8 if dtype.is_narrow else dtype)


@lru_cache(256)
def scalar_dtype(number_class: type) -> DType | None:
    """The dtype of NumPy's numbers of a class, `None` for any other class.

    >>> import numpy
    >>> scalar_dtype(numpy.float64), scalar_dtype(float)
    (float64, None)
    """
    numpy = sys.modules.get("numpy")
    if numpy is None or not issubclass(number_class, numpy.generic):
        return None
    try:
        return as_dtype(numpy.dtype(number_class))
    except (DTypeError, TypeError):
        return None


_REFLECTED = ("__radd__", "__rsub__", "__rmul__", "__rtruediv__", "__rmatmul__")


ARRAYS = ("__array__", "__dlpack__", "__array_interface__")
"""The attributes of another library's array, which has one or more of them."""


def as_numpy(value: Any) -> numpy.ndarray[Any, Any]:
    """Another library's array as a NumPy array in native byte order.

    The array must have `__array__` or `__array_interface__`.
    """
    narrow = _narrow_of_torch(value)
    if narrow is not None:
        return narrow
    import numpy

    direct = hasattr(value, "__array__") or not hasattr(value, "__array_interface__")
    # What a class gives may be an array of `tensorbackend.numpy`.
    array: numpy.ndarray[Any, Any] = numpy.asarray(value.__array__() if direct else value)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _narrow_of_torch(value: Any) -> numpy.ndarray[Any, Any] | None:
    """The array of a PyTorch tensor of float8, which PyTorch itself does not give to NumPy; `None` for other values."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.Tensor) or value.dtype.itemsize != 1:
        return None
    dtype = BY_NAME.get(str(value.dtype).removeprefix("torch."))
    if dtype is None or not dtype.is_narrow or dtype.bits != 8:
        return None
    array: numpy.ndarray[Any, Any] = value.view(torch.uint8).numpy().view(numpy_dtype(dtype))
    return array


def to_plain_memory(value: Any) -> Any:
    """Another library's array as one whose memory holds its elements; only tensors of PyTorch need a conversion.

    Such a tensor is detached from its graph, and the conjugate or the negative of another tensor is computed, which
    PyTorch does lazily and its DLPack capsules do not declare. Raises `OperandError` for a tensor that has no such
    memory.
    """
    if not hasattr(value, "resolve_neg"):
        return value
    kinds = {
        "nested": (value.is_nested, "use torch.nested.to_padded_tensor()"),
        "quantised": (value.is_quantized, "use its dequantize()"),
        "sparse": (not str(value.layout).endswith("strided"), "use its to_dense()"),
        "meta": (value.is_meta, "use tb.template() for a tensor without data"),
    }
    for kind, (is_one, remedy) in kinds.items():
        if is_one:
            raise OperandError(expected("an array with its elements in memory", remedy, array=_Kind(kind)))
    try:
        fake = value.untyped_storage().device.type == "meta"
    except (RuntimeError, NotImplementedError):  # a value of a transform of PyTorch's has no storage
        fake = True
    if fake:  # its address is not that of memory
        remedy = "leave the transform or the mode first"
        raise OperandError(expected("an array with its elements in memory", remedy, array=_Kind("traced")))
    attached = value.requires_grad
    return (value.detach() if attached else value).resolve_conj().resolve_neg()


class _Kind(NamedTuple):
    """A kind of tensors of PyTorch, as errors show it."""

    kind: str

    def __repr__(self) -> str:
        return f"<{self.kind} torch.Tensor>"


def namespace_of(values: Iterable[object]) -> Any:
    """The NumPy namespace if one of the values is an array of it, else `None`.

    opt_einsum calls `tensordot` and `einsum` of the package in which the class of an array is, which is this one both
    for tensors and for arrays of the namespace.
    """
    arrays: Iterator[Any] = (value for value in values if getattr(type(value), "holds_tensor", False))
    return next((array.__array_namespace__() for array in arrays), None)


def is_plain_array(value: object) -> bool:
    """Whether a value is an array that an op takes as an operand.

    A value that NumPy could read but that has its own operators is more than an array, such as a `pandas.Series` with
    its index. Our operators defer to that operand, and our functions tell the user to write `asarray(value)`.
    """
    if getattr(type(value), "holds_tensor", False):  # of the NumPy namespace: errors name its tensor
        return False
    if hasattr(value, "__dlpack__") or hasattr(value, "__array_interface__"):
        return True
    return hasattr(value, "__array__") and not any(hasattr(value, name) for name in _REFLECTED)


def numpy_from_binary(template: Template, data: bytes, dtype: Any, copy: bool | None) -> numpy.ndarray[Any, Any]:
    """A NumPy array over bytes: read-only and without a copy, unless another dtype or a copy is requested.

    Raises `ArgumentError` for `copy=False` if a copy is needed.
    """
    import numpy

    array = numpy.frombuffer(data, numpy_dtype(template.dtype)).reshape(template.shape)
    return read_only(array, dtype, copy)


_ALIGNMENT = 64
"""Bytes; XLA shares other libraries' memory that starts at a multiple of this, and copies any other memory."""

_LEAST_ALIGNED_BYTES = 1 << 16
"""The number of bytes from which a copy costs more than finding an aligned place."""


def aligned_copy(array: numpy.ndarray[Any, Any], dtype: numpy.dtype[Any]) -> numpy.ndarray[Any, Any]:
    """A row-major copy of an array in a dtype; a large copy is in memory that other libraries can share."""
    import numpy

    if array.size * dtype.itemsize < _LEAST_ALIGNED_BYTES:
        return array.astype(dtype, order="C", copy=True, subok=False)
    room = numpy.empty(array.size * dtype.itemsize + _ALIGNMENT, numpy.uint8)
    start = -room.ctypes.data % _ALIGNMENT
    copied = room[start : start + array.size * dtype.itemsize].view(dtype).reshape(array.shape)
    copied[...] = array
    return copied


def read_only(array: numpy.ndarray[Any, Any], dtype: Any, copy: bool | None) -> numpy.ndarray[Any, Any]:
    """A read-only view of an array, or a writable copy if one is requested or needed for the dtype.

    Parameters
    ----------
    array : numpy.ndarray
        An array.
    dtype : dtype, optional
        A dtype of NumPy's to cast to; `None` for the array's own.
    copy : bool, optional
        Whether to copy: always, never, or for `None` if the dtype needs it.

    Returns
    -------
    numpy.ndarray
        The view, or the copy.

    Examples
    --------
    >>> import numpy
    >>> array = numpy.zeros(2)
    >>> read_only(array, None, None).flags.writeable, read_only(array, None, True).flags.writeable
    (False, True)
    """
    import numpy

    if dtype is not None and numpy.dtype(dtype) != array.dtype:
        if copy is False:
            raise ArgumentError(expected("a dtype that needs no copy, for copy=False", "leave copy out", dtype=dtype))
        return array.astype(dtype)
    if copy:
        return array.copy()
    view = array.view()
    view.flags.writeable = False
    return view
