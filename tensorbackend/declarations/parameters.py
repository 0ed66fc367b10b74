"""The meanings of a function's parameters, read from the types of their annotations.

`Tensor | None`, `Optional[tb.Tensor]` and an alias of either are one type, so they mean the same. Most annotations are
texts. A text is evaluated with the globals of its function, once for all functions in which its names mean the same.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import CodeType, NoneType, UnionType
from typing import Any, ForwardRef, Literal, NamedTuple, TypeVar, Union, get_args, get_origin

from ..annotations import Meaning
from ..template import Template
from ..tensor import Tensor

Role = Literal["tensor", "tensors", "option", "key", "number"]
Kind = Literal["positional", "variadic", "keyword"]


class Parameter(NamedTuple):
    """One parameter of a callback or of a declared op."""

    name: str
    kind: Kind
    role: Role
    annotation: str
    """The annotation as it is written, without modules and quotes."""
    meaning: str = ""
    """The meaning of an option: `"axis"`, `"axes"`, `"sole axis"`, `"dtype"`, `"like"`; empty for any other."""
    optional: bool = False
    """Whether `None` is allowed."""
    type: Any = Any
    """The annotation's type, without `None` where it is optional; `Any` where there is none."""


class _AnnotationMeaning(NamedTuple):
    """The meaning of an annotation."""

    role: Role
    meaning: str
    optional: bool
    type: Any


def read_parameters(function: Callable[..., Any], first: int = 0, *, strict: bool = True) -> tuple[Parameter, ...]:
    """The parameters of a function, each with its role and meaning from the type of its annotation.

    It skips the `first` ones, such as `self` and the output template. If `strict`, an annotation must say whether the
    parameter takes tensors, as in a declared op: else it raises `TypeError`, as for an unknown name. If not, a
    parameter that may be a number or a tensor, as in a public function around ops, is an option, and so is one without
    annotation.

    >>> def scale(x: "Tensor", /, *, by: float = 2.0) -> "Tensor": ...
    >>> [(parameter.name, parameter.kind, parameter.role) for parameter in read_parameters(scale)]
    [('x', 'positional', 'tensor'), ('by', 'keyword', 'option')]
    """
    code = function.__code__
    variables, positional = code.co_varnames, code.co_argcount
    keyword = positional + code.co_kwonlyargcount
    names: list[tuple[str, Kind]] = [
        *((name, "positional") for name in variables[first:positional]),
        *((name, "variadic") for name in variables[keyword : keyword + 1] if code.co_flags & 0x04),
        *((name, "keyword") for name in variables[positional:keyword]),
    ]
    parameters = []
    for name, kind in names:
        annotation = function.__annotations__.get(name, Any)
        try:
            said = _said(annotation, function.__globals__)
        except TypeError as error:
            if not strict:
                parameters.append(Parameter(name, kind, "option", _plain(annotation)))
                continue
            raise TypeError(f"{function.__name__}: the parameter {name!r}: {error}") from None
        parameters.append(Parameter(name, kind, said.role, _plain(annotation), said.meaning, said.optional, said.type))
    return tuple(parameters)


def types_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The types of a function's annotations by parameter; `Any` for one with a name that is not known at run time."""
    types_by_name = {}
    for name, annotation in function.__annotations__.items():
        try:
            types_by_name[name] = _resolve(annotation, function.__globals__)
        except TypeError:
            types_by_name[name] = Any
    return types_by_name


def results(function: Callable[..., Any], parameter: str) -> int:
    """The number of templates that a parameter takes: 1 for the annotation `Template`, more for a tuple of several."""
    return max(1, get_args(_resolve(function.__annotations__[parameter], function.__globals__)).count(Template))


@cache
def _plain(annotation: object) -> str:
    """An annotation as text without modules: `tb.Tensor`, in quotes or not, is `Tensor`."""
    if annotation is Any:
        return ""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    return re.sub(r"\w+\.", "", text.strip("'\""))


# From a text to its type

_known: dict[tuple[object, ...], tuple[_AnnotationMeaning, tuple[Any, ...]]] = {}
"""The meanings of annotations, by their text and the identities of the objects that it names, because types take long
to hash. The objects are kept too, so that no other object gets one of these identities."""


def _said(annotation: Any, names: Mapping[str, Any]) -> _AnnotationMeaning:
    if not isinstance(annotation, str):
        return _read(annotation, names)
    meant = tuple(map(names.get, _code(annotation).co_names))
    key = (annotation, *map(id, meant))
    if key not in _known:
        _known[key] = _read(annotation, names), meant
    return _known[key][0]


@cache
def _code(text: str) -> CodeType:
    try:
        return compile(text.strip(), "<annotation>", "eval")
    except SyntaxError:
        raise TypeError(f"expected an annotation that is an expression, got {text!r}") from None


def _resolve(annotation: Any, names: Mapping[str, Any]) -> Any:
    """The type of an annotation: texts, also in quotes, are evaluated, and aliases are replaced."""
    while True:
        if isinstance(annotation, ForwardRef):
            annotation = annotation.__forward_arg__
        elif isinstance(annotation, str):
            annotation = _evaluate(annotation, names)
        elif isinstance(annotation, TypeVar) and annotation.__bound__ is not None:
            annotation = annotation.__bound__
        elif hasattr(annotation, "__value__"):  # of a `type` statement
            annotation = annotation.__value__
        else:
            return annotation


def _evaluate(text: str, names: Mapping[str, Any]) -> Any:
    code = _code(text)
    known = {name: names[name] for name in code.co_names if name in names}
    try:
        return eval(code, {"__builtins__": builtins, **known})
    except NameError as error:
        remedy = "import or define it at the top of the module, outside TYPE_CHECKING"
        raise TypeError(f"expected an annotation of known names, got {text!r}, in which {error}; {remedy}") from None


# From a type to its meaning


def _read(annotation: Any, names: Mapping[str, Any]) -> _AnnotationMeaning:
    """Reads the meaning of an annotation."""
    kind = _resolve(annotation, names)
    members, optional = [kind], False
    if get_origin(kind) in (Union, UnionType):
        members = [_resolve(member, names) for member in get_args(kind)]
        optional = NoneType in members or None in members
        members = [member for member in members if member not in (NoneType, None)]
    if len(members) == 1:
        sole = members[0]
        if get_origin(sole) in (Union, UnionType):  # an alias in an Optional
            inner = _read(sole, names)
            return inner._replace(optional=True)
        meaning = meaning_of(sole)
        if meaning == "tensor" or _is_tensor(sole):
            return _AnnotationMeaning("tensor", "", optional, sole)
        if meaning:
            return _AnnotationMeaning("option", meaning, optional, sole)
        if _is_sequence_of_tensors(sole, names) and not optional:
            return _AnnotationMeaning("tensors", "", False, sole)
        kind = sole
    if any(_holds_tensors(member, names) for member in members):
        expectation = "Tensor, Tensor | None, Sequence[Tensor] or an option without tensors"
        if any(member in (bool, int, float, complex) for member in members):
            remedy = "annotate Tensor, for which callers may pass a Python number"
        else:
            remedy = "give each tensor a parameter of its own, or take a Sequence[Tensor]"
        raise TypeError(f"expected {expectation} as annotation, got {_plain(annotation)}; {remedy}")
    return _AnnotationMeaning("option", "", optional, kind)


def meaning_of(kind: Any) -> str:
    """The meaning that a type has by its metadata, such as `"axis"`; empty for a type without one."""
    for note in getattr(kind, "__metadata__", ()):
        if isinstance(note, Meaning):
            return note.word
    return ""


def _is_tensor(kind: Any) -> bool:
    return isinstance(kind, type) and get_origin(kind) is None and issubclass(kind, Tensor | Template)


def _is_sequence_of_tensors(kind: Any, names: Mapping[str, Any]) -> bool:
    origin, arguments = get_origin(kind), get_args(kind)
    if not (origin is Sequence and len(arguments) == 1):
        return False
    element = _resolve(arguments[0], names)
    return meaning_of(element) == "tensor" or _is_tensor(element)


def _holds_tensors(kind: Any, names: Mapping[str, Any]) -> bool:
    """Whether a type contains tensors, other than as parameters or results of a function type."""
    kind = _resolve(kind, names)
    if meaning_of(kind) == "tensor" or _is_tensor(kind):
        return True
    origin = get_origin(kind)
    if origin is None or origin is Callable or origin is Literal or origin.__name__ == "Callable":
        return False
    return any(_holds_tensors(argument, names) for argument in get_args(kind))
