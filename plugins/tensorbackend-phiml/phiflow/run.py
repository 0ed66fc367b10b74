"""Runs PhiFlow's example notebooks on PhiML's own backends and on ours: `python run.py <checkout of PhiFlow>`.

Each notebook runs in a process for each backend, at few steps; see `notebook.py`. A notebook that PhiML's own NumPy or
JAX runs must run on ours, with the same results, except for what `exceptions.py` lists. `--page` writes the table into
a page, between the comments that mark its place. `--reports` keeps the results, so that an interrupted call can be
continued.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from exceptions import BITS, EXCEPTIONS, REFERENCES, STEPS, UNDETERMINED

HERE = Path(__file__).parent
THEIRS = {"numpy": "PhiML's NumPy", "jax": "PhiML's JAX", "torch": "PhiML's PyTorch"}
OURS = {"ours:numpy": "ours on NumPy", "ours:numpy:eager": "the same, `jit=False`", "ours:jax": "ours on JAX"}
LIMIT = 600
TOLERANCE = 2e-3
"""The largest difference of runs that agree: the coarsest solves of the notebooks have a tolerance of 1e-3."""
BEGIN, END = "<!-- notebooks -->", "<!-- end of notebooks -->"

Arrays = Mapping[str, np.ndarray[Any, Any]]


@dataclass
class Outcome:
    """What a run left: the numbers of its variables, or its error."""

    arrays: Arrays | None
    error: str = ""


def run(checkout: Path, notebook: str, backend: str, most: str, reports: Path) -> Outcome:
    """Runs a notebook in a process, unless its report exists."""
    stem = reports / f"{notebook}-{backend}".replace("/", "-").replace(":", "-")
    numbers, error = stem.with_suffix(".npz"), stem.with_suffix(".txt")
    if not numbers.exists() and not error.exists():
        path = os.pathsep.join([str(checkout), *filter(None, [os.environ.get("PYTHONPATH", "")])])
        settings = {"PYTHONPATH": path, "JAX_PLATFORMS": "cpu", "MPLBACKEND": "agg", "TQDM_DISABLE": "1"}
        file = checkout / "examples" / f"{notebook}.ipynb"
        command = [sys.executable, str(HERE / "notebook.py"), str(file), backend, str(numbers)]
        command += [STEPS.get(notebook, most), BITS.get(notebook, "64")]
        try:
            process = subprocess.run(
                command, env=os.environ | settings, capture_output=True, text=True, timeout=LIMIT, check=False
            )
            if process.returncode:
                error.write_text(last_error(process.stderr))
        except subprocess.TimeoutExpired:
            error.write_text(f"took more than {LIMIT} s")
    if numbers.exists():
        with np.load(numbers) as file_of_arrays:
            return Outcome(dict(file_of_arrays))
    return Outcome(None, error.read_text())


def versions(checkout: Path) -> str:
    """The versions of the libraries, as the beginning of a sentence."""
    import jax
    import phiml

    version = (checkout / "phi" / "VERSION").read_text().strip()
    return f"PhiFlow {version} on PhiML {phiml.__version__}, NumPy {np.__version__} and JAX {jax.__version__}: "


def backends(notebook: str) -> list[str]:
    """The backends that run a notebook: PhiML's PyTorch only where ours are compared with it."""
    return [name for name in (*THEIRS, *OURS) if name != "torch" or REFERENCES.get(notebook) == name]


def last_error(text: str) -> str:
    """The line of a traceback that names the error and says what is wrong."""
    lines = [line for line in text.splitlines() if re.match(r"[\w.]+: |[\w.]*Error$", line)]
    return lines[-1] if lines else "ended without an error"


def distance(arrays: Arrays, reference: Arrays) -> float:
    """The largest difference of two runs, relative to the largest number of its array; inf for other variables."""
    if arrays.keys() != reference.keys():
        return float("inf")
    largest = 0.0
    for name, expected in reference.items():
        found = arrays[name]
        if found.shape != expected.shape:
            return float("inf")
        found, expected = (x.astype(complex) for x in (found, expected))
        if not np.array_equal(np.isfinite(found), np.isfinite(expected)):
            return float("inf")
        known = np.isfinite(expected)
        scale = np.abs(expected[known]).max(initial=0.0)
        apart = np.abs(found[known] - expected[known]).max(initial=0.0)
        largest = max(largest, apart / scale if scale else apart)
    return largest


@dataclass
class Row:
    """One notebook: the outcomes by backend, and the distances of those that ran from the reference."""

    notebook: str
    outcomes: dict[str, Outcome]

    @property
    def reference(self) -> str | None:
        """The backend of PhiML's own that the others are compared with; None if all fail."""
        chosen = REFERENCES.get(self.notebook)
        names = THEIRS if chosen is None else [chosen]
        return next((name for name in names if name in self.outcomes and self.outcomes[name].arrays is not None), None)

    def distance(self, backend: str) -> float | None:
        """The distance from the reference; None if one of both did not run."""
        arrays, reference = self.outcomes[backend].arrays, self.reference
        if arrays is None or reference is None:
            return None
        expected = self.outcomes[reference].arrays
        assert expected is not None
        return distance(self.determined(arrays), self.determined(expected))

    def determined(self, arrays: Arrays) -> Arrays:
        """The arrays that are compared."""
        return {name: array for name, array in arrays.items() if (self.notebook, name) not in UNDETERMINED}

    def agrees(self, backend: str) -> bool:
        """Whether a run has the results of the reference."""
        apart = self.distance(backend)
        return apart is not None and apart <= TOLERANCE

    def cell(self, backend: str) -> str:
        """How far a run is from the reference."""
        if backend not in self.outcomes:
            return ""
        if self.outcomes[backend].arrays is None:
            return "fails"
        if backend == self.reference:
            return "runs"
        apart = self.distance(backend)
        if apart is None:
            return "runs"
        return "0" if apart == 0 else "other shapes" if np.isinf(apart) else f"{apart:.0e}"


def table(rows: Sequence[Row], versions: str = "") -> str:
    """The table of all notebooks, the totals with the versions, and the errors of those that PhiML cannot run."""
    heads = [*THEIRS.values(), *OURS.values()]
    lines = [f"| notebook | {' | '.join(heads)} |", "| --- |" + " --- |" * len(heads)]
    lines += [f"| {row.notebook} | {' | '.join(map(row.cell, (*THEIRS, *OURS)))} |" for row in rows]
    run_by_phiml = [row for row in rows if row.reference is not None]
    counts = ", ".join(f"{sum(row.agrees(name) for row in run_by_phiml)} agree {head}" for name, head in OURS.items())
    lines += [
        "",
        f"{versions}{len(rows)} notebooks; {len(run_by_phiml)} run on one of PhiML's backends, and of these {counts}.",
        "",
    ]
    excused = [(key, reason) for key, reason in EXCEPTIONS.items() if any(key[0] == row.notebook for row in rows)]
    undetermined = [
        (key, reason) for key, reason in UNDETERMINED.items() if any(key[0] == row.notebook for row in rows)
    ]
    if excused:
        lines += ["| does not agree | on | reason |", "| --- | --- | --- |"]
        lines += [f"| {notebook} | {(THEIRS | OURS)[name]} | {reason} |" for (notebook, name), reason in excused] + [""]
    lines += [f"- `{name}` of {notebook} is not compared: {reason}." for (notebook, name), reason in undetermined]
    lines += [""] * bool(undetermined)
    lost = [row for row in rows if row.reference is None]
    if lost:
        lines += ["| runs on none of PhiML's | its error on NumPy, and if another on JAX |", "| --- | --- |"]
        for row in lost:
            errors = dict.fromkeys(shortened(row.outcomes[name].error) for name in ("numpy", "jax"))
            lines.append(f"| {row.notebook} | {'; '.join(f'`{error}`' for error in errors)} |")
    return "\n".join(lines)


def shortened(error: str) -> str:
    """An error without the module of its class, in 100 characters."""
    text = re.sub(r"^[\w.]*\.(\w+)", r"\1", error).replace("|", "/").replace("`", "'").strip()
    return text if len(text) <= 100 else text[:97] + "..."


def written(page: str, text: str) -> str:
    """A page with the text between its comments."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}"


def wrong(rows: Sequence[Row]) -> list[str]:
    """What `exceptions.py` does not list, and what it lists although it agrees."""
    lines = []
    for row in rows:
        for name in row.outcomes:
            excused, fits = (row.notebook, name) in EXCEPTIONS, row.reference is None or row.agrees(name)
            if fits and excused:
                lines.append(f"{row.notebook}, {name}: is an exception and agrees")
            if not fits and not excused and name in OURS:
                lines.append(f"{row.notebook}, {name}: {row.outcomes[name].error or row.cell(name)}")
    return lines


def main(arguments: Sequence[str]) -> int:
    """Returns 1 if a run differs from PhiML's in a way that `exceptions.py` does not list, else 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("notebooks", nargs="*", metavar="notebook", help="such as grids/Burgers; all by default")
    parser.add_argument("--steps", default="3")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--reports", type=Path)
    parser.add_argument("--page", type=Path)
    options = parser.parse_args(arguments)
    checkout = options.checkout.resolve()
    folder = checkout / "examples"
    found = sorted(str(path.relative_to(folder).with_suffix("")) for path in folder.glob("*/*.ipynb"))
    if not found:
        parser.error(f"expected a checkout of PhiFlow, with notebooks in examples/, got {checkout}")
    if unknown := set(options.notebooks) - set(found):
        parser.error(f"expected notebooks of {', '.join(found)}, got {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as room, ThreadPoolExecutor(options.processes) as pool:
        reports = (options.reports or Path(room)).resolve()
        reports.mkdir(exist_ok=True)
        runs = {
            (notebook, backend): pool.submit(run, checkout, notebook, backend, options.steps, reports)
            for notebook in options.notebooks or found
            for backend in backends(notebook)
        }
        rows = []
        for notebook in options.notebooks or found:
            row = Row(notebook, {name: runs[notebook, name].result() for name in backends(notebook)})
            rows.append(row)
            print(f"{notebook}: " + ", ".join(f"{name} {row.cell(name)}" for name in row.outcomes), flush=True)
    text = table(rows, versions(checkout))
    print(text)
    if options.page is not None:
        options.page.write_text(written(options.page.read_text(), text))
    faults = wrong(rows)
    print("\n".join(faults))
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
