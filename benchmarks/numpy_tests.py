"""NumPy's own tests on `tensorbackend.numpy`: how many pass, and why the others fail.

    python benchmarks/numpy_tests.py [file ...] [--backend NAME] [--table FILE] [--failures FILE]

The tests are those in the installed NumPy. In each file `numpy` becomes `tensorbackend.numpy` where tests name it. Tables
of cases, conditions to skip and the like, which are made when a file is read, stay NumPy's. A class or a test that needs
what arrays here cannot have (memory order, warnings, read-only arrays) fails, and is counted under its cause. `_core/tests/test_multiarray.py` takes longer than all others together; name it to run it.
"""

# ruff: noqa: E501 # texts and patterns are not broken
from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy as ours

FILES = (
    "_core/tests/test_numeric.py", "_core/tests/test_umath.py", "_core/tests/test_indexing.py",
    "_core/tests/test_shape_base.py", "lib/tests/test_function_base.py", "lib/tests/test_shape_base.py",
    "lib/tests/test_arraysetops.py", "lib/tests/test_arraypad.py", "lib/tests/test_index_tricks.py",
    "lib/tests/test_twodim_base.py", "lib/tests/test_nanfunctions.py", "lib/tests/test_type_check.py",
    "lib/tests/test_ufunclike.py", "lib/tests/test_polynomial.py", "lib/tests/test_histograms.py",
    "lib/tests/test_stride_tricks.py", "linalg/tests/test_linalg.py", "fft/tests/test_helper.py",
    "fft/tests/test_pocketfft.py", "_core/tests/test_ufunc.py", "_core/tests/test_einsum.py",
    "_core/tests/test_item_selection.py", "_core/tests/test_scalarmath.py", "_core/tests/test_regression.py",
    "_core/tests/test_indexerrors.py", "_core/tests/test_arrayprint.py", "lib/tests/test_regression.py",
)  # fmt: skip

CAUSES = (
    ("a refused feature", r"no attribute '(nested_iters|setbufsize|getbufsize|seterrcall|geterrcall|chararray)|"
     r"may be written to|no strides"),
    ("no warning or floating-point error is raised", r"DID NOT WARN|No warnings raised|not triggered|FloatingPointError|RuntimeWarning|Warning"),
    ("complex numbers have no order", r"have no order|a real dtype"),
    ("no error where NumPy raises one", r"DID NOT RAISE|not raised"),
    ("another class of error", r"tensorbackend\.errors|Error: "),
)  # fmt: skip
"""Causes of failures, each with the text of its errors; the first one that fits counts."""


HEAD = """import numpy as _numpy
import tensorbackend.numpy as _ours


class _Names:
    \"\"\"The namespace, with NumPy's own classes that tests name as what they do not use.\"\"\"

    def __getattr__(self, name):
        return getattr(_numpy if name in {kept!r} else _ours, name)


class _Inner(_Names):
    \"\"\"NumPy's module of universal functions, which holds a few names more.\"\"\"

    def __getattr__(self, name):
        return getattr(_ours if hasattr(_ours, name) else _numpy._core.umath, name)


np, ncu = _Names(), _Inner()
"""

KEPT = ("_core", "__config__", "testing")
"""What is NumPy's own in tests too."""


class Tables(ast.NodeTransformer):
    """What a file makes when it is read, such as tables of cases and conditions to skip, is made by NumPy itself."""

    def __init__(self, source: str) -> None:
        self.makers = set(re.findall(r"@pytest\.mark\.parametrize\((?:[^()]|\n)*?(\w+)\(\)", source))
        """The functions that make tables of cases."""
        self.in_statement = False

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Leaves the body of a function, unless it makes a table, and changes its decorators and defaults."""
        if node.name in self.makers:
            return self.generic_visit(node)
        node.decorator_list = [self.visit(each) for each in node.decorator_list]
        node.args = self.visit(node.args)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        """Leaves a function without a name."""
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Keeps functions that are attributes of a class from becoming methods, as those of C do not."""
        for each in node.body:
            if isinstance(each, ast.Assign) and isinstance(each.value, ast.Attribute) and is_function(each.value.attr):
                each.value = ast.Call(ast.Name("staticmethod", ast.Load()), [each.value], [])
        return ast.fix_missing_locations(self.generic_visit(node))

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """Changes a call that changes a table, such as one of `append`."""
        self.in_statement = True
        changed = self.generic_visit(node)
        self.in_statement = False
        return changed

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Calls NumPy's function."""
        if isinstance(node.func, ast.Attribute):
            node.func.value = self.called(node.func.value)
        else:
            node.func = self.visit(node.func)
        node.args, node.keywords = list(map(self.visit, node.args)), list(map(self.visit, node.keywords))
        return node

    def called(self, node: ast.expr) -> ast.expr:
        """What stands before the name of a function that is called: `np` or `np.linalg`, or an expression."""
        if isinstance(node, ast.Attribute):
            node.value = self.called(node.value)
            return node
        if isinstance(node, ast.Name):
            return ast.copy_location(ast.Name("_numpy", node.ctx), node) if node.id == "np" else node
        changed: ast.expr = self.visit(node)
        return changed

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Leaves functions that are to be tested; classes, dtypes and other objects are NumPy's."""
        kept = is_function(node.attr) and not self.in_statement
        if isinstance(node.value, ast.Name) and node.value.id == "np" and not kept:
            node.value.id = "_numpy"
        return self.generic_visit(node)


def is_function(name: str) -> bool:
    """Return whether the namespace has a function of a name."""
    return callable(found := getattr(ours, name, None)) and not isinstance(found, type)


def adapted(source: str) -> str:
    """Return a file of tests with the namespace in place of NumPy."""
    future = "from __future__ import annotations\n" if "from __future__" in source else ""
    source = re.sub(r"^from __future__.*$", "", source, flags=re.M)
    source = re.sub(r"^(\s*)import numpy as np$", "", source, flags=re.M)
    source = re.sub(r"^import numpy\._core\.umath as ncu$", "", source, flags=re.M)
    source = re.sub(
        r"^(\s*)from numpy\.exceptions import", r"\1from tensorbackend.numpy.exceptions import", source, flags=re.M
    )
    source = re.sub(
        r"^(\s*)from numpy\.testing import", r"\1from tensorbackend.numpy.testing import", source, flags=re.M
    )
    source = re.sub(
        r"^(\s*)from numpy\.(linalg|random|fft) import", r"\1from tensorbackend.numpy.\2 import", source, flags=re.M
    )
    source = re.sub(
        r"^(\s*)import numpy\.(linalg|fft) as (\w+)", r"\1import tensorbackend.numpy.\2 as \3", source, flags=re.M
    )
    source = ast.unparse(Tables(source).visit(ast.parse(source)))
    return future + HEAD.format(kept=KEPT) + source


def public_imports(source: str) -> str:
    """Return a source in which names imported from NumPy's inner modules come from the namespace where it has them."""

    def replaced(found: re.Match[str]) -> str:
        names = [name.strip() for name in re.sub(r"[()\s]+", " ", found[2]).split(",") if name.strip()]
        lines = []
        for name in names:
            plain, _, other = name.partition(" as ")
            held = (other or plain).strip()
            lines.append(
                f"try:\n    from tensorbackend.numpy import {plain} as {held}\nexcept ImportError:\n    from {found[1]} import {plain} as {held}"
            )
        return "\n".join(lines)

    return re.sub(
        r"^from (numpy(?:\.(?:lib|_core|ma|fft|linalg)[\w.]*)?) import (\([^)]*\)|[^\n(]+)$",
        replaced,
        source,
        flags=re.M,
    )


class Results:
    """Collects what becomes of each test."""

    def __init__(self) -> None:
        self.outcomes: dict[str, str] = {}
        self.texts: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Notes the outcome of a test."""
        if report.when == "call" or report.failed:
            self.outcomes[report.nodeid] = report.outcome
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            lines = str(report.longrepr).splitlines()
            self.texts[report.nodeid] = f"{crash.message if crash else ''}\n" + "\n".join(lines[-3:])

    def pytest_collectreport(self, report: Any) -> None:
        """Notes a file that cannot be imported."""
        if report.failed:
            self.outcomes[report.nodeid] = "failed"
            self.texts[report.nodeid] = str(report.longrepr)


def cause(text: str) -> str:
    """Return why a test failed, by the text of its error."""
    return next((name for name, pattern in CAUSES if re.search(pattern, text)), "another result")


SKIPPED = "incref_elide or huge or large_dims or large_concatenate or large_zero_size or blas64 or sdot_bug or threads or reproducer"
"""Tests that take all memory, or threads and other processes."""


def run(file: str, backend: str) -> dict[str, dict[str, str]]:
    """Run a file of tests in this process; return the outcome of each, and the texts of errors."""
    tb.set_default_backend(backend)
    results = Results()
    source = (Path(numpy.__file__).parent / file).read_text()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"test_{file.replace('/', '_')}"
        path.write_text(public_imports(adapted(source)))
        flags = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", "--tb=short", "-W", "ignore"]
        flags += ["-c", "/dev/null", "--rootdir", folder, "--no-summary", "-k", f"not ({SKIPPED})"]
        with redirect_stdout(sys.stderr):
            pytest.main([str(path), *flags], plugins=[results])
    return {"outcomes": results.outcomes, "texts": results.texts}


def main(arguments: list[str]) -> None:
    """Runs the files and prints a row for each, and the causes of failures."""
    parser = argparse.ArgumentParser(prog="python benchmarks/numpy_tests.py")
    parser.add_argument("files", nargs="*", help="files under NumPy's package; all of the table if none")
    parser.add_argument("--backend", default="numpy")
    parser.add_argument("--one", action="store_true", help="run one file in this process")
    parser.add_argument("--longest", type=float, default=300.0, help="after so many seconds a file is given up")
    parser.add_argument("--table", type=Path, help="where to write the table, as Markdown")
    parser.add_argument("--failures", type=Path, help="where to write the failing tests with their errors")
    options = parser.parse_args(arguments)
    if options.one:
        print(json.dumps(run(options.files[0], options.backend)))
        return
    rows: list[tuple[str, int, int]] = []
    causes, details = Counter[str](), list[str]()
    for file in options.files or FILES:
        command = [sys.executable, __file__, file, "--one", "--backend", options.backend]
        try:
            printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=options.longest).stdout
            found = json.loads(printed.splitlines()[-1])
        except (subprocess.TimeoutExpired, IndexError, ValueError):
            found = {"outcomes": {file: "failed"}, "texts": {file: "the process ended, or took too long"}}
        outcomes, texts = found["outcomes"], found["texts"]
        passed = sum(outcome == "passed" for outcome in outcomes.values())
        failed = [name for name, outcome in outcomes.items() if outcome == "failed"]
        why = Counter(cause(texts[name]) for name in failed)
        causes += why
        rows.append((file, passed, len(failed)))
        details += [
            f"{name.partition('::')[2] or name}\t{cause(texts[name])}\t{texts[name].strip()[:400]!r}" for name in failed
        ]
    lines = ["| file | pass | fail | share |", "| --- | --- | --- | --- |"]
    total = ("all", sum(row[1] for row in rows), sum(row[2] for row in rows))
    for file, passed, failed_count in [*rows, total]:
        lines.append(f"| `{file}` | {passed} | {failed_count} | {100 * passed / max(passed + failed_count, 1):.0f} % |")
    lines += [
        "",
        "| cause of a failure | tests |",
        "| --- | --- |",
        *[f"| {name} | {count} |" for name, count in causes.most_common()],
    ]
    print("\n".join(lines))
    if options.table:
        options.table.write_text("\n".join(lines) + "\n")
    if options.failures:
        options.failures.write_text("\n".join(details))


if __name__ == "__main__":
    main(sys.argv[1:])
