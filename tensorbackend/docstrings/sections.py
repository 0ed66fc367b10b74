"""Completes docstrings of ops where they are declared: adds missing sections, from descriptions that ops share.

    >>> from inspect import cleandoc
    >>> def floor(x: Template, /) -> Plan:
    ...     '''Largest integral value not above x.'''
    >>> floor.__module__ = "tensorbackend.ops.elementwise.basic"
    >>> print(cleandoc(complete_docstring(floor)))
    Largest integral value not above x.
    <BLANKLINE>
    Parameters
    ----------
    x : Tensor
        A tensor, a Python number or an array.
    <BLANKLINE>
    Returns
    -------
    Tensor
        A tensor with the shape and names of x, in the dtype of x unless the text above says otherwise.

So `help` and the reference show these sections. Docstrings of functions of other modules are not changed.

The descriptions are stored under keys: the name of an op, of the module that declares it, or of its family; the empty
key is for all ops. The keys are tried in this order, and the first that has the description is used. For functions of
`ragged`, `nn`, `optimize` and other packages the keys begin with that word; for functions of `expr` the key is the
module's name. A docstring that describes some of the parameters is completed with the others; what it says itself
stays. Examples that call the package as `tb` begin with its import.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from functools import cache
from inspect import cleandoc
from typing import Any, Final, TypeVar

from ..errors.tracebacks import name_in_errors
from . import arrays, numerics
from .results import RAISES, RETURNS

TYPES: Final[Mapping[str, str]] = {
    "Axes": "int, str or a sequence of them",
    "Axis": "int or str",
    "Axis | Sequence[Axis]": "int, str or a sequence of them",
    "BackendLike": "Backend, class or str",
    "Batch": "int, str or a sequence of them",
    "DTypeLike": "DType or str",
    "MeshAxes": "str or sequence of str",
    "Leftover": '{"keep", "discard", "repeat"}',
    "Like": "Tensor",
    "Mode": '{"error", "clip", "fill"}',
    "NamesLike": "sequence of str or None",
    "Norm": '{"backward", "ortho", "forward"}',
    "OfOne": "function of a tensor",
    "OfTwo": "function of two tensors",
    "Order": "float or str",
    "Paddings": "str, sequence or mapping",
    "PerAxis": "int, sequence of int or mapping",
    "RandomMode": '{"low", "high"}',
    "Side": '{"left", "right"}',
    "Ragged | Tensor": "Ragged or Tensor",
    "SoleAxis": "int or str",
    "Template": "Tensor",
    "TensorLike": "Tensor",
    "TieBreak": '{"low", "high"}',
    "DTypeLike | str | tuple[DTypeLike | str, ...]": "DType, str or tuple of them",
    "Format": '{"coo", "csr", "csc"}',
    "Literal['reduced', 'complete']": '{"reduced", "complete"}',
    "Sequence[Axis]": "sequence of int or str",
    "Sequence[Template]": "sequence of Tensor",
    "Sequence[Tensor]": "sequence of Tensor",
    "Sequence[TensorLike]": "sequence of Tensor",
    "Sequence[int]": "sequence of int",
    "Sequence[int] | int": "int or sequence of int",
    "Sequence[str]": "sequence of str",
    "Sequence[str | None]": "sequence of str or None",
    "Tensor | DTypeLike": "Tensor, DType or str",
    "Tensor | DTypeLike | Scalar": "Tensor, DType, str or number",
    "M": "SparseMatrix",
    "Mask": "tree of bools, or function",
    "float | Schedule": "float or schedule",
    "float | Sequence[float] | Tensor": "float, sequence of float or Tensor",
    "int | Sequence[int]": "int or sequence of int",
    "int | Sequence[float] | Tensor": "int, sequence of float or Tensor",
    "int | str": "int or str",
    "int | tuple[Sequence[Axis], Sequence[Axis]]": "int or pair of sequences of axes",
    "str | Sequence[str | None]": "str or sequence of str or None",
    "tuple[float, float]": "pair of floats",
    "tuple[int, ...]": "tuple of int",
}
"""What docstrings show for annotations, where that is not the text of the annotation."""

PARAMETERS: Final = {**arrays.PARAMETERS, **numerics.PARAMETERS}
"""For each key, the descriptions of parameters by their names."""

Function = TypeVar("Function", bound=Callable[..., Any])

_PACKAGE, _OPS = "tensorbackend.", "tensorbackend.ops."
ROOTS: Final = {"expr": "", "ops": "", "sampling": "random"} | {
    name: name for name in ("files", "looped", "nn", "optimize", "quantized", "ragged", "select", "solvers", "sparse")
}
"""The packages whose docstrings are completed, with the key that all functions of each have."""

_ORDER: Final = ("Parameters", "Returns", "Raises", "Warns", "See Also", "Notes", "References", "Examples")
"""The sections in which a new one finds its place."""
_MARGIN: Final = "" if sys.version_info >= (3, 13) else "    "
"""The indentation of the lines of a docstring after the first; Python 3.13 removes it."""
_WIDTH: Final = 112
"""The longest line of a description."""
_ENTRY: Final = re.compile(rf"^{_MARGIN}(?=\S)", re.MULTILINE)
"""Where an entry of a section begins."""


def document(function: Function) -> Function:
    """Completes the docstring of a public function of ops (`complete_docstring`), names it in errors; returns it."""
    function.__doc__ = complete_docstring(function)
    return name_in_errors(function)


def as_compiled(text: str) -> str:
    """An indented docstring as Python keeps one: from 3.13 on without the margin."""
    return text if _MARGIN else cleandoc(text)


def complete_docstring(function: Callable[..., Any], returned: str = "Tensor") -> str | None:
    """The docstring of an op with sections for its parameters and its result.

    `returned` is the type of the result where the annotation does not say it. A section is not added if the docstring
    has it, or if the result or one of the parameters has no description. The docstring of a function of another package
    is returned unchanged.

    >>> complete_docstring(complete_docstring) == complete_docstring.__doc__
    True
    """
    text, module = function.__doc__, function.__module__
    if text is None or not module.startswith(_PACKAGE):
        return text
    text = _with_import(text)
    if module.split(".")[1] not in ROOTS:
        return text
    scopes = _scopes(function.__name__.lstrip("_"), module)
    text = _with_entries(text, "Parameters", _parameters(function, scopes))
    if f"{_MARGIN}Returns\n" not in text:
        said = next((RETURNS[scope] for scope in scopes if scope in RETURNS), None)
        lines = None if said is None else [f"{_MARGIN}{_kind(function, returned)}\n{_wrap_lines(said)}"]
        text = _insert_section(text, "Returns", lines)
    raised: Mapping[str, str] = next((RAISES[scope] for scope in scopes if scope in RAISES), {})
    return _with_entries(text, "Raises", {kind: f"{_MARGIN}{kind}\n{_wrap_lines(raised[kind])}" for kind in raised})


def _with_import(text: str) -> str:
    """A docstring whose examples import the package, if they use it."""
    head, prompt, examples = text.partition(">>> ")
    if "tb." not in examples or "tensorbackend as tb\n" in examples:
        return text
    margin = head.rpartition("\n")[2]
    return f"{head}>>> import tensorbackend as tb\n{margin}{prompt}{examples}"


def _kind(function: Callable[..., Any], returned: str) -> str:
    """The type of the result: the function's annotation, or `returned` for a rule, which returns a plan."""
    kind = function.__annotations__.get("return", "Plan")
    text: str = kind if isinstance(kind, str) else kind.__name__
    return {"Plan": returned, "Any": "Ragged or Tensor"}.get(text, text)


def _scopes(name: str, module: str) -> tuple[str, ...]:
    """The keys under which descriptions for a function may be stored, the most specific first."""
    path = module.removeprefix(_PACKAGE)
    if path.startswith("ops."):
        path = path.removeprefix("ops.").removeprefix("composite.")
        return f"{path}.{name}", name, path.rpartition(".")[2], path.partition(".")[0], ""
    if path.startswith("expr."):
        return (path.rpartition(".")[2],)
    return f"{path}.{name}", path, ROOTS[path.partition(".")[0]]


def _parameters(function: Callable[..., Any], scopes: tuple[str, ...]) -> dict[str, str | None]:
    """An entry for each parameter by its name; `None` for one without a description."""
    known = [PARAMETERS[scope] for scope in scopes if scope in PARAMETERS]
    entries: dict[str, str | None] = {}
    of_rule = function.__annotations__.get("return") == "Plan"  # a rule has templates for operands
    for star, name, value in parameters_of(function):
        if function.__annotations__.get(name) == "Never":  # taken to be refused
            continue
        words = next((words for words in known if name in words), None)
        if words is None:
            entries[f"{star}{name}"] = None
            continue
        kind = function.__annotations__.get(name, "")
        default = "" if value is REQUIRED else _default(value)
        typed = " : Template" if kind == "Template" and not of_rule else _type_suffix(kind)
        entries[f"{star}{name}"] = f"{_MARGIN}{star}{name}{typed}{default}\n{_wrap_lines(words[name])}"
    return entries


REQUIRED: Final = object()
"""In place of the default of a parameter that has none."""


def parameters_of(function: Callable[..., Any]) -> list[tuple[str, str, Any]]:
    """The parameters of a function: stars, name and default. `inspect` takes long to make its objects.

    >>> def take(x, *rest, axis=None, **options): ...
    >>> [(star, name) for star, name, _ in parameters_of(take)]
    [('', 'x'), ('*', 'rest'), ('', 'axis'), ('**', 'options')]
    """
    code = function.__code__
    names, positional = code.co_varnames, code.co_argcount
    last = positional + code.co_kwonlyargcount
    given = function.__defaults__ or ()
    defaults: dict[str, Any] = dict(zip(names[positional - len(given) : positional], given, strict=True))
    defaults.update(function.__kwdefaults__ or {})
    starred = iter(names[last:])
    order = [("", name) for name in names[:positional]]
    if code.co_flags & 0x04:
        order.append(("*", next(starred)))
    order += [("", name) for name in names[positional:last]]
    if code.co_flags & 0x08:
        order.append(("**", next(starred)))
    return [(star, name, defaults.get(name, REQUIRED)) for star, name in order]


@cache
def _type_suffix(annotation: Any) -> str:
    """The type of a parameter, as written after the name."""
    kind = str(annotation).removesuffix(" | None")
    return f" : {TYPES.get(kind, kind)}" if kind else ""


def _default(value: Any) -> str:
    """The default of a parameter, as written after the type."""
    if value is None:
        return ", optional"
    return f', default "{value}"' if isinstance(value, str) else f", default {value!r}"


@cache
def _wrap_lines(text: str) -> str:
    """A description, wrapped into indented lines of a docstring."""
    lines = []
    while len(text) > _WIDTH:
        end = text.rindex(" ", 0, _WIDTH)
        lines.append(text[:end])
        text = text[end + 1 :]
    return "\n".join(f"{_MARGIN}    {line}" for line in (*lines, text))


def _with_entries(text: str, title: str, entries: Mapping[str, str | None]) -> str:
    """A docstring whose section of parameters or errors has the entries that it does not have itself, in their order.

    It is unchanged where one of them has no description.
    """
    head, found, rest = text.partition(f"{_MARGIN}{title}\n{_MARGIN}{'-' * len(title)}\n")
    own, _, tail = rest.partition("\n\n") if found else ("", "", "")
    said = {name: part for part in _ENTRY.split(own)[1:] for name in part.split("\n")[0].split(" : ")[0].split(", ")}
    said = {name.strip(): f"{_MARGIN}{part.rstrip()}" for name, part in said.items()}
    parts = [said.get(name, entry) for name, entry in entries.items()] + [
        part for name, part in said.items() if name not in entries
    ]
    if None in parts or {*entries} <= {*said}:
        return text
    lines = [part for part in dict.fromkeys(parts) if part is not None]
    return _insert_section(head + tail if found else text, title, lines)


def _insert_section(text: str, title: str, entries: list[str] | None) -> str:
    """A docstring with one more section, in front of those that come after it and the examples."""
    if not entries:
        return text
    section = "\n".join((f"{_MARGIN}{title}", f"{_MARGIN}{'-' * len(title)}", *entries, "", ""))
    starts = [text.find(f"{_MARGIN}{other}\n{_MARGIN}-") for other in _ORDER[_ORDER.index(title) + 1 :]]
    start = min((start for start in starts if start >= 0), default=-1)
    if start >= 0:
        return text[:start] + section + text[start:]
    head, example, rest = text.partition(f"\n{_MARGIN}>>> ")
    if not example:
        return f"{text.rstrip()}\n\n{section}{_MARGIN}"
    return f"{head}\n{section}{_MARGIN}Examples\n{_MARGIN}--------{example}{rest}"
