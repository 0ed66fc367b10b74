"""Donated arguments of compiled functions: tensors that the caller gives up, so that their memory can be used again.

The payloads of donated tensors reach a kernel in one list, behind the other payloads, and the kernel empties the list:
so it has the only references to them, and each is freed at its last use.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from inspect import Parameter, signature
from typing import Any

from ..errors import ArgumentError, expected
from ..protocol import Payload
from ..select.transfer import release
from ..template import Template
from ..tensor import Tensor
from .graph import Graph


def check_donated(function: Callable[..., Any], donate: str | Sequence[str]) -> tuple[str, ...]:
    """The names of donated parameters; `ArgumentError` for one that the function does not have."""
    names = (donate,) if isinstance(donate, str) else tuple(donate)
    if not names:
        return ()
    try:
        parameters = signature(function).parameters
    except ValueError:
        raise ArgumentError(expected("a function with a signature for donated arguments", function=function)) from None
    unknown = sorted({*names} - {*parameters})
    if unknown or any(parameters[name].kind is Parameter.VAR_POSITIONAL for name in names):
        remedy = f"the parameters are {', '.join(parameters)}"
        raise ArgumentError(expected("the names of parameters to donate", remedy, donate=donate))
    return names


def donated_places(names: Sequence[str], paths: Sequence[str], leaves: Sequence[Any]) -> tuple[int, ...]:
    """The positions, among the tensors of the leaves, of those that belong to donated parameters."""
    return places_of(names, [path for path, leaf in zip(paths, leaves, strict=True) if isinstance(leaf, Tensor)])


def places_of(names: Sequence[str], paths: Sequence[str]) -> tuple[int, ...]:
    """The positions of the paths that begin with one of the names of parameters."""
    return tuple(place for place, path in enumerate(paths) if _root(path) in names)


def donatable(graph: Graph, donated: Sequence[str]) -> tuple[str, ...]:
    """The names of further parameters for each of whose tensors there is a result of its template."""
    results, found = Counter(map(_form, graph.results)), []
    for path, template in zip(graph.names, graph.templates, strict=True):
        if _root(path) in donated:
            results[_form(template)] -= 1
    for root in dict.fromkeys(map(_root, graph.names)):
        needed = Counter(
            _form(template) for path, template in zip(graph.names, graph.templates, strict=True) if _root(path) == root
        )
        if root not in donated and all(results[form] >= count for form, count in needed.items()):
            results -= needed
            found.append(root)
    return tuple(found)


def _root(path: str) -> str:
    """The name of the parameter at the beginning of a path, such as `state["first"].value`."""
    return re.split(r"[.\[]", path, maxsplit=1)[0]


def give_up(tensors: Sequence[Tensor], donated: Sequence[int]) -> list[Any]:
    """The arguments of a kernel that takes donated payloads: the others, then a list of the donated ones.

    The donated tensors are deallocated. Raises `ArgumentError` where one of them is an argument twice. Different
    tensors may have one payload: a copy, a view, or a number that a backend keeps. A kernel takes the memory of a
    payload only if nothing else refers to it.
    """
    payloads = [x.data for x in tensors]
    for place in donated:
        if sum(one is tensors[place] for one in tensors) > 1:
            remedy = "copy it with asarray(x, copy=True), or do not donate it"
            raise ArgumentError(expected("a donated tensor that is an argument once", remedy, tensor=tensors[place]))
    chosen = {*donated}
    given: list[Payload] = [payloads[place] for place in donated]
    for place in donated:
        release(tensors[place])
    return [*(data for place, data in enumerate(payloads) if place not in chosen), given]


def in_order(arguments: Sequence[Any], donated: Sequence[int]) -> list[Payload]:
    """The payloads in the order of the parameters, for a kernel that takes them one by one; the list is emptied."""
    payloads, given = list(arguments[:-1]), arguments[-1]
    for place, data in zip(donated, given, strict=True):
        payloads.insert(place, data)
    given.clear()
    return payloads


def usable(graph: Graph, donated: Sequence[int]) -> tuple[int, ...]:
    """The donated parameters whose memory a result can take: those with axes for which a result has their template.

    A backend may keep a number, and make it the payload of several tensors: its memory is not for others to take.
    """
    results = Counter(map(_form, graph.results))
    chosen = []
    for place in donated:
        form = _form(graph.templates[place])
        if graph.templates[place].ndim and results[form]:
            results[form] -= 1
            chosen.append(place)
    return tuple(chosen)


def _form(template: Template) -> Any:
    return template.shape, template.dtype
