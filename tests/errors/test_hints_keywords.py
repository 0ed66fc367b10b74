"""The table of keywords of other libraries; `tests/declarations/test_signature_errors_guesses.py` has the errors."""

from __future__ import annotations

from importlib import import_module
from inspect import isfunction, signature

import pytest

import tensorbackend as tb
from tensorbackend.declarations.signature_errors import adapt
from tensorbackend.errors import SignatureError
from tensorbackend.errors.hints import parameter_for, rows

SPACES = (tb, tb.nn, tb.random, tb.linalg, tb.optimize, tb.solvers, tb.ragged, tb.fft)


def pairs(section: str) -> list[list[str]]:
    """The function and the keyword of each hint of a section."""
    return [name.split(".") for name in rows(section)]


def test_keywords_mean_parameters_that_exist() -> None:
    held = {
        parameter
        for space in SPACES
        for name in dir(space)
        if isfunction(getattr(space, name))
        for parameter in signature(getattr(space, name)).parameters
    }
    for keyword, meant in rows("keywords.meant").items():
        assert held & set(meant.split(", ")), keyword
    assert parameter_for("no_such", ["axis"]) is None


def test_functions_and_parameters_with_remedies_exist() -> None:
    for function, parameter in pairs("arguments.missing"):
        home = next(space for space in (*SPACES, tb.sparse) if hasattr(space, function))
        assert parameter in signature(getattr(home, function)).parameters
    assert all(hasattr(tb, name) for name in rows("arguments.new_axis"))
    assert all(any(hasattr(space, name) for space in SPACES) for name in rows("arguments.callback"))
    assert all(hasattr(tb, name) for name in rows("arguments.tensor"))
    assert not any(hasattr(tb, name) for name in rows("keywords.of_none") if name != "where")


def test_remedies_of_one_function_are_for_its_keywords_and_parameters() -> None:
    for function, keyword in pairs("keywords.of_functions"):
        home = next(space for space in SPACES if hasattr(space, function))
        assert keyword not in signature(getattr(home, function)).parameters
    for function, parameter in pairs("arguments.wrong"):
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


@pytest.mark.parametrize("name", ["numpy", "numpy.linalg", "numpy.fft", "jax.numpy", "scipy.fft", "scipy.linalg"])
def test_keywords_of_functions_of_the_same_name_have_remedies(name: str) -> None:
    """Nine of ten, as a few are of one library's own machinery."""
    theirs, answered, left = import_module(name), 0, []
    for word in dir(theirs):
        ours = next((found for space in SPACES if isfunction(found := getattr(space, word, None))), None)
        if ours is None or word.startswith("_"):
            continue
        try:
            parameters = signature(getattr(theirs, word)).parameters.values()
        except (TypeError, ValueError):
            continue
        own = signature(ours).parameters
        arguments = [tb.ones((2, 2)) for p in own.values() if p.default is p.empty and p.kind < p.VAR_POSITIONAL]
        for p in parameters:
            if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is not p.empty and p.name not in own:
                with pytest.raises(SignatureError) as caught:
                    adapt(ours, arguments, {p.name: p.default})
                answered += (told := "; " in str(caught.value))
                left += [] if told else [f"{word}({p.name}=)"]
    assert len(left) <= 0.1 * (answered + len(left)), left
