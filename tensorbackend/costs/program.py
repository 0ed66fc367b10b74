"""The costs of a graph run in one order: rows by op, totals, and where memory peaks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, Literal, NamedTuple, get_args

from ..errors import ArgumentError, expected
from ..expr.node import CAPTURED, PARAMETER, RENAMED, Line, Node
from ..template import Template
from ..tensor.missing_names import explain_missing
from . import show_bytes, show_count
from .flops import total
from .memory import KINDS, PARAMETERS, Block, Timeline

By = Literal["node", "op", "line"]

_NUMBER = re.compile(r"\[\d+\]")

TOP: Final = 20
"""Rows of a printed table unless another number is asked for."""


def runs(node: Node) -> bool:
    """Whether a node is an op that a backend runs, rather than a parameter, a captured tensor or a renamed value."""
    return node.op not in (PARAMETER, CAPTURED, RENAMED)


class Row(NamedTuple):
    """The costs of one op, or of several in one row of a table."""

    op: str
    results: tuple[Template, ...]
    flops: int
    transcendentals: int
    read: int
    """Bytes read."""
    written: int
    """Bytes written."""
    memory: int
    """Bytes in memory while it runs, in total."""
    line: Line | None
    """The user's line."""


class AliveBlock(NamedTuple):
    """A block of memory that exists at the peak."""

    kind: str
    """"parameter", "captured", "result" or "intermediate"."""
    name: str
    """The name of the parameter, else the op that made the block."""
    template: Template
    nbytes: int
    line: Line | None


@explain_missing
class Peak(NamedTuple):
    """Where memory is highest."""

    memory: int
    """Bytes in total."""
    op: str
    """The op that runs at the peak."""
    line: Line | None
    workspace: int
    """Bytes that this op needs besides its inputs and results, such as for the parts of a composite."""
    alive: tuple[AliveBlock, ...]
    """The blocks that exist at the peak, the largest first."""

    def by_kind(self) -> dict[str, int]:
        """Bytes of parameters, captured tensors, results, intermediates and workspace."""
        bytes_by_kind = dict.fromkeys(KINDS, 0)
        for block in self.alive:
            bytes_by_kind[block.kind] += block.nbytes
        return {**bytes_by_kind, "workspace": self.workspace}

    def table(self) -> list[tuple[str, ...]]:
        """The cells of a table with the columns `ALIVE`: one row for all equal blocks, the largest first."""
        groups: dict[tuple[str, str, Template, Line | None], list[AliveBlock]] = {}
        for block in self.alive:
            name = _NUMBER.sub("[...]", block.name) if block.kind == PARAMETERS else block.name
            groups.setdefault((block.kind, name, block.template, block.line), []).append(block)
        rows: list[tuple[str, ...]] = [
            (
                (first := blocks[0]).kind,
                first.name if len(blocks) == 1 else name,
                repr(first.template),
                str(len(blocks)),
                show_bytes(sum(block.nbytes for block in blocks)),
                str(first.line or ""),
            )
            for (_, name, _, _), blocks in sorted(
                groups.items(), key=lambda pair: -sum(block.nbytes for block in pair[1])
            )
        ]
        if self.workspace:
            rows.append(("workspace", self.op, "", "", show_bytes(self.workspace), str(self.line or "")))
        return rows


@explain_missing
class Program:
    """The costs of a graph whose nodes run in one order."""

    def __init__(self, name: str, timeline: Timeline, names: Sequence[str]) -> None:
        self.name = name
        """"eager", "optimised" or "per device"."""
        self.timeline, self._names = timeline, names
        work = total(timeline.works)
        self.flops = work.flops
        """Floating-point operations, without transcendental functions."""
        self.transcendentals = work.transcendentals
        """The number of elements that transcendental functions compute."""
        self.read = work.read
        """Bytes of inputs of ops."""
        self.written = work.written
        """Bytes of results of ops."""
        self.open = work.open
        """Whether a loop counts as one iteration, because their number depends on data."""

    @property
    def rows(self) -> list[Row]:
        """A row for each op, in order."""
        timeline = self.timeline
        return [
            Row(node.op, node.outs, work.flops, work.transcendentals, work.read, work.written, memory, node.line)
            for node, work, memory in zip(timeline.nodes, timeline.works, timeline.memory, strict=True)
            if runs(node)
        ]

    @property
    def ops(self) -> int:
        """The number of ops."""
        return sum(map(runs, self.timeline.nodes))

    @property
    def peak(self) -> Peak:
        """Where memory is highest, and the tensors alive there."""
        timeline, number = self.timeline, self.timeline.peak_at
        if not timeline.nodes:
            return Peak(0, "", None, 0, ())
        node = timeline.nodes[number]
        alive = tuple(map(self._alive, timeline.alive(number)))
        return Peak(timeline.memory[number], node.op, node.line, timeline.works[number].workspace, alive)

    def _alive(self, block: Block) -> AliveBlock:
        node = block.value.node
        if block.parameter is not None:
            return AliveBlock(block.kind, self._names[block.parameter], block.value.template, block.nbytes, None)
        return AliveBlock(block.kind, node.op, block.value.template, block.nbytes, node.line)

    def table(self, by: By = "op") -> list[tuple[str, ...]]:
        """The cells of a table with the columns `COLUMNS`: one row for each node, each op, or each line of the program.

        Nodes are in the order in which they run, the other rows are sorted by FLOPs in descending order. The row of a
        line has the name and the result of its op with the most FLOPs.
        """
        if by not in get_args(By):
            raise ArgumentError(expected(f"one of {', '.join(get_args(By))}", by=by))
        if by == "node":
            return [_cells(row, ", ".join(map(repr, row.results)), 1) for row in self.rows]
        groups: dict[Any, list[Row]] = {}
        for row in self.rows:
            groups.setdefault(row.op if by == "op" else row.line, []).append(row)
        joined = sorted((_join(rows) for rows in groups.values()), key=lambda pair: (-pair[0].flops, -pair[0].written))
        return [
            _cells(row, repr(row.results[0]) + (", ..." if count > 1 or len(row.results) > 1 else ""), count)
            for row, count in joined
        ]

    def to_json(self) -> dict[str, Any]:
        """The program as plain values."""
        peak = self.peak
        return {
            "program": self.name,
            "flops": self.flops,
            "transcendentals": self.transcendentals,
            "bytes_read": self.read,
            "bytes_written": self.written,
            "unbounded_loops": self.open,
            "memory": {
                "peak": peak.memory,
                "parameters": self.timeline.parameters,
                "captured": self.timeline.captured,
                "results": self.timeline.results,
            },
            "peak": {
                "op": peak.op,
                "line": where(peak.line),
                "by_kind": peak.by_kind(),
                "alive": [
                    {**block._asdict(), "template": repr(block.template), "line": where(block.line)}
                    for block in peak.alive[:100]
                ],
            },
            "rows": [
                {**row._asdict(), "results": [*map(repr, row.results)], "line": where(row.line)} for row in self.rows
            ],
        }


ALIVE: Final = ("kind", "what", "template", "blocks", "size", "line")
COLUMNS: Final = ("op", "calls", "result", "FLOPs", "transc.", "read", "written", "memory", "line")


def _cells(row: Row, result: str, count: int) -> tuple[str, ...]:
    return (
        row.op,
        str(count),
        result,
        show_count(row.flops),
        show_count(row.transcendentals),
        show_bytes(row.read),
        show_bytes(row.written),
        show_bytes(row.memory),
        str(row.line or ""),
    )


def _join(rows: Sequence[Row]) -> tuple[Row, int]:
    """Rows joined to one, and their number. The row has their sums and highest memory, and the op, templates and line
    of the row with the most FLOPs; `...` after the op says that there are others."""
    most = max(rows, key=lambda row: (row.flops, row.written))
    joined = most._replace(
        op=most.op if all(row.op == most.op for row in rows) else f"{most.op}, ...",
        flops=sum(row.flops for row in rows),
        transcendentals=sum(row.transcendentals for row in rows),
        read=sum(row.read for row in rows),
        written=sum(row.written for row in rows),
        memory=max(row.memory for row in rows),
    )
    return joined, len(rows)


def where(line: Line | None) -> str | None:
    """A line as plain values have it."""
    return None if line is None else f"{line.file}:{line.number}"
