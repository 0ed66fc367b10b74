"""A library that others wrote for NumPy, on `tensorbackend.numpy`: how many of its own tests pass as with NumPy.

    python benchmarks/numpy_libraries.py CHECKOUT [TEST ...] [--source FOLDER] [--ignore TEST]

The tests run twice, each time in a copy of the checkout: as they are, and with each import of NumPy replaced by one of
the namespace, also in the tests. Random numbers are those of NumPy's own stream, so that seeds mean the same. TEST is a
file or folder of the checkout, FOLDER where its packages are, such as `src`. What the library needs besides NumPy must
be installed. Prints the tests that pass with NumPy alone, and returns 1 if there are any.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

IMPORTS = (
    (r"^(\s*)import numpy as ", r"\1import tensorbackend.numpy as "),
    (r"^(\s*)import numpy\s*$", r"\1import tensorbackend.numpy as numpy"),
    (r"^(\s*)import numpy\.(\w+) as ", r"\1import tensorbackend.numpy.\2 as "),
    (r"^(\s*)from numpy((?:\.\w+)*) import ", r"\1from tensorbackend.numpy\2 import "),
)
"""Imports of NumPy, and what takes their place."""

STREAM = """
import pytest
import tensorbackend.numpy as np


@pytest.fixture(autouse=True, scope="session")
def numpy_stream():
    with np.random.numpy_stream():
        yield
"""
"""A plugin of pytest that draws random numbers from NumPy's own stream."""


def replaced(code: str) -> str:
    """Return a module's code with the namespace in place of NumPy."""
    for pattern, replacement in IMPORTS:
        code = re.sub(pattern, replacement, code, flags=re.M)
    return code


def outcomes(
    checkout: Path, tests: Sequence[str], source: str, options: Sequence[str]
) -> dict[str, tuple[bool, float]]:
    """Return for each test of a copy whether it passes, and its seconds."""
    room = checkout.parent
    report = room / f"{checkout.name}.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-W", "ignore", "--tb=no", "-c", os.devnull, "--rootdir=."]
    command += ["-p", "no:cacheprovider", f"--junitxml={report}", *options, *tests]
    path = os.pathsep.join([str(checkout / source), str(room), *filter(None, [os.environ.get("PYTHONPATH", "")])])
    environment = os.environ | {"PYTHONPATH": path, "MPLBACKEND": "agg"}
    run = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
    if run.returncode > 1:  # tests that do not even start
        raise SystemExit(f"{checkout.name}:\n{run.stdout[-2000:]}{run.stderr[-2000:]}")
    failed = ("failure", "error", "skipped")
    return {
        f"{case.get('classname')}.{case.get('name')}": (
            not any(case.find(tag) is not None for tag in failed),
            float(case.get("time", 0)),
        )
        for case in ElementTree.parse(report).getroot().iter("testcase")
    }


def main(arguments: Sequence[str]) -> int:
    """Return 1 if a test passes with NumPy alone, else 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("tests", nargs="*", default=["."], metavar="TEST")
    parser.add_argument("--source", default=".")
    parser.add_argument("--ignore", action="append", default=[], metavar="TEST")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        room = Path(name)
        for copy in ("numpy", "ours"):
            shutil.copytree(options.checkout, room / f"with_{copy}", ignore=shutil.ignore_patterns(".git"))
        for module in (room / "with_ours").rglob("*.py"):
            text = module.read_text(errors="surrogateescape")
            module.write_text(replaced(text), errors="surrogateescape")
        (room / "stream_of_numpy.py").write_text(STREAM)
        left_out = [f"--ignore={test}" for test in options.ignore]
        with_numpy = outcomes(room / "with_numpy", options.tests, options.source, left_out)
        plugin = ["-p", "stream_of_numpy", *left_out]
        with_ours = outcomes(room / "with_ours", options.tests, options.source, plugin)
    passed = [test for test, (passes, _) in with_numpy.items() if passes]
    lost = [test for test in passed if not with_ours.get(test, (False, 0.0))[0]]
    seconds, seconds_of_ours = (sum(run[test][1] for test in passed if test in run) for run in (with_numpy, with_ours))
    for test in lost:
        print(test)
    print(
        f"{options.checkout.name}: {len(passed)} tests pass with NumPy in {seconds:.1f} s, "
        f"{len(passed) - len(lost)} of them with tensorbackend.numpy in {seconds_of_ours:.1f} s"
    )
    return int(bool(lost))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
