"""Every function of the NumPy namespace with plain arguments: values, dtypes, shapes, and what shares memory."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from types import CodeType
from typing import Any, Final

import numpy
import pytest

import tensorbackend.numpy as ours
from tensorbackend.numpy.functions import PUBLIC

from ..numpy_programs.arguments import ARGUMENTS, ROWS, SOURCES

_NOT_COMPARED: Final = re.compile(
    r"empty(_like)?|random\.|(get|set)_?\w*(printoptions|err|errcall|bufsize)|errstate|array_?(repr|str|2string)|"
    r"load|save|\w*txt|fromfile|frombuffer|fromregex|memmap|printoptions|show_\w+|test|info|get_include|bmat|asmatrix|"
    r"lib\.array_utils\.byte_bounds|busday\w*|is_busday"
)
"""What has no result to compare: memory as it was found, draws, settings, texts, files and NumPy's own matrices."""

_TOLERANCE: Final = {"float16": 4e-3, "float32": 2e-5, "complex64": 2e-5}

FUNCTIONS: Final = sorted(name for name in PUBLIC if not _NOT_COMPARED.fullmatch(name.partition("(")[0]))
METHODS: Final = sorted(
    name for name in dir(numpy.ndarray)
    if not name.startswith("_") and hasattr(ours.ndarray, name) and callable(getattr(numpy.ndarray, name))
    and name not in ("tofile", "dump", "dumps", "tobytes", "getfield", "setfield")
)  # fmt: skip


def called(np: Any, name: str, code: CodeType, source: str) -> list[tuple[Any, ...]]:
    """What a call returns and leaves: dtype, shape, whether a number, whether it is or shares the array, values.

    A call that fails leaves the array as it was.
    """
    x = np.array(SOURCES[source].copy())
    function: Any = np
    if name.startswith("."):
        function = getattr(np.ndarray, name[1:])
    else:
        for part in name.split("."):
            function = getattr(function, part)
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            made = eval(code, {"call": function, "x": x, "np": np, "numpy": numpy})
        except Exception:
            assert np is numpy or numpy.array_equal(numpy.array(x), SOURCES[source], equal_nan=True), (name, code)
            raise
    return [described(np, part, x) for part in (*parts(made), x)]


def parts(made: Any) -> Iterator[Any]:
    if isinstance(made, list | tuple):
        for each in made:
            yield from parts(each)
    else:
        yield made


def described(np: Any, part: Any, x: Any) -> tuple[Any, ...]:
    if not isinstance(part, np.ndarray | numpy.ndarray | numpy.generic | int | float | complex):
        return ("other", repr(type(part)))
    values = numpy.array(part)
    array = isinstance(part, np.ndarray | numpy.ndarray)
    shared = bool(np.shares_memory(part, x)) if array and values.size else False
    return (str(values.dtype), values.shape, array, (shared, part is x and values.size > 0), values)


def difference(found: list[tuple[Any, ...]], expected: list[tuple[Any, ...]]) -> str:
    """The first thing that differs, by one word: `""` for none."""
    if len(found) != len(expected):
        return "parts"
    for ours_, theirs in zip(found, expected, strict=True):
        for what, a, b in zip(("dtype", "shape", "array", "memory"), ours_, theirs, strict=False):
            if a != b:
                return what
        if len(theirs) > 2 and not alike(ours_[-1], theirs[-1]):
            return "value"
    return ""


def alike(a: Any, b: Any) -> bool:
    if b.dtype.kind not in "fc":
        return bool((a == b).all())
    tolerance = _TOLERANCE.get(b.dtype.name, 1e-11)
    return bool(numpy.allclose(a, b, tolerance, tolerance, equal_nan=True))


@pytest.mark.parametrize("name", [*FUNCTIONS, *(f".{name}" for name in METHODS)])
def test_plain_arguments(name: str) -> None:
    rows = {row: False for row in ROWS if re.fullmatch(row.functions, name)}
    wrong = []
    for arguments in ARGUMENTS:
        code = compile(f"call({arguments})", f"{name}({arguments})", "eval")
        for source in SOURCES:
            try:
                expected = called(numpy, name, code, source)
            except Exception:
                continue  # NumPy refuses it
            call = f"{name}({arguments}) of {source}"
            try:
                what = difference(called(ours, name, code, source), expected)
            except (TypeError, ValueError, IndexError, ArithmeticError):
                continue  # so do we: that is never silent
            if not what:
                continue
            row = next((row for row in rows if re.search(row.what, what) and re.search(row.calls, call)), None)
            if row is None:
                wrong.append(f"{what}: {call}")
            else:
                rows[row] = True
    assert not wrong, "\n".join(wrong)
    stale = [row for row, used in rows.items() if row.always and not used]
    assert not stale, f"{name}: no call differs any more: {stale}"
