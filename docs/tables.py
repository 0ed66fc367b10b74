"""Writes the tables of docs/ that are derived from the declarations: `python docs/tables.py`, or `make docs`.

`python docs/tables.py FILE` first enters what a run of the property tests measured, with `TENSORBACKEND_MEASURED=FILE`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import tensorbackend as tb
from tensorbackend.dtypes import ALL_DTYPES
from tensorbackend.opspec import CALLBACKS, OPS, OpSpec
from tensorbackend.protocol.core import own_method
from tensorbackend.testing.bounds import Bound, bound_of
from tensorbackend.testing.source import qualified

HERE = Path(__file__).parent
ENGINES = ("binary", "numpy")


def ops_page() -> str:
    """docs/ops.md: each declared op, what a backend implements for it, how near results are."""
    declared = [spec for spec in OPS.values() if spec.function.__module__.startswith("tensorbackend.")]
    lines = [
        "# Ops",
        "",
        "Generated from the declarations by `make docs`; a test fails when it is stale. A primitive is implemented by",
        "every backend as the callback; a composite is written in other ops, the last column names the backends that",
        "override it. Results agree with BinaryBackend to the bit unless a bound is given: in ulps of the element, and",
        "in as many roundings of what stands behind it, as `tensorbackend/testing/bounds.py` explains.",
        "",
        f"{len(declared)} ops, {len(CALLBACKS)} callbacks.",
        "",
        "| op | takes | callback | kind | bound in ulps | overridden by |",
        "| --- | --- | --- | --- | --- | --- |",
        *(_row(spec) for spec in sorted(declared, key=lambda spec: spec.name)),
        "",
    ]
    return "\n".join(lines)


def _row(spec: OpSpec) -> str:
    own = [name for name in ENGINES if own_method(tb.get_backend(name), spec.callback) is not None]
    overridden = ", ".join(own) if spec.kind == "composite" else ""
    parameters = ", ".join(parameter.name for parameter in spec.parameters)
    return (
        f"| `{qualified(spec.name)}` | {parameters} | `{spec.callback}` | {spec.kind} "
        f"| {_bound(bound_of(spec.name))} | {overridden} |"
    )


def _bound(bound: Bound) -> str:
    if not bound.ulps:
        return "exact"
    scale = "" if bound.scale == "element" else f" ({bound.scale})"
    return f"{bound.ulps:g}{scale}: {bound.reason}"


LIFECYCLE = {
    "backend_copy": "`tb.backend_copy`, `Tensor.backend_copy`",
    "backend_deallocate": "`tb.backend_deallocate`, `Tensor.backend_deallocate`",
    "backend_transfer": "`tb.backend_transfer`, `Tensor.backend_transfer`",
    "from_binary": "`tb.from_binary`",
    "init": "`Backend.init`: the options of an instance, as in `JaxBackend(device='cpu:1')`",
    "inspect": "`tb.inspect`, `repr`",
    "optional": "`Backend.optional`, reached by every `@tb.composite`",
    "to_batched": "`tb.to_batched`",
    "to_binary": "`Tensor.to_binary`",
}

NX_INTRODUCTION = """\
# Coming from Nx

Generated from the declarations by `make docs`. A callback here has the name that it has in `Nx.Backend`, with the
output template first; the public function has the Array API standard's name where that has one. What else differs:

- Options are keyword arguments: `Nx.sum(t, axes: [:time])` is `tb.sum(x, axis="time")`.
- Names are strings: `Nx.new_axis(t, -1, :time)` is `tb.expand_dims(x, -1, name="time")`, `t[time: 0..4]` is
  `x.isel(time=slice(0, 5))`.
- `Nx.default_backend` is `tb.set_default_backend` for the process and `tb.default_backend` as a context for a block;
  `Nx.BinaryBackend` and `Nx.TemplateBackend` are `"binary"` and `"template"`.
- Integers divide as in Python (floor); Nx's `quotient` is `tb.trunc_divide` and its `remainder` `tb.fmod`.
- [Semantics](semantics.md) lists what else is decided otherwise: comparisons give bool, `round` goes to even, NaN
  sorts last.

| callback | public function |
| --- | --- |
"""


def nx_page() -> str:
    """docs/coming-from-nx.md: each callback of the protocol with the public functions that reach it."""
    rows = dict(LIFECYCLE)
    for callback in CALLBACKS.values():
        names = sorted(qualified(spec.name) for spec in OPS.values() if spec.callback == callback.name)
        rows[callback.name] = ", ".join(f"`tb.{name}`" for name in names)
    return NX_INTRODUCTION + "".join(f"| `{name}` | {rows[name]} |\n" for name in sorted(rows))


MEASURED = HERE / "measured.json"

ACCURACY_INTRODUCTION = """\
# Accuracy

How far NumPy's results were from BinaryBackend's at most, in ulps of the element (of the larger part of a complex
number), as the property tests measured it, and the bound that they enforce. Where a bound has a scale, a result within
that many roundings of it counts as 0 here, as its ulps mean nothing after a cancellation. Ops that are not listed were
equal to the bit for every dtype. {source}

| op | bound | {dtypes} |
| --- | --- | {lines} |
"""


def measure(path: Path) -> None:
    """Enters a run's distances, the greatest for each op and dtype."""
    found: dict[str, dict[str, float]] = {}
    for line in path.read_text().splitlines():
        row = json.loads(line)
        for dtype, ulps in row["ulps"].items():
            known = found.setdefault(row["op"], {})
            known[dtype] = max(ulps, known.get(dtype, 0))
    MEASURED.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n")


def accuracy_page() -> str:
    """docs/accuracy.md: the measured distance of each op and dtype beside its bound."""
    measured = json.loads(MEASURED.read_text())
    dtypes = [dtype for dtype in ALL_DTYPES if dtype.is_inexact]
    rows = []
    for op, ulps in sorted(measured.items()):
        bounds = dict.fromkeys(_short(bound_of(op, [dtype])) for dtype in dtypes)
        if list(bounds) != ["exact"] or any(ulps.values()):
            cells = " | ".join(f"{ulps[dtype.name]:.3g}" if dtype.name in ulps else "" for dtype in dtypes)
            rows.append(f"| `{op}` | {'; complex '.join(bounds)} | {cells} |\n")
    source = "The run: 1,000 random examples for each op, its dtypes in turn." if measured else ""
    head = ACCURACY_INTRODUCTION.format(
        source=source, dtypes=" | ".join(map(str, dtypes)), lines=" | ".join(["---"] * len(dtypes))
    )
    return head + "".join(rows)


def _short(bound: Bound) -> str:
    return "exact" if not bound.ulps else f"{bound.ulps:g}" + ("" if bound.scale == "element" else f" ({bound.scale})")


PAGES = {HERE / "ops.md": ops_page, HERE / "coming-from-nx.md": nx_page, HERE / "accuracy.md": accuracy_page}


if __name__ == "__main__":
    for name in sys.argv[1:]:
        measure(Path(name))
    for path, page in PAGES.items():
        path.write_text(page())
        print(f"wrote {path}")
