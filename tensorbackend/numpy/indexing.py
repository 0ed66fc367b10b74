"""Indexing: keys that need more than the quick path, and `x.flat`."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator
from itertools import islice, product
from types import EllipsisType
from typing import Any

import numpy

import tensorbackend as tb

from ..dtypes import bool_, finfo
from ..errors import ArgumentError, IndexRangeError, OutOfRangeError, TemplateDataError, expected
from ..select import apart, call_with_default
from ..tensor import Tensor
from .arrays import blank, flat_view, functions, is_basic, ndarray, result, tensor_of, view_of
from .arrays import put as assign
from .conversion import cast, tensor, tensor_to_write
from .dtypes import PLACES, HostOnlyError
from .homes import home_of
from .in_place import written_flat
from .keys import HOST, INTS, coordinates, template_of_part
from .layouts import places_in
from .selected import Selected, select, write_selected


def plain(key: Any) -> Any:
    """A key whose parts are ints, slices of ints, None, ..., and tensors of ints and bools."""
    return tuple(map(_part, key)) if isinstance(key, tuple) else _part(key)


def _part(part: Any) -> Any:
    if part.__class__ in (int, EllipsisType) or part is None:
        return part
    if isinstance(part, slice):
        return slice(_bound(part.start), _bound(part.stop), _bound(part.step))
    if part.__class__ in (bool, numpy.bool_):
        return tb.asarray(bool(part))
    if isinstance(part, numpy.integer):
        return int(part)
    if isinstance(part, float | numpy.inexact | str | dict):
        if isinstance(part, str):
            remedy = "there are no fields; use a dictionary of arrays"
            raise IndexRangeError(expected("a key of ints, slices, masks and arrays", remedy, key=part))
        text = "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays"
        raise IndexRangeError(f"{text} are valid indices")
    try:
        t = tensor(numpy.asarray(part) if isinstance(part, numpy.ndarray) else part)  # also of subclasses
    except HostOnlyError as error:
        raise IndexRangeError("arrays used as indices must be of integer (or boolean) type") from error
    if not t.size and not t.dtype.is_integer and t.dtype is not bool_ and isinstance(part, list | tuple):
        return tb.astype(t, tb.int64)
    if not t.dtype.is_integer and t.dtype is not bool_:
        raise IndexRangeError("arrays used as indices must be of integer (or boolean) type")
    if not t.shape and t.dtype.is_integer and t.backend.is_concrete(t):
        return int(t)
    return t


def _bound(bound: Any) -> Any:
    if bound is None or bound.__class__ is int:
        return bound
    if bound.__class__ is ndarray:
        t = tensor_of(bound)
        return t if not t.backend.is_concrete(t) else operator.index(bound)
    return operator.index(bound)


def _getitem(x: ndarray, key: Any) -> Any:
    t = tensor_of(x)
    if key.__class__ is ndarray:
        places = tensor_of(key)
        template = places.template
        if template.shape and template.dtype in PLACES:
            try:
                return result(tb.getitem(t, places))
            except TemplateDataError as error:
                return select(x, places, error)
    home = apart(t.backend)
    if home is not None:
        return call_with_default(home, _getitem, x, key)
    key = plain(key)
    try:
        read = tb.getitem(t, key)
    except TemplateDataError as error:
        return select(x, key, error)
    if not is_basic(key):
        return result(read)
    parts = key if isinstance(key, tuple) else (key,)
    if len(parts) == len(t.shape) and all(part.__class__ is int for part in parts):
        return result(read)
    return view_of(x, key)


def _setitem(x: ndarray, key: Any, value: Any) -> None:
    home = home_of((x,))
    if home is not None:
        call_with_default(home, _setitem, x, key, value)
        return
    key = plain(key)
    if value.__class__ is Selected:
        write_selected(x, key, value)
        return
    template = x._template()
    dtype = template.dtype
    if value.__class__ in (int, float, complex, bool) and not (value.__class__ is complex and not dtype.is_complex):
        if value.__class__ is int and dtype.is_inexact:
            value = float(value)  # beyond the dtype it is infinite, as a float is
        number = _fit_number(value, dtype)
        if number is not None:
            assign(x, key, number)
            return
    v = value if isinstance(value, Tensor) else tensor_to_write(value, dtype)
    if v.dtype is not dtype:
        v = cast(v, dtype)
    if v.ndim and v.shape[0] == 1:
        fits = _target_ndim(template, key)
        while v.ndim > fits and v.shape[0] == 1:
            v = tb.reshape(v, v.shape[1:])
    assign(x, key, v)


def _fit_number(value: Any, dtype: Any) -> Any:
    """A Python number in the kind of the dtype; `None` if it must be cast as an array."""
    if dtype is bool_:
        return bool(value)
    if dtype.is_integer:
        if isinstance(value, float) and not math.isfinite(value):
            error = ArgumentError if math.isnan(value) else OutOfRangeError
            raise error(f"cannot convert float {value} to integer")
        return int(value)
    if dtype.is_inexact and value.__class__ is float and finfo(dtype).max < abs(value) < math.inf:
        return None  # infinity, as the cast of an array gives
    return value if value.__class__ is not bool else int(value)


def _target_ndim(template: Any, key: Any) -> int:
    """The number of axes of `x[key]`, at least."""
    try:
        return len(tb.getitem(tb.template(template.shape, template.dtype), _dry(key)).shape)
    except TemplateDataError:
        parts = key if isinstance(key, tuple) else (key,)
        masks = sum(part.ndim - 1 for part in parts if isinstance(part, Tensor) and part.dtype is bool_)
        ints = sum(part.__class__ is int for part in parts)
        return len(template.shape) - masks - ints + sum(part is None for part in parts)


def _dry(key: Any) -> Any:
    if isinstance(key, tuple):
        return tuple(map(_dry, key))
    return tb.template(key.shape, key.dtype) if isinstance(key, Tensor) else key


def _put_at_places(x: ndarray, shown: ndarray, key: Any, value: Any) -> None:
    """Assigns to a view that shows elements of an array more than once: only those at the key are written to.

    Where the view shows bits or parts of the elements, its base is written to, and so on.
    """
    base, dtype = x._base, x._template().dtype
    if dtype is not x._of.dtype:
        old = tb.getitem(tensor_of(base), key)
        if x.shape != base.shape:
            text = "no write to elements that are shown more than once in parts of another size"
            raise ArgumentError(expected(text, "write to a copy", shape=x.shape))
        new = cast(value if isinstance(value, Tensor) else tensor(value), dtype)
        assign(base, key, x._how.write(old, tb.broadcast_to(new, old.shape)))
        return
    through = dtype is not shown._template().dtype
    places, home = places_in(x, base if through else shown), apart(tensor_of(x).backend)
    parts = key if key.__class__ is tuple else (key,)
    if any(part.__class__ is Tensor and not part.backend.is_concrete(part) for part in parts):
        chosen = tb.getitem(tb.asarray(places, backend=home), key)
    else:
        plain = [numpy.asarray(part) if part.__class__ is Tensor else part for part in parts]
        chosen = tb.asarray(places[tuple(plain)], backend=home)
    if through:
        assign(base, tuple(tb.unravel_index(chosen, base.shape)), value)
    else:
        assign(flat_view(shown), chosen, value)


def views_at(x: ndarray, keys: Iterable[Any], shape: tuple[int, ...]) -> Iterator[Any]:
    """The views of an array at keys, all of one shape, as `x[key]` each: a look at a key takes longer than the view."""
    template, root = x._template(), x if x._t is not None else x._root
    shows = template_of_part(template.kind, shape) if root._t.data.__class__ is HOST else None
    for key in keys:
        t = x._t
        if shows is None or (t is not None and (t.template is not template or t.data.__class__ is not HOST)):
            yield x[key]
            continue
        view = blank()
        view._t = None
        view._base = x
        view._how = key
        view._of = template
        view._kept = None
        view._shows = shows
        view._root = root
        view._seen = None
        view._uses = 0
        yield view


def _entries(x: ndarray, count: int) -> Iterator[Any]:
    """The entries along the first axis."""
    template = x._template()
    if len(template.shape) > 1:
        return views_at(x, range(count), template.shape[1:])
    return (
        x[place] if (t := x._t) is None or t.data.__class__ is not HOST else t.data[place] for place in range(count)
    )


functions["entries"] = _entries
functions["getitem"] = _getitem
functions["put_at_places"] = _put_at_places
functions["setitem"] = _setitem


class flatiter:
    """`x.flat`: the elements in row-major order, to iterate over, to index and to assign to."""

    def __init__(self, x: ndarray) -> None:
        self.base = x
        self._place = 0
        self._rest: Iterator[Any] | None = None

    @property
    def index(self) -> int:
        """The position of the next element."""
        return self._place

    @property
    def coords(self) -> tuple[int, ...]:
        """The coordinates of the next element."""
        return coordinates(self._place, self.base.shape)

    def copy(self) -> ndarray:
        """The elements along one axis, as a new array."""
        return self.base.flatten()

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return numpy.asarray(flat_view(self.base), dtype=dtype)

    def __len__(self) -> int:
        return self.base.size

    def __iter__(self) -> Iterator[Any]:
        """The elements that are left. All iterators of a `flatiter` are one."""
        if self._rest is None:
            self._rest = self._elements()
        return self._rest

    def _elements(self) -> Iterator[Any]:
        base, place = self.base, 0
        root = base if base._t is not None else base._root
        seen = root._t.data
        if seen.__class__ is HOST:
            for entry in tensor_of(base).data.flat:
                if root._t.data is not seen:  # the program wrote, and each further write would copy what is held here
                    break
                place += 1
                self._place = place
                yield entry
            else:
                return
        seen = None
        base = base if base._t is not None else flat_view(base)
        shape = base.shape
        keys: Iterable[Any] = range(shape[0]) if len(shape) == 1 else product(*map(range, shape))
        for number, key in enumerate(islice(keys, place, None), place + 1):
            t = base._t
            if t is None:
                t = base._read()
            data = t.data
            entry = data[key] if data.__class__ is HOST else result(tb.getitem(t, key))
            t = data = None  # or the program's next write would copy
            self._place = number
            yield entry

    def __next__(self) -> Any:
        return next(self._rest or iter(self))

    def __getitem__(self, key: Any) -> Any:
        place = key
        if key.__class__ in INTS:
            x = self.base
            t = x._t
            data = x._read().data if t is None else t.data
            if data.__class__ is HOST:
                try:
                    return data.flat[place]
                except IndexError:  # raised again in the library's words
                    pass
        chosen = flat_view(self.base)[key]
        return chosen.copy() if chosen.__class__ is ndarray else chosen

    def __setitem__(self, key: Any, value: Any) -> None:
        if key.__class__ in INTS and written_flat(self.base, key, value):
            return
        home = home_of((self.base,))
        if home is not None:
            call_with_default(home, self.__setitem__, key, value)
            return
        flat = flat_view(self.base)
        target, dtype = flat[key], flat._template().dtype
        if target.__class__ is not ndarray:
            try:
                wide = functions["ravel"](tensor_to_write(value, dtype))
            except (TypeError, ValueError, OverflowError) as error:
                raise ArgumentError("Error setting single item of array.") from error
            if wide.size != 1:
                raise ArgumentError("Error setting single item of array.")
        else:
            wide = functions["ravel"](tensor_to_write(value, dtype))
            if not wide.size:
                return
        flat[key] = functions["resize"](wide, target.shape) if target.__class__ is ndarray and target.size else wide[0]


flatiter.__module__ = __package__
functions["flatiter"] = flatiter
