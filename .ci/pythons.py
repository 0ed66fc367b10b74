"""Runs the checks on other Pythons, each in an environment of its own: `make pythons PYTHONS="python3.14 python3.15"`.

    python .ci/pythons.py [--quick] [--seconds N] NAME...

A package of an extra is installed where its wheel exists for a Python. What is left out is printed by name, and the
tests that need it are skipped (`conftest.py`). The package itself and its dependencies must be there.
`--quick`, for CI, installs the package and pytest alone, and runs the demo and some tests, in about a minute for each
Python. A name that is not on the path, or whose time is up, is printed and fails nothing.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = ("test", "cli", "jax", "oracles", "scipy")
QUICK = (
    "tests/test_scopes.py",
    "tests/ops/indexing/test_chained.py",
    "tests/dtypes",
    "tests/errors/test_source.py",
    "tests/numpy/test_array_methods.py",
    "tests/project/test_interpreter_internals.py",
)
"""Tests of what depends on the interpreter: references, frames, the packing of floats, interrupts, buffers."""


def run(*command: str | Path, **environment: str) -> bool:
    """Whether a command succeeds."""
    print("+", *command, flush=True)
    return subprocess.run(command, cwd=ROOT, env=os.environ | environment, check=False).returncode == 0


def install(python: Path, *packages: str, wheels: bool = False) -> bool:
    """Installs packages; with `wheels` only such that need no compiler."""
    only = ["--only-binary", ":all:"] if wheels else []
    command = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *only, *packages]
    return subprocess.run(command, cwd=ROOT, check=False, capture_output=wheels).returncode == 0


def has(python: Path, requirement: str) -> bool:
    """Whether what a requirement names is installed: pip ignores one whose marker excludes a Python."""
    distribution = re.split(r"[<>=;]", requirement)[0]
    return subprocess.run([python, "-m", "pip", "show", "-q", distribution], check=False).returncode == 0


def prepare(name: str, quick: bool) -> Path | None:
    """Makes the environment of a Python; `None` if the Python cannot, or the package's own needs are not there."""
    folder = ROOT / f".venv-{Path(name).name}"
    python = folder / "bin" / "python"
    if not python.exists() and not run(name, "-m", "venv", folder):
        print(f"{name}: left out, as it makes no virtual environment (on Debian: apt install {name}-venv)")
        return None
    if not install(python, "-e", "."):
        print(f"{name}: FAILED to install the package")
        return None
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    wanted = [requirement for extra in (("test",) if quick else EXTRAS) for requirement in project[extra]]
    wanted += [tool for tool in project["dev"] if not quick and not tool.startswith("tensorbackend")]
    for requirement in wanted:
        if not install(python, requirement, wheels=True) or not has(python, requirement):
            print(f"{name}: left out, as there is no wheel for this Python: {requirement}")
    return python


def checks(python: Path, name: str, quick: bool) -> list[tuple[str, bool]]:
    """Runs the checks of a Python; returns which of them pass."""
    passed = [("demo", run(python, "examples/digits.py"))]
    if quick:
        passed.append(("some tests", run(python, "-m", "pytest", "-p", "no:cacheprovider", *QUICK)))
        return passed
    tools = python.parent
    version = subprocess.run(
        [python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], check=True, capture_output=True, text=True
    ).stdout.strip()
    if (tools / "ruff").exists():
        passed.append(("lint", run(tools / "ruff", "check", ".") and run(tools / "ruff", "format", "--check", ".")))
    if (tools / "mypy").exists():
        passed.append(("types", run(tools / "mypy", "--python-version", version)))
    for target in ("test", "oracles"):
        command = ["make", "-o", ".venv/.ready", target, f"BIN={tools.relative_to(ROOT)}"]
        passed.append((target, run(*command, PYTEST_ADDOPTS="-rs")))
    return passed


def main() -> int:
    """Returns 1 if a check fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="+", help="commands such as python3.14")
    parser.add_argument("--quick", action="store_true", help="the demo and some tests")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no other Python begins after that time")
    options = parser.parse_args()
    begin, lines, failed = time.monotonic(), list[str](), False
    for name in options.names:
        start = time.monotonic()
        if shutil.which(name) is None:
            lines.append(f"{name}: not on this machine")
            continue
        if start - begin > options.seconds:
            lines.append(f"{name}: not run, as {options.seconds:.0f} s are over")
            continue
        python = prepare(name, options.quick)
        if python is None:
            lines.append(f"{name}: not run, as its environment could not be made")
            failed = failed or not options.quick
            continue
        passed = checks(python, name, options.quick)
        failed = failed or not all(ok for _, ok in passed)
        words = ", ".join(f"{check} {'passed' if ok else 'FAILED'}" for check, ok in passed)
        lines.append(f"{name}: {words} in {time.monotonic() - start:.0f} s")
    print(*lines, sep="\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
