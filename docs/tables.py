"""Writes the tables of docs/ that are derived from the declarations: `python docs/tables.py`, or `make docs`.

`python docs/tables.py FILE` first enters what a run of the property tests measured, with `TENSORBACKEND_MEASURED=FILE`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from runpy import run_path
from typing import Any

import tensorbackend as tb
from tensorbackend.accuracy import Bound
from tensorbackend.dispatch.fallbacks import fallbacks
from tensorbackend.dispatch.minimum import accepted_dtype, minimum
from tensorbackend.dtypes import ALL_DTYPES, DType
from tensorbackend.expr.grad.coverage import gradient_support
from tensorbackend.opspec import CALLBACKS, OPS, OpSpec, implemented
from tensorbackend.protocol import Backend
from tensorbackend.protocol.core import own_method
from tensorbackend.select import backend_class, backends, origin
from tensorbackend.support import support_of
from tensorbackend.testing import partial
from tensorbackend.testing.bounds import bound_of
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
        "The gradient of an op has a rule (yes), comes by its parts, or is zero wherever there is one. Where there is",
        "none, `GradientError` says why if one would flow through the op. Primitives without inexact operands and",
        "results have an empty cell.",
        "",
        f"{len(declared)} ops, {len(CALLBACKS)} callbacks.",
        "",
        "| op | takes | callback | kind | bound in ulps | gradient | overridden by |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(_row(spec) for spec in sorted(declared, key=lambda spec: spec.name)),
        "",
    ]
    return "\n".join(lines)


def _row(spec: OpSpec) -> str:
    engines = [name for name in ENGINES if own_method(tb.get_backend(name), spec.callback) is not None]
    overridden = ", ".join(engines) if spec.kind == "composite" else ""
    parameters = ", ".join(parameter.name for parameter in spec.parameters)
    return (
        f"| `{qualified(spec.name)}` | {parameters} | `{spec.callback}` | {spec.kind} "
        f"| {_bound(bound_of(spec.name))} | {gradient_support(spec)} | {overridden} |"
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

PARTS = {
    "collective": ["all_gather", "all_to_all", "axis_index", "pmax", "pmean", "pmin", "psum", "psum_scatter"],
    "ctc_forward": ["nn.ctc_loss"],
    "ctc_posteriors": ["nn.ctc_loss"],
}
"""Callbacks that are parts of a function: the loss, and its gradient."""

NX_INTRODUCTION = """\
# Coming from Nx

Generated from the declarations by `make docs`. A callback here has the name that it has in `Nx.Backend`, with the
output template first; the public function has the Array API standard's name where that has one. What else differs:

- Options are keyword arguments: `Nx.sum(t, axes: [:time])` is `tb.sum(x, axis="time")`.
- Names are strings: `Nx.new_axis(t, -1, :time)` is `tb.expand_dims(x, -1, name="time")`, `t[time: 0..4]` is
  `x.isel(time=slice(0, 5))`.
- `Nx.default_backend` is `tb.set_default_backend` for the process and `tb.default_backend` as a context for a block;
  `Nx.BinaryBackend` and `Nx.TemplateBackend` are `tb.BinaryBackend` and `tb.TemplateBackend`, or `"binary"` and
  `"template"`.
- What is left out is decided here: `axis` of `tb.argmax` and `tb.sum` is all axes as in Nx, of `tb.take`, `tb.sort` and
  `tb.concatenate` what their pages say; `x.backend_transfer()` goes to the default backend, in Nx to BinaryBackend.
- `Nx.reduce(t, acc, opts, fun)` is `tb.reduce(x, initial, function=fun, axis=..., dtype=...)`; the function takes
  what was accumulated first, then the element, where Nx gives it the element first.
- `Nx.transpose(t)` is `tb.permute_dims(x)`, `Nx.squeeze(t)` `tb.squeeze(x)`, `Nx.broadcast(t, shape, axes: [0])`
  `tb.broadcast_to(x, shape, axes=(0,))`, `Nx.log(t, b)` `tb.log(x) / tb.log(b)`, `Nx.complex(re, im)`
  `tb.complex(re, im)`, `Nx.logsumexp(t, exp_scaling_factor: s)` `tb.logsumexp(x, scale=s)`.
- `tb.slice_` and `tb.slice_along_axis` count the entries of the result, Nx those that the strides go over:
  `Nx.slice(t, [0], [4], strides: [2])` is `tb.slice_(x, starts=(0,), lengths=(2,), strides=(2,))`.
- `Nx.split(t, 3)` cuts off three entries; `tb.split(x, (3,))` does so, and `tb.split(x, 3)` makes three equal parts.
- `Nx.to_batched(t, n, leftover: :repeat)` is the default there; `tb.to_batched` keeps a shorter last batch.
- Random functions of Nx return the next key with the sample; ours do not: `tb.random.split` the key.
- A start of `tb.put_slice` that is a tensor is clamped, as in Nx; a negative int counts from the end.
- The callbacks `max` and `min` are those of two operands, `reduce_max` and `reduce_min` the reductions; `optional` is
  a method of the backend, given the op's name, one record of its call and the default.
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
        if not names and hasattr(tb, callback.name):  # control flow, whose functions take functions and are no ops
            names = [callback.name]
        of_matrices = callback.name.removeprefix("sparse_")
        if not names and hasattr(tb.sparse, of_matrices):  # functions of matrices, which are no tensors
            names = [f"sparse.{of_matrices}"]
        names = names or PARTS.get(callback.name, [])
        rows[callback.name] = ", ".join(f"`tb.{name}`" for name in names)
    return NX_INTRODUCTION + "".join(f"| `{name}` | {rows[name]} |\n" for name in sorted(rows))


ROWS = run_path(str(HERE / "rows.py"))


def rows_page(system: str) -> Callable[[], str]:
    """docs/coming-from-phiml.md and its like: each function of another system with what it is called here."""

    def page() -> str:
        text: str = ROWS["page"](system)
        return text

    return page


MEASURED = HERE / "measured.jsonl"
"""What the last run of the property tests on each backend measured: a line an op, its ulps by dtype."""

RUNS = {
    "numpy": "NumPy: 200 random examples for each op with each dtype.",
    "jax": "JAX on a processor: 200 random examples for each op, of any of the dtypes.",
}

ACCURACY_INTRODUCTION = """\
# Accuracy

How far a backend's results were from BinaryBackend's at most, in ulps of the element (of the larger part of a complex
number), as the property tests measured it, and the bound that they enforce. Where a bound has a scale, a result within
that many roundings of it counts as 0 here, as its ulps mean nothing after a cancellation. Ops that are not listed were
equal to the bit for every dtype.

## Why results differ

| between | why | what to do |
| --- | --- | --- |
| two backends, in the last digits | each library has its own order of a sum and its own `exp`, `sin` and so on; the \
bound says how far that goes | compare with `tb.all_close`, at a tolerance above the bound |
| two backends, much more | small errors grow where large numbers cancel, and where a matrix is nearly singular | \
compute in float64: `with tb.precision(64):` |
| eager calls and `tb.jit` on JAX | XLA compiles ops together, and may round an intermediate result where a single \
op does not | as between two backends |
| this library and another | a decision of ours, such as the dtype of a sum or the order of ties | \
[semantics](semantics.md) has a row for each |
| results and those of BinaryBackend, by more than the bound | a mistake of a backend | `tensorbackend check NAME` \
finds the op |
"""

ACCURACY_TABLE = """
## {run}

| op | bound | {dtypes} |
| --- | --- | {lines} |
"""


def measure(path: Path) -> None:
    """Enters a run's distances, the greatest for each op and dtype, in place of those of its backends before."""
    largest: dict[tuple[str, str], dict[str, float]] = {}
    run = [json.loads(line) for line in path.read_text().splitlines()]
    again = {row["backend"] for row in run}
    kept = [row for row in _measured() if row["backend"] not in again]
    for row in kept + run:
        known = largest.setdefault((row["backend"], row["op"]), {})
        for dtype in ALL_DTYPES:
            if dtype.is_inexact and dtype.name in row["ulps"]:
                known[dtype.name] = max(row["ulps"][dtype.name], known.get(dtype.name, 0.0))
    rows = ({"backend": backend, "op": op, "ulps": ulps} for (backend, op), ulps in sorted(largest.items()))
    MEASURED.write_text("".join(json.dumps(row) + "\n" for row in rows))


def _measured() -> list[dict[str, Any]]:
    return [json.loads(line) for line in MEASURED.read_text().splitlines()]


def accuracy_page() -> str:
    """docs/accuracy.md: the measured distance of each op and dtype beside its bound."""
    dtypes = [dtype for dtype in ALL_DTYPES if dtype.is_inexact]
    head = {"dtypes": " | ".join(map(str, dtypes)), "lines": " | ".join(["---"] * len(dtypes))}
    page = ACCURACY_INTRODUCTION
    for backend, run in RUNS.items():
        page += ACCURACY_TABLE.format(run=run, **head)
        for row in _measured():
            op, ulps = row["op"], row["ulps"]
            bounds = dict.fromkeys(_short(bound_of(op, [dtype])) for dtype in dtypes)
            if row["backend"] == backend and (list(bounds) != ["exact"] or any(ulps.values())):
                cells = " | ".join(f"{ulps[dtype.name]:.3g}" if dtype.name in ulps else "" for dtype in dtypes)
                page += f"| `{op}` | {'; complex '.join(bounds)} | {cells} |\n"
    return page


def _short(bound: Bound) -> str:
    return "exact" if not bound.ulps else f"{bound.ulps:g}" + ("" if bound.scale == "element" else f" ({bound.scale})")


SUPPORT_INTRODUCTION = """\
# What each backend supports

Generated from the classes of the backends and the fall-backs by `make docs`; a test fails when it is stale. Nothing is
imported but the classes, so it does not depend on the libraries of the machine that wrote it. `support_of(backend,
callback, dtype)` of `tensorbackend.extending` gives the same answers.

| | |
| --- | --- |
| native | the backend's own callback |
| fall-back | written in other primitives (`tensorbackend/ops/fallbacks/`), to the same bound; slower |
| missing | `UnsupportedOp`, which says what would give it |
| override | a composite that the backend does itself |
| default | a composite in public ops, which needs what these need |

Where dtypes differ, they stand behind the word: by kind (`float`) or by short name (`f32`).

## The minimum

{count} callbacks, from which fall-backs make the others. A backend defines at least these, and the transport
(`from_binary`, `to_binary`):

{minimum}.

One that holds complex numbers also needs {complex}. What is neither here nor a fall-back is for itself: {alone}. A
backend that leaves one of these out lacks it, and the composites that use it, and nothing else.

## Primitives

The column "the minimum" is a backend that defines just that.

| callback | {columns} | the minimum | fall-back needs |
| --- | {lines} | --- | --- |
"""

COMPOSITES = """
## Composites

Those that a built-in backend overrides; all others are "default" everywhere.

| callback | {columns} |
| --- | {lines} |
"""


def support_page() -> str:
    """docs/support.md: each callback with how each built-in backend has it, and the minimum."""
    engines = {name: backend_class(name) for name in backends() if origin(name) == "built in"}
    engines = {name: cls for name, cls in engines.items() if cls.dispatch_priority <= 1}  # those that compute
    real = minimum(dtype for dtype in ALL_DTYPES if not dtype.is_complex)
    least = partial(tb.get_backend("binary"), minimum())
    primitives = [name for name, callback in CALLBACKS.items() if not callback.optional]
    alone = [name for name in primitives if not fallbacks(name) and name not in minimum()]
    head = {"columns": " | ".join(engines), "lines": " | ".join("---" for _ in engines)}
    page = SUPPORT_INTRODUCTION.format(
        **head,
        count=len(real),
        minimum=_listed(sorted(real)),
        complex=_listed(sorted(set(minimum()) - set(real))),
        alone=_listed(sorted(alone)),
    )
    for name in sorted(primitives):
        cells = " | ".join(_support(cls, name) for cls in [*engines.values(), least])
        needs = sorted({need for fallback in fallbacks(name) for need in fallback.needs})
        page += f"| `{name}` | {cells} | {_listed(needs) if needs else 'nothing' if fallbacks(name) else ''} |\n"
    page += COMPOSITES.format(**head)
    overridden = sorted({name for cls in engines.values() for name in implemented(cls)[1]})
    return page + "".join(
        f"| `{name}` | {' | '.join(support_of(cls, name) for cls in engines.values())} |\n" for name in overridden
    )


def _support(backend: type[Backend], callback: str) -> str:
    """How a backend has a primitive: one word, or one for each group of the dtypes that reach it."""
    arriving = {accepted_dtype(callback, dtype) for dtype in backend.dtypes} - {None}
    ways: dict[str, list[DType]] = {}
    for dtype in ALL_DTYPES:
        if dtype in arriving:
            ways.setdefault(support_of(backend, callback, dtype), []).append(dtype)
    if len(ways) == 1:
        return next(iter(ways))
    return ", ".join(f"{way} ({_grouped(dtypes)})" for way, dtypes in ways.items())


def _grouped(dtypes: list[DType]) -> str:
    """Dtypes by kind where all of the kind are there."""
    words: list[str] = []
    for dtype in dtypes:
        kind = [candidate for candidate in ALL_DTYPES if candidate.kind == dtype.kind]
        word = dtype.kind if set(kind) <= set(dtypes) else dtype.alias
        if word not in words:
            words.append(word)
    return " ".join(words)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


PAGES = {
    HERE / "ops.md": ops_page,
    HERE / "coming-from-nx.md": nx_page,
    **{HERE / f"coming-from-{system}.md": rows_page(system) for system in ROWS["SYSTEMS"]},
    HERE / "accuracy.md": accuracy_page,
    HERE / "support.md": support_page,
    **run_path(str(HERE / "performance.py"))["pages"](),
}


if __name__ == "__main__":
    for name in sys.argv[1:]:
        measure(Path(name))
    for path, page in PAGES.items():
        path.write_text(page())
        print(f"wrote {path}")
