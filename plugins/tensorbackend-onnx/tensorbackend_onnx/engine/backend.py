"""The backend: its devices, and graphs as sessions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, expected
from tensorbackend.extending import DeviceFacts, Graph, host_facts, import_library
from tensorbackend.protocol import Kernel, Payload

from .programs import EngineProgram
from .quantised import Packed, product
from .sessions import CPU, SUFFIX, Provider, check_device, devices, provider_of


class OnnxRuntimeBackend(tb.NumpyBackend):
    """Payloads are NumPy's arrays. What `tb.jit` compiles runs in sessions of ONNX Runtime, single ops in NumPy.

    >>> import tensorbackend as tb
    >>> x = tb.tensor([1.0, 2.0], backend="onnxruntime")
    >>> tb.jit(lambda x: tb.sum(x * x))(x)
    f32 onnxruntime 5.0
    """

    name = "onnxruntime"
    array_types = ()  # type: ignore[assignment] # NumPy's arrays are those of NumpyBackend
    donates = False
    compiles_exactly = False
    default_threads: ClassVar[int] = 0

    @classmethod
    def init(cls, **options: object) -> Mapping[str, Hashable]:
        """Checks the options.

        `device` is the short name of one of ONNX Runtime's execution providers, such as "cuda" or "webgpu"; by default
        it is "cpu". Or `providers` has them by their own names, some with a dict of options, as ONNX Runtime takes
        them. `threads` is their number for one operator; 0 leaves it to ONNX Runtime. `accuracy_level` is that of
        `MatMulNBits`, its operator for `tb.quantized_dot`: 4 rounds the other operand to 8 bits.
        """
        given: dict[str, Any] = {"device": None, "providers": None, "threads": cls.default_threads, "accuracy_level": 0}
        if not options.keys() <= given.keys():
            raise ArgumentError(
                expected(f"options among {', '.join(given)} for the backend {cls.name!r}", options=options)
            )
        given.update(options)
        runtime = import_library("onnxruntime", cls.name, command="pip install onnxruntime")
        known = devices(runtime)
        if given["providers"] is None:
            chosen = [provider_of(runtime, given["device"] or "cpu")]
        else:
            chosen = [_frozen(provider) for provider in given["providers"]]
            names = sorted(known.values())
            if not chosen or not {name for name, _ in chosen} <= {*names}:
                raise ArgumentError(expected(f"providers among {', '.join(names)}", providers=given["providers"]))
        if CPU[0] not in (name for name, _ in chosen):  # which has what others lack
            chosen.append(CPU)
        short = chosen[0][0].removesuffix(SUFFIX).lower()
        if chosen[0][0] != CPU[0]:  # which works everywhere
            check_device(runtime, short, chosen)
        kept = {name: given[name] for name in ("threads", "accuracy_level")}
        return {"device": short, "providers": tuple(chosen), **kept}

    def setup(self) -> None:
        """Imports NumPy and ONNX Runtime."""
        super().setup()
        import onnxruntime

        self.runtime: Any = onnxruntime
        self.device = str(self.options["device"])
        self.providers: tuple[Provider, ...] = self.options["providers"]  # type: ignore[assignment] # as `init` made it
        self.threads: int = self.options["threads"]  # type: ignore[assignment]
        self.accuracy_level: int = self.options["accuracy_level"]  # type: ignore[assignment]
        self.packed: WeakKeyDictionary[tb.Quantized, Packed] = WeakKeyDictionary()
        """What is kept for products with quantised matrices, as long as these live."""

    def versions(self) -> Mapping[str, str]:
        """Those of ONNX Runtime and of NumPy."""
        return {"onnxruntime": self.runtime.__version__, **super().versions()}

    def devices(self) -> tuple[str, ...]:
        """The execution providers that are installed, by their short names, the CPU first."""
        return tuple(sorted(devices(self.runtime), key=lambda name: (name != "cpu", name)))

    def device_facts(self, device: str, /) -> DeviceFacts:
        """What is known of a provider's device; ONNX Runtime says no more than its name."""
        return host_facts() if device == "cpu" else DeviceFacts(device)

    def on_device(self, device: str) -> OnnxRuntimeBackend:
        """The instance for another execution provider, by its short name."""
        if device == self.device:
            return self
        return type(self)(device=device, threads=self.threads, accuracy_level=self.accuracy_level)

    def dlpack_device(self) -> tuple[int, int]:
        """The host's: payloads are NumPy's arrays, which a session copies to its device."""
        return tb.get_backend("numpy").dlpack_device()

    def quantized_product(self, x: tb.Tensor, q: tb.Quantized, /) -> Payload | None:
        """The product by `MatMulNBits`, from the second one with a matrix on."""
        return product(x, q, self)

    def compile_graph(self, graph: Graph, /, *, donated: Sequence[int] = ()) -> Kernel:
        """The graph as sessions, and as NumPy's programs for what the engine has not."""
        return EngineProgram(graph, self).kernel()

    def graph_text(self, graph: Graph, /) -> str:
        """The models of the sessions, and the graphs that NumPy runs."""
        return EngineProgram(graph, self).text()

    def kernel_by_numpy(self, graph: Graph) -> Kernel:
        """A graph as NumPy's program."""
        return super().compile_graph(graph)


def _frozen(provider: Any) -> Provider:
    """A provider, alone or with options, in a form that hashes."""
    name, options = provider if isinstance(provider, tuple) else (provider, {})
    pairs: Iterable[tuple[str, Any]] = options.items() if isinstance(options, dict) else options
    return str(name), tuple(sorted((key, str(value)) for key, value in pairs))
