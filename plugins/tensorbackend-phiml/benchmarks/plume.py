"""PhiFlow's smoke plume on PhiML's own backends and on ours: how far apart the results are, and the time of a step.

`python benchmarks/plume.py --steps 20 --size 64`; needs `phiflow`.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import phiml.math as math
from phi.field import CenteredGrid, StaggeredGrid
from phi.geom import Box, Sphere
from phi.physics import advect, fluid
from phiml.backend import NUMPY
from phiml.backend._backend import get_backend
from phiml.math import extrapolation

import tensorbackend_phiml


def plume(size: int) -> tuple[Any, Callable[..., Any]]:
    """The fields at the beginning and the step from one time to the next."""
    box = Box(x=100, y=100)
    velocity = StaggeredGrid(0, 0, box, x=size, y=size)
    smoke = CenteredGrid(0, extrapolation.BOUNDARY, box, x=size, y=size)
    inflow = 0.2 * CenteredGrid(Sphere(x=50, y=9.5, radius=5), extrapolation.BOUNDARY, box, x=size, y=size)

    def step(velocity: Any, smoke: Any, pressure: Any) -> Any:
        smoke = advect.mac_cormack(smoke, velocity, 1.0) + inflow
        lift = (smoke * (0, 0.1)).at(velocity)
        velocity = advect.semi_lagrangian(velocity, velocity, 1.0) + lift
        velocity, pressure = fluid.make_incompressible(
            velocity, (), math.Solve("CG", rel_tol=1e-8, abs_tol=1e-8, max_iterations=2000, x0=pressure)
        )
        return velocity, smoke, pressure

    return (velocity, smoke, CenteredGrid(0, 0, box, x=size, y=size)), step


def run(backend: Any, size: int, steps: int, compiled: bool) -> tuple[np.ndarray[Any, Any], float, float]:
    """The smoke at the end, the seconds of the first step and of a later one."""
    with backend, math.precision(64):
        fields, step = plume(size)
        advance = math.jit_compile(step) if compiled else step
        times = []
        if compiled:  # PhiFlow keeps what it computes of a grid; PhiML's JAX cannot use that after a trace
            fields = step(*fields)
        for _ in range(steps - compiled):
            begin = time.perf_counter()
            fields = advance(*fields)
            found = fields[1].values.numpy("x,y")
            times.append(time.perf_counter() - begin)
        return found, times[0], float(np.median(times[2:]))


def main() -> None:
    """Prints a line for each backend."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    theirs = get_backend("jax")
    runs = {
        "PhiML NumPy, eager": (NUMPY, False),
        "PhiML JAX, eager": (theirs, False),
        "PhiML JAX, compiled": (theirs, True),
        "ours NumPy, eager": (tensorbackend_phiml.backend("numpy"), False),
        "ours NumPy, compiled": (tensorbackend_phiml.backend("numpy"), True),
        "ours JAX, eager": (tensorbackend_phiml.backend("jax"), False),
        "ours JAX, compiled": (tensorbackend_phiml.backend("jax"), True),
    }
    first = None
    for name, (backend, compiled) in runs.items():
        if options.only in name:
            smoke, begin, later = run(backend, options.size, options.steps, compiled)
            first = smoke if first is None else first
            apart = np.abs(smoke - first).max()
            print(f"{name:24} first step {begin:7.2f} s, later {later * 1000:7.1f} ms, apart {apart:.1e}", flush=True)


if __name__ == "__main__":
    main()
