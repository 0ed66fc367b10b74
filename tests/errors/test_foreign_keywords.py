"""The table of keywords of other libraries; `tests/declarations/test_signature_errors_guesses.py` has the errors."""

from __future__ import annotations

from inspect import isfunction, signature

import pytest

import tensorbackend as tb
from tensorbackend.declarations.signature_errors import adapt
from tensorbackend.errors import SignatureError
from tensorbackend.errors.foreign_keywords import (
    ARGUMENTS_OF,
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
    assert all(any(hasattr(space, name) for space in SPACES) for name in OF_CALLBACKS)
    assert all(hasattr(tb, name) for name in OF_FUNCTIONS)
    assert not any(hasattr(tb, name) for name in NO_KEYWORDS if name != "where")


def test_remedies_of_one_function_are_for_its_keywords_and_parameters() -> None:
    for function, keyword in OF_KEYWORDS:
        home = next(space for space in SPACES if hasattr(space, function))
        assert keyword not in signature(getattr(home, function)).parameters
    for function, parameter in ARGUMENTS_OF:
        home = next(space for space in SPACES if hasattr(space, function))
        assert parameter in signature(getattr(home, function)).parameters


def test_one_axis_has_one_name() -> None:
    named = [
        (space, name)
        for space in SPACES
        for name in dir(space)
        if isfunction(getattr(space, name))
        and not name.startswith("_")
        and {"name", "names"} & {*signature(getattr(space, name)).parameters} == {"name"}
    ]
    assert (tb, "stack") in named
    for space, name in named:
        if name != "expand_dims":  # it may make several axes
            with pytest.raises(SignatureError, match=f"^{name}: expected one name, got names="):
                adapt(getattr(space, name), (), {"names": ("a", "b")})
