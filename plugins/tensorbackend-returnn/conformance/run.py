"""Runs RETURNN's own tests of its frontend on ours: `python run.py <checkout of RETURNN> [run ...]`.

A test that passes on PyTorch alone must pass with ours, but for the rows of `exceptions.py`. Tests of PyTorch itself do
not count; how many computed on ours, and how many have nothing to compute, is printed.
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
"""Tests of RETURNN's other backends."""

SWAPPED = "attention base decoder_transformer encoder_conformer math packed rec"
"""The modules of tests that make PyTorch's tensors themselves."""

OF_JAX = "jax."
"""What the runs of the tests of RETURNN's JAX backend begin with, ours in its place."""

RUNS = {"without": "", "numpy": "numpy", "jax": "jax", f"{OF_JAX}numpy": "numpy", f"{OF_JAX}jax": "jax"}
"""For each run the backend of ours."""

ITS_OWN = ("engine", "checkpoint", "updater", "data", "util.native_op", "frontend._backend")
"""Modules of RETURNN's JAX backend that know no other: tests that use them are left out."""


def tests_of_jax(tests: Path) -> list[str]:
    """The tests of RETURNN's JAX backend that use nothing of its own."""
    path = tests / "test_rf_jax.py"
    text = path.read_text()
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    bodies = {node.name: ast.get_source_segment(text, node) or "" for node in functions}
    own = {name for name, body in bodies.items() if any(f"returnn.jax.{each}" in body for each in ITS_OWN)}
    own |= {name for name, body in bodies.items() if any(f"{each}(" in body for each in own if each != name)}
    return [f"{path}::{name}" for name in bodies if name.startswith("test_") and name not in own]


def outcomes(checkout: Path, name: str) -> dict[str, tuple[str, str]]:
    """For each test whether it passed, failed or was skipped in a run, and what was done with ours in it."""
    ours, tests = RUNS[name], checkout / "tests"
    if name.startswith(OF_JAX):
        wanted, swapped = tests_of_jax(tests), ["test_rf_jax"]
    else:
        wanted = [str(path) for path in sorted(tests.glob("test_rf_*.py")) if path.name not in LEFT_OUT]
        swapped = [f"test_rf_{each}" for each in SWAPPED.split()]
    with tempfile.TemporaryDirectory() as room:
        report = Path(room) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-W", "ignore", "-p", "no:cacheprovider", "--tb=line"]
        if ours:
            command += ["-p", "compared", *(f"--deselect=tests/{each}" for each in OF_PYTORCH)]
        command += [f"--junitxml={report}", *wanted]
        path = os.pathsep.join([str(checkout), str(tests), str(HERE)])
        environment = os.environ | {
            "OURS": ours,
            "SWAPPED": ",".join(swapped),
            "PYTHONPATH": os.pathsep.join(filter(None, [path, os.environ.get("PYTHONPATH")])),
            "JAX_PLATFORMS": "cpu",
            "RETURNN_DISABLE_TF": "1",
        }
        subprocess.run(command, cwd=tests, env=environment, check=False, stdout=subprocess.DEVNULL)
        found = {}
        for case in ElementTree.parse(report).getroot().iter("testcase"):
            failed = case.find("failure") is not None or case.find("error") is not None
            skipped = case.find("skipped") is not None
            done = next((each.get("value", "") for each in case.iter("property") if each.get("name") == "ours"), "no")
            key = f"{(case.get('classname') or '').rpartition('.')[2]}.{case.get('name')}"
            found[key] = ("failed" if failed else "skipped" if skipped else "passed", done)
        return found


def main() -> int:
    """Prints the totals and what differs; 1 where something does."""
    checkout = Path(sys.argv[1]).resolve()
    wanted = sys.argv[2:] or list(RUNS)
    reference: set[str] | None = None
    wrong = 0
    if any(RUNS[name] and not name.startswith(OF_JAX) for name in wanted):
        wanted = ["without", *(name for name in wanted if name != "without")]
    for name in wanted:
        begin = time.monotonic()
        found = outcomes(checkout, name)
        passed = {test for test, (outcome, _) in found.items() if outcome == "passed"}
        print(f"{name}: {len(passed)} of {len(found)} pass, {time.monotonic() - begin:.0f} s", flush=True)
        if name == "without":
            reference = passed - {each.replace(".py::", ".") for each in OF_PYTORCH}
            for test, reason in OF_PYTORCH.items():
                print(f"  does not count: {test}: {reason}")
            continue
        counted = passed | (found.keys() if reference is None or name.startswith(OF_JAX) else reference)
        lost = {test for test in counted if test in found and found[test][0] == "failed"}
        ours = Counter(done for test, (_, done) in found.items() if test in counted - lost)
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
            gone = reference - found.keys()
            wrong += len(gone)
            for test in sorted(gone):
                print(f"  was not run: {test}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
