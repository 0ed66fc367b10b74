"""What the package asks of the interpreter itself: each use has a reason and a fall-back here, and no other exists.

A use is a name that says something about frames, code objects, cells or reference counts. Whoever adds one says what
happens where the interpreter answers in another way; the row of a use that is gone fails too. All rows were seen to
hold on CPython 3.11 to 3.15, unless `proven` says less; where a row depends on counts, the module itself
tries them when it is imported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]

NAMES = frozenset({
    "CellType", "__closure__", "_current_frames", "_getframe", "_is_gil_enabled", "cell_contents", "f_lasti",
    "f_locals", "get_referents", "get_referrers", "getrefcount", "getweakrefcount", "is_tracked", "pythonapi",
    "tb_lasti",
})  # fmt: skip
MODULES = frozenset({"_opcode", "_testcapi", "_testinternalcapi", "dis", "opcode"})
SIGNATURE = frozenset({
    "co_argcount", "co_consts", "co_filename", "co_firstlineno", "co_flags", "co_kwonlyargcount", "co_name",
    "co_posonlyargcount", "co_qualname", "co_varnames",
})  # fmt: skip
"""What any code object has for `inspect.signature` and tracebacks, and the codes in that of a module."""


class Use(NamedTuple):
    """Why something is asked, what happens where the answer is another, and on which Pythons it was proven."""

    reason: str
    fallback: str
    proven: str = "3.11 to 3.15"


CALLER = Use("the caller's line, file or function", "documented in `sys`; every implementation that runs NumPy has it")
PLACE = Use(
    "the place of the caller in its source", "no hint and no refusal: an assignment that is lost is not an error"
)
COUNT = Use("whether a program may write over an operand", "new memory, where no number is pinned or its trial fails")
CLOSURE = Use("the sizes that a kernel keeps", "a closure that is not understood is planned again for each shape")
SCANNED = Use("tensors that a function of the user keeps", "an empty cell is passed over; `inspect` documents both")
RENAMED = Use("one function for each name in errors", "documented: `__code__` of a function may be set")

USES: dict[str, dict[str, Use]] = {
    "plugins/tensorbackend-onnx/tensorbackend_onnx/graph.py": {
        "code.replace": Use("a traceback that shows a node of the model", "documented in `types`")
    },
    "plugins/tensorbackend-onnx/tensorbackend_onnx/pytorch.py": {
        "f_locals": Use("the part of a module in which its export failed, for an error", "an error without the part")
    },
    "tensorbackend/backends/numpy_backend/memory.py": {
        "getrefcount": Use(
            "a witness of checked mode against writes to shared memory", "no witness; nothing depends on it"
        )
    },
    "tensorbackend/declarations/parameters.py": {
        "co_names": Use("names that a rule calls, to find what it asks of a parameter", "none: the names are a hint")
    },
    "tensorbackend/dispatch/fallbacks.py": {
        name: Use("the ops that a fall-back calls", "an op that is not found is tried when it is called")
        for name in ("co_names", "__closure__", "cell_contents")
    },
    "tensorbackend/dispatch/generated.py": {"__code__ =": RENAMED, "code.replace": RENAMED},
    "tensorbackend/dispatch/resizing.py": dict.fromkeys(
        ("CellType", "__closure__", "cell_contents", "co_names"), CLOSURE
    ),
    "tensorbackend/dispatch/path.py": {
        "__closure__": Use("a function with the signature of an op, for `inspect`", "documented in `types`")
    },
    "tensorbackend/declarations/deprecations.py": {"_getframe": CALLER},
    "tensorbackend/errors/tracebacks.py": {
        "_getframe": CALLER,
        "tb_lasti": Use("a shorter traceback, made of the entries of another", "documented in `types`"),
        **dict.fromkeys(("__code__ =", "code.replace"), RENAMED),
    },
    "tensorbackend/expr/closures.py": {
        **dict.fromkeys(("CellType", "__closure__", "cell_contents", "co_freevars"), SCANNED),
        "dis": Use(
            "which variables a function of the user assigns to", "such a variable is shared, as in a Python function"
        ),
    },
    "tensorbackend/expr/node.py": {"_getframe": CALLER},
    "tensorbackend/expr/nonfinite.py": {"_getframe": CALLER},
    "tensorbackend/costs/profile/profiles.py": {"_getframe": CALLER},
    "tensorbackend/costs/profile/spans.py": {"_getframe": CALLER},
    "tensorbackend/interchange/dlpack.py": {
        "pythonapi": Use("the pointer in a capsule", "`PyCapsule_GetPointer` is of the stable ABI; DLPack is refused")
    },
    "tensorbackend/numpy/host_arrays.py": {
        "__code__ =": Use("a function that replaces itself at its first call", "documented: it may be set")
    },
    "tensorbackend/ops/indexing/assignment.py": {"_getframe": CALLER},
    "tensorbackend/ops/indexing/chained.py": dict.fromkeys(("co_lines", "co_positions", "f_lasti", "f_locals"), PLACE),
    "tensorbackend/protocol/exhaustion.py": {
        "f_locals": Use("the size of what did not fit, for an error", "an error without a size")
    },
    "tensorbackend/protocol/owners.py": {"getrefcount": COUNT, "getweakrefcount": COUNT},
    "tensorbackend/tensor/missing_names.py": {"_getframe": CALLER, "co_positions": PLACE, "f_lasti": PLACE},
    "tensorbackend/testing/sharers.py": {
        "f_locals": Use("a frame that keeps memory, which a test of sharing needs", "none: part of the tests")
    },
}
"""The uses of each module."""


def uses_in(source: str) -> Iterator[str]:
    """The names of what a source asks of the interpreter."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(attr="__code__", ctx=ast.Store()):
                yield "__code__ ="
            case ast.Attribute(attr=name) if name in NAMES or (name.startswith("co_") and name not in SIGNATURE):
                yield name
            case ast.Name(id=name) if name in NAMES:
                yield name
            case ast.Constant(value=str(name)) if name in NAMES or name in ("__code__ =", "co_code"):
                yield name
            case ast.keyword(arg=str(name)) if name.startswith("co_"):
                yield "code.replace"
            case ast.Import(names=names):
                yield from MODULES.intersection(alias.name.partition(".")[0] for alias in names)
            case ast.ImportFrom(module=module, names=names):
                yield from MODULES & {(module or "").partition(".")[0]}
                yield from NAMES.intersection(alias.name for alias in names)


def found() -> dict[str, set[str]]:
    """The uses in the package and its plugins, by file."""
    files = [*ROOT.glob("tensorbackend/**/*.py"), *ROOT.glob("plugins/*/tensorbackend_*/**/*.py")]
    uses = {path.relative_to(ROOT).as_posix(): set(uses_in(path.read_text("utf-8"))) for path in files}
    return {path: names for path, names in uses.items() if names}


def test_each_use_has_a_row_and_each_row_a_use() -> None:
    assert found() == {path: set(rows) for path, rows in USES.items()}


def test_each_row_says_why_and_what_else() -> None:
    for path, rows in USES.items():
        for name, use in rows.items():
            assert all(use), f"{path}: {name}"


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("from sys import getrefcount as count", "getrefcount"),
        ("import sys\nsys._getframe(1)", "_getframe"),
        ("f.__code__ = g.__code__", "__code__ ="),
        ("code.replace(co_name='f')", "code.replace"),
        ("frame.f_code.co_code[frame.f_lasti]", "co_code"),
        ("import dis", "dis"),
        ("from opcode import opmap", "opcode"),
        ("getattr(sys, 'getrefcount')", "getrefcount"),
        ("from types import CellType", "CellType"),
        ("ctypes.pythonapi", "pythonapi"),
    ],
)
def test_a_use_is_found(source: str, name: str) -> None:
    assert name in set(uses_in(source))
