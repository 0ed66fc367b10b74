"""Arrays of the stand-in: they refuse implicit conversion to NumPy's, and meet only those of their device."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from .devices import current_device, settings

module: Any = ModuleType("cupy")
"""The module `cupy` of the stand-in, whose functions operators call; the package fills it."""

NUMBERS = (bool, int, float, complex)


def unwrap(value: Any) -> Any:
    """Return the NumPy array inside a fake one, or a number unchanged; refuse NumPy arrays with a TypeError."""
    if isinstance(value, ndarray):
        if value.device.id != current_device():
            raise ValueError(f"array of device {value.device.id} met on device {current_device()}")
        return value._a
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {type(value)}")
    if isinstance(value, list | tuple):
        return type(value)(map(unwrap, value))
    return value


def wrap(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return ndarray(np.asarray(value))
    return tuple(map(wrap, value)) if isinstance(value, list | tuple) else value


def quietly(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*arguments, **options)

    return call


class Capsule:
    """The DLPack capsule of a fake array."""

    def __init__(self, array: ndarray) -> None:
        self.array = array


class ndarray:
    """An array in the memory of a device. It refuses implicit conversion to a NumPy array."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        assert type(array) is np.ndarray
        self._a, self.device = array, SimpleNamespace(id=current_device())
        if array.base is None:
            settings.pool += array.nbytes

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return getattr(module, ufunc.__name__)(*inputs) if method == "__call__" else NotImplemented

    # Attributes

    shape = property(lambda self: self._a.shape)
    dtype = property(lambda self: self._a.dtype)
    ndim = property(lambda self: self._a.ndim)
    size = property(lambda self: self._a.size)
    itemsize = property(lambda self: self._a.itemsize)
    nbytes = property(lambda self: self._a.nbytes)
    strides = property(lambda self: self._a.strides)
    flags = property(lambda self: self._a.flags)
    T = property(lambda self: self.transpose())
    data = property(lambda self: SimpleNamespace(ptr=self._a.__array_interface__["data"][0]))

    @property
    def real(self) -> Any:
        return wrap(unwrap(self).real)

    @real.setter
    def real(self, value: Any) -> None:
        self._a.real = unwrap(value)

    @property
    def imag(self) -> Any:
        return wrap(unwrap(self).imag)

    @imag.setter
    def imag(self, value: Any) -> None:
        self._a.imag = unwrap(value)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"version": 3, "shape": self.shape, "typestr": self.dtype.str, "data": (self.data.ptr, False)}

    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None
    ) -> Any:
        if dl_device == (1, 0):
            return self.get().__dlpack__(max_version=max_version)
        if copy:
            raise BufferError("copy=True only supported for copy to CPU.")
        return Capsule(self)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self.device.id

    # Methods

    @quietly
    def astype(self, dtype: Any, order: str = "K", *, copy: bool = True) -> Any:
        return wrap(unwrap(self).astype(dtype, copy=copy))

    def view(self, dtype: Any) -> Any:
        return wrap(unwrap(self).view(dtype))

    def copy(self) -> Any:
        return wrap(unwrap(self).copy())

    def reshape(self, *shape: Any) -> Any:
        return wrap(unwrap(self).reshape(*shape))

    def transpose(self, *axes: Any) -> Any:
        return wrap(unwrap(self).transpose(*axes))

    def swapaxes(self, first: int, second: int) -> Any:
        return wrap(unwrap(self).swapaxes(first, second))

    def take(self, indices: Any, axis: Any = None) -> Any:
        return wrap(unwrap(self).take(unwrap(indices), axis))

    def all(self, axis: Any = None) -> Any:
        return wrap(unwrap(self).all(axis=axis))

    def any(self, axis: Any = None) -> Any:
        return wrap(unwrap(self).any(axis=axis))

    def argmax(self, axis: Any = None) -> Any:
        return wrap(unwrap(self).argmax(axis=axis))

    def max(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        return wrap(unwrap(self).max(axis=axis, keepdims=keepdims))

    def min(self, axis: Any = None) -> Any:
        return wrap(unwrap(self).min(axis=axis))

    def tolist(self) -> Any:
        return self._a.tolist()

    def get(self) -> np.ndarray[Any, Any]:
        return self._a.copy()

    def __getitem__(self, key: Any) -> Any:
        return wrap(unwrap(self)[unwrap(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, NUMBERS):
            value = _filling(self.dtype.type(value))
        key, value = unwrap(key), unwrap(value)
        if isinstance(key, np.ndarray) and key.dtype.kind in "iu":  # on a GPU, any of the threads may write last
            value = np.broadcast_to(value, self._a[key].shape)[::-1]
            key = key[::-1]
        self._a[key] = value

    def __len__(self) -> int:
        return len(self._a)

    def __iter__(self) -> Iterator[Any]:
        return (self[position] for position in range(len(self)))

    def __bool__(self) -> bool:
        return bool(self._a)

    def __int__(self) -> int:
        return int(self._a)

    def __float__(self) -> float:
        return float(self._a)

    def __complex__(self) -> complex:
        return complex(self._a)


def _operators() -> None:
    """Define the operators of `ndarray` by the elementwise functions of the module."""
    names = {
        "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
        "mod": "remainder", "pow": "power", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
        "lshift": "left_shift", "rshift": "right_shift",
    }  # fmt: skip
    for operator, name in names.items():
        setattr(ndarray, f"__{operator}__", lambda self, other, name=name: getattr(module, name)(self, other))
        setattr(ndarray, f"__r{operator}__", lambda self, other, name=name: getattr(module, name)(other, self))
        setattr(
            ndarray, f"__i{operator}__", lambda self, other, name=name: getattr(module, name)(self, other, out=self)
        )
    compared = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal",
                "ne": "not_equal"}  # fmt: skip
    for operator, name in compared.items():
        setattr(ndarray, f"__{operator}__", lambda self, other, name=name: getattr(module, name)(self, other))
    for operator, name in {"neg": "negative", "invert": "invert", "abs": "abs"}.items():
        setattr(ndarray, f"__{operator}__", lambda self, name=name: getattr(module, name)(self))
    setattr(ndarray, "__matmul__", lambda self, other: module.matmul(self, other))  # noqa: B010 # for the type checker


_operators()


def _filling(value: Any) -> Any:
    """Return the number that CuPy fills an array with, given a number of the host: -0.0 becomes 0.0."""
    return np.zeros_like(value)[()] if value == 0 else value


def array(value: Any, dtype: Any = None) -> ndarray:
    """Copy a value to a new array on the current device."""
    if isinstance(value, ndarray):
        return ndarray(np.array(value._a, dtype))
    array = np.array(value, dtype)
    return ndarray(array if array.ndim else np.asarray(_filling(array[()]), array.dtype))


def full(shape: Any, value: Any, dtype: Any = None) -> ndarray:
    return ndarray(np.full(shape, _filling(np.asarray(unwrap(value), dtype)[()]), dtype))


def asarray(value: Any, dtype: Any = None) -> ndarray:
    if isinstance(value, ndarray) and (dtype is None or value.dtype == dtype) and value.device.id == current_device():
        return value
    return array(value, dtype)


def from_dlpack(array: Any) -> ndarray:
    if array.__dlpack_device__()[0] != 2:
        raise BufferError("CuPy array must be on a CUDA device")
    capsule = array.__dlpack__(stream=1, max_version=(1, 0))
    assert isinstance(capsule, Capsule), "a capsule of the fake library"
    shared = ndarray(capsule.array._a.view())
    shared.device.id = capsule.array.device.id
    return shared
