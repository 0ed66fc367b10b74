"""What an array holds: a tensor, or its base and how to read it.

The base class of `ndarray`, whose module says how views work. Its methods make no arrays.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial, wraps
from types import FunctionType, new_class
from typing import Any, Final, NoReturn, Self
from weakref import ReferenceType, ref

import numpy

from ..caching.memos import POLICY
from ..dispatch.watching import Change, Subject, is_program
from ..errors import ArgumentError, expected
from ..template import Shape, Template
from ..tensor import Tensor, blank_tensor, public_op
from .bodies import computes, planned_kernel
from .dtypes import numpy_dtype
from .keys import HOST, cut
from .subclasses import theirs, translated

functions: Final[dict[str, Callable[..., Any]]] = {}
"""Functions of this package that arrays need, by name; their modules import this one."""

_reshape: Final = public_op("reshape")

HERE: Final = os.path.dirname(__file__)
"""Where generated code says that it is, so that its frames are those of this package and not of the user."""

_LASTS: Final = 3
"""The readings after which a view keeps what it read. Keeping takes as long as three readings, and a write ends it for
good: so a loop that writes to the root and reads a view of it takes no longer."""

LASTING: Final[dict[int, dict[int, ReferenceType[Any]]]] = {}
"""The views that keep what they read, by the `id` of their root and their own. Without it a write would find a second
reference to the root's memory, and copy."""


def release(root: Any) -> None:
    """Makes the views of a root that is written to keep nothing, so that nothing else refers to its memory."""
    views = LASTING.pop(id(root), None)
    if views is None:
        return
    for reference in list(views.values()):
        view = reference()
        if view is not None:
            view._kept = view._seen = None


def _forget(root: int, view: int, reference: ReferenceType[Any]) -> None:
    views = LASTING.get(root)
    if views is not None:
        views.pop(view, None)
        if not views:
            LASTING.pop(root, None)


class Step:
    """How a view other than by indexing is read from its base, and how its base is updated from it.

    If a base of one template is read often, a kernel is planned, by which later readings run.

    Parameters
    ----------
    read : Callable
        The tensor of the view, from that of its base.
    write : Callable
        The tensor of the base, from the old one and the new tensor of the view.
    lay : Callable, optional
        What NumPy makes of an array here, without reading it; `None` for a reshape where NumPy would copy.
    writeable : bool, default True
        Whether NumPy lets programs write to the view.
    owns : bool, default False
        Whether NumPy's array is no view: it has elements of its own, whose axes are in another order in memory.
    overlaps : bool, default False
        Whether an element of the base may be shown more than once. Then `write` is not called.
    template : Template, optional
        What the view shows, so that it is read only when it is used.
    """

    __slots__ = ("__weakref__", "_ready", "_runs", "how", "lay", "overlaps", "owns", "template", "write", "writeable")

    def __init__(
        self, read: Callable[[Tensor], Tensor], write: Callable[[Tensor, Tensor], Tensor],
        lay: Callable[[Any], Any] | None, *, writeable: bool = True, owns: bool = False, overlaps: bool = False,
        template: Template | None = None,
    ) -> None:  # fmt: skip
        self.how, self.write, self.lay = read, write, lay
        self.writeable, self.owns, self.overlaps, self.template = writeable, owns, overlaps, template
        self._ready: tuple[Template, Any, Template, Any] | None = None
        """The template and the backend of a base that was read, the template that it shows, and the kernel if it is
        planned; in one attribute, as several threads may read."""
        self._runs = 0

    def read(self, t: Tensor) -> Tensor:
        """The tensor of a view of a base."""
        ready = self._ready
        if ready is not None:
            of, backend, shows, kernel = ready
            if kernel is not None and t.template is of and t.backend is backend:
                made = blank_tensor()
                made.template = shows
                made.backend = backend
                made.data = kernel(t.data)
                return made
        result = self.how(t)
        if self.template is None and computes(t.backend):
            self._learn(t, result)
        return result

    def shows(self, of: Template) -> Template | None:
        """What a view of a base of some template shows, if that is known without reading it."""
        ready = self._ready
        return ready[2] if ready is not None and ready[0] is of else self.template

    def _learn(self, t: Tensor, result: Tensor) -> None:
        """Notes that a base was read; plans the kernel for one that was read often."""
        ready = self._ready
        if ready is None or t.template is not ready[0] or t.backend is not ready[1]:
            self._ready, self._runs = (t.template, t.backend, result.template, None), 0
        self._runs += 1
        if self._runs == POLICY.calls_before_body:
            kernel = planned_kernel(t.backend, self.how, (t.template,), result)
            if kernel is not None:
                self._ready = t.template, t.backend, result.template, kernel
                is_program(self)

    def exchange(self, change: Change) -> None:
        """Replaces the kernel by what `change` returns for it."""
        ready = self._ready
        if ready is not None and ready[3] is not None:
            of, backend, shows, kernel = ready
            self._ready = of, backend, shows, change(kernel, Subject("view", "view", backend))


class Holder:
    """A root, which holds a tensor, or a view, which holds its base."""

    holds_tensor = True
    """Says that functions of tensors take `x.tensor`."""

    __slots__ = ("__weakref__", "_base", "_how", "_kept", "_of", "_root", "_seen", "_shows", "_t", "_uses")

    _t: Any
    """The tensor of a root, `None` in a view."""
    _base: Self
    """The array that a view reads."""
    _how: Any
    """The key of basic indexing, or the `Step`, by which a view reads its base; `True` in a root without axes that a
    program made as an array, so that `x += 1` changes it; otherwise not set in roots."""
    _of: Template
    """The template that the base of a view had: assigning to the base's shape changes it."""
    _kept: Any
    """What was read for a view, until it is used; if the view is used often, until a write to its root, and on backends
    whose payloads never change until the base changes."""
    _root: Self
    """The array at the end of a view's chain of bases, which is a root; not set in roots."""
    _seen: Any
    """The payload of the root from which `_kept` was read."""
    _shows: Template | None
    """The template that a view by a key shows of a base of the template `_of`; `None` for other views."""
    _uses: int
    """How often a view read its base in NumPy's memory; what reading number `_LASTS` has read is kept. First 0, or -1
    where a step was read when the view was made. If it is positive, what is kept is returned as long as the root's
    payload is the same."""

    def _read(self) -> Tensor:
        """The tensor of a view."""
        shows = self._shows
        t = self._base._t
        if shows is not None and t is not None and t.template is self._of:  # a part of a root, as most views are
            data = t.data
            if data.__class__ is HOST:
                if data is self._seen:
                    kept: Tensor | None = self._kept  # after `_seen`, as another thread may replace both
                    if kept is not None:
                        return kept
                made = blank_tensor()
                made.template = shows
                made.backend = t.backend
                made.data = data[self._how]
                uses = self._uses = self._uses + 1
                if uses == _LASTS:
                    self._keep(made, data)
                return made
        seen = self._root._t.data
        if seen is self._seen:
            kept = self._kept
            if kept is not None:
                uses = self._uses
                if uses > 0:
                    return kept
                if uses < 0:
                    self._kept = self._seen = None
                    return kept
        base, how = self._base, self._how
        t = base._t
        if t is None:
            if base._how.__class__ is slice and base._base._t is None and base._base._how.__class__ is slice:
                self._base = base = base._without_middle()
            t = base._read()
        data = t.data
        on_host = data.__class__ is HOST
        kept = self._kept
        if kept is not None:
            valid = seen is self._seen
            if valid and not on_host and _keeps(data):
                self._uses = 1
                return kept
            self._kept = self._seen = None
            if valid:
                return kept
        if t.template is not self._of:
            t = _reshape(t, self._of.shape, names=self._of.names)
            result = how.read(t) if how.__class__ is Step else cut(t, how)
        elif on_host and self._shows is not None:
            result = blank_tensor()
            result.template = self._shows
            result.backend = t.backend
            result.data = data[how]
        else:
            result = how.read(t) if how.__class__ is Step else cut(t, how)
        if on_host:
            self._uses += 1
            if self._uses == _LASTS:
                self._keep(result, seen)
        elif _keeps(data):
            self._kept, self._seen, self._uses = result, seen, 1
        return result

    def _without_middle(self) -> Self:
        """A view of the base of its base that shows the same: so `x = x[1:]` in a loop makes no long chain of views."""
        middle = self._base
        kept = range(middle._of.shape[0])[middle._how][self._how]
        stop = None if kept.step < 0 and kept.stop < 0 else kept.stop
        view = object.__new__(type(self))
        view._t = None
        view._make_view(middle._base, slice(kept.start, stop, kept.step), middle._of)
        return view

    def _keep(self, result: Tensor, seen: Any) -> None:
        """Keeps what was read from NumPy's memory until a write."""
        root = id(self._root)
        LASTING.setdefault(root, {})[id(self)] = ref(self, partial(_forget, root, id(self)))
        self._kept, self._seen = result, seen

    @property
    def tensor(self) -> Tensor:
        """The array as a tensor, without a copy of its data; later writes to the array do not change the tensor."""
        t = self._t
        return Tensor(t.template, t.backend, t.data) if t is not None else fresh(self._read())

    def _template(self) -> Template:
        t = self._t
        if t is None:
            shows = self._shows
            if shows is not None:
                return shows
            t = self._kept
            if t is None:
                how = self._how
                if how.__class__ is Step:
                    shown = how.shows(self._of)
                    if shown is not None:
                        return shown
                t = self._read()
        template: Template = t.template
        return template

    @property
    def names(self) -> tuple[str | None, ...]:
        """The names of the axes, `None` for an axis without one."""
        return self._template().names

    def _make_view(self, base: Self, how: Any, of: Template) -> None:
        self._base, self._how, self._of, self._kept, self._seen = base, how, of, None, None
        self._root = base if base._t is not None else base._root
        self._shows, self._uses = None, 0

    @property
    def shape(self) -> Shape:
        """The size of each axis."""
        return self._template().shape

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
    def base(self) -> Self | None:
        """The array whose elements a view shows, `None` for any other array."""
        owner = self
        while owner._t is None and not (owner._how.__class__ is Step and owner._how.owns):
            owner = owner._base
        return None if owner is self else owner

    @property
    def device(self) -> str:
        """The device that holds the data."""
        return tensor_of(self).device

    def __len__(self) -> int:
        shape = self._template().shape
        if not shape:
            raise TypeError("len() of unsized object")
        return shape[0]


class OfNumpy(numpy.ndarray[Any, Any]):
    """The base of a program's subclasses of `ndarray`: NumPy's class, whose buffers may be arrays of the namespace."""

    def __new__(cls, shape: Any, dtype: Any = float, buffer: Any = None, *arguments: Any, **options: Any) -> Self:
        """A new array, of the elements in a buffer."""
        given = buffer
        if isinstance(buffer, Holder):
            given = numpy.array(buffer)
            functions["set_writeable"](buffer if buffer._t is not None else buffer._root, False)
        return super().__new__(cls, shape, dtype, given, *arguments, **options)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """The result of NumPy's function."""
        return super().__array_function__(theirs(func), types, args, kwargs)

    def view(self, *arguments: Any, **options: Any) -> Any:
        """A view of the same memory; one as `ndarray` is of NumPy's class, as the memory is NumPy's."""
        given = [numpy.ndarray if each.__class__ is ArrayType else each for each in arguments]
        named = {name: numpy.ndarray if each.__class__ is ArrayType else each for name, each in options.items()}
        return super().view(*given, **named)


_UNBOUND: Final[dict[str, Callable[..., Any]]] = {}
"""The methods of `ndarray` that a program asked the class for."""


def _unbound(name: str, ours: Callable[..., Any]) -> Callable[..., Any]:
    """A method that is called by the class: in `np.ndarray.sum(x)` x may be an array of a subclass."""
    theirs = getattr(HOST, name)

    @wraps(ours)
    def method(first: Any, /, *arguments: Any, **options: Any) -> Any:
        return (theirs if isinstance(first, HOST) else ours)(first, *arguments, **options)

    return method


def _new(cls: type[Any], *arguments: Any, **options: Any) -> Any:
    """A new array of a class: `ndarray`, or a subclass, which is one of NumPy's class."""
    if issubclass(cls, HOST):
        make: Any = (OfNumpy if issubclass(cls, OfNumpy) else HOST).__new__
        return make(cls, *arguments, **options)
    return functions["ndarray"](*arguments, **options) if arguments or options else object.__new__(cls)


class ArrayType(type):
    """The class of `ndarray`: a call makes an array of a shape, without an `__init__`, which would be slower.

    All arrays of NumPy's are instances, as `isinstance(x, np.ndarray)` tells programs arrays from numbers and lists. A
    subclass is one of NumPy's own class.
    """

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any], **options: Any) -> Any:
        if any(base.__class__ is cls for base in bases):
            bases = tuple([OfNumpy if base.__class__ is cls else base for base in bases])
            told = {each: translated(each, value) for each, value in body.items()}
            return new_class(name, bases, options, lambda scope: scope.update(told))
        return super().__new__(cls, name, bases, body, **options)

    def __getattribute__(cls, name: str) -> Any:
        """Return an attribute of the class; its methods take NumPy's arrays too, as those of a subclass call them."""
        if name == "__new__":
            return _new
        found = super().__getattribute__(name)
        if found.__class__ is not FunctionType or not hasattr(HOST, name):
            return found
        return _UNBOUND.get(name) or _UNBOUND.setdefault(name, _unbound(name, found))

    def __getattr__(cls, name: str) -> Any:
        """Return a method that NumPy's arrays alone have, such as `__array_wrap__`."""
        return getattr(HOST, name)

    def __call__(cls, *arguments: Any, **options: Any) -> Any:
        return functions["ndarray"](*arguments, **options)

    def __instancecheck__(cls, instance: Any) -> bool:
        return super().__instancecheck__(instance) or isinstance(instance, HOST)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return super().__subclasscheck__(subclass) or issubclass(subclass, HOST)


_KEEPS: Final[dict[type, bool]] = {}


def _keeps(payload: Any) -> bool:
    """Whether payloads of this class never change, so that a view may keep what it read."""
    kind = payload.__class__
    found = _KEEPS.get(kind)
    if found is None:
        found = _KEEPS[kind] = kind.__module__.partition(".")[0] not in ("numpy", "torch", "cupy", "ml_dtypes")
    return found


def tensor_of(x: Holder) -> Tensor:
    """The tensor of an array, for reading only: nothing may be assigned to it."""
    t: Tensor = x._t
    return x._read() if t is None else t


def fresh(t: Tensor) -> Tensor:
    """A tensor object of its own with the same data."""
    return Tensor(t.template, t.backend, t.data)
