"""The default backend, of the process and of a block, and the instance that `backend=` means."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextvars import ContextVar, copy_context
from typing import Any, Final, TypeVar

from ..caching import module_lock
from ..declarations.argument_errors import check_arguments
from ..errors import ArgumentError, ArgumentKindError, BackendError, OperandError, expected
from ..errors.tracebacks import name_in_errors
from ..protocol import Backend, BackendLike
from ..scopes import Block
from ..tensor import Tensor
from ..tensor.devices import Device
from .registry import start_backend

Result = TypeVar("Result")

scoped_default: ContextVar[Backend | None] = ContextVar("tensorbackend_default_backend", default=None)
process_default: Final[list[Backend | None]] = [None]
"""The default backend of the process: `None` before it is first asked for."""

# Held while the default is checked and then set.
_lock = module_lock(__name__)


@name_in_errors
def get_backend(backend: BackendLike = None, *, device: str | None = None) -> Backend:
    """Look up a backend by name, class or instance, on a device if given.

    A device that `x.device` or `devices` returned knows its backend; for other names `None` is the default backend.

    Raises `BackendError` for a name that is not declared, and for a plugin that cannot be imported or started,
    `ArgumentError` for a device that the backend does not have.

    Parameters
    ----------
    backend : Backend, class or str, optional
        An instance, a class or a name; by default that of the device, else the default backend.
    device : str, optional
        The name of one of its devices; by default the backend's own device.

    Returns
    -------
    Backend
        The only instance of this backend for this device.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> tb.get_backend("binary")
    BinaryBackend()
    """
    if device is not None:
        if not isinstance(device, str):
            raise ArgumentKindError(expected("a device by its name", device=device))
        if backend is None and isinstance(device, Device):
            backend = device.backend
        return get_backend(backend).on_device(device)  # type: ignore[return-value] # every Core is a Backend
    if isinstance(backend, Backend):
        return backend
    if backend is None:
        return current()
    if isinstance(backend, type) and issubclass(backend, Backend):
        return backend()
    if isinstance(backend, str):
        return start_backend(backend)
    raise BackendError(
        expected(
            "a backend, its class or its name",
            "tb.backend_of(x) is the backend of an array" if hasattr(backend, "shape") else "",
            backend=backend,
        )
    )


def backend_at(device: str | None, home: Backend | None) -> Backend:
    """The backend for a device: that which the device knows, unless `home` records or is it; else `home`, on it."""
    knows = isinstance(device, Device) and (home is None or home.beneath is not device.backend)
    return get_backend(None if knows else home, device=device)


def creation_backend(backend: BackendLike = None, device: str | None = None, like: Tensor | None = None) -> Backend:
    """The backend of a new tensor: the requested one, or the one that holds the data of `like`.

    For a tensor on a tape this is the backend that computes; for a tensor of a trace it is the trace. Raises
    `ArgumentError` if both `backend` and `like` are given, `OperandError` if `like` is not a tensor.
    """
    if like is None:
        return get_backend(backend, device=device)
    if not isinstance(like, Tensor):
        raise OperandError(expected("a tensor for like", "wrap it in asarray(), or pass backend=", like=like))
    if backend is not None:
        raise ArgumentError(expected("backend or like, not both", backend=backend, like=like.template))
    return backend_at(device, like.backend.beneath)  # type: ignore[arg-type] # every Core is a Backend


def current() -> Backend:
    """The default backend: that of the innermost block, else that of the process."""
    scoped = scoped_default.get()
    if scoped is not None:
        return scoped
    chosen = process_default[0]
    if chosen is None:
        backend = get_backend(os.environ.get("TENSORBACKEND_DEFAULT") or "numpy")
        with _lock:
            chosen = process_default[0] or backend  # another thread may have set it since
            process_default[0] = chosen
    return chosen


@check_arguments
def set_default_backend(backend: BackendLike) -> None:
    """Set the default backend of the whole process, including all threads.

    Initially it is the one that the environment variable `TENSORBACKEND_DEFAULT` names, else NumPy.

    Parameters
    ----------
    backend : Backend, class or str
        The backend.

    Examples
    --------
    >>> before = tb.get_backend()
    >>> tb.set_default_backend("binary")
    >>> tb.ones(2).backend.name
    'binary'
    >>> tb.set_default_backend(before)
    """
    process_default[0] = get_backend(backend)


@check_arguments
def default_backend(backend: BackendLike) -> Block[Backend]:
    """Set the default backend for a `with` block, in this thread or task only.

    Parameters
    ----------
    backend : Backend, class or str
        The backend.

    Returns
    -------
    Block
        The block; `as` names an instance of the backend.

    Examples
    --------
    >>> with tb.default_backend("binary"):
    ...     tb.asarray([1, 2]).backend
    BinaryBackend()
    """
    chosen = get_backend(backend)
    return Block(chosen, [(scoped_default, chosen)])


def scoped_backend() -> Backend | None:
    """Return the backend of the innermost `default_backend` block of this thread or task, or `None`.

    Returns
    -------
    Backend or None
        The backend.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> with tb.default_backend("binary"):
    ...     tb.scoped_backend()
    BinaryBackend()
    >>> tb.scoped_backend() is None
    True
    """
    return scoped_default.get()


def call_with_default(backend: Backend, function: Callable[..., Result], *arguments: Any) -> Result:
    """Calls a function under a default backend; the quick form of `default_backend` for the dispatcher."""
    return copy_context().run(_call_under, backend, function, arguments)


def _call_under(backend: Backend, function: Callable[..., Result], arguments: tuple[Any, ...]) -> Result:
    """Calls a function in a context of its own, with which the default ends, and each block that stays open in it."""
    scoped_default.set(backend)
    return function(*arguments)
