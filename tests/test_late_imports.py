"""Parts of the package that load late: each name is found, and code that reads the ops sees no difference."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tensorbackend as tb
from tensorbackend.late_imports import MODULES, NAMESPACES
from tensorbackend.select import class_names


def imported_for_types() -> Iterator[tuple[str, str]]:
    """Yield each name that the package imports for type checkers, with its module."""
    tree = ast.parse(Path(tb.__file__).read_text("utf-8"))
    (branch,) = (node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "_TYPE_CHECKING")
    for node in branch.body:
        if isinstance(node, ast.ImportFrom):
            yield from ((alias.name, node.module or "") for alias in node.names)


def test_type_checkers_see_each_late_name() -> None:
    modules_by_name = dict(imported_for_types())
    assert {name: modules_by_name.get(name) for name in MODULES} == MODULES
    assert {name for name, module in modules_by_name.items() if not module} == {*NAMESPACES}
    at_once = {"template", "tensor", "backends"}  # imported at run time too, from modules with names like these
    assert modules_by_name.keys() - MODULES.keys() - {*NAMESPACES} == at_once | class_names().keys()


@pytest.mark.parametrize("name", MODULES)
def test_a_late_name_is_a_public_one(name: str) -> None:
    value = getattr(tb, name)
    assert value.__module__ == f"tensorbackend.{MODULES[name]}"
    assert name in dir(tb)


PROGRAMS = {
    "NumPy's functions are ours": """
        import numpy
        x = tb.ones((3, 3), backend="template")
        assert numpy.linalg.norm(x).shape == numpy.hypot(1.0, x)[0, 0].shape == numpy.median(x).shape == ()
    """,
    "the support of an op is known": """
        from tensorbackend.backends.support import support_of
        assert support_of("numpy", "silu") == "override" and support_of("numpy", "top_k") == "override"
    """,
    "all ops are counted": """
        from tensorbackend.declarations.op_specs import OPS
        before = len(OPS)
        names = {*OPS}
        assert {name for space in dir(tb) for name in dir(getattr(tb, space))} >= {"qr", "silu", "threefry2x32"}
        assert before == len(OPS) and names == {*OPS} and {"segment_sum", "qr", "silu", "normal"} <= names
    """,
    "a name that an op has is refused where it is declared": """
        for name in ("silu", "top_k"):
            def duplicate(x: tb.Tensor, /) -> tb.Tensor:
                return x
            duplicate.__name__ = name
            try:
                tb.composite(duplicate)
            except TypeError as error:
                assert f"the op {name!r} is declared twice: in tensorbackend.ops" in str(error)
            else:
                raise AssertionError(name)
    """,
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_in_a_new_process(what: str) -> None:
    lines = [line.removeprefix(" " * 8) for line in PROGRAMS[what].splitlines()]
    program = "\n".join(["import tensorbackend as tb", *lines])
    ended = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


def test_what_few_programs_need_is_not_imported() -> None:
    program = "import sys, tensorbackend; print(*(name for name in sys.modules if name.startswith('tensorbackend.')))"
    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()
    assert {f"tensorbackend.{module}" for module in (*MODULES.values(), *NAMESPACES)}.isdisjoint(loaded)
    assert "numpy" not in loaded


LATE_IN_PROGRAMS = {
    "importlib.resources", "jax", "random", "scipy", "shutil", "tempfile", "tensorbackend.backends.binary",
    "tensorbackend.expr.grad", "tensorbackend.expr.jit", "tensorbackend.numpy.polynomial", "tensorbackend.numpy.random",
    "tensorbackend.numpy.testing", "unittest",
}  # fmt: skip
"""Modules that `import tensorbackend.numpy` leaves to the calls that need them."""


def test_the_numpy_namespace_imports_what_its_first_calls_need() -> None:
    program = "import sys, numpy; before = {*sys.modules}; import tensorbackend.numpy; print(*{*sys.modules} - before)"
    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()
    assert "tensorbackend.numpy" in loaded
    assert LATE_IN_PROGRAMS.isdisjoint(loaded)


def test_the_numpy_namespace_compiles_no_function_before_its_first_call() -> None:
    program = """
import builtins
plain, compiled = builtins.compile, []
def compile(source, filename, *arguments, **options):
    if str(filename).endswith(">") and "numpy" in str(filename):
        compiled.append(filename)
    return plain(source, filename, *arguments, **options)
builtins.compile = compile
import tensorbackend.numpy as np
assert not compiled, compiled
assert (np.arange(3) + 1).sum() == 6
assert {name.rpartition("<")[2] for name in compiled} >= {"arange>", "add>", "sum>"}
"""
    ended = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
