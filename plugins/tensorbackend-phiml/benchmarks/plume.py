"""Runs PhiFlow's smoke plume on PhiML's own backends and on ours; compares the results and the times of a step.

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
    """The initial fields, and a function that computes the fields of the next time step."""
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


class Run:
    """The plume on one backend, advanced step by step."""

    def __init__(self, name: str, backend: Any, size: int, compiled: bool) -> None:
        self.name, self.backend, self.compiled = name, backend, compiled
        with backend, math.precision(64):
            self.fields, self.step = plume(size)
        self.advance = math.jit_compile(self.step) if compiled else self.step
        self.seconds: list[tuple[float, float]] = []
        """The wall-clock time and the processor time of each step."""

    def go_on(self, first: bool) -> None:
        """Advance by one step. The first step is not compiled: PhiFlow caches properties of a grid during it, and
        cached values must not be traced.
        """
        with self.backend, math.precision(64):
            begin = time.perf_counter(), time.process_time()
            self.fields = (self.step if first else self.advance)(*self.fields)
            self.smoke = self.fields[1].values.numpy("x,y")
            self.seconds.append((time.perf_counter() - begin[0], time.process_time() - begin[1]))


def main() -> None:
    """Prints a line for each backend. The steps alternate, so that other work on the machine affects all equally."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--runs", default="", help="names of runs, with commas between them; all by default")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    theirs, ours_numpy, ours_jax = get_backend("jax"), *map(tensorbackend_phiml.backend, ("numpy", "jax"))
    choices = {
        "PhiML NumPy eager": (NUMPY, False),
        "ours NumPy eager": (ours_numpy, False),
        "ours NumPy compiled": (ours_numpy, True),
        "PhiML JAX compiled": (theirs, True),
        "ours JAX compiled": (ours_jax, True),
        "PhiML JAX eager": (theirs, False),
        "ours JAX eager": (ours_jax, False),
    }
    names = options.runs.split(",") if options.runs else list(choices)
    runs = [Run(name, choices[name][0], options.size, choices[name][1]) for name in names]
    for number in range(options.steps):
        for run in runs:
            run.go_on(first=not number)
    for run in runs:
        apart = np.abs(run.smoke - runs[0].smoke).max()
        later = np.array(run.seconds[3:]) * 1000  # the second step compiles, the third may
        clock, processors = np.median(later, axis=0)
        print(
            f"{run.name:20} {clock:7.1f} ms a step (least {later[:, 0].min():7.1f}, of processors {processors:7.1f}), "
            f"smoke apart from the first run's {apart:.1e}",
            flush=True,
        )


if __name__ == "__main__":
    main()
