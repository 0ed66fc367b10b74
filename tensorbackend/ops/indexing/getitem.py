"""`x[...]`: a warm call is one look-up, one kernel, one tensor.

The plan for a key is kept by the key's structure: the classes of its parts, and the templates of index tensors and
masks. The numbers in a key are data, like the elements of index tensors. Ints do not affect the result's template; a
slice does by its length and a mask by its number of true elements, which are computed before the kernel runs. A key
without a plan, and a wrong one, is evaluated by other ops, which raise every error.
"""

from __future__ import annotations

from numbers import Integral
from operator import index
from types import EllipsisType, NoneType
from typing import Any, Final, NamedTuple

from ...dispatch import CHECKED, verify
from ...dispatch.watching import Subject, holds_memo, watched
from ...entry import entry
from ...errors import ShapeError, TensorBackendError, expected
from ...memo import remember
from ...protocol import Kernel
from ...rules.axes import normalize_axis
from ...rules.indexing import Structure, covered, indexed, is_mask
from ...template import Template
from ...tensor import Tensor, bind
from .keys import as_index, entries, is_plain_part, shown


class Route(NamedTuple):
    """The way to serve keys of one structure on a tensor of one template and backend."""

    kernel: Kernel
    """The entries, of a payload and a key of numbers and payloads."""
    rest: tuple[Any, ...]
    """The entries added to such a key: ... where the result has no axes, as NumPy's is an array then."""
    tensors: tuple[int, ...]
    """Where index tensors and masks stand in the key."""
    slices: tuple[tuple[int, int], ...]
    """Where slices stand, and the sizes of the axes that they are for."""
    masks: tuple[tuple[int, Kernel], ...]
    """Where masks stand, from the last one on, and what gives the positions of the elements where they hold."""
    structure: Structure
    outs: dict[tuple[int, ...], Template]
    """The template of the result by the lengths of the slices and the numbers of such elements."""


_SETTLED: Final = frozenset({int, slice, NoneType, EllipsisType, Tensor})
"""The classes of which the parts of a key are when nothing more is to be made of them."""

_routes: dict[Any, Route] = {}
holds_memo(_routes, "getitem")
_new = object.__new__


@entry
@bind
def getitem(x: Tensor, key: Any) -> Tensor:
    """The elements `x[key]`: ints drop an axis, slices keep it, None makes one, ... fills up; masks and integer
    tensors.

    A mask takes the place of as many axes as it has, and leaves one with the elements where it holds. Its number is
    counted, so on template tensors it raises `TemplateDataError`: use `where`, or `take` at `nonzero(mask, size=n)`.
    Integer tensors are broadcast together. Where only one of them has axes, and that is one without a name, it keeps
    the name of the axis that it is for, as a mask of one axis does; else the names are those of the index tensors.
    Raises `IndexRangeError` for an index outside its axis.

    >>> import tensorbackend as tb
    >>> x = tb.asarray([[1, 2, 3], [4, 5, 6]], names=("row", "column"))
    >>> x[:, [2, 0]]
    s64[row: 2][column: 2] numpy
    [[3, 1],
     [6, 4]]
    >>> x[x > 3].tolist(), x[[0, 1], [1, 2]].tolist()
    ([4, 5, 6], [2, 6])
    """
    backend = x.backend
    name: Any
    if key.__class__ is tuple:
        parts = key
        kinds = [part.template if part.__class__ is Tensor else part.__class__ for part in parts]
        name = x.template, backend, *kinds
    else:
        parts = (key,)
        name = x.template, backend, key.template if key.__class__ is Tensor else key.__class__
    try:
        made, rest, tensors, slices, masks, _, outs = _routes[name]
        if rest:
            parts += rest
        if tensors:
            given = list(parts)
            for place in tensors:
                tensor = given[place]
                if tensor.backend is not backend:
                    raise KeyError
                given[place] = tensor.data
            parts = tuple(given)
        sizes: tuple[int, ...] = ()
        for place, size in slices:
            sizes += (len(range(*parts[place].indices(size))),)
        if masks:
            parts, sizes = _found(parts, masks, sizes)
        out = outs[sizes]
        data = made(x.data, parts)
    except (KeyError, IndexError, TypeError, ValueError, OverflowError):
        pass  # so that no error below has this one as its context
    else:
        if CHECKED:
            verify("getitem", backend, out, data)
        found: Tensor = _new(Tensor)
        found.template = out
        found.backend = backend
        found.data = data
        return found
    return _unready(x, key)


# A method that calls the function would cost as much as the look-up.
setattr(Tensor, "__getitem__", getitem)  # noqa: B010 # a type checker sees the method that stands in the class


def _unready(x: Tensor, key: Any) -> Tensor:
    """The entries at a key that has no route yet, or no template of its result, or which is wrong."""
    parts = key if isinstance(key, tuple) else (key,)
    structure = _structure(parts)
    name = x.template, x.backend, *structure
    if not _SETTLED.issuperset([part.__class__ for part in parts]):
        given = tuple([_settled(part, x) for part in parts])
        if any(part is not each for part, each in zip(parts, given, strict=True)):
            found = getitem(x, given)
            if list not in structure and all(map(_stays, parts)):
                route = _routes.get((x.template, x.backend, *_structure(given)))
                if route is not None:
                    remember(_routes, name, route)
            return found
    route = _routes.get(name)
    if route is None:
        found = entries(x, key)  # raises where the structure is wrong
        route = _route(x, structure, found.template)
        if route is not None:
            remember(_routes, name, route)
        return found
    try:
        sizes = _sizes(parts, route)
        if sizes not in route.outs:
            remember(route.outs, sizes, indexed(x.template, route.structure, sizes))
            return getitem(x, key)
    except (TensorBackendError, IndexError, TypeError, ValueError, OverflowError):
        pass  # the ops raise it, with their own words
    return entries(x, key)


def _structure(parts: tuple[Any, ...]) -> Structure:
    """The templates of tensors among the parts of a key, and the classes of others."""
    return tuple([part.template if part.__class__ is Tensor else part.__class__ for part in parts])


def _stays(part: Any) -> bool:
    """Whether a kernel takes a part of a key as it is: another library's integer may stand for an int."""
    return part.__class__ in _SETTLED or _is_integer(part)


def _is_integer(part: Any) -> bool:
    """Whether a part of a key is a number such as NumPy's integers are; bool is a mask."""
    return part.__class__ is not bool and isinstance(part, Integral)


def _settled(part: Any, x: Tensor) -> Any:
    """A part of a key as an int, slice, None, ... or tensor, where it stands for one of these."""
    if part.__class__ in _SETTLED:
        return part
    if part.__class__ is list:  # sooner than to ask whether that is an integer
        return as_index(part, x)
    if _is_integer(part):
        return index(part)
    if not is_plain_part(part):
        return as_index(part, x)
    try:
        return index(part)
    except TypeError:  # which is no index: the ops say so
        return part


def _found(
    parts: tuple[Any, ...], masks: tuple[tuple[int, Kernel], ...], sizes: tuple[int, ...]
) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """A key with the positions where its masks hold, an array for each axis; the sizes with the numbers of these."""
    counts: tuple[int, ...] = ()
    for place, positions in masks:
        arrays = positions(parts[place])
        counts = len(arrays[0]), *counts
        parts = parts[:place] + arrays + parts[place + 1 :]
    return parts, sizes + counts


def _sizes(parts: tuple[Any, ...], route: Route) -> tuple[int, ...]:
    """The lengths of a key's slices and the numbers of elements where its masks hold."""
    lengths = tuple([len(range(*parts[place].indices(size))) for place, size in route.slices])
    data = tuple([part.data if part.__class__ is Tensor else part for part in parts])
    return _found(data, route.masks, lengths)[1]


def _route(x: Tensor, structure: Structure, out: Template) -> Route | None:
    """The route for keys of a structure of which one was right; `None` where the backend has no kernel for them."""
    kernel = x.backend.indexing(x.template, structure)
    if kernel is None:
        return None
    slices, masks = [], []
    for place, (kind, axes) in enumerate(zip(structure, covered(x.template, structure), strict=True)):
        if kind is slice:
            slices.append((place, x.shape[axes.start]))
        elif is_mask(kind):
            positions = x.backend.positions(kind)
            if positions is None:
                return None
            masks.append((place, positions))
    tensors = tuple([place for place, kind in enumerate(structure) if isinstance(kind, Template)])
    rest = () if out.shape or EllipsisType in structure else (...,)
    kernel = watched(kernel, Subject("getitem", "getitem", x.backend))
    return Route(kernel, rest, tensors, tuple(slices), tuple(masks[::-1]), structure, {})


@bind
@entry
def isel(x: Tensor, /, **keys: Any) -> Tensor:
    """Index axes by name, each on its own: `x.isel(time=0, feature=[0, 2])`.

    An int drops the axis, a slice, list, mask or unnamed integer tensor of one axis keeps it and its name.

    >>> import tensorbackend as tb
    >>> x = tb.iota((2, 3), names=("row", "column"))
    >>> tb.isel(x, row=[1, 0], column=[0, 2])
    s64[row: 2][column: 2] numpy
    [[3, 5],
     [0, 2]]
    """
    by_axis = {normalize_axis(x.template, name): key for name, key in keys.items()}
    if all(map(is_plain_part, by_axis.values())):
        return getitem(x, tuple(by_axis.get(axis, slice(None)) for axis in range(x.ndim)))
    for axis in sorted(by_axis, reverse=True):
        key = by_axis[axis]
        if key is None or isinstance(key, EllipsisType | bool | tuple) or getattr(key, "ndim", 1) > 1:
            wanted = "an int, a slice, or a list, mask or integer tensor of one axis"
            raise ShapeError(expected(wanted, **{str(x.names[axis]): shown(key)}))
        x = getitem(x, (*(slice(None),) * axis, key))
    return x
