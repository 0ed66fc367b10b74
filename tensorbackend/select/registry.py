"""The registry: backends by name, each loaded when it is first requested.

It is initially empty. The package adds its backends by `build_in`, distributions declare theirs as entry points,
and a program registers a class by `register_backend`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Any

from ..caching import module_lock
from ..caching.memos import clear_all, clear_caches, remembers
from ..caching.option_keys import MEMO_LIMIT, holds_entries, remember
from ..declarations.argument_errors import check_arguments_early
from ..errors import BackendError, TensorBackendError, expected
from ..protocol import Backend

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINT_GROUP = "tensorbackend.backends"

DISTRIBUTIONS = {
    "dask": "tensorbackend-dask",
    "mlx": "tensorbackend-mlx",
    "onnxruntime": "tensorbackend-onnx",
    "onnxruntime_ops": "tensorbackend-onnx",
    "torch": "tensorbackend-torch",
    "torch_compiled": "tensorbackend-torch",
}
"""The distributions of this project that declare a backend, by the backend's name."""

_built_in: dict[str, Callable[[], type[Backend]]] = {}
"""For each backend of the package, the function that imports its class."""

_classes: dict[str, type[Backend]] = {}

_overrides: dict[str, dict[str, Callable[..., Any]]] = {}
"""The methods that programs add to backends, by the backend's name and the callback's; a class gets them when it is
loaded."""

# Held while a name is looked up and then taken.
_lock = module_lock(__name__)


def build_in(name: str, load: Callable[[], type[Backend]]) -> None:
    """Registers a backend of the package; its class is loaded when it is first requested."""
    _built_in[name] = load


def backends() -> tuple[str, ...]:
    """Return the sorted names of the backends that are built in, registered, or declared by installed distributions.

    Nothing is imported for this, so a name here may still fail in `get_backend`.

    Returns
    -------
    tuple of str
        The names.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> [name for name in tb.backends() if name in ("binary", "numpy", "template")]
    ['binary', 'numpy', 'template']
    """
    return tuple(sorted({*_built_in, *_classes, *_plugins()}))


def class_names() -> dict[str, str]:
    """The names of the package's backends, by the names of their classes.

    >>> class_names()["CupyBackend"]
    'cupy'
    """
    return {f"{name.capitalize()}Backend": name for name in _built_in}


def origin(name: str) -> str | None:
    """Where a backend's name comes from: "built in", a plugin's distribution, or "registered" in this process.

    `None` for a name that is not declared.
    """
    if name in _built_in:
        return "built in"
    entries = _plugins().get(name)
    if entries:
        return " and ".join(map(_distribution, entries))
    return "registered" if name in _classes else None


@check_arguments_early
def register_backend(backend: type[Backend]) -> type[Backend]:
    """Register a backend class under its name for this process; usable as a class decorator.

    A distribution declares an entry point in the group `tensorbackend.backends` instead. Raises
    `BackendError` if another class has the name.

    Parameters
    ----------
    backend : type[Backend]
        The class, registered under its `name`.

    Returns
    -------
    type[Backend]
        The class.

    Examples
    --------
    >>> from tensorbackend.backends.numpy_backend import NumpyBackend
    >>> @tb.register_backend
    ... class Mine(NumpyBackend):
    ...     name = "mine"
    >>> tb.ones(2, backend="mine").backend.name
    'mine'
    """
    name = backend.name
    with _lock:
        if name in _built_in or _classes.setdefault(name, backend) is not backend:
            raise BackendError(expected("a backend name that is not taken", "choose another name", name=name))
    _add_overrides(backend)
    return backend


def override(name: str, callback: str, method: Callable[..., Any]) -> None:
    """Adds a method to a backend's class, at once if it is loaded, else when it is.

    Raises `BackendError` for a name that no backend has.
    """
    if name not in backends():
        raise BackendError(expected("the name of a backend", f"choose one of {', '.join(backends())}", name=name))
    _overrides.setdefault(name, {})[callback] = method
    if name in _classes:
        _add_overrides(_classes[name])
        clear_caches()  # calls that are ready have kernels without it


def _add_overrides(kind: type[Backend]) -> None:
    for callback, method in _overrides.get(kind.name, {}).items():
        setattr(kind, callback, method)


def backend_class(name: str) -> type[Backend]:
    """The class of a name, whether or not it can be used on this machine.

    Raises `BackendError` for a name that is declared by no or several distributions, and for a plugin that cannot
    be imported, or whose entry point is not a backend class of that name.
    """
    kind = _classes.get(name)
    if kind is None:
        load = _built_in.get(name)
        kind = _classes.setdefault(name, _load_plugin(name) if load is None else load())
        _add_overrides(kind)
    return kind


def claimant(array: object) -> Backend | None:
    """The only backend that can hold an array, such as a value that JAX traces; `None` for any other array."""
    for kind in map(backend_class, (*_built_in, *_classes)):
        if kind.claims(array):
            return kind()
    return None


def owner(array: object) -> type[Backend] | None:
    """The backend class to whose library an array belongs; `None` for an array of any other library.

    Plugins that are not loaded yet are queried last. They are loaded if their name, or that of something which their
    distribution requires, is that of the array's library; a plugin that cannot be imported owns no arrays here.
    """
    key = type(array), len(_classes)
    if key not in _owners:
        remember(_owners, key, _find_owner(array))
    return _owners[key]


_owners: dict[tuple[type, int], type[Backend] | None] = {}
"""The backend classes of arrays by the class of the array, and the number of backends that are loaded."""

holds_entries("backends of arrays", _owners)


def _find_owner(array: object) -> type[Backend] | None:
    for kind in map(backend_class, (*_built_in, *_classes)):
        if is_of(array, kind):
            return kind
    libraries = {parent.__module__.partition(".")[0] for parent in type(array).__mro__} - {"builtins"}
    for name, points in _plugins().items():
        if name in _classes or name in _built_in or not libraries & {name, *_required(points)}:
            continue
        try:
            kind = backend_class(name)
        except BackendError:
            continue
        if is_of(array, kind):
            return kind
    return None


def _required(points: list[EntryPoint]) -> list[str]:
    """What the distributions of entry points require, by the usual names of modules."""
    lines = [line for point in points if point.dist is not None for line in point.dist.requires or ()]
    return [re.split(r"[^\w.-]", line, maxsplit=1)[0].replace("-", "_").lower() for line in lines]


def is_of(array: object, kind: type[Backend]) -> bool:
    """Whether an array is an instance of one of a backend's `array_types`, none of which is imported for this."""
    for text in kind.array_types:
        module, _, name = text.partition(":")
        array_type = getattr(sys.modules.get(module), name, None)
        if isinstance(array_type, type) and isinstance(array, array_type):
            return True
    return False


def start_backend(name: str) -> Backend:
    """The backend of a name, ready to run.

    Raises what `backend_class` raises, and `BackendError` if the constructor of the class fails.
    """
    kind = backend_class(name)
    try:
        return kind()
    except (TensorBackendError, MemoryError):
        raise
    except Exception as error:  # whatever a library raises when it is set up
        came = f"{type(error).__name__}: {error}"
        remedy = "check its library and its devices; other backends are not affected"
        raise BackendError(expected(f"the backend {name!r} to start", remedy, error=came)) from error


def _plugins() -> dict[str, list[EntryPoint]]:
    """The entry points that distributions declare under each name: several if distributions declare the same name."""
    points_by_name: dict[str, list[EntryPoint]] = {}
    for point in _entry_points():
        others = points_by_name.setdefault(point.name, [])
        if (point.value, _distribution(point)) not in [(other.value, _distribution(other)) for other in others]:
            others.append(point)
    return points_by_name


def _entry_points() -> Iterable[EntryPoint]:
    """The entry points of all distributions but those whose files cannot be read."""
    from importlib.metadata import distributions, entry_points  # slow to import, and few programs need it

    try:
        return entry_points(group=ENTRY_POINT_GROUP)
    except Exception:  # of any distribution, which must not break the others
        pass
    points: dict[str, Iterable[EntryPoint]] = {}
    for distribution in distributions():
        with suppress(Exception):
            name = re.sub("[-_.]+", "-", distribution.name).lower()
            if name not in points:  # else one that is hidden by another of its name
                points[name] = distribution.entry_points.select(group=ENTRY_POINT_GROUP)
    return chain.from_iterable(points.values())


def _distribution(entry: EntryPoint) -> str:
    try:
        return "plugin" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"
    except Exception:  # whatever reading broken metadata leads to
        return "plugin"


def _load_plugin(name: str) -> type[Backend]:
    entries = _plugins().get(name)
    if not entries:
        meant = next((known for known in DISTRIBUTIONS if known in name.lower()), "")  # also for "pytorch"
        plugin = f"the distribution {DISTRIBUTIONS[meant]}" if meant else "the distribution that declares it"
        named = f" and name it {meant!r}" if meant not in ("", name) else ""
        own = "" if meant else " register_backend() a class of your own,"
        remedy = f"install {plugin}{named},{own} or choose one of {', '.join(backends())}"
        raise BackendError(expected("the name of a backend", remedy, name=name))
    if len(entries) > 1:
        of = [f"{_distribution(entry)} ({entry.value})" for entry in entries]
        expectation = f"one distribution that declares the backend {name!r}"
        raise BackendError(expected(expectation, "uninstall the others", declared_by=of))
    (entry,) = entries
    try:
        plugin = entry.load()
    except (Exception, SystemExit) as error:  # whatever the plugin's module raises while it is imported
        came = f"{type(error).__name__}: {error}"
        remedy = "fix or uninstall its distribution; other backends are not affected"
        raise BackendError(expected(f"an importable plugin for the backend {name!r}", remedy, error=came)) from error
    if not (isinstance(plugin, type) and issubclass(plugin, Backend)):
        raise BackendError(
            expected(f"the entry point of the plugin {name!r} to be a subclass of Backend", entry_point=plugin)
        )
    if plugin.name != name:
        expectation = f"the class of the plugin {name!r} to have the name {name!r}"
        remedy = "rename the entry point or the class"
        raise BackendError(expected(expectation, remedy, name=plugin.name))
    return plugin


def _memos() -> list[dict[Any, Any]]:
    """The memos of the instances of all backends."""
    return [memo for backend in list(Backend._instances.values()) for memo in backend.memos]


remembers(
    "kernels of backends",
    lambda: sum(map(len, _memos())),
    lambda: clear_all(_memos()),
    lambda: MEMO_LIMIT * len(_memos()),
)
