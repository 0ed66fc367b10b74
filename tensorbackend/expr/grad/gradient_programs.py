"""Graphs of gradients that are found by what was recorded, as programs of one backend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

from ...caching.memos import POLICY, BoundedMemo
from ...protocol import Backend, Kernel, Payload
from ...scopes import around_calls
from ...template import Template
from ...tensor import Tensor, blank_tensor
from ..evaluate import Program
from ..graph import Graph
from ..simplify import simplified
from .registry import clear_with_rules


class GradientProgram:
    """How results and cotangents are computed from payloads.

    It is optimised in stages: at first the caller runs the graph itself, as most graphs occur once; the first call
    makes a program; later a backend compiles it if that does not change results by a bit.
    """

    __slots__ = ("_calls", "_graph", "_kernel", "extra", "home", "places")

    def __init__(self, graph: Graph, home: Backend, places: Any, extra: Any = None) -> None:
        self._graph: Graph | None = graph
        self._kernel: Kernel | None = None
        self._calls = 0
        self.home, self.places, self.extra = home, places, extra
        """What the caller needs to find the payloads, and to nest the results."""

    def __call__(self, payloads: Sequence[Payload]) -> tuple[Payload, ...]:
        """The payloads of the results, for those of the graph's parameters."""
        kernel = self._kernel
        if self._graph is not None or kernel is None:
            kernel = self._make_kernel()
        if around_calls:
            return cast(tuple[Payload, ...], around_calls[-1](False, kernel, *payloads))
        results: tuple[Payload, ...] = kernel(*payloads)
        return results

    def _make_kernel(self) -> Kernel:
        """The kernel of this call."""
        graph, kernel = self._graph, self._kernel
        self._calls += 1
        if graph is None:  # another thread has taken the last step since
            assert kernel is not None
            return kernel
        compiled = None
        if kernel is None:
            kernel = Program(simplified(graph, self.home), self.home, entered_once=True).kernel
        elif self._calls >= POLICY.calls_before_compiling:
            compiled = self.home.compile_graph(graph)
        self._kernel = compiled or kernel
        if compiled is not None or not self.home.compiles_exactly:
            self._graph = None
        return self._kernel


GRADIENT_PROGRAMS: Final[BoundedMemo[GradientProgram]] = clear_with_rules(BoundedMemo("programs of gradients", 512))
"""The programs by what was recorded."""


def tensor_of(template: Template, backend: Backend, data: Payload) -> Tensor:
    """A tensor, made faster than by its class."""
    tensor = blank_tensor()
    tensor.template, tensor.backend, tensor.data = template, backend, data
    return tensor
