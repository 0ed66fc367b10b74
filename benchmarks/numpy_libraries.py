"""Libraries that others wrote for NumPy, on `tensorbackend.numpy`: how many of their own tests pass as with NumPy.

    python benchmarks/numpy_libraries.py                 the libraries of numpy_libraries.toml, from the package index
    python benchmarks/numpy_libraries.py ahrs trimesh    some of them
    python benchmarks/numpy_libraries.py CHECKOUT [--tests TEST ...] [--source FOLDER] [--ignore TEST ...]

The tests run twice, each time in a copy of the library's source distribution or checkout: as they are, and with each
import of NumPy replaced by one of the namespace, also in the tests. Random numbers are those of NumPy's own stream, so
that seeds mean the same. TEST is a file or folder of the library, FOLDER where its packages are, such as `src`. What
the library needs besides NumPy must be installed: `--needs` prints it, and `make numpy-libraries` installs it. Prints a
row of a table for each library and the tests that pass with NumPy alone, with
their errors, and returns 1 if there are any.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

TABLE = Path(__file__).with_suffix(".toml")
"""The libraries that the package index has with their tests."""

IMPORTS = (
    (r"^(\s*)import numpy as ", r"\1import tensorbackend.numpy as "),
    (r"^(\s*)import numpy\s*$", r"\1import tensorbackend.numpy as numpy"),
    (r"^(\s*)import numpy\.(\w+)\s*$", r"\1import tensorbackend.numpy as numpy; import tensorbackend.numpy.\2"),
    (r"^(\s*)import numpy\.(\w+) as ", r"\1import tensorbackend.numpy.\2 as "),
    (r"^(\s*)from numpy((?:\.\w+)*) import ", r"\1from tensorbackend.numpy\2 import "),
)
"""Imports of NumPy, and what takes their place."""

STREAM = """
import tensorbackend.numpy as np

stream = np.random.numpy_stream()
stream.__enter__()
"""
"""A plugin of pytest that draws random numbers from NumPy's own stream, also where modules make generators."""


@dataclass(frozen=True)
class Library:
    """A library with its tests, and what they need."""

    name: str
    version: str = ""
    tests: Sequence[str] = (".",)
    source: str = "."
    """The folder of its packages."""
    ignore: Sequence[str] = ()
    deselect: Sequence[str] = ()
    needs: Sequence[str] = ()
    """Distributions that the library or its tests import, besides NumPy."""

    @property
    def title(self) -> str:
        """The name with the version."""
        return f"{self.name} {self.version}".strip()

    @property
    def options(self) -> list[str]:
        """What pytest is asked to leave out."""
        return [f"--ignore={path}" for path in self.ignore] + [f"--deselect={test}" for test in self.deselect]


def libraries() -> dict[str, Library]:
    """Return the libraries of the table."""
    return {name: Library(name, **entry) for name, entry in tomllib.loads(TABLE.read_text()).items()}


def unpacked(library: Library, folder: Path) -> Path:
    """Return the folder of a library's source distribution, from the package index that pip knows."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", library.name]
    subprocess.run([*command, "-d", str(folder), f"{library.name}=={library.version}"], check=True)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
    return next(path for path in folder.iterdir() if path.is_dir())


def replaced(code: str) -> str:
    """Return a module's code with the namespace in place of NumPy."""
    for pattern, replacement in IMPORTS:
        code = re.sub(pattern, replacement, code, flags=re.M)
    return code


def outcomes(copy: Path, library: Library, options: Sequence[str]) -> dict[str, tuple[str, float]]:
    """Return for each test of a copy that was not skipped its error, empty if it passes, and its seconds."""
    report = copy.with_suffix(".xml")
    command = [sys.executable, "-m", "pytest", "-q", "-W", "ignore", "--tb=no", "-c", os.devnull, "--rootdir=."]
    command += ["-p", "no:cacheprovider", "--continue-on-collection-errors", f"--junitxml={report}"]
    path = [str(copy / library.source), str(copy.parent), *filter(None, [os.environ.get("PYTHONPATH", "")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path), "MPLBACKEND": "agg"}
    run = subprocess.run(
        [*command, *options, *library.options, *library.tests],
        cwd=copy,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode > 1:  # tests that do not even start
        raise SystemExit(f"{library.title}, {copy.name}:\n{run.stdout[-2000:]}{run.stderr[-2000:]}")
    found = {}
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        if case.find("skipped") is None:
            failed = [part for tag in ("failure", "error") if (part := case.find(tag)) is not None]
            message = failed[0].get("message") or "failed" if failed else ""
            found[f"{case.get('classname')}.{case.get('name')}"] = message, float(case.get("time", 0))
    return found


def compared(library: Library, checkout: Path) -> list[str]:
    """Print a library's row, and return the tests that pass with NumPy alone, with their errors."""
    with tempfile.TemporaryDirectory() as name:
        room = Path(name)
        for copy in ("with_numpy", "with_ours"):
            shutil.copytree(checkout, room / copy, ignore=shutil.ignore_patterns(".git"))
        for module in (room / "with_ours").rglob("*.py"):
            text = module.read_text(errors="surrogateescape")
            module.write_text(replaced(text), errors="surrogateescape")
        (room / "stream_of_numpy.py").write_text(STREAM)
        with_numpy = outcomes(room / "with_numpy", library, ())
        with_ours = outcomes(room / "with_ours", library, ("-p", "stream_of_numpy"))
    passed = [test for test, (error, _) in with_numpy.items() if not error]
    errors = {test: with_ours.get(test, ("not collected", 0.0))[0] for test in passed}
    lost = [f"{library.name}: {test}: {error[:200].splitlines()[0]}" for test, error in errors.items() if error]
    seconds, ours = (sum(run[test][1] for test in passed if test in run) for run in (with_numpy, with_ours))
    print(
        f"| {library.title} | {len(passed)} | {len(passed) - len(lost)} | {seconds:.1f} s | {ours:.1f} s |", flush=True
    )
    return lost


def chosen(names: Sequence[str], options: argparse.Namespace) -> Iterator[tuple[Library, Path | None]]:
    """Yield the libraries to compare, and the checkouts of those that the user has."""
    table = libraries()
    for name in names or table:
        if name in table:
            yield table[name], None
        elif Path(name).is_dir():
            yield Library(Path(name).resolve().name, "", options.tests, options.source, options.ignore), Path(name)
        else:
            raise SystemExit(f"expected a folder or one of {', '.join(table)}, got {name}")


def main(arguments: Sequence[str]) -> int:
    """Return 1 if a test passes with NumPy alone, else 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="LIBRARY")
    parser.add_argument("--tests", nargs="+", default=["."], metavar="TEST", help="of a checkout")
    parser.add_argument("--source", default=".", metavar="FOLDER", help="of a checkout")
    parser.add_argument("--ignore", nargs="+", default=[], metavar="TEST", help="of a checkout")
    parser.add_argument("--needs", action="store_true", help="print what the libraries need, and run nothing")
    options = parser.parse_args(arguments)
    selection = list(chosen(options.names, options))
    if options.needs:
        print(*sorted({need for library, _ in selection for need in library.needs}))
        return 0
    print(
        "| library | tests that pass with NumPy | of them here | with NumPy | here |\n| --- | --- | --- | --- | --- |"
    )
    lost = []
    for library, checkout in selection:
        with tempfile.TemporaryDirectory() as folder:
            lost += compared(library, checkout or unpacked(library, Path(folder)))
    print(*lost, sep="\n")
    return int(bool(lost))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
