"""Runs PhiML's own tests with our backends and without: `python run.py <checkout of PhiML> [run ...]`.

A test that passes without our backends must pass with them, except for the tests listed in `exceptions.py`. PhiML's
tests of the internals of other libraries are left out. With `--installed` the tests of the checkout run on the PhiML
that is installed, such as pip's. With `--reports <folder>` each run saves its report there, and a run whose report
exists is skipped, so that an interrupted call can be continued.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from xml.etree import ElementTree

from exceptions import EXCEPTIONS

HERE = Path(__file__).parent
LEFT_OUT = ("math/test_torch_hooks.py", "backend/test_tf_backend.py", "backend/test_torch_backend.py")

WORKERS = "2"

RUNS: dict[str, tuple[str, str, str]] = {
    "without": ("", "", "backend math"),
    "appended": ("numpy,jax,torch", "", "backend math"),
    "default jax": ("", "jax", "math"),
    "default ours:numpy": ("", "ours:numpy", "math"),
    "default ours:jax": ("", "ours:jax", "math"),
    "default ours:torch": ("", "ours:torch", "math"),
}
"""For each run: our backends that are appended, the default backend, and the folders of tests."""

COMPARED = {"appended": "without"} | {name: "default jax" for name in RUNS if "ours" in name}
"""The reference of each run with our backends: a test that passes there must pass."""


def run(checkout: Path, name: str, report: Path) -> None:
    """Runs the tests, which print their progress, and writes their report."""
    ours, default, folders = RUNS[name]
    tests = checkout / "tests" / "commit"
    with tempfile.TemporaryDirectory() as room:
        written = Path(room) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-W", "ignore", "-p", "no:cacheprovider", "-p", "appended"]
        command += ["-n", WORKERS, "--tb=line", "--show-capture=no", f"--junitxml={written}"]
        command += [f"--ignore={tests / module}" for module in LEFT_OUT]
        command += [str(tests / folder) for folder in folders.split()]
        path = os.pathsep.join([str(checkout), str(HERE)])
        environment = os.environ | {"OURS": ours, "DEFAULT": default, "PYTHONPATH": path, "JAX_PLATFORMS": "cpu"}
        subprocess.run(command, cwd=room, env=environment, check=False)
        report.write_bytes(written.read_bytes())


def passed(report: Path) -> dict[str, bool]:
    """Whether each test of a report passed."""
    return {
        f"{case.get('classname')}.{case.get('name')}": not any(
            case.find(tag) is not None for tag in ("failure", "error", "skipped")
        )
        for case in ElementTree.parse(report).getroot().iter("testcase")
    }


def main() -> int:
    """Returns 1 if a run differs from its reference in a way that `exceptions.py` does not list, else 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("runs", nargs="*", metavar="run")
    parser.add_argument("--installed", action="store_true")
    parser.add_argument("--reports", type=Path)
    options = parser.parse_args()
    if unknown := [name for name in options.runs if name not in RUNS]:
        parser.error(f"runs of {', '.join(map(repr, RUNS))}, not {unknown}")
    with tempfile.TemporaryDirectory() as room:
        reports = options.reports or Path(room)
        reports.mkdir(exist_ok=True)
        checkout = options.checkout.resolve()
        if options.installed:  # the tests alone, as pytest finds the library next to them
            shutil.copytree(checkout / "tests", Path(room) / "checkout" / "tests")
            checkout = Path(room) / "checkout"
        return compared(checkout, options.runs or list(RUNS), reports)


def compared(checkout: Path, run_names: list[str], reports: Path) -> int:
    """Prints the totals of runs and their differences from their references; returns 1 if there is an unlisted one."""
    results: dict[str, dict[str, bool]] = {}
    wrong = 0
    for name in [*dict.fromkeys(COMPARED[run_name] for run_name in run_names if run_name in COMPARED), *run_names]:
        if name in results:
            continue
        begin, report = time.monotonic(), reports / f"{name.replace(' ', '-').replace(':', '-')}.xml"
        if not report.exists():
            run(checkout, name, report)
        passed_by_test = results[name] = passed(report)
        print(
            f"{name}: {sum(passed_by_test.values())} of {len(passed_by_test)} pass, {time.monotonic() - begin:.0f} s",
            flush=True,
        )
        if name not in COMPARED:
            continue
        reference = results[COMPARED[name]]
        lost = {test for test, passes in passed_by_test.items() if reference.get(test) and not passes}
        excused = {test for run, test in EXCEPTIONS if run == name}
        for test in sorted(lost - excused):
            print(f"  fails, and passes in {COMPARED[name]!r}: {test}")
        for test in sorted(excused - lost):
            print(f"  is an exception and does not fail: {test}")
        for test in sorted(lost & excused):
            print(f"  an exception: {test}: {EXCEPTIONS[name, test]}")
        gone = reference.keys() - passed_by_test.keys()
        for test in sorted(gone):
            print(f"  was not run: {test}")
        wrong += len(lost ^ excused) + len(gone)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
