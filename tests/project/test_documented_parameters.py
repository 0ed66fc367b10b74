"""What docstrings say of parameters is what signatures have: their defaults, their choices and their types.

`docs/shown.py` compares the built site with the signatures in the same way.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterator
from inspect import getdoc, signature
from types import ModuleType
from typing import Any, Literal, NamedTuple, get_args, get_origin

import pytest

import tensorbackend as tb
from tests.project.test_documentation import MODULES, functions

WORDS: dict[type, str] = {
    bool: r"\bbools?\b",
    int: r"\b(int|ints|float|number|scalar|axis|axes|Scalar|Tensor|array)\b",
    float: r"\b(float|floats|number|scalar|Scalar|Tensor|array)\b",
    str: r"\b(str|axis|mapping|dtype|DType)\b",
}
"""The words of which a documented type has one, by the type of the default."""


class Entry(NamedTuple):
    """One parameter of a docstring's section: parameters that are documented together are several entries."""

    name: str
    type: str
    default: str | None


def entries(function: Callable[..., Any]) -> Iterator[Entry]:
    """Yield the documented parameters of a function; "default -2 and -1" gives each of two its own."""
    text = getdoc(function) or ""
    section = re.search(r"^(?:Other )?Parameters\n-+\n(.*?)(?=^[A-Z][\w ]*\n-+$|\Z)", text, re.DOTALL | re.MULTILINE)
    for line in re.findall(r"^\S.*", section[1] if section else "", re.MULTILINE):
        names, _, rest = line.partition(" : ")
        kind, found, stated = rest.partition(", default ")
        parts = stated.split(" and ")
        listed = [name.strip().lstrip("*") for name in names.split(",")]
        for number, name in enumerate(listed):
            own = parts[number] if len(parts) == len(listed) else stated
            yield Entry(name, kind, own if found else None)


def evaluated(text: str, function: Callable[..., Any]) -> Any:
    """Return what a text means where the function is defined; a text that means nothing, itself."""
    try:
        return eval(text.strip("`"), {**vars(sys.modules[function.__module__]), "tb": tb, "pi": math.pi})
    except (NameError, SyntaxError):
        return text


def choices(annotation: Any, function: Callable[..., Any]) -> set[Any]:
    """Return the values of an annotation that is a `Literal`, or a name for one."""
    value = evaluated(annotation, function) if isinstance(annotation, str) else annotation
    return set(get_args(value)) if get_origin(value) is Literal else set()


def same(one: Any, other: Any) -> bool:
    """Return whether two defaults are one; 0 and 0.0 are, False and 0 are not."""
    if one is other or repr(one) == repr(other):
        return True
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (one, other))
    return numbers and bool(one == other)


def wrong(function: Callable[..., Any]) -> list[str]:
    """Return what a docstring says of parameters and the signature denies."""
    found = []
    for entry in entries(function):
        parameter = signature(function).parameters[entry.name]
        default = parameter.default
        if entry.default is not None and not same(evaluated(entry.default, function), default):
            found.append(f"{entry.name}: the default is said to be {entry.default}, and is {default!r}")
        listed = re.match(r"\{(.*)\}", entry.type)
        allowed = choices(parameter.annotation, function)
        if listed and allowed and allowed != {*evaluated(f"[{listed[1]}]", function)}:
            found.append(f"{entry.name}: the choices are said to be {entry.type}, and are {allowed}")
        if entry.type:
            found += [f"{entry.name}: {text}" for text in unfit(entry, default)]
    return found


def unfit(entry: Entry, default: Any) -> Iterator[str]:
    """Yield why a documented type does not fit a default."""
    said = entry.type if entry.default is None else f"{entry.type}, default"
    if default is None and not re.search(r"\b(optional|None|default|Any)\b", said):
        yield f"may be None, and is said to be {entry.type}"
    expected = WORDS.get(type(default))
    chosen = repr(default).replace("'", '"') in entry.type  # among the choices in braces
    if expected and not chosen and not re.search(rf"{expected}|\bAny\b|\|", entry.type):
        yield f"is said to be {entry.type}, and is {default!r} by default"


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_docstrings_say_the_defaults_choices_and_types_of_parameters(module: ModuleType) -> None:
    lies = {name: found for name, function in functions(module) if (found := wrong(function))}
    assert not lies


def test_many_parameters_are_compared() -> None:
    """A change of the docstrings' form must not leave the comparison without anything to compare."""
    seen = {id(function): function for module in MODULES for _, function in functions(module)}
    documented = [entry for function in seen.values() for entry in entries(function)]
    assert len(documented) > 2000
    assert sum(entry.default is not None for entry in documented) > 400
    assert sum(entry.type.startswith("{") for entry in documented) > 50


def test_a_planted_lie_is_found() -> None:
    def planted(
        first: int = 1, second: float = 0.5, third: bool = False, mode: Literal["a", "b"] = "b", last: str | None = None
    ) -> None:
        """Take parameters.

        Parameters
        ----------
        first, second : float, default 1
            Documented together: the second has another default.
        third : int, default False
            Another type.
        mode : {"a", "c"}, default "a"
            Another choice and another default.
        last : str
            May be None.
        """

    planted.__annotations__["mode"] = Literal["a", "b"]
    assert [lie.partition(":")[0] for lie in wrong(planted)] == ["second", "third", "mode", "mode", "mode", "last"]


def test_parameters_that_are_documented_together_have_their_own_defaults() -> None:
    both = {entry.name: entry.default for entry in entries(tb.nn.attention_weights)}
    assert (both["time"], both["axis"]) == ("-2", "-1")
    assert signature(tb.nn.attention_weights).parameters["time"].default == -2
