"""The dry run of one device of a mesh: memory, work, collectives and time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final, NamedTuple

from ...display import plain_table
from ...expr.graph import Graph
from ...mesh import Layout, Sharding
from ...select import get_backend
from .. import show_bytes, show_count, show_seconds
from ..program import Program, where
from .collectives import Collective, Compiled, Kind, bytes_by_kind
from .machines import Machine, Time, time_of
from .walk import Walk, flat

COLLECTIVES: Final = ("collective", "over", "devices", "times", "bytes", "all", "op", "line")

SHOWN: Final = 12
"""The largest number of rows in each table of a text; tables as cells and JSON have all rows."""


class PlacedTensor(NamedTuple):
    """A parameter or result, and its layout."""

    name: str
    sharding: Sharding

    @property
    def nbytes(self) -> int:
        """Bytes on each device."""
        return self.sharding.template.replace(shape=self.sharding.shard_shape).payload_nbytes


class OnMesh:
    """The costs of a function for each device of a mesh."""

    def __init__(
        self,
        graph: Graph,
        layout: Layout,
        machine: Machine,
        *,
        flattened: Graph | None = None,
        known: Walk | None = None,
        donated: Collection[int] = (),
    ) -> None:
        self._graph, self.layout, self.machine = graph, layout, machine
        flattened = flattened or flat(graph)
        divided = Walk(layout, known).divided(flattened, donated=donated)
        self.program = Program("per device", divided.timeline, graph.names)
        """The program of one device, collectives among its ops. Elementwise ops write over inputs needed no longer."""
        self.collectives = divided.collectives
        """The collectives in order, each with the op and the line that need it."""
        self.flops = self.program.flops
        """FLOPs of each device."""
        self.by_kind: dict[Kind, int] = bytes_by_kind(self.collectives)
        """Bytes of collectives on each device by kind: operands of all-reduces, results of all-gathers."""
        self.sent: float = sum(collective.sent for collective in self.collectives)
        """Bytes that each device sends, if the devices of a collective form a ring."""
        self.parameters = self._place_tensors(graph.names, graph.templates, divided.inside)
        """The layout of each parameter."""
        names = [f"result[{number}]" for number in range(len(graph.outputs))]
        self.results = self._place_tensors(names, graph.results, divided.outside)
        """The layout of each result."""
        self.time: Time = time_of(machine, layout.mesh, divided.graph, divided.timeline.works, divided.collectives)
        """How long one run takes by the model of the machine."""
        names_there = {name for node in flattened.nodes for out in node.outs for name in out.names}
        self.unused = tuple([name for name, axes in layout.rules if axes and name not in names_there])
        """Names with a rule that no axis of a tensor has."""

    def _place_tensors(
        self, names: Sequence[str], templates: Sequence[Any], axes: Sequence[Any]
    ) -> tuple[PlacedTensor, ...]:
        ruled = [self.layout.of(template) for template in templates]
        return tuple([
            PlacedTensor(name, rule._replace(axes=mesh_axes))
            for name, rule, mesh_axes in zip(names, ruled, axes, strict=True)
        ])  # fmt: skip

    @property
    def peak(self) -> int:
        """Bytes on each device at the peak, parameters and results among them."""
        return self.program.peak.memory

    def fits(self, size: int) -> bool:
        """Whether the peak of a device is at most `size` bytes."""
        return self.peak <= size

    def xla(self) -> Compiled:
        """XLA's own figures, from compiling the function for virtual devices of the host in another process.

        Raises
        ------
        BackendError
            Without JAX, or if XLA does not compile the function.
        ArgumentError
            For a function in the graph that another process cannot import.
        """
        figures = get_backend("jax").graph_on_mesh(self._graph, self.layout)
        assert figures is not None  # JaxBackend returns figures
        return figures

    # As text

    def summary(self) -> str:
        """Totals of one device in a few lines."""
        timeline, time = self.program.timeline, self.time
        row = (
            "per device",
            show_count(self.flops) or "0",
            show_bytes(timeline.parameters + timeline.captured),
            show_bytes(timeline.results),
            show_bytes(self.peak),
            show_bytes(sum(self.by_kind.values())),
            show_bytes(self.sent),
            show_seconds(time.total),
        )
        columns = ("order", "FLOPs", "parameters", "results", "peak", "collectives", "sent", f"time, {time.machine}")
        mesh = self.layout.mesh
        sizes = " x ".join(f"{name}={size}" for name, size in mesh.sizes.items())
        lines = [f"on {mesh.size} devices, {sizes}; {self.rules()}", plain_table(columns, [row])]
        parts = [f"ops {show_seconds(time.ops)}", f"links {show_seconds(time.links)}"]
        lines.append(f"time by the model: {', '.join(parts)}, network {show_seconds(time.network)}")
        if self.unused:
            lines.append(f"no tensor has an axis named {' or '.join(self.unused)}: rules for these do nothing")
        return "\n".join(lines)

    def rules(self) -> str:
        """The rules as text."""
        rules = [f"{name} on {' '.join(axes)}" for name, axes in self.layout.rules if axes]
        return ", ".join(rules) or "all whole"

    def text(self, top: int = SHOWN) -> str:
        """Collectives, those of most bytes first, then the layouts of parameters and results, the largest first."""
        return f"{plain_table(COLLECTIVES, self.table(), top)}\n\n{plain_table(LAYOUTS, self.layouts(), top)}"

    def table(self) -> list[tuple[str, ...]]:
        """The cells of a table with the columns `COLLECTIVES`: one row for all equal collectives."""
        groups: dict[Any, int] = {}
        for collective in self.collectives:
            key = collective._replace(runs=1)
            groups[key] = groups.get(key, 0) + collective.runs
        rows = sorted(groups.items(), key=lambda pair: -pair[0].nbytes * pair[1])
        return [_cells(collective, count) for collective, count in rows]

    def layouts(self) -> list[tuple[str, ...]]:
        """The cells of a table with the columns `LAYOUTS`: one row for all tensors of one layout."""
        groups: dict[tuple[str, str, tuple[str, ...]], list[PlacedTensor]] = {}
        for kind, several in (("parameter", self.parameters), ("result", self.results)):
            for tensor in several:
                groups.setdefault((kind, str(tensor.sharding), tensor.sharding.notes), []).append(tensor)
        rows = sorted(groups.items(), key=lambda pair: -sum(tensor.nbytes for tensor in pair[1]))
        return [
            (
                kind,
                several[0].name if len(several) == 1 else f"{several[0].name}, ...",
                text,
                str(len(several)),
                show_bytes(sum(tensor.nbytes for tensor in several)),
                "; ".join(notes),
            )
            for (kind, text, notes), several in rows
        ]

    def compare(self, other: Compiled) -> str:
        """The predicted figures next to a compiler's, as text."""
        mine, theirs = self.by_kind, bytes_by_kind(other.collectives)
        timeline = self.program.timeline
        rows: list[tuple[str, int, int]] = [(k, mine.get(k, 0), theirs.get(k, 0)) for k in {**mine, **theirs}]
        rows += [
            ("parameters", timeline.parameters + timeline.captured, other.parameters),
            ("results", timeline.results, other.results),
            ("peak", self.peak, other.peak),
        ]
        cells = [(what, show_bytes(one), show_bytes(two), f"{one / two:.4f}" if two else "") for what, one, two in rows]
        return f"{other.compiler}\n{plain_table(('per device', 'predicted', 'by XLA', 'ratio'), cells)}"

    def to_json(self) -> dict[str, Any]:
        """All costs as plain values."""
        time = self.time
        return {
            "mesh": dict(self.layout.mesh.sizes),
            "layout": {name: list(axes) for name, axes in self.layout.rules},
            "peak": self.peak,
            "sent": self.sent,
            "collectives_by_kind": dict(self.by_kind),
            "collectives": [
                {**collective._asdict(), "sent": collective.sent, "line": where(collective.line)}
                for collective in self.collectives
            ],
            "time": {**time._asdict(), "total": time.total},
            "parameters": _json(self.parameters),
            "results": _json(self.results),
            "program": self.program.to_json(),
        }


LAYOUTS: Final = ("kind", "what", "layout", "tensors", "bytes a device", "notes")


def _cells(collective: Collective, count: int) -> tuple[str, ...]:
    return (
        collective.kind,
        " ".join(collective.axes),
        str(collective.devices),
        str(count),
        show_bytes(collective.nbytes),
        show_bytes(collective.nbytes * count),
        collective.op,
        str(collective.line or ""),
    )


def _json(several: Sequence[PlacedTensor]) -> list[dict[str, Any]]:
    return [
        {
            "name": tensor.name,
            "layout": str(tensor.sharding),
            "bytes": tensor.nbytes,
            "notes": list(tensor.sharding.notes),
        }
        for tensor in several
    ]
