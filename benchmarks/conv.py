"""conv on NumpyBackend compared with code by hand in NumPy for the same shapes: time and peak memory, in one run.

    python benchmarks/conv.py

Not a test, as machines are noisy. Each time is the best of several repeats, in which all sides take turns, so that the
noise affects all equally. The peaks are what tracemalloc counts during one call, results included.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

import tensorbackend as tb

Array: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]

SHAPES = {
    "8 images of 32 x 64 x 64, 64 kernels of 3 x 3": ((8, 32, 64, 64), (64, 32, 3, 3)),
    "32 images of 3 x 32 x 32, 16 kernels of 5 x 5": ((32, 3, 32, 32), (16, 3, 5, 5)),
    "4 images of 256 x 14 x 14, 256 kernels of 3 x 3": ((4, 256, 14, 14), (256, 256, 3, 3)),
    "1 image of 16 x 512 x 512, 16 kernels of 3 x 3": ((1, 16, 512, 512), (16, 16, 3, 3)),
}


def padded(x: Array, k: Array) -> Array:
    """Pad x so that a convolution keeps its size."""
    low, high = (k.shape[2] - 1) // 2, (k.shape[3] - 1) // 2
    result = np.zeros((*x.shape[:2], x.shape[2] + k.shape[2] - 1, x.shape[3] + k.shape[3] - 1), x.dtype)
    result[:, :, low : low + x.shape[2], high : high + x.shape[3]] = x
    return result


def by_tensordot(x: Array, k: Array) -> Array:
    """Contract all windows at once, as textbooks do."""
    windows = sliding_window_view(padded(x, k), k.shape[2:], axis=(2, 3))
    return np.ascontiguousarray(np.moveaxis(np.tensordot(windows, k, ((1, 4, 5), (1, 2, 3))), 3, 1))


def by_einsum(x: Array, k: Array) -> Array:
    """Contract all windows at once, with einsum."""
    windows = sliding_window_view(padded(x, k), k.shape[2:], axis=(2, 3))
    result: Array = np.einsum("nchwij,ocij->nohw", windows, k, optimize=True)
    return result


def by_image(x: Array, k: Array) -> Array:
    """Copy the columns of one image at a time into the same buffer, and multiply."""
    batch, _, height, width = x.shape
    windows = sliding_window_view(padded(x, k), k.shape[2:], axis=(2, 3)).transpose(0, 1, 4, 5, 2, 3)
    columns = np.empty(windows.shape[1:], x.dtype)
    matrix, flat = k.reshape(k.shape[0], -1), columns.reshape(-1, height * width)
    result = np.empty((batch, k.shape[0], height * width), x.dtype)
    for image in range(batch):
        columns[...] = windows[image]
        np.matmul(matrix, flat, out=result[image])
    return result.reshape(batch, -1, height, width)


def by_row_of_the_kernel(x: Array, k: Array) -> Array:
    """Copy the columns of one kernel row, and use them for all kernel rows."""
    batch, channels, height, width = x.shape
    windows = sliding_window_view(padded(x, k), k.shape[3], axis=3).transpose(0, 1, 4, 2, 3)
    columns = np.empty(windows.shape[1:], x.dtype)
    flat = columns.reshape(channels * k.shape[3], -1)
    rows = [np.ascontiguousarray(k[:, :, row]).reshape(k.shape[0], -1) for row in range(k.shape[2])]
    result, product = (np.empty((*lead, k.shape[0], height * width), x.dtype) for lead in ((batch,), ()))
    for image in range(batch):
        columns[...] = windows[image]
        np.matmul(rows[0], flat[:, : height * width], out=result[image])
        for row in range(1, len(rows)):
            np.matmul(rows[row], flat[:, row * width : (row + height) * width], out=product)
            result[image] += product
    return result.reshape(batch, -1, height, width)


def ours(x: Array, k: Array) -> Array:
    """This library's conv."""
    return np.asarray(tb.conv(tb.asarray(x), tb.asarray(k), padding="same"))


HANDWRITTEN: tuple[Callable[[Array, Array], Array], ...] = (by_tensordot, by_einsum, by_image, by_row_of_the_kernel)


def peak(function: Callable[[Array, Array], Array], x: Array, k: Array) -> float:
    """Return the peak memory of a call in MiB."""
    tracemalloc.start()
    function(x, k)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 2**20


def main(repeats: int = 15) -> None:
    """Prints the time and peak of each function for each shape, and the ratio to the best one."""
    generator = np.random.default_rng(0)
    for text, (images, kernels) in SHAPES.items():
        x = generator.standard_normal(images, dtype=np.float32)
        k = generator.standard_normal(kernels, dtype=np.float32)
        functions = (ours, *HANDWRITTEN)
        reference = by_tensordot(x, k)
        seconds = dict.fromkeys(functions, float("inf"))
        for function in functions:
            np.testing.assert_allclose(function(x, k), reference, rtol=1e-3, atol=1e-3)
        for _ in range(repeats):
            for function in functions:
                start = time.perf_counter()
                function(x, k)
                seconds[function] = min(seconds[function], time.perf_counter() - start)
        best = min(seconds[function] for function in HANDWRITTEN)
        print(text)
        for function in functions:
            ratio = seconds[function] / best
            line = f"  {function.__name__:<21} {seconds[function] * 1e3:8.2f} ms, {ratio:5.2f} times the best by hand"
            print(f"{line}, peak {peak(function, x, k):6.1f} MiB")


if __name__ == "__main__":
    main()
