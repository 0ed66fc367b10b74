"""Differentiates and compiles a NumPy program that somebody else wrote.

    python examples/numpy_program.py CHECKOUT [name]

CHECKOUT is a checkout of https://github.com/spcl/npbench; the program is its `jacobi_2d` unless named. In the file `np`
becomes `tensorbackend.numpy`, and nothing else.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any

import numpy

import tensorbackend as tb
import tensorbackend.numpy as np


def imported(path: Path) -> ModuleType:
    """Return the module in a file, in which `np` is the namespace of this library."""
    module = ModuleType(path.stem)
    exec(compile(path.read_text(), str(path), "exec"), vars(module))
    module.np = np  # type: ignore[attr-defined]
    return module


def energy(program: Callable[..., Any], arguments: list[Any]) -> Callable[[np.ndarray], Any]:
    """Return the sum of squares of what a program leaves in its first array, as a function of that array."""
    place = next(number for number, value in enumerate(arguments) if isinstance(value, np.ndarray))

    def function(x: np.ndarray) -> Any:
        x = x.copy()
        others = [value.copy() if isinstance(value, np.ndarray) else value for value in arguments]
        others[place] = x
        program(*others)
        return np.sum(x**2)

    return function


def run(program: Callable[..., Any], arguments: list[Any]) -> float:
    """Compares the gradient with differences, prints times, and returns the largest relative error."""
    function = energy(program, arguments)
    x = next(value for value in arguments if isinstance(value, np.ndarray))
    compiled = tb.jit(function)
    value, gradient = tb.value_and_grad(function)(x)
    worst = 0.0
    direction = np.random.default_rng(0).normal(size=x.shape)
    step = 1e-6
    slope = (float(function(x + step * direction)) - float(function(x - step * direction))) / (2 * step)
    worst = abs(float(np.sum(gradient * direction)) - slope) / max(abs(slope), 1e-12)
    print(f"value {float(value):.6g}, compiled {float(compiled(x)):.6g}; slope {slope:.6g}, error {worst:.1e}")
    calls: dict[str, Callable[[np.ndarray], Any]] = {"as it is": function, "compiled": compiled}
    for name, call in calls.items():
        start = perf_counter()
        call(x)
        print(f"{name}: {1e3 * (perf_counter() - start):.2f} ms")
    print(tb.dry_run(function, x))
    return worst


def main(arguments: list[str]) -> None:
    """Runs a program of a checkout on small operands."""
    checkout, name = Path(arguments[0]), arguments[1] if len(arguments) > 1 else "jacobi_2d"
    info = json.loads((checkout / "bench_info" / f"{name}.json").read_text())["benchmark"]
    folder = checkout / "npbench" / "benchmarks" / info["relative_path"]
    known = {key: min(size, 20) if isinstance(size, int) else size for key, size in info["parameters"]["S"].items()}
    initialize = ModuleType("initialize")
    exec((folder / f"{info['module_name']}.py").read_text(), vars(initialize))
    given = getattr(initialize, info["init"]["func_name"])(*(known[key] for key in info["init"]["input_args"]))
    known |= dict(zip(info["init"]["output_args"], given if isinstance(given, tuple) else (given,), strict=True))
    values = [known[key] for key in info["input_args"]]
    operands = [np.array(value) if isinstance(value, numpy.ndarray) else value for value in values]
    run(getattr(imported(folder / f"{info['module_name']}_numpy.py"), info["func_name"]), operands)


if __name__ == "__main__":
    main(sys.argv[1:])
