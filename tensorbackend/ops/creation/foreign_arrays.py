"""Tensors of arrays of other libraries: shared or copied, by NumPy's protocol or by DLPack."""

from __future__ import annotations

from typing import Any

from ...caching.option_keys import holds_entries, remember
from ...dtypes import as_dtype, scalar_kind
from ...errors import ArgumentError, DTypeError, ExchangeError, OperandError, TensorBackendError, expected
from ...interchange import ARRAYS, HOST, OnDevice, as_numpy, is_shared, to_plain_memory
from ...protocol import Backend, BackendLike
from ...select import backend_at, check_dtype_support, claimant, get_backend, library_backend
from ...template import NamesLike, Template, as_names, intern_template
from ...tensor import Tensor


def is_array(value: object) -> bool:
    """Whether a value is an array of another library, or one of its numbers with a dtype."""
    return scalar_kind(value) is None and any(hasattr(value, name) for name in ARRAYS)


shared_templates: dict[Any, tuple[Template, bool]] = {}
"""The templates of tensors made of NumPy arrays so far, and whether an array became the payload itself, by the type,
dtype and shape of the array and the backend; for float64 made by a shape alone, by that and the backend."""

holds_entries("templates of arrays", shared_templates)


def dims_of(array: Any) -> tuple[str, ...] | None:
    """The names of the axes of an array of a library with named axes, such as a `DataArray` of xarray."""
    dims = getattr(array, "dims", None)
    return dims if isinstance(dims, tuple) and all(isinstance(name, str) for name in dims) and dims else None


def data_of(array: Any) -> Any:
    """The array of this or another library that an array with named axes wraps; `None` where there is none."""
    if not isinstance(getattr(array, "dims", None), tuple):
        return None
    data = getattr(array, "data", None)
    return (
        data if isinstance(data, Tensor) or (is_array(data) and getattr(data, "shape", None) == array.shape) else None
    )


def tensor_of_array(value: Any, asked: BackendLike, device: str | None, copy: bool | None, names: NamesLike) -> Tensor:
    """The tensor of another library's array, on a backend, or by default where the array belongs.

    An array of the backend's own library is used without conversion. Any other comes by DLPack if it is on the
    backend's device and that is not the host, or if NumPy cannot read it, and else through NumPy. It is laid out by its
    names at once, so that no device of a mesh ever holds more than its part.
    """
    value = plain_array(value, copy)
    backend = backend_at(device, library_backend(value)) if asked is None else get_backend(asked, device=device)
    adopted = None if copy else backend.adopted(value)
    if adopted is not None:
        return Tensor(adopted[0], backend, adopted[1])
    place, unread = _place(value), None
    if place == HOST or place != backend.dlpack_device():
        try:
            array = as_numpy(value)
        except OperandError:  # it says itself what to take in its place
            raise
        except (AttributeError, TypeError, RuntimeError) as error:  # a dtype that NumPy lacks, traced, not on the host
            unread = error
            owner = claimant(value)
            if owner is not None:
                return Tensor(Template(value.shape, as_dtype(value.dtype), None), owner, value)
            if not hasattr(value, "__dlpack__"):
                _check_dtype(value)
                raise
        else:
            out = intern_template(array.shape, as_dtype(array.dtype), as_names(names, array.ndim))
            check_dtype_support(out.dtype, backend)
            made = Tensor(out, backend, backend.from_numpy(out, array, copy=copy is True))
            if copy is False and not is_shared(as_numpy(value), made):
                expectation = f"an array whose memory the backend {backend.name!r} can share"
                raise ArgumentError(expected(expectation, "leave copy out", array=type(value)))
            if array is value and names is None and not copy:
                remember(
                    shared_templates, (array.__class__, array.dtype, array.shape, backend), (out, made.data is array)
                )
            return made
    return tensor_by_dlpack(value, backend, device, copy, unread)


def plain_array(value: Any, copy: bool | None) -> Any:
    """Another library's array in plain memory.

    Raises `OperandError` for an array with a mask, and `ArgumentError` where `copy=False` and the elements are not in
    the memory as they are.
    """
    if hasattr(value, "mask") and hasattr(value, "filled"):
        raise OperandError(expected("an array without a mask", "fill it first with filled()", array=type(value)))
    plain = to_plain_memory(value)
    swapped = not getattr(getattr(value, "dtype", None), "isnative", True)
    if copy is False and (swapped or (plain is not value and (value.is_conj() or value.is_neg()))):
        raise ArgumentError(expected("an array whose memory holds its elements", "leave copy out", array=type(value)))
    return plain


def _place(array: Any) -> tuple[int, int]:
    """The device of an array as DLPack's type and number; the host if it is on several, from which NumPy gathers it."""
    try:
        place: tuple[int, int] = array.__dlpack_device__() if hasattr(array, "__dlpack_device__") else HOST
    except Exception:  # whatever the array's library raises
        return HOST
    return place


def tensor_by_dlpack(
    value: Any, backend: Backend, device: str | None, copy: bool | None, unread: Exception | None = None
) -> Tensor:
    """Imports an array by DLPack; if a `device` was given, the other library may have to copy it there.

    `unread` is the error with which NumPy's protocol failed, if it did; it says more than DLPack's.
    """
    asked = value if device is None else OnDevice(value, backend.dlpack_device())
    try:
        out, data = backend.from_dlpack(asked, copy=copy)
    except DTypeError:
        _check_dtype(value)
        raise
    except (TensorBackendError, MemoryError):
        raise
    except Exception as error:  # whatever the array's library raises
        _check_dtype(value)
        told = isinstance(error, BufferError) and str(error).startswith("expected ")  # by this library, with a remedy
        raise ExchangeError(f"{error if told else unread or error}") from error
    return Tensor(out, backend, data)


def _check_dtype(array: Any) -> None:
    """Raises `DTypeError` for an array of a dtype that tensors do not have."""
    dtype = getattr(array, "dtype", bool)
    as_dtype(dtype if hasattr(dtype, "name") else str(dtype).rpartition(".")[2])  # PyTorch's have no names
