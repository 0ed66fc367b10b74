"""Predictions of dry runs about meshes: compared with XLA's figures, at GPT-3's size, and as the mesh grows.

    python benchmarks/layouts.py [xla] [gpt3] [scaling]

By default runs all three. `xla` needs JAX, and compiles for virtual devices on the host; `gpt3` and `scaling` need
neither JAX nor a device. `scaling` also writes docs/weak-scaling.svg.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import ceil, floor, log2, log10
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import tensorbackend as tb
from tensorbackend.costs import show_bytes, show_seconds
from tensorbackend.costs.mesh.collectives import Compiled, Kind, bytes_by_kind
from tensorbackend.costs.mesh.divided import OnMesh
from tensorbackend.display import plain_table
from tensorbackend.expr.graph import Graph
from tensorbackend.expr.trees import unflatten

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))

import gpt3
import transformer

# Functions that XLA also reports on


def network(model: Any, inputs: tb.Tensor, targets: tb.Tensor) -> tb.Tensor:
    """Return the loss of a network of two layers."""
    up, down = model
    hidden = tb.maximum(tb.dot(inputs, up, contract=(["feature"], ["feature"])), 0.0)
    return tb.mean(tb.square(tb.dot(hidden, down, contract=(["hidden"], ["hidden"])) - targets))


def step(model: Any, inputs: tb.Tensor, targets: tb.Tensor) -> Any:
    """A training step of a network of two layers."""
    value, gradient = tb.value_and_grad(network)(model, inputs, targets)
    return value, tb.tree_map(lambda p, g: p - 0.1 * g, model, gradient)


def embedding(table: tb.Tensor, words: tb.Tensor) -> Any:
    """A training step of a table of word embeddings, with a gather and a scatter."""
    value, gradient = tb.value_and_grad(lambda t: tb.sum(tb.square(tb.take(t, words, axis="word"))))(table)
    return value, table - 0.1 * gradient


def looped(weight: tb.Tensor, x: tb.Tensor) -> tb.Tensor:
    """Apply a layer seven times in a loop."""

    def iteration(x: tb.Tensor, _: Any) -> Any:
        return tb.tanh(tb.dot(x, weight, contract=(["hidden"], ["hidden"])).rename(out="hidden")), x

    return tb.mean(tb.scan(iteration, x, length=7)[0])


class Case(NamedTuple):
    """A function, the templates of its arguments, and a layout on a mesh."""

    function: Callable[..., Any]
    templates: Callable[[], tuple[Any, ...]]
    mesh: tb.Mesh
    rules: Mapping[str, Any]
    peak: float
    """How far the predicted peak may differ from XLA's, as a fraction of XLA's."""

    def graph(self) -> Graph:
        """Return the graph of the function."""
        return tb.trace(self.function)(*self.templates())

    def predicted(self) -> OnMesh:
        """Return what the dry run predicts."""
        report = tb.dry_run(self.function, *self.templates(), mesh=self.mesh, layout=self.rules).on_mesh
        assert report is not None  # there is a report, as there is a mesh
        return report


def layers() -> tuple[Any, ...]:
    """Return templates of two layers and a batch."""
    model = ["f32[feature=256, hidden=512]", "f32[hidden=512, out=64]"]
    return model, "f32[batch=128, feature=256]", "f32[batch=128, out=64]"


def words() -> tuple[Any, ...]:
    """Return templates of a table of words and a batch."""
    return "f32[word=1024, feature=64]", "s64[batch=32, time=16]"


def examples() -> tuple[Any, ...]:
    """Return templates of the arguments of a step of examples/transformer.py: model, velocity, text and key."""
    graph = tb.trace(transformer.initial)(tb.random.key(0))
    model = unflatten(graph.out_tree, list(graph.results))
    return model, model, tb.Template((len(transformer.TEXT),), "s64"), tb.Template((2,), "u32")


def decoder(layers: int) -> Callable[[], tuple[Any, ...]]:
    """Return a function that gives templates of a smaller model like GPT-3, its momentum, and a batch."""
    batch = "s64[batch=64, time=512]"

    def templates() -> tuple[Any, ...]:
        model = gpt3.parameters(layers=layers, width=1024, heads=16, dtype="f32", vocabulary=1024)
        return model, model, batch, batch

    return templates


SMALL, LARGE = tb.Mesh({"data": 4, "model": 2}), tb.Mesh({"data": 8, "tensor": 8})
SHARED = {"batch": "data", "head": "model", "hidden": "model", "character": "model"}
HEADS = {"batch": "data", "head": "tensor", "feed": "tensor", "word": "tensor"}

CASES = {
    "MLP, data": Case(step, layers, SMALL, {"batch": "data"}, 0.4),
    "MLP, model": Case(step, layers, SMALL, {"hidden": "model"}, 0.4),
    "MLP, both": Case(step, layers, SMALL, {"batch": "data", "hidden": "model"}, 0.4),
    "embedding": Case(embedding, words, SMALL, {"batch": "data", "word": "model"}, 0.15),
    "transformer": Case(transformer.step, examples, SMALL, SHARED, 0.15),
    "scan": Case(
        tb.value_and_grad(looped),
        lambda: ("f32[hidden=64, out=64]", "f32[batch=32, hidden=64]"),
        SMALL,
        {"batch": "data", "hidden": "model"},
        0.4,
    ),
}
"""Cases that a test compares, too."""

LONG = {
    "12 layers": Case(gpt3.step, decoder(12), LARGE, HEADS, 0.15),
    "2 layers, fully sharded": Case(gpt3.step, decoder(2), LARGE, {**HEADS, "model": "data"}, 0.15),
}
"""Cases that XLA takes longer to compile."""


def kinds(nbytes_by_kind: Mapping[Kind, int]) -> dict[str, int]:
    """Return bytes by kind as XLA's CPU compiler reports them: a reduce-scatter becomes an all-reduce and a slice.

    Kinds with less than 1 % of the bytes are left out.
    """
    joined: dict[str, int] = {}
    for kind, nbytes in nbytes_by_kind.items():
        name = "all-reduce" if kind == "reduce-scatter" else kind
        joined[name] = joined.get(name, 0) + nbytes
    return {kind: nbytes for kind, nbytes in joined.items() if nbytes >= 0.01 * sum(joined.values())}


def compiled(cases: Mapping[str, Case]) -> dict[str, Compiled]:
    """Return XLA's figures of some cases, compiled in one process."""
    from tensorbackend.backends.jax_backend.virtual import figures
    from tensorbackend.mesh import Layout

    compiled_figures = figures([(case.graph(), Layout(case.mesh, case.rules)) for case in cases.values()])
    return dict(zip(cases, compiled_figures, strict=True))


def against_xla() -> None:
    """Prints the bytes by kind and the peak of each case, predicted and as XLA reports them."""
    rows = []
    every = {**CASES, **LONG}
    for name, xla in compiled(every).items():
        mine = every[name].predicted()
        one, two = kinds(mine.by_kind), kinds(bytes_by_kind(xla.collectives))
        for kind in sorted({**one, **two}):
            ratio = f"{one.get(kind, 0) / two[kind]:.5f}" if kind in two else ""
            rows.append((name, kind, f"{one.get(kind, 0):,}", f"{two.get(kind, 0):,}", ratio))
        peak = mine.peak
        rows.append((name, "peak", f"{peak:,}", f"{xla.peak:,}", f"{peak / xla.peak:.3f}"))
    print(plain_table(("on each device", "what", "predicted", "by XLA", "ratio"), rows))


# A training step of GPT-3's size on 512 devices

MESH = tb.Mesh({"data": 8, "shard": 8, "tensor": 8})
TENSOR = {"head": "tensor", "feed": "tensor", "word": "tensor"}
LAYOUTS: dict[str, dict[str, Any]] = {
    "batch on all": {"batch": ("data", "shard", "tensor")},
    "and parameters on all": {"batch": ("data", "shard", "tensor"), "model": ("data", "shard", "tensor")},
    "heads, feed, word on tensor": {"batch": ("data", "shard"), **TENSOR},
    "and parameters on shard": {"batch": ("data", "shard"), "model": "shard", **TENSOR},
    "and parameters on data shard": {"batch": ("data", "shard"), "model": ("data", "shard"), **TENSOR},
}
"""Rules for axes. Those of the batch come first, so that `model`, the width, is divided only in the parameters."""

SEQUENCES = 512


def at_gpt3_size() -> None:
    """Prints, for each layout, the cost of a training step with momentum, and whether it fits into memory."""
    model = gpt3.parameters(vocabulary=50_304)  # the size of the vocabulary is a multiple of 8
    batch = f"s64[batch={SEQUENCES}, time={gpt3.TIME}]"
    rows, start = [], process_time()
    for name, rules in LAYOUTS.items():
        for recompute in (False, True):
            report = tb.dry_run(
                gpt3.step, model, model, batch, batch, recompute=recompute, mesh=MESH, layout=rules, machine="h200"
            )
            on_mesh = report.on_mesh
            assert on_mesh is not None  # there is a report, as there is a mesh
            rows.append((
                name,
                "yes" if recompute else "no",
                show_bytes(on_mesh.program.timeline.parameters),
                show_bytes(on_mesh.peak),
                "H100" if report.fits("80GB") else "H200" if report.fits("141GB") else "no",
                show_bytes(on_mesh.sent),
                show_seconds(on_mesh.time.total),
            ))  # fmt: skip
    columns = ("layout", "recompute", "parameters, momentum", "peak", "fits", "sent", "time, H200")
    print(as_markdown(columns, rows))
    print(f"\n{(process_time() - start) / len(rows):.1f} s of a processor for each")


# Weak scaling

DEVICES = [2**power for power in range(10)]
EACH = 8
"""Sequences for each device."""


class Scaled(NamedTuple):
    """A step on a number of devices, with the same number of sequences for each."""

    devices: int
    collectives: int
    sent: float
    """Bytes that each device sends, as predicted."""
    formula: float
    """Bytes that each device sends, by the closed formula."""


def scaled(devices: int, fully: bool) -> Scaled:
    """A step of a decoder of 2 layers, with the batch divided over all devices, and if `fully` the parameters, too."""
    model = gpt3.parameters(layers=2, width=1024, heads=16, dtype="f32", vocabulary=1024)
    batch = f"s64[batch={EACH * devices}, time={gpt3.TIME}]"
    rules = {"batch": "data", "model": "data"} if fully else {"batch": "data"}
    mesh = tb.Mesh({"data": devices})
    report = tb.dry_run(gpt3.step, model, model, batch, batch, mesh=mesh, layout=rules).on_mesh
    assert report is not None  # there is a report, as there is a mesh
    nbytes = sum(x.nbytes for x in tb.trace(lambda tree: tree)(model).templates)
    # Gradients are all-reduced, or reduce-scattered where parameters are gathered. The word table has two gradients,
    # one as an embedding and one as the output layer, and each is combined before the two are added.
    formula = 2 * (devices - 1) / devices * (nbytes + model["embedding"].nbytes)
    return Scaled(devices, len(report.collectives), report.sent, formula)


def scaling() -> None:
    """Prints weak scaling as a table, and writes it as a picture to docs/."""
    data, fully = ([scaled(devices, way) for devices in DEVICES] for way in (False, True))
    rows = [
        (
            str(one.devices),
            str(one.collectives),
            show_bytes(one.sent),
            str(two.collectives),
            show_bytes(two.sent),
            show_bytes(one.formula),
        )
        for one, two in zip(data, fully, strict=True)
    ]
    columns = ("devices", "data: collectives", "sent", "fully sharded: collectives", "sent", "2 (n - 1) / n (P + E)")
    print(as_markdown(columns, rows))
    path = Path(__file__).resolve().parent.parent / "docs" / "weak-scaling.svg"
    path.write_text(picture({"batch on all": data, "and parameters on all": fully}), encoding="utf-8")


def as_markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table for docs/."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


WIDTH, HEIGHT, LEFT, TOP = 640, 300, 80, 20
COLOURS = ("#0072b2", "#e69f00")
"""The palette of Okabe and Ito, which colour-blind people can tell apart, for light and dark pages."""

INK = "#808080"
"""The colour of text and lines, readable on white and on black."""


def picture(curves: Mapping[str, Sequence[Scaled]]) -> str:
    """Draw the bytes sent over the number of devices as SVG: marks for the dry run, a line for the formula."""
    most = max(scale.sent for several in curves.values() for scale in several)
    power = 10.0 ** floor(log10(most / 4))
    tick = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= most / 5)
    most = tick * ceil(most / tick)

    def x(devices: int) -> float:
        return LEFT + WIDTH * log2(devices) / log2(DEVICES[-1])

    def y(nbytes: float) -> float:
        return TOP + HEIGHT * (1 - nbytes / most)

    def lines() -> Iterator[str]:
        size = f'viewBox="0 0 {LEFT + WIDTH + 30} {TOP + HEIGHT + 70}" width="{LEFT + WIDTH + 30}"'
        yield f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="13" fill="{INK}">'
        yield "<title>Bytes that each device sends in a step, by the number of devices</title>"
        for part in range(round(most / tick) + 1):
            nbytes = tick * part
            yield f'<path d="M{LEFT} {y(nbytes):.1f}h{WIDTH}" stroke="{INK}" stroke-opacity="0.3"/>'
            yield f'<text x="{LEFT - 8}" y="{y(nbytes) + 4:.1f}" text-anchor="end">{show_bytes(nbytes)}</text>'
        for devices in DEVICES:
            yield f'<text x="{x(devices):.1f}" y="{TOP + HEIGHT + 18}" text-anchor="middle">{devices}</text>'
        middle = LEFT + WIDTH / 2
        yield f'<text x="{middle}" y="{TOP + HEIGHT + 38}" text-anchor="middle">devices</text>'
        formula = " ".join(f"{x(scale.devices):.1f},{y(scale.formula):.1f}" for scale in next(iter(curves.values())))
        yield f'<polyline points="{formula}" fill="none" stroke="{INK}" stroke-width="2"/>'
        for number, (name, several) in enumerate(curves.items()):
            for scale in several:
                at = f'cx="{x(scale.devices):.1f}" cy="{y(scale.sent):.1f}" r="{6 - 2 * number}"'
                yield f'<circle {at} fill="{COLOURS[number]}"><title>{show_bytes(scale.sent)}</title></circle>'
            place = LEFT + 10 + 200 * number
            yield f'<circle cx="{place}" cy="{TOP + HEIGHT + 58}" r="{6 - 2 * number}" fill="{COLOURS[number]}"/>'
            yield f'<text x="{place + 12}" y="{TOP + HEIGHT + 62}">{name}</text>'
        place = LEFT + 410
        yield f'<path d="M{place} {TOP + HEIGHT + 58}h24" stroke="{INK}" stroke-width="2"/>'
        yield f'<text x="{place + 30}" y="{TOP + HEIGHT + 62}">2 (n - 1) / n (P + E)</text>'
        yield "</svg>"

    return "\n".join(lines()) + "\n"


def main() -> None:
    """Prints the requested figures."""
    parts = {"xla": against_xla, "gpt3": at_gpt3_size, "scaling": scaling}
    for name in sys.argv[1:] or parts:
        parts[name]()
        print()


if __name__ == "__main__":
    main()
