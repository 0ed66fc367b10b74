"""The code that hints name does what the other library's call does, on tensors of several axes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import tensorbackend as tb
from tensorbackend.errors.hints import advice, rows

from .recipe_cases import CASES, LABELS, PLACES, ROWS, SEGMENTS, TABLE, X, Y

FILLED = {
    "axis=...": "axis=0",
    "size=...": "size=2",
    "{0: size}": "{0: 2}",
    "'time': 12": "'time': 2",
    "function=...": "function=tb.square",
}
"""What a reader writes for what a hint leaves open."""


def hint(name: str) -> str:
    """The answer to a name that is looked for in `tb`, in a namespace or among the attributes of a tensor."""
    space, _, name = name.rpartition(".")
    text = advice(name, space) or ""
    for left_open, written in FILLED.items():
        text = text.replace(left_open, written)
    return text


def as_tensor(value: Any) -> Any:
    """Arrays and lists of numbers as tensors; a table has names."""
    if not isinstance(value, np.ndarray | list):
        return value
    tensor = tb.asarray(value)
    return tensor.rename(*TABLE) if tensor.shape == X.shape else tensor


@pytest.mark.parametrize("place", range(len(CASES)))
def test_the_code_that_a_hint_names_does_what_the_other_call_does(place: int) -> None:
    name, code, given, wanted = CASES[place]
    assert code in hint(name), hint(name)
    known = {"tb": tb, "scipy": scipy, "dx": 0.5, "spacing": 0.5, "n": 4, "sizes": (2, 2), "edges": as_tensor([25.0])}
    arrays = {"x": X, "y": Y, "labels": LABELS, "weights": LABELS, "places": PLACES, "segments": SEGMENTS}
    known |= {key: as_tensor(value) for key, value in (arrays | {"indices": ROWS, "updates": Y[:3]}).items()}
    known["tensors"] = [known["x"], known["y"]]
    for key, value in given.items():
        known[key] = eval(value, known) if isinstance(value, str) else as_tensor(value)
    found = eval(code, known)
    if isinstance(found, tuple):
        found = tb.stack(found)
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-6, atol=1e-12)


def test_the_components_of_a_table_are_as_the_hint_says() -> None:
    code, x = "tb.linalg.svd(x - tb.mean(x, axis=0), full_matrices=False).Vh", tb.asarray(X, names=TABLE)
    assert code in hint("pca") == hint("linalg.pca")
    found, wanted = np.asarray(eval(code, {"tb": tb, "x": x})), np.linalg.svd(X - X.mean(axis=0))[2]
    np.testing.assert_allclose(np.abs(found @ wanted.T), np.eye(3), atol=1e-12)  # their signs are free


def test_every_recipe_that_is_code_has_been_run() -> None:
    """A recipe is run, or is named here with the reason."""
    recipes = rows("recipes")
    conversions = {name for name in recipes if name.startswith("from_")}
    others = {"index_put_", "scatter_", "index_add_", "map_blocks", "segment_std", "nlargest", "welch", "pca"}
    same = {*recipes} - conversions - others - {name for name, _, _, _ in CASES}
    run = {hint(name) for name, _, _, _ in CASES}
    assert {name for name in same if hint(name) not in run} == set()
    assert others <= {*recipes}


def test_arrays_of_other_libraries_are_taken_as_the_hints_say() -> None:
    class Labelled:
        """What has the dims of xarray's arrays."""

        dims = TABLE

        def __array__(self, *arguments: Any, **options: Any) -> np.ndarray[Any, Any]:
            return X

    assert "tb.asarray(array), which keeps its dims as names" in hint("from_xarray")
    assert tb.asarray(Labelled()).names == TABLE
    for name in ("from_pandas", "from_dataframe", "from_polars"):
        assert re.search(r"tb\.asarray\(frame\.to_numpy\(\), names=\('row', 'column'\)\)", hint(name))
    assert tb.asarray(X, names=("row", "column")).names == ("row", "column")
    for name in ("from_jax", "from_cupy", "from_torch", "from_tensorflow", "from_array"):
        assert "tb.asarray(" in hint(name)
