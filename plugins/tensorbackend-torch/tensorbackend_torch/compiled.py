"""The backend whose graphs `torch.compile` compiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorbackend import DType
from tensorbackend.extending import Graph, kernel_of_graph
from tensorbackend.protocol import Kernel, Payload

from .backend import TorchBackend
from .library import torch
from .looking import tracing


class CompiledTorchBackend(TorchBackend):
    """Has `torch.compile` compile what `tb.jit` traces; all else is as in `TorchBackend`.

    PyTorch's compiler takes seconds for a program, and needs a C++ compiler on a CPU. It fuses elementwise ops and
    reductions, and rounds in other places. A graph runs op by op where it compiles nothing: where a kernel reads data,
    as those of indices, factorisations and convolutions on a CPU do, for loops, and for complex numbers.

    >>> import tensorbackend as tb
    >>> tb.get_backend("torch_compiled").name
    'torch_compiled'
    """

    name = "torch_compiled"
    array_types = ()  # type: ignore[assignment] # PyTorch's tensors are those of TorchBackend
    compiles_exactly = False
    writable_payloads = False  # checked mode would read elements in a trace; it watches these kernels in TorchBackend

    def compile_graph(self, graph: Graph, /) -> Kernel:
        """The graph, traced and compiled by PyTorch at its first call; op by op if that is not possible."""
        run = kernel_of_graph(graph, self)
        if not _may_be_compiled(graph):
            return run
        taken: Kernel | None = None

        def call(*payloads: Payload) -> Any:
            nonlocal taken
            if taken is None:
                run(*payloads)  # makes the constants that the kernel keeps, which a trace would make without data
                taken = _compiled_or(run, payloads)
            with torch.no_grad():
                return taken(*payloads)

        return call


def _may_be_compiled(graph: Graph) -> bool:
    """Whether no node is complex, nor runs a user's function or another graph."""
    options = [option for node in graph.nodes for option in node.options.values() if not isinstance(option, DType)]
    calls = any(callable(option) or hasattr(option, "nodes") for option in options)
    return not calls and all(out.dtype.kind != "complex" for node in graph.nodes for out in node.outs)


def _compiled_or(run: Kernel, payloads: Sequence[Payload]) -> Kernel:
    """What PyTorch's compiler makes of a kernel; the kernel itself if it reads data, or without a C++ compiler."""
    from torch.fx.experimental.proxy_tensor import make_fx

    try:
        with tracing():
            graph = make_fx(run, tracing_mode="fake", _allow_non_fake_inputs=True)(*payloads)
        compiled: Kernel = torch.compile(graph, dynamic=False)
        compiled(*payloads)
    except Exception:  # tracers and compilers raise many classes; an error of the user's comes again from `run`
        return run
    return compiled
