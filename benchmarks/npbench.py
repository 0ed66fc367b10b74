"""NPBench's NumPy programs on tensorbackend: whether they are right, and their time relative to NumPy's.

    python benchmarks/npbench.py CHECKOUT [name ...] [--columns NAME,...] [--preset S] [--rows FILE]

CHECKOUT is a checkout of https://github.com/spcl/npbench. In each program `np` becomes `tensorbackend.numpy`, and
nothing else. Its results are compared with those of the unchanged program, then both run alternately, and the minima of
their processor time count. On NumPy's memory and JAX `tb.jit` of the program is measured too, and on NumPy's memory
`tb.grad` of a sum of its results is compared with differences. Each program runs in a process of its own on each
backend and gets operands of its own in each run, which are not timed.

`--rows` keeps what was measured, so that a run of some programs or columns leaves the others as they are. The site
makes a page of it (docs/npbench.py), which is printed at the end.

References
----------
A. N. Ziogas et al., "NPBench: a benchmarking suite for high-performance NumPy", ICS 2021.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from runpy import run_path
from typing import Any

from npbench_program import TRACING, Late, Program, differentiated, measured
from peers.environment import ONE_THREAD

import tensorbackend as tb

PAGE = run_path(str(Path(__file__).resolve().parents[1] / "docs" / "npbench.py"))
"""What makes the page of the site."""

COLUMNS: dict[str, str] = PAGE["COLUMNS"]

Rows = dict[str, dict[str, dict[str, Any]]]
"""What was measured, by program and column."""


# One program on one backend, in a process of its own


def alone(options: argparse.Namespace, name: str, columns: list[str]) -> None:
    """Measures a program in this process, and prints a line of JSON for each column that is done."""
    warnings.simplefilter("ignore")
    late = f"takes more than {options.longest:g} s"

    def part(backend: str, transformation: str) -> dict[str, Any]:
        try:
            program = Program(options.checkout, name, options.preset)
            if transformation == "grad":
                return differentiated(program, options.longest)
            if not transformation:
                return measured(program, program.ours, options.seconds, options.longest, late)
            first, what = (TRACING, "traced") if backend == "numpy" else (options.longest, "traced and compiled")
            return measured(program, tb.jit(program.ours), options.seconds, first, f"is not {what} within {first:g} s")
        except Late:
            return {"reason": late}
        except Exception as error:  # whatever a program raises
            return {"reason": f"{type(error).__name__}: {str(error).splitlines()[0][:150]}"}

    for column in columns:
        backend, _, transformation = column.partition("-")
        with tb.default_backend(backend):
            print(json.dumps({"column": column, **part(backend, transformation)}), flush=True)


# All programs


def process(options: argparse.Namespace, name: str, columns: list[str]) -> dict[str, dict[str, Any]]:
    """Return what a process for a program says, by column."""
    command = [sys.executable, __file__, options.checkout, name, "--alone", "--preset", options.preset]
    command += ["--seconds", str(options.seconds), "--longest", str(options.longest), "--columns", ",".join(columns)]
    reason = "the process crashed"
    environment = {**os.environ, **ONE_THREAD}
    try:
        lines = subprocess.run(command, stdout=subprocess.PIPE, timeout=options.clock, env=environment).stdout
    except subprocess.TimeoutExpired as error:
        lines, reason = error.stdout or b"", f"takes more than {options.clock:g} s"
    rows = {row.pop("column"): row for row in map(json.loads, lines.splitlines())}
    return {column: rows.get(column, {"reason": reason}) for column in columns}


def main(arguments: list[str]) -> None:
    """Prints a line for each program, and the table."""
    parser = argparse.ArgumentParser(prog="python benchmarks/npbench.py")
    parser.add_argument("checkout", type=Path, help="a checkout of spcl/npbench")
    parser.add_argument("names", nargs="*", help="names of programs; all if none")
    parser.add_argument("--columns", default=",".join(COLUMNS), help=f"what is measured, of {', '.join(COLUMNS)}")
    parser.add_argument("--preset", default="S", help="the size of the operands: S, M, L or paper")
    parser.add_argument("--seconds", type=float, default=1.0, help="how long both sides of a program take turns")
    parser.add_argument(
        "--longest", type=float, default=20.0, help="processor seconds after which a column is given up"
    )
    parser.add_argument("--clock", type=float, default=300.0, help="seconds after which a process is given up")
    parser.add_argument("--jobs", type=int, default=2, help="how many processes run at a time")
    parser.add_argument("--rows", type=Path, help="what was measured, a line for each program, read and written")
    parser.add_argument("--alone", action="store_true", help="measure one program in this process")
    options = parser.parse_intermixed_args(arguments)
    columns = options.columns.split(",")
    if options.alone:
        alone(options, options.names[0], columns)
        return
    names = options.names or sorted(path.stem for path in (options.checkout / "bench_info").glob("*.json"))
    groups: dict[str, list[str]] = {}
    for column in columns:
        groups.setdefault(column.partition("-")[0], []).append(column)
    rows: Rows = PAGE["read"](options.rows) if options.rows and options.rows.exists() else {}
    rows = {name: rows.get(name, {}) for name in sorted({*rows, *names})}
    with ThreadPoolExecutor(options.jobs) as pool:
        tasks = [(name, pool.submit(process, options, name, group)) for group in groups.values() for name in names]
        for name, task in tasks:
            rows[name] |= task.result()
            print(name, json.dumps(task.result()), flush=True)
    if options.rows:
        options.rows.write_text("".join(json.dumps({"program": name, **found}) + "\n" for name, found in rows.items()))
    print(PAGE["text"](rows, options.preset))


if __name__ == "__main__":
    main(sys.argv[1:])
