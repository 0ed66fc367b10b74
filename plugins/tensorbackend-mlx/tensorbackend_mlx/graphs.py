"""Graphs as functions that `mx.compile` fuses."""

from __future__ import annotations

import shutil
import sys
from typing import Any

from tensorbackend import DType
from tensorbackend.extending import Graph, kernel_of_graph
from tensorbackend.protocol import Kernel, Payload

from .kernels import MlxBase, Untraceable, tracing
from .library import Array, mx


class MlxGraphs(MlxBase):
    """What `tb.jit` asks for."""

    def compile_graph(self, graph: Graph, /) -> Kernel | None:
        """The graph compiled by `mx.compile`, unless it reads data: loops, a user's functions, and what NumPy computes.

        On a CPU, MLX compiles by the machine's C++ compiler; without one nothing is compiled.
        """
        if not graph.parameters or any(_calls_python(node.options) for node in graph.nodes) or not _has_compiler(self):
            return None
        run = kernel_of_graph(graph, self)
        compiled = mx.compile(_traced(run))
        taken: Kernel | None = None

        def call(*payloads: Payload) -> Any:
            nonlocal taken
            if taken is None:  # tracing happens in the first call
                try:
                    results = compiled(*payloads)
                    taken = compiled
                except Exception as error:  # whatever class the error has that the ops around it raise
                    if not _reads_data(error):
                        raise
                    taken = run
                    return run(*payloads)
            else:
                results = taken(*payloads)
            if not tracing.on:
                mx.async_eval(results)
            return tuple(results)

        return call


def _traced(run: Kernel) -> Any:
    """The function that MLX traces; while it runs, arrays have no data."""

    def traced(*payloads: Array) -> Any:
        before, tracing.on = tracing.on, True
        try:
            return run(*payloads)
        finally:
            tracing.on = before

    return traced


def _calls_python(options: Any) -> bool:
    """Whether a node runs a user's function or another graph."""
    return any(
        hasattr(option, "nodes") or (callable(option) and not isinstance(option, DType)) for option in options.values()
    )


def _has_compiler(backend: MlxBase) -> bool:
    return backend.device != "cpu" or sys.platform == "darwin" or shutil.which("g++") is not None


def _reads_data(error: BaseException | None) -> bool:
    """Whether tracing failed as a kernel reads data."""
    while error is not None:
        if isinstance(error, Untraceable) or "Attempting to eval an array during function" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False
