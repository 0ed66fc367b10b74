"""Docstrings of ops are completed where an op is declared: the sections that it does not have are put together
from words that ops share.

    >>> def floor(x: "Template", /) -> "Plan":
    ...     '''Greatest integral value not above x.'''
    >>> floor.__module__ = "tensorbackend.ops.elementwise.unary"
    >>> print(completed(floor))
    Greatest integral value not above x.
    <BLANKLINE>
        Parameters
        ----------
        x : Tensor
            A tensor, a Python number or an array.
    <BLANKLINE>
        Returns
        -------
        Tensor
            Of the shape and with the names of x, in its dtype unless the summary says otherwise.
    <BLANKLINE>

So `help` and a reference show them. What a module elsewhere declares stays as it is.

A key of the words is the name of an op, of the module that declares it, or of its family; the empty one is for all ops.
The first that has the word says it, in this order; keys for functions of `ragged` begin with that. An op of which there
is more to say has the section in its own docstring.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeVar

from . import arrays, numerics
from .results import RETURNS

TYPES: Final[Mapping[str, str]] = {
    "Axes": "int, str or a sequence of them",
    "Axis": "int or str",
    "Axis | Sequence[Axis]": "int, str or a sequence of them",
    "BackendLike": "Backend, class or str",
    "Batch": "int, str or a sequence of them",
    "DTypeLike": "DType or str",
    "Leftover": '{"keep", "discard", "repeat"}',
    "Like": "Tensor",
    "Mode": '{"error", "clip", "fill"}',
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
    'Literal["reduced", "complete"]': '{"reduced", "complete"}',
}
"""What a docstring calls the type of an annotation, where that is not its own text."""

PARAMETERS: Final = {**arrays.PARAMETERS, **numerics.PARAMETERS}
"""For each key what is said of some parameters, by their names."""

Function = TypeVar("Function", bound=Callable[..., Any])

_OPS, _RAGGED = "tensorbackend.ops.", "tensorbackend.ragged."


def described(function: Function) -> Function:
    """A public function around ops with the sections that `completed` gives its docstring."""
    function.__doc__ = completed(function)
    return function


def completed(function: Callable[..., Any], returned: str = "Tensor") -> str | None:
    """The docstring of an op with sections for its parameters and its result.

    Parameters
    ----------
    function : Callable
        A function that declares an op, or one around ops.
    returned : str, default "Tensor"
        The type of the result, where the function's annotation does not say it.

    Returns
    -------
    str or None
        The docstring. It is the function's own where that has the sections, where there are no words for one of the
        parameters or for the result, and for a function of another package.

    Examples
    --------
    >>> completed(completed) == completed.__doc__
    True
    """
    text, module = function.__doc__, function.__module__
    if text is None or not module.startswith((_OPS, _RAGGED)):
        return text
    scopes = _scopes(function.__name__.lstrip("_"), module)
    if "    Parameters\n" not in text:
        text = _with_section(text, "Parameters", _parameters(function, scopes), ("Returns", "Raises", "Examples"))
    if "    Returns\n" not in text:
        said = next((RETURNS[scope] for scope in scopes if scope in RETURNS), None)
        kind = function.__annotations__.get("return", "Plan")
        kind = {"Plan": returned, "Any": "Ragged or Tensor"}.get(kind, kind)
        kind = kind if isinstance(kind, str) else kind.__name__
        lines = None if said is None else [f"    {kind}\n{_wrapped(said)}"]
        text = _with_section(text, "Returns", lines, ("Raises", "Examples"))
    return text


def _scopes(name: str, module: str) -> tuple[str, ...]:
    """The keys under which words for a function may stand, the closest first."""
    if module.startswith(_RAGGED):
        path = module[len(_RAGGED) - len("ragged.") :]
        return f"{path}.{name}", path, "ragged"
    path = module[len(_OPS) :].removeprefix("composite.")
    return f"{path}.{name}", name, path.rpartition(".")[2], path.partition(".")[0], ""


def _parameters(function: Callable[..., Any], scopes: tuple[str, ...]) -> list[str] | None:
    """An entry for each parameter; `None` where words are lacking."""
    found = []
    known = [PARAMETERS[scope] for scope in scopes if scope in PARAMETERS]
    for name, stars, kind, default in _signature(function):
        said = next((words[name] for words in known if name in words), None)
        if said is None:
            return None
        found.append(f"    {stars}{name}{kind}{default}\n{_wrapped(said)}")
    return found


def _signature(function: Callable[..., Any]) -> Iterator[tuple[str, str, str, str]]:
    """Of each parameter its name with the stars before it, its type and its default."""
    code, given = function.__code__, function.__defaults__ or ()
    annotations: Mapping[str, Any] = function.__annotations__
    names, positional = code.co_varnames, code.co_argcount
    last = positional + code.co_kwonlyargcount
    defaults: dict[str, Any] = dict(zip(names[positional - len(given) : positional], given, strict=True))
    defaults.update(function.__kwdefaults__ or {})
    order = [(name, "") for name in names[:positional]]
    if code.co_flags & 0x04:
        order.append((names[last], "*"))
    order += [(name, "") for name in names[positional:last]]
    if code.co_flags & 0x08:
        order.append((names[last + bool(code.co_flags & 0x04)], "**"))
    for name, stars in order:
        kind = str(annotations.get(name, ""))
        optional = kind.removesuffix(" | None")
        default = ""
        if name in defaults:
            default = ", optional" if defaults[name] is None else f", default {_shown(defaults[name])}"
        yield name, stars, f" : {TYPES.get(optional, optional)}" if kind else "", default


def _wrapped(text: str, width: int = 112) -> str:
    """Words in lines of a docstring."""
    lines = []
    while len(text) > width:
        end = text.rindex(" ", 0, width)
        lines.append(f"        {text[:end]}\n")
        text = text[end + 1 :]
    return f"{''.join(lines)}        {text}"


def _shown(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _with_section(text: str, title: str, entries: list[str] | None, after: tuple[str, ...]) -> str:
    """A docstring with one section more, before those that come after it."""
    if not entries:
        return text
    section = "\n".join((f"    {title}", f"    {'-' * len(title)}", *entries, "", ""))
    for following in after:
        start = text.find(f"    {following}\n    -")
        if start >= 0:
            return text[:start] + section + text[start:]
    head, example, rest = text.partition("    >>> ")
    if not example:
        return f"{text.rstrip()}\n\n{section}    "
    return f"{head}{section}    Examples\n    --------\n{example}{rest}"
