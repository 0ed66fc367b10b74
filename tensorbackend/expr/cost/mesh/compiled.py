"""The figures of a compiler for a graph on a mesh, beside those that the walk predicts."""

from __future__ import annotations

from typing import NamedTuple

from .collectives import Collective


class Compiled(NamedTuple):
    """A compiler's own figures, per device."""

    compiler: str
    """Which, and what it compiled for."""
    collectives: tuple[Collective, ...]
    parameters: int
    """Bytes of arguments."""
    results: int
    """Bytes."""
    temporary: int
    """Bytes of buffers that are neither arguments nor results."""
    aliased: int
    """Bytes of results that are written over arguments."""
    flops: float
    """FLOPs, of loops those of one turn, as XLA counts them."""

    @property
    def peak(self) -> int:
        """Bytes of all of it together."""
        return self.parameters + self.results + self.temporary - self.aliased
