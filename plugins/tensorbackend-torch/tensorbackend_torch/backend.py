"""The backend: its devices and its transport; the callbacks are in the modules of their families."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tensorbackend import Template, Tensor
from tensorbackend.dtypes import ALL_DTYPES, STORED_DTYPES, bfloat16
from tensorbackend.errors import ArgumentError, UnsupportedOp, expected
from tensorbackend.extending import (
    DeviceFacts,
    Forward,
    dlpack_capsule,
    host_facts,
    import_library,
    numpy_dtype,
    payload_dtype,
    read_only,
)
from tensorbackend.protocol import Payload

from .activations import TorchActivations
from .creation import TorchCreation
from .ctc import TorchCtc
from .elementwise import TorchElementwise
from .fourier import TorchFourier
from .indexing import TorchIndexing
from .library import torch
from .linalg import TorchLinalg
from .random import TorchRandom
from .reduction import TorchReduction
from .shape import TorchShaping
from .special import TorchSpecial
from .ways import Array, bits_of, dtype_of, dtypes, narrow_dtypes, torch_dtype
from .window import TorchWindow

if TYPE_CHECKING:
    import numpy
    from tensorbackend.testing import Divergence

    from .autograd import Program


class TorchBackend(
    TorchElementwise,
    TorchActivations,
    TorchSpecial,
    TorchReduction,
    TorchCtc,
    TorchShaping,
    TorchIndexing,
    TorchWindow,
    TorchLinalg,
    TorchFourier,
    TorchRandom,
    TorchCreation,
):
    """Stores tensors as PyTorch tensors of exactly the shape and dtype of their templates, on one device.

    Payloads take no part in PyTorch's differentiation: inputs are detached, so nothing here needs
    `torch.no_grad()`. No setting of PyTorch's is read or changed, but for those that its functions read themselves.

    >>> TorchBackend(device="cpu") is TorchBackend()
    True
    """

    name = "torch"
    plans_kinds = True
    dtypes = STORED_DTYPES
    array_types = ("torch:Tensor",)
    dlpack_dtypes = frozenset(ALL_DTYPES)

    # Devices

    @classmethod
    def init(cls, **options: object) -> Mapping[str, Hashable]:
        """Checks the options. `device` is "cpu" by default; "cuda" means "cuda:0"."""
        others = {name: value for name, value in options.items() if name != "device"}
        if others:
            raise ArgumentError(expected(f"no options for the backend {cls.name!r} except device", options=others))
        device = str(options.get("device", "cpu"))
        return {"device": "cuda:0" if device == "cuda" else device}

    def setup(self) -> None:
        """Imports PyTorch, and checks that it has the device."""
        import_library("torch", self.name)
        self.device = str(self.options["device"])
        self.check_device(self.device, self.devices())
        self.place = torch.device(self.device)

    def versions(self) -> Mapping[str, str]:
        """PyTorch's version."""
        return {"torch": str(torch.__version__)}

    def devices(self) -> tuple[str, ...]:
        """The CPU and every GPU that PyTorch sees."""
        return ("cpu", *(f"cuda:{number}" for number in range(torch.cuda.device_count())))

    def device_facts(self, device: str, /) -> DeviceFacts:
        """Returns what PyTorch reports about a GPU, or the system about the host."""
        if device == "cpu":
            return host_facts()
        properties = torch.cuda.get_device_properties(device)
        return DeviceFacts("gpu", properties.total_memory, properties.multi_processor_count, properties.name)

    def divergences(self) -> Sequence[Divergence]:
        """What PyTorch computes otherwise, each with its reason."""
        from .differences import rows

        return rows()

    # Transport

    def from_binary(self, out: Template, /, *, data: bytes) -> Payload:
        """Copies the bytes, because PyTorch may write to the memory of its tensors."""
        if not out.size:
            return torch.empty(out.shape, dtype=torch_dtype(out.dtype), device=self.place)
        elements = torch.frombuffer(bytearray(data), dtype=torch_dtype(out.dtype))
        return elements.reshape(out.shape).to(self.place)

    def to_binary(self, x: Tensor, limit: int, /) -> bytes:
        """The first `limit` elements as bytes."""
        values = x.data
        if limit < x.size:
            places = torch.arange(limit, device=self.place)
            values = bits_of(values)[torch.unravel_index(places, x.shape)] if x.shape else values.reshape(-1)[:limit]
        return _in_numpy(values).tobytes()

    def from_numpy(self, out: Template, array: numpy.ndarray[Any, Any], /, *, copy: bool) -> Payload:
        """Returns a view of the array if PyTorch can share its memory and layout, otherwise a copy."""
        if out.dtype.is_narrow:
            array = array.view("uint8")
        array = array.astype(payload_dtype(out.dtype), order="C" if copy else "K", copy=copy, subok=False)
        if out.dtype is bfloat16:
            return self._shared(array.view("int16")).view(torch.bfloat16).to(self.place)
        return self._shared(array).to(self.place)

    def to_numpy(self, x: Tensor, dtype: Any, copy: bool | None, /) -> numpy.ndarray[Any, Any]:
        """Returns the payload as a NumPy array: a read-only view, or a copy if it is on a GPU."""
        if x.data.is_cuda and copy is False:
            raise ValueError(expected("data in host memory for copy=False", "leave copy out", device=self.device))
        array = _in_numpy(x.data)
        if x.dtype.is_narrow:
            array = array.view(numpy_dtype(x.dtype))
        return array if x.data.is_cuda and copy and dtype is None else read_only(array, dtype, copy)

    def to_dlpack(self, x: Tensor, /, **options: Any) -> Any:
        """Returns a DLPack capsule. It shares memory only if it can be marked read-only, or with `copy=False`."""
        if not x.data.is_cuda and x.dtype is not bfloat16:
            return dlpack_capsule(self.to_numpy(x, None, None), options)
        # PyTorch marks no capsule as read-only.
        copied = options.get("copy") is not False
        options = {**options, "copy": None, "stream": options.get("stream") if x.data.is_cuda else None}
        return (x.data.clone() if copied else x.data).__dlpack__(**options)

    def adopted(self, array: Any, /) -> tuple[Template, Payload] | None:
        """A `torch.Tensor` of plain memory on this device that takes part in no differentiation."""
        if type(array) is not torch.Tensor or array.device != self.place or array.layout is not torch.strided:
            return None
        if array.requires_grad or array.is_conj() or array.is_neg():
            return None
        if array.dtype in narrow_dtypes():
            return Template(tuple(array.shape), narrow_dtypes()[array.dtype], None), array.view(torch.uint8)
        if array.dtype not in dtypes():
            return None
        return Template(tuple(array.shape), dtype_of(array.dtype), None), array

    def exported(self, x: Tensor, /) -> Any:
        """A copy, as a program may keep the payload; codes as PyTorch's dtype."""
        if not x.dtype.is_narrow:
            return x.data.clone()
        narrow = getattr(torch, x.dtype.name, None) if x.dtype.bits == 8 else None
        if narrow is None:
            remedy = "cast with astype() before returning it"
            raise UnsupportedOp(expected("a dtype of PyTorch's tensors of whole bytes", remedy, dtype=x.dtype), x.dtype)
        return x.data.clone().view(narrow)

    def through_autograd(self, function: Program, arrays: Sequence[Any], /) -> Sequence[Any] | None:
        """The results as parts of PyTorch's graph, with our derivatives; `None` where nothing is differentiated."""
        from .autograd import call, takes_part  # it defines a class of PyTorch's

        return call(function, arrays) if takes_part(arrays) else None

    def from_dlpack(self, array: Any, /, *, copy: bool | None) -> tuple[Template, Payload]:
        """The template and payload of an array with `__dlpack__` on this device, detached."""
        try:
            foreign = not isinstance(array, torch.Tensor)
            tensor = _plain(torch.utils.dlpack.from_dlpack(Forward(array)) if foreign else array)
        except BufferError:
            if copy is False or self.device != "cpu":
                raise
            return super().from_dlpack(array, copy=copy)  # by NumPy, which takes all strides
        if tensor.device != self.place:
            remedy = f"pass device={self.device!r} to copy the array there"
            raise BufferError(expected(f"an array on {self.device}", remedy, device=str(tensor.device)))
        out = Template(tuple(tensor.shape), dtype_of(tensor.dtype), None)
        return out, tensor.clone() if copy else tensor

    def cuda_array_interface(self, x: Tensor, /) -> Mapping[str, Any] | None:
        """Returns that of PyTorch for a tensor on a GPU, otherwise `None`."""
        return x.data.__cuda_array_interface__ if x.data.is_cuda else None

    def from_backend(self, x: Tensor, /, *, copy: bool) -> Payload:
        """Makes the payload from a tensor of any backend; PyTorch copies between its own devices."""
        if isinstance(x.backend, TorchBackend):
            return x.data.to(self.place, copy=copy)
        return super().from_backend(x, copy=copy)

    def block_until_ready(self, x: Tensor, /) -> None:
        """Waits for the GPU."""
        if x.data.is_cuda:
            torch.cuda.synchronize(self.place)

    def exhausted(self, error: Exception, /) -> bool:
        """Whether PyTorch could not allocate memory, on the host or on a GPU."""
        return isinstance(error, MemoryError | torch.cuda.OutOfMemoryError) or "can't allocate memory" in str(error)

    def violation(self, out: Template, data: Payload, /) -> str | None:
        """What is wrong with a payload: its type, shape, dtype, device, or that it is not plain memory."""
        if not isinstance(data, torch.Tensor):
            return f"a {type(data).__name__} instead of a torch.Tensor"
        if tuple(data.shape) != out.shape or data.dtype is not torch_dtype(out.dtype):
            return f"a tensor of shape {tuple(data.shape)} and {data.dtype}"
        if data.device != self.place:
            return f"a tensor on {data.device}"
        if data.requires_grad or data.is_conj() or data.is_neg():
            return "a tensor that is attached to a graph, or a lazy conjugate or negative"
        return None

    def to_batched(self, x: Tensor, size: int, /) -> Iterator[Payload]:
        """Copies of consecutive runs of entries along the first axis."""
        return (x.data[start : start + size].clone() for start in range(0, x.shape[0], size))

    def _shared(self, array: numpy.ndarray[Any, Any]) -> Array:
        """Returns a tensor that shares an array's memory, or a copy if PyTorch cannot represent its strides."""
        import numpy

        if not array.size:
            return torch.empty(array.shape, dtype=getattr(torch, array.dtype.name))
        if any(stride < 0 or stride % array.itemsize for stride in array.strides):
            array = numpy.ascontiguousarray(array)
        return torch.utils.dlpack.from_dlpack(array)  # from_numpy warns where an array is read-only


def _plain(values: Array) -> Array:
    """Detaches a tensor from its graph, and resolves lazy conjugates and negatives."""
    return values.detach().resolve_conj().resolve_neg()


def _in_numpy(values: Array) -> numpy.ndarray[Any, Any]:
    """Returns a NumPy view of a tensor, or a copy if it is on a GPU."""
    values = values.cpu()
    if values.dtype is torch.bfloat16:
        return values.view(torch.int16).numpy().view(numpy_dtype(bfloat16))
    return values.numpy()
