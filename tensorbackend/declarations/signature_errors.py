"""Errors of calls that a function's signature does not take, with what the user may have meant.

Python raises its own error before a function runs, so a public function takes such arguments and passes them on here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Never

from ..dtypes import uint32
from ..errors import SignatureError, expected, shown
from ..errors.hints import parameter_for, rows
from ..template import Template
from ..tensor import Tensor
from .argument_kinds import fits
from .parameters import types_of

if TYPE_CHECKING:
    from inspect import Signature


def adapt(function: Callable[..., Any], arguments: Sequence[Any], keywords: Mapping[str, Any]) -> dict[str, Any] | None:
    """The keywords of a call with `name=` in place of `names=`; `None` if the signature takes the call as it is.

    Raises `SignatureError` if the signature does not take the call.

    >>> import tensorbackend as tb
    >>> adapt(tb.stack, ([],), {"names": "batch"})
    {'name': 'batch'}
    """
    from inspect import signature  # slow to import, and only an error needs it

    taken = signature(function)
    # What a quick function takes by hand, as `**unknown: Never`, it takes only to bring it here.
    taken = taken.replace(parameters=[p for p in taken.parameters.values() if p.annotation not in ("Never", Never)])
    try:
        taken.bind(*arguments, **keywords)
    except TypeError:
        renamed = dict(keywords)
        if "names" in renamed and {"name", "names"} & {*taken.parameters} == {"name"} and "name" not in renamed:
            names = renamed.pop("names")
            several = isinstance(names, list | tuple) and function.__name__ != "expand_dims"
            if several and len(names) != 1:
                remedy = "write name=, and name the other axes with rename()"
                raise SignatureError(expected("one name", remedy, names=names)).named(name_of(function)) from None
            renamed["name"] = names[0] if several else names
            return adapt(function, arguments, renamed) or renamed
        raise _error(function, taken, arguments, keywords).named(name_of(function)) from None
    return None


def check_handed_on(
    caller: Callable[..., Any], function: object, keywords: Mapping[str, Any], arguments: Sequence[Any] = ()
) -> None:
    """Raise `SignatureError` for what a caller would hand on to a function that does not take it.

    >>> import tensorbackend as tb
    >>> check_handed_on(tb.dry_run, lambda x: x, {"grad": True})
    Traceback (most recent call last):
    tensorbackend.errors.SignatureError: dry_run: expected keywords among gradient, mesh, layout, machine, fits, \
donate, or of the function, got grad=True; write gradient=True
    """
    from inspect import signature  # slow to import

    try:
        taken = [*signature(function).parameters.values()] if callable(function) else []
    except (TypeError, ValueError):  # a function of C
        return
    own = [p.name for p in signature(caller).parameters.values() if p.kind is p.KEYWORD_ONLY]
    by_name = {p.name for p in taken if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}
    for keyword, value in keywords.items() if taken and not any(p.kind is p.VAR_KEYWORD for p in taken) else ():
        if keyword not in by_name:
            hint = rows("keywords.of_functions").get(f"{name_of(caller)}.{keyword}")
            meant = parameter_for(keyword, own)
            remedy = hint or (f"write {meant}=" if meant is not None else "")
            wanted = f"{_options(own)}, or of the function"
            raise SignatureError(expected(wanted, remedy, **{keyword: value})).named(name_of(caller))
    by_position = [p for p in taken if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if taken and not any(p.kind is p.VAR_POSITIONAL for p in taken) and len(arguments) > len(by_position):
        words = f"at most {len(by_position)} arguments of the function, got {len(arguments)}"
        raise SignatureError(f"expected {words}; write options by name, among {', '.join(own)}").named(name_of(caller))


def name_of(function: Callable[..., Any]) -> str:
    """The name of a function in errors; for an `__init__` it is the name of the class."""
    return function.__qualname__.removesuffix(".__init__").rpartition(".")[2]


def _error(
    function: Callable[..., Any], taken: Signature, arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> SignatureError:
    """The error of a call that a signature does not take."""
    by_position = [p for p in taken.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    by_name = [p.name for p in taken.parameters.values() if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)]
    for keyword, value in keywords.items():
        if keyword not in by_name:
            positions = [p.name for p in by_position]
            place = positions.index(keyword) if keyword in positions else len(arguments)
            # `x` may be the name of an axis too.
            is_filled = place < len(arguments) and arguments[place] is not by_position[place].default
            of_axis = _remedy_of_mapping(keyword, keywords, arguments, taken, function)
            of_axis = of_axis or _remedy_of_axis_name(keyword, value, arguments, taken, function)
            if keyword in positions and not (is_filled and of_axis):
                where = f"in place of {shown(arguments[place])}" if is_filled else f"without {keyword}="
                return SignatureError(expected(f"{keyword} by position", f"write it {where}", **{keyword: value}))
            meant = None if is_filled else parameter_for(keyword, by_name)
            if meant == "axis" and isinstance(value, str) and "name" in by_name:  # of the axis that is made
                meant = "name"
            sole = None if is_filled or meant is not None else parameter_for(keyword, positions)
            remedies = (
                rows("keywords.of_functions").get(f"{name_of(function)}.{keyword}"),
                f"write {meant}=" if meant is not None else None,
                of_axis if keyword == "axis" else None,
                rows("keywords.of_none").get(keyword),
                f"write {sole} by position" if sole is not None else None,
                _remedy_of_sizes(keywords, len(arguments), [*taken.parameters]),
                of_axis,
            )
            remedy = next((text for text in remedies if text), "")
            return SignatureError(expected(_options(by_name), remedy, **{keyword: value}))
    if len(arguments) > len(by_position):
        count = len(by_position)
        words = f"at most {count} argument{'s' * (count != 1)} by position"
        remedy = _remedy_of_surplus(function, taken, arguments, [p.name for p in by_position], keywords)
        return SignatureError(f"expected {words}, got {len(arguments)}{remedy and f'; {remedy}'}")
    filled = {p.name for p in by_position[: len(arguments)]}
    twice = next((name for name in keywords if name in filled), None)
    if twice is not None:
        return SignatureError(expected(f"{twice} once", **{twice: keywords[twice]}))
    required = (
        p for p in taken.parameters.values() if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    )
    absent = next(p for p in required if p.name not in filled and p.name not in keywords)
    first = getattr(arguments[0], "dtype", None) if arguments and by_position[0].name == "key" else uint32
    remedy = rows("arguments.missing").get(f"{name_of(function)}.{absent.name}", "")
    if first is not uint32:
        remedy = "the first argument is a key, as in tb.random.key(seed)"
    words = f"{absent.name}=" if absent.kind is absent.KEYWORD_ONLY else f"the argument {absent.name}"
    return SignatureError(f"expected {words}, which is missing{remedy and f'; {remedy}'}")


def _remedy_of_axis_name(
    keyword: str, value: object, arguments: Sequence[Any], taken: Signature, function: Callable[..., Any]
) -> str:
    """What to write in place of a keyword that is the name of an axis, or the new name of the axes that it lists.

    For x of axes (a, b): `sum(x, a=0)`, `pad(x, a=(1, 1))`, `merge_axes(x, both=("a", "b"))`.
    """
    names = [name for x in arguments for name in getattr(x, "names", ()) or () if name is not None]
    if (
        isinstance(value, list | tuple)
        and value
        and all(each in names for each in value)
        and "name" in taken.parameters
    ):
        return f"write {shown(tuple(value))} by position and name={shown(keyword)}"
    if keyword not in names:
        return ""
    for parameter in taken.parameters.values():
        by_position = parameter.kind is parameter.POSITIONAL_ONLY
        if parameter.name in ("axis", "axes"):
            if not by_position:
                return f"write {parameter.name}={shown(keyword)}"
            written = _entries(value) if isinstance(value, Mapping) else shown(value)
            return f"write {shown(keyword)}, {written} by position"
    return ""


def _remedy_of_sizes(keywords: Mapping[str, Any], filled: int, parameters: Sequence[str]) -> str:
    """What to write in place of sizes by the names of their axes, as in `zeros(a=2, b=3)`."""
    sizes = {name: size for name, size in keywords.items() if name not in parameters}
    if not {"shape", "names"} <= {*parameters} - {*keywords} or parameters.index("shape") < filled:
        return ""
    return f"write shape={(*sizes.values(),)}, names={(*sizes,)}" if all(type(n) is int for n in sizes.values()) else ""


def _remedy_of_mapping(
    keyword: str, keywords: Mapping[str, Any], arguments: Sequence[Any], taken: Signature, function: Callable[..., Any]
) -> str:
    """What to write in place of keywords, or of an axis, that an argument holds which may be a mapping of names.

    For x of axes (a, b): `pad(x, a=(1, 1))`, `window_mean(x, a=5)`, `window_mean(x, 5, axis="a")`,
    `split_axis(x, "a", c=2, d=3)`.
    """
    names = [name for x in arguments for name in getattr(x, "names", ()) or () if name is not None]
    for place, parameter in enumerate(taken.parameters.values()):
        kind = str(_types(function).get(parameter.name))
        if "Mapping" not in kind or place > len(arguments):
            continue
        given = arguments[place] if place < len(arguments) else keywords.get(parameter.name)
        if given is None and (keyword in names or "Mapping[str," in kind):
            entries = {
                name: value
                for name, value in keywords.items()
                if name not in taken.parameters or taken.parameters[name].kind is parameter.POSITIONAL_ONLY
            }
        elif keyword == "axis" and given is not None and not isinstance(given, Mapping):
            entries = {keywords["axis"]: given}
        else:
            continue
        by_position = parameter.kind is parameter.POSITIONAL_ONLY
        return (
            f"write {_entries(entries)} by position" if by_position else f"write {parameter.name}={_entries(entries)}"
        )
    return ""


def _entries(mapping: Mapping[Any, Any]) -> str:
    """A dictionary in its own order, which `shown` sorts, as the order of axes matters; tensors by their names."""
    texts = {key: key if hasattr(value, "template") else shown(value) for key, value in mapping.items()}
    return f"{{{', '.join(f'{shown(key)}: {text}' for key, text in texts.items())}}}"


def _options(names: Sequence[str]) -> str:
    """The keywords that a function takes, in words."""
    return f"keywords among {', '.join(names)}" if names else "no keywords"


def _remedy_of_surplus(
    function: Callable[..., Any],
    taken: Signature,
    arguments: Sequence[Any],
    by_position: Sequence[str],
    keywords: Mapping[str, Any],
) -> str:
    """What to write in place of more arguments than are taken by position."""
    first, last = arguments[len(by_position)], by_position[-1] if by_position else ""
    surplus, all_last, types = arguments[len(by_position) :], (*arguments[len(by_position) - 1 :],), _types(function)
    if last in ("shape", "axes", "sizes", "repetitions") and all(isinstance(size, int | str) for size in all_last):
        return f"write {last}={shown(all_last)}, one tuple"
    if last == "axis" and all(type(place) is int for place in all_last) and fits(all_last, types.get(last)):
        return f"write axis={shown(all_last)}, one tuple"
    if any(p.kind is p.VAR_KEYWORD for p in taken.parameters.values()):
        pairs = {**first} if isinstance(first, Mapping) else {}
        if isinstance(first, str) and len(surplus) == 2:
            pairs = {first: surplus[1]}
        if pairs and all(isinstance(name, str) and name.isidentifier() for name in pairs):
            keys = ", ".join(f"{name}={shown(value)}" for name, value in pairs.items())
            return f"write {keys}{', or ** before the dictionary' if isinstance(first, Mapping) else ''}"
    if "Sequence" in str(types.get(last)) and all(hasattr(x, "template") for x in arguments):
        return f"write one list of the {len(arguments)} tensors"
    names = arguments[0].names if by_position and isinstance(arguments[0], Tensor | Template) else ()
    if (
        isinstance(first, str)
        and [*surplus] == [first]
        and first in names
        and "axis" in {*taken.parameters} - {*keywords}
    ):
        return f"write axis={shown(first)}"
    special = rows("arguments.surplus").get(name_of(function), "")
    if special and (
        special.endswith("=") or not isinstance(first, int | str | tuple) or name_of(function) in ("round", "isel")
    ):
        return f"write {special}{shown(first) if special.endswith('=') else ''}"
    places = (*([keywords["axis"]] if "axis" in keywords else []), *surplus)
    several = all(place in names if isinstance(place, str) else type(place) is int for place in places)
    if several and len(places) > 1 and fits(places, types.get("axis", int)):
        return f"write axis={shown(places)}"
    for parameter in taken.parameters.values():
        free = parameter.kind is parameter.KEYWORD_ONLY and parameter.name not in keywords
        if free and not isinstance(first, Tensor) and fits(first, types.get(parameter.name, Any)):
            return f"write {parameter.name}={shown(first)}"
    return rows("arguments.dtype").get(name_of(function), "")


def _types(function: Callable[..., Any]) -> Mapping[str, Any]:
    """The types of a function's parameters, by name."""
    from inspect import unwrap

    whole = unwrap(function)
    return {} if isinstance(whole, type) else types_of(whole)
