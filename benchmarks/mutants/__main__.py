"""Plants a sample of mutants, one at a time, and asks the nearest tests and the property tests of the op of each.

    python -m benchmarks.mutants --count 60 --seed 0 --python .venv/bin/python

A mutant lives in a copy of the tree. It is caught if a test fails that passes without it, or if a test takes longer
than two minutes; it survives if all tests pass, or all that fit into `--seconds`.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import NamedTuple

from tests.places import PACKAGE, ROOT

from .nearest import asked
from .sample import Mutant, sample

PYTEST = ("-m", "pytest", "-p", "no:xdist", "-p", "no:cacheprovider", "-p", "benchmarks.mutants.limit")


FAILED = r"^(?:FAILED|ERROR) ([^\s\[]+(?:\[.*?\](?= - |$))?)"
"""A line of pytest's with the name of a test, whose parameters may hold spaces."""


class Outcome(NamedTuple):
    """What became of a mutant: the test that caught it, or why none did."""

    mutant: Mutant
    caught: bool
    reason: str
    seconds: float


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=60, help="how many mutants (60)")
    parser.add_argument("--seed", type=int, default=0, help="which mutants (0)")
    parser.add_argument("--only", nargs="*", default=[""], help="only mutants whose place contains one of these texts")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time (2)")
    parser.add_argument("--seconds", type=float, default=300, help="the longest time for a mutant (300)")
    parser.add_argument("--python", default=sys.executable, help="the Python that runs the tests")
    arguments = parser.parse_args()
    mutants = sample(PACKAGE, arguments.count, arguments.seed)
    mutants = [mutant for mutant in mutants if any(text in str(mutant) for text in arguments.only)]
    with tempfile.TemporaryDirectory() as folder:
        runner = _Runner(Path(arguments.python).absolute(), Path(folder), arguments.jobs, arguments.seconds)
        with ThreadPoolExecutor(arguments.jobs) as pool:
            outcomes = []
            for outcome in pool.map(runner.run, mutants):
                outcomes.append(outcome)
                number, word = f"{len(outcomes)}/{len(mutants)}", "caught" if outcome.caught else "SURVIVED"
                print(f"{number} {word} {_shown(outcome.mutant)} {outcome.seconds:.0f} s: {outcome.reason}", flush=True)
    survivors = [outcome for outcome in outcomes if not outcome.caught]
    for outcome in survivors:
        print(f"\n{_shown(outcome.mutant)}: {outcome.reason}\n{_difference(outcome.mutant)}")
    caught = len(outcomes) - len(survivors)
    print(f"\n{caught} of {len(outcomes)} caught: {100 * caught / max(1, len(outcomes)):.0f} %")
    return 0


def _shown(mutant: Mutant) -> str:
    return str(mutant).removeprefix(f"{PACKAGE}/")


def _difference(mutant: Mutant) -> str:
    before, after = mutant.module.read_text(), mutant.source() or ""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2)
    return "\n".join([*lines][2:])


class _Runner:
    """Copies of the tree, one for each job, and the Python that runs their tests."""

    def __init__(self, python: Path, folder: Path, jobs: int, seconds: float) -> None:
        self.python, self.seconds = python, seconds
        listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
        files = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
        self.copies: Queue[Path] = Queue()
        self.sound = folder / "sound"  # without a mutant
        copies = [folder / str(number) for number in range(jobs)]
        for copy in (self.sound, *copies):
            for file in files:
                if (ROOT / file).is_file():
                    (copy / file).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(ROOT / file, copy / file)
            self._python(copy, "-m", "compileall", "-q", "tensorbackend", "tests", "property_tests", writes=True)
        for copy in copies:
            self.copies.put(copy)
        collected = self._python(self.sound, *PYTEST, "--collect-only", "property_tests")
        self.laws = [line for line in collected.stdout.splitlines() if "::" in line]
        if not self.laws:
            raise SystemExit(f"no property test was collected:\n{collected.stdout[-2000:]}\n{collected.stderr[-2000:]}")
        self.passing: dict[str, bool] = {}

    def run(self, mutant: Mutant) -> Outcome:
        """Plant a mutant, and ask its tests."""
        copy, start = self.copies.get(), time.monotonic()
        planted = copy / mutant.module.relative_to(ROOT)
        try:
            source = mutant.source()
            assert source is not None
            planted.write_text(source)
            os.utime(planted, (0, 0))  # no compiled file is as old
            for tests in asked(mutant.module, mutant.line, self.laws):
                left = self.seconds - (time.monotonic() - start)
                if tests and left <= 0:
                    return Outcome(mutant, False, "the time is over", time.monotonic() - start)
                reason = self._failing(copy, tests, left) if tests else None
                if reason:
                    survived = reason == "the time is over"
                    return Outcome(mutant, not survived, reason, time.monotonic() - start)
            return Outcome(mutant, False, "all tests pass", time.monotonic() - start)
        finally:
            shutil.copy2(mutant.module, planted)
            self.copies.put(copy)

    def _failing(self, copy: Path, tests: list[str], seconds: float) -> str | None:
        """Return a test that fails with the mutant and passes without, or why there is none; `None` if all pass."""
        left_out: list[str] = []  # which fail without a mutant too
        while tests:
            try:
                done = self._python(copy, *PYTEST, "-x", "--tb=no", "-rfE", *left_out, *tests, timeout=seconds)
            except subprocess.TimeoutExpired:
                return "the time is over"
            if done.returncode == 0 or done.returncode == 5:  # 5: nothing to run
                return None
            failed = re.search(FAILED, done.stdout, re.MULTILINE)
            if failed is None:
                return f"pytest ends with {done.returncode}"  # such as by an error at the import
            if self._passes(failed[1]):
                return failed[1]
            left_out += ["--deselect", failed[1]]
            tests = [test for test in tests if test.partition("::")[0] != failed[1]]  # a file that cannot be imported
        return None

    def _passes(self, test: str) -> bool:
        """Return whether a test passes without a mutant."""
        if test not in self.passing:
            self.passing[test] = self._python(self.sound, *PYTEST, test).returncode == 0
        return self.passing[test]

    def _python(
        self, copy: Path, *words: str, timeout: float | None = None, writes: bool = False
    ) -> subprocess.CompletedProcess[str]:
        """Run Python in a copy of the tree; all that it started ends with it."""
        environment = os.environ | {"PYTHONPATH": str(copy), "TENSORBACKEND_CHECK": "1"}
        if not writes:
            environment["PYTHONDONTWRITEBYTECODE"] = "1"
        process = subprocess.Popen(
            [str(self.python), *words], cwd=copy, env=environment, text=True, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.communicate()
            raise
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)


if __name__ == "__main__":
    sys.exit(main())
