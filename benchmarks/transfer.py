"""Transfers of 256 MiB between NumPy and the other backends: the seconds of each, and whether memory is shared.

`python benchmarks/transfer.py [BACKEND ...]`, by default JAX. Memory is shared if both tensors have the same address.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

import tensorbackend as tb
from tensorbackend.errors import BackendError
from tensorbackend.interchange import HOST

ELEMENTS = 1 << 26
"""The number of float32 elements: 256 MiB."""


def address(x: tb.Tensor) -> int | None:
    """Return the address of a tensor's data; `None` if it is not in host memory."""
    return np.asarray(x).ctypes.data if x.__dlpack_device__() == HOST else None


def leg(x: tb.Tensor, target: str) -> tb.Tensor:
    """Transfer a tensor, and print a line about the transfer."""
    source, start = x.backend.name, address(x)
    began = time.perf_counter()
    moved = x.backend_transfer(target).block_until_ready()
    seconds = time.perf_counter() - began
    shared = "shared" if start is not None and address(moved) == start else "copied"
    print(f"  {source:>6} -> {target:<6} {seconds * 1e3:9.3f} ms  {shared}")
    return moved


def main(backends: list[str]) -> None:
    """Prints the transfers of memory that the library may share, and of an array as NumPy allocates it."""
    array = np.ones(ELEMENTS, np.float32)
    sources: dict[str, Callable[[], tb.Tensor]] = {
        "tb.tensor(array), aligned to 64 bytes": lambda: tb.tensor(array, names=("n",), backend="numpy"),
        "tb.asarray(array), as NumPy allocates": lambda: tb.asarray(array, names=("n",), backend="numpy"),
    }
    began = time.perf_counter()
    array.copy()
    print(f"numpy copy of 256 MiB {(time.perf_counter() - began) * 1e3:9.3f} ms")
    for backend in backends:
        try:
            tb.zeros(1, backend="numpy").backend_transfer(backend).block_until_ready()  # imports the library
        except BackendError as error:
            print(error)
            continue
        for text, make in sources.items():
            print(text)
            leg(leg(make(), backend), "numpy")


if __name__ == "__main__":
    main(sys.argv[1:] or ["jax"])
