"""DLPack: devices and capsules of arrays; NumPy is imported when these functions are called, never before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..dtypes import bfloat16
from ..errors import expected
from .arrays import numpy_dtype

if TYPE_CHECKING:
    import numpy

DLPACK_DEVICES = {"cpu": 1, "cuda": 2, "gpu": 2, "metal": 8, "rocm": 10, "tpu": 12}
"""DLPack's device type for each kind of device; 12 is for extension devices, which have no type of their own."""

HOST = (1, 0)
"""DLPack's device type and number of host memory."""


def dlpack_device(device: str) -> tuple[int, int]:
    """DLPack's device type and number for a device; all host memory is one device, whichever processor computes on it.

    >>> dlpack_device("cpu:1"), dlpack_device("cuda:1"), dlpack_device("cuda")
    ((1, 0), (2, 1), (2, 0))
    """
    kind, _, number = device.partition(":")
    device_type = DLPACK_DEVICES.get(kind, DLPACK_DEVICES["tpu"])
    return device_type, 0 if kind == "cpu" else int(number or 0)


class OnDevice:
    """Another library's array, requested in a device's memory: its producer copies it or raises `BufferError`."""

    def __init__(self, array: Any, device: tuple[int, int]) -> None:
        self.array, self.device = array, device

    def __dlpack__(self, **options: Any) -> Any:
        if self.array.__dlpack_device__() != self.device:
            options["dl_device"] = self.device
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device


def dlpack_capsule(array: numpy.ndarray[Any, Any], options: Mapping[str, Any]) -> Any:
    """A DLPack capsule of a copy of a read-only array; with `copy=False`, of the array itself.

    DLPack 1.0 can mark memory as read-only, but some consumers ignore the flag: PyTorch writes to such
    memory.

    Parameters
    ----------
    array : numpy.ndarray
        A read-only array.
    options : mapping of str
        The options of `__dlpack__`.

    Returns
    -------
    capsule
        The capsule.

    Raises
    ------
    BufferError
        If the array has a negative stride and `copy=False` is among the options.

    Examples
    --------
    >>> import numpy
    >>> type(dlpack_capsule(numpy.zeros(2), {"copy": None})).__name__
    'PyCapsule'
    """
    words = array.view("u2") if array.dtype.name == "bfloat16" else array
    if options.get("copy") is False and array.size and any(stride < 0 for stride in array.strides):
        remedy = "leave copy out"  # some libraries end the process
        raise BufferError(expected("strides that every library takes, for copy=False", remedy, strides=array.strides))
    version = options.get("max_version")
    marked = version is not None and version >= (1, 0)
    if options.get("copy") is not False:
        capsule = words.__dlpack__(**{**options, "copy": True}) if marked else words.copy().__dlpack__(**options)
    else:
        capsule = (words if marked else _mark_writable(words)).__dlpack__(**options)
    if words is not array:
        _exchange_code(capsule, _UNSIGNED, _BFLOAT)
    return capsule


class UnsignedWords:
    """An array of another library, whose bfloat16 elements DLPack passes to NumPy as unsigned integers."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.bfloat16 = False
        """Whether the last capsule had bfloat16 elements."""

    def __dlpack__(self, **options: Any) -> Any:
        capsule = self.array.__dlpack__(**options)
        self.bfloat16 = _exchange_code(capsule, _BFLOAT, _UNSIGNED)
        return capsule

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def numpy_from_dlpack(array: Any) -> numpy.ndarray[Any, Any]:
    """NumPy's view of another library's array in host memory, bfloat16 too."""
    import numpy

    words = UnsignedWords(array)
    host_array = numpy.from_dlpack(words)
    return host_array.view(numpy_dtype(bfloat16)) if words.bfloat16 else host_array


_UNSIGNED, _BFLOAT = 1, 4
"""DLPack's codes of two kinds of dtypes."""


class Forward:
    """An array of another library for a consumer that aborts the process if a stride is negative, as PyTorch does.

    `__dlpack__` raises `BufferError` for an array with such a stride.
    """

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        capsule = self.array.__dlpack__(**options)
        start = _start(capsule)
        if start.strides and any(start.strides[axis] < 0 for axis in range(start.ndim)):
            raise BufferError("expected an array without negative strides; copy it first")
        return capsule

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def _exchange_code(capsule: Any, old: int, new: int) -> bool:
    """Whether the elements in a capsule have 16 bits and the code `old`; if so, their code becomes `new`."""
    start = _start(capsule)
    if (start.code, start.bits) != (old, 16):
        return False
    start.code = new
    return True


def _start(capsule: Any) -> Any:
    """The `DLTensor` in a DLPack capsule, except for the offset at its end."""
    import ctypes

    class Start(ctypes.Structure):
        """The start of `DLTensor`."""

        _fields_ = (
            ("data", ctypes.c_void_p),
            ("device", ctypes.c_int32 * 2),
            ("ndim", ctypes.c_int32),
            ("code", ctypes.c_uint8),
            ("bits", ctypes.c_uint8),
            ("lanes", ctypes.c_uint16),
            ("shape", ctypes.POINTER(ctypes.c_int64)),
            ("strides", ctypes.POINTER(ctypes.c_int64)),
        )

    class Versioned(ctypes.Structure):
        """The start of `DLManagedTensorVersioned`."""

        _fields_ = (
            ("version", ctypes.c_uint32 * 2),
            ("pointers", ctypes.c_void_p * 2),
            ("flags", ctypes.c_uint64),
            ("tensor", Start),
        )

    name = b"dltensor_versioned" if '"dltensor_versioned"' in repr(capsule) else b"dltensor"
    prototype = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    pointer = prototype(("PyCapsule_GetPointer", ctypes.pythonapi))
    address = pointer(capsule, name)
    return Versioned.from_address(address).tensor if name != b"dltensor" else Start.from_address(address)


def _mark_writable(array: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
    """The same memory as an array that is marked as writable, regardless of its owner."""
    import ctypes

    import numpy

    if not array.size:
        return numpy.empty(array.shape, array.dtype)
    low, high = numpy.lib.array_utils.byte_bounds(array)
    buffer: Any = (ctypes.c_char * (high - low)).from_address(low)
    buffer.owner = array  # keeps the memory alive
    start = array.__array_interface__["data"][0] - low
    return numpy.ndarray(array.shape, array.dtype, buffer=buffer, offset=start, strides=array.strides)


def is_shared(array: Any, x: Any) -> bool:
    """Whether a tensor made of an array shares its memory; true where it has none, as in a trace."""
    backend = x.backend
    if x.data is array or not x.size or not (backend.holds_data and backend.is_concrete(x)):
        return True
    import numpy

    return bool(numpy.may_share_memory(array, backend.to_numpy(x, None, None)))


class SharedTensor:
    """A tensor in the form that another backend's library imports: it shares the memory itself, not a copy.

    This is safe because no backend writes to a payload.
    """

    def __init__(self, x: Any) -> None:
        self.x = x

    def __dlpack__(self, **options: Any) -> Any:
        if options.get("copy") is None:
            options["copy"] = False
        return self.x.backend.to_dlpack(self.x, **options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.x.backend.dlpack_device()  # type: ignore[no-any-return] # a tensor, of a higher layer
