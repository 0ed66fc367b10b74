"""`x[...]`: a warm call is one look-up, one kernel, one tensor.

What is known of a key is kept by its structure: the classes of its parts, of index tensors and masks the templates.
The numbers in a key are data, as the elements of index tensors are: ints do not show in the result's template, of a
slice only the length does, of a mask the number of elements where it holds, which is counted before the kernel runs.
A key of which nothing is known, and one that is wrong, is made up of other ops, which raise every error.
"""

from __future__ import annotations

from operator import index
from types import EllipsisType, NoneType
from typing import Any, Final, NamedTuple

from ..dispatch import CHECKED, verify
from ..dispatch.kernels import kernel as kernel_on
from ..dtypes import int64
from ..errors import ShapeError, TensorBackendError, expected
from ..memo import remember
from ..protocol import Backend, Kernel, own_method
from ..rules.axes import normalize_axis
from ..rules.indexing import Structure, covered, indexed, is_mask
from ..template import Template
from ..tensor import Tensor, bind
from .keys import as_index, entries, is_plain_part, shown


class Route(NamedTuple):
    """What is known of the keys of one structure on a tensor of one template and backend."""

    kernel: Kernel
    """The entries, of a payload and a key of numbers and payloads."""
    rest: tuple[Any, ...]
    """The ... that such a key leaves out: with it even one element is an array."""
    tensors: tuple[int, ...]
    """Where index tensors and masks stand in the key."""
    slices: tuple[tuple[int, int], ...]
    """Where slices stand, and the sizes of the axes that they are for."""
    masks: tuple[tuple[int, Kernel], ...]
    """Where masks stand, and what counts the elements where they hold."""
    outs: dict[tuple[int, ...], Template]
    """The template of the result by the lengths of the slices and the counts of the masks."""


_SETTLED: Final = frozenset({int, slice, NoneType, EllipsisType, Tensor})
"""The classes of which the parts of a key are when nothing more is to be made of them."""

_routes: dict[Any, Route] = {}
_new = object.__new__


@bind
def getitem(x: Tensor, key: Any, /) -> Tensor:
    """What `x[key]` gives: ints drop an axis, slices keep it, None makes one, ... fills up; masks and integer tensors.

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
    parts = key if key.__class__ is tuple else (key,)
    backend = x.backend
    try:
        structure = [part.template if part.__class__ is Tensor else part.__class__ for part in parts]
        made, rest, tensors, slices, masks, outs = _routes[x.template, backend, *structure]
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
        for place, count in masks:
            sizes += (int(count(parts[place])),)
        out = outs[sizes]
        data = made(x.data, parts)
    except (KeyError, IndexError, TypeError, ValueError):
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
    if any(part.__class__ not in _SETTLED for part in parts):
        given = tuple([_settled(part, x) for part in parts])
        if any(part is not each for part, each in zip(parts, given, strict=True)):
            return getitem(x, given)
    structure = tuple([part.template if part.__class__ is Tensor else part.__class__ for part in parts])
    name = x.template, x.backend, *structure
    route = _routes.get(name)
    if route is None:
        found = entries(x, key)  # raises where the structure is wrong
        route = _route(x, structure)
        if route is not None:
            remember(_routes, name, route)
        return found
    try:
        sizes = _sizes(parts, route)
        if sizes not in route.outs:
            remember(route.outs, sizes, indexed(x.template, structure, sizes))
            return getitem(x, key)
    except (TensorBackendError, TypeError, ValueError):
        pass  # the ops raise it, with their own words
    return entries(x, key)


def _settled(part: Any, x: Tensor) -> Any:
    """A part of a key as an int, slice, None, ... or tensor, where it stands for one of these."""
    if part.__class__ in _SETTLED:
        return part
    if not is_plain_part(part):
        return as_index(part, x)
    try:
        return index(part)
    except TypeError:  # which is no index: the ops say so
        return part


def _sizes(parts: tuple[Any, ...], route: Route) -> tuple[int, ...]:
    """The lengths of a key's slices and the counts of its masks."""
    lengths = [len(range(*parts[place].indices(size))) for place, size in route.slices]
    return *lengths, *[int(count(parts[place].data)) for place, count in route.masks]


def _route(x: Tensor, structure: Structure) -> Route | None:
    """What serves the keys of a structure of which one was right; `None` where the backend has no kernel for them."""
    kernel = x.backend.indexing(x.template, structure)
    if kernel is None:
        return None
    slices, masks = [], []
    for place, (kind, axes) in enumerate(zip(structure, covered(x.template, structure), strict=True)):
        if kind is slice:
            slices.append((place, x.shape[axes.start]))
        elif is_mask(kind):
            count = _counting(x.backend, kind)
            if count is None:
                return None
            masks.append((place, count))
    tensors = tuple([place for place, kind in enumerate(structure) if isinstance(kind, Template)])
    rest = () if EllipsisType in structure else (...,)
    return Route(kernel, rest, tensors, tuple(slices), tuple(masks), {})


def _counting(backend: Backend, mask: Template) -> Kernel | None:
    """The backend's own kernel that counts where a mask holds."""
    method = own_method(backend, "count_nonzero")
    if method is None:
        return None
    options = {"axis": tuple(range(mask.ndim)), "keepdims": False}
    return kernel_on(backend, "count_nonzero", method, Template((), int64), (mask,), options)


@bind
def isel(x: Tensor, **keys: Any) -> Tensor:
    """Indexing of axes by name, each for itself: what `x.isel(time=0, feature=[0, 2])` does.

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
