"""Conjugate gradients on the Poisson problem: 96 x 96 unknowns, beside SciPy's and PhiML's where they are installed.

    python benchmarks/solvers.py [--size 96] [--repeats 15]

Prints for each solver the iterations, the seconds of one solve (the least of the repeats, taken in turns), and the
ratio to SciPy's.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import time
from collections.abc import Callable
from typing import Any

import numpy
import scipy.sparse
import scipy.sparse.linalg

import tensorbackend as tb

RTOL = 1e-8

Run = Callable[[], int]
"""Solves once and gives the number of iterations."""


def poisson(size: int) -> Any:
    """The five-point Laplacian of a square grid."""
    line = scipy.sparse.diags_array(
        [-numpy.ones(size - 1), 2 * numpy.ones(size), -numpy.ones(size - 1)], offsets=[-1, 0, 1]
    )
    one = scipy.sparse.eye_array(size)
    return (scipy.sparse.kron(one, line) + scipy.sparse.kron(line, one)).tocsr()


def of_scipy(matrix: Any, b: Any) -> Run:
    """SciPy's."""
    counted = [0]

    def count(x: Any) -> None:
        counted[0] += 1

    scipy.sparse.linalg.cg(matrix, b, rtol=RTOL, callback=count)

    def run() -> int:
        assert scipy.sparse.linalg.cg(matrix, b, rtol=RTOL)[1] == 0
        return counted[0]

    return run


def ours(matrix: Any, b: Any, backend: str) -> Run:
    """tensorbackend's on a backend."""
    a, right = tb.sparse.from_scipy(matrix, backend=backend), tb.asarray(b, backend=backend)

    def run() -> int:
        found = tb.solvers.solve(a, right, "cg", rtol=RTOL)
        found.x.block_until_ready()
        assert found.converged.item()
        return int(found.iterations)

    return run


def of_phiml(matrix: Any, b: Any, name: str) -> Run:
    """PhiML's on one of its backends, called as its own `solve_linear` does, and compiled on JAX."""
    math: Any = importlib.import_module("phiml.math")
    backend = math.use(name)
    math.set_global_precision(64)
    lin: Any = scipy.sparse.csr_matrix(matrix)
    if name == "jax":
        lin = importlib.import_module("jax.experimental.sparse").BCOO.from_scipy_sparse(lin)
    most, zeros, rtol = numpy.array([[10 * len(b)]]), numpy.zeros((1, len(b))), numpy.array([RTOL])

    def once(y: Any, x0: Any, rtol: Any) -> Any:
        found = backend.linear_solve("CG", lin, y, x0, rtol, 0 * rtol, most, None, None)
        return found.x, found.iterations

    compiled = backend.jit_compile(once) if name == "jax" else once

    def run() -> int:
        x, iterations = compiled(*map(backend.as_tensor, (b[None], zeros, rtol)))
        numpy.asarray(x)
        return int(iterations[0])

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=96)
    parser.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args()
    matrix = poisson(options.size)
    b = numpy.random.default_rng(0).standard_normal(matrix.shape[0])
    runs = {"SciPy": of_scipy(matrix, b), "tensorbackend, NumPy": ours(matrix, b, "numpy")}
    if importlib.util.find_spec("jax") is not None:
        runs["tensorbackend, JAX"] = ours(matrix, b, "jax")
    if importlib.util.find_spec("phiml") is not None:
        runs["PhiML, NumPy"] = of_phiml(matrix, b, "numpy")
        runs["PhiML, JAX"] = of_phiml(matrix, b, "jax")
    least = dict.fromkeys(runs, float("inf"))
    iterations = {name: run() for name, run in runs.items()}  # and compiles
    for _ in range(options.repeats):
        for name, run in runs.items():
            begin = time.perf_counter()
            run()
            least[name] = min(least[name], time.perf_counter() - begin)
    print(f"{'solver':<24}{'iterations':>12}{'seconds':>12}{'over SciPy':>12}")
    for name, seconds in least.items():
        print(f"{name:<24}{iterations[name]:>12}{seconds:>12.4f}{seconds / least['SciPy']:>12.2f}")


if __name__ == "__main__":
    main()
