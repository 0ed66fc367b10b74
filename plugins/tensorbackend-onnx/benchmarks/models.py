"""Models of torchvision with random weights on our backends, by the time of onnxruntime.

`python plugins/tensorbackend-onnx/benchmarks/models.py [name ...]` exports each model by PyTorch, and prints the
processor time of onnxruntime for one image in one thread, and as multiples of it those of PyTorch itself and of the
imported model, eager and by `jit`: minima of seven calls each, in turn. The last row has the medians. It needs
torchvision; set OPENBLAS_NUM_THREADS=1 for NumPy.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from statistics import median
from time import process_time
from typing import Any

import onnx
import onnxruntime
import tensorbackend as tb
import torch

import tensorbackend_onnx

NAMES = (
    "resnet18", "squeezenet1_1", "mobilenet_v2", "shufflenet_v2_x1_0", "efficientnet_b0", "regnet_y_400mf",
    "convnext_tiny", "vit_b_32", "googlenet", "densenet121",
)  # fmt: skip
BACKENDS = "numpy", "torch"
COLUMNS = "PyTorch", *(f"{name}, {way}" for name in BACKENDS for way in ("eager", "jit"))


def minima(calls: list[Callable[[], Any]]) -> list[float]:
    """Return the least processor seconds of each call, after three that prepare it."""
    found = [float("inf")] * len(calls)
    for number in range(10):
        for place, call in enumerate(calls):
            start = process_time()
            call()
            if number >= 3:
                found[place] = min(found[place], process_time() - start)
    return found


def ratios(name: str, folder: str) -> tuple[float, list[float]]:
    """Return the seconds of onnxruntime, and those of the others by these."""
    import torchvision

    torch.manual_seed(0)
    module, image = torchvision.models.get_model(name, weights=None).eval(), torch.randn(1, 3, 224, 224)
    exported: Any = torch.onnx.export(module, (image,), dynamo=True, verbose=False)
    path = os.path.join(folder, f"{name}.onnx")
    onnx.save(exported.model_proto, path)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    given = {session.get_inputs()[0].name: image.numpy()}
    calls: list[Callable[[], Any]] = [lambda: session.run(None, given), lambda: module(image)]
    for backend in BACKENDS:
        model, x = tensorbackend_onnx.load(path, backend=backend), tb.asarray(image.numpy(), backend=backend)
        compiled = tb.jit(model.apply)
        calls.append(lambda model=model, x=x: model(x))
        calls.append(lambda compiled=compiled, model=model, x=x: compiled(model.parameters, x))
    with torch.inference_mode():
        first, *others = minima(calls)
    return first, [seconds / first for seconds in others]


def main() -> None:
    """Print a row for each model, and the medians."""
    torch.set_num_threads(1)
    rows = []
    print("model | onnxruntime, ms |", " | ".join(COLUMNS))
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[1:] or NAMES:
            seconds, found = ratios(name, folder)
            rows.append(found)
            print(name, f"{seconds * 1e3:.1f}", *[f"{ratio:.2f}" for ratio in found], sep=" | ", flush=True)
    print("median", "", *[f"{median(column):.2f}" for column in zip(*rows, strict=True)], sep=" | ")


if __name__ == "__main__":
    main()
