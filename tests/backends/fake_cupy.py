"""A stand-in for CuPy on a machine without a GPU. It computes with NumPy and is as strict as CuPy.

It refuses what CuPy refuses: NumPy arrays as arguments, implicit conversion to NumPy arrays, dtypes without a loop (the
loops are CuPy's own, in cupy_loops.json), and options that CuPy's functions do not have. Where a GPU promises no
particular result, this module gives an inconvenient one: it writes repeated indices backwards. Operations that are
inexact or undefined on a GPU fail here.
"""

from __future__ import annotations

import functools
import json
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np

from tensorbackend.backends.binary import scalars

LOOPS: dict[str, list[tuple[str, str]]] = {
    name: [(loop.partition("->")[0], loop.partition("->")[2]) for loop in loops.split()]
    for name, loops in json.loads((Path(__file__).parent / "cupy_loops.json").read_text())["loops"].items()
}
_DTYPES = {"E": np.dtype(ml_dtypes.bfloat16)}
_NUMBERS = (bool, int, float, complex)
_state = threading.local()
_settings = SimpleNamespace(raises=False, geev=True, broken=False, devices=1, synchronized=0, pool=0, kernels=0)


@functools.cache
def _dtype(char: str) -> np.dtype[Any]:
    return _DTYPES.get(char) or np.dtype(char)


def _device() -> int:
    return getattr(_state, "device", 0)


def _plain(value: Any) -> Any:
    """Return the NumPy array inside a fake one, or a number unchanged; refuse NumPy arrays with a TypeError."""
    if isinstance(value, ndarray):
        if value.device.id != _device():
            raise ValueError(f"array of device {value.device.id} met on device {_device()}")
        return value._a
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {type(value)}")
    if isinstance(value, list | tuple):
        return type(value)(map(_plain, value))
    return value


def _wrap(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return ndarray(np.asarray(value))
    return tuple(map(_wrap, value)) if isinstance(value, list | tuple) else value


def _quietly(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*arguments, **options)

    return call


def _kind(scalar_type: Any) -> int:
    """Return the rank of a scalar type's kind, by which CuPy decides whether a Python number is weak."""
    if issubclass(scalar_type, bool | np.bool_):
        return 0
    if issubclass(scalar_type, int | np.integer):
        return 1
    return 2 if issubclass(scalar_type, float | complex | np.inexact) else 3


def _loop(name: str, inputs: Sequence[Any]) -> tuple[str, str]:
    """Return the first loop that takes the inputs, as CuPy does."""
    weak = tuple(type(x) if type(x) in _NUMBERS else None for x in inputs)
    return _loop_of(name, weak, tuple(np.asarray(x).dtype for x in inputs))


@functools.cache
def _loop_of(name: str, weak: tuple[Any, ...], strong: tuple[np.dtype[Any], ...]) -> tuple[str, str]:
    """Return the first loop that takes inputs of the types `weak`, with None for arrays, and of the dtypes `strong`."""
    arrays = [_kind(dtype.type) for dtype, w in zip(strong, weak, strict=True) if w is None]
    numbers = [_kind(w) for w in weak if w is not None]
    counts = bool(arrays and numbers) and max(arrays) >= max(numbers)
    for sources, results in LOOPS[name]:
        for dtype, w, char in zip(strong, weak, sources, strict=True):
            if w is not None and counts:
                fits = np.result_type(w(0), _dtype(char)) == _dtype(char)
            else:
                fits = np.can_cast(dtype, _dtype(char))
            if not fits:
                break
        else:
            return sources, results
    raise TypeError(f"Wrong type ({list(strong)}) of arguments for cupy_{name}")


def _flushed(values: Any) -> Any:
    """Replace subnormals of float32, complex64 and bfloat16 by zeros, as CuPy does: it compiles with -ftz=true."""
    if values.dtype.char == "F":
        parts = _flushed(np.ascontiguousarray(values).reshape(-1).view(np.float32))
        return parts.view(np.complex64).reshape(values.shape)
    if values.dtype.char not in "fE":
        return values
    tiny = np.abs(values.astype(np.float64)) < np.finfo(np.float32).tiny
    return np.where(tiny, np.copysign(values.dtype.type(0), values), values)


class Ufunc:
    """An elementwise function with the loops of CuPy's function of the same name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.function = np.where if name == "where" else getattr(np, name)

    @_quietly
    def __call__(self, *inputs: Any, out: Any = None) -> Any:
        count = len(LOOPS[self.name][0][0])
        if len(inputs) == count + 1:
            *rest, out = inputs
            inputs = tuple(rest)
        plain = list(map(_plain, inputs))
        for x in plain:
            if not isinstance(x, (np.ndarray, np.generic, *_NUMBERS)):
                raise TypeError(f"Unsupported type {type(x)}")
        sources, results = _loop(self.name, plain)
        plain = [_flushed(np.asarray(x).astype(_dtype(char))) for x, char in zip(plain, sources, strict=True)]
        self._check_defined(plain, sources)
        computed = self.function(*plain)
        if self.name == "hypot":  # on a GPU it is up to 2 ulps off, so it may overflow
            computed = np.where(computed >= np.nextafter(np.finfo(computed.dtype).max, 0), np.inf, computed).astype(
                computed.dtype
            )
        several = computed if isinstance(computed, tuple) else (computed,)
        converted = [
            _flushed(np.asarray(array).astype(_dtype(char))) for array, char in zip(several, results, strict=True)
        ]
        if out is not None:
            out._a[...] = converted[0]
            return out
        return _wrap(tuple(converted)) if isinstance(computed, tuple) else _wrap(converted[0])

    def _check_defined(self, plain: Sequence[Any], sources: str) -> None:
        if self.name in ("remainder", "floor_divide") and plain[0].dtype.kind not in "iu":
            raise AssertionError(f"{self.name} of floats is not exact on CuPy")
        if self.name == "nextafter" and sources[0] != "d":
            raise AssertionError("nextafter reaches no subnormal numbers on CuPy, and of float16 makes NaN of infinity")
        if self.name == "log" and plain[0].dtype.kind == "c":
            raise AssertionError("log of complex numbers loses digits near the unit circle on CuPy")
        if self.name in ("left_shift", "right_shift"):
            width = 8 * plain[0].dtype.itemsize
            assert ((plain[1] >= 0) & (plain[1] < width)).all(), "a shift by the width or more is undefined"
        if self.name == "where" and "E" in sources:
            raise AssertionError("CuPy's where has no loop for bfloat16")

    def at(self, target: Any, positions: Any, values: Any) -> None:
        """Add values at positions, in reverse order: the order of atomic additions on a GPU is undefined."""
        assert self.name == "add"
        if target.dtype.char not in "iIlLqQefd":
            raise TypeError("cupy.add.at only supports int32, int64, float16, float32, float64, uint32, uint64")
        _quietly(np.add.at)(target._a, _plain(positions)[::-1], _plain(values)[::-1])


class Device:
    """A CUDA device, current inside `with`."""

    def __init__(self, number: int) -> None:
        if number >= _settings.devices:
            raise RuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        self.id = number

    def __enter__(self) -> Device:
        _state.stack = [*getattr(_state, "stack", []), _device()]
        _state.device = self.id
        return self

    def __exit__(self, *error: object) -> None:
        *_state.stack, _state.device = _state.stack


class Capsule:
    """The DLPack capsule of a fake array."""

    def __init__(self, array: ndarray) -> None:
        self.array = array


class ndarray:
    """An array in the memory of a device. It refuses implicit conversion to a NumPy array."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        assert type(array) is np.ndarray
        self._a, self.device = array, SimpleNamespace(id=_device())
        if array.base is None:
            _settings.pool += array.nbytes

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
        return _wrap(_plain(self).real)

    @real.setter
    def real(self, value: Any) -> None:
        self._a.real = _plain(value)

    @property
    def imag(self) -> Any:
        return _wrap(_plain(self).imag)

    @imag.setter
    def imag(self, value: Any) -> None:
        self._a.imag = _plain(value)

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

    @_quietly
    def astype(self, dtype: Any, order: str = "K", *, copy: bool = True) -> Any:
        return _wrap(_plain(self).astype(dtype, copy=copy))

    def view(self, dtype: Any) -> Any:
        return _wrap(_plain(self).view(dtype))

    def copy(self) -> Any:
        return _wrap(_plain(self).copy())

    def reshape(self, *shape: Any) -> Any:
        return _wrap(_plain(self).reshape(*shape))

    def transpose(self, *axes: Any) -> Any:
        return _wrap(_plain(self).transpose(*axes))

    def swapaxes(self, first: int, second: int) -> Any:
        return _wrap(_plain(self).swapaxes(first, second))

    def take(self, indices: Any, axis: Any = None) -> Any:
        return _wrap(_plain(self).take(_plain(indices), axis))

    def all(self, axis: Any = None) -> Any:
        return _wrap(_plain(self).all(axis=axis))

    def any(self, axis: Any = None) -> Any:
        return _wrap(_plain(self).any(axis=axis))

    def argmax(self, axis: Any = None) -> Any:
        return _wrap(_plain(self).argmax(axis=axis))

    def max(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        return _wrap(_plain(self).max(axis=axis, keepdims=keepdims))

    def min(self, axis: Any = None) -> Any:
        return _wrap(_plain(self).min(axis=axis))

    def tolist(self) -> Any:
        return self._a.tolist()

    def get(self) -> np.ndarray[Any, Any]:
        return self._a.copy()

    def __getitem__(self, key: Any) -> Any:
        return _wrap(_plain(self)[_plain(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, _NUMBERS):
            value = _filling(self.dtype.type(value))
        key, value = _plain(key), _plain(value)
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


# Functions that are not elementwise, with the options that CuPy's versions take besides the arrays
_FUNCTIONS = {
    "all": "axis keepdims", "any": "axis keepdims", "max": "axis keepdims", "min": "axis keepdims",
    "sum": "axis dtype keepdims", "prod": "axis dtype keepdims", "cumsum": "axis dtype", "cumprod": "axis dtype",
    "cumulative_sum": "axis dtype include_initial", "argmax": "axis", "argmin": "axis", "sort": "axis kind",
    "argsort": "axis kind", "argwhere": "", "flatnonzero": "", "nonzero": "", "arange": "dtype",
    "ascontiguousarray": "", "broadcast_arrays": "", "broadcast_to": "", "clip": "", "concatenate": "axis",
    "count_nonzero": "",
    "diagonal": "axis1 axis2", "diff": "axis", "empty": "", "empty_like": "", "expand_dims": "", "eye": "k dtype",
    "flip": "", "ix_": "", "matmul": "", "moveaxis": "", "ones": "", "ones_like": "",
    "searchsorted": "side", "swapaxes": "", "take": "axis", "take_along_axis": "axis", "tril": "", "triu": "",
    "unique": "", "vdot": "", "zeros": "",
}  # fmt: skip


def _function(name: str, options: str, place: Any = np) -> Callable[..., Any]:
    allowed = set(options.split())

    @_quietly
    def call(*arguments: Any, **keywords: Any) -> Any:
        if "out" in keywords and name == "matmul":
            keywords["out"]._a[...] = np.matmul(*map(_plain, arguments))
            return keywords["out"]
        if not set(keywords) <= allowed:
            raise TypeError(f"cupy.{name} has no options {set(keywords) - allowed}")
        if name in ("sort", "argsort"):
            assert keywords.get("kind", "stable") == "stable"
            keywords["kind"] = "stable"
        if name in ("empty", "empty_like"):  # on a GPU this memory is not initialised
            memory = getattr(place, name)(*map(_plain, arguments), **keywords)
            memory[...] = 1
            return _wrap(memory)
        result = getattr(place, name)(*map(_plain, arguments), **keywords)
        if name in ("argmax", "argmin"):
            result = _last_missing(_plain(arguments[0]), result, **keywords)
        if name == "cumprod" and result.dtype.kind == "c":
            result = _from_the_right(_plain(arguments[0]), result, **keywords)
        if name in ("tril", "triu") and not result.size and result.dtype == _DTYPES["E"]:
            result = result.astype(np.float32)
        return _wrap(result)

    return call


def _last_missing(values: Any, positions: Any, axis: Any = None) -> Any:
    """Return the positions of extremes, but the position of the last NaN where there are NaNs."""
    if values.dtype.kind != "f" or not np.isnan(values).any():
        return positions
    missing = np.isnan(values).reshape(-1) if axis is None else np.isnan(values)
    along = 0 if axis is None else axis
    last = missing.shape[along] - 1 - np.argmax(np.flip(missing, along), axis=along)
    return np.where(missing.any(axis=along), last, positions)


def _from_the_right(values: Any, products: Any, axis: int, dtype: Any = None) -> Any:
    """Return running products of complex numbers, multiplied in another order if any of them is not finite."""
    if np.isfinite(products).all():
        return products
    rows, product_rows = np.moveaxis(values.astype(products.dtype), axis, 0), np.moveaxis(products, axis, 0)
    for stop in range(1, len(rows)):
        product = rows[stop]
        for row in rows[:stop][::-1]:
            product = row * product
        product_rows[stop] = product
    return products


def _filling(value: Any) -> Any:
    """Return the number that CuPy fills an array with, given a number of the host: -0.0 becomes 0.0."""
    return np.zeros_like(value)[()] if value == 0 else value


def _array(value: Any, dtype: Any = None) -> ndarray:
    """Copy a value to a new array on the current device."""
    if isinstance(value, ndarray):
        return ndarray(np.array(value._a, dtype))
    array = np.array(value, dtype)
    return ndarray(array if array.ndim else np.asarray(_filling(array[()]), array.dtype))


def _full(shape: Any, value: Any, dtype: Any = None) -> ndarray:
    return ndarray(np.full(shape, _filling(np.asarray(_plain(value), dtype)[()]), dtype))


def _asarray(value: Any, dtype: Any = None) -> ndarray:
    if isinstance(value, ndarray) and (dtype is None or value.dtype == dtype) and value.device.id == _device():
        return value
    return _array(value, dtype)


def _from_dlpack(array: Any) -> ndarray:
    if array.__dlpack_device__()[0] != 2:
        raise BufferError("CuPy array must be on a CUDA device")
    capsule = array.__dlpack__(stream=1, max_version=(1, 0))
    assert isinstance(capsule, Capsule), "a capsule of the fake library"
    shared = ndarray(capsule.array._a.view())
    shared.device.id = capsule.array.device.id
    return shared


# cupy.linalg


def _cholesky(matrix: Any) -> Any:
    try:
        return _wrap(np.linalg.cholesky(_plain(matrix)))
    except np.linalg.LinAlgError:
        if _settings.raises:
            raise
        return _wrap(np.full(matrix.shape, math.nan, matrix.dtype))


def _solve(matrix: Any, right: Any) -> Any:
    assert matrix.shape[:-1] == right.shape[:-1]
    assert matrix.size
    assert right.size
    try:
        return _wrap(np.linalg.solve(_plain(matrix), _plain(right)))
    except np.linalg.LinAlgError:
        if _settings.raises:
            raise
        return _wrap(np.full(right.shape, math.inf, right.dtype))


def _eig(matrix: Any) -> Any:
    if not _settings.geev:
        raise RuntimeError("geev is not available")
    if _settings.broken:
        raise RuntimeError("cudaErrorIllegalAddress: an illegal memory access was encountered")
    values, vectors = np.linalg.eig(_plain(matrix))
    kind = np.result_type(matrix.dtype, "complex64")
    return _wrap((values.astype(kind), vectors.astype(kind)))


@contextmanager
def _errstate(*, linalg: str) -> Iterator[None]:
    before, _settings.raises = _settings.raises, linalg == "raise"
    try:
        yield
    finally:
        _settings.raises = before


def _solve_triangular(matrix: Any, right: Any, *, trans: int, lower: bool) -> Any:
    assert matrix.shape[:-1] == right.shape[:-1]
    triangle = (np.tril if lower else np.triu)(_plain(matrix))
    wide = (triangle.swapaxes(-2, -1) if trans else triangle).astype(np.result_type(triangle.dtype, np.float64))
    return _wrap(np.linalg.solve(wide, _plain(right).astype(wide.dtype)).astype(matrix.dtype))


def _lu_factor(matrix: Any, *, check_finite: bool) -> Any:
    import scipy.linalg

    assert matrix.ndim == 2
    assert matrix.size
    assert matrix.dtype.char in "fdFD"
    return _wrap(scipy.linalg.lu_factor(_plain(matrix), check_finite=check_finite))


def _elementwise(function: Callable[[float], float]) -> Callable[[Any], Any]:
    return lambda x: _wrap(np.array(list(map(function, _plain(x).tolist())), np.float64).reshape(x.shape))


class Pool:
    """The memory pool. It counts the bytes of all arrays that were made since it was last freed."""

    def total_bytes(self) -> int:
        return int(_settings.pool)

    def free_all_blocks(self) -> None:
        _settings.pool = 0


class Stream:
    def synchronize(self) -> None:
        _settings.synchronized += 1


def _fuse(function: Callable[..., Any]) -> Callable[..., Any]:
    """Fuse a function into one kernel. CuPy traces it with stand-ins, so it may call only ufuncs and hold no array."""
    assert function.__name__.isidentifier(), "it names the kernel"
    held = [cell.cell_contents for cell in function.__closure__ or ()]
    for helper in [value for value in held if hasattr(value, "__globals__")]:
        held += [value for name, value in helper.__globals__.items() if name != "__builtins__" and value is not helper]
    assert not any(isinstance(value, ndarray) for value in held)
    assert all(isinstance(value, Ufunc) for value in held if callable(value) and not hasattr(value, "__code__"))

    def call(*arrays: Any) -> Any:
        assert all(isinstance(array, ndarray) for array in arrays)
        _settings.kernels += 1
        return function(*arrays)

    return call


def _modules() -> dict[str, Any]:
    cupy: Any = ModuleType("cupy")
    cupy.__version__ = "14.2.0"
    cupy.ndarray, cupy.array, cupy.asarray, cupy.full, cupy.from_dlpack = ndarray, _array, _asarray, _full, _from_dlpack
    cupy.asnumpy = lambda x: x.get()
    cupy.inf, cupy.nan, cupy.finfo, cupy.broadcast_shapes = np.inf, np.nan, np.finfo, np.broadcast_shapes
    cupy.result_type = lambda *values: np.result_type(*map(_plain, values))
    cupy.ufunc, cupy.fuse = Ufunc, _fuse
    for name in LOOPS:
        setattr(cupy, name, Ufunc(name))
    cupy.where = lambda condition, x, y: Ufunc("where")(condition.astype("?"), x, y)
    for name, options in _FUNCTIONS.items():
        setattr(cupy, name, _function(name, options))
    cupy.fft = SimpleNamespace(
        **{name: _function(name, "n axis norm", np.fft) for name in ("fft", "ifft", "rfft", "irfft")}
    )
    strided = np.lib.stride_tricks.as_strided
    cupy.lib = SimpleNamespace(
        stride_tricks=SimpleNamespace(as_strided=lambda x, shape, strides: _wrap(strided(_plain(x), shape, strides)))
    )
    plain = {"qr": "mode", "eigh": "UPLO", "svd": "full_matrices"}
    cupy.linalg = SimpleNamespace(
        LinAlgError=np.linalg.LinAlgError, cholesky=_cholesky, solve=_solve, eig=_eig,
        **{name: _function(name, options, np.linalg) for name, options in plain.items()},
    )  # fmt: skip
    cupy.cuda = SimpleNamespace(
        Device=Device, get_current_stream=Stream, nvrtc=SimpleNamespace(getVersion=lambda: (12, 8)),
        runtime=SimpleNamespace(
            getDeviceCount=lambda: _settings.devices,
            runtimeGetVersion=lambda: 12080,
            getDeviceProperties=lambda number: {
                "name": f"GPU {number}".encode(), "totalGlobalMem": 80 << 30, "multiProcessorCount": 132,
            },
        ),
    )  # fmt: skip
    cupy.get_default_memory_pool = Pool
    cupyx: Any = ModuleType("cupyx")
    cupyx.errstate = _errstate
    functions: Any = ModuleType("cupyx.scipy.special")
    functions.erf, functions.erfc = _elementwise(math.erf), _elementwise(math.erfc)
    functions.erfinv = _elementwise(scalars.erf_inv)
    solvers: Any = ModuleType("cupyx.scipy.linalg")
    solvers.solve_triangular, solvers.lu_factor = _solve_triangular, _lu_factor
    return {"cupy": cupy, "cupyx": cupyx, "cupyx.scipy.special": functions, "cupyx.scipy.linalg": solvers}


MODULES = _modules()
"""The modules of the stand-in, to put into `sys.modules`."""

module = MODULES["cupy"]
settings = _settings
_operators()
