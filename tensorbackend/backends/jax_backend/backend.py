"""The backend itself: its devices, and how data come and go."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, TypeVar

from ...declarations.argument_errors import check_construction
from ...dtypes import ALL_DTYPES, STORED_DTYPES, DType, Scalar, float32, float64, int32, int64
from ...dtypes.packing import unpack
from ...errors import ArgumentError, UnsupportedOp, expected
from ...expr.donation import in_order, usable
from ...expr.evaluate import Program
from ...expr.simplify import common_subexpressions
from ...interchange import HOST, aligned_copy, numpy_dtype, payload_dtype, read_only
from ...protocol import Kernel, Payload
from ...protocol.devices import DeviceFacts, host_facts
from ...protocol.exhaustion import out_of_memory
from ...protocol.owners import is_spare
from ...rules.broadcasting import to_real
from ...template import Template
from ...tensor import Tensor
from ..array_module.base import Array
from ..libraries import import_library
from .base import CompositeScope, outside_traces, template_of
from .composites import JaxComposites
from .contraction import JaxContraction
from .control import JaxControl
from .convolution import JaxConvolution
from .creation import JaxCreation
from .cumulative import JaxCumulative
from .elementwise import JaxElementwise
from .fourier import JaxFourier
from .functional import JaxFunctional
from .indexing import JaxIndexing
from .linalg.factorisations import JaxLinalg
from .linalg.sparse import JaxSparse
from .module import JaxModule, warn_of_faulty_version
from .parts import elements_at
from .random import JaxRandom
from .reduction import JaxReduction
from .shape import JaxShaping
from .sorting import JaxSorting
from .special import JaxSpecial
from .trees import register
from .window import JaxWindow

if TYPE_CHECKING:
    import numpy

    from ...costs.mesh.collectives import Compiled
    from ...expr.graph import Graph
    from ...mesh import Layout


F = TypeVar("F", bound=Callable[..., Any])

LEAST_MEMORY: Final = {
    "xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED",  # not for ops that can run at the same time
    "xla_disable_hlo_passes": "cse_barrier_expander",  # which removes barriers before ops are fused
}
"""The options with which XLA compiles for a CPU where memory is to be spared."""


def _reading_method(method: F) -> F:
    """Wraps a method that reads data: XLA computes it later, and an error about memory may come only then."""

    @wraps(method)
    def reads(self: JaxBackend, *arguments: Any) -> Any:
        try:
            return method(self, *arguments)
        except RuntimeError as error:
            if self.exhausted(error):
                raise out_of_memory(error) from error
            raise

    return reads  # type: ignore[return-value] # of the same signature


@check_construction
class JaxBackend(
    JaxCreation,
    JaxSpecial,
    JaxElementwise,
    JaxSparse,
    JaxReduction,
    JaxCumulative,
    JaxSorting,
    JaxWindow,
    JaxFunctional,
    JaxShaping,
    JaxIndexing,
    JaxContraction,
    JaxConvolution,
    JaxLinalg,
    JaxFourier,
    JaxRandom,
    JaxControl,
    JaxComposites,
):
    """JAX on a device: `JaxBackend()`, `JaxBackend(device="cpu:1")`; on many: `JaxBackend(mesh=mesh, layout=rules)`.

    JAX's 64-bit dtypes are switched on for the process when the first instance is made, as without them JAX
    truncates in silence. `JAX_ENABLE_X64=0` in the environment leaves them off; then a 64-bit tensor raises
    `UnsupportedOp` before anything runs.
    """

    name = "jax"
    array_types = ("jax:Array",)
    writable_payloads = False
    donates = True
    rematerializes = False
    dtypes = STORED_DTYPES
    dlpack_dtypes = frozenset(ALL_DTYPES)

    on_mesh: ClassVar[type[JaxBackend]]
    """The class of instances on a mesh; its module sets it."""

    def __new__(cls, **options: object) -> Self:
        """The instance with these options, of the class `on_mesh` if they include a mesh."""
        kind = cls.on_mesh if cls is JaxBackend and "mesh" in options else cls
        return super().__new__(kind, **options)  # type: ignore[return-value] # a subclass

    @classmethod
    def init(cls, **options: object) -> Mapping[str, Hashable]:
        """The options of the instance: the name of its device, by default of JAX's default device."""
        device = options.pop("device", None)
        if "layout" in options:
            raise ArgumentError(
                expected("a mesh together with a layout", "pass mesh=tb.Mesh(...)", layout=options["layout"])
            )
        super().init(**options)
        return {"device": name_of(device_of(library("jax"), device))}

    @property
    def memos(self) -> Sequence[dict[Any, Any]]:
        """The memos of this instance."""
        return [self.kernels, self.numbers, self.spacings, self.composites]

    def setup(self) -> None:
        """Imports JAX, switches 64-bit dtypes on, and makes tensors pytrees."""
        self.jax, self.lax = library("jax"), library("jax.lax")
        for submodule in ("jax.dlpack", "jax.experimental", "jax.scipy.special"):
            library(submodule)
        self.numbers, self.spacings = {}, {}
        self.composites, self.composing = {}, CompositeScope()
        self.settle()
        if os.environ.get("JAX_ENABLE_X64", "1").lower() not in ("0", "false", "off", "n", "no"):
            self.jax.config.update("jax_enable_x64", True)
        has_long = self.jax.config.jax_enable_x64
        # A TPU has integers of 64 bits, in two parts, but no such floats.
        self.wide = float64 if has_long and self.platform != "tpu" else float32
        self.long = int64 if has_long else int32
        self.dtypes = frozenset(filter(self._has, STORED_DTYPES))
        self.xp = JaxModule(library("jax.numpy"), self.lax, self.wide.name)
        # Without 64-bit dtypes there is nothing wider to compute in.
        self.rounds_once = self.platform != "gpu" or self.wide is float32
        if not JaxBackend._registered:  # one instance at a time is set up
            warn_of_faulty_version(self.versions()["jaxlib"], self.place.platform)
            register(self.jax, JaxBackend)
            JaxBackend._registered = True

    def _has(self, dtype: DType) -> bool:
        """Whether the platform has a dtype."""
        return to_real(dtype).bits <= (self.wide if dtype.is_inexact else self.long).bits

    _registered = False

    def settle(self) -> None:
        """Finds the device, and decides where payloads are put."""
        self.place = device_of(self.jax, self.options["device"])
        self.device = name_of(self.place)
        self.committed = None if self.place == device_of(self.jax, None) else self.place
        self.rematerializes = self.platform == "cpu"

    def versions(self) -> Mapping[str, str]:
        """The versions of JAX and of jaxlib, its compiled library."""
        return {name: library(name).__version__ for name in ("jax", "jaxlib")}

    def devices(self) -> tuple[str, ...]:
        """The default platform's devices, then the host's: `"cuda:0"`, `"cpu:0"`."""
        return tuple(map(name_of, _places(self.jax)))

    def device_facts(self, device: str, /) -> DeviceFacts:
        """The properties that JAX reports for a device; for the host, those that the operating system reports."""
        place = device_of(self.jax, device)
        if place.platform == "cpu":
            return host_facts()
        limit = (place.memory_stats() or {}).get("bytes_limit")  # the part of the memory that JAX may use
        return DeviceFacts(place.platform, limit, getattr(place, "core_count", None), place.device_kind)

    def is_concrete(self, x: Tensor, /) -> bool:
        """Whether the payload has values: JAX is not tracing it."""
        return not self.traced(x.data)

    def compile_graph(self, graph: Graph, /, *, donated: Sequence[int] = ()) -> Kernel:
        """The whole graph compiled by XLA, whose results may take the memory of donated parameters."""
        if not graph.parameters:
            return self.enter(Program(graph, self).kernel)
        run = outside_traces(self.jitted(graph, donated), Program(graph, self).kernel)  # runs where its arguments are
        if not donated:
            return run
        taken, traced = usable(graph, donated), self.traced
        needed = [place in taken for place in donated]

        def run_donated(*payloads: Any) -> Payload:
            _copy_shared(payloads[-1], needed, traced)
            return run(*in_order(payloads, donated))

        return run_donated

    def jitted(self, graph: Graph, donated: Sequence[int]) -> Any:
        """The function of `jax.jit` that computes a graph on arrays, and may write over donated ones.

        If arrays are donated on a CPU, it takes the least memory. Where it pays to compute cheap values again, those
        that exist at the peak go through a barrier. So XLA does not merge what is computed after the peak with what was
        before; and of a softmax that is needed then it keeps the quotients alone, rather than the exponentials as well.
        """
        places, barrier = usable(graph, donated), self.lax.optimization_barrier
        if not donated or not self.rematerializes:
            kernel = Program(graph, self).kernel
            return self.jax.jit(kernel, donate_argnums=places, compiler_options=self.compiler_options)
        from ...costs.rematerialization import parts_at_peak

        run, parts = Program(graph, self).kernel, parts_at_peak(common_subexpressions(graph), donated)
        if parts is not None:
            first, rest = (Program(part, self).kernel for part in parts)
            run = lambda *arrays: rest(*arrays, *barrier(first(*arrays)))  # noqa: E731
        return self.jax.jit(run, donate_argnums=places, compiler_options=LEAST_MEMORY | self.compiler_options)

    def graph_on_mesh(self, graph: Graph, layout: Layout, /) -> Compiled:
        """XLA's figures for a graph, which a separate process compiles for virtual devices."""
        from .virtual import figures

        return figures([(graph, layout)])[0]

    def graph_text(self, graph: Graph, /) -> str:
        """The program that JAX hands to XLA, in StableHLO."""
        shapes = [self.jax.ShapeDtypeStruct(x.shape, payload_dtype(x.dtype)) for x in graph.templates]
        lowered = self.jax.jit(Program(graph, self).kernel).lower(*shapes)
        return str(lowered.as_text())

    # Transport

    def from_binary(self, out: Template, /, *, data: bytes) -> Payload:
        """An array of the elements in the bytes."""
        import numpy

        return self.from_numpy(out, numpy.frombuffer(data, payload_dtype(out.dtype)).reshape(out.shape), copy=False)

    @_reading_method
    def to_binary(self, x: Tensor, limit: int, /) -> bytes:
        """The first `limit` elements as bytes."""
        self.readable(x.data)  # for a tracer in a user's function JAX raises its own error
        data = x.data if limit >= x.size else x.data.reshape(-1)[:limit]
        return bytes(self.jax.device_get(data).tobytes())

    def from_numpy(self, out: Template, array: numpy.ndarray[Any, Any], /, *, copy: bool) -> Payload:
        """A NumPy array put on the device; on a CPU the payload may share its memory, unless `copy`."""
        self.check_width(out)
        if out.dtype.is_narrow:
            array = array.view(payload_dtype(out.dtype))
        if copy:
            array = array.copy()
        return self.jax.device_put(array, self.committed)

    def check_width(self, out: Template) -> None:
        """Raises `UnsupportedOp` for a 64-bit dtype if JAX's 64-bit dtypes are off, or the platform has none."""
        if out.dtype not in self.dtypes:
            remedy = "unset JAX_ENABLE_X64, or cast with astype() first"
            expectation = "a dtype of at most 32 bits, or 64 if complex, because JAX's 64-bit dtypes are off"
            if self.long is int64:
                remedy = "cast with astype() first"
                expectation = "floats of at most 32 bits, because a TPU has no others"
            raise UnsupportedOp(expected(expectation, remedy, dtype=out.dtype))

    @_reading_method
    def to_numpy(self, x: Tensor, dtype: Any, copy: bool | None, /) -> numpy.ndarray[Any, Any]:
        """The payload as a read-only NumPy view, or as a new array if `dtype` or `copy` needs one."""
        import numpy

        self.readable(x.data)
        array = numpy.asarray(x.data)
        return read_only(array.view(numpy_dtype(x.dtype)) if x.dtype.is_narrow else array, dtype, copy)

    @classmethod
    def claims(cls, array: object, /) -> bool:
        """Whether an array is a tracer of JAX; if nobody has imported JAX, there are none."""
        jax = sys.modules.get("jax")
        return jax is not None and isinstance(array, jax.core.Tracer)

    def to_dlpack(self, x: Tensor, /, **options: Any) -> Any:
        """A DLPack capsule of the payload; for a payload on the host NumPy makes it."""
        if self.dlpack_device() == HOST:
            return super().to_dlpack(x, **options)
        return x.data.__dlpack__(**options)

    def exported(self, x: Tensor, /) -> Any:
        """The payload itself, as nobody can write to it; that of a narrow dtype as JAX's own array of it."""
        if not x.dtype.is_narrow:
            return x.data
        if x.dtype.bits < 8:
            remedy = "cast with astype() before returning it"
            raise UnsupportedOp(expected("a dtype of JAX's arrays of whole bytes", remedy, dtype=x.dtype), x.dtype)
        return self.lax.bitcast_convert_type(x.data, numpy_dtype(x.dtype))

    def adopted(self, array: Any, /) -> tuple[Template, Payload] | None:
        """The template and payload of a `jax.Array` that is on this instance's device alone.

        `None` for any other array, and for one that JAX is tracing.
        """
        if not isinstance(array, self.jax.Array) or self.traced(array) or array.sharding.device_set != {self.place}:
            return None
        template = template_of(array)
        return None if template.dtype.is_narrow else (template, array)  # JAX's own have another form than payloads

    def from_dlpack(self, array: Any, /, *, copy: bool | None) -> tuple[Template, Payload]:
        """The template and payload of an array with `__dlpack__`.

        Memory on the same device that begins at a multiple of 64 bytes is shared, unless `copy`; any other is copied.
        """
        try:
            data = self.jax.dlpack.from_dlpack(array, copy=copy)
        except (BufferError, ValueError, RuntimeError) as error:
            if copy is False or self.dlpack_device() != HOST:
                raise BufferError(str(error)) from error
            return super().from_dlpack(array, copy=copy)  # by NumPy, which takes all strides
        template = template_of(data)
        if self.committed is None and self.dlpack_device() == HOST:
            # JAX commits what it takes by DLPack to the device, but not what it takes from NumPy. A training step of
            # committed weights and uncommitted zeros would be compiled twice, as all of its results are committed.
            import numpy

            elements = numpy.asarray(data)
            return template, self.jax.device_put(aligned_copy(elements, elements.dtype) if copy else elements)
        # JAX's own copy=True shares memory all the same.
        return template, self.jax.device_put(self.xp.array(data, copy=True) if copy else data, self.committed)

    def to_batched(self, x: Tensor, size: int, /) -> Iterator[Payload]:
        """Consecutive runs of `size` entries along the first axis."""
        return (x.data[start : start + size] for start in range(0, x.shape[0], size))

    def inspect(self, x: Tensor, /, *, limit: int = 100) -> str:
        """The tensor as text; for one that JAX is tracing, or a result of `jax.eval_shape`, the template alone."""
        if self.traced(x.data):
            return f"{x.template!r} {self.name} (traced)"
        if not isinstance(x.data, self.jax.Array):
            return f"{x.template!r} {self.name} (without data)"
        return super().inspect(x, limit=limit)

    @_reading_method
    def elements_at(self, x: Tensor, positions: Sequence[Sequence[int]], /) -> Sequence[Scalar]:
        """The elements at the given positions along each axis.

        The host reads its own memory; another device sends only these elements.
        """
        return unpack(elements_at(x.data, positions).tobytes(), x.dtype)

    def exhausted(self, error: Exception, /) -> bool:
        """Whether XLA could not allocate memory."""
        return isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error)

    @_reading_method
    def block_until_ready(self, x: Tensor, /) -> None:
        """Waits for the payload to be computed."""
        self.jax.block_until_ready(x.data)


def library(name: str) -> Any:
    """A module of JAX; raises `BackendError` if it is not installed."""
    return import_library(name, JaxBackend.name, "jax")


def name_of(place: Any) -> str:
    """The name of a `jax.Device`, such as `"cuda:0"`."""
    return f"{'cuda' if place.platform == 'gpu' else place.platform}:{place.id}"


def _places(jax: Any) -> list[Any]:
    """The devices of this process: the default platform's, then the host's."""
    places = list(jax.local_devices())
    return places + [place for place in jax.local_devices(backend="cpu") if place not in places]


def device_of(jax: Any, device: object) -> Any:
    """The `jax.Device` of a name such as `"cpu:1"` or `"cpu"`; the default device for `None`."""
    places = _places(jax)
    for place in places:
        if device is None or (isinstance(device, str) and device in (name_of(place), name_of(place).partition(":")[0])):
            return place
    names = ", ".join(map(name_of, places))
    raise ArgumentError(expected("a device of the backend 'jax'", f"the devices are {names}", device=device))


def _copy_shared(given: list[Array], needed: Sequence[bool], traced: Callable[[Array], bool]) -> None:
    """Puts a copy in place of each donated array that anything else refers to: XLA deletes what it is given.

    A tensor made by `x[:]`, by `tensor(x)` or by `copy.deepcopy(x)` has the array of x.
    """
    for takes_it in needed:
        array = given.pop(0)
        given.append(array if not takes_it or traced(array) or _is_unshared(array) else array.copy())


def _is_unshared(array: Array) -> bool:
    return is_spare(array)  # which expects two variables, of the caller and of this function
