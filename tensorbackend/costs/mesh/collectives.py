"""Collectives as data, and the figures of a compiler, to compare with those that the walk predicts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple, TypeAlias

from ...expr.node import Line

Kind: TypeAlias = Literal["all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute"]

KINDS: Final[tuple[Kind, ...]] = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")

_ROUNDS: Final[dict[Kind, int]] = {"all-reduce": 2}
"""How often a ring passes the data round: once, except for an all-reduce, as a reduce-scatter and an all-gather."""


class Collective(NamedTuple):
    """A collective operation of devices at one point of a program."""

    kind: Kind
    axes: tuple[str, ...]
    """The mesh axes along which the devices exchange data."""
    devices: int
    """The number of devices that take part."""
    nbytes: int
    """Bytes of a device's operand or result, whichever is larger: the operand of an all-reduce, a reduce-scatter and
    an all-to-all, the result of an all-gather."""
    runs: int
    """How often it runs."""
    op: str
    """The callback of the op that needs it."""
    line: Line | None
    """The user's line of that op."""

    @property
    def total(self) -> int:
        """Bytes of all its runs."""
        return self.nbytes * self.runs

    @property
    def sent(self) -> float:
        """Bytes that a device sends in all its runs by a ring: 2 (n - 1) / n of an all-reduce, (n - 1) / n of others.

        A collective-permute sends all.
        """
        if self.kind == "collective-permute":
            return float(self.total)
        return self.total * _ROUNDS.get(self.kind, 1) * (self.devices - 1) / self.devices


def bytes_by_kind(collectives: Iterable[Collective]) -> dict[Kind, int]:
    """Bytes on each device by kind, without absent kinds."""
    bytes_by_kind = dict.fromkeys(KINDS, 0)
    for collective in collectives:
        bytes_by_kind[collective.kind] += collective.total
    return {kind: total for kind, total in bytes_by_kind.items() if total}


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
