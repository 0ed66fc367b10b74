"""Conjugate gradients on the Poisson problem with 96 x 96 unknowns, compared with SciPy and PhiML if installed.

    python benchmarks/solvers.py [--size 96] [--turns 25] [--rounds 3]

Prints the iterations and the seconds of one solve for each solver, the minimum over all turns, then our ratios to SciPy
and to PhiML on the same backend. All solvers run in each turn; a ratio is the median over the turns of a round, and the
worst over the rounds. On NumPy all work is done in the calling thread, so its processor time is measured, which other
work on the machine affects less. The budget: at most 1.5 times SciPy's time, and less than PhiML's.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy
import scipy.sparse
import scipy.sparse.linalg

import tensorbackend as tb

RTOL = 1e-8

Run = Callable[[], int]
"""Solves once and returns the number of iterations."""


def poisson(size: int) -> Any:
    """Return the five-point Laplacian of a square grid."""
    line = scipy.sparse.diags_array(
        [-numpy.ones(size - 1), 2 * numpy.ones(size), -numpy.ones(size - 1)], offsets=[-1, 0, 1]
    )
    one = scipy.sparse.eye_array(size)
    return (scipy.sparse.kron(one, line) + scipy.sparse.kron(line, one)).tocsr()


def of_scipy(matrix: Any, b: Any) -> Run:
    """Return SciPy's solver."""
    counted = [0]

    def count(x: Any) -> None:
        counted[0] += 1

    scipy.sparse.linalg.cg(matrix, b, rtol=RTOL, callback=count)

    def run() -> int:
        assert scipy.sparse.linalg.cg(matrix, b, rtol=RTOL)[1] == 0
        return counted[0]

    return run


def ours(matrix: Any, b: Any, backend: str, *, compiled: bool = False) -> Run:
    """Return tensorbackend's solver on a backend, called eagerly or in a compiled function that holds the matrix."""
    a, right = tb.sparse.from_scipy(matrix, backend=backend), tb.asarray(b, backend=backend)

    def once(right: tb.Tensor) -> Any:
        return tb.solvers.solve(a, right, "cg", rtol=RTOL)

    solve = tb.jit(once) if compiled else once

    def run() -> int:
        solution = solve(right)
        solution.x.block_until_ready()
        assert solution.converged.item()
        return int(solution.iterations)

    return run


def of_phiml(matrix: Any, b: Any, name: str) -> Run:
    """Return PhiML's solver on one of its backends, called as its `solve_linear` does, and compiled on JAX."""
    math: Any = importlib.import_module("phiml.math")
    backend = math.use(name)
    math.set_global_precision(64)
    lin: Any = scipy.sparse.csr_matrix(matrix)
    if name == "jax":
        lin = importlib.import_module("jax.experimental.sparse").BCOO.from_scipy_sparse(lin)
    most, zeros, rtol = numpy.array([[10 * len(b)]]), numpy.zeros((1, len(b))), numpy.array([RTOL])

    def once(y: Any, x0: Any, rtol: Any) -> Any:
        solution = backend.linear_solve("CG", lin, y, x0, rtol, 0 * rtol, most, None, None)
        return solution.x, solution.iterations

    compiled = backend.jit_compile(once) if name == "jax" else once

    def run() -> int:
        x, iterations = compiled(*map(backend.as_tensor, (b[None], zeros, rtol)))
        numpy.asarray(x)
        return int(iterations[0])

    return run


BESIDE = {
    "tensorbackend, NumPy": ("SciPy", "PhiML, NumPy"),
    "tensorbackend, JAX": ("PhiML, JAX",),
    "tensorbackend, JAX compiled": ("PhiML, JAX",),
}
"""The solvers that each of ours is compared with."""


def seconds(name: str, run: Run) -> float:
    """Return the seconds of one solve."""
    clock = time.perf_counter if "JAX" in name else time.thread_time
    begin = clock()
    run()
    return clock() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=96)
    parser.add_argument("--turns", type=int, default=25)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    matrix = poisson(options.size)
    b = numpy.random.default_rng(0).standard_normal(matrix.shape[0])
    runs = {"SciPy": of_scipy(matrix, b), "tensorbackend, NumPy": ours(matrix, b, "numpy")}
    if importlib.util.find_spec("jax") is not None:
        runs["tensorbackend, JAX"] = ours(matrix, b, "jax")
        runs["tensorbackend, JAX compiled"] = ours(matrix, b, "jax", compiled=True)
    if importlib.util.find_spec("phiml") is not None:
        runs["PhiML, NumPy"] = of_phiml(matrix, b, "numpy")
        runs["PhiML, JAX"] = of_phiml(matrix, b, "jax")
    iterations = {name: run() for name, run in runs.items()}  # also compiles
    rounds = [
        [{name: seconds(name, run) for name, run in runs.items()} for _ in range(options.turns)]
        for _ in range(options.rounds)
    ]
    print(f"{'solver':<30}{'iterations':>12}{'seconds':>12}")
    for name in runs:
        print(f"{name:<30}{iterations[name]:>12}{min(turn[name] for turns in rounds for turn in turns):>12.4f}")
    for name, others in BESIDE.items():
        for other in others:
            if name in runs and other in runs:
                medians = [statistics.median(turn[name] / turn[other] for turn in turns) for turns in rounds]
                print(f"{name} over {other}: {max(medians):.2f}")


if __name__ == "__main__":
    main()
