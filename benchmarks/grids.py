"""grid_sample on NumpyBackend compared with scipy.ndimage.map_coordinates of order 1, in one run.

    python benchmarks/grids.py

Not a test, as machines are noisy. Both sides run in each turn, and the ratio is the median over the turns.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.ndimage import map_coordinates

import tensorbackend as tb

SIZE, POINTS, TURNS = 256, 100_000, 50

SCIPY = {
    "constant": "grid-constant",
    "edge": "nearest",
    "periodic": "grid-wrap",
    "reflect": "mirror",
    "symmetric": "reflect",
}
"""SciPy's names of the boundary modes."""


def seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main() -> None:
    rng = np.random.default_rng(0)
    array = rng.standard_normal((SIZE, SIZE), dtype=np.float32)
    places = rng.uniform(-3, SIZE + 2, (POINTS, 2)).astype(np.float32)
    grid, points, columns = tb.asarray(array), tb.asarray(places), np.ascontiguousarray(places.T)
    print(f"{SIZE} x {SIZE} float32 at {POINTS:,} points, milliseconds")
    print("boundary     ours   SciPy   ratio")
    for boundary, mode in SCIPY.items():

        def ours(boundary: str = boundary) -> Any:
            return tb.grid_sample(grid, points, boundary=boundary)

        def theirs(mode: str = mode) -> Any:
            return map_coordinates(array, columns, order=1, mode=mode)

        assert np.abs(np.asarray(ours()) - theirs()).max() < 1e-4
        pairs = [(seconds(ours), seconds(theirs)) for _ in range(TURNS)]
        best = [1e3 * min(column) for column in zip(*pairs, strict=True)]
        print(f"{boundary:10} {best[0]:6.2f}  {best[1]:6.2f}  {statistics.median(a / b for a, b in pairs):6.2f}")


if __name__ == "__main__":
    main()
