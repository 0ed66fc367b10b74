"""Converts planned callbacks to plain ones, and plain ones to planned ones, so that both forms are tested."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any

from ..declarations.op_specs import CALLBACKS, OPS, overridable
from ..dispatch.kernels import as_tensors
from ..protocol import Backend, Kernel, Payload, own_method, planned
from ..protocol.planned import is_planned


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
