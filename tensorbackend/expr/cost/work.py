"""The work of a node: operations, bytes moved, and memory that its parts need besides inputs and results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

ROUNDING: Final = frozenset({"ceil", "floor", "round", "trunc"})
"""The callbacks that return integers unchanged."""


class Work(NamedTuple):
    """The cost of a node. Bytes are those of the inputs it reads and the results it writes; caches are ignored."""

    flops: int = 0
    transcendentals: int = 0
    read: int = 0
    written: int = 0
    workspace: int = 0
    """The most bytes that parts need at any time besides inputs and results."""
    shares: tuple[int | None, ...] = ()
    """The input whose memory each result shares, by its place among the operands."""
    strided: tuple[bool, ...] = ()
    """Whether the elements of each result may be in an order other than row-major."""
    blocks: tuple[tuple[int, int], ...] = ()
    """For each result the first result in the same memory, and the bytes of that memory, of which the result may be a
    part; empty if each result has memory of its size."""
    open: bool = False
    """Whether a loop is counted as one iteration, because only data can say how many there are."""

    def apart(self, count: int) -> Work:
        """The work with `count` results in memory of their own, in row-major order."""
        return self._replace(shares=(None,) * count, strided=(False,) * count)

    def times(self, count: int) -> Work:
        """The work of `count` runs."""
        return self._replace(
            flops=self.flops * count,
            transcendentals=self.transcendentals * count,
            read=self.read * count,
            written=self.written * count,
        )


def total(works: Sequence[Work]) -> Work:
    """The work of several nodes, without their memory."""
    return Work(
        sum(work.flops for work in works),
        sum(work.transcendentals for work in works),
        sum(work.read for work in works),
        sum(work.written for work in works),
        open=any(work.open for work in works),
    )
