"""Backends with some callbacks of another backend, or with its callbacks in the other form, planned or plain."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, wraps
from typing import Any

from ..declarations.op_specs import CALLBACKS, OPS, overridable
from ..dispatch.kernels import as_tensors
from ..protocol import Backend, Kernel, Payload, own_method, planned
from ..protocol.planned import is_planned
from ..tensor import Tensor

TRANSPORT = ("from_binary", "to_binary", "violation")


def partial(backend: Backend, callbacks: Iterable[str], *, name: str = "partial") -> type[Backend]:
    """Make a backend class with the payloads and the transport of a backend, but only some of its callbacks.

    A callback that calls another one calls it on the whole backend; the new class itself has only the named callbacks.

    Parameters
    ----------
    backend : Backend
        The backend.
    callbacks : iterable of str
        The names of the callbacks to keep.
    name : str, default "partial"
        The name of the backend that is made.

    Returns
    -------
    type[Backend]
        The class.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> from tensorbackend.extending import support_of
    >>> adding = partial(tb.get_backend("binary"), ["add"])
    >>> support_of(adding, "add"), support_of(adding, "negate")
    ('native', 'missing')
    """
    methods = {callback: _forward(backend, callback) for callback in (*TRANSPORT, *callbacks)}
    return type(name.title(), (Backend,), {"name": name, "dtypes": backend.dtypes, **methods})


def without(backend: Backend, *callbacks: str, name: str = "partial") -> type[Backend]:
    """Make a backend class with the callbacks of a backend except some; it keeps overrides of composites.

    Parameters
    ----------
    *callbacks : str
        The names of the callbacks to omit.
    backend, name
        As for `partial`.

    Returns
    -------
    type[Backend]
        The class, with all other callbacks.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> from tensorbackend.extending import support_of
    >>> lacking = without(tb.get_backend("numpy"), "subtract")
    >>> support_of(lacking, "subtract"), tb.subtract(5, tb.asarray([2, 3], backend=lacking)).tolist()
    ('fall-back', [3, 2])
    """
    implemented = (callback for callback in CALLBACKS if own_method(backend, callback) is not None)
    return partial(backend, [callback for callback in implemented if callback not in callbacks], name=name)


def recording(backend: Backend, called: set[str], *, name: str = "recording") -> type[Backend]:
    """Make a backend class with a backend's callbacks of primitives, each of which adds its name to `called`.

    Parameters
    ----------
    backend : Backend
        The backend whose callbacks run.
    called : set of str
        The names of the callbacks called so far; it grows.
    name : str, default "recording"
        The name of the class.

    Returns
    -------
    type of Backend
        A class without overrides of composites, so that each op is computed by primitives.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> called = set()
    >>> x = tb.tensor([1.0, 3.0], backend=recording(tb.get_backend("binary"), called))
    >>> tb.negative(x + 1).tolist(), sorted(called)
    ([-2.0, -4.0], ['add', 'constant', 'negate'])
    """
    implemented = [
        callback for callback, declared in CALLBACKS.items() if not declared.optional and own_method(backend, callback)
    ]

    methods = {callback: _forward(backend, callback, called) for callback in implemented}
    return type(name.title(), (partial(backend, (), name=name),), methods)


def _forward(backend: Backend, name: str, called: set[str] | None = None) -> Callable[..., Payload]:
    method: Callable[..., Payload] = getattr(backend, name)

    def whole(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(whole, value))
        return Tensor(value.template, backend, value.data) if isinstance(value, Tensor) else value

    def callback(self: Backend, /, *inputs: Any, **options: Any) -> Payload:
        if called is not None:
            called.add(name)
        return method(*map(whole, inputs), **options)

    limits = getattr(method, "__dtypes__", None)
    if limits is not None:
        callback.__dtypes__ = limits  # type: ignore[attr-defined]
    return callback


def plans(backend: Backend, name: str) -> bool:
    """Whether a backend has the callback of an op in the planned form; `False` for a function that is not an op."""
    method = own_method(backend, OPS[name].callback) if name in OPS else None
    return method is not None and is_planned(method)


@cache
def plainly(backend: Backend) -> Backend:
    """A backend whose planned callbacks are called with tensors, as `backend.sum(out, x, ...)`.

    The dispatcher treats these callbacks as plain ones. Everything else, including payloads and kernels, is the
    backend's own.
    """
    callbacks = {name: own_method(backend, name) for name in (*CALLBACKS, *overridable())}
    methods = {
        name: _plain_form(method) for name, method in callbacks.items() if method is not None and is_planned(method)
    }
    kind = type(backend)
    instance: Any = object.__new__(type(kind.__name__, (kind,), methods))  # setup() has run already
    instance.__dict__.update(vars(backend))
    twin: Backend = instance
    return twin


def _plain_form(method: Callable[..., Payload]) -> Callable[..., Payload]:
    """A backend's planned callback as a plain one."""

    @wraps(method)
    def callback(self: Backend, out: Any, /, *inputs: Any, **options: object) -> Payload:
        return method(out, *inputs, **options)

    del callback.__plan__  # type: ignore[attr-defined] # the mark of a planned callback
    return callback


def as_planned(method: Callable[..., Payload]) -> Callable[..., Payload]:
    """A plain callback as a planned one, whose kernel wraps payloads in tensors and calls it."""

    @wraps(method)
    def plan(self: Backend, out: Any, /, *inputs: Any, **options: object) -> Kernel:
        return lambda *payloads: method(self, out, *as_tensors(self, inputs, payloads), **options)

    return planned(plan)
