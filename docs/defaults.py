"""Compares the defaults and types of parameters that the site shows with those of the running package: `make docs`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from inspect import Parameter, signature
from pathlib import Path
from runpy import run_path
from typing import Any

import griffe


def main() -> int:
    """Return 1 if the site would show a wrong default, or one type for parameters that have several."""
    folder = Path(__file__).resolve().parent
    runtime = run_path(str(folder / "runtime.py"))
    package: Any = griffe.load(
        "tensorbackend",
        extensions=griffe.load_extensions(runtime["Runtime"]()),
        docstring_parser="numpy",
        docstring_options={"warnings": False},
        search_paths=[str(folder.parent)],
    )
    count, wrong = 0, list[str]()
    for function, entry in shown(package):
        value = runtime["value_of"](function)
        parameter = signature(value).parameters.get(entry.name) if callable(value) else None
        if parameter is None:
            continue
        count += 1
        text = "a required parameter" if entry.value is None else str(entry.value)
        if (entry.value is None) != (parameter.default is Parameter.empty) or not is_default(text, parameter, value):
            wrong.append(f"{function.path}: {entry.name} is shown as {text}, and is {parameter.default!r}")
    print(*wrong, f"{count} parameters, {len(wrong)} wrong defaults", sep="\n")
    return int(bool(wrong) or not count)


def shown(scope: Any) -> Iterator[tuple[Any, Any]]:
    """The functions of a package and the entries of their parameters."""
    for member in scope.members.values():
        if member.is_alias or member.name.startswith("_"):
            continue
        if member.is_module or member.is_class:
            yield from shown(member)
        elif member.is_function and member.docstring:
            for section in member.docstring.parsed:
                if section.kind is griffe.DocstringSectionKind.parameters:
                    yield from ((member, entry) for entry in section.value)


def is_default(text: str, parameter: Parameter, function: Any) -> bool:
    """Whether text that is evaluated where the function was written has the value of the default."""
    if parameter.default is Parameter.empty:
        return True
    try:
        value = eval(text, dict(vars(sys.modules[function.__module__])))
    except (NameError, SyntaxError):
        return False
    return bool(value is parameter.default or repr(value) == repr(parameter.default))


if __name__ == "__main__":
    sys.exit(main())
