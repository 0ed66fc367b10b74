"""NPBench's NumPy programs on tensorbackend: their time relative to NumPy's, and those that do not run.

    python benchmarks/npbench.py CHECKOUT [name ...] [--backend NAME] [--seconds N] [--preset S]

CHECKOUT is a checkout of https://github.com/spcl/npbench. In each program `np` becomes `tensorbackend.numpy`, and
nothing else. Its results are compared with those of the unchanged program, then both run alternately, and the minima
count. Processor time is measured on NumPy, the clock on other backends; set `OMP_NUM_THREADS=1` for one thread. Each
program runs in a process of its own and gets operands of its own in each run, which are not timed.

References
----------
A. N. Ziogas et al., "NPBench: a benchmarking suite for high-performance NumPy", ICS 2021.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import warnings
from collections.abc import Callable, Mapping
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from time import perf_counter, process_time
from types import ModuleType
from typing import Any

import numpy as np

import tensorbackend as tb
import tensorbackend.numpy as tbnp

# One program


def module(path: Path, name: str) -> ModuleType:
    """Return the module in a file."""
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def operands(info: Mapping[str, Any], folder: Path, preset: str) -> dict[str, Any]:
    """Return the variables of a program, by name: its parameters, and what its `initialize` gives."""
    known = dict(info["parameters"][preset])
    if init := info.get("init"):
        initialize = getattr(module(folder / f"{info['module_name']}.py", "initialize"), init["func_name"])
        given = initialize(*(known[name] for name in init["input_args"]))
        names = init["output_args"]
        known |= dict(zip(names, given if len(names) > 1 else (given,), strict=True))
    return known


def copied(value: Any, convert: Callable[[Any], Any]) -> Any:
    return convert(value) if isinstance(value, np.ndarray) else value


def measured(checkout: Path, name: str, preset: str, seconds: float, clock: Callable[[], float]) -> dict[str, Any]:
    """Return the seconds of a program on both sides, or the reason why there are none on ours."""
    info = json.loads((checkout / "bench_info" / f"{name}.json").read_text())["benchmark"]
    folder = checkout / "npbench" / "benchmarks" / info["relative_path"]
    file = folder / f"{info['module_name']}_numpy.py"
    variables = operands(info, folder, preset)
    changed = [info["input_args"].index(argument) for argument in info["output_args"]]
    ours_module = module(file, "ours")
    ours_module.np = tbnp  # type: ignore[attr-defined]
    functions = {"numpy": getattr(module(file, "plain"), info["func_name"])}
    functions["ours"] = getattr(ours_module, info["func_name"])
    converts: dict[str, Callable[[Any], Any]] = {"numpy": np.copy, "ours": tbnp.array}

    def run(side: str) -> tuple[float, list[Any]]:
        arguments = [copied(variables[argument], converts[side]) for argument in info["input_args"]]
        start = clock()
        result = functions[side](*arguments)
        waited_for(result, arguments)
        taken = clock() - start
        results = result if isinstance(result, tuple) else [] if result is None else [result]
        return taken, [*results, *(arguments[place] for place in changed)]

    times: dict[str, list[float]] = {side: [] for side in functions}
    end = perf_counter() + seconds
    while len(times["ours"]) < 4 or (perf_counter() < end and len(times["ours"]) < 100):
        results = []
        for side in functions:
            taken, result = run(side)
            times[side].append(taken)
            results.append(result)
        if len(times["ours"]) == 1 and (wrong := difference(*results)):
            return {"reason": wrong}
    return {side: min(taken) for side, taken in times.items()}


def waited_for(*values: Any) -> None:
    """Waits for the arrays among results, which a backend may still compute."""
    for value in values:
        if isinstance(value, tuple | list):
            waited_for(*value)
        elif isinstance(value, tbnp.ndarray):
            value.tensor.block_until_ready()


def difference(expected: list[Any], results: list[Any]) -> str:
    """Return in which way results differ from NumPy's; nothing if they agree."""
    for number, (theirs, ours) in enumerate(zip(expected, results, strict=True)):
        array = np.asarray(ours)
        if array.shape != np.shape(theirs):
            return f"result {number} has the shape {array.shape}, not {np.shape(theirs)}"
        if not np.allclose(array, theirs, rtol=1e-6, atol=1e-8, equal_nan=True):
            return f"result {number} has other elements"
    return ""


def alone(checkout: Path, name: str, preset: str, seconds: float, backend: str) -> None:
    """Measures a program in this process, and prints its row."""
    warnings.simplefilter("ignore")
    with tb.default_backend(backend):
        try:
            row = measured(checkout, name, preset, seconds, process_time if backend == "numpy" else perf_counter)
        except Exception as error:  # whatever a program raises
            row = {"reason": f"{type(error).__name__}: {str(error).splitlines()[0][:150]}"}
    print(json.dumps(row))


# All programs


def main(arguments: list[str]) -> None:
    """Prints a line for each program, and the geometric mean of those that run."""
    parser = argparse.ArgumentParser(prog="python benchmarks/npbench.py")
    parser.add_argument("checkout", type=Path, help="a checkout of spcl/npbench")
    parser.add_argument("names", nargs="*", help="names of programs; all if none")
    parser.add_argument("--backend", default="numpy", help="the backend that the programs run on")
    parser.add_argument("--preset", default="S", help="the size of the operands: S, M, L or paper")
    parser.add_argument("--seconds", type=float, default=3.0, help="how long both sides of a program take turns")
    parser.add_argument("--longest", type=float, default=120.0, help="after so many seconds a program is given up")
    parser.add_argument("--alone", action="store_true", help="measure one program in this process")
    options = parser.parse_intermixed_args(arguments)
    if options.alone:
        alone(options.checkout, options.names[0], options.preset, options.seconds, options.backend)
        return
    ratios: dict[str, float] = {}
    lacking: dict[str, str] = {}
    names = options.names or sorted(path.stem for path in (options.checkout / "bench_info").glob("*.json"))
    print(f"{'program':<26}{'NumPy, ms':>12}{'ours, ms':>12}{'ratio':>9}")
    for name in names:
        command = [sys.executable, __file__, options.checkout, name, "--alone", "--preset", options.preset]
        command += ["--seconds", str(options.seconds), "--backend", options.backend]
        try:
            lines = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=options.longest).stdout
            row: dict[str, Any] = json.loads(lines.splitlines()[-1] if lines else '{"reason": "the process crashed"}')
        except subprocess.TimeoutExpired:
            row = {"reason": f"takes more than {options.longest:g} s"}
        if "reason" in row:
            lacking[name] = row["reason"]
            continue
        ratios[name] = row["ours"] / row["numpy"]
        print(f"{name:<26}{row['numpy'] * 1e3:12.3f}{row['ours'] * 1e3:12.3f}{ratios[name]:9.2f}", flush=True)
    if ratios:
        mean = statistics.geometric_mean(ratios.values())
        print(f"{len(ratios)} of {len(names)} programs run; geometric mean of their ratios: {mean:.2f}")
    for name, reason in lacking.items():
        print(f"{name} does not run: {reason}")


if __name__ == "__main__":
    main(sys.argv[1:])
