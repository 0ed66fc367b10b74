"""JAX: payloads are `jax.Array`s, or the tracers that stand for them while JAX transforms a function."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...dtypes import ALL_DTYPES, Scalar, bfloat16, float32, float64, int32, int64
from ...errors import ArgumentError, BackendError, UnsupportedOp, expected
from ...interchange import HOST, numpy_dtype, read_only
from ...protocol import Backend, Payload
from ...template import Template
from ...tensor import Tensor
from ..array_module.base import kernel
from ..array_module.creation import ArrayCreation
from ..array_module.fourier import ArrayFourier
from .base import JaxBase, Unguarded, template_of
from .elementwise import JaxElementwise
from .indexing import JaxIndexing
from .linalg import JaxLinalg
from .random import JaxRandom
from .reduction import JaxReduction
from .shape import JaxShaping
from .trees import register
from .window import JaxConvolution, JaxWindow

if TYPE_CHECKING:
    import numpy


class JaxCreation(JaxBase, ArrayCreation):
    """Constants, identity matrices and counters."""

    def constant(self, out: Template, /, *, value: Scalar) -> Payload:
        """Every element is `value`; without axes never traced, so that the dispatcher can keep it."""
        if out.shape:
            return self._filled(out, value=value)
        with self.jax.ensure_compile_time_eval():
            return self.from_numpy(out, self.rounded(out, value), copy=False)

    @kernel
    def _filled(self, out: Template, /, *, value: Scalar) -> Payload:
        return self.xp.full(out.shape, self.rounded(out, value))

    def rounded(self, out: Template, value: Scalar) -> numpy.ndarray[Any, Any]:
        """A Python number in the dtype of a template, rounded once."""
        import numpy

        from ..array_module.casting import cast_values

        source = float64 if out.dtype.is_floating and out.dtype is not float32 else out.dtype
        with numpy.errstate(all="ignore"):
            scalar = numpy.asarray(value, numpy_dtype(source))
            return numpy.asarray(cast_values(numpy, scalar, source, out.dtype))


class JaxBackend(
    JaxCreation,
    JaxElementwise,
    JaxWindow,
    JaxShaping,
    JaxIndexing,
    JaxConvolution,
    JaxLinalg,
    ArrayFourier,
    JaxRandom,
):
    """JAX on a device: `JaxBackend()`, `JaxBackend(device="cpu:1")`.

    JAX's 64-bit dtypes are switched on for the process when the first instance is made, as without them JAX
    truncates in silence. `JAX_ENABLE_X64=0` in the environment leaves them off; then a 64-bit tensor is an
    `UnsupportedOp` before anything runs.
    """

    name = "jax"
    dlpack_dtypes = frozenset(ALL_DTYPES)

    @classmethod
    def init(cls, *, device: str | None = None, **options: object) -> Mapping[str, Hashable]:
        """Checks the device; `None` is JAX's default one."""
        if options:
            raise ArgumentError(expected("no option but the device for the backend 'jax'", options=options))
        jax = _import()
        chosen = _place(jax, device)
        return {"device": f"{chosen.platform}:{chosen.id}"}

    def setup(self) -> None:
        """Imports JAX, switches 64-bit dtypes on, and makes tensors pytrees."""
        self.jax = jax = _import()
        import jax.dlpack
        import jax.numpy
        import jax.scipy.special

        self.xp, self.lax = jax.numpy, jax.lax
        self.quiet = Unguarded()  # type: ignore[assignment] # nothing needs to be quietened
        self.kernels = {}
        self.place = _place(jax, self.options["device"])  # type: ignore[arg-type] # a str, as init() left it
        self.device = str(self.options["device"])
        if os.environ.get("JAX_ENABLE_X64", "1").lower() not in ("0", "false", "off", ""):
            jax.config.update("jax_enable_x64", True)
        self.wide, self.long = float64, int64
        if not jax.config.jax_enable_x64:
            self.wide, self.long = float32, int32
            self.dtypes = frozenset(each for each in ALL_DTYPES if each.bits < (128 if each.is_complex else 64))
        # Accelerators multiply float32 with fewer bits unless told otherwise.
        self.precision = jax.lax.Precision.HIGHEST
        if not JaxBackend._registered:
            JaxBackend._registered = True
            register(jax, self)

    _registered = False

    def versions(self) -> Mapping[str, str]:
        """JAX's version and that of its library of devices."""
        import jaxlib

        return {"jax": self.jax.__version__, "jaxlib": jaxlib.__version__}

    def devices(self) -> tuple[str, ...]:
        """All that JAX sees: `"cpu:0"`, `"cuda:0"`."""
        return tuple(f"{each.platform}:{each.id}" for each in _devices(self.jax))

    def on_device(self, device: str) -> Backend:
        """The instance on another device."""
        return JaxBackend(device=device)

    # Transport

    def from_binary(self, out: Template, /, *, data: bytes) -> Payload:
        """An array of the bytes."""
        import numpy

        return self.from_numpy(out, numpy.frombuffer(data, numpy_dtype(out.dtype)).reshape(out.shape), copy=False)

    def to_binary(self, x: Tensor, limit: int, /) -> bytes:
        """The first `limit` elements as bytes."""
        data = x.data if limit >= x.size else x.data.reshape(-1)[:limit]
        return bytes(self.jax.device_get(data).tobytes())

    def from_numpy(self, out: Template, array: numpy.ndarray[Any, Any], /, *, copy: bool) -> Payload:
        """A NumPy array on the device, which on the CPU may share its memory unless `copy`."""
        if out.dtype not in self.dtypes:
            remedy = "unset JAX_ENABLE_X64, or cast with astype() first"
            raise UnsupportedOp(expected("a dtype of at most 32 bits a number, as JAX is set", remedy, dtype=out.dtype))
        if copy:
            array = array.copy()
        return self.jax.device_put(array, self.place)

    def to_numpy(self, x: Tensor, dtype: Any, copy: bool | None, /) -> numpy.ndarray[Any, Any]:
        """The payload as a read-only view, or a fresh array."""
        import numpy

        return read_only(numpy.asarray(x.data), dtype, copy)

    def to_dlpack(self, x: Tensor, /, **options: Any) -> Any:
        """A capsule of the payload; of one on the host as NumPy makes it, but for bfloat16."""
        if self.dlpack_device() == HOST and x.dtype is not bfloat16:
            return super().to_dlpack(x, **options)
        return x.data.__dlpack__(**options)

    def from_dlpack(self, array: Any, /, *, copy: bool | None) -> tuple[Template, Payload]:
        """The array's memory, where it is on the same device and begins at a multiple of 64 bytes, else a copy."""
        try:
            data = self.jax.dlpack.from_dlpack(array, copy=copy)
        except (ValueError, RuntimeError) as error:
            raise BufferError(str(error)) from error
        # JAX's own copy=True shares memory all the same.
        return template_of(data), self.jax.device_put(self.xp.array(data, copy=True) if copy else data, self.place)

    def to_batched(self, x: Tensor, size: int, /) -> Iterator[Payload]:
        """Consecutive runs of entries along the first axis."""
        return (x.data[start : start + size] for start in range(0, x.shape[0], size))

    def inspect(self, x: Tensor, /, *, limit: int = 100) -> str:
        """The tensor as text; of one that is traced the template alone."""
        return f"{x.template!r} {self.name} (traced)" if self.traced(x) else super().inspect(x, limit=limit)

    def violation(self, out: Template, data: Payload, /) -> str | None:
        """What is wrong with a payload: its type, shape or dtype."""
        if not isinstance(data, self.jax.Array):
            return f"a {type(data).__name__} instead of a jax.Array"
        if data.shape != out.shape or data.dtype != numpy_dtype(out.dtype):
            return f"an array of shape {data.shape} and dtype {data.dtype}"
        return None

    def block_until_ready(self, x: Tensor, /) -> None:
        """Waits for the payload to be computed."""
        self.jax.block_until_ready(x.data)


def _import() -> Any:
    try:
        import jax
    except ImportError as error:
        remedy = "install it with pip install 'tensorbackend[jax]'"
        raise BackendError(expected("JAX to be installed", remedy, error=str(error))) from error
    return jax


def _devices(jax: Any) -> list[Any]:
    """The default platform's devices, then the CPU's."""
    found = list(jax.devices())
    return found + [each for each in jax.devices("cpu") if each not in found]


def _place(jax: Any, device: str | None) -> Any:
    """The `jax.Device` of a name such as `"cpu:1"`; `ArgumentError` where there is none."""
    present = _devices(jax)
    if device is None:
        return present[0]
    for each in present:
        if device in (f"{each.platform}:{each.id}", each.platform):
            return each
    names = ", ".join(f"{each.platform}:{each.id}" for each in present)
    raise ArgumentError(expected("a device of the backend 'jax'", f"the devices are {names}", device=device))
