"""Times a Conformer with CTC on PyTorch and on our backend, on one thread: the loss, and the loss with all gradients.

`OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/conformer.py --over numpy`
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import returnn.frontend as rf
import tensorbackend as tb
import torch

import tensorbackend_returnn

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from conformer_model import Sizes, of_parameters, on_ours, on_torch


def main() -> None:
    """Prints a line for each way to compute. They alternate, so that other work on the machine affects all equally."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--over", default="numpy", help="a backend of ours")
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--units", type=int, default=256)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--frames", type=int, default=200)
    parser.add_argument("--batch", type=int, default=4)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    sizes = Sizes(
        batch=options.batch,
        frames=options.frames,
        inputs=80,
        units=options.units,
        layers=options.layers,
        heads=4,
        labels=20,
        classes=100,
    )
    theirs = on_torch(sizes)
    ours = on_ours(options.over, theirs, sizes)
    loss, parameters = of_parameters(ours), tensorbackend_returnn.parameters(ours.model)
    compiled, step = tb.jit(loss), tb.value_and_grad(loss)
    compiled_step = tb.jit(step)

    def with_torch(function: Callable[[], Any]) -> Callable[[], Any]:
        def call() -> Any:
            rf.select_backend_torch()
            return function()

        return call

    def with_ours(function: Callable[[], Any]) -> Callable[[], Any]:
        def call() -> Any:
            tensorbackend_returnn.select_backend(options.over)
            result = function()
            (result[0] if isinstance(result, tuple) else result).block_until_ready()
            return result

        return call

    def forward() -> Any:
        with torch.no_grad():
            return theirs.loss()

    def gradient() -> Any:
        value = theirs.loss()
        value.backward()
        return value

    ways = {
        "PyTorch": with_torch(forward),
        "ours eager": with_ours(ours.loss),
        "ours compiled": with_ours(lambda: compiled(parameters)),
        "PyTorch, gradients": with_torch(gradient),
        "ours eager, gradients": with_ours(lambda: step(parameters)),
        "ours compiled, gradients": with_ours(lambda: compiled_step(parameters)),
    }
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(options.turns + 3):
        for name, way in ways.items():
            begin = time.perf_counter(), time.process_time()
            way()
            seconds[name].append((time.perf_counter() - begin[0], time.process_time() - begin[1]))
    base: dict[str, float] = {}
    for name, times in seconds.items():
        later = np.array(times[3:]) * 1000
        clock, processors = np.median(later, axis=0)
        kind = "gradients" if "gradients" in name else "loss"
        base.setdefault(kind, processors)
        print(
            f"{name:25} {clock:8.1f} ms (processors {processors:8.1f}, least {later[:, 1].min():8.1f}), "
            f"{processors / base[kind]:5.2f} times PyTorch's"
        )


if __name__ == "__main__":
    main()
