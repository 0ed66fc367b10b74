"""A dry run's predictions of a GPU's memory, compared with what CuPy and JAX use there.

    python benchmarks/gpu.py

Each program runs in a process of its own, on CuPy op by op and on JAX compiled by `tb.jit`. The memory is that of the
arguments, results and intermediates: a hook on CuPy's allocator measures it, and JAX's device reports it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

import tensorbackend as tb
from tensorbackend.rules.template_text import parse_template

Program = tuple[Callable[..., Any], dict[str, str]]


def attention(query: tb.Tensor, key: tb.Tensor, value: tb.Tensor) -> tb.Tensor:
    """Attention of several heads; each position attends to all positions."""
    scores = tb.dot(query, key, contract=(["feature"], ["feature"]), batch=(["head"], ["head"])) * 0.125
    return tb.dot(tb.softmax(scores, axis="seen"), value, contract=(["seen"], ["seen"]), batch=(["head"], ["head"]))


def perceptron(first: tb.Tensor, second: tb.Tensor, x: tb.Tensor, y: tb.Tensor) -> Any:
    """A training step of a network of two layers."""

    def loss(weights: tuple[tb.Tensor, tb.Tensor]) -> tb.Tensor:
        return tb.mean(tb.square(tb.nn.gelu(x @ weights[0]) @ weights[1] - y))

    changes = tb.grad(loss)((first, second))
    return first - 0.1 * changes[0], second - 0.1 * changes[1]


def statistics_of(x: tb.Tensor) -> Any:
    """Return standardised columns and their covariance."""
    centred = x - tb.mean(x, axis="row", keepdims=True)
    scaled = centred / tb.std(x, axis="row", keepdims=True)
    return scaled, tb.dot(scaled, scaled.rename("row", "other"), contract=(["row"], ["row"]))


PROGRAMS: dict[str, Program] = {
    "attention": (
        attention,
        {
            "query": "f32[head=16, asked=4096, feature=64]",
            "key": "f32[head=16, seen=4096, feature=64]",
            "value": "f32[head=16, seen=4096, part=64]",
        },
    ),
    "perceptron": (
        perceptron,
        {"first": "f32[1024, 4096]", "second": "f32[4096, 1024]", "x": "f32[16384, 1024]", "y": "f32[16384, 1024]"},
    ),
    "statistics": (statistics_of, {"x": "f32[row=2000000, column=128]"}),
}


def drawn(name: str, backend: tb.Backend) -> list[tb.Tensor]:
    """Return random arguments of a program."""
    keys = tb.random.split(tb.random.key(0, backend=backend), len(PROGRAMS[name][1]))
    templates = [parse_template(text) for text in PROGRAMS[name][1].values()]
    return [
        tb.random.normal(keys[i], shape=template.shape, dtype=template.dtype, names=template.names)
        for i, template in enumerate(templates)
    ]


def on_cupy(program: Callable[..., Any], draw: Callable[[], Sequence[tb.Tensor]]) -> int:
    """Return the peak of the bytes in use while a program runs on CuPy op by op, with its arguments."""
    import cupy  # type: ignore[import-not-found]

    class Counted(cupy.cuda.MemoryHook):  # type: ignore[misc] # CuPy has no types
        """Counts the bytes in use."""

        name = "Counted"
        used = most = 0

        def malloc_postprocess(self, **facts: Any) -> None:
            self.used += facts["mem_size"]
            self.most = max(self.most, self.used)

        def free_preprocess(self, **facts: Any) -> None:
            self.used -= facts["mem_size"]

    program(*draw())  # not counted: memory that the handles of libraries keep
    with Counted() as counted:
        arguments = draw()
        counted.most = counted.used
        program(*arguments)
        return int(counted.most)


def on_jax(name: str) -> int:
    """Return the peak of the bytes in use while a compiled program runs on JAX."""
    # By default JAX allocates three quarters of the memory at once.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax

    backend = tb.get_backend("jax")
    arguments, program = drawn(name, backend), tb.jit(PROGRAMS[name][0])
    for x in arguments:
        x.block_until_ready()
    before = jax.devices()[0].memory_stats()["peak_bytes_in_use"]
    results = program(*arguments)
    for x in results if isinstance(results, tuple) else (results,):
        x.block_until_ready()
    after = jax.devices()[0].memory_stats()["peak_bytes_in_use"]
    if after == before:
        print(f"{name}: making the arguments took more than the program", file=sys.stderr)
    return int(after)


def measured(function: str, name: str) -> int | str:
    """Measure in a separate process; return the result, or the last line of the error."""
    run = subprocess.run([sys.executable, __file__, function, name], capture_output=True, text=True, check=False)
    return int(json.loads(run.stdout)) if run.returncode == 0 else run.stderr.strip().splitlines()[-1]


def main() -> int:
    """Prints the table, or one measurement; returns 1 if a measurement of the table failed."""
    if len(sys.argv) == 3:
        name = sys.argv[2]
        if sys.argv[1] == "on_jax":
            print(json.dumps(on_jax(name)))
        else:
            print(json.dumps(on_cupy(PROGRAMS[name][0], lambda: drawn(name, tb.get_backend("cupy")))))
        return 0
    failures = 0
    print("peak in MB     predicted, op by op   CuPy   ratio    predicted, optimised   JAX   ratio")
    for name, (program, arguments) in PROGRAMS.items():
        report = tb.dry_run(program, *(parse_template(text) for text in arguments.values()))
        cells = []
        for function, peak in (("on_cupy", report.eager.peak.memory), ("on_jax", report.optimised.peak.memory)):
            held = measured(function, name)
            failures += isinstance(held, str)
            cells.append(f"{peak / 1e6:12,.0f} {held if isinstance(held, str) else f'{held / 1e6:10,.0f}'}")
            cells.append(f"{peak / held:6.3f}" if isinstance(held, int) else "")
        print(f"{name:12}", *cells)
    if failures:
        print(f"{failures} of {2 * len(PROGRAMS)} measurements failed")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
