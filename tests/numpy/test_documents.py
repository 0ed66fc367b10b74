"""What `help` and `inspect.signature` show of the functions of the NumPy namespace."""

from __future__ import annotations

import inspect
import re
from operator import attrgetter
from typing import Any, Final

import numpy
import pytest

import tensorbackend.numpy as np
from tensorbackend.numpy.functions import PUBLIC

MORE: Final = {
    "array": ({"device"}, "the array API standard has it in asarray alone; ndmax is of newer versions of NumPy"),
    "astype": ({"casting"}, "the method has it"),
    "clip": ({"dtype"}, "one of NumPy's options that are not named there"),
    "einsum": ({"dtype", "order", "casting"}, "NumPy's options, which are not named there"),
    "reshape": ({"newshape"}, "the name of older versions of NumPy"),
}
"""The parameters of functions that NumPy does not show, and why they are there."""

NAMES: Final = {
    "arange": ({"start_or_stop": "start"}, "the name in the documentation of all versions before"),
}
"""Parameters of newer versions of NumPy under the names that all have, which take them by position alone."""

MISSING: Final = {
    "clip": ({"kwargs"}, "its options are those of universal functions"),
    "einsum": ({"kwargs"}, "they are named"),
    "argsort": ({"descending"}, "NumPy has it since 2.5"),
    "sort": ({"descending"}, "NumPy has it since 2.5"),
}


def _of_numpy(name: str) -> Any:
    """NumPy's function of a name, if it shows its parameters."""
    try:
        return inspect.signature(attrgetter(name)(numpy))
    except (AttributeError, TypeError, ValueError):  # a name of older versions; a function without a signature
        return None


COMPARED: Final = sorted(name for name in PUBLIC if _of_numpy(name) is not None)


@pytest.mark.parametrize("name", COMPARED)
def test_a_function_shows_numpys_parameters(name: str) -> None:
    others: dict[str, str] = NAMES.get(name, ({}, ""))[0]
    apart = {*MORE.get(name, ((), ""))[0], *MISSING.get(name, ((), ""))[0], *({"ndmax"} if name == "array" else ())}
    ours, theirs = list(inspect.signature(PUBLIC[name]).parameters), list(_of_numpy(name).parameters)
    assert [each for each in ours if each not in apart] == [
        others.get(each, each) for each in theirs if each not in apart
    ]


def test_most_functions_are_compared() -> None:
    assert len(COMPARED) > 300
    assert {*MORE, *NAMES, *MISSING} <= {*PUBLIC}


@pytest.mark.parametrize("name", PUBLIC)
def test_a_docstring_has_the_parameters_that_the_function_takes(name: str) -> None:
    text = inspect.getdoc(PUBLIC[name]) or ""
    summary, _, rest = text.partition("\n\nParameters\n----------\n")
    assert summary
    assert "x : Tensor" not in text
    section = re.split(r"\n\n[A-Z]\w+\n-+\n", rest)[0]
    named = [each.strip("*") for line in section.splitlines() if line[:1].strip()
             for each in line.split(" : ")[0].removesuffix(", optional").split(", ")]  # fmt: skip
    assert {*named} <= {*inspect.signature(PUBLIC[name]).parameters}
    assert len(named) == len(inspect.signature(PUBLIC[name]).parameters) or name in ("array", "asarray")


def test_help_of_a_sum() -> None:
    assert list(inspect.signature(np.sum).parameters) == [
        "a", "axis", "dtype", "out", "keepdims", "initial", "where",
    ]  # fmt: skip
    assert (np.sum.__doc__ or "").startswith("Sum")
    assert list(inspect.signature(np.matmul).parameters)[2:6] == ["out", "axes", "axis", "keepdims"]
    assert "delimiter" in inspect.signature(np.loadtxt).parameters
