"""Runs the programs of the gallery on NumPy and JAX."""

from __future__ import annotations

import ast
import contextlib
import io
import re
from collections.abc import Callable, Mapping
from operator import itemgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any

import matplotlib
import numpy
import pytest
from matplotlib import pyplot

import tensorbackend as tb

GALLERY = Path(__file__).resolve().parents[1] / "gallery"

Values = dict[str, Any]
"""The variables of a program at its end."""


def run(name: str, backend: str, **constants: Any) -> tuple[Values, str]:
    """Run a program with other values of constants; return its variables, and what it printed."""
    path = GALLERY / f"{name}.py"
    tree = ast.parse(path.read_text())
    replaced = set()
    for target, value in assignments(tree):
        if isinstance(target, ast.Name) and isinstance(value, ast.Constant) and target.id in constants:
            value.value = constants[target.id]
            replaced.add(target.id)
    assert replaced == set(constants), "the program has no such constant"
    values: Values = {"__name__": "__main__", "__file__": str(path)}
    with tb.default_backend(backend), contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, str(path), "exec"), values)
    pyplot.close("all")
    return values, printed.getvalue()


def assignments(tree: ast.Module) -> list[tuple[ast.expr, ast.expr]]:
    """The targets and values of a program's assignments, those of tuples one by one."""
    found: list[tuple[ast.expr, ast.expr]] = []
    for node in tree.body:
        if isinstance(node, ast.Assign):
            sides = node.targets[0], node.value
            targets, values = (side.elts if isinstance(side, ast.Tuple) else [side] for side in sides)
            found.extend(zip(targets, values, strict=False))
    return found


Compared = Mapping[str, Callable[[Values], Any]]
"""What is compared of a variable that has several right values, such as eigenvectors, from all variables."""

NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")


def assert_same(
    one: tuple[Values, str], other: tuple[Values, str], rtol: float, atol: float, compared: Compared
) -> None:
    """Check that two runs have equal tensors under equal names, and printed the same text with the same numbers."""
    tensors = {name: value for name, value in one[0].items() if isinstance(value, tb.Tensor)}
    assert any(value.backend.name == "numpy" for value in tensors.values())
    for name, value in tensors.items():
        found = other[0][name]
        backend = value.backend.name.replace("numpy", "jax")
        assert (found.template, found.backend.name) == (value.template, backend), name
        if tb.is_concrete(value):
            ours, theirs = (numpy.asarray(compared.get(name, itemgetter(name))(run[0])) for run in (one, other))
            numpy.testing.assert_allclose(theirs, ours, rtol=rtol, atol=atol, err_msg=name)
    assert NUMBER.sub("#", one[1].replace("numpy", "jax")) == NUMBER.sub("#", other[1])
    numbers = [numpy.array([float(number) for number in NUMBER.findall(text)]) for _, text in (one, other)]
    numpy.testing.assert_allclose(numbers[1], numbers[0], rtol=max(rtol, 2e-3), atol=atol)


Runner = Callable[..., Values]


@pytest.fixture
def on_both(monkeypatch: pytest.MonkeyPatch) -> Runner:
    """A function that runs a program on NumPy and on JAX, compares the two runs, and returns NumPy's variables."""

    def both(
        name: str,
        *,
        rtol: float = 1e-4,
        atol: float = 1e-5,
        compared: Compared = MappingProxyType({}),
        **constants: Any,
    ) -> Values:
        first = run(name, "numpy", **constants)
        assert_same(first, run(name, "jax", **constants), rtol, atol, compared)
        return first[0]

    monkeypatch.syspath_prepend(str(GALLERY))
    matplotlib.use("template")  # draws nothing
    return both
