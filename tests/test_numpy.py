"""The NumPy namespace as a whole: its names, its parameters, and what is said where a name is not there."""

from __future__ import annotations

import inspect
import subprocess
import sys
from types import ModuleType
from typing import Any

import numpy
import pytest

import tensorbackend.numpy as np
from tensorbackend.numpy.functions import PUBLIC
from tensorbackend.numpy.host_modules import advice

OF_NUMPY_ITSELF = {
    "core", "ctypeslib", "f2py", "show_runtime", "test", "rec", "strings", "dtypes", "matlib", "bit_generator",
    "get_bit_generator", "set_bit_generator", "mtrand",
}  # fmt: skip
"""Names that say something about NumPy's own build and generators."""


@pytest.mark.parametrize("space", ["", "linalg", "fft", "random", "testing"])
def test_each_name_of_numpys_is_there_or_refused_with_a_way_out(space: str) -> None:
    theirs: Any = getattr(numpy, space) if space else numpy
    ours: Any = getattr(np, space) if space else np
    missing = []
    for name in dir(theirs):
        if name.startswith("_") or name in OF_NUMPY_ITSELF or isinstance(getattr(theirs, name, None), ModuleType):
            continue
        if not hasattr(ours, name) and not (space == "" and advice(name)):
            missing.append(name)
    assert missing == []


WITH_OPTIONS_OF_THEIR_OWN = {"genfromtxt", "loadtxt", "savetxt", "array2string", "load", "printoptions"}
"""Functions that hand their options on to NumPy's."""


def parameters(function: Any) -> dict[str, inspect.Parameter]:
    """Return the parameters of a function."""
    return dict(inspect.signature(function).parameters)


@pytest.mark.parametrize("name", sorted(set(PUBLIC) - WITH_OPTIONS_OF_THEIR_OWN))
def test_parameters_have_numpys_names_order_and_kinds(name: str) -> None:
    space, _, short = name.rpartition(".")
    function = getattr(getattr(numpy, space) if space else numpy, short, None)
    if isinstance(function, numpy.ufunc):
        universal: Any = PUBLIC[name]
        assert (universal.nin, universal.nout) == (function.nin, function.nout)
    elif inspect.isfunction(function):
        theirs, ours = parameters(function), parameters(PUBLIC[name])
        assert set(theirs) - set(ours) <= {"like", "kwargs"}
        positional = [key for key, each in theirs.items() if each.kind is each.POSITIONAL_OR_KEYWORD]
        first = [key for key, each in ours.items() if each.kind is each.POSITIONAL_OR_KEYWORD]
        assert first[: len(positional)] == positional
    else:
        assert callable(PUBLIC[name])  # no function of NumPy's, or one without a signature


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_each_function_says_what_it_does(name: str) -> None:
    assert (PUBLIC[name].__doc__ or "").strip()
    assert PUBLIC[name].__module__.startswith("tensorbackend.numpy")


def test_universal_functions_have_their_methods_and_kinds() -> None:
    assert isinstance(np.add, np.ufunc)
    assert not isinstance(np.sum, np.ufunc)
    assert (np.add.nin, np.add.nout, np.add.identity) == (2, 1, 0)
    assert np.add.reduce([1, 2, 3]) == 6
    assert np.add.__name__ == "add"


def test_the_package_does_not_import_the_namespace() -> None:
    code = "import sys, tensorbackend; sys.exit('tensorbackend.numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        np.nonsense  # type: ignore[attr-defined] # noqa: B018
