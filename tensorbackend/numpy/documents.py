"""The signatures and docstrings that `help` shows: a summary, and the parameters that a function takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from operator import attrgetter
from types import MethodType
from typing import Any, Final

import numpy

from ..docstrings import REQUIRED, parameters_of
from .host_arrays import show_signature

_MEANINGS: Final = {
    "a": "The array, or what `np.asarray` takes.",
    "arr": "The array.",
    "ary": "The array.",
    "arrays": "The arrays.",
    "arys": "The arrays.",
    "tup": "The arrays, in a sequence.",
    "b": "Another array.",
    "x": "The array, or a number.",
    "x1": "An array, or a number.",
    "x2": "An array, or a number, that broadcasts with the first.",
    "axes": "Axes by their positions.",
    "axis": "An axis by its position, or several in a tuple where that has a meaning.",
    "allow_pickle": "Whether objects may be read or written.",
    "assume_unique": "Whether the elements are known to differ.",
    "bins": "The number of bins, their edges, or the name of a rule.",
    "casting": "Which casts are allowed, by NumPy's rule of this name.",
    "condition": "An array of bools.",
    "copy": "Whether to copy.",
    "ddof": "What is subtracted from the number of elements before it divides.",
    "correction": "The same as `ddof`.",
    "device": "A device of the backend.",
    "dtype": "The dtype, as anything that `np.dtype` takes.",
    "endpoint": "Whether the end is part of the result.",
    "equal_nan": "Whether NaNs are equal.",
    "file": "A file or its path.",
    "fname": "A file or its path.",
    "hermitian": "Whether the matrix is Hermitian.",
    "indices": "Integers.",
    "initial": "A number that the reduction starts from.",
    "k": "The number of the diagonal, 0 for the main one.",
    "keepdims": "Whether reduced axes stay, with size 1.",
    "kind": "Ignored where NumPy has several algorithms.",
    "like": "Ignored.",
    "mean": "The mean, if it is known.",
    "mode": "What happens at the ends, or to indices outside, by NumPy's word for it.",
    "norm": "The norm, by its name or order.",
    "num": "The number of elements.",
    "order": 'The order of the axes in memory: `"C"`, `"F"`, `"A"` or `"K"`.',
    "out": "An array to write the result to, which is then returned.",
    "overwrite_input": "Ignored.",
    "shape": "The size of each axis.",
    "signature": "The dtypes to compute in.",
    "subok": "Ignored, as there are no subclasses.",
    "weights": "A weight for each element.",
    "where": "An array of bools: which elements are computed with.",
}
"""What a parameter means in each function that has one of this name."""


def summary_of(function: Any) -> str:
    """The first paragraph of a function's docstring."""
    return _text(function).partition("\n\n")[0]


def document(function: Callable[..., Any], name: str) -> None:
    """Gives a public function NumPy's signature if it passes its arguments on, and a docstring of its parameters."""
    made: Any = getattr(function, "__func__", function)  # of one that does not bind
    parameters = _parameters(function)
    if any(parameter == "arguments" for _, parameter, _ in parameters):
        of_numpy = inspect.signature(attrgetter(name)(numpy))
        bare = [each.replace(annotation=inspect.Parameter.empty) for each in of_numpy.parameters.values()]
        returned = inspect.unwrap(function).__annotations__["return"]
        given = of_numpy.replace(parameters=bare, return_annotation=returned)
        show_signature(function, given)
        parameters = _parameters_shown(given)
    text = _text(function)
    if not parameters or "\nParameters\n---" in text:
        return
    lines = [text, "", "Parameters", "----------"]
    for star, parameter, default in parameters:
        lines.append(f"{star}{parameter}{'' if default is REQUIRED else ', optional'}")
        if parameter in _MEANINGS:
            lines.append(f"    {_MEANINGS[parameter]}")
    made.__doc__ = "\n".join(lines) + "\n"


def _text(function: Any) -> str:
    text = function.__doc__ or ""
    return inspect.cleandoc(text) if "\n" in text else text


def _parameters(function: Any) -> list[tuple[str, str, Any]]:
    """The parameters of a function as `parameters_of` gives them, of one whose code is another as it shows them."""
    shown = getattr(function, "__signature__", None)
    if isinstance(function, MethodType):
        shown = inspect.signature(function)
    return parameters_of(inspect.unwrap(function)) if shown is None else _parameters_shown(shown)


def _parameters_shown(given: inspect.Signature) -> list[tuple[str, str, Any]]:
    return [
        (_STARS.get(each.kind, ""), each.name, REQUIRED if each.default is inspect.Parameter.empty else each.default)
        for each in given.parameters.values()
    ]


_STARS: Final[dict[Any, str]] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
