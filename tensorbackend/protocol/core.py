"""What a backend has besides ops: identity, lifecycle, and transport of tensors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ..caching import module_lock
from ..display import ends, show
from ..dtypes import ALL_DTYPES, DType, DTypeLike, Scalar, as_dtype
from ..dtypes.packing import unpack
from ..errors import ArgumentError, UnsupportedOp, expected
from ..interchange import (
    HOST,
    SharedTensor,
    dlpack_capsule,
    dlpack_device,
    is_shared,
    numpy_from_binary,
    numpy_from_dlpack,
)
from ..mesh import Layout, Sharding
from ..template import Template
from ..tensor import Tensor
from ..tensor.construction import bytes_of
from .callbacks import CompositeCall, Default, check_class, defines, own_method
from .devices import DeviceFacts, host_facts, kind_of_device
from .planned import Kernel, Payload

if TYPE_CHECKING:
    import numpy

    from ..costs.mesh.collectives import Compiled
    from ..expr.graph import Graph
    from ..testing.divergences import Divergence
    from . import Backend

# Re-entrant, because one backend's setup may ask for another's instance.
_instances_lock = module_lock(__name__, "_instances_lock")


class Core:
    """The callbacks besides ops: identity, lifecycle and transport."""

    name: ClassVar[str]
    """The name under which `get_backend` finds the backend."""

    dtypes: frozenset[DType] = frozenset(ALL_DTYPES)
    """The dtypes that payloads can hold, or their names; those of narrow ones (`dtypes.STORED_DTYPES`) hold codes."""

    casts_narrow: ClassVar[bool] = False
    """Whether `as_type` takes narrow dtypes; else other callbacks cast them."""

    dlpack_dtypes: ClassVar[frozenset[DType]] = frozenset()
    """The dtypes whose payloads the backend exchanges by DLPack, in `to_dlpack` and `from_dlpack`. Payloads of other
    dtypes are exchanged as NumPy arrays or bytes."""

    array_types: ClassVar[tuple[str, ...]] = ()
    """The classes of its library's arrays, each as a module and a name in it, such as `"numpy:ndarray"`.
    `tb.backend_of` uses them to find the backend of an array, without importing any module."""

    dispatch_priority: ClassVar[int] = 1
    """Which backend runs an op on operands of two backends: the one with the higher number. Two backends with equal
    numbers do not mix. BinaryBackend has 0, and backends that record or measure programs have more than 1."""

    holds_data: ClassVar[bool] = True
    """Whether tensors on the backend have data now. Tensors of a trace and template tensors have none."""

    template_only: ClassVar[bool] = False
    """Whether every payload is `None`, so that an op is done once the template of its result is known."""

    writable_payloads: ClassVar[bool] = True
    """Whether a callback could write to a payload; if so, checked mode compares the inputs before and after a call."""

    lays_by_name: ClassVar[bool] = False
    """Whether the names of axes decide how payloads are laid out, as on a mesh of devices."""

    plans_kinds: ClassVar[bool] = False
    """Whether planned callbacks may get templates with symbolic sizes, so that their kernels serve all shapes. Such a
    kernel reads sizes from payloads alone: what it keeps of a symbolic size raises an error when it is used, so a
    kernel must not hand a template's sizes to anything that only stores them, as a recorded program does."""

    donates: ClassVar[bool] = False
    """Whether `compile_graph` takes `donated`: parameters whose payloads come in a list, which the kernel empties."""

    rematerializes: bool = True
    """Whether `jit` with donated parameters computes cheap values again where that lowers the peak of memory. Not where
    a compiler of the whole graph merges equal ops, and cannot be told not to."""

    multiplies_rows: ClassVar[bool] = False
    """Whether `sparse_matvec` multiplies compressed rows without expanding them in each call."""

    compiles_exactly = False
    """Whether `compile_graph` returns a kernel with results bit-identical to those of single callbacks."""

    device: str = "cpu"
    """The device of this instance's payloads."""

    options: Mapping[str, Hashable]
    """The options of this instance, as `init` returned them."""

    kernels: dict[Any, Kernel]
    """The kernels of this instance's planned callbacks, each in the form that `enter` returns."""

    @property
    def memos(self) -> Sequence[dict[Any, Any]]:
        """The memos of this instance; each of them is bounded."""
        return [self.kernels]

    _instances: ClassVar[dict[tuple[object, ...], Core]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        given = cls.__dict__.get("dtypes")
        if isinstance(given, Collection):
            cls.dtypes = frozenset(map(as_dtype, given))

    def __new__(cls, **options: object) -> Self:
        normalised = cls.init(**options)
        key = (cls, *sorted(normalised.items()))
        with _instances_lock:
            instance = Core._instances.get(key)
            if instance is None:
                check_class(cls, Core)
                instance = object.__new__(cls)
                instance.options = MappingProxyType(dict(normalised))
                instance.kernels = {}
                instance.setup()
                Core._instances[key] = instance
        return instance  # type: ignore[return-value] # the key starts with the class

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"{type(self).__name__}({options})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _reconstruct, (type(self), dict(self.options))

    @classmethod
    def init(cls, **options: object) -> Mapping[str, Hashable]:
        """Checks the options of an instance and fills in defaults. Calls with equal results share one instance."""
        if options:
            ours = cls.__module__.startswith("tensorbackend.")
            remedy = "" if ours else "its class method init takes and returns them"
            raise ArgumentError(expected(f"no options for the backend {cls.name!r}", remedy, options=options))
        return {}

    def setup(self) -> None:
        """Prepares a new instance, once. The array library is imported here, never when the module is imported."""

    def versions(self) -> Mapping[str, str]:
        """The versions of the libraries that the backend runs on, by library; `tensorbackend info` shows them."""
        return {}

    def devices(self) -> tuple[str, ...]:
        """The devices on which instances of this backend can hold payloads."""
        return (self.device,)

    def device_facts(self, device: str, /) -> DeviceFacts:
        """The properties of one of the backend's devices.

        By default these are memory and processors for the host, and only the kind for other devices.
        """
        kind = kind_of_device(device)
        return host_facts() if kind == "cpu" else DeviceFacts(kind)

    def on_device(self, device: str) -> Core:
        """The instance of this backend on one of its devices; `ArgumentError` for any other."""
        if "device" in self.options:
            return type(self)(**{**self.options, "device": device})
        self.check_device(device, (self.device,))
        return self

    def check_device(self, device: str, devices: Sequence[str]) -> None:
        """Raises `ArgumentError` for a device that is not one of these."""
        if device not in devices:
            remedy = f"the devices are {', '.join(self.devices())}, and backend= names another backend"
            raise ArgumentError(expected(f"a device of the backend {self.name!r}", remedy, device=device))

    def supports(self, op: str, dtype: DTypeLike | None = None) -> bool:
        """Whether the backend itself implements a callback, for inputs of a dtype if one is given.

        Derived from the methods that the class defines and `limited_to`; there is no list to maintain.

        >>> import tensorbackend as tb
        >>> tb.get_backend("numpy").supports("add", "bf16")
        True
        """
        method = own_method(self, op)
        if method is None:
            return False
        if dtype is None:
            return True
        dtype = as_dtype(dtype)
        return dtype in self.dtypes and dtype in getattr(method, "__dtypes__", self.dtypes)

    def divergences(self) -> Sequence[Divergence]:
        """The calls whose results always differ from the reference on this backend; `tensorbackend.testing` reads them.

        Import `Divergence` in the method, so that only tests need hypothesis. docs/testing.md shows a row.
        """
        return ()

    def optional(self, name: str, args: CompositeCall, default_impl: Default) -> Tensor | tuple[Tensor, ...]:
        """Runs a composite for which the backend has no method of that name.

        Override it to handle many composites in the same way (for example to record them).
        The result is that of `default_impl(*args)`, or tensors on this backend with the templates of `args.out`.
        """
        return default_impl(*args)

    def compile_composite(self, call: CompositeCall, default_impl: Default, otherwise: Kernel, /) -> Kernel | None:
        """A kernel of a whole composite, which replaces `optional`; the dispatcher requests it once for each plan.

        The inputs of `call` are templates. The kernel takes the payloads of these inputs and returns the payload of
        the result, or a tuple of them. It may pass a call to `otherwise`, the kernel that calls `optional`.

        With `None`, as here, each call uses `optional`.
        """
        return None

    def compile_graph(self, graph: Graph, /) -> Kernel | None:
        """A kernel that computes a whole graph of `tb.trace`; `tb.jit` requests it once.

        The kernel takes the payloads of the graph's parameters and returns a tuple of the payloads of its results.
        A backend without a compiler returns `None`, as here: `tb.jit` then runs the simplified graph node by node.
        """
        return None

    @property
    def beneath(self) -> Core:
        """The backend that holds the data: this one, unless it only records what another backend computes."""
        return self

    def graph_text(self, graph: Graph, /) -> str | None:
        """The program that `compile_graph` makes, as readable text; `None`, as here, means the simplified graph."""
        return None

    def graph_on_mesh(self, graph: Graph, layout: Layout, /) -> Compiled | None:
        """The figures, such as memory and collectives, that the backend's compiler reports for a graph on a mesh.

        The devices of the mesh are not needed. A backend without such a compiler returns `None`, as here.
        """
        return None

    # Kernels of planned callbacks

    def settled(self, kernel: Kernel, out: Any, /) -> Kernel:
        """A planned callback's kernel, changed so that its results are payloads of exactly the output template.

        `out` has the names of its axes, but a kernel may depend on them only through `placement(out)`. Override it if
        the library's functions return something else in some cases, as NumPy's return a number instead of an
        array without axes.
        """
        return kernel

    def enter(self, kernel: Kernel, /) -> Kernel:
        """The form in which a kernel, or a function that calls several kernels, is called from outside.

        By default that is the kernel itself. Override it for work that is done once around a whole call, which may run
        many kernels: NumPy's backend disables floating-point warnings, JAX's compiles the function.
        """
        return kernel

    def overwriting(self, name: str, out: Any, inputs: Sequence[Any], options: Mapping[str, Any], /) -> Kernel | None:
        """A kernel of a callback that may write into its first payload; `None`, as here, if there is none.

        A program calls it if nothing later needs that payload. The kernel writes only if `is_spare` of
        `tensorbackend.extending` says that nothing else refers to the payload, and nothing shares its memory; otherwise
        it does what the callback's other kernel does.
        """
        return None

    # How payloads are laid out

    def placement(self, out: Any, /) -> Hashable:
        """The sharding of the payload of a template, or of each of several, according to the names of its axes.

        `None`, as here, if names have no effect.
        """
        return None

    def laid(self, data: Payload, out: Any, /) -> Payload:
        """A payload, or several, laid out as `placement` says; called only for a backend with `lays_by_name`."""
        return data

    def kept(self, data: Payload, /) -> Payload:
        """A payload that a program computed without operands, in the form that the program stores for all its runs."""
        return data

    def sharding(self, x: Tensor, /) -> Sharding | None:
        """The sharding of a tensor on a mesh; `None`, as here, for a tensor on a single device."""
        return None

    # Transport

    def from_binary(self, out: Template, /, *, data: bytes) -> Payload:
        """The payload of elements given as bytes: row-major, in native byte order, `out.dtype.itemsize` bytes each."""
        raise NotImplementedError(f"{type(self).__name__} must define from_binary")

    def to_binary(self, x: Tensor, limit: int, /) -> bytes:
        """The first `limit` elements in row-major order as bytes, native byte order; no others are read."""
        raise NotImplementedError(f"{type(self).__name__} must define to_binary")

    def from_numpy(self, out: Template, array: numpy.ndarray[Any, Any], /, *, copy: bool) -> Payload:
        """The payload of a NumPy array of the template's shape and dtype; may share its memory unless `copy`."""
        return self.from_binary(out, data=array.tobytes())

    def to_numpy(self, x: Tensor, dtype: Any, copy: bool | None, /) -> numpy.ndarray[Any, Any]:
        """The data as a read-only NumPy array of a NumPy dtype (`None`: the tensor's own), which shares memory if
        possible. `copy=True` returns a new, writable array; `copy=False` raises `ValueError` if a copy is needed.
        """
        return numpy_from_binary(x.template, bytes_of(self, x, x.size), dtype, copy)

    def to_dlpack(self, x: Tensor, /, **options: Any) -> Any:
        """A DLPack capsule of the payload, with the options of the Array API's `__dlpack__`; by default by `to_numpy`.

        It holds a copy, because some consumers ignore that memory is read-only. A consumer that requests no copy by
        `copy=False` is trusted not to write. Raises `BufferError` for a payload that DLPack cannot describe.
        """
        if self.dlpack_device() != HOST:
            remedy = "go through backend_copy('numpy') or numpy.asarray()"
            raise UnsupportedOp(expected("a backend whose payload DLPack can share", remedy, backend=self.name))
        return dlpack_capsule(self.to_numpy(x, None, None), options)

    def adopted(self, array: Any, /) -> tuple[Template, Payload] | None:
        """The template and payload of an array of the backend's own library that is a payload without conversion.

        `None` for any other array, which is then imported by NumPy or DLPack; here for every array.
        """
        return None

    def exported(self, x: Tensor, /) -> Any:
        """The data of a tensor as an array of the backend's own library, as `for_arrays` returns it.

        It is the caller's own: if the library can write to its arrays, it is a copy.
        """
        raise UnsupportedOp(expected("a backend whose library has arrays", "leave for_arrays out", backend=self.name))

    def through_autograd(
        self, function: Callable[[Sequence[Tensor]], Sequence[Tensor]], arrays: Sequence[Any], /
    ) -> Sequence[Any] | None:
        """The arrays that a function of tensors returns for arrays, as a part of what the library differentiates.

        `None`, as here, where the library differentiates nothing, or sees each op of the function by itself. The
        function may be called, and traced, any number of times.
        """
        return None

    def from_dlpack(self, array: Any, /, *, copy: bool | None) -> tuple[Template, Payload]:
        """The template and payload of an array with `__dlpack__`; shares memory if possible, unless `copy` is true.

        Raises `BufferError` for memory that cannot be imported (its device, dtype or strides), and if
        `copy=False` and a copy is needed.
        """
        if array.__dlpack_device__() != HOST:
            remedy = "pass device='cpu' to copy the array to the host"
            raise BufferError(expected("an array in host memory", remedy, device=array.__dlpack_device__()))
        host_array = numpy_from_dlpack(array)
        out = Template(host_array.shape, as_dtype(host_array.dtype), None)
        data = self.from_numpy(out, host_array, copy=copy is True)
        if copy is False and not is_shared(host_array, Tensor(out, self, data)):  # type: ignore[arg-type] # a Backend
            raise BufferError(expected(f"an array whose memory {self.name!r} can share", array=array))
        return out, data

    @classmethod
    def claims(cls, array: object, /) -> bool:
        """Whether an array has no data and only this backend can take it as a payload, such as a tracer of JAX."""
        return False

    def is_concrete(self, x: Tensor, /) -> bool:
        """Whether a tensor has data that can be read; by default the same for all tensors of the backend."""
        return self.holds_data

    def repeats_from(self) -> int | None:
        """The number of the trace if this backend records a function that will run again without Python.

        Later traces have larger numbers. `None` if nothing is recorded, or only for one run.
        """
        return None

    def dlpack_device(self) -> tuple[int, int]:
        """DLPack's device type and number of this instance's payloads, by default those of `device`."""
        return dlpack_device(self.device)

    def cuda_array_interface(self, x: Tensor, /) -> Mapping[str, Any] | None:
        """The payload by the CUDA array interface, version 3; `None` if it is not in the memory of a CUDA device."""
        return None

    # Between backends

    def backend_copy(self, x: Tensor, target: Backend, /) -> Payload:
        """The target's payload of a copy of a tensor of this backend. It never shares memory."""
        return target.from_backend(x, copy=True)

    def backend_transfer(self, x: Tensor, target: Backend, /) -> Payload:
        """The target's payload of a tensor that will be deallocated here; it may share memory."""
        return target.from_backend(x, copy=False)

    def from_backend(self, x: Tensor, /, *, copy: bool) -> Payload:
        """A payload of this backend for a tensor of any backend; for copies, transfers and operands that move.

        Uses the first of these ways that both backends support: DLPack, if both have `x.dtype` in `dlpack_dtypes`
        and the same `dlpack_device`; a NumPy array, if this backend defines `from_numpy`; bytes. Unless `copy`,
        memory may be shared, as no payload ever changes.
        """
        source, dtype = x.backend, x.dtype
        both = dtype in self.dlpack_dtypes and dtype in source.dlpack_dtypes
        if both and self.dlpack_device() == source.dlpack_device():
            try:
                template, data = self.from_dlpack(SharedTensor(x), copy=copy)
            except BufferError:
                pass  # for example, strides that one of the libraries does not take
            else:
                if (template.shape, template.dtype) == (x.shape, dtype):
                    return data
        if not defines(type(self), "from_numpy"):
            return self.from_binary(x.template, data=bytes_of(source, x, x.size))
        on_host = source.dlpack_device() == HOST
        array = source.to_numpy(x, None, None if on_host or not copy else True)
        return self.from_numpy(x.template, array, copy=copy and on_host)

    def backend_deallocate(self, x: Tensor, /) -> None:
        """Frees resources of the payload beyond Python's own reference to it; other tensors may share it."""

    def block_until_ready(self, x: Tensor, /) -> None:
        """Waits until the payload is computed; a synchronous backend has nothing to do."""

    def exhausted(self, error: Exception, /) -> bool:
        """Whether an error of the backend's library says that memory ran out; users then get `OutOfMemoryError`."""
        return isinstance(error, MemoryError)

    def violation(self, out: Template, data: Payload, /) -> str | None:
        """A description of the fault of a payload of a template, `None` if there is none; called in checked mode."""
        return None

    def to_batched(self, x: Tensor, size: int, /) -> Iterator[Payload]:
        """Payloads of consecutive runs of `size` entries along the first axis, each with its own memory."""
        rows, step = x.shape[0], x.template.payload_nbytes // max(x.shape[0], 1)
        data = bytes_of(self, x, x.size)
        for start in range(0, rows, size):
            batch = x.template.replace(shape=(min(size, rows - start), *x.shape[1:]))
            yield self.from_binary(batch, data=data[start * step :][: batch.payload_nbytes])

    def inspect(self, x: Tensor, /, *, limit: int = 100) -> str:
        """The tensor as text, reading at most `limit` elements."""
        positions = ends(x.shape, limit)
        return show(x.template, self.name, self.elements_at(x, positions) if limit else [], positions)

    def elements_at(self, x: Tensor, positions: Sequence[Sequence[int]], /) -> Sequence[Scalar]:
        """The elements at the given positions along each axis, in row-major order; no others are read."""
        for axis, axis_positions in enumerate(positions):
            if len(axis_positions) < x.shape[axis]:
                x = x[(*[slice(None)] * axis, list(axis_positions))]
        return unpack(bytes_of(x.backend, x, x.size), x.dtype)


def _reconstruct(backend: type[Core], options: dict[str, object]) -> Core:
    return backend(**options)
