"""The backend: its devices, its transport and compiled graphs; the callbacks are in the modules of their families."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from tensorbackend import Template, Tensor
from tensorbackend.dtypes import bfloat16, float64
from tensorbackend.errors import ArgumentError, expected
from tensorbackend.extending import import_library, numpy_dtype, read_only
from tensorbackend.protocol import Kernel, Payload

from .contraction import MlxContraction
from .creation import MlxCreation
from .elementwise import MlxElementwise
from .fourier import MlxFourier
from .graphs import MlxGraphs
from .indexing import MlxIndexing
from .kernels import evaluated_now_and_then, new_turns
from .library import DTYPES, dtype_names, mlx_dtype, mx
from .linalg import MlxLinalg
from .networks import MlxNetworks
from .random import MlxRandom
from .reduction import MlxReduction
from .shape import MlxShaping
from .window import MlxWindow

if TYPE_CHECKING:
    import numpy
    from tensorbackend.testing import Divergence


class MlxBackend(
    MlxElementwise,
    MlxReduction,
    MlxShaping,
    MlxIndexing,
    MlxContraction,
    MlxWindow,
    MlxLinalg,
    MlxFourier,
    MlxRandom,
    MlxNetworks,
    MlxCreation,
    MlxGraphs,
):
    """Stores tensors as arrays of MLX of exactly the shape and dtype of their templates.

    MLX's arrays lie in memory that the CPU and the GPU share; the device says where they are computed. No setting of
    MLX's is read or changed, but for its default device.

    >>> MlxBackend(device="cpu").device
    'cpu'
    """

    name = "mlx"
    dtypes = DTYPES
    array_types = ("mlx.core:array",)
    writable_payloads = False  # no function of MLX writes to an array

    # Devices

    @classmethod
    def init(cls, **options: object) -> Mapping[str, Hashable]:
        """Checks the options. `device` is by default MLX's default device."""
        others = {name: value for name, value in options.items() if name != "device"}
        if others:
            raise ArgumentError(expected(f"no options for the backend {cls.name!r} except device", options=others))
        import_library("mlx.core", cls.name, command="pip install mlx, on Linux 'mlx[cpu]'")
        return {"device": str(options.get("device") or mx.default_device().type.name)}

    def setup(self) -> None:
        """Checks that MLX has the device."""
        self.device = str(self.options["device"])
        self.check_device(self.device, self.devices())
        self.place = getattr(mx, self.device)
        self.is_default = mx.default_device().type == self.place
        self.has_float64 = self.device == "cpu"
        if not self.has_float64:
            self.dtypes = DTYPES - {float64}
        self.turns = new_turns()

    def versions(self) -> Mapping[str, str]:
        """MLX's version."""
        return {"mlx": version("mlx")}

    def devices(self) -> tuple[str, ...]:
        """The CPU, and the GPU where MLX sees one."""
        return ("cpu", "gpu") if mx.is_available(mx.gpu) else ("cpu",)

    def enter(self, kernel: Kernel, /) -> Kernel:
        """Starts one call in a few, and computes on the device of this instance."""
        kernel = evaluated_now_and_then(self.turns, kernel)
        if self.is_default:
            return kernel

        def placed(*payloads: Payload) -> Payload:
            with mx.stream(self.place):
                return kernel(*payloads)

        return placed

    def divergences(self) -> Sequence[Divergence]:
        """What MLX computes with fewer digits, each with its reason."""
        from .differences import rows

        return rows()

    # Transport

    def from_binary(self, out: Template, /, *, data: bytes) -> Payload:
        """Copies the bytes."""
        import numpy

        return self.from_numpy(out, numpy.frombuffer(data, numpy_dtype(out.dtype)).reshape(out.shape), copy=True)

    def to_binary(self, x: Tensor, limit: int, /) -> bytes:
        """The first `limit` elements as bytes."""
        values = x.data if limit >= x.size else x.data.reshape(-1)[:limit]
        return self._in_numpy(values).tobytes()

    def from_numpy(self, out: Template, array: numpy.ndarray[Any, Any], /, *, copy: bool) -> Payload:
        """Copies the array; MLX shares no memory that it did not allocate."""
        array = array.astype(numpy_dtype(out.dtype), order="C", copy=False, subok=False)
        if any(stride < 0 for stride in array.strides):  # of an axis of size 1, which NumPy counts as contiguous
            array = array.copy()
        if out.dtype is bfloat16:
            return mx.array(array.view("uint16"), mx.uint16).view(mx.bfloat16)
        return mx.array(array, mlx_dtype(out.dtype))

    def to_numpy(self, x: Tensor, dtype: Any, copy: bool | None, /) -> numpy.ndarray[Any, Any]:
        """Returns the payload, once it is computed, as a read-only NumPy view."""
        return read_only(self._in_numpy(x.data), dtype, copy)

    def adopted(self, array: Any, /) -> tuple[Template, Payload] | None:
        """An array of MLX as it is now: assignments to it, which replace its data, are not seen."""
        if type(array) is not mx.array or dtype_names().get(array.dtype) not in self.dtypes:
            return None
        return Template(tuple(array.shape), dtype_names()[array.dtype], None), mx.stop_gradient(array)

    def block_until_ready(self, x: Tensor, /) -> None:
        """Computes the payload, and waits for it."""
        mx.eval(x.data)

    def exhausted(self, error: Exception, /) -> bool:
        """Whether MLX could not allocate memory."""
        return isinstance(error, MemoryError) or "Unable to allocate" in str(error)

    def violation(self, out: Template, data: Payload, /) -> str | None:
        """What is wrong with a payload: its type, shape or dtype."""
        if not isinstance(data, mx.array):
            return f"a {type(data).__name__} instead of an mlx.core.array"
        if tuple(data.shape) != out.shape or data.dtype != mlx_dtype(out.dtype):
            return f"an array of shape {tuple(data.shape)} and {data.dtype}"
        return None

    def _in_numpy(self, values: Any) -> numpy.ndarray[Any, Any]:
        """A NumPy array on the memory of an array, which is computed for it."""
        import numpy

        if values.dtype == mx.bfloat16:
            return numpy.array(values.view(mx.uint16), copy=False).view(numpy_dtype(bfloat16))
        return numpy.array(values, copy=False)
