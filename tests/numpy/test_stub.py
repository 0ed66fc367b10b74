"""The stub that editors read says what the functions of the namespace say."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest

import tensorbackend.numpy as np
from tensorbackend.numpy.functions import PUBLIC
from tensorbackend.numpy.stub import ARRAYS, ARRAYS_OR_NUMBERS, FILE, TUPLES, text

CALLS: dict[str, Any] = {
    "append": ([1, 2], 3), "argpartition": ([2, 1], 0), "bincount": ([1],), "compress": ([True], [1]),
    "concat": ([[1], [2]],), "concatenate": ([[1], [2]],), "convolve": ([1], [2]), "correlate": ([1], [2]),
    "delete": ([1, 2], 0), "diff": ([1, 2],), "extract": ([True], [1]), "geomspace": (1, 2, 1), "histogram": ([1],),
    "histogram2d": ([1, 2], [1, 2]), "histogramdd": ([[1, 2]],), "insert": ([1], 0, 1), "kaiser": (1, 1.0),
    "logspace": (1, 2, 1), "mask_indices": (1, np.triu), "diag_indices": (1,), "outer": (1, 2), "pad": ([1], 0),
    "packbits": ([1],), "partition": ([2, 1], 0), "piecewise": (1.0, [True], [2.0]), "repeat": (1, 1),
    "roots": ([1, 1],), **dict.fromkeys(["column_stack", "dstack", "hstack", "vstack"], ([1, 2],)),
    **dict.fromkeys(["bartlett", "blackman", "hamming", "hanning", "argwhere", "flatnonzero", "cumsum", "cumprod",
                     "nancumsum", "nancumprod", "diagflat", "ediff1d"], (1,)),
    "select": ([True], [1.0]), "setdiff1d": (1, 2), "setxor1d": (1, 1), "stack": ([1, 2],), "tile": (1, 1),
    "resize": (1, (1,)), "isin": (1, 1), "in1d": (1, 1), "row_stack": ([1],), "union1d": (1, 1),
    "take_along_axis": ([1], [0], 0), "unpackbits": (np.array([1], np.uint8),), "vander": ([1],),
    "diag_indices_from": ([[1]],), "tril_indices": (1,), "triu_indices": (1,), "tril_indices_from": ([[1]],),
    "triu_indices_from": ([[1]],), "tril": ([[1]],), "triu": ([[1]],), "block": (1,), "nonzero": ([1],),
}  # fmt: skip
"""Arguments with the fewest axes that a function takes, if they are not one list of one number."""


@pytest.mark.parametrize("name", [*sorted(ARRAYS), *TUPLES])
def test_what_is_declared_as_an_array_is_one(name: str) -> None:
    made = PUBLIC[name](*CALLS.get(name, ([1.0],)))
    parts = made if name in TUPLES else [made]
    assert all(type(part) is np.ndarray or all(type(each) is np.ndarray for each in part) for part in parts)


MORE: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(["cross", "dot", "inner", "isclose", "kron", "vdot"], ()), "tensordot": (2.0, 0), "clip": (0, 1),
    "digitize": ([0, 3],), "interp": ([0, 3], [0, 3]), "polyval": (2.0,), "roll": (1,), "searchsorted": (1.0,),
    "take": (0,), **dict.fromkeys(["quantile", "nanquantile"], (0.5,)),
    **dict.fromkeys(["percentile", "nanpercentile"], (50,)),
}  # fmt: skip
"""Arguments besides the first one; none for one more like it."""


@pytest.mark.parametrize("name", sorted(ARRAYS_OR_NUMBERS & PUBLIC.keys()))
def test_what_is_declared_as_an_array_or_a_number_is_one(name: str) -> None:
    for x in ([1.0, 2.0, 3.0], [[1.0, 2.0], [3.0, 4.0]]):
        if numpy.ndim(x) == (1 if name == "trace" else 2) and name in ("trace", "searchsorted", "cross", "polyval"):
            continue
        arguments = ("...->...", x) if name == "einsum" else (x, *(MORE[name] or [x])) if name in MORE else (x,)
        assert isinstance(PUBLIC[name](*arguments), np.ndarray | numpy.generic)


PROGRAM = """\
import tensorbackend.numpy as np

x = np.linspace(0.0, 1.0, 12).reshape(3, 4)
w: float = np.sum(x * x) / len(x)
total = np.sum(x)
total += 1
def norm(v: np.ndarray) -> float:
    return np.sqrt(np.dot(v, v))
reveal_type(np.sum(x, axis=0))
reveal_type(x.mean(axis=1, keepdims=True))
reveal_type(np.dot(x, x.T))
reveal_type((x - x.mean(axis=0)) / x.std(axis=0))
reveal_type(np.exp(-x))
reveal_type(x[1:])
reveal_type(x[x > 0.5])
reveal_type(np.where(x > 0, x, 0))
reveal_type(np.concatenate([x, x]))
reveal_type(np.zeros((2, 2)))
reveal_type(np.argmax(x, axis=1))
reveal_type(np.percentile(x, 50))
np.summ(x)  # mistake
np.sum(x, axes=0)  # mistake
np.mean(x).shpe  # mistake
x.revel()  # mistake
np.zeros((2, 2)).appendd  # mistake
np.dot(x)  # mistake
x[1:].meen()  # mistake
"""


def test_a_type_checker_knows_results_and_finds_mistakes(tmp_path: Path) -> None:
    """On the stub alone, as the whole package takes a minute to check."""
    package = tmp_path / "tensorbackend"
    (package / "numpy").mkdir(parents=True)
    (package / "__init__.pyi").write_text("class Tensor: ...\n")
    (package / "numpy" / "__init__.pyi").write_text(FILE.read_text())
    (tmp_path / "program.py").write_text(PROGRAM)
    options = ["--ignore-missing-imports", "--cache-dir", os.devnull, "--config-file", os.devnull, "--no-error-summary"]
    run = subprocess.run([sys.executable, "-m", "mypy", *options, "program.py"], cwd=tmp_path, capture_output=True,
                         text=True, check=False)  # fmt: skip
    lines = [line.split(":", 3) for line in run.stdout.splitlines() if line.startswith("program.py")]
    mistakes = [number for number, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith("# mistake")]
    assert [int(number) for _, number, kind, _ in lines if kind == " error"] == mistakes, run.stdout
    revealed = [text for _, _, _, text in lines if "Revealed type" in text]
    assert len(revealed) == PROGRAM.count("reveal_type")
    assert all("numpy.ndarray" in text or "_ArrayOrNumber" in text for text in revealed), run.stdout


def test_the_stub_is_that_of_the_functions() -> None:
    assert FILE.read_text() == text(), "run python -m tensorbackend.numpy.stub"


def test_the_stub_declares_each_function() -> None:
    tree = ast.parse(FILE.read_text())
    declared = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    declared |= {
        node.target.id for node in tree.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    assert {name for name in PUBLIC if "." not in name and name not in ("view", "sliding_window_view")} <= declared
