"""Predictions of dry runs, and their time: against XLA, against PyTorch's meta device, and at GPT-3's size.

    python benchmarks/dryrun.py [xla] [meta] [gpt3]

By default runs all three, but skips JAX or PyTorch if it is not installed.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import timeit
import tracemalloc
from collections.abc import Callable
from importlib.util import find_spec
from math import prod
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import tensorbackend as tb
from tensorbackend.costs import show_bytes
from tensorbackend.expr.evaluate import evaluate
from tensorbackend.rules.template_text import parse_template

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))


# Functions that XLA also analyses


def attention(query: tb.Tensor, key: tb.Tensor, value: tb.Tensor) -> tb.Tensor:
    """Attention of several heads; each position attends to all positions."""
    scores = tb.dot(query, key, contract=(["key"], ["key"]), batch=(["head"], ["head"])) * 0.125
    return tb.dot(tb.softmax(scores, axis="seen"), value, contract=(["seen"], ["seen"]), batch=(["head"], ["head"]))


def convolution(x: tb.Tensor, kernel: tb.Tensor) -> tb.Tensor:
    """A padded convolution, in which some products are left out."""
    return tb.tanh(tb.conv(x, kernel, padding="same"))


def perceptron(parameters: dict[str, tb.Tensor], x: tb.Tensor) -> tb.Tensor:
    """Return the loss of a network of two layers."""
    hidden = tb.tanh(x @ parameters["first"] + parameters["shift"])
    return tb.mean(tb.square(hidden @ parameters["second"]))


def normalisation(x: tb.Tensor, scale: tb.Tensor) -> tb.Tensor:
    """Layer normalisation (Ba et al., 2016), then a softmax."""
    centred = x - tb.mean(x, axis="feature", keepdims=True)
    variance = tb.mean(centred * centred, axis="feature", keepdims=True)
    return tb.softmax(centred * tb.rsqrt(variance + 1e-5) * scale, axis="feature")


FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "matmul": (tb.matmul, ("f32[batch=256, feature=784]", "f32[feature=784, unit=512]")),
    "convolution": (convolution, ("f32[8, 16, 32, 32]", "f32[32, 16, 3, 3]")),
    "attention": (
        attention,
        ("f32[head=8, time=256, key=64]", "f32[head=8, seen=256, key=64]", "f32[head=8, seen=256, key=64]"),
    ),
    "perceptron, gradient": (
        tb.value_and_grad(perceptron),
        (
            {
                "first": "f32[feature=784, hidden=256]",
                "shift": "f32[hidden=256]",
                "second": "f32[hidden=256, class=10]",
            },
            "f32[batch=128, feature=784]",
        ),
    ),
    "normalisation": (normalisation, ("f32[batch=128, feature=1024]", "f32[feature=1024]")),
}
"""Functions to compare, with templates of their arguments."""


class Analysis:
    """XLA's figures for a function: operations before fusion, some of them repeated, and memory after compilation."""

    def __init__(self, function: Callable[..., Any], templates: tuple[Any, ...]) -> None:
        import jax

        def zeros_like(template: Any) -> Any:
            if isinstance(template, dict):
                return {name: zeros_like(part) for name, part in template.items()}
            parsed = parse_template(template)
            return tb.zeros(parsed.shape, dtype=parsed.dtype, names=parsed.names, backend="jax")

        lowered = jax.jit(function).lower(*map(zeros_like, templates))
        costs: Any = lowered.cost_analysis()
        memory: Any = lowered.compile().memory_analysis()
        self.flops = costs.get("flops", 0.0)
        self.transcendentals = costs.get("transcendentals", 0.0)
        self.arguments = memory.argument_size_in_bytes
        self.results = memory.output_size_in_bytes
        self.temporary = memory.temp_size_in_bytes

    @property
    def memory(self) -> int:
        """Return the bytes of arguments, results and temporary buffers."""
        return int(self.arguments + self.results + self.temporary)


def memory_on_numpy(function: Callable[..., Any], templates: tuple[Any, ...]) -> int:
    """Return the peak of the bytes that NumPy holds while a function's graph runs, without its arguments."""
    graph = tb.trace(function)(*templates)
    tensors = [
        tb.ones(template.shape, dtype=template.dtype, names=template.names, backend="numpy")
        for template in graph.templates
    ]
    for _ in range(2):  # not counted: what the first and second calls cache
        evaluate(graph, tensors)
    tracemalloc.start()
    try:
        evaluate(graph, tensors)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def against_xla() -> None:
    """Prints FLOPs and memory of each function, predicted and as XLA reports them, and the memory on NumPy."""
    print("predicted and by XLA             FLOPs, ratio         transc., ratio  eager peak  optimised      NumPy  XLA")
    for name, (function, templates) in FUNCTIONS.items():
        report, xla = tb.dry_run(function, *templates), Analysis(function, templates)
        ratio = report.eager.transcendentals / xla.transcendentals if xla.transcendentals else 1.0
        print(
            f"{name:<24} {report.flops:>14,} {report.flops / xla.flops:8.4f} {report.eager.transcendentals:>14,} "
            f"{ratio:8.4f} {show_bytes(report.peak.memory):>12} {show_bytes(report.optimised.peak.memory):>10} "
            f"{show_bytes(memory_on_numpy(function, templates) + xla.arguments):>10} "
            f"{show_bytes(xla.memory):>9} = arguments {show_bytes(xla.arguments)}, results {show_bytes(xla.results)}, "
            f"temporary {show_bytes(xla.temporary)}"
        )


# One op on templates


def best(function: Callable[[], object], number: int = 500, repeats: int = 9) -> float:
    """Return the seconds of one call, the minimum of several repeats."""
    return min(timeit.repeat(function, number=number, repeat=repeats)) / number


def against_meta() -> None:
    """Prints the time of one op on templates and on PyTorch's meta device, in one run."""
    import torch

    torch.set_grad_enabled(False)

    def meta(*shape: int) -> Any:
        return torch.empty(shape, device="meta")

    def dry(*shape: int) -> tb.Tensor:
        return tb.template(shape, "f32")

    m, w, v, k, image, filters = (
        meta(*s) for s in ((32, 784), (784, 512), (784,), (32, 1), (2, 3, 32, 32), (8, 3, 3, 3))
    )
    x, y, z, c, picture, kernel = (
        dry(*s) for s in ((32, 784), (784, 512), (784,), (32, 1), (2, 3, 32, 32), (8, 3, 3, 3))
    )
    pairs: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "x + x": (lambda: m + m, lambda: x + x),
        "x * vector": (lambda: m * v, lambda: x * z),
        "exp": (lambda: torch.exp(m), lambda: tb.exp(x)),
        "x @ w": (lambda: m @ w, lambda: x @ y),
        "sum along an axis": (lambda: torch.sum(m, dim=1), lambda: tb.sum(x, axis=1)),
        "softmax": (lambda: torch.softmax(m, dim=1), lambda: tb.softmax(x, axis=1)),
        "where": (lambda: torch.where(k, m, m), lambda: tb.where(c, x, x)),
        "reshape": (lambda: torch.reshape(m, (784, 32)), lambda: tb.reshape(x, (784, 32))),
        "transpose": (lambda: m.T, lambda: x.T),
        "cumulative sum": (lambda: torch.cumsum(m, dim=1), lambda: tb.cumulative_sum(x, axis=1)),
        "convolution": (
            lambda: torch.nn.functional.conv2d(image, filters),
            lambda: tb.conv(picture, kernel),
        ),
    }
    k, c = k > 0, c > 0
    print(f"one op on templates       tensorbackend   PyTorch {torch.__version__} meta   ratio")
    for name, (theirs, ours) in pairs.items():
        ours(), theirs()
        mine, other = best(ours), best(theirs)
        print(f"{name:<24} {mine * 1e6:10.2f} µs {other * 1e6:15.2f} µs {other / mine:14.1f}")


# A training step of GPT-3's size


def at_gpt3_size() -> None:
    """Prints the time and memory that a dry run of a training step takes, and its FLOPs next to the rule of thumb."""
    import gpt3

    tokens = f"s64[batch=1, time={gpt3.TIME}]"
    start, work = perf_counter(), process_time()
    parameters = gpt3.parameters()
    report = tb.dry_run(gpt3.loss, parameters, tokens, tokens, gradient=True)
    seconds, work, memory = perf_counter() - start, process_time() - work, most_memory()
    weights = sum(prod(template.shape) for template in tb.trace(lambda tree: tree)(parameters).templates)
    print(report.summary(), report.text(), sep="\n\n")
    print(f"\n{weights:,} parameters, {gpt3.TIME} tokens")
    print(f"{seconds:.2f} s, {work:.2f} s of a processor, {show_bytes(memory)} of memory at most")
    rule = 6 * weights * gpt3.TIME
    print(f"6 N D = {rule:.4g}, counted {report.flops:.4g}: {report.flops / rule:.4f}")


def most_memory() -> int:
    """Return the peak resident memory of this process in bytes."""
    try:
        (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    except (OSError, ValueError):  # not on Linux; there the number below may include the parent's memory
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return int(line.split()[1]) * 1024


def main() -> None:
    """Prints the requested figures; GPT-3's size runs in a separate process, so that its memory is measured alone."""
    known = ["xla", "meta", "gpt3"]
    asked = sys.argv[1:] or known
    if not {*asked} <= {*known}:
        sys.exit(f"expected some of {', '.join(known)}, got {' '.join(asked)}")
    if asked == ["gpt3"]:
        at_gpt3_size()
        return
    for name in asked:
        if name == "xla" and find_spec("jax"):
            against_xla()
        elif name == "meta" and find_spec("torch"):
            against_meta()
        elif name == "gpt3":
            subprocess.run([sys.executable, __file__, "gpt3"], check=True)
        else:
            print(f"{name}: its library is not installed")


if __name__ == "__main__":
    main()
