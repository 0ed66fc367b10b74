"""Which backend runs: the registry with its plugins, the default backend, and the choice among operands."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from .dtypes import DType
from .errors import BackendError, UnsupportedOp, expected
from .protocol import Backend, BackendLike
from .protocol.core import Core
from .tensor import Deallocated, Tensor, bind

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Result = TypeVar("Result")

ENTRY_POINT_GROUP = "tensorbackend.backends"

# Each with the class that implements it, imported when it is first asked for.
_BUILT_IN = {
    "binary": "tensorbackend.backends.binary:BinaryBackend",
    "cupy": "tensorbackend.backends.cupy_backend:CupyBackend",
    "expr": "tensorbackend.expr.record:ExprBackend",
    "jax": "tensorbackend.backends.jax_backend:JaxBackend",
    "numpy": "tensorbackend.backends.numpy_backend:NumpyBackend",
    "template": "tensorbackend.backends.template_backend:TemplateBackend",
}

_classes: dict[str, type[Backend]] = {}

# Guards what is looked at and then changed: the registry, the default backend, a tensor that is given up.
_lock = threading.RLock()


def _renew_locks() -> None:
    """Exchanges the locks in a forked child, which has no thread that could release them."""
    global _lock
    _lock = threading.RLock()
    Core._instances_lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)


def backends() -> tuple[str, ...]:
    """The names of the backends that are built in or that installed distributions declare, sorted.

    Nothing is imported to find out, so a name here may still fail in `get_backend`.

    >>> import tensorbackend as tb
    >>> [name for name in tb.backends() if name in ("binary", "numpy", "template")]
    ['binary', 'numpy', 'template']
    """
    return tuple(sorted({*_BUILT_IN, *_classes, *_plugins()}))


def origin(name: str) -> str | None:
    """Where a backend's name comes from: "built in", a plugin's distribution, or "registered" in this process.

    `None` for a name that nothing declares.
    """
    if name in _BUILT_IN:
        return "built in"
    entry = _plugins().get(name)
    if entry is not None:
        distribution = entry.dist
        return "plugin" if distribution is None else f"{distribution.name} {distribution.version}"
    return "registered" if name in _classes else None


def register_backend(backend: type[Backend]) -> type[Backend]:
    """Makes a backend class known under its name for this process; usable as a class decorator.

    A distribution declares an entry point in the group `tensorbackend.backends` instead. Raises
    `BackendError` where another class has the name.
    """
    name = backend.name
    with _lock:
        if name in _BUILT_IN or _classes.setdefault(name, backend) is not backend:
            raise BackendError(expected("a backend name that is not taken", "choose another name", name=name))
    return backend


def get_backend(backend: BackendLike = None, *, device: str | None = None) -> Backend:
    """The backend that an instance, a class or a name stands for, the default one for `None`; on a device.

    Raises `BackendError` for a name that nothing declares, and for a plugin that cannot be imported,
    `ArgumentError` for a device that the backend does not have.

    >>> import tensorbackend as tb
    >>> tb.get_backend("binary")
    BinaryBackend()
    """
    if device is not None:
        return get_backend(backend).on_device(device)  # type: ignore[return-value] # every Core is a Backend
    if isinstance(backend, Backend):
        return backend
    if backend is None:
        return _current()
    if isinstance(backend, type) and issubclass(backend, Backend):
        return backend()
    if isinstance(backend, str):
        return backend_class(backend)()
    raise BackendError(expected("a backend, its class or its name", backend=backend))


def devices(backend: BackendLike = None) -> tuple[str, ...]:
    """The devices of a backend, by default the default one, as `device=` and `x.to_device` take them.

    >>> import tensorbackend as tb
    >>> tb.devices("numpy")
    ('cpu',)
    """
    return get_backend(backend).devices()


def backend_class(name: str) -> type[Backend]:
    """The class that a name stands for, whether or not it can be used on this machine.

    Raises `BackendError` for a name that nothing declares, and for a plugin that cannot be imported.
    """
    found = _classes.get(name)
    if found is None:
        if name in _BUILT_IN:
            module, _, attribute = _BUILT_IN[name].partition(":")
            found = getattr(import_module(module), attribute)
        else:
            found = _load_plugin(name)
        found = _classes.setdefault(name, found)
    return found


def _plugins() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points  # slow to import, and few programs need it

    return {entry.name: entry for entry in entry_points(group=ENTRY_POINT_GROUP)}


def _load_plugin(name: str) -> type[Backend]:
    entry = _plugins().get(name)
    if entry is None:
        remedy = f"choose one of {', '.join(backends())}, or install the distribution that declares it"
        raise BackendError(expected("the name of a backend", remedy, name=name))
    try:
        found = entry.load()
    except (Exception, SystemExit) as error:  # whatever a stranger's module raises while it is imported
        came = f"{type(error).__name__}: {error}"
        remedy = "mend or uninstall its distribution; other backends are not affected"
        raise BackendError(expected(f"the backend plugin {name!r} to import", remedy, error=came)) from error
    if not (isinstance(found, type) and issubclass(found, Backend)):
        raise BackendError(expected(f"the plugin {name!r} to name a subclass of Backend", entry_point=found))
    return found


# The default backend

_scoped: ContextVar[Backend | None] = ContextVar("tensorbackend_default_backend", default=None)
_global: Backend | None = None


def _current() -> Backend:
    scoped = _scoped.get()
    if scoped is not None:
        return scoped
    global _global
    if _global is None:
        found = get_backend(os.environ.get("TENSORBACKEND_DEFAULT") or "numpy")
        with _lock:
            if _global is None:  # or another thread has set it since
                _global = found
    return _global


def set_default_backend(backend: BackendLike) -> None:
    """Sets the backend of new tensors for the whole process, all threads included.

    Out of the box it is the one that the environment variable `TENSORBACKEND_DEFAULT` names, else NumPy.
    """
    global _global
    _global = get_backend(backend)


@contextmanager
def default_backend(backend: BackendLike) -> Iterator[Backend]:
    """Sets the backend of new tensors for a block, in this thread or task alone.

    >>> import tensorbackend as tb
    >>> with tb.default_backend("binary"):
    ...     tb.asarray([1, 2]).backend
    BinaryBackend()
    """
    chosen = get_backend(backend)
    token = _scoped.set(chosen)
    try:
        yield chosen
    finally:
        _scoped.reset(token)


def with_default(backend: Backend, function: Callable[..., Result], *arguments: Any) -> Result:
    """What a function gives under a default backend; the quick form of `default_backend` for the dispatcher."""
    token = _scoped.set(backend)
    try:
        return function(*arguments)
    finally:
        _scoped.reset(token)


# Tensors on backends


def common_backend(tensors: Iterable[Tensor]) -> Backend:
    """The backend on which an op with these inputs runs, the default one if there are none.

    The highest `dispatch_priority` wins: a template tensor makes the result one, BinaryBackend gives
    way. Raises `BackendError` for two different backends that both insist.
    """
    chosen: Backend | None = None
    for tensor in tensors:
        backend = tensor.backend
        if backend is chosen:
            continue
        if chosen is None or backend.dispatch_priority > chosen.dispatch_priority:
            chosen = backend
        elif backend.dispatch_priority == chosen.dispatch_priority:
            remedy = f"move one, such as x.backend_transfer({chosen.name!r})"
            raise BackendError(expected("tensors on one backend", remedy, left=chosen, right=backend))
    return _current() if chosen is None else chosen


def check_held(dtype: DType, backend: Backend) -> None:
    """Raises `UnsupportedOp` for a dtype that a backend's payloads cannot hold."""
    if dtype not in backend.dtypes:
        wanted, remedy = (
            f"a dtype that the backend {backend.name!r} holds",
            "cast with astype(), or use another backend",
        )
        raise UnsupportedOp(expected(wanted, remedy, dtype=dtype), dtype)


def move(tensor: Tensor, backend: Backend) -> Tensor:
    """An operand brought to the backend on which the op runs."""
    if tensor.backend is backend:
        return tensor
    check_held(tensor.dtype, backend)
    return Tensor(tensor.template, backend, backend.from_backend(tensor, copy=False))


@bind
def backend_copy(x: Tensor, backend: BackendLike = None) -> Tensor:
    """A copy of a tensor on another backend, names and all; the tensor keeps its data.

    >>> import tensorbackend as tb
    >>> x = tb.tensor([1.0, 2.0], names=("n",))
    >>> x.backend_copy("binary")
    f32[n: 2] binary
    [1.0, 2.0]
    """
    target = get_backend(backend)
    check_held(x.dtype, target)
    return Tensor(x.template, target, x.backend.backend_copy(x, target))


@bind
def backend_transfer(x: Tensor, backend: BackendLike = None) -> Tensor:
    """A tensor moved to another backend: the source is deallocated, and using it raises `DeallocatedError`.

    Moving to its own backend gives the tensor itself. Memory is shared where both backends can, else the
    bytes are copied.
    """
    target = get_backend(backend)
    if target is x.backend:
        return x
    check_held(x.dtype, target)
    moved = Tensor(x.template, target, x.backend.backend_transfer(x, target))
    backend_deallocate(x)
    return moved


@bind
def backend_deallocate(x: Tensor) -> None:
    """Gives up a tensor's data; a second time does nothing."""
    with _lock:
        if x.deallocated:
            return
        x.backend.backend_deallocate(x)
        x.__class__ = Deallocated
    # By the slot, as the tensor's own attribute raises from now on, in other threads too.
    vars(Tensor)["data"].__delete__(x)
