"""CupyBackend: NumPy's body on the arrays of CuPy, in the memory of a CUDA device.

CuPy is imported when the backend is first used; without CuPy or a device, a `BackendError` says what is missing.
Callbacks run on CuPy's current stream.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..dtypes import ALL_DTYPES, STORED_DTYPES, DType, as_dtype, float64
from ..errors import ArgumentError, BackendError, UnsupportedOp, expected
from ..errors.remedies import install_remedy
from ..interchange import HOST, numpy_dtype, payload_dtype, read_only
from ..protocol import Backend, Kernel, Payload, defines, kernel_of, planned
from ..protocol.core import Core
from ..protocol.devices import DeviceFacts
from ..protocol.linalg import Transform
from ..rules.data_errors import singular_matrix
from ..template import Template
from ..tensor import Tensor
from .array_module import ArrayModuleBackend
from .array_module.base import Array, Function
from .array_module.precision import computing_kernel
from .array_module.special import error_function as special
from .cupy_module import CupyModule
from .libraries import import_library

if TYPE_CHECKING:
    import numpy

_OLDEST = 14
"""The first major version of CuPy with bfloat16 and eigenvalues of non-symmetric matrices."""

_EXTRAS = ("cuda12", "cuda13")


class CupyBackend(ArrayModuleBackend):
    """CuPy arrays on one CUDA device: `CupyBackend(device=1)`, or `device="cuda:1"`; by default on the first device."""

    name = "cupy"
    array_types = ("cupy:ndarray",)
    dtypes = STORED_DTYPES
    dlpack_dtypes = frozenset(ALL_DTYPES)

    @classmethod
    def init(cls, **options: object) -> Mapping[str, Hashable]:
        """The number of the device, given as a number or as `"cuda:1"`; `ArgumentError` for anything else."""
        device = options.pop("device", 0)
        super().init(**options)
        kind, _, number = str(device).rpartition(":")
        if not number.isdecimal() or (isinstance(device, str) and kind != "cuda"):
            raise ArgumentError(expected("a CUDA device such as 1 or 'cuda:1'", device=device))
        return {"device": int(number)}

    def setup(self) -> None:
        """Imports CuPy and looks for the device; `BackendError` or `ArgumentError` says what is missing."""
        cupy = import_library("cupy", self.name, *_EXTRAS)
        if int(cupy.__version__.partition(".")[0]) < _OLDEST:
            raise BackendError(expected(f"CuPy {_OLDEST} or newer", install_remedy(*_EXTRAS), version=cupy.__version__))
        self._cupy, self._cupyx = cupy, import_library("cupyx", self.name, *_EXTRAS)
        number: int = self.options["device"]  # type: ignore[assignment] # by init
        self.device = f"cuda:{number}"
        devices = self.devices()
        self.check_device(self.device, devices)
        self._require_compiler()
        self._device = cupy.cuda.Device(number)
        self.xp, self.fuse = CupyModule(cupy, self._cupyx), cupy.fuse
        if len(devices) > 1:
            self._enter_the_device_in_callbacks()

    def _require_compiler(self) -> None:
        """Raises `BackendError` without NVRTC, which compiles CuPy's kernels and comes with CUDA or with an extra."""
        try:
            self._cupy.cuda.nvrtc.getVersion()
        except Exception as failure:  # DynamicLibNotFoundError, whose module differs between versions of CuPy
            remedy = install_remedy(*_EXTRAS)
            error = f"{type(failure).__name__}: {str(failure).partition(chr(10))[0]}"
            raise BackendError(
                expected(f"CUDA's compiler NVRTC for the backend {self.name!r}", remedy, error=error)
            ) from failure

    def versions(self) -> Mapping[str, str]:
        """CuPy's version and that of the CUDA runtime, which CUDA reports as 12080 for 12.8."""
        cuda = self._cupy.cuda.runtime.runtimeGetVersion()
        return {**super().versions(), "cuda": f"{cuda // 1000}.{cuda % 1000 // 10}"}

    # Devices

    def devices(self) -> tuple[str, ...]:
        """The CUDA devices of this machine."""
        try:
            count = self._cupy.cuda.runtime.getDeviceCount()
            error = "no device"
        except Exception as failure:  # CUDARuntimeError, whose module must not be imported here
            count, error = 0, f"{type(failure).__name__}: {failure}"
        if not count:
            remedy = "use a machine with an NVIDIA GPU and its driver, or another backend"
            raise BackendError(expected(f"a CUDA device for the backend {self.name!r}", remedy, error=error))
        return tuple(f"cuda:{number}" for number in range(count))

    def device_facts(self, device: str, /) -> DeviceFacts:
        """The properties that CUDA reports for a device."""
        properties = self._cupy.cuda.runtime.getDeviceProperties(int(device.rpartition(":")[2]))
        name = properties["name"].decode() if isinstance(properties["name"], bytes) else str(properties["name"])
        return DeviceFacts("gpu", int(properties["totalGlobalMem"]), int(properties["multiProcessorCount"]), name)

    def block_until_ready(self, x: Tensor, /) -> None:
        """Waits for the current stream of the device."""
        with self._device:
            self._cupy.cuda.get_current_stream().synchronize()

    def _enter_the_device_in_callbacks(self) -> None:
        """Makes callbacks enter their device, as CuPy allocates on its current device, which may be another one."""
        for name in dir(type(self)):
            method = getattr(self, name)
            if callable(method) and not name.startswith("_") and not defines(Core, name):
                vars(self)[name] = self._entered_callback(method)

    def _entered_callback(self, method: Callable[..., Payload]) -> Callable[..., Payload]:
        def callback(*arguments: Any, **options: Any) -> Payload:
            with self._device:
                return method(*arguments, **options)

        return callback

    # Memory

    def backend_deallocate(self, x: Tensor, /) -> None:
        """Does nothing: memory returns to CuPy's pool when its last array is freed; see `release_memory`."""

    def release_memory(self) -> int:
        """Gives the unused memory of CuPy's pool back to the device, and returns the number of bytes."""
        with self._device:
            pool = self._cupy.get_default_memory_pool()
            before: int = pool.total_bytes()
            pool.free_all_blocks()
            return before - int(pool.total_bytes())

    # Transport

    def from_binary(self, out: Template, /, *, data: bytes) -> Payload:
        """The elements copied to the device."""
        import numpy

        return self._to_device(numpy.frombuffer(data, payload_dtype(out.dtype)).reshape(out.shape))

    def to_binary(self, x: Tensor, limit: int, /) -> bytes:
        """The first `limit` elements as bytes; no others are copied to the host."""
        with self._device:
            chosen = x.data if limit >= x.size else x.data.reshape(-1)[:limit]
            data: bytes = self._cupy.asnumpy(chosen).tobytes()
        return data

    def from_numpy(self, out: Template, array: numpy.ndarray[Any, Any], /, *, copy: bool) -> Payload:
        """The array copied to the device."""
        if out.dtype.is_narrow:
            array = array.view(payload_dtype(out.dtype))
        return self._to_device(array.astype(payload_dtype(out.dtype), copy=False))

    def to_numpy(self, x: Tensor, dtype: Any, copy: bool | None, /) -> numpy.ndarray[Any, Any]:
        """The payload copied to the host; `copy=False` raises `ValueError`."""
        if copy is False:
            raise ValueError("expected data in host memory for copy=False, got data in device memory; leave copy out")
        with self._device:
            array: numpy.ndarray[Any, Any] = self._cupy.asnumpy(x.data)
        if x.dtype.is_narrow:
            array = array.view(numpy_dtype(x.dtype))
        return array.astype(dtype or array.dtype, copy=False) if copy else read_only(array, dtype, copy)

    def exported(self, x: Tensor, /) -> Any:
        """A copy, as a program may keep the payload; CuPy has no arrays of narrow dtypes."""
        if x.dtype.is_narrow:
            remedy = "cast with astype() before returning it"
            raise UnsupportedOp(expected("a dtype of CuPy's arrays", remedy, dtype=x.dtype), x.dtype)
        with self._device:
            return x.data.copy()

    def to_batched(self, x: Tensor, size: int, /) -> Iterator[Payload]:
        for start in range(0, x.shape[0], size):
            with self._device:
                batch = x.data[start : start + size].copy()
            yield batch

    def _to_device(self, array: Array) -> Array:
        with self._device:
            return self._cupy.array(array) if array.ndim else self.xp.asarray(array).copy()

    def to_dlpack(self, x: Tensor, /, **options: Any) -> Any:
        """A capsule of a copy, as CuPy cannot mark memory as read-only; with `copy=False`, of the memory itself.

        The consumer's stream waits for the current one.
        """
        data, copy = x.data, options.pop("copy", None)
        if options.get("dl_device") in (None, self.dlpack_device()):
            with self._device:
                data, copy = data if copy is False else data.copy(), False
        return data.__dlpack__(copy=copy, **options)

    def from_dlpack(self, array: Any, /, *, copy: bool | None) -> tuple[Template, Payload]:
        """Device memory is shared, host memory copied."""
        if array.__dlpack_device__() == HOST:
            if copy is False:
                raise BufferError(
                    "expected data in device memory for copy=False, got data in host memory; leave copy out"
                )
            return super().from_dlpack(array, copy=copy)
        try:
            with self._device:
                data = self._cupy.from_dlpack(array)
                data = data.copy() if copy else data
        except (RuntimeError, TypeError, ValueError) as error:
            raise BufferError(str(error)) from error
        return Template(data.shape, as_dtype(data.dtype), None), data

    def from_backend(self, x: Tensor, /, *, copy: bool) -> Payload:
        """The payload of any backend's tensor; between CUDA devices CuPy copies by itself."""
        if isinstance(x.backend, CupyBackend) and (copy or x.backend is not self):
            return self._to_device(x.data)
        return super().from_backend(x, copy=copy)

    def cuda_array_interface(self, x: Tensor, /) -> Mapping[str, Any] | None:
        """CuPy's own interface, marked as read-only."""
        interface: Mapping[str, Any] = x.data.__cuda_array_interface__
        return {**interface, "data": (interface["data"][0], True)}

    # Results that would depend on the order of threads

    def add_at(self, target: Array, positions: Array, values: Array) -> None:
        """Adds atomically, which CuPy can do for real numbers of 32 and 64 bits; others are added by way of these."""
        add = self._cupy.add
        if target.dtype.kind == "c":
            for part in ("real", "imag"):
                line = getattr(target, part).copy()
                add.at(line, positions, getattr(values, part).copy())
                setattr(target, part, line)
        elif target.dtype.kind in "iu" and target.dtype.itemsize < 4:
            wide = target.astype("int32")
            add.at(wide, positions, values.astype("int32"))
            target[...] = wide.astype(target.dtype)  # wraps round
        else:
            add.at(target, positions, values)

    def put_at(self, target: Array, positions: Array, rows: Array) -> None:
        """Writes only the last row for each position, as CuPy writes rows for repeated positions in any order."""
        cupy = self._cupy
        if not positions.size:
            return
        order = cupy.argsort(positions, kind="stable")
        ordered = positions[order]
        last = order[cupy.concatenate((ordered[1:] != ordered[:-1], cupy.ones(1, bool)))]
        target[positions[last]] = rows[last]

    # Single functions of CUDA's libraries that keep the bounds on errors

    determinant = Backend.determinant  # not overridden: CuPy's is the exponential of a sum of logarithms

    def special_function(self, function: Function, dtype: DType) -> Function:
        """CUDA's float64 error functions; for float64 results ours, as CUDA's are off by up to 8 ulps.

        Source: CUDA C++ programming guide, mathematical functions, double precision: erf 2, erfc 5, erfinv 8.
        """
        name = {special.erf: "erf", special.erfc: "erfc", special.erf_inv: "erfinv"}.get(function)
        if dtype is float64 or name is None:
            return function
        functions = import_library("cupyx.scipy.special", self.name, *_EXTRAS)
        return lambda xp, values: getattr(functions, name)(values)

    def elimination(self, x: Template) -> Kernel:
        """Elimination by cuSOLVER, one matrix at a time.

        Complex matrices take the shared elimination, as cuSOLVER chooses their pivots by the sum of the parts' sizes.
        """
        general = super().elimination(x)
        if x.dtype.is_complex or not x.size:
            return general
        xp, functions = self.xp, import_library("cupyx.scipy.linalg", self.name, *_EXTRAS)
        rows = x.shape[-2]

        def eliminate(matrix: Array) -> tuple[Array, Array]:
            import numpy

            factors = xp.empty(matrix.shape, matrix.dtype)
            order = numpy.tile(numpy.arange(rows), (*x.shape[:-2], 1))
            for place in numpy.ndindex(*x.shape[:-2]):
                with warnings.catch_warnings():  # which say that a matrix is singular
                    warnings.simplefilter("ignore", RuntimeWarning)
                    factored, pivots = functions.lu_factor(matrix[place], check_finite=False)
                factors[place] = factored
                at = order[place]
                for row, pivot in enumerate(self._cupy.asnumpy(pivots).tolist()):
                    at[row], at[pivot] = at[pivot], at[row]
            return factors, xp.asarray(order)

        return eliminate

    @planned
    def triangular_solve(
        self, out: Template, a: Template, b: Template, /, *, left_side: bool, lower: bool, transform: Transform
    ) -> Kernel:
        """Solves by cuBLAS; where stacks broadcast or an element is not finite, by the shared substitution."""
        options: Any = {"left_side": left_side, "lower": lower, "transform": transform}
        general = kernel_of(super().triangular_solve, out, a, b, **options)
        if not out.size or a.shape[:-2] != b.shape[:-2]:
            return general
        xp, functions = self.xp, import_library("cupyx.scipy.linalg", self.name, *_EXTRAS)
        turned = (transform == "transpose") == left_side  # x @ a = b is a.T @ x.T = b.T

        def solution(matrix: Array, right: Array) -> Array:
            if not xp.diagonal(matrix, axis1=-2, axis2=-1).all():
                raise singular_matrix()
            columns = right if left_side else xp.swapaxes(right, -2, -1)
            solved = functions.solve_triangular(matrix, columns, trans=1 if turned else 0, lower=lower)
            return solved if left_side else xp.swapaxes(solved, -2, -1)

        quick = computing_kernel(solution, out, a, b)

        def solve(matrix: Array, right: Array) -> Array:
            finite = xp.isfinite(matrix).all() and xp.isfinite(right).all()
            return quick(matrix, right) if finite else general(matrix, right)

        return solve
