"""`ndarray`: NumPy's array around a tensor, with views that are written through.

An array is either a *root*, which holds a tensor, or a *view*, which holds its base and how to read it: a key of basic
indexing, or a `Step` such as a reshape. A view reads its base anew whenever it is used, and a write to it is a write
to its base. So views are right on backends whose memory cannot be shared or written to, and in traces, where an array
is a value. Nothing of a view is kept that would keep the root's memory from being written in place: the first use of a
view takes what was read when it was made.

Each array has a `Tensor` object of its own, so that a write changes no tensor that a user holds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from operator import index
from sys import getrefcount
from types import EllipsisType, NoneType
from typing import Any, Final, NoReturn

import numpy

from ..caching.option_keys import holds_entries, remember
from ..dtypes import complex128, float64, int64
from ..errors import ArgumentError, ShapeError, expected
from ..expr.trees import register_tree_node
from ..protocol.owners import held_alone, pinned
from ..template import Shape, Template, TemplateKind, intern_template
from ..tensor import Tensor, blank_tensor, public_op
from .dtypes import numpy_dtype

functions: Final[dict[str, Callable[..., Any]]] = {}
"""Functions of this package that arrays need, by name; their modules import this one."""

_getitem: Final = public_op("getitem")
_setitem: Final = public_op("setitem")
_put_at: Final = public_op("put_at")
_reshape: Final = public_op("reshape")
_permute: Final = public_op("permute_dims")

HERE: Final = os.path.dirname(__file__)
"""Where generated code says that it is, so that its frames are those of this package and not of the user."""

_SOLE: Final = pinned() or -1
"""The references to the base of a view that nobody else holds: the view's, a variable, and that of the count itself."""

HOST: Final = numpy.ndarray
"""The class of payloads whose elements can be read at once."""


class Step:
    """How a view other than by indexing is read from its base, and how its base is made anew from it."""

    __slots__ = ("read", "write")

    def __init__(self, read: Callable[[Tensor], Tensor], write: Callable[[Tensor, Tensor], Tensor]) -> None:
        self.read, self.write = read, write


class ArrayType(type):
    """The class of `ndarray`: a call makes an array of a shape, and no `__init__` slows the making of results."""

    def __call__(cls, *arguments: Any, **options: Any) -> Any:
        return functions["ndarray"](*arguments, **options)


class ndarray(metaclass=ArrayType):
    """NumPy's array on any backend.

    `ndarray(shape, dtype=float, buffer=None)` makes one, as in NumPy; programs mostly call `array`, `zeros` and the
    like.

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

    __slots__ = ("__weakref__", "_base", "_how", "_kept", "_of", "_seen", "_t")

    _t: Any
    """The tensor of a root, `None` in a view."""
    _base: ndarray
    """The array that a view reads."""
    _how: Any
    """The key of basic indexing, or the `Step`, by which a view reads its base; `True` in a root without axes that a
    program made as an array, so that `x += 1` changes it; otherwise not set in roots."""
    _of: Template
    """The template that the base of a view had: assigning to the base's shape changes it."""
    _kept: Any
    """What was read for a view, until it is used; on backends whose payloads never change, until the base changes."""
    _seen: Any
    """The payload of the base from which `_kept` was read."""

    __array_priority__ = 1000.0

    def __init_subclass__(cls, **options: Any) -> NoReturn:
        raise TypeError(f"ndarray: expected no subclass, got class {cls.__name__}; hold an array in an attribute")

    # The tensor

    def _read(self) -> Tensor:
        """The tensor of a view."""
        base = self._base
        t = base._t
        if t is None:
            t = base._read()
        elif self._how.__class__ is Step and getrefcount(base) == _SOLE:
            del base
            return self._settled()
        kept = self._kept
        if kept is not None:
            data = t.data
            if data is self._seen:
                if data.__class__ is HOST or not _keeps(data):
                    self._kept = self._seen = None
                return kept  # type: ignore[no-any-return]
            self._kept = self._seen = None
        if t.template is not self._of:
            t = _reshape(t, self._of.shape, names=self._of.names)
        how = self._how
        result: Tensor = how.read(t) if how.__class__ is Step else _cut(t, how)
        if t.data.__class__ is not HOST and _keeps(t.data):
            self._kept, self._seen = result, t.data
        return result

    def _settled(self) -> Tensor:
        """The tensor of a view whose base nobody else holds, as in `arange(6).reshape(2, 3)`: it becomes a root."""
        t = self._base._t
        if t.template is not self._of:
            t = _reshape(t, self._of.shape, names=self._of.names)
        self._t = own = self._how.read(t)
        self._kept = self._seen = None
        del self._base, self._how
        return own  # type: ignore[no-any-return]

    @property
    def tensor(self) -> Tensor:
        """The array as a tensor, without a copy of its data; later writes to the array leave the tensor as it is."""
        t = self._t
        return Tensor(t.template, t.backend, t.data) if t is not None else fresh(self._read())

    def _template(self) -> Template:
        t = self._t
        if t is None:
            t = self._kept
            if t is None:
                t = self._read()
        template: Template = t.template
        return template

    @property
    def names(self) -> tuple[str | None, ...]:
        """The names of the axes, `None` where an axis has none."""
        return self._template().names

    # What it looks like

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
        self._make_view(view_of(self._base, self._how, self._of), reshaped(new.template), t.template)

    def _make_view(self, base: ndarray, how: Any, of: Template) -> None:
        self._base, self._how, self._of, self._kept, self._seen = base, how, of, None, None

    @property
    def dtype(self) -> Any:
        """The dtype, as an object of NumPy's."""
        return numpy_dtype(self._template().dtype)

    @dtype.setter
    def dtype(self, dtype: Any) -> NoReturn:
        raise ArgumentError(expected("no assignment to dtype", "use x.view(dtype) or x.astype(dtype)", dtype=dtype))

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._template().shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._template().size

    @property
    def itemsize(self) -> int:
        """The number of bytes of an element."""
        return self._template().dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The number of bytes of all elements."""
        return self._template().nbytes

    @property
    def strides(self) -> tuple[int, ...]:
        """The steps in bytes along each axis of a row-major array of this shape."""
        template = self._template()
        steps, step = [], template.dtype.itemsize
        for size in reversed(template.shape):
            steps.append(step)
            step *= size
        return tuple(reversed(steps))

    @property
    def base(self) -> ndarray | None:
        """The array whose elements a view shows, `None` for any other array."""
        if self._t is not None:
            return None
        base = self._base
        while base._t is None:
            base = base._base
        return base

    @property
    def flags(self) -> Flags:
        """What NumPy says about memory: each array here looks row-major and may be written to."""
        return Flags(self)

    @property
    def device(self) -> str:
        """The device that holds the data."""
        return tensor_of(self).device

    def __len__(self) -> int:
        shape = self._template().shape
        if not shape:
            raise TypeError("len() of unsized object")
        return shape[0]

    # Elements

    def __getitem__(self, key: Any) -> Any:
        t = self._t
        if t is None:
            t = self._read()
        kind = key.__class__
        if kind is int or kind is _INT64:
            if len(t.template.shape) == 1:
                return _element(t, key)
        elif kind is tuple:
            known = _STRUCTURES.get(tuple(map(type, key)))
            if known is None:
                known = _structure(key)
            if known == _INTS:
                if len(key) == len(t.template.shape):
                    return _element(t, key)
            elif known == _OTHER:
                return functions["getitem"](self, key)
        elif kind is not slice and not (key is None or key is ...):
            return functions["getitem"](self, key)
        try:
            read = _cut(t, key)
        except Exception:  # bounds of slices that are arrays; whatever else is wrong is raised again
            return functions["getitem"](self, key)
        view = blank()
        view._t = None
        view._base = self
        view._how = key
        view._of = t.template
        view._kept = read
        view._seen = t.data
        return view

    def __setitem__(self, key: Any, value: Any) -> None:
        t = self._t
        if value.__class__ is ndarray:
            v = value._t
            if v is None:
                if value._base is self and value._how is key:
                    return  # the second half of `x[key] += v`, which wrote to the view
                v = value._read()
                if root(value) is root(self):
                    v = apart(v)
            if (
                t is not None
                and v.template.dtype is t.template.dtype
                and len(v.template.shape) <= len(t.template.shape)
            ):
                kind = key.__class__
                whole = key == _ALL if kind is slice else key is ...
                if whole and v.template.shape == t.template.shape and v.backend is t.backend:
                    self._t = Tensor(t.template, t.backend, v.data)
                    return
                if kind is int or kind is slice or (kind is tuple and _structure(key)):
                    try:
                        _setitem(t, key, v)
                    except Exception:  # bounds that are arrays, sizes that only NumPy broadcasts; raised again
                        functions["setitem"](self, key, v)
                    return
            functions["setitem"](self, key, v)
            return
        if t is not None:
            dtype = t.template.dtype
            kind = value.__class__
            data = t.data
            own = data.__class__ is HOST
            if own and kind is data.dtype.type:
                pass
            elif (kind is float and dtype.is_inexact) or (kind is int and dtype.is_numeric):
                own = own and dtype in _WIDE
            else:
                functions["setitem"](self, key, value)
                return
            del data
            place = key.__class__
            if place is int or place is slice or (place is tuple and _structure(key)):
                try:
                    if own and held_alone(t):
                        data = t.data
                        if data.base is None and data.flags.owndata:
                            data[key] = value
                            return
                        del data
                    _setitem(t, key, value.item() if own and kind is not float and kind is not int else value)
                except Exception:  # as above
                    functions["setitem"](self, key, value)
                return
        functions["setitem"](self, key, value)

    def __iter__(self) -> Iterator[Any]:
        return (self[position] for position in range(len(self)))

    def __contains__(self, value: Any) -> bool:
        return bool(functions["any"](self == value))

    # To Python and NumPy

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> numpy.ndarray[Any, Any]:
        """The elements as NumPy's array, in memory of its own."""
        return numpy.array(tensor_of(self).__array__(), dtype=dtype, copy=True)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return functions["numpy_ufunc"](ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        return functions["numpy_function"](function, types, arguments, options)

    def item(self, *position: Any) -> Any:
        """An element as a Python number: the only one, or the one at a position."""
        if position:
            place = position[0] if len(position) == 1 else position
            chosen = self[place] if isinstance(place, tuple) else self.ravel()[place]
            return chosen.item()
        return tensor_of(self).item()

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers."""
        return tensor_of(self).tolist()

    def tobytes(self, order: str | None = "C") -> bytes:
        """The elements as bytes, row-major."""
        return numpy.asarray(self).tobytes(order)  # type: ignore[arg-type]

    def __bool__(self) -> bool:
        t = tensor_of(self)
        if t.size != 1:
            text = "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
            raise ShapeError(text if t.size else "The truth value of an empty array is ambiguous. Use `array.size > 0`")
        return bool(t)

    def __int__(self) -> int:
        return int(_sole(self))

    def __float__(self) -> float:
        return float(_sole(self))

    def __complex__(self) -> complex:
        return complex(_sole(self))

    def __index__(self) -> int:
        return index(tensor_of(self))

    def __hash__(self) -> int:
        if self._template().shape:
            raise TypeError("unhashable type: 'numpy.ndarray'")
        return hash(self.item())

    def __repr__(self) -> str:
        return str(functions["array_repr"](self))

    def __str__(self) -> str:
        return str(functions["array_str"](self))

    def __format__(self, specification: str) -> str:
        return format(self.item(), specification) if not self.shape and specification else str(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return box, (self.tensor,)

    def __copy__(self) -> ndarray:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> ndarray:
        return self.copy()

    def copy(self, order: str = "C") -> ndarray:
        """An array of its own with the same elements."""
        return box(self.tensor)

    # In place

    def fill(self, value: Any) -> None:
        """Sets all elements to one value."""
        self[...] = value

    def sort(self, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> None:
        """Sorts the elements along an axis, in place."""
        replace(self, tensor_of(functions["sort"](self, axis, kind, order, stable=stable)))

    def partition(self, kth: Any, axis: int = -1, kind: str = "introselect", order: Any = None) -> None:
        """Puts the elements at their places along an axis as `np.partition` does, in place."""
        replace(self, tensor_of(functions["partition"](self, kth, axis, kind, order)))

    def compress(self, condition: Any, axis: Any = None, out: Any = None) -> Any:
        """The entries along an axis where a condition holds."""
        return functions["compress"](condition, self, axis, out)

    def resize(self, *shape: Any, refcheck: bool = True) -> None:
        """Another shape in place, filled up with zeros."""
        new = as_shape(shape[0] if len(shape) == 1 else shape)
        if self._t is None:
            raise ArgumentError(expected("an array that is no view", "use np.resize(x, shape)", shape=self.shape))
        self._t = functions["resized_with_zeros"](self._t, new)

    def setflags(self, write: Any = None, align: Any = None, uic: Any = None) -> None:
        """Refuses what cannot be had: an array that cannot be written to."""
        if write is not None and not write:
            raise ArgumentError(expected("arrays that may be written to", "keep a copy", write=write))

    # Views

    @property
    def T(self) -> ndarray:
        """The axes in reverse order: a view."""
        ndim = self.ndim
        step = _REVERSED.get(ndim)
        if step is None:
            order = tuple(range(ndim))[::-1]
            step = _REVERSED[ndim] = Step(lambda t: _permute(t, order), lambda old, new: _permute(new, order))
        return stepped(self, step)

    @property
    def mT(self) -> ndarray:
        """The last two axes exchanged: a view."""
        result: ndarray = functions["matrix_transpose"](self)
        return result

    def transpose(self, *axes: Any) -> ndarray:
        """The axes in another order, by default reversed: a view."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
        result: ndarray = functions["transpose"](self, order)
        return result

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> ndarray:
        """The elements in another shape: a view."""
        result: ndarray = functions["reshape"](self, shape[0] if len(shape) == 1 else shape, order, copy=copy)
        return result

    def flatten(self, order: str = "C") -> ndarray:
        """The elements along one axis, in an array of its own."""
        result: ndarray = functions["ravel"](self, order)
        return box(result.tensor)

    def view(self, dtype: Any = None, type: Any = None) -> ndarray:
        """The memory seen in another dtype, or the array itself as a view."""
        result: ndarray = functions["view"](self, dtype, type)
        return result

    def astype(
        self, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
    ) -> ndarray:
        """The elements in another dtype, in an array of its own."""
        result: ndarray = functions["astype"](self, dtype, casting=casting, copy=copy)
        return result

    @property
    def flat(self) -> Any:
        """An iterator over the elements, which can be indexed and assigned to."""
        return functions["flatiter"](self)

    @flat.setter
    def flat(self, value: Any) -> None:
        functions["flatiter"](self)[...] = value

    @property
    def real(self) -> ndarray:
        """The real parts: a view."""
        result: ndarray = functions["real"](self)
        return result

    @real.setter
    def real(self, value: Any) -> None:
        functions["real"](self)[...] = value

    @property
    def imag(self) -> ndarray:
        """The imaginary parts: a view."""
        result: ndarray = functions["imag"](self)
        return result

    @imag.setter
    def imag(self, value: Any) -> None:
        functions["imag"](self)[...] = value

    def to_device(self, device: str, /, *, stream: Any = None) -> ndarray:
        """The array on another device of its backend."""
        return box(tensor_of(self).to_device(device, stream=stream))

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return functions["namespace"]()


ndarray.__name__ = ndarray.__qualname__ = "ndarray"
ndarray.__module__ = __package__

blank: Final[Callable[[], ndarray]] = type.__call__.__get__(ndarray)
"""Makes an array without attributes, which the caller sets at once."""

_REVERSED: Final[dict[int, Step]] = {}
"""The step of `x.T` by the number of axes."""

_ALL: Final = slice(None)
_WIDE: Final = frozenset({float64, complex128, int64})
"""Dtypes that hold Python's numbers as they are, or raise `OverflowError`."""
_INTS: Final = 1
_BASIC: Final = 2
_OTHER: Final = 0
_STRUCTURES: Final[dict[tuple[type, ...], int]] = {}
"""Whether the classes of a key's parts make it one of ints, one of basic indexing, or another."""

holds_entries("keys of arrays", _STRUCTURES)

_INT64: Final = numpy.int64
_PLAIN: Final = frozenset({slice, NoneType, EllipsisType})


def _structure(key: tuple[Any, ...]) -> int:
    kinds = tuple(map(type, key))
    found = _STRUCTURES.get(kinds)
    if found is None:
        ints = [kind is int or issubclass(kind, numpy.integer) for kind in kinds]
        plain = [is_int or kind in _PLAIN for is_int, kind in zip(ints, kinds, strict=True)]
        found = _INTS if kinds and all(ints) else _BASIC if all(plain) else _OTHER
        remember(_STRUCTURES, kinds, found)
    return found


def is_basic(key: Any) -> bool:
    """Whether a key, made plain, is one of basic indexing, which gives a view."""
    return all(
        part.__class__ in (int, slice, NoneType, EllipsisType) for part in (key if type(key) is tuple else (key,))
    )


_KEEPS: Final[dict[type, bool]] = {}


def _keeps(payload: Any) -> bool:
    """Whether payloads of this class never change, so that a view may keep what it read."""
    kind = payload.__class__
    found = _KEEPS.get(kind)
    if found is None:
        found = _KEEPS[kind] = kind.__module__.partition(".")[0] not in ("numpy", "torch", "cupy", "ml_dtypes")
    return found


def box(t: Tensor) -> ndarray:
    """An array that holds a tensor, which nobody else may hold."""
    array = blank()
    array._t = t
    return array


def result(t: Tensor) -> Any:
    """What a function returns for a tensor: an array, or NumPy's number for a tensor without axes in NumPy's memory.

    On other backends it is an array without axes, so that nothing waits for a device.
    """
    if t.template.shape or t.data.__class__ is not HOST:
        array = blank()
        array._t = t
        return array
    return t.data[()]


def fresh(t: Tensor) -> Tensor:
    """A tensor object of its own with the same data."""
    return Tensor(t.template, t.backend, t.data)


def apart(t: Tensor) -> Tensor:
    """A tensor whose memory nothing else refers to, where the backend's memory can be written to."""
    return Tensor(t.template, t.backend, t.data.copy()) if t.data.__class__ is HOST else t


def root(x: ndarray) -> ndarray:
    """The array at the end of a chain of views."""
    while x._t is None:
        x = x._base
    return x


def tensor_of(x: ndarray) -> Tensor:
    """The tensor of an array, for reading only: nothing may be assigned to it."""
    t: Tensor = x._t
    return x._read() if t is None else t


_CUTS: Final[dict[tuple[TemplateKind, Shape], Template]] = {}
"""The templates of views by the kind of the base and the shape; axes with names are left to the library's indexing."""

holds_entries("views of arrays", _CUTS)


def _cut(t: Tensor, key: Any) -> Tensor:
    """The elements at a key of basic indexing; in NumPy's memory by NumPy itself, as most views are used once."""
    data = t.data
    if data.__class__ is HOST:
        kind = t.template.kind
        part = data[key]
        shape = part.shape
        template = _CUTS.get((kind, shape))
        if template is None:
            if any(kind.names):
                return _getitem(t, key)
            template = intern_template(shape, kind.dtype, (None,) * len(shape))
            remember(_CUTS, (kind, shape), template)
        cut = blank_tensor()
        cut.template = template
        cut.backend = t.backend
        cut.data = part
        return cut
    return _getitem(t, key)


def _element(t: Tensor, key: Any) -> Any:
    """The element at a key of ints."""
    data = t.data
    if data.__class__ is HOST:
        try:
            return data[key]
        except IndexError:
            pass
    return result(_getitem(t, key))


def _sole(x: ndarray) -> Any:
    t = tensor_of(x)
    if t.size != 1:
        raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
    return t.item()


def view_of(base: ndarray, how: Any, of: Template | None = None) -> ndarray:
    """A view of an array by a plain key or a step."""
    view = blank()
    view._t = None
    view._make_view(base, how, base._template() if of is None else of)
    return view


def stepped(base: ndarray, how: Step) -> ndarray:
    """A view of an array by a step, which is taken at once, so that what is wrong is raised here."""
    t = tensor_of(base)
    view = blank()
    view._t = None
    view._base = base
    view._how = how
    view._of = t.template
    view._kept = how.read(t)
    view._seen = t.data
    return view


def reshaped(template: Template) -> Step:
    """The step of a view in another shape."""
    shape = template.shape
    return Step(lambda t: _reshape(t, shape), lambda old, new: _reshape(new, old.shape, names=old.names))


def replace(x: ndarray, t: Tensor) -> None:
    """Gives an array the elements of a tensor of its shape and dtype, through views."""
    own = x._t
    if own is not None:
        if own.backend is t.backend or not t.backend.holds_data:
            x._t = t if t.template is own.template else Tensor(own.template, t.backend, t.data)
        else:
            _setitem(own, ..., t)
        return
    x._kept = x._seen = None
    base, how = x._base, x._how
    if how.__class__ is Step:
        old = tensor_of(base)
        if old.template is not x._of:
            old = _reshape(old, x._of.shape)
        replace(base, _restored(how.write(old, t), base))
    else:
        put(_as_seen(base, x._of), how, t)


def _restored(t: Tensor, base: ndarray) -> Tensor:
    shape = base.shape
    return t if t.shape == shape else _reshape(t, shape)


def _as_seen(base: ndarray, of: Template) -> ndarray:
    """The base of a view in the shape that it had when the view was made."""
    return base if base._template() is of else stepped(base, reshaped(of))


def put(x: ndarray, key: Any, value: Any) -> None:
    """Assigns a tensor or a Python number at a plain key, through views."""
    own = x._t
    if own is not None:
        if value.__class__ is Tensor and own.backend.holds_data and not value.backend.holds_data:
            x._t = _put_at(own, key, value)  # of a trace: whoever uses it afterwards outside is told so
        else:
            _setitem(own, key, value)
        return
    x._kept = x._seen = None
    how = x._how
    if how.__class__ is Step:
        x._read()
        if x._t is not None:  # it has become a root
            put(x, key, value)
            return
        x._kept = x._seen = None
    if how.__class__ in (int, _INT64) or (how.__class__ is tuple and _structure(how) == _INTS):
        ints = how if how.__class__ is tuple else (how,)
        put(_as_seen(x._base, x._of), (*ints, *(key if key.__class__ is tuple else (key,))), value)
        return
    t = fresh(x._read())
    x._kept = x._seen = None
    _setitem(t, key, value)
    replace(x, t)


def as_shape(shape: Any) -> tuple[int, ...]:
    """A shape as NumPy takes it, an int or a sequence of them, as a tuple."""
    if shape.__class__ is int:
        return (shape,)
    if shape.__class__ is tuple and all(size.__class__ is int for size in shape):
        return shape  # type: ignore[no-any-return]
    try:
        return (index(shape),)
    except TypeError:
        return tuple([size if not hasattr(size, "__index__") else index(size) for size in shape])


class Flags:
    """`x.flags`, of an array that looks row-major."""

    def __init__(self, x: ndarray) -> None:
        self.owndata = x._t is not None
        self.c_contiguous = self.contiguous = self.aligned = self.carray = self.behaved = True
        self.f_contiguous = self.fortran = sum(size != 1 for size in x.shape) < 2
        self.writebackifcopy = False
        self.fnc, self.forc = False, True
        object.__setattr__(self, "writeable", True)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "writeable" and not value:
            raise ArgumentError(expected("arrays that may be written to", "keep a copy", writeable=value))
        object.__setattr__(self, name, value)

    def __getitem__(self, name: str) -> bool:
        flag: bool = getattr(self, name.lower())
        return flag

    def __setitem__(self, name: str, value: Any) -> None:
        setattr(self, name.lower(), value)


def _flatten(x: ndarray) -> tuple[tuple[Tensor], None]:
    return (x.tensor,), None


def _unflatten(data: None, parts: tuple[Any, ...]) -> Any:
    part = parts[0]
    return box(fresh(part)) if part.__class__ is Tensor else part  # a part may be anything, such as a derivative


register_tree_node(ndarray, _flatten, _unflatten)
