"""Runs RETURNN's own tests of its frontend on our backend: `python run.py <checkout of RETURNN> [run ...]`.

A test that passes on PyTorch alone must pass with our backend, except for the tests listed in `exceptions.py`. Tests of
PyTorch itself do not count. The output says how many tests computed on our backend and how many computed nothing.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

from exceptions import EXCEPTIONS, OF_PYTORCH

HERE = Path(__file__).parent
LEFT_OUT = ("test_rf_jax.py", "test_rf_tf_backend.py")
"""The test modules of RETURNN's other backends."""

SWAPPED = "attention base decoder_transformer encoder_conformer math packed rec"
"""The test modules that make PyTorch's tensors themselves."""

OF_JAX = "jax."
"""The prefix of runs of the tests of RETURNN's JAX backend, with our backend in its place."""

RUNS = {"without": "", "numpy": "numpy", "jax": "jax", f"{OF_JAX}numpy": "numpy", f"{OF_JAX}jax": "jax"}
"""The backend of tensorbackend for each run; empty for PyTorch alone."""

ITS_OWN = ("engine", "checkpoint", "updater", "data", "util.native_op", "frontend._backend")
"""Modules of RETURNN's JAX backend that work with no other backend. Tests that use them are left out."""


def tests_of_jax(tests: Path) -> list[str]:
    """The tests of RETURNN's JAX backend that do not use the modules `ITS_OWN`."""
    path = tests / "test_rf_jax.py"
    text = path.read_text()
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    bodies = {node.name: ast.get_source_segment(text, node) or "" for node in functions}
    dependents = {name for name, body in bodies.items() if any(f"returnn.jax.{module}" in body for module in ITS_OWN)}
    dependents |= {
        name
        for name, body in bodies.items()
        if any(f"{dependent}(" in body for dependent in dependents if dependent != name)
    }
    return [f"{path}::{name}" for name in bodies if name.startswith("test_") and name not in dependents]


def outcomes(checkout: Path, name: str) -> dict[str, tuple[str, str]]:
    """The outcome of each test in a run (passed, failed or skipped), and what it computed on our backend."""
    ours, tests = RUNS[name], checkout / "tests"
    if name.startswith(OF_JAX):
        selected_tests, swapped = tests_of_jax(tests), ["test_rf_jax"]
    else:
        selected_tests = [str(path) for path in sorted(tests.glob("test_rf_*.py")) if path.name not in LEFT_OUT]
        swapped = [f"test_rf_{module}" for module in SWAPPED.split()]
    with tempfile.TemporaryDirectory() as room:
        report = Path(room) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-W", "ignore", "-p", "no:cacheprovider", "--tb=line"]
        if ours:
            command += ["-p", "compared", *(f"--deselect=tests/{test}" for test in OF_PYTORCH)]
        command += [f"--junitxml={report}", *selected_tests]
        path = os.pathsep.join([str(checkout), str(tests), str(HERE)])
        environment = os.environ | {
            "OURS": ours,
            "SWAPPED": ",".join(swapped),
            "PYTHONPATH": os.pathsep.join(filter(None, [path, os.environ.get("PYTHONPATH")])),
            "JAX_PLATFORMS": "cpu",
            "RETURNN_DISABLE_TF": "1",
        }
        subprocess.run(command, cwd=tests, env=environment, check=False, stdout=subprocess.DEVNULL)
        outcome_by_test = {}
        for case in ElementTree.parse(report).getroot().iter("testcase"):
            failed = case.find("failure") is not None or case.find("error") is not None
            skipped = case.find("skipped") is not None
            done = next(
                (entry.get("value", "") for entry in case.iter("property") if entry.get("name") == "ours"), "no"
            )
            key = f"{(case.get('classname') or '').rpartition('.')[2]}.{case.get('name')}"
            outcome_by_test[key] = ("failed" if failed else "skipped" if skipped else "passed", done)
        return outcome_by_test


def main() -> int:
    """Prints the totals and the differences; returns 1 if there is one that `exceptions.py` does not list."""
    checkout = Path(sys.argv[1]).resolve()
    run_names = sys.argv[2:] or list(RUNS)
    reference: set[str] | None = None
    wrong = 0
    if any(RUNS[name] and not name.startswith(OF_JAX) for name in run_names):
        run_names = ["without", *(name for name in run_names if name != "without")]
    for name in run_names:
        begin = time.monotonic()
        outcome_by_test = outcomes(checkout, name)
        passed = {test for test, (outcome, _) in outcome_by_test.items() if outcome == "passed"}
        print(f"{name}: {len(passed)} of {len(outcome_by_test)} pass, {time.monotonic() - begin:.0f} s", flush=True)
        if name == "without":
            reference = passed - {test.replace(".py::", ".") for test in OF_PYTORCH}
            for test, reason in OF_PYTORCH.items():
                print(f"  does not count: {test}: {reason}")
            continue
        counted = passed | (outcome_by_test.keys() if reference is None or name.startswith(OF_JAX) else reference)
        lost = {test for test in counted if test in outcome_by_test and outcome_by_test[test][0] == "failed"}
        ours = Counter(done for test, (_, done) in outcome_by_test.items() if test in counted - lost)
        print(f"  on ours: {dict(ours)}", flush=True)
        excused = {test for run, test in EXCEPTIONS if run == name}
        for test in sorted(lost - excused):
            print(f"  fails: {test}")
        for test in sorted(excused - lost):
            print(f"  is an exception and does not fail: {test}")
        for test in sorted(lost & excused):
            print(f"  an exception: {test}: {EXCEPTIONS[name, test]}")
        wrong += len(lost ^ excused)
        if reference is not None and not name.startswith(OF_JAX):
            gone = reference - outcome_by_test.keys()
            wrong += len(gone)
            for test in sorted(gone):
                print(f"  was not run: {test}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
