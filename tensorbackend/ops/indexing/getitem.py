"""`x[...]`: a warm call is one look-up, one kernel, one tensor.

The kernel for a key is kept by the key's structure: the classes of its parts, and the templates of index tensors and
masks. The numbers in a key are data, like the elements of index tensors and masks: they affect only the shape of the
result, which is read from the kernel's payload. A key that is wrong, or for which there is no kernel, is evaluated by
other ops, which raise every error.
"""

from __future__ import annotations

from collections.abc import Callable
from types import EllipsisType
from typing import Any, NamedTuple, ParamSpec, TypeVar

from ...dispatch import CHECKED, verify
from ...dispatch.watching import Subject, holds_memo, watched
from ...docstrings import described
from ...entry import entry
from ...errors import ShapeError, expected
from ...memo import remember
from ...protocol import Kernel, Payload
from ...rules.axes import normalize_axis
from ...rules.indexing import Structure, covered, indexed, is_mask
from ...template import Shape, Template
from ...tensor import Tensor, bind, blank_tensor
from ..composite.reduction import count_nonzero
from .keys import SETTLED, entries, is_integer, is_plain_part, settled, shown

P = ParamSpec("P")
R = TypeVar("R")


class Shaped(dict[Shape, Template]):
    """Templates that differ only in shape, by shape."""

    def __init__(self, like: Template) -> None:
        self.like = like

    def __missing__(self, shape: Shape) -> Template:
        template = self.like.replace(shape=tuple(shape))
        remember(self, template.shape, template)
        return template


class Route(NamedTuple):
    """The way to serve keys of one structure on a tensor of one template and backend."""

    kernel: Kernel
    """A function of a payload and a key of numbers and payloads that returns the entries."""
    rest: tuple[Any, ...]
    """The parts that are added to the key: `...` where the result has no axes, so that NumPy returns an array."""
    outs: Shaped
    """The template of the result by its shape."""


_routes: dict[Any, Route] = {}
holds_memo(_routes, "getitem")


@bind
@described
def getitem(x: Tensor, key: Any) -> Tensor:
    """The elements `x[key]`, for a key of ints, slices, None, ..., masks and integer tensors.

    An int drops its axis, a slice keeps it, None makes a new axis, and ... stands for the axes that are left. A mask
    takes the place of as many axes as it has, and leaves one axis with the elements where it holds. These are counted,
    so on template tensors a mask raises `TemplateDataError`: use `where`, or `take` at `nonzero(mask, size=n)`. Integer
    tensors are broadcast together. If only one of them has axes, and that is a single axis without a name, the result
    keeps the name of the axis that it indexes, as for a mask of one axis; else the names are those of the index
    tensors. Raises `IndexRangeError` for an index outside its axis.

    >>> import tensorbackend as tb
    >>> x = tb.asarray([[1, 2, 3], [4, 5, 6]], names=("row", "column"))
    >>> x[:, [2, 0]]
    s64[row: 2][column: 2] numpy
    [[3, 1],
     [6, 4]]
    >>> x[x > 3].tolist(), x[[0, 1], [1, 2]].tolist()
    ([4, 5, 6], [2, 6])
    """
    if x.__class__ is not Tensor:
        return _unready(x, key)
    backend = x.backend
    parts: Any
    try:
        if key.__class__ is tuple:
            kinds, parts = tuple(map(type, key)), key
            if Tensor in kinds:
                kinds, parts = _of_tensors(key, backend)
            kernel, rest, outs = _routes[x.template, backend, *kinds]
        elif key.__class__ is not Tensor:
            parts = (key,)
            kernel, rest, outs = _routes[x.template, backend, key.__class__]
        elif key.backend is backend:
            parts = (key.data,)
            kernel, rest, outs = _routes[x.template, backend, key.template]
        else:
            raise KeyError
        data = kernel(x.data, parts + rest if rest else parts)
        out = outs[data.shape]
    except (KeyError, IndexError, TypeError, ValueError, OverflowError):
        pass  # so that no error below has this one as its context
    else:
        if CHECKED:
            _verify(x, key, data)
        result = blank_tensor()
        result.template = out
        result.backend = backend
        result.data = data
        return result
    return _unready(x, key)


# A method that calls the function would cost as much as the look-up.
setattr(Tensor, "__getitem__", getitem)  # noqa: B010 # a type checker sees the method that stands in the class


def _of_tensors(key: tuple[Any, ...], backend: Any) -> tuple[Structure, tuple[Any, ...]]:
    """The structure of a key with tensors among its parts, and the parts with payloads in their place.

    Raises `KeyError` where one is on another backend.
    """
    kinds: list[Any] = []
    parts = []
    for part in key:
        if part.__class__ is not Tensor:
            kinds.append(part.__class__)
            parts.append(part)
        elif part.backend is backend:
            kinds.append(part.template)
            parts.append(part.data)
        else:
            raise KeyError
    return tuple(kinds), tuple(parts)


def _part_of_getitem(function: Callable[P, R]) -> Callable[P, R]:
    """A function whose errors are reported as those of `getitem`, which itself is not wrapped so that a warm call saves
    a frame."""
    function.__qualname__ = getitem.__qualname__
    return entry(function)


@_part_of_getitem
def _unready(x: Tensor, key: Any) -> Tensor:
    """The entries at a key whose structure has no route yet, or which is wrong."""
    parts = key if isinstance(key, tuple) else (key,)
    structure = _structure(parts)
    name = x.template, x.backend, *structure
    if not SETTLED.issuperset([part.__class__ for part in parts]):
        plain = tuple([settled(part, x) for part in parts])
        if any(part is not plain_part for part, plain_part in zip(parts, plain, strict=True)):
            result = getitem(x, plain)
            if list not in structure and all(map(_stays, parts)):
                route = _routes.get((x.template, x.backend, *_structure(plain)))
                if route is not None:
                    remember(_routes, name, route)
            return result
    result = entries(x, key)  # raises where the key is wrong
    if name not in _routes:
        route = _route(x, structure, result.template)
        if route is not None:
            remember(_routes, name, route)
    return result


def _structure(parts: tuple[Any, ...]) -> Structure:
    """The templates of tensors among the parts of a key, and the classes of others."""
    return tuple([part.template if part.__class__ is Tensor else part.__class__ for part in parts])


def _stays(part: Any) -> bool:
    """Whether a kernel takes a part of a key as it is, even if it is another library's integer in place of an int."""
    return part.__class__ in SETTLED or is_integer(part)


def _route(x: Tensor, structure: Structure, out: Template) -> Route | None:
    """The route for keys of a structure that fits x; `None` where the backend has no kernel for them."""
    kernel = x.backend.indexing(x.template, structure)
    if kernel is None:
        return None
    rest = () if out.shape or EllipsisType in structure else (...,)
    return Route(watched(kernel, Subject("getitem", "getitem", x.backend)), rest, Shaped(out))


@_part_of_getitem
def _verify(x: Tensor, key: Any, data: Payload) -> None:
    """Raises `ContractError` unless a payload fits the lengths of slices and the numbers of true elements in masks."""
    parts = key if isinstance(key, tuple) else (key,)
    parts = tuple([settled(part, x) for part in parts])
    structure = _structure(parts)
    places = list(zip(parts, structure, covered(x.template, structure), strict=True))
    lengths = [len(range(*part.indices(x.shape[axes.start]))) for part, kind, axes in places if kind is slice]
    counts = [int(count_nonzero(part)) for part, kind, _ in places if is_mask(kind)]
    verify("getitem", x.backend, indexed(x.template, structure, lengths + counts), data)


@bind
@entry
def isel(x: Tensor, /, **keys: Any) -> Tensor:
    """Index axes by name, each on its own: `x.isel(time=0, feature=[0, 2])`.

    An int drops the axis. A slice, and a list, mask or unnamed integer tensor of one axis, keeps the axis and its name.

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
            expectation = "an int, a slice, or a list, mask or integer tensor of one axis"
            raise ShapeError(expected(expectation, **{str(x.names[axis]): shown(key)}))
        x = getitem(x, (*(slice(None),) * axis, key))
    return x
