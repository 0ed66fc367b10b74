"""The figures of a compiler for a graph on a mesh, to compare with those that the walk predicts."""

from __future__ import annotations

from typing import NamedTuple

from .collectives import Collective


class Compiled(NamedTuple):
    """A compiler's own figures, per device."""

    compiler: str
    """The compiler, and the target that it compiled for."""
    collectives: tuple[Collective, ...]
    parameters: int
    """Bytes of arguments."""
    results: int
    """Bytes of results."""
    temporary: int
    """Bytes of buffers that are neither arguments nor results."""
    aliased: int
    """Bytes of results that are written over arguments."""
    flops: float
    """FLOPs as XLA counts them: of a loop, only those of one iteration."""

    @property
    def peak(self) -> int:
        """Bytes of arguments, results and temporary buffers together, memory that they share counted once."""
        return self.parameters + self.results + self.temporary - self.aliased
