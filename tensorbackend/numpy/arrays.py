"""`ndarray`: NumPy's array around a tensor, with views through which writes reach their base.

An array is either a *root*, which holds a tensor, or a *view*, which holds its base and how to read it: a key of basic
indexing, or a `Step` such as a reshape. A view rereads its base whenever it is used, and a write to it is a write to
its base. So views are correct on backends whose memory cannot be shared or written to, and in traces, where an array is
a value. A write to the root drops what its views keep, so that it can be in place.

Each array has its own `Tensor` object, so that a write changes no tensor of the user.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from operator import index
from types import GenericAlias
from typing import Any, Final

from ..backends.numpy_backend.memory import own
from ..errors import ArgumentError, expected
from ..expr.scopes import note_rebound
from ..expr.tree_containers import register_tree_node
from ..ops.indexing import assignment as assignments
from ..template import Shape, Template
from ..tensor import Tensor, public_op
from .array_methods import ArrayMethods
from .holders import HERE as HERE
from .holders import LASTING as LASTING
from .holders import ArrayType
from .holders import Step as Step
from .holders import fresh as fresh
from .holders import functions as functions
from .holders import release as release
from .holders import tensor_of as tensor_of
from .in_place import DOUBLE, EXACT, apart, as_written, host_places, is_exact, written, written_through
from .keys import CUTS, HOST, INTS, PARTS, begins_with_indices, cut, has_only_ints, holds_traced, template_of_part
from .keys import as_shape as as_shape
from .keys import is_basic as is_basic
from .layouts import LOCKED, LayoutError, fits, layout_of, overlapping, plain_shape, refuse_read_only

_getitem: Final = public_op("getitem")
_setitem: Final = public_op("setitem")
_put_at: Final = public_op("put_at")
_reshape: Final = public_op("reshape")


class ndarray(ArrayMethods, metaclass=ArrayType):
    """NumPy's array on any backend.

    `ndarray(shape, dtype=float, buffer=None)` makes one, as in NumPy; programs usually call `array`, `zeros`
    etc.

    Examples
    --------
    >>> import tensorbackend.numpy as np
    >>> x = np.zeros((2, 3))
    >>> row = x[0]
    >>> row[1:] = 5
    >>> x
    array([[0., 5., 5.],
           [0., 0., 0.]])
    >>> x.tensor
    f64[2][3] numpy
    [[0.0, 5.0, 5.0],
     [0.0, 0.0, 0.0]]
    """

    __slots__ = ()

    __array_priority__ = 1000.0

    __class_getitem__: Any = classmethod(GenericAlias)

    @property
    def shape(self) -> Shape:
        """The size of each axis. Assigning to it reshapes the array in place."""
        return self._template().shape

    @shape.setter
    def shape(self, shape: Any) -> None:
        t = tensor_of(self)
        new = _reshape(t, as_shape(shape))
        if self._t is not None:
            self._t = new
            return
        if not fits(layout_of(self), plain_shape(new.template.shape)):
            text = "a shape that needs no copy, as the array is a view"
            raise LayoutError(expected(text, "use x.reshape(shape)", shape=new.shape))
        self._make_view(view_of(self._base, self._how, self._of), reshape_to(new.template.shape), t.template)

    # Elements

    def __getitem__(self, key: Any) -> Any:
        t = self._t
        root = self
        if t is None:
            root = self._root
            if self._uses > 0 and root._t.data is self._seen:
                t = self._kept
            if t is None:
                t = self._read()
        kind = key.__class__
        if kind is tuple:
            for part in key:
                if part.__class__ not in PARTS:
                    return functions["getitem"](self, key)
        elif kind not in PARTS:
            return functions["getitem"](self, key)
        data = t.data
        try:
            if data.__class__ is HOST:
                part = data[key]
                if part.__class__ is not HOST:
                    return part
                shows = CUTS[t.template.kind].get(part.shape) or template_of_part(t.template.kind, part.shape)
            else:
                shows = None
                if has_only_ints(key) and (len(key) if kind is tuple else 1) == len(t.template.shape):
                    return result(_getitem(t, key))
            read = None  # in NumPy's memory, of which a part that is kept would make the next write copy
            if shows is None:
                read = cut(t, key)
                shows = read.template
        except Exception:  # bounds of slices that are arrays; whatever else is wrong is raised again
            return functions["getitem"](self, key)
        view = blank()
        view._t = None
        view._base = self
        view._how = key
        view._of = t.template
        view._kept = read
        view._shows = shows
        view._root = root
        view._seen = None if read is None else data if root is self else root._t.data
        view._uses = 0
        return view

    def __setitem__(self, key: Any, value: Any) -> None:
        try:
            assignments.acquire()
            t = self._t
            if LASTING and t is not None:
                release(self)
            if LOCKED and t is not None:
                refuse_read_only(self)
            if value.__class__ is ndarray:
                v = value._t
                if v is None:
                    if value._base is self and value._how is key:
                        return  # the second half of `x[key] += v`, which wrote to the view
                    v = value._read()
                    if root(value) is root(self):
                        v = apart(v)
                if t is None and is_basic(key) and written_through(self, key, v):
                    return
                new, old = v.template, None if t is None else t.template
                if old is not None and new.dtype is old.dtype and len(new.shape) <= len(old.shape):
                    kind = key.__class__
                    same = new.shape == old.shape and v.backend is t.backend
                    if same and (key == _ALL if kind is slice else key is ...):
                        self._t = as_written(v, old)
                        return
                    if is_basic(key):
                        try:
                            if not written(t, key, v):
                                _setitem(t, key, v)
                        except Exception:  # bounds that are arrays, sizes that only NumPy broadcasts; raised again
                            functions["setitem"](self, key, v)
                        return
                    if kind is ndarray and (places := host_places(key)) is not None and written(t, places, v):
                        return
                functions["setitem"](self, key, v)
                return
            if t is not None:
                kind, dtype = value.__class__, t.template.dtype
                on_host = t.data.__class__ is HOST
                exact = on_host and kind in EXACT[dtype]
                if not exact:
                    if kind is DOUBLE and dtype.is_floating:
                        value, kind = float(value), float
                    exact = on_host and is_exact(value, t)
                basic = key.__class__ in INTS or is_basic(key)
                try:
                    if exact:
                        if basic:
                            own(t)[key] = value
                            return
                        if key.__class__ is ndarray and (places := host_places(key)) is not None:
                            own(t)[places] = value
                            return
                    elif basic and ((kind is float and dtype.is_inexact) or (kind is int and dtype.is_numeric)):
                        _setitem(t, key, value)
                        return
                except Exception:  # of bounds, sizes and numbers; raised again
                    pass
                functions["setitem"](self, key, value)
                return
            if is_basic(key) and written_through(self, key, value):
                return
            functions["setitem"](self, key, value)
        finally:
            try:  # noqa: SIM105 # see there
                assignments.release()
            except RuntimeError:
                pass

    def __iter__(self) -> Iterator[Any]:
        entries: Iterator[Any] = functions["entries"](self, len(self))
        return entries

    def __contains__(self, value: Any) -> bool:
        return bool(functions["any"](self == value))

    def item(self, *position: Any) -> Any:
        """An element as a Python number: the only one, or the one at a position."""
        if position:
            place = position[0] if len(position) == 1 else position
            chosen = self[place] if isinstance(place, tuple) else flat_view(self)[place]
            return chosen.item()
        return tensor_of(self).item()

    def __reduce__(self) -> tuple[Any, ...]:
        return box, (self.tensor,)

    def copy(self, order: str = "C") -> ndarray:
        """Copy: a new array with the same elements."""
        return new_array(self.tensor) if order == "C" else functions["copy_in_order"](self, order)

    # In place

    def fill(self, value: Any) -> None:
        """Set all elements to a value."""
        self[...] = value

    def sort(self, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> None:
        """Sort the elements along an axis, in place."""
        replace(self, tensor_of(functions["sort"](self, index(axis), kind, order, stable=stable)))

    def partition(self, kth: Any, axis: int = -1, kind: str = "introselect", order: Any = None) -> None:
        """Partition the elements along an axis as `np.partition` does, in place."""
        replace(self, tensor_of(functions["partition"](self, kth, index(axis), kind, order)))

    def resize(self, *shape: Any, refcheck: bool = True) -> None:
        """Change the shape in place, padded with zeros."""
        if not shape or shape == (None,):
            return
        new = as_shape(shape[0] if len(shape) == 1 else shape)
        if self._t is None:  # a view may have another shape, but no other elements
            if prod(new) != self.size:
                text = "an array that is not a view"
                raise ArgumentError(expected(text, "use np.resize(x, shape)", shape=self.shape))
            self.shape = new
            return
        refuse_read_only(self)
        release(self)
        self._t = functions["resized_with_zeros"](self._t, new)

    # Views

    T: ndarray
    """The axes in reverse order: a view. The property is entered with the functions that are methods."""

    def to_device(self, device: str, /, *, stream: Any = None) -> ndarray:
        """The array on another device of its backend."""
        return box(tensor_of(self).to_device(device, stream=stream))


ndarray.__name__ = ndarray.__qualname__ = "ndarray"
ndarray.__module__ = __package__

blank: Final[Callable[[], ndarray]] = type.__call__.__get__(ndarray)
"""Makes an array without attributes, which the caller sets at once."""

_ALL: Final = slice(None)


def box(t: Tensor) -> ndarray:
    """An array that holds a tensor, to which nothing else may refer."""
    array = blank()
    array._t = t
    return array


def new_array(t: Tensor) -> ndarray:
    """An array that holds a tensor; one without axes stays an array, so that `x += 1` changes it."""
    array = blank()
    array._t = t
    if not t.template.shape:
        array._how = True
    return array


def result(t: Tensor) -> Any:
    """The result of a function for a tensor: an array, or NumPy's number for a tensor without axes in NumPy's memory.

    On other backends it is an array without axes, to avoid waiting for a device.
    """
    if t.template.shape or t.data.__class__ is not HOST:
        array = blank()
        array._t = t
        return array
    return t.data[()]


def root(x: ndarray) -> ndarray:
    """The array at the end of a chain of views."""
    return x._root if x._t is None else x


def view_of(base: ndarray, how: Any, of: Template | None = None) -> ndarray:
    """A view of an array by a plain key or a step."""
    view = blank()
    view._t = None
    view._make_view(base, how, base._template() if of is None else of)
    return view


def step_view(base: ndarray, how: Step) -> ndarray:
    """A view of an array by a step, which is performed immediately, so that errors are raised here."""
    return view_by_step(base, tensor_of(base), how)


def view_by_step(base: ndarray, t: Tensor, how: Step) -> ndarray:
    """A view by a step of an array that holds or shows a tensor."""
    view = blank()
    view._t = None
    view._base = base
    view._how = how
    view._of = t.template
    view._kept = how.read(t) if how.template is None else None
    view._shows = None
    view._root = of_root = base if base._t is not None else base._root
    view._seen = of_root._t.data
    view._uses = -1 if t.data.__class__ is HOST else 0
    return view


def reshape_to(shape: Sequence[int], lay: Callable[[Any], Any] | None = None) -> Step:
    """The step of a view in another shape, where NumPy needs no copy; `lay` where it is asked in other words."""
    size = tuple(shape)
    plain = plain_shape(size)
    return Step(
        lambda t: _reshape(t, size),
        lambda old, new: _reshape(new, old.shape, names=old.names),
        lay or (lambda layout: layout.reshape(plain, copy=False)),
    )


def flat_view(x: ndarray) -> ndarray:
    """All elements along one axis, row-major, to write to: also where NumPy's `ravel` is a copy."""
    return step_view(x, _FLAT)


_FLAT: Final = Step(lambda t: _reshape(t, (-1,)), lambda old, new: _reshape(new, old.shape, names=old.names), None)


@assignments.locked
def replace(x: ndarray, t: Tensor) -> None:
    """Replaces the elements of an array by those of a tensor of its shape and dtype, through views."""
    own = _to_write(x)
    if own is not None:
        if own.backend is t.backend or not t.backend.holds_data:
            if own.backend.holds_data and not t.backend.holds_data:
                _note_rebound(x, own)
            x._t = t if t.template is own.template and t.backend.holds_data else as_written(t, own.template)
        else:
            _setitem(own, ..., t)
        return
    if written_through(x, ..., t):
        return
    shown = overlapping(x)
    if shown is not None:
        functions["put_at_places"](x, shown, ..., t)
        return
    base, how = x._base, x._how
    if how.__class__ is Step:
        old = tensor_of(base)
        if old.template is not x._of:
            old = _reshape(old, x._of.shape)
        replace(base, _undo_reshape(how.write(old, t), base))
    else:
        put(_base_in_view(base, x._of), how, t)


def _to_write(x: ndarray) -> Tensor | None:
    """The tensor of an array that may be written to; `None` for a view."""
    own: Tensor | None = x._t
    if own is not None:
        release(x)
        if LOCKED:
            refuse_read_only(x)
    return own


def _note_rebound(x: ndarray, t: Tensor) -> None:
    """Notes that an array with data holds a value of a trace from now on, whose end gives it its data back."""

    def restore(x: ndarray) -> None:
        release(x)
        x._t = t

    note_rebound(x, restore)


def _undo_reshape(t: Tensor, base: ndarray) -> Tensor:
    return t if t.shape == base.shape else _reshape(t, base.shape)


def _base_in_view(base: ndarray, of: Template) -> ndarray:
    """The base of a view in the shape that it had when the view was made."""
    return base if base._template() is of else step_view(base, reshape_to(of.shape))


@assignments.locked
def put(x: ndarray, key: Any, value: Any) -> None:
    """Assigns a tensor or a Python number at a plain key, through views."""
    own = _to_write(x)
    if own is not None:
        if own.backend.holds_data and holds_traced(key, value):
            made = _put_at(own, key, value)
            _note_rebound(x, own)
            x._t = made
        elif value.__class__ is not Tensor or not is_basic(key) or not written(own, key, value):
            _setitem(own, key, value)
        return
    if is_basic(key):
        if written_through(x, key, value):
            return
    else:
        refuse_read_only(x)
    x._kept = x._seen = None
    shown = overlapping(x)
    if shown is not None:
        functions["put_at_places"](x, shown, key, value)
        return
    how = x._how
    if has_only_ints(how) and (key.__class__ is not tuple or is_basic(key) or begins_with_indices(key)):
        ints = how if how.__class__ is tuple else (how,)
        put(_base_in_view(x._base, x._of), (*ints, *(key if key.__class__ is tuple else (key,))), value)
        return
    t = x._read()
    x._kept = x._seen = None
    if t.backend.holds_data and holds_traced(key, value):
        t = _put_at(t, key, value)
    else:
        t = fresh(t)
        _setitem(t, key, value)
    replace(x, t)


def _flatten(x: ndarray) -> tuple[tuple[Tensor], None]:
    return (x.tensor,), None


def _unflatten(data: None, parts: tuple[Any, ...]) -> Any:
    part = parts[0]
    return box(fresh(part)) if part.__class__ is Tensor else part  # a part may be anything, such as a derivative


register_tree_node(ndarray, _flatten, _unflatten)
