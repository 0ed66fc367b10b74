"""The report of a dry run: two programs, as tables, as text, as JSON and as a chart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..display import plain_table
from ..errors import ArgumentError, expected
from ..tensor.missing_names import explain_missing
from . import parse_bytes, show_bytes, show_count
from .candidates import Recomputation
from .mesh.divided import OnMesh
from .program import COLUMNS, TOP, By, Peak, Program


@explain_missing
class DryRun:
    """The costs of a function: op by op in program order, as a rewritten graph, and on a mesh."""

    def __init__(
        self,
        name: str,
        gradient: bool,
        eager: Program,
        optimised: Program,
        on_mesh: OnMesh | None = None,
        donatable: tuple[str, ...] = (),
        peak_if_donated: int = 0,
    ) -> None:
        self.name, self.gradient = name, gradient
        self.eager = eager
        """Op by op, each value freed after its last use in the program as written."""
        self.optimised = optimised
        """The program after the rewrites of `tb.jit`, where elementwise ops write over inputs that nothing needs after
        them."""
        self.on_mesh = on_mesh
        """The memory that each device of the mesh needs and the bytes that it sends; `None` without a mesh."""
        self.recomputation: Recomputation | None = None
        """Which calls of checkpointed functions are computed again for a limit of memory; `None` without one."""
        self.donatable = donatable
        """The names of parameters that could be donated, as for each of their tensors there is a result like it."""
        self.peak_if_donated = peak_if_donated
        """The peak in bytes of the optimised program if these were donated too."""

    @property
    def flops(self) -> int:
        """FLOPs in eager order."""
        return self.eager.flops

    @property
    def peak(self) -> Peak:
        """Where memory is highest in eager order."""
        return self.eager.peak

    def fits(self, size: int | str, *, optimised: bool = False) -> bool:
        """Whether the peak is at most `size`: a number of bytes, or text such as `"141GB"` or `"80GiB"`.

        On a mesh, the peak is that of each device.
        """
        return self.shown_program(optimised).peak.memory <= (parse_bytes(size) if isinstance(size, str) else size)

    def shown_program(self, optimised: bool = False) -> Program:
        """The program for tables and for limits: on a mesh, the program of one device."""
        if self.on_mesh is not None:
            return self.on_mesh.program
        return self.optimised if optimised else self.eager

    def summary(self) -> str:
        """Totals and peaks in a few lines."""
        what = "forward and gradient" if self.gradient else "forward"
        rows = [
            (
                program.name,
                str(program.ops),
                show_count(program.flops) or "0",
                show_count(program.transcendentals) or "0",
                show_bytes(program.read + program.written),
                show_bytes(program.timeline.parameters),
                show_bytes(program.timeline.captured),
                show_bytes(program.timeline.results),
                show_bytes(program.peak.memory),
                f"{program.peak.op} {program.peak.line or ''}".rstrip(),
            )
            for program in (self.eager, self.optimised)
        ]
        columns = (
            "order", "ops", "FLOPs", "transc.", "moved", "parameters", "captured", "results", "peak", "peak at",
        )  # fmt: skip
        lines = [f"{self.name}, {what}", plain_table(columns, rows)]
        if self.eager.open:
            lines.append("loops whose number of iterations depends on data are counted as one iteration")
        if self.recomputation is not None:
            lines.append(str(self.recomputation))
        if self.donatable and self.peak_if_donated < self.optimised.peak.memory:
            names = ", ".join(self.donatable)
            lines.append(f"could be donated: {names}; the optimised peak would be {show_bytes(self.peak_if_donated)}")
        if self.on_mesh is not None:
            lines += ["", self.on_mesh.summary()]
        return "\n".join(lines)

    def __repr__(self) -> str:
        layout = "" if self.on_mesh is None else f"{self.on_mesh.text()}\n\n"
        return f"{self.summary()}\n\n{layout}{self.text()}"

    def text(self, by: By = "op", top: int = TOP, *, optimised: bool = False) -> str:
        """The table as text, by op, by line, or node by node; on a mesh, the table of one device."""
        return plain_table(COLUMNS, self.shown_program(optimised).table(by), top)

    def to_json(self) -> dict[str, Any]:
        """All costs as plain values, for other programs to read; sizes are in bytes."""
        programs = [self.eager.to_json(), self.optimised.to_json()]
        costs = {"function": self.name, "gradient": self.gradient, "programs": programs}
        return costs if self.on_mesh is None else {**costs, "on_mesh": self.on_mesh.to_json()}

    def write_json(self, path: str | Path) -> None:
        """Writes `to_json` to a file."""
        Path(path).write_text(json.dumps(self.to_json(), indent=1), encoding="utf-8")

    def chart(self, path: str | Path, *, limit: int | str | None = None) -> None:
        """Draws memory over time to a file: a self-contained page for `.html`, by matplotlib for `.png`.

        The limit, in bytes or as text such as `"141GB"`, is drawn as a line.
        """
        from .chart import write_html, write_png

        path = Path(path)
        writers = {".html": write_html, ".png": write_png}
        if path.suffix not in writers:
            raise ArgumentError(expected("a file named .html or .png", chart=str(path)))
        writers[path.suffix](self, path, parse_bytes(limit) if isinstance(limit, str) else limit)

    def _repr_html_(self) -> str:
        """The chart in a notebook, above the summary."""
        from .chart import summary, svg

        return f"{svg(self)}{summary(self)}"
