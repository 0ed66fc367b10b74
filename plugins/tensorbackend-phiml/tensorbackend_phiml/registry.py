"""The instances of the adapter, and the changes to PhiML that they need, as it knows its own four backends by name."""

from __future__ import annotations

import sys
from functools import cache, wraps
from types import ModuleType
from typing import Any

import phiml.math
import tensorbackend as tb
from phiml.backend import BACKENDS, NUMPY, NoBackendFound
from phiml.backend import _backend as phiml_backends
from phiml.math import _tensors as phiml_tensors
from phiml.math._functional import JitFunction

from .backend import TensorBackend
from .fallback import compiled_if_possible

_instances: dict[str, TensorBackend] = {}


def backend(name: str | None = None, *, jit: bool | None = None) -> TensorBackend:
    """The adapter over a backend of tensorbackend, by default over the default backend.

    The first call for a name creates the instance and registers it with PhiML; later calls return the same instance.
    `phiml.math.use(backend("jax"))` makes it PhiML's default.

    Functions of `jit_compile` that cannot be compiled, such as those that read data of their arguments, run as they are
    after a warning. With `jit=False`, PhiML runs all as they are, as it does on its own NumPy, and warns once of each;
    `jit=True` compiles them again. The choice holds for the instance until another call makes one.

    Raises `BackendError` for an unknown name.
    """
    base = tb.get_backend(name)
    instance = _instances.get(base.name)
    if instance is None:
        instance = _instances[base.name] = TensorBackend(base)
    if jit is not None:
        instance.jit = jit
    _introduce()
    if not any(known == instance for known in BACKENDS):
        BACKENDS.append(instance)
    return instance


@cache
def _introduce() -> None:
    """Replace four functions of PhiML, in all its modules, by versions that know our instances.

    `backend_for` chooses the backend for tensors of several backends, of which it knows only PhiML's own by name.
    `get_backend` finds the backend that a pickled tensor names, but only among PhiML's own. The format `-f-f"{x}"`
    writes the text of a native tensor, which for our tensors is not a plain number. A function of `jit_compile` that
    cannot be compiled runs as it is.
    """
    theirs, by_name = phiml_tensors.backend_for, phiml_backends.get_backend

    @wraps(theirs)
    def backend_for(*values: Any) -> Any:
        backend_by_name = {value.backend.name: value.backend for value in values}
        ours = [candidate for candidate in backend_by_name.values() if _is_ours(candidate)]
        if not ours or "object" in backend_by_name:
            return theirs(*values)
        if len(ours) > 1 or backend_by_name.keys() & {"torch", "tensorflow", "jax"}:
            raise NoBackendFound(f"expected tensors of one backend, got those of {', '.join(backend_by_name)}")
        return ours[0]

    @wraps(by_name)
    def get_backend(backend: Any) -> Any:
        known = next((instance for instance in _instances.values() if instance.name == backend), None)
        return by_name(backend) if known is None else known

    formatter = phiml_tensors.BroadcastFormatter
    written = formatter.format

    @wraps(written)
    def format_numbers(self: Any, text: str) -> Any:
        if self.values is not None:
            self.values = [phiml.math.convert(x, NUMPY) if _is_ours(x.backend) else x for x in self.values]
        return written(self, text)

    formatter.format = format_numbers
    JitFunction.__call__ = compiled_if_possible(JitFunction.__call__, _is_ours)
    _exchange(theirs, backend_for)
    _exchange(by_name, get_backend)


def _is_ours(backend: Any) -> bool:
    # A profiler wraps a backend and compares equal to it.
    return any(backend == instance for instance in _instances.values())


def _exchange(old: Any, new: Any) -> None:
    for module in list(sys.modules.values()):
        if isinstance(module, ModuleType) and module.__name__.partition(".")[0] == phiml.__name__:
            for name, value in list(vars(module).items()):
                if value is old:
                    setattr(module, name, new)
