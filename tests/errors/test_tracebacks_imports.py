"""Imports of names of other libraries have the hints that attributes have, where their error is shown."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tensorbackend.errors.tracebacks import advise

IMPORTS = [
    ("from tensorbackend import integrate", "tb.solvers.solve_ivp"),
    ("from tensorbackend import jit, cumsum", "write tb.cumulative_sum"),
    ("import tensorbackend.optim", "tb.optimize.adam(rate)"),
    ("from tensorbackend.nn import Linear", "x @ weight + bias"),
    ("from tensorbackend.linalg import pinverse", "write tb.linalg.pinv(x)"),
    ("from tensorbackend import Tensr", "did you mean tb.Tensor?"),
]


@pytest.mark.parametrize(("statement", "remedy"), IMPORTS)
def test_an_import_has_the_hint_of_the_attribute(statement: str, remedy: str) -> None:
    with pytest.raises(ImportError) as caught:
        exec(statement)
    advise(caught.value)
    (note,) = caught.value.__notes__
    assert remedy in note


@pytest.mark.parametrize("statement", [
    "import tensorbackend.no_such_name_here", "from tensorbackend import _integrate", "import no_such_package.optim",
    "from os import integrate",
])  # fmt: skip
def test_other_imports_have_none(statement: str) -> None:
    with pytest.raises(ImportError) as caught:
        exec(statement)
    advise(caught.value)
    assert not hasattr(caught.value, "__notes__")


def test_a_program_that_ends_so_shows_it() -> None:
    for program, remedy in [*IMPORTS[:3], ("import tensorbackend as tb; tb.checkpoint.save", "tb.checkpoints.save(")]:
        ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
        assert remedy in ended.stderr.splitlines()[-1]
