"""The table of keywords of other libraries; `tests/declarations/test_signature_errors.py` has the errors."""

from __future__ import annotations

from inspect import isfunction, signature

import tensorbackend as tb
from tensorbackend.errors.foreign_keywords import (
    KEYWORDS,
    MISSING,
    NAME_OF_AXIS,
    NO_KEYWORDS,
    OF_CALLBACKS,
    OF_FUNCTIONS,
    OF_KEYWORDS,
    parameter_for,
)

SPACES = (tb, tb.nn, tb.random, tb.linalg, tb.optimize, tb.solvers, tb.ragged)


def test_keywords_mean_parameters_that_exist() -> None:
    held = {
        parameter
        for space in SPACES
        for name in dir(space)
        if isfunction(getattr(space, name))
        for parameter in signature(getattr(space, name)).parameters
    }
    for keyword, meant in KEYWORDS.items():
        assert held & set(meant), keyword
    assert parameter_for("no_such", ["axis"]) is None


def test_functions_and_parameters_with_remedies_exist() -> None:
    for function, parameter in MISSING:
        home = next(space for space in (*SPACES, tb.sparse) if hasattr(space, function))
        assert parameter in signature(getattr(home, function)).parameters
    assert all(hasattr(tb, name) for name in NAME_OF_AXIS)
    for function, keyword in OF_KEYWORDS:
        home = next(space for space in SPACES if hasattr(space, function))
        assert keyword not in signature(getattr(home, function)).parameters
    assert all(any(hasattr(space, name) for space in SPACES) for name in OF_CALLBACKS)
    assert all(hasattr(tb, name) for name in OF_FUNCTIONS)
    assert not any(hasattr(tb, name) for name in NO_KEYWORDS if name != "where")
