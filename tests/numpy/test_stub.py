"""The stub that editors read says what the functions of the namespace say."""

from __future__ import annotations

import ast
from typing import Any

import pytest

import tensorbackend.numpy as np
from tensorbackend.numpy.functions import PUBLIC
from tensorbackend.numpy.stub import ARRAYS, FILE, TUPLES, text

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


def test_the_stub_is_that_of_the_functions() -> None:
    assert FILE.read_text() == text(), "run python -m tensorbackend.numpy.stub"


def test_the_stub_declares_each_function() -> None:
    tree = ast.parse(FILE.read_text())
    declared = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    declared |= {
        node.target.id for node in tree.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    assert {name for name in PUBLIC if "." not in name and name not in ("view", "sliding_window_view")} <= declared
