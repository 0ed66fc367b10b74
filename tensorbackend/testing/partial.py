"""Backends that have only some callbacks of another backend, to test what runs on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

from ..declarations.op_specs import CALLBACKS
from ..protocol import Backend, Payload
from ..protocol.callbacks import own_method
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
    backend : Backend
        The backend.
    *callbacks : str
        The names of the callbacks to omit.
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

    def record_call(callback: str, method: Callable[..., Payload]) -> Callable[..., Payload]:
        @wraps(method)
        def enter(self: Backend, /, *inputs: Any, **options: Any) -> Payload:
            called.add(callback)
            return method(self, *inputs, **options)

        return enter

    whole = partial(backend, implemented, name=name)
    return type(
        name.title(), (whole,), {callback: record_call(callback, getattr(whole, callback)) for callback in implemented}
    )


def _forward(backend: Backend, name: str) -> Callable[..., Payload]:
    method: Callable[..., Payload] = getattr(backend, name)

    def whole(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(whole, value))
        return Tensor(value.template, backend, value.data) if isinstance(value, Tensor) else value

    def callback(self: Backend, /, *inputs: Any, **options: Any) -> Payload:
        return method(*map(whole, inputs), **options)

    limits = getattr(method, "__dtypes__", None)
    if limits is not None:
        callback.__dtypes__ = limits  # type: ignore[attr-defined]
    return callback
