"""The words of performance.md: its texts, its first table, and the headings of its groups, for `performance.py`."""

from __future__ import annotations

INTRODUCTION = """\
# Performance

How long programs take with tensorbackend and with other libraries, as multiples of the time that the second
column names. Smaller numbers are better.

"""

AFTER_SHORT = """
*Compiled* is `tb.jit`. A number of several programs is their geometric mean. The training step computes the loss of two
layers, its gradient and the updated parameters:

![A training step, ratio to NumPy by hand](performance-training.svg)

- **Compiled functions** take about as long as NumPy code written by hand. On JAX each call costs some tens of
  microseconds more than with `jax.jit`, which shows in a small step and not in a large one.
- **Single calls** cost little more than the library that computes, and nothing on 10^6 elements.
- **Eager gradients** on a few elements are slow, as they are derived op by op: compile a step that runs often.
- **Assignments to single elements** on JAX and PyTorch are slow: each copies, or takes many calls of these libraries.
"""

MEASURED_TEXT = """
## How it was measured

NumPy and eight other libraries: PyTorch (eager, its meta device and FakeTensor), JAX (eager, compiled and
`eval_shape`), array-api-compat, array-api-strict, xarray, autoray, Keras and PhiML.

- The **results are compared** before they are timed (shapes and dtypes where there is no data). The script ends with an
  error if a library computes something else, or if a package is not installed. Where a table has a dash, the reason is
  below the table.
- **Processor time** is measured, so that other programs on the machine do not count. The libraries alternate in
  slices of about a millisecond. The time of a round is the shortest of several slices. A cell shows the median, over
  the rounds, of the **ratio to the first column**; the first column shows microseconds. Everything is measured twice,
  in separate processes, and a cell shows the larger of the two ratios, for us and for others.
- Everything runs on **one thread**: products in NumPy and PyTorch, XLA, and our own blocks. On Linux the process is
  pinned to one core. JAX computes before a call returns (`jax_cpu_enable_async_dispatch` is off). 64-bit dtypes are
  enabled in JAX where our JAX backend, which needs them, is in the same process. `torch.compile` is not measured,
  because it needs a C++ compiler.
- Calls are **warm**: planning, tracing and compiling at the first call of a kind are not counted, except in *new batch*
  and where shapes change.
- On {system}, {processor}, {cores} cores, with {python}: {packages}.

`make peers` measures this page again, and `make bench` runs all benchmarks of the project. `make npbench
NPBENCH=<a checkout of spcl/npbench>` runs [NPBench's programs](npbench.md), which others wrote for NumPy.
"""

ALL_TEXT = """\
# All measurements

The ratios of [performance](performance.md), which says how they were measured. The first column of a table is 1,
and shows microseconds.
"""

NOTE = """
---

*Generated from `docs/performance.jsonl` by `make docs`.*
"""

IN_SHORT: list[tuple[str, str, str | None, list[str], list[str]]] = [
    (
        "a training step, a batch of 512", "training", "batch of 512",
        ["ours on NumPy, jit", "ours on JAX, jit"], ["jax.jit", "PyTorch, eager", "PhiML on JAX, jit"],
    ),
    (
        "a training step, a batch of 8", "training", "batch of 8",
        ["ours on NumPy, jit", "ours on JAX, jit"], ["jax.jit", "PyTorch, eager", "PhiML on JAX, jit"],
    ),
    (
        "a program on named axes, 10^6 elements", "named axes, large", "all of these",
        ["tensorbackend, jit", "tensorbackend"], ["PhiML", "xarray"],
    ),
    (
        "the same, 192 elements", "named axes, small", "all of these",
        ["tensorbackend, jit", "tensorbackend"], ["PhiML", "xarray"],
    ),
    ("single calls, 10^6 elements", "numpy, large", None, ["tensorbackend"], ["array-api-compat", "autoray", "Keras"]),
    ("single calls, 8 elements", "numpy, small", None, ["tensorbackend"], ["array-api-compat", "autoray", "Keras"]),
    ("single calls, shapes that never came before", "changing", None, ["ours on NumPy"], ["PyTorch", "JAX"]),
    (
        "the shapes of a network, without data", "shapes", "network",
        ["TemplateBackend"], ["jax.eval_shape", "PyTorch, meta"],
    ),
    ("assignments, 10^6 elements", "assignment, large", None, ["ours on NumPy", "ours on JAX"], ["PyTorch", "JAX"]),
]  # fmt: skip
"""The rows of the first table: what is done, the group, its program (`None`: all that each peer can run), our columns,
others."""

SLOWER_TEXT = """
## Where tensorbackend is slower

In so many programs of a group tensorbackend takes at least {margin:.0%} longer than the fastest of the other libraries.
The library that tensorbackend itself runs on counts as one of them only for the training step.
[All measurements](measurements.md) lists each of these programs, and the ratio of each library in each program.

"""

HEADINGS = {
    "engines, small": "Eager calls on a few elements, on each backend",
    "engines, large": "Eager calls on 10^6 elements, on each backend",
    "numpy, small": "What libraries add to NumPy's calls on a few elements",
    "numpy, large": "What libraries add to NumPy's calls on 10^6 elements",
    "torch, small": "What libraries add to PyTorch's calls on a few elements",
    "torch, large": "What libraries add to PyTorch's calls on 10^6 elements",
    "jax, small": "What libraries add to JAX's calls on a few elements",
    "jax, large": "What libraries add to JAX's calls on 10^6 elements",
    "named axes, small": "What names of axes cost on 192 elements",
    "named axes, large": "What names of axes cost on 10^6 elements",
    "shapes": "Shapes without data: microseconds for a known call",
    "changing": "Shapes that change at each call",
    "assignment, small": "Assignment to parts of 10 elements",
    "assignment, large": "Assignment to parts of 10^6 elements",
    "training": "A training step, compiled and eager, next to code by hand",
}
"""What a group's table says, by the group's name."""

FIGURES = {
    "numpy, small": "performance-calls.svg",
    "named axes, small": "performance-names.svg",
    "shapes": "performance-shapes.svg",
}
"""The figures before tables; that of the training step is on top of the page."""

OF_GROUPS = {
    "engines, small": "The table shows eager calls on each engine, as ratios to NumPy. JAX is made for compiled"
    " functions; its single calls are slow.",
    "numpy, small": "The libraries in this table all compute with NumPy. The code in each row is NumPy's.",
    "numpy, large": "The standard's `sort` is stable, and so is ours; NumPy's default sort is not, and is much quicker"
    " than its stable one. PhiML's `softmax` does not subtract the maximum, which saves a pass but overflows.",
    "torch, small": "The table compares our plugin with other libraries on PyTorch's tensors. Our `sort` and the"
    " standard's are stable.",
    "jax, small": "`array_namespace` of a JAX array is `jax.numpy` itself, so array-api-compat costs only the look-up."
    " JAX's own `m[indices]` and `m[0]` use a general path that is slow for single calls; libraries that call"
    " `jnp.take` are quicker.",
    "named axes, small": "NumPy takes the axes by position; the other libraries find them by name. `jit` is `tb.jit` on"
    " NumPy.",
    "shapes": "In this table the other libraries are shown as ratios to ours, so the larger ratio of the two runs"
    " favours us. `jax.eval_shape` remembers the trace of a function for the same shapes, and our dispatch remembers"
    " every call. `new batch` has shapes that did not occur before. Our gradient is traced again in each call, as it"
    " runs without `tb.jit`. Most functions of PyTorch's meta device are written in Python.",
    "changing": "Each call has operands of a shape that no call before had, as texts of varying lengths and growing"
    " buffers have. JAX compiles each op for each shape.",
    "assignment, small": "JAX's arrays do not change; `x.at[3].set(1.0)` returns a changed copy, which the variable"
    " gets. Our tensors have assignment on every backend.",
    "training": "The step computes the loss of two layers, its gradient, and the updated parameters. `train_on_batch`"
    " of Keras does more: it keeps metrics and returns the loss as a Python number.",
}
"""The text of a group, by its name."""
