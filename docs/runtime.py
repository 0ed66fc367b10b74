"""An extension of Griffe, which reads the package's source: adds to the reference what only the running package has.

Sections of an op's docstring are added when the op is declared, and the function that declares a primitive is a rule
on templates. The reference therefore shows the docstring, the types and the defaults of the function that users call.
"""

from __future__ import annotations

import re
from importlib import import_module
from inspect import Parameter, getattr_static, getdoc, signature
from typing import Any, Final

import griffe

from tensorbackend.docstrings.sections import ROOTS

COMPLETED: Final = tuple(f"tensorbackend.{package}." for package in ROOTS)
"""The packages whose docstrings are completed at run time."""

OF_RULES: Final = {
    "Template": "TensorLike",
    "Template | None": "TensorLike | None",
    "Sequence[Template]": "Sequence[TensorLike]",
}
"""The types that users pass, by the types that a rule takes."""


class Runtime(griffe.Extension):
    """Takes the docstrings and types of ops from the functions of the running package."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Completes the docstring of a module, class or function."""
        if obj.docstring is None:
            return
        module = obj.parent
        if isinstance(obj, griffe.Function) and isinstance(module, griffe.Module) and obj.path.startswith(COMPLETED):
            value = getattr(import_module(module.path), obj.name)
            obj.docstring.value = getdoc(value) or ""
            _retype(obj, value)
        obj.docstring.value = with_examples(obj.docstring.value)
        if isinstance(obj, griffe.Function):
            _set_defaults(obj)

    def on_class_members(self, *, cls: griffe.Class, **_: Any) -> None:
        """Lists the fields of a named tuple whose fields have no texts of their own."""
        if cls.docstring is not None and any(str(base).startswith("NamedTuple") for base in cls.bases):
            fields = [name for name, member in cls.members.items() if member.is_attribute]
            if not any(cls.members[name].docstring for name in fields):
                cls.docstring.value = with_text(cls.docstring.value, in_words(fields))


def in_words(fields: list[str]) -> str:
    """The fields of a named tuple, in a sentence.

    >>> in_words(["U", "S", "Vh"]), in_words(["hidden"])
    ('The fields are `U`, `S` and `Vh`, in this order.', 'The field is `hidden`.')
    """
    *others, last = [f"`{name}`" for name in fields]
    return f"The fields are {', '.join(others)} and {last}, in this order." if others else f"The field is {last}."


def with_examples(text: str) -> str:
    """A docstring with its examples moved into a section.

    >>> with_examples("One.\\n\\n>>> 1\\n1").splitlines()
    ['One.', '', 'Examples', '--------', '>>> 1', '1']
    """
    if re.search(r"^Examples\n-+$", text, re.MULTILINE):
        return text
    return re.sub(r"^>>> ", "Examples\n--------\n>>> ", text, count=1, flags=re.MULTILINE)


def with_text(docstring: str, text: str) -> str:
    """A docstring with a paragraph before its first section.

    >>> with_text("One.\\n\\nReturns\\n-------\\nint", "Two.").splitlines()
    ['One.', '', 'Two.', '', 'Returns', '-------', 'int']
    """
    section = re.search(r"^(?:[A-Z]\w+\n-{3,}$|>>> )", docstring, re.MULTILINE)
    place = section.start() if section else len(docstring)
    return f"{docstring[:place].rstrip()}\n\n{text}\n\n{docstring[place:]}".rstrip() if text else docstring


def _set_defaults(function: griffe.Function) -> None:
    """Gives each documented parameter its own default, and its own type where the docstring says none.

    Griffe gives parameters that are documented together those of the first, takes the first of some choices for the
    default, reads a type that is prose as a tuple, and gives `*args` an empty tuple by default.
    """
    value = value_of(function)
    if function.docstring is None or not callable(value):
        return
    parameters = signature(value).parameters
    for name in [parameter.name for parameter in function.parameters if parameter.name not in parameters]:
        del function.parameters[name]  # what a decorator fills in
    stated = {name.strip().lstrip("*"): kind for names, kind in _stated(function.docstring.value) for name in names}
    for section in function.docstring.parsed:
        for entry in section.value if section.kind is griffe.DocstringSectionKind.parameters else ():
            name = entry.name.lstrip("*")
            if name not in parameters:
                continue
            entry.value = default_text(parameters[name], str(function.parameters[name].default))
            if not stated.get(name):
                entry.annotation = function.parameters[name].annotation
            elif str(entry.annotation) != stated[name]:
                entry.annotation = stated[name]


def _stated(docstring: str) -> list[tuple[list[str], str]]:
    """The names and the type of each entry of the parameters of a docstring.

    >>> _stated('Add.\\n\\nParameters\\n----------\\na, b : {1, 2}, default 1\\n    Two.\\nc\\n    Any.')
    [(['a', ' b'], '{1, 2}'), (['c'], '')]
    """
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^[A-Z][\w ]*\n-+$|\Z)", docstring, re.DOTALL | re.MULTILINE)
    lines = [line.partition(" : ") for line in re.findall(r"^\S.*", section[1] if section else "", re.MULTILINE)]
    said = r"(, |^)(optional|default .*)$"
    return [(names.split(","), re.sub(said, "", kind)) for names, _, kind in lines]


def value_of(obj: griffe.Object) -> Any:
    """The function of the running package; `None` where a class has none, as one for type checkers alone."""
    value: Any = import_module(obj.module.path)
    for name in obj.path.removeprefix(obj.module.path + ".").split("."):
        value = getattr_static(value, name, None)  # a method, but not a bound one
    return getattr(value, "__func__", value)


def default_text(parameter: Parameter, source: str) -> str | None:
    """A default as users write it; the source's text for what is not a plain value.

    >>> def function(*rest, method="linear", rate=0.9, to=print): ...
    >>> [default_text(parameter, "print") for parameter in signature(function).parameters.values()]
    [None, '"linear"', '0.9', 'print']
    """
    default = parameter.default
    if default is Parameter.empty:
        return None
    if isinstance(default, str):
        return f'"{default}"'
    return repr(default) if default is None or isinstance(default, bool | int | float | tuple) else source


def _retype(declared: griffe.Function, value: Any) -> None:
    """Gives a primitive the types of its public function instead of those of its rule."""
    for parameter in declared.parameters:
        parameter.annotation = OF_RULES.get(str(parameter.annotation), parameter.annotation)
    if "Plan" in str(declared.returns):
        declared.returns = signature(value).return_annotation
