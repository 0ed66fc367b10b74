"""Memory over time as a chart: an SVG inside an HTML page, or a PNG by matplotlib."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..errors import ArgumentError, expected
from ..errors.remedies import install_remedy
from . import show_bytes, unit_of
from .memory import KINDS
from .mesh.divided import COLLECTIVES, LAYOUTS
from .program import ALIVE, COLUMNS, TOP, Program, runs

if TYPE_CHECKING:
    from .report import DryRun

# Okabe and Ito's colours, told apart by colour-blind people too: https://jfly.uni-koeln.de/color/
COLOURS: Final = dict(zip(KINDS, ("#0072b2", "#56b4e9", "#009e73", "#e69f00"), strict=True))
LIMIT: Final = "#d55e00"

STEPS: Final = 600
"""The largest number of columns of a chart. Each shows the node with the highest memory of those in it."""

WIDTH, HEIGHT, LEFT, TITLE, GAP = 960, 240, 80, 30, 30
"""The sizes in pixels of a plot, and of the space to the left, above and below of it."""

STYLE: Final = """
:root { color-scheme: light dark }
body { font: 14px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 1100px; padding: 0 1em }
svg { width: 100%; height: auto; font: 12px system-ui, sans-serif }
svg .step:hover { fill: currentColor; opacity: .15 }
.wide { overflow-x: auto } .wide svg { min-width: 860px } pre { overflow-x: auto }
table { border-collapse: collapse; white-space: nowrap; margin: 1em 0; font-variant-numeric: tabular-nums }
td, th { text-align: left; padding: .15em .8em .15em 0; border-bottom: 1px solid #8884 }
.key { white-space: nowrap } .key i { display: inline-block; width: .8em; height: .8em; margin: 0 .3em 0 1em }
"""


def _steps(program: Program) -> list[int]:
    """The numbers of the nodes that are drawn."""
    memory = program.timeline.memory
    ops = [number for number, node in enumerate(program.timeline.nodes) if runs(node)]
    width = -(-len(ops) // STEPS) or 1
    return [max(ops[start : start + width], key=memory.__getitem__) for start in range(0, len(ops), width)]


def svg(dry_run: DryRun, limit: int | None = None) -> str:
    """The memory of programs over their nodes as SVG, on one scale; hovering over a step shows its node."""
    programs = _shown_programs(dry_run)
    top = max(program.peak.memory for program in programs) or 1
    if limit is not None and limit > 3 * top:
        limit = None  # which would leave the rest too small to see
    top = max(top, limit or 0)
    height = len(programs) * (TITLE + HEIGHT + GAP)
    label = escape(f"memory over time of {dry_run.name}")
    # Attributes rather than a style sheet: a notebook shows the drawing without the page.
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 10} {height}" role="img" '
        f'aria-label="{label}" fill="currentColor" font-family="system-ui, sans-serif" font-size="12">'
    ]
    for index, program in enumerate(programs):
        parts.append(f'<g transform="translate({LEFT} {index * (TITLE + HEIGHT + GAP) + TITLE})">')
        parts.extend(_plot(program, top, limit))
        parts.append("</g>")
    return "\n".join([*parts, "</svg>"])


def _shown_programs(dry_run: DryRun) -> tuple[Program, ...]:
    """The programs that are drawn: on a mesh, only the program of one device."""
    return (dry_run.eager, dry_run.optimised) if dry_run.on_mesh is None else (dry_run.on_mesh.program,)


def _plot(program: Program, top: int, limit: int | None) -> Iterator[str]:
    """The SVG of one program's plot, with its top left corner at the origin."""
    timeline, steps, peak = program.timeline, _steps(program), program.peak
    scale, width = HEIGHT / top, WIDTH / max(len(steps), 1)
    title = f"{program.name}: peak {show_bytes(peak.memory)} at {peak.op} {peak.line or ''}"
    yield f'<text x="0" y="-10" font-weight="bold">{escape(title)}</text>'
    for part in range(5):
        y = HEIGHT * part / 4
        yield f'<line stroke="currentColor" opacity="0.15" x1="0" x2="{WIDTH}" y1="{y}" y2="{y}"/>'
        yield f'<text x="-6" y="{y + 4}" text-anchor="end">{show_bytes(top * (4 - part) / 4)}</text>'
    below = [0] * len(steps)
    for kind, memory in timeline.by_kind().items():
        above = [low + memory[number] for low, number in zip(below, steps, strict=True)]
        if any(memory):
            outline = [*_edge(above, width, scale), *reversed(list(_edge(below, width, scale)))]
            yield f'<polygon fill="{COLOURS[kind]}" points="{" ".join(outline)}"/>'
        below = above
    for column, number in enumerate(steps):
        node = timeline.nodes[number]
        text = f"{number}: {node.op} {', '.join(map(repr, node.outs))} {node.line or ''}"
        text = escape(f"{text}\n{show_bytes(timeline.memory[number])}")
        yield (
            f'<rect class="step" fill="none" pointer-events="all" x="{column * width:.2f}" y="0" width="{width:.2f}" '
            f'height="{HEIGHT}">'
            f"<title>{text}</title></rect>"
        )
    if limit:
        y = HEIGHT - limit * scale
        yield f'<line stroke="{LIMIT}" stroke-width="3" x1="0" x2="{WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield (
            f'<text x="{WIDTH - 4}" y="{y - 5:.1f}" text-anchor="end" font-weight="bold" fill="black" stroke="white" '
            f'stroke-width="4" paint-order="stroke">{show_bytes(limit)}</text>'
        )
    yield f'<text x="0" y="{HEIGHT + 16}">{program.ops} ops in order</text>'


def _edge(heights: Sequence[int], width: float, scale: float) -> Iterator[str]:
    for column, height in enumerate(heights):
        y = HEIGHT - height * scale
        yield f"{column * width:.2f},{y:.1f}"
        yield f"{(column + 1) * width:.2f},{y:.1f}"


def html(dry_run: DryRun, limit: int | None = None) -> str:
    """A page with the chart, the tensors alive at the peak, and the ops; the page is self-contained."""
    keys = " ".join(
        f'<span class="key"><i style="background:{colour}"></i>{kind}</span>' for kind, colour in COLOURS.items()
    )
    program = dry_run.shown_program()
    peak = program.peak
    layout: list[str] = []
    if dry_run.on_mesh is not None:
        collectives = dry_run.on_mesh.table()
        layout = [
            "<h2>layouts of parameters and results</h2>",
            _table(LAYOUTS, dry_run.on_mesh.layouts()[:TOP]),
            "<h2>collectives of each device, those of most bytes first</h2>",
            _table(COLLECTIVES, collectives[:TOP]),
        ]
    order = "in eager order" if dry_run.on_mesh is None else "on each device"
    return "\n".join(
        [
            '<!doctype html><html lang="en"><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>dry run of {escape(dry_run.name)}</title>",
            f"<style>{STYLE}</style><h1>dry run of {escape(dry_run.name)}</h1>",
            f"{summary(dry_run)}<p>memory over time:{keys}</p>",
            f'<div class="wide">{svg(dry_run, limit)}</div>',
            *layout,
            f"<h2>alive at the peak, {show_bytes(peak.memory)} {order}</h2>",
            _table(ALIVE, peak.table()[:TOP]),
            f"<h2>ops {order}, those with most FLOPs first</h2>",
            _table(COLUMNS, program.table("op")),
        ]
    )


def summary(dry_run: DryRun) -> str:
    """The summary as HTML."""
    return f"<pre>{escape(dry_run.summary())}</pre>"


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [_cells("th", columns), *(_cells("td", row) for row in rows)]
    return f'<div class="wide"><table>{"".join(lines)}</table></div>'


def _cells(tag: str, cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"


def write_html(dry_run: DryRun, path: Path, limit: int | None) -> None:
    """Writes the page to a file."""
    path.write_text(html(dry_run, limit), encoding="utf-8")


def write_png(dry_run: DryRun, path: Path, limit: int | None) -> None:
    """Draws the chart by matplotlib, which is imported here; without it an `ArgumentError` says how to install it."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        remedy = f"{install_remedy('chart')}, or write a chart named .html"
        raise ArgumentError(expected("matplotlib for a chart named .png", remedy, chart=str(path))) from error
    programs = _shown_programs(dry_run)
    size, unit = unit_of(max(program.peak.memory for program in programs))
    figure: Any = Figure(figsize=(10, 3 * len(programs)), layout="constrained")
    axes: Any = figure.subplots(len(programs), sharey=True, squeeze=False)[:, 0]
    for plot, program in zip(axes, programs, strict=True):
        steps = _steps(program)
        kinds = program.timeline.by_kind()
        heights = [[memory[number] / size for number in steps] for memory in kinds.values()]
        plot.stackplot(steps, heights, labels=list(kinds), colors=list(COLOURS.values()), step="post")
        if limit:
            plot.axhline(limit / size, color=LIMIT, linestyle="--")
        plot.set_title(f"{program.name}: peak {show_bytes(program.peak.memory)}", loc="left")
        plot.set_ylabel(f"memory in {unit}")
    axes[-1].set_xlabel("nodes in order")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    figure.savefig(path)
