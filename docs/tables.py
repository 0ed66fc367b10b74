"""Makes the pages whose tables come from the declarations, and writes those in docs/: `python docs/tables.py`.

`python docs/tables.py FILE` first enters new measurements. Make FILE by running the property tests with
`TENSORBACKEND_MEASURED=FILE`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from runpy import run_path
from typing import Any

import tensorbackend as tb
from tensorbackend.backends.support import support_of
from tensorbackend.declarations.op_specs import CALLBACKS, OPS, OpSpec, list_implementations
from tensorbackend.dispatch.fallbacks import fallbacks
from tensorbackend.dispatch.narrow import ALSO_MOVING, MOVING
from tensorbackend.dtypes import ALL_DTYPES, NARROW_DTYPES, DType
from tensorbackend.expr.grad.coverage import gradient_support
from tensorbackend.protocol import Backend
from tensorbackend.protocol.callbacks import own_method
from tensorbackend.rules.accuracy import Bound
from tensorbackend.select import backend_class, backends, origin
from tensorbackend.testing import partial
from tensorbackend.testing.calls import bound_of
from tensorbackend.testing.minimum import accepted_dtype, minimum
from tensorbackend.testing.source import qualified

HERE = Path(__file__).parent
ENGINES = ("binary", "numpy")


def ops_page() -> str:
    """ops.md: each declared op, what a backend implements for it, and how near its results are."""
    declared = [spec for spec in OPS.values() if spec.function.__module__.startswith("tensorbackend.")]
    lines = [
        "# Ops",
        "",
        "A *primitive* is computed by a callback of the backend, or by a [fall-back](support.md). A *composite* is",
        "written in other ops; the last column says whether BinaryBackend or NumpyBackend overrides it",
        "([support](support.md) covers all backends). Results equal those of BinaryBackend to the bit unless a bound",
        "is given. A bound is in ulps of the element. The word in parentheses is its [scale](accuracy.md#scales):",
        "that many roundings of the scale are allowed too.",
        "",
        "The gradient of an op has a rule (yes), follows from the gradients of its parts (by its parts), or is zero.",
        "Where the cell says no, `GradientError` gives the reason if a gradient would flow through the op. The cell is",
        "empty for primitives whose operands or results are never floating or complex numbers.",
        "",
        f"{len(declared)} ops, {len(CALLBACKS)} callbacks.",
        "",
        "| op | takes | callback | kind | bound in ulps | gradient | overridden by |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(_row(spec) for spec in sorted(declared, key=lambda spec: spec.name)),
    ]
    return "\n".join(lines) + "\n" + note("the declarations")


def note(source: str) -> str:
    """The last lines of a generated page, for those who maintain it."""
    return f"\n---\n\n*Generated from {source} by `make docs`; a test fails when the page is stale.*\n"


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
"""Callbacks that compute parts of a public function, such as a loss and its gradient, with that function."""

NX_INTRODUCTION = """\
---
hide: [toc] # the table needs the room
---

# Coming from Nx

Callbacks have the same names as in `Nx.Backend`, and also take the output template first. A public function has its
name in the Array API standard if the standard has the function. Other differences:

- Options are keyword arguments: `Nx.sum(t, axes: [:time])` is `tb.sum(x, axis="time")`.
- Names are strings: `Nx.new_axis(t, -1, :time)` is `tb.expand_dims(x, -1, name="time")`, and `t[time: 0..4]` is
  `x.isel(time=slice(0, 5))`.
- `Nx.default_backend` is `tb.set_default_backend` for the process and `tb.default_backend` as a context for a block;
  `Nx.BinaryBackend` and `Nx.TemplateBackend` are `tb.BinaryBackend` and `tb.TemplateBackend`, or `"binary"` and
  `"template"`.
- Some defaults differ. Without `axis`, `tb.argmax` and `tb.sum` take all axes, as in Nx, and `tb.concatenate` joins
  along the first, as in Nx; but `tb.sort` sorts along the last axis, and `tb.take` needs `axis` unless the tensor has
  only one. `x.backend_transfer()` moves a tensor to the default backend, in Nx to BinaryBackend.
- `Nx.reduce(t, acc, opts, fun)` is `tb.reduce(x, initial, function=fun, axis=..., dtype=...)`. The function takes the
  accumulated value first, then the element; in Nx it takes the element first.
- `Nx.transpose(t)` is `tb.permute_dims(x)`, `Nx.squeeze(t)` is `tb.squeeze(x)`, `Nx.broadcast(t, shape, axes: [0])` is
  `tb.broadcast_to(x, shape, axes=(0,))`, `Nx.log(t, b)` is `tb.log(x) / tb.log(b)`, `Nx.complex(re, im)` is
  `tb.complex(re, im)`, and `Nx.logsumexp(t, exp_scaling_factor: s)` is `tb.logsumexp(x, scale=s)`.
- The lengths of `tb.slice_` and `tb.slice_along_axis` count the entries of the result. In Nx they count the entries
  that the strides pass over: `Nx.slice(t, [0], [4], strides: [2])` is
  `tb.slice_(x, starts=(0,), lengths=(2,), strides=(2,))`.
- `Nx.split(t, 3)` splits after three entries, as `tb.split(x, (3,))` does; `tb.split(x, 3)` makes three equal parts.
- By default `Nx.to_batched` fills up the last batch (`leftover: :repeat`); `tb.to_batched` keeps it shorter.
- Random functions of Nx return the next key with the sample. Ours return the sample alone; split keys with
  `tb.random.split`.
- A tensor as a start of `tb.put_slice` is clamped, as in Nx; a negative int counts from the end.
- The callbacks `max` and `min` take two operands; `reduce_max` and `reduce_min` are the reductions. `optional` is a
  method of the backend; it gets the op's name, a record of the call, and the default.
- Integers divide as in Python (floor); Nx's `quotient` is `tb.trunc_divide` and its `remainder` is `tb.fmod`.
- [Semantics](semantics.md) lists further decisions, such as: comparisons return bool, `round` rounds halves to even,
  NaN sorts last.

| callback | public function |
| --- | --- |
"""


def nx_page() -> str:
    """coming-from-nx.md: each callback of the protocol with the public functions that reach it."""
    rows = dict(LIFECYCLE)
    for callback in CALLBACKS.values():
        names = sorted(qualified(spec.name) for spec in OPS.values() if spec.callback == callback.name)
        if not names and hasattr(tb, callback.name):  # control flow: functions that take functions are not ops
            names = [callback.name]
        of_matrices = callback.name.removeprefix("sparse_")
        if not names and hasattr(tb.sparse, of_matrices):  # functions of sparse matrices, which are not tensors
            names = [f"sparse.{of_matrices}"]
        names = names or PARTS.get(callback.name, [])
        rows[callback.name] = ", ".join(f"`tb.{name}`" for name in names)
    table = "".join(f"| `{name}` | {rows[name]} |\n" for name in sorted(rows))
    return NX_INTRODUCTION + table + note("the declarations")


ROWS = run_path(str(HERE / "rows.py"))


def rows_page(system: str) -> Callable[[], str]:
    """coming-from-phiml.md and similar pages: each function of another system with its counterpart here."""

    def page() -> str:
        text: str = ROWS["page"](system)
        return text

    return page


MEASURED = HERE / "measured.jsonl"
"""The distances measured by the last run of the property tests on each backend: for each op the ulps by dtype."""

RUNS = {
    "numpy": "NumPy: 200 random examples for each op and dtype",
    "jax": "JAX on a CPU: 200 random examples for each op, spread over all dtypes",
}

ACCURACY_INTRODUCTION = """\
# Accuracy

The tables below show, for each op and dtype, how far a backend's results were from BinaryBackend's at most. The
property tests measured these distances, in ulps of the element (for a complex number, of its larger part). They also
enforce the bound of each op. The results of ops that are not listed were bit-identical for every dtype. A cell is empty
where no example had that dtype.

## Why results differ

| difference between | cause | what to do |
| --- | --- | --- |
| two backends, in the last digits | each library adds in its own order and has its own `exp`, `sin` and so on; the \
bound says how far results may differ | compare with `tb.all_close`, at a tolerance above the bound |
| two backends, by much more | small errors grow where large numbers cancel, and where a matrix is nearly singular | \
compute in float64: `with tb.precision(64):` |
| eager calls and `tb.jit` on JAX | XLA compiles ops together, and may round an intermediate result where a single \
op does not | as between two backends |
| this library and another | the two define an op differently, such as the dtype of a sum or the order of ties | \
look it up in [semantics](semantics.md), which has a row for each difference |
| a backend and BinaryBackend, by more than the bound | an error in the backend | `tensorbackend check NAME` finds \
the op |

## Scales

Where an op adds numbers, they may cancel, and ulps of the result then mean nothing. The bound of such an op has a
*scale*, a larger quantity, which the tables name in parentheses after the bound. A result may be off by the bound in
ulps, or by that many roundings of the scale. A distance within these roundings counts as 0 in the tables.

| scale | one rounding is that of |
| --- | --- |
| one | the number 1, for ops in which operands near 1 cancel |
| operand, square | the largest operand, but at least 1; its square |
| magnitudes | the result of the op for the absolute values of its operands, element by element |
| norm | the largest of these, for ops in which each result is made of all operands |
| result | the largest element of the result, for algorithms on matrices that are stable only as a whole |
| exponent | `y * log(x)` in float64, whose error `exp(y * log(x))` magnifies |
"""

ACCURACY_TABLE = """
## {run}

| op | bound | {dtypes} |
| --- | --- | {lines} |
"""


def measure(path: Path) -> None:
    """Enters a run's distances, the largest for each op and dtype, in place of the older ones of its backends."""
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
    """accuracy.md: the measured distance of each op and dtype next to its bound."""
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

How each backend implements each op. `support_of(backend, callback, dtype)` of `tensorbackend.extending` returns the
same answers.

| | |
| --- | --- |
| native | the backend has a callback of its own |
| fall-back | the op is written in other primitives (`tensorbackend/ops/fallbacks/`): the same bound, but slower |
| missing | the op raises `UnsupportedOp`, which says what to do |
| override | the backend has its own method for a composite |
| default | a composite runs as written in public ops, and needs the callbacks that they need |

Where the answer depends on the dtype, the dtypes follow in parentheses, by kind (`float`) or by short name (`f32`).

## The minimum

A backend defines at least these {count} callbacks, and the transport (`from_binary`, `to_binary`). Fall-backs provide
other primitives from them:

{minimum}.

A backend that holds complex numbers also needs {complex}. Some callbacks are not in the minimum and have no fall-back:
{alone}. A backend that leaves one of them out lacks only that op and the composites that use it.

## Narrow dtypes

{narrow} only store numbers.
Every backend that holds them takes them in the ops that move elements: those of the families {families} whose
results are not rounded, and {more}. Backends that hold them: {holders}; PyTorch's
too, by its plugin. Callbacks get the codes of the elements as uint8, so no backend needs callbacks for narrow dtypes.
All other ops refuse them, and name the cast to write ([semantics](semantics.md#narrow-dtypes)).
`tensorbackend check` and the kit's suite check the ops that take them with each of these dtypes.

## Primitives

The column "the minimum" is a backend that defines only the minimum, with the callbacks for complex numbers.

| callback | {columns} | the minimum | fall-back needs |
| --- | {lines} | --- | --- |
"""

COMPOSITES = """
## Composites

The composites that a built-in backend overrides; all others are "default" on every backend.

| callback | {columns} |
| --- | {lines} |
"""


def support_page() -> str:
    """support.md: how each built-in backend supports each callback, and the minimum."""
    engines = {name: backend_class(name) for name in backends() if origin(name) == "built in"}
    engines = {name: cls for name, cls in engines.items() if cls.dispatch_priority <= 1}  # those that compute
    real = minimum(dtype for dtype in ALL_DTYPES if not dtype.is_complex)
    fewest = minimum()
    least = partial(tb.get_backend("binary"), fewest)
    primitives = [name for name, callback in CALLBACKS.items() if not callback.optional]
    alone = [name for name in primitives if not fallbacks(name) and name not in fewest]
    head = {"columns": " | ".join(engines), "lines": " | ".join("---" for _ in engines)}
    holders = [name for name, cls in engines.items() if cls.dtypes >= {*NARROW_DTYPES}]
    page = SUPPORT_INTRODUCTION.format(
        **head,
        narrow=_listed(map(str, NARROW_DTYPES)),
        families=_listed(sorted(MOVING)),
        more=_listed(sorted(ALSO_MOVING)),
        holders=_listed(holders),
        count=len(real),
        minimum=_listed(sorted(real)),
        complex=_listed(sorted(set(fewest) - set(real))),
        alone=_listed(sorted(alone)),
    )
    for name in sorted(primitives):
        cells = " | ".join(_support(cls, name) for cls in [*engines.values(), least])
        needs = sorted({need for fallback in fallbacks(name) for need in fallback.needs})
        page += f"| `{name}` | {cells} | {_listed(needs) if needs else 'nothing' if fallbacks(name) else ''} |\n"
    page += COMPOSITES.format(**head)
    ours = {spec.callback for spec in OPS.values() if spec.module.startswith("tensorbackend.")} | set(CALLBACKS)
    overridden = sorted({name for cls in engines.values() for name in list_implementations(cls)[1] if name in ours})
    page += "".join(
        f"| `{name}` | {' | '.join(support_of(cls, name) for cls in engines.values())} |\n" for name in overridden
    )
    # Only the classes are imported, so the page does not depend on the libraries of the machine that writes it.
    return page + note("the classes of the backends and the fall-backs")


def _support(backend: type[Backend], callback: str) -> str:
    """How a backend supports a primitive: one word, or one for each group of the dtypes that reach it."""
    arriving = {accepted_dtype(callback, dtype) for dtype in backend.dtypes} - {None}
    ways: dict[str, list[DType]] = {}
    for dtype in ALL_DTYPES:
        if dtype in arriving:
            ways.setdefault(support_of(backend, callback, dtype), []).append(dtype)
    if len(ways) == 1:
        return next(iter(ways))
    return ", ".join(f"{way} ({_grouped(dtypes)})" for way, dtypes in ways.items())


def _grouped(dtypes: list[DType]) -> str:
    """Dtypes in short: a kind in place of its dtypes where all of them are there."""
    words: list[str] = []
    for dtype in dtypes:
        kind = [candidate for candidate in ALL_DTYPES if candidate.kind == dtype.kind]
        word = dtype.kind if set(kind) <= set(dtypes) else dtype.alias
        if word not in words:
            words.append(word)
    return " ".join(words)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


PERFORMANCE = run_path(str(HERE / "performance.py"))
ORACLES = run_path(str(HERE / "oracles.py"))
PROGRAMS = run_path(str(HERE / "programs.py"))


def testing_page() -> str:
    """testing.md, with the totals of the oracles and the engines that were judged by random programs."""
    text: str = PROGRAMS["entered"](ORACLES["page"]())
    return text


OF_SYSTEMS = {f"coming-from-{system.replace('_', '-')}.md": rows_page(system) for system in ROWS["SYSTEMS"]}
OF_FEW = ("coming-from-phiml.md", "coming-from-returnn.md")
"""Pages for users of a plugin, with a row for each function of another system's backends."""

PAGES = {
    **{HERE / name: page for name, page in OF_SYSTEMS.items() if name not in OF_FEW},
    **PERFORMANCE["pages"](),
    **run_path(str(HERE / "history.py"))["pages"](),
    HERE / "testing.md": testing_page,
    **run_path(str(HERE / "snapshot.py"))["pages"](),
}
"""The generated pages that people read in the repository too."""

ON_THE_SITE = {
    "ops.md": ops_page,
    "accuracy.md": accuracy_page,
    "support.md": support_page,
    "measurements.md": PERFORMANCE["measurements"],
    "npbench.md": run_path(str(HERE / "npbench.py"))["page"],
    "coming-from-nx.md": nx_page,
    **{name: OF_SYSTEMS[name] for name in OF_FEW},
}
"""The pages that are tables alone: the site has them, and the repository does not."""


if __name__ == "__main__":
    for name in sys.argv[1:]:
        measure(Path(name))
    for path, page in PAGES.items():
        path.write_text(page())
        print(f"wrote {path}")
