"""The base of the adapter: which values belong to it, their dtypes, devices and conversions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextvars import ContextVar
from math import prod
from numbers import Number
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
import tensorbackend as tb
from phiml.backend import Backend as PhimlBackend
from phiml.backend import ComputeDevice
from phiml.backend._backend import get_precision

from .devices import compute_devices
from .dtypes import COMPLEX, FLOATS, NUMBERS, TO_PHIML, combined, from_phiml, steady
from .networks import Network

Operand = Any
"""What PhiML passes to a backend as a tensor: a tensor, a NumPy array, a Python number or a list of these."""

tracing: ContextVar[tuple[Base, ...]] = ContextVar("tensorbackend_phiml_tracing", default=())
"""The adapters whose functions are being traced, the innermost last."""

LABELS = {"numpy": "NumPy", "jax": "JAX", "torch": "PyTorch", "cupy": "CuPy", "binary": "Binary"}


class Base(PhimlBackend):
    """The part of PhiML's backend over one of ours that defines its tensors."""

    traces: ClassVar[int] = 0
    """How many times functions of `jit_compile` were traced, on all backends."""

    def __init__(self, base: tb.Backend) -> None:
        # PhiML searches the names of backends for "numpy", "jax" and "torch" in lower case; ours must not match.
        self.base = base
        """The backend on which new tensors are made; each device has its own backend."""
        self.jit = True
        """Whether PhiML compiles functions; otherwise it runs those of `jit_compile` as they are."""
        devices = compute_devices(self, base)
        default_device = next(device for device in devices if device.ref[1] == base.device)
        super().__init__(f"tensorbackend:{LABELS.get(base.name, base.name.title())}", devices, default_device)

    # Identity

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        from .registry import backend

        return backend, (self.base.name,)

    @property
    def as_registered(self) -> Any:
        """The instance that PhiML knows, or the profiler in its place."""
        from phiml.backend import BACKENDS

        return next((backend for backend in BACKENDS if backend == self), self)

    def supports(self, feature: str | Callable[..., Any]) -> bool:
        """Whether a function of PhiML's protocol is available: none of `ABSENT`, of compilation only with `jit`."""
        name = feature if isinstance(feature, str) else feature.__name__
        return name not in ABSENT and (self.jit or not name.startswith("jit_compile")) and super().supports(name)

    def prefers_channels_last(self) -> bool:
        """True: PhiML puts channels last, which is faster where memory is read row by row."""
        return True

    def requires_fixed_shapes_when_tracing(self) -> bool:
        """True, because the template of a traced tensor has a fixed shape."""
        return True

    def nn_library(self) -> Any:
        """What `phiml.nn` calls: networks and optimisers made of `tb.nn` and `tb.optimize`."""
        from .nn import NeuralNetworks

        return NeuralNetworks(self)

    def module(self, variables: dict[str, Any], forward: Callable[..., Any] | None = None) -> Any:
        """PhiML asks each backend for modules of variables. Raises `NotImplementedError`, as parameters are tensors."""
        raise NotImplementedError(f"{self.name} has no modules of variables; parameters are tensors")

    # Precision and dtypes

    @property
    def float_type(self) -> Any:
        """PhiML's dtype for new floating tensors."""
        return TO_PHIML[self._float]

    @property
    def complex_type(self) -> Any:
        """PhiML's dtype for new complex tensors."""
        return TO_PHIML[self._complex]

    @property
    def _float(self) -> tb.DType:
        return FLOATS[get_precision() or 32]

    @property
    def _complex(self) -> tb.DType:
        return COMPLEX[get_precision() or 32]

    def combine_types(self, *dtypes: Any) -> Any:
        """The dtype to which PhiML casts operands of these dtypes."""
        return TO_PHIML[combined(tuple(map(from_phiml, dtypes)), get_precision())]

    def dtype(self, array: Operand) -> Any:
        """PhiML's dtype of a value; a Python int counts as int32, a float as float64."""
        return TO_PHIML[self._dtype(array)]

    def _dtype(self, x: Operand) -> tb.DType:
        if type(x) is tb.Tensor:
            return x.template.dtype
        dtype = NUMBERS.get(type(x))
        if dtype is None:
            dtype = x.dtype if self.is_sparse(x) else self._tensor(x).dtype
        return dtype

    def auto_cast(self, *tensors: Operand, bool_to_int: bool = False, int_to_float: bool = False) -> list[Any]:
        """Convert values to tensors of their common dtype by PhiML's rules."""
        dtypes = tuple(map(self._dtype, tensors))
        target = combined(dtypes, get_precision(), bool_to_int, int_to_float)
        return [self._cast(x, target) for x in tensors]

    def auto_cast1(self, tensor: Operand) -> Any:
        """Cast a floating or complex value to the current precision; a Python number is not converted."""
        if isinstance(tensor, Number) and type(tensor) in NUMBERS:
            return tensor
        dtype = self._dtype(tensor)
        target = combined((dtype,), get_precision())
        return tensor if target is dtype else self._cast(tensor, target)

    def cast(self, x: Operand, dtype: Any) -> Any:
        """Cast a value to one of PhiML's dtypes."""
        return self._cast(x, from_phiml(dtype))

    def _cast(self, x: Operand, dtype: tb.DType) -> Any:
        if type(x) is not tb.Tensor:
            if self.is_sparse(x):
                return x.astype(dtype)
            x = self._tensor(x)
        source_dtype = x.template.dtype
        if source_dtype is dtype:
            return x
        if source_dtype.is_complex and not dtype.is_complex:
            x = tb.real(x)
        return tb.astype(x, dtype)

    def _pair(self, a: Operand, b: Operand, bool_to_int: bool = False, int_to_float: bool = False) -> tuple[Any, Any]:
        """Cast two operands to their common dtype by PhiML's rules.

        If one operand is a tensor and the other a Python number, the number is not converted, which is faster.
        """
        precision = get_precision()
        if type(a) is tb.Tensor and type(b) is tb.Tensor:
            dtype = a.template.dtype
            if dtype is b.template.dtype and dtype in steady(precision, bool_to_int, int_to_float):
                return a, b
        target = combined((self._dtype(a), self._dtype(b)), precision, bool_to_int, int_to_float)
        if type(b) in NUMBERS and type(a) not in NUMBERS:
            return self._cast(a, target), b
        if type(a) in NUMBERS and type(b) not in NUMBERS:
            return a, self._cast(b, target)
        return self._cast(a, target), self._cast(b, target)

    def to_float(self, x: Operand) -> Any:
        """Cast a value to the floating dtype of the current precision."""
        return self._cast(x, self._float)

    def _floating(self, x: Operand) -> Any:
        """A tensor that is floating or complex; others are cast as by `to_float`."""
        x = self._tensor(x)
        return x if x.dtype.is_inexact else self.to_float(x)

    def to_complex(self, x: Operand) -> Any:
        """Cast a value to the complex dtype of the current precision."""
        return self._cast(x, self._complex)

    def to_int32(self, x: Operand) -> Any:
        """Cast a value to int32."""
        return self._cast(x, tb.int32)

    def to_int64(self, x: Operand) -> Any:
        """Cast a value to int64."""
        return self._cast(x, tb.int64)

    # Which values belong to this backend

    def is_module(self, obj: Any) -> bool:
        """Whether a value is a network of this adapter."""
        return isinstance(obj, Network) and obj.adapter is self

    def is_tensor(self, x: Any, only_native: bool = False) -> bool:
        """Whether a value is a tensor of this backend or of a trace of its functions.

        Unless `only_native`, NumPy arrays, numbers and lists of these count too.
        """
        if isinstance(x, tb.Tensor):
            return self._owns(x)
        if self.is_sparse(x):
            return all(map(self._owns, self.disassemble(x)[1]))
        if only_native:
            return False
        if isinstance(x, np.ndarray):
            return x.dtype.kind in "biufc"
        if isinstance(x, Number | np.bool_):
            return True
        return isinstance(x, tuple | list) and all(self.is_tensor(item) for item in x)

    def _owns(self, x: tb.Tensor) -> bool:
        holder = x.backend
        if holder is self.base:
            return True
        beneath = holder.beneath
        if isinstance(beneath, tb.ExprBackend):
            tracers = tracing.get()
            return not tracers or tracers[-1] is self
        return beneath.name == self.base.name

    def is_available(self, tensor: Operand) -> bool:
        """Whether the data of a value can be read. The data of a traced tensor cannot."""
        if isinstance(tensor, tb.Tensor):
            return not isinstance(tensor.backend, tb.ExprBackend)
        if self.is_sparse(tensor):
            return all(map(self.is_available, self.disassemble(tensor)[1]))
        return not isinstance(tensor, tuple | list) or all(map(self.is_available, tensor))

    # Conversions

    def as_tensor(self, x: Operand, convert_external: bool = True) -> Any:
        """Convert a value to a tensor in the current precision; unless `convert_external`, keep Python numbers."""
        if not convert_external and type(x) in NUMBERS:
            return x
        return self.auto_cast1(x if self.is_tensor(x, only_native=True) else self._tensor(x))

    def _tensor(self, x: Operand) -> Any:
        """Convert a value to a tensor without changing its dtype; Python's floats have 64 bits, as NumPy's."""
        if isinstance(x, tb.Tensor):
            return x
        if isinstance(x, tuple | list) and any(isinstance(item, tb.Tensor | tuple | list) for item in x):
            return tb.stack([self._tensor(item) for item in x]) if x else tb.zeros((0,), backend=self.base)
        return tb.asarray(np.asarray(x) if isinstance(x, float | complex | tuple | list) else x, backend=self.base)

    def variable(self, x: Operand) -> Any:
        """Same as `as_tensor`: `jacobian` says which arguments to differentiate by, so no tensor needs a mark."""
        return self.as_tensor(x)

    def numpy(self, tensor: Operand) -> Any:
        """Copy a value to a writable NumPy array, or a sparse matrix to a SciPy matrix."""
        if isinstance(tensor, tb.Tensor):
            return np.array(tensor)
        if self.is_sparse(tensor):
            return self._scipy(tensor)
        return np.array([self.numpy(item) for item in tensor] if isinstance(tensor, tuple | list) else tensor)

    def _scipy(self, matrix: Any) -> Any:
        """Convert a sparse matrix to a SciPy sparse matrix, as PhiML does not recognise SciPy's sparse arrays."""
        sparse_array = matrix.to_scipy()
        kinds = {"coo": scipy.sparse.coo_matrix, "csr": scipy.sparse.csr_matrix, "csc": scipy.sparse.csc_matrix}
        return kinds[matrix.format](sparse_array)

    def to_dlpack(self, tensor: Operand) -> Any:
        """A DLPack capsule of a tensor."""
        return self._tensor(tensor).__dlpack__()

    def from_dlpack(self, capsule: Any) -> Any:
        """Make a tensor from a DLPack capsule, or from an array of another library."""
        producer = capsule if hasattr(capsule, "__dlpack__") else _Capsule(capsule, self.base.dlpack_device())
        return tb.from_dlpack(producer, backend=self.base)

    def from_external_array_dlpack(self, external_array: Any) -> Any:
        """Convert an array of another library to a tensor, sharing memory where possible."""
        if isinstance(external_array, tb.Tensor):
            return external_array.backend_copy(self.base)
        return tb.asarray(external_array, backend=self.base)

    def copy(self, tensor: Operand, only_mutable: bool = False) -> Any:
        """Copy a tensor. An assignment to the tensor or to the copy does not change the other."""
        native = self._tensor(tensor) if not self.is_sparse(tensor) else tensor
        return native.__copy__() if isinstance(native, tb.Tensor) else native

    def block_until_ready(self, values: Any) -> None:
        """Wait until the data of values, nested in tuples and lists, is computed."""
        if isinstance(values, tb.Tensor):
            values.block_until_ready()
        elif isinstance(values, tuple | list):
            for value in values:
                self.block_until_ready(value)

    def call(self, f: Callable[..., Any], *args: Any, name: str | None = None) -> Any:
        """Return `f(*args)`. PhiML's profiler records the call under `name`."""
        return f(*args)

    # Devices

    def set_default_device(self, device: Any) -> bool:
        """Make new tensors on a device, or on the first device of a type; warn and return False if there is none."""
        if isinstance(device, str):
            devices = self.list_devices(device)
            if not devices:
                warnings.warn(f"{self.name}: there is no device of type {device!r}", RuntimeWarning, stacklevel=2)
                return False
            device = devices[0]
        assert device.backend is self, f"expected a device of {self.name}, got {device}"
        self._default_device: ComputeDevice = device
        self.base = tb.get_backend(self.base.name, device=device.ref[1])
        return True

    def get_device(self, tensor: Operand) -> Any:
        """The device that holds a tensor."""
        holder = tensor.backend if isinstance(tensor, tb.Tensor) else self.base
        place = self.base.device if isinstance(holder, tb.ExprBackend) else holder.device
        return self.get_device_by_ref((self.base.name, place))

    def allocate_on_device(self, tensor: Operand, device: Any) -> Any:
        """Move a tensor to a device."""
        x = self._tensor(tensor)
        return x if isinstance(x.backend, tb.ExprBackend) else x.to_device(device.ref[1])

    # Shape

    def shape(self, tensor: Operand) -> tuple[int, ...]:
        """The size of each axis."""
        if type(tensor) is tb.Tensor:
            return tensor.template.shape
        if isinstance(tensor, Number):
            return ()
        return tuple(tensor.shape) if hasattr(tensor, "shape") else self._tensor(tensor).shape

    def staticshape(self, tensor: Operand) -> tuple[int, ...]:
        """Same as `shape`, as sizes are always known."""
        return self.shape(tensor)

    def ndims(self, tensor: Operand) -> int:
        """The number of axes."""
        return len(self.shape(tensor))

    def size(self, array: Operand) -> int:
        """The number of elements."""
        return prod(self.shape(array))

    def sizeof(self, tensor: Operand) -> int:
        """The size of the data in bytes."""
        if self.is_sparse(tensor):
            return sum(part.nbytes for part in self.disassemble(tensor)[1])
        return int(self._tensor(tensor).nbytes)


ABSENT = frozenset({"module", "get_peak_memory", "reset_peak_memory"})
"""Functions of PhiML's protocol that the adapter lacks: modules of variables, and the peak memory of a device."""


class _Capsule:
    """Wrap a DLPack capsule in an object with the array interface of DLPack, so that it can be imported once."""

    def __init__(self, capsule: Any, device: tuple[int, int]) -> None:
        self._capsule, self._device = capsule, device

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device
