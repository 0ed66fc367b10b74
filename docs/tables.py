"""Writes the tables of docs/ that are derived from the declarations: `python docs/tables.py`, or `make docs`."""

from __future__ import annotations

from pathlib import Path

import tensorbackend as tb
from tensorbackend.opspec import CALLBACKS, OPS, OpSpec
from tensorbackend.protocol.core import own_method
from tensorbackend.testing.bounds import Bound, bound_of
from tensorbackend.testing.calls import NAMESPACES

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
        "override it. Results agree with BinaryBackend to the bit unless a bound is given; additive bounds count in",
        "roundings of the result for the operands' magnitudes, those of a power in roundings of the largest operand to",
        "that power, normwise ones in roundings of the largest element of each result.",
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
        f"| `{_qualified(spec.name)}` | {parameters} | `{spec.callback}` | {spec.kind} "
        f"| {_bound(bound_of(spec.name))} | {overridden} |"
    )


def _qualified(name: str) -> str:
    """A public name with its namespace, such as `linalg.qr`."""
    for namespace in NAMESPACES:
        place = getattr(tb, namespace, None) if namespace else tb
        if hasattr(place, name):
            return f"{namespace}.{name}" if namespace else name
    return name


def _bound(bound: Bound) -> str:
    if not bound.ulps:
        return "exact"
    kind = "additive" if bound.additive else "normwise" if bound.normwise else ""
    kind = f"power {bound.power}" if bound.power else kind
    return f"{bound.ulps:g} {kind}".strip() + f": {bound.reason}"


PAGES = {HERE / "ops.md": ops_page}


if __name__ == "__main__":
    for path, page in PAGES.items():
        path.write_text(page())
        print(f"wrote {path}")
